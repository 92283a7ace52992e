//! `summary`: what is in these recordings, at a glance. A file named without a command comes here too.

use super::context::{CommandContext, Failure};
use super::every::every_recording;
use super::input::named_format;
use crate::exit;
use formats::Format;
use reports::overview::{Collector, Overview, json, text};
use rules::{CheckOptions, check_beside};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Gives an overview of recordings: who talked to whom, what was called, what failed, what `check` finds.
///
/// One recording fills a page; several, or a folder, a table with a row each. `mcp-concord FILE` is short for this.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord session.har                              the same as: mcp-concord summary session.har
  mcp-concord recordings/                              a folder: a row for each recording
  mcp-concord summary --output json a.har | jq '.[0].tools'
  mcp-concord summary - < capture                      from the standard input

Exit code 0: shown; 1: shown, and `read` rejects a recording; 2: an input or the call cannot be used.")]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "HOW")]
    output: How,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum How {
    /// For people.
    Text,
    /// For programs: an array with an item for each recording.
    Json,
}

/// Runs the command. Memory: what `check` holds of one recording, and an overview of each.
///
/// # Errors
/// Where the output cannot be written.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let mut overviews = Vec::new();
    let paths = args.files.iter().cloned().map(Ok);
    let usable = every_recording(paths, args.format, context, &mut |name, format, input| {
        let mut seen = Collector::new(format);
        let judged = check_beside(format, input, &CheckOptions::default(), &mut |entry| seen.take(entry))?;
        overviews.push(Overview::new(name, format, seen, &judged));
        Ok(())
    });
    let mut out = io::stdout().lock();
    let colour = context.terminal.colour_out;
    match (args.output, &overviews[..]) {
        (How::Json, overviews) => {
            out.write_all(json(overviews).map_err(io::Error::from)?.as_bytes())?;
        }
        (How::Text, [one]) if args.files.len() == 1 && !args.files[0].is_dir() => {
            out.write_all(text::page(one, colour).as_bytes())?
        }
        (How::Text, []) => {
            if usable {
                return Err(Failure::Unusable("there is no recording here".to_owned()));
            }
        }
        (How::Text, several) => out.write_all(text::rows(several, colour).as_bytes())?,
    }
    out.flush()?;
    let rejected = overviews.iter().any(|overview| overview.rejected.is_some());
    Ok(match (usable, rejected) {
        (false, _) => exit::UNUSABLE,
        (true, true) => exit::FAILED,
        (true, false) => exit::WELL,
    })
}
