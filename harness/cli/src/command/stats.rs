//! `stats`: calls, failures and times over many recordings.

use super::context::{CommandContext, Failure};
use super::every::every_recording;
use super::input::named_format;
use crate::exit;
use crate::listed_paths::ListedPaths;
use formats::Format;
use reports::html::HtmlRenderer;
use reports::stats::{Collected, csv, json, text};
use std::io::{self, Write as _};
use std::path::PathBuf;

/// Counts calls, failures and times over recordings: by tool, by server, by version of a server, and by method.
///
/// A recording that `read` rejects is counted as far as it can be read.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord stats recordings/                        tables for a person
  mcp-concord stats --output html recordings/ > stats.html
                                                       a page with bars, which needs no network and no script
  mcp-concord stats --output csv recordings/ > stats.csv
                                                       a line for each tool of each version of each server
  find . -name '*.har' -print0 | mcp-concord stats --files-from - -0

Exit code 0: shown; 1: shown, and `read` rejects a recording; 2: an input or the call cannot be used.")]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required_unless_present = "files_from", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Count the recordings and folders that this list names too, one a line; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// Names in the list end with a NUL, as `find -print0` writes them, instead of a newline.
    #[arg(short = '0', long, requires = "files_from")]
    null: bool,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people: tables.
    Text,
    /// For programs.
    Json,
    /// For spreadsheets: a line for each tool of each version of each server.
    Csv,
    /// A page with bars.
    Html,
}

/// So many rejected recordings are named.
const NAMED: u64 = 10;

/// Runs the command. Memory does not grow with the recordings.
///
/// # Errors
/// Where nothing could be counted, or the output cannot be written.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let unusable = Failure::Unusable;
    let listed = match &args.files_from {
        Some(list) if list.as_os_str() == "-" && args.files.iter().any(|file| file.as_os_str() == "-") => {
            return Err(unusable("the standard input is either a recording or a list".to_owned()));
        }
        list => list.as_deref().map(|list| ListedPaths::open(list, args.null)).transpose(),
    }
    .map_err(unusable)?;
    let paths = args.files.iter().cloned().map(Ok).chain(listed.into_iter().flatten());
    let (mut all, mut rejected) = (Collected::default(), 0);
    let usable = every_recording(paths, args.format, context, &mut |name, format, input| {
        if let Some(why) = all.add(format, input)? {
            rejected += 1;
            if rejected <= NAMED {
                context.terminal.note(&format!(
                    "{name}: counted as far as it can be read: {} (line {}, {})",
                    why.message, why.line, why.clause
                ));
            }
        }
        Ok(())
    });
    if rejected > NAMED {
        context
            .terminal
            .note(&format!("and {} more are counted as far as they can be read", rejected - NAMED));
    }
    let stats = all.finish();
    if stats.recordings == 0 {
        return Err(unusable("there is no recording here".to_owned()));
    }
    let printed = match args.output {
        Output::Text => text(&stats, context.terminal.colour_out),
        Output::Json => json(&stats).map_err(io::Error::from)?,
        Output::Csv => csv(&stats),
        Output::Html => HtmlRenderer::new(env!("CARGO_PKG_VERSION"))
            .and_then(|renderer| renderer.stats(&stats))
            .map_err(|error| unusable(format!("the page cannot be made: {error}")))?,
    };
    let mut out = io::stdout().lock();
    out.write_all(printed.as_bytes())?;
    out.flush()?;
    Ok(match (usable, rejected) {
        (false, _) => exit::UNUSABLE,
        (true, 0) => exit::WELL,
        (true, _) => exit::FAILED,
    })
}
