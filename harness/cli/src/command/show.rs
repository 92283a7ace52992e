//! `show`: draws a session.

use super::carrier::carry;
use super::context::{CommandContext, Failure};
use super::input::{name_of, named_format, open_kept};
use super::values::{whole, words};
use crate::terminal::out_for;
use app::ShowOptions;
use formats::Format;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

/// How wide text is drawn where neither a terminal nor COLUMNS says it.
const WIDTH: usize = 100;

/// The widest drawing. It takes memory for each column, and COLUMNS may be any number.
const WIDEST: usize = 1000;

/// Draws a session as a sequence diagram: messages, unanswered requests, and the findings of `check`.
///
/// Several traces of one session, one for each server, are merged by time.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/show.txt"))]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input. Several must be traces of one server each (mcp-replay).
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_parser = words(&OUTPUTS), default_value = "text", value_name = "KIND")]
    output: String,
    /// Fold nothing; memory and drawing grow with the session.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    all: bool,
    /// The first message to draw, by its number in the drawing.
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64>)]
    from: Option<u64>,
    /// The last message to draw.
    #[arg(long, value_name = "NUMBER", value_parser = whole::<u64>)]
    to: Option<u64>,
    /// Leave out the findings of `check`.
    #[arg(long)]
    no_check: bool,
    /// Skip what is not a message where one belongs, and show where it was.
    #[arg(long)]
    lenient: bool,
}

const OUTPUTS: [(&str, &str); 3] = [
    ("text", "For a terminal"),
    ("svg", "An SVG picture"),
    ("html", "A page to explore: every message whole, filters, and the findings"),
];

pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.from.zip(args.to).is_some_and(|(from, to)| from > to) {
        return Err("--from is after --to, so nothing is left to draw".into());
    }
    let recordings = args.files.iter().map(|path| open_kept(path, args.format, context.terminal));
    let mut recordings = recordings.collect::<Result<Vec<_>, _>>()?;
    let options = ShowOptions {
        format: name_of(args.format),
        output: args.output.clone(),
        all: args.all,
        from: args.from,
        to: args.to,
        check: !args.no_check,
        lenient: args.lenient,
        width: width(),
        colour: context.terminal.colour_out,
        parallelism: None,
    };
    carry(&options, &mut recordings, out_for(args.output == "text"), context)
}

fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || {
        let size = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    };
    columns().or_else(terminal).map_or(WIDTH, |width| width.min(WIDEST))
}
