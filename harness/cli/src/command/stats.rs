//! `stats`: calls, failures and times over many recordings.

use super::carrier::Carrier;
use super::context::{CommandContext, Failure};
use super::every::every_recording;
use super::input::{name_of, named_format};
use super::values::words;
use crate::exit;
use crate::listed_paths::named_paths;
use crate::terminal::out_for;
use app::Stats;
use formats::Format;
use std::path::PathBuf;

/// Counts calls, failures and times over recordings: by tool, by server, by version of a server, and by method.
///
/// A recording that `read` rejects is counted as far as it can be read.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/stats.txt"))]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required_unless_present = "files_from", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Also count the recordings and folders in this list, one a line; `-` is the standard input.
    #[arg(long, value_name = "FILE")]
    files_from: Option<PathBuf>,
    /// Names in the list end with a NUL, as `find -print0` writes them, instead of a newline.
    #[arg(short = '0', long, requires = "files_from")]
    null: bool,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_parser = words(&OUTPUTS), default_value = "text", value_name = "KIND")]
    output: String,
}

const OUTPUTS: [(&str, &str); 4] = [
    ("text", "For people: tables"),
    ("json", "For programs"),
    ("csv", "For spreadsheets: a line for each tool of each version of each server"),
    ("html", "A page with bars"),
];

/// Runs the command. Memory does not grow with the recordings.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let paths = named_paths(args.files.clone(), args.files_from.as_deref(), args.null)?;
    let mut stats = Stats::new(name_of(args.format).as_deref())?;
    let mut carrier = Carrier::new(out_for(args.output == "text"), context);
    let usable = every_recording(paths, context, &mut |recording| stats.add(recording, &mut carrier));
    let outcome = stats.finish(&args.output, context.terminal.colour_out, &mut carrier)?;
    let code = match outcome {
        Some(outcome) => carrier.finish(outcome)?,
        None if usable => return Err("no recordings were found".into()),
        None => exit::UNUSABLE,
    };
    Ok(if usable { code } else { exit::UNUSABLE })
}
