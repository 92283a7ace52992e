//! `diff`: are two transcripts, in any formats, the same session?

use super::carrier::carry;
use super::context::{CommandContext, Failure};
use super::input::{name_of, named_format, opened};
use super::values::{whole, words};
use crate::exit;
use crate::terminal::{Verbosity, data_out, plain};
use app::{DiffOptions, Recording, Text};
use clap::builder::NonEmptyStringValueParser;
use formats::Format;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use transcript::diff::PointerPattern;

/// Compares two transcripts, in any formats: are they recordings of the same session?
///
/// Every event that differs is shown with its place in both files. Transport context (times, headers, event ids)
/// is never compared. Where both formats carry the challenge of a 401 and its summaries differ, a note says so.
#[derive(Debug, clap::Args)]
#[command(after_help = include_str!("help/diff.txt"))]
pub(crate) struct Args {
    /// Transcript A; `-` is the standard input.
    left: PathBuf,
    /// Transcript B.
    right: PathBuf,
    /// The format of the first, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    left_format: Option<&'static Format>,
    /// The format of the second, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    right_format: Option<&'static Format>,
    /// Treat a string that contains this marker as equal to any value.
    #[arg(long, value_name = "MARKER", value_parser = NonEmptyStringValueParser::new())]
    redacted: Option<String>,
    /// Whether ids must be equal, or may be renamed one to one.
    #[arg(long, value_parser = ["exact", "renumbered"], default_value = "exact", value_name = "HOW")]
    ids: String,
    /// Ignore this JSON pointer of the events; `*` matches any member or item. Repeatable.
    #[arg(long, value_name = "POINTER", value_parser = pointer)]
    ignore: Vec<String>,
    /// Ignore the order in which answers come, for sessions with several requests at a time. Which request each one
    /// answers is still compared, and so is the order of everything that is not an answer.
    #[arg(long)]
    unordered_answers: bool,
    /// Leave out refused requests: exchanges that HTTP refused (status 300 to 499) without an answer to their
    /// request, and `server/discover` where it gets an error.
    #[arg(long)]
    ignore_refusals: bool,
    /// Ignore who sent an event, which is compared where both formats show it.
    #[arg(long)]
    ignore_senders: bool,
    /// Count an SSE event that was delivered again only once.
    #[arg(long)]
    fold_redelivered: bool,
    /// Show at most this many differing events; all are counted.
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = whole::<u64>)]
    show: u64,
    /// The output format.
    #[arg(long, value_parser = words(&OUTPUTS), default_value = "text", value_name = "KIND")]
    output: String,
}

const OUTPUTS: [(&str, &str); 2] =
    [("text", "For people"), ("json", "For programs: an object with the counts and the differences")];

fn pointer(text: &str) -> Result<String, String> {
    PointerPattern::parse(text).map(|_| text.to_owned())
}

/// Runs the command. Memory: a few hundred events of each transcript, and what its format's reader holds.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.left.as_os_str() == "-" && args.right.as_os_str() == "-" {
        return Err("only one of the two transcripts can be the standard input".into());
    }
    let mut recordings = Vec::new();
    for path in [&args.left, &args.right] {
        match opened(path, context.terminal) {
            Ok(source) => recordings.push(Recording::once(&plain(&source.name), source.reader)),
            Err(why) => context.terminal.error(&why),
        }
    }
    if recordings.len() < 2 {
        return Ok(exit::UNUSABLE);
    }
    let full = context.terminal.verbosity > Verbosity::Quiet;
    let text = (args.output == "text").then_some(if full { Text::Full } else { Text::Brief });
    let options = DiffOptions {
        left_format: name_of(args.left_format),
        right_format: name_of(args.right_format),
        redacted: args.redacted.clone(),
        ids: args.ids.clone(),
        ignore: args.ignore.clone(),
        unordered_answers: args.unordered_answers,
        ignore_refusals: args.ignore_refusals,
        ignore_senders: args.ignore_senders,
        fold_redelivered: args.fold_redelivered,
        show: args.show,
        text,
        threads: true,
    };
    let out: Box<dyn Write> = match text {
        Some(_) => Box::new(BufWriter::new(io::stdout().lock())),
        None => data_out(),
    };
    match carry(&options, &mut recordings, out, context) {
        // It is not that they differ.
        Err(Failure::Rejected(name, rejection)) => {
            context.terminal.rejection(&name, &rejection);
            Ok(exit::UNUSABLE)
        }
        done => done,
    }
}
