//! `diff`: are two transcripts, in any formats, the same session?

use super::context::{CommandContext, Failure};
use super::input::{format_of, named_format, open};
use crate::exit;
use crate::terminal::{Verbosity, cut, data_out, plain};
use formats::{Format, Input, ReadError};
use reports::diff::Kinds;
use reports::diff::json::Json;
use reports::diff::side::{Side, SideOptions, notes};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use transcript::align::{AlignOptions, Counts, IdMatching, Mismatch, OwnedEvent, compare};
use transcript::diff::{DiffOptions, PointerPattern};
use transcript::session::SinkError;
use verdict::plain::counted;

/// How many events travel together from a reader to the comparison, and how many such parcels may wait.
const PARCEL: usize = 256;
const WAITING: usize = 4;

/// Compares two transcripts, in any formats: are they recordings of the same session?
///
/// Every event that differs is shown with its place in both files. Transport context (times, headers, event ids)
/// is never compared. Where both formats carry the challenge of a 401 and its summaries differ, a note says so.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord diff trace.jsonl session.har
  mcp-concord diff a.jsonl b.jsonl --ids renumbered --ignore '/result/content/*/text'
  mcp-concord diff wire.jsonl kept.jsonl --redacted '[REDACTED]'
  mcp-concord diff --output json a.jsonl b.har | jq .differences

A pointer counts from an event of the normal form (see `mcp-concord read`): /params/…, /arguments/…, /result/…
Exit code 0: the same; 1: different; 2: one of them cannot be read.")]
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
    #[arg(long, value_name = "MARKER")]
    redacted: Option<String>,
    /// Whether ids must be equal, or may be renamed one to one.
    #[arg(long, value_enum, default_value = "exact", value_name = "HOW")]
    ids: How,
    /// Ignore this JSON pointer of the events; `*` matches any member or item. Repeatable.
    #[arg(long, value_name = "POINTER", value_parser = PointerPattern::parse)]
    ignore: Vec<PointerPattern>,
    /// Leave out the order in which answers come, as of sessions with several requests at a time. Which request each one
    /// answers is still compared, and so is the order of everything that is not an answer.
    #[arg(long)]
    unordered_answers: bool,
    /// Leave out requests that were turned away: exchanges that HTTP refused (status 300 to 499) without an answer to their
    /// request, and `server/discover` where it gets an error.
    #[arg(long)]
    ignore_refusals: bool,
    /// Count an SSE event that was delivered again only once.
    #[arg(long)]
    fold_redelivered: bool,
    /// Show at most this many differing events; all are counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: u64,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For people.
    Text,
    /// For programs: an object with the counts and the differences.
    Json,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum How {
    Exact,
    Renumbered,
}

/// Runs the command. Memory: a few hundred events of each transcript, and what its format's reader holds.
///
/// # Errors
/// Where a transcript cannot be opened.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    if args.left.as_os_str() == "-" && args.right.as_os_str() == "-" {
        return Err(Failure::Unusable(
            "only one of the two transcripts can be the standard input".to_owned(),
        ));
    }
    let options = AlignOptions {
        values: DiffOptions { ignore: args.ignore.clone(), redacted: args.redacted.clone() },
        ids: if args.ids == How::Renumbered { IdMatching::Renumbered } else { IdMatching::Exact },
        unordered_answers: args.unordered_answers,
    };
    let names = [shown_name(&args.left), shown_name(&args.right)];
    let mut show = match args.output {
        Output::Json => Shown::Json(Json::new(args.show)),
        Output::Text => Shown::Text(Show {
            names: &names,
            out: BufWriter::new(io::stdout().lock()),
            left: args.show,
            hidden: 0,
            kinds: Kinds::default(),
            broken: None,
        }),
    };

    // Each transcript is read on a thread of its own; the comparison takes their events as they come.
    let (counts, read_left, read_right) = thread::scope(|scope| {
        let (send_left, left) = sync_channel(WAITING);
        let (send_right, right) = sync_channel(WAITING);
        let reading_left = scope.spawn(move || read(&args.left, args.left_format, args, &send_left));
        let reading_right = scope.spawn(move || read(&args.right, args.right_format, args, &send_right));
        let counts = compare(events(left), events(right), &options, &mut |departure| match &mut show {
            Shown::Text(text) => text.mismatch(&departure),
            Shown::Json(json) => json.mismatch(&departure),
        });
        (counts, reading_left.join(), reading_right.join())
    });
    let mut sides = Vec::new();
    let mut unreadable = false;
    for read in [read_left, read_right] {
        match read.unwrap_or_else(|_| Err(Failure::Unusable("a reader of the program failed".to_owned()))) {
            Ok(side) => sides.push(side),
            Err(failure) => {
                unreadable = true;
                match failure {
                    Failure::Rejected(name, rejection) => context.terminal.rejection(&name, &rejection),
                    Failure::Unusable(why) | Failure::NotRun(why) => context.terminal.error(&why),
                    Failure::OutputClosed => {}
                }
            }
        }
    }
    let [left, right] = &sides[..] else {
        if unreadable {
            return Ok(exit::UNUSABLE);
        }
        return Err(Failure::OutputClosed);
    };
    for note in notes([left, right], [&names[0], &names[1]], counts.same()) {
        context.terminal.note(&note);
    }
    let mut show = match show {
        Shown::Json(json) => {
            let text = json.finish(&counts, [left, right], [&names[0], &names[1]]);
            let mut out = data_out();
            out.write_all(text.as_bytes())?;
            out.flush()?;
            return Ok(code(&counts));
        }
        Shown::Text(text) => text,
    };
    if context.terminal.verbosity > Verbosity::Quiet {
        show.counts(&counts, [left.format, right.format])?;
    }
    show.out.flush()?;
    if let Some(error) = show.broken {
        return Err(error.into());
    }
    Ok(code(&counts))
}

