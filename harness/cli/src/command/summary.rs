//! `summary`: what is in these recordings, at a glance. A file named without a command comes here too.

use super::carrier::Carrier;
use super::context::{CommandContext, Failure};
use super::every::every_recording;
use super::input::{name_of, named_format};
use super::values::words;
use crate::exit;
use crate::terminal::out_for;
use app::{Order, Summary, SummaryOptions};
use formats::Format;
use std::path::PathBuf;

/// Gives an overview of recordings: who talked to whom, what was called, what failed, what `check` finds.
///
/// One recording fills a page; several, or a folder, a table with a row each. `mcp-concord FILE` is short for this.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/summary.txt"))]
pub(crate) struct Args {
    /// Recordings, or folders of them; `-` is the standard input.
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_parser = words(&OUTPUTS), default_value = "text", value_name = "HOW")]
    output: String,
    /// The order of the rows [default: worst; with JSON as they are named].
    #[arg(long, value_parser = words(&ORDERS), value_name = "ORDER")]
    sort: Option<String>,
    /// Show only some of the recordings.
    #[arg(long, value_parser = words(&ONLY), value_name = "WHICH")]
    only: Option<String>,
}

const ORDERS: [(&str, &str); 4] = [
    ("worst", "Rejected ones first, then those without messages, then by errors and warnings"),
    ("name", "By name"),
    ("time", "The oldest first"),
    ("messages", "The longest first"),
];

const ONLY: [(&str, &str); 1] = [("failing", "Those that are rejected, hold no message, or have errors")];

const OUTPUTS: [(&str, &str); 2] =
    [("text", "For people"), ("json", "For programs: an array with an item for each recording")];

/// Runs the command. Memory: what `check` holds of one recording, and an overview of each.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let output = match args.files.as_slice() {
        _ if args.output == "json" => "json",
        [file] if !file.is_dir() => "page",
        _ => "rows",
    };
    let colour = context.terminal.colour_out;
    let order = match args.sort.as_deref() {
        None if output == "json" => None,
        Some("name") => Some(Order::Name),
        Some("time") => Some(Order::Time),
        Some("messages") => Some(Order::Messages),
        _ => Some(Order::Worst),
    };
    let (format, output, failing) = (name_of(args.format), output.to_owned(), args.only.is_some());
    let options = SummaryOptions { format, output, order, failing, colour };
    let mut summary = Summary::new(&options)?;
    let paths = args.files.iter().cloned().map(Ok);
    let usable = every_recording(paths, context, &mut |recording| summary.add(recording));
    if usable && summary.is_empty() && options.output != "json" {
        return Err("no recordings were found".into());
    }
    let mut carrier = Carrier::new(out_for(args.output == "text"), context);
    let outcome = summary.finish(&mut carrier)?;
    let code = carrier.finish(outcome)?;
    Ok(if usable { code } else { exit::UNUSABLE })
}
