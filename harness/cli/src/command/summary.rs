//! `summary`: what is in these recordings, at a glance. A file named without a command comes here too.

use super::context::{CommandContext, Failure};
use super::input::{format_of, named_format, open};
use crate::exit;
use crate::recordings::{Found, Names, Recording, Recordings};
use formats::{Format, Input, ReadError};
use reports::overview::{Overview, json, overview, text};
use std::io::{self, Write as _};
use std::mem::take;
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
    // Files that are no recordings, by the folder they were found in.
    let mut passed_over = Names::default();
    let mut unusable = false;
    let mut refuse = |why: &str| {
        context.terminal.error(why);
        unusable = true;
    };
    for found in Recordings::find(args.files.iter().cloned().map(Ok)) {
        match found {
            Found::Recording(recording) => match look(&recording, args.format) {
                Ok(Some(overview)) => overviews.push(overview),
                Ok(None) => passed_over.push(|| recording.path.display().to_string()),
                Err(why) => refuse(&why),
            },
            Found::Unsearched(_, why) => refuse(&why),
            Found::Searched(folder, notes) => {
                let other = take(&mut passed_over).left_out(&folder, "not recordings");
                notes.iter().chain(&other).for_each(|note| context.terminal.note(note));
            }
        }
    }
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
            if !unusable {
                return Err(Failure::Unusable("there is no recording here".to_owned()));
            }
        }
        (How::Text, several) => out.write_all(text::rows(several, colour).as_bytes())?,
    }
    out.flush()?;
    let rejected = overviews.iter().any(|overview| overview.rejected.is_some());
    Ok(match (unusable, rejected) {
        (true, _) => exit::UNUSABLE,
        (false, true) => exit::FAILED,
        (false, false) => exit::WELL,
    })
}

/// The overview of a file; none where it was found in a folder and is no recording.
fn look(recording: &Recording, asked: Option<&'static Format>) -> Result<Option<Overview>, String> {
    let shown = recording.path.display();
    let why = |failure: Failure| match failure {
        Failure::Rejected(name, rejection) => format!("{name} is not a recording: {}", rejection.message),
        Failure::Unusable(why) | Failure::NotRun(why) => why,
        Failure::OutputClosed => format!("{shown} was not read to its end"),
    };
    let mut source = open(&recording.path).map_err(why)?;
    let name = source.name;
    let told = |error| why(Failure::of_reading(&name, error));
    let found = recording.folder.is_some();
    let mut input = match Input::new(&mut *source.reader) {
        Err(ReadError::Rejected(_)) if found => return Ok(None),
        input => input.map_err(told)?,
    };
    let format = match (found, asked) {
        (false, _) => format_of(asked, &mut input, &name).map_err(why)?,
        (true, _) => match formats::detect(&mut input) {
            Ok(Some(format)) if asked.is_none_or(|asked| asked.name == format.name) => format,
            Ok(_) | Err(ReadError::Rejected(_)) => return Ok(None),
            Err(error) => return Err(told(error)),
        },
    };
    let seen = overview(&name, format, &mut input);
    seen.map(Some).map_err(|error| format!("{name} cannot be read: {error}"))
}