fn code(counts: &Counts) -> u8 {
    if counts.same() { exit::WELL } else { exit::FAILED }
}

/// What takes the differences.
enum Shown<'n, W: Write> {
    Text(Show<'n, W>),
    Json(Json),
}

fn read(
    path: &Path,
    asked: Option<&'static Format>,
    args: &Args,
    events: &SyncSender<Vec<OwnedEvent>>,
) -> Result<Side, Failure> {
    let mut source = open(path)?;
    let name = source.name.clone();
    let failed = |error: ReadError| Failure::of_reading(&name, error);
    let mut input = Input::new(&mut *source.reader).map_err(failed)?;
    let format = format_of(asked, &mut input, &name)?;
    let options =
        SideOptions { ignore_refusals: args.ignore_refusals, fold_redelivered: args.fold_redelivered };
    let mut parcel = Vec::with_capacity(PARCEL);
    let side = Side::read(format, &mut input, options, &mut |event| {
        parcel.push(event);
        if parcel.len() == PARCEL {
            let full = std::mem::replace(&mut parcel, Vec::with_capacity(PARCEL));
            events.send(full).map_err(|_| SinkError::Stop)?;
        }
        Ok(())
    })
    .map_err(failed)?;
    // The comparison ends early only where the other side failed, and that is reported.
    let _ = events.send(parcel);
    Ok(side)
}

fn events(parcels: Receiver<Vec<OwnedEvent>>) -> impl Iterator<Item = OwnedEvent> {
    parcels.into_iter().flatten()
}

fn shown_name(path: &Path) -> String {
    if path.as_os_str() == "-" { "<stdin>".to_owned() } else { plain(&path.display().to_string()) }
}

/// Prints what differs, and keeps the first error of the output for later.
struct Show<'n, W: Write> {
    names: &'n [String; 2],
    out: W,
    left: u64,
    hidden: u64,
    kinds: Kinds,
    broken: Option<io::Error>,
}

impl<W: Write> Show<'_, W> {
    fn mismatch(&mut self, departure: &Mismatch<'_>) {
        self.kinds.count(departure);
        if self.left == 0 || self.broken.is_some() {
            self.hidden += 1;
            return;
        }
        self.left -= 1;
        if let Err(error) = self.try_mismatch(departure) {
            self.broken = Some(error);
        }
    }

    fn try_mismatch(&mut self, departure: &Mismatch<'_>) -> io::Result<()> {
        let [left_name, right_name] = self.names;
        match departure {
            Mismatch::Differs(left, right, difference) => {
                let at = if difference.pointer.is_empty() { "/" } else { &difference.pointer };
                writeln!(self.out, "event {} differs at {}", left.index, plain(at))?;
                let nothing = "(nothing there)";
                let value = |value: &Option<String>| {
                    value.as_deref().map_or(nothing.to_owned(), |text| cut(text, 160))
                };
                writeln!(self.out, "  - {}", value(&difference.left))?;
                writeln!(self.out, "  + {}", value(&difference.right))?;
                writeln!(self.out, "  - {}", line(left_name, left))?;
                writeln!(self.out, "  + {}", line(right_name, right))?;
            }
            Mismatch::OnlyLeft(event) => {
                writeln!(self.out, "event {} is only in A", event.index)?;
                writeln!(self.out, "  - {}", line(left_name, event))?;
            }
            Mismatch::OnlyRight(event) => {
                writeln!(self.out, "event {} is only in B", event.index)?;
                writeln!(self.out, "  + {}", line(right_name, event))?;
            }
        }
        writeln!(self.out)
    }

    fn counts(&mut self, counts: &Counts, formats: [&Format; 2]) -> io::Result<()> {
        if self.hidden > 0 {
            writeln!(self.out, "{} more differ than are shown here (--show N)\n", self.hidden)?;
        }
        let verdict = if counts.same() { "the same session" } else { "different sessions" };
        writeln!(
            self.out,
            "{verdict}: {} equal, {} differ, {} only in A, {} only in B ({} and {})",
            counted(counts.equal, "event"),
            counts.differing,
            counts.only_left,
            counts.only_right,
            formats[0].name,
            formats[1].name
        )?;
        self.kinds.write(&mut self.out)?;
        if counts.redacted > 0 {
            writeln!(
                self.out,
                "{} values are treated as equal because one of them is redacted",
                counts.redacted
            )?;
        }
        if counts.ignored > 0 {
            writeln!(self.out, "{} ignored", counted(counts.ignored, "place"))?;
        }
        Ok(())
    }
}

/// A place and its event.
fn line(name: &str, event: &OwnedEvent) -> String {
    let pointer = event.location.pointer();
    let pointer = if pointer.is_empty() { String::new() } else { format!(" {pointer}") };
    format!("{name}:{}{}  {}", event.location.line, plain(&pointer), cut(&event.to_json(), 160))
}
