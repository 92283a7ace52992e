//! `show`: draws a session.

use super::context::{CommandContext, Failure};
use super::input::named_format;
use super::tape::{judge, recording};
use crate::exit;
use crate::terminal::data_out;
use formats::{Format, ReadOptions};
use reports::diagram::{SvgOptions, TextOptions, svg, text};
use reports::diagram_builder::RowSelection;
use reports::drawing::{DrawOptions, draw};
use reports::viewer::{MOST_TEXT, ROWS, page};
use rules::CheckOptions;
use rules::record::{CheckedFile, RuleSelection};
use std::io::{self, IsTerminal as _, Write};
use std::path::PathBuf;

/// How wide text is drawn where neither a terminal nor COLUMNS says it.
const WIDTH: usize = 100;

/// Draws a session as a sequence diagram: messages, unanswered requests, and the findings of `check`.
///
/// Several traces of one session, one for each server, are merged by time.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord show session.har                         in the terminal; the format is detected
  mcp-concord show --output svg trace.jsonl > a.svg    a picture
  mcp-concord show --output html a.har > a.html        a page to look into, with every message whole
  mcp-concord show weather.jsonl files.jsonl           two servers of one session (mcp-replay), by time
  mcp-concord show --from 120 --to 160 trace.jsonl     only these messages
  mcp-concord show --no-check - < capture              from the standard input, without findings of check

Of a long session a picture has the first 40 rows, the last 20, and up to 240 unusual ones between them; folded rows are
counted. A page has the first 100,000 messages, 256 KiB of each and 64 MiB of all; what it leaves out is counted. A session that the contract rejects is drawn up to the place of the rejection. What comes through a pipe may be up to
1 GiB, since it is kept to be read twice; a file may be larger.

Exit code 0: drawn; 1: drawn and rejected; 2: an input or the call cannot be used.")]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input. Several must be traces of one server each (mcp-replay).
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The capture format, instead of detecting it from the content.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    format: Option<&'static Format>,
    /// The output format.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
    /// Fold nothing; memory and drawing grow with the session.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    all: bool,
    /// Draw only from this message on, as the drawing numbers them.
    #[arg(long, value_name = "NUMBER")]
    from: Option<u64>,
    /// Draw only up to this message.
    #[arg(long, value_name = "NUMBER")]
    to: Option<u64>,
    /// Leave out the findings of `check`.
    #[arg(long)]
    no_check: bool,
    /// Skip what is not a message where one belongs, and show where it was.
    #[arg(long)]
    lenient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For a terminal.
    Text,
    /// An SVG picture.
    Svg,
    /// A page to look into: every message whole, filters, and the findings.
    Html,
}

/// Runs the command.
///
/// # Errors
/// Where an input cannot be opened or told, or is rejected after it was drawn.
pub(crate) fn run(args: &Args, context: CommandContext) -> Result<u8, Failure> {
    let shown = match (args.all, args.from, args.to) {
        (true, ..) => RowSelection::All,
        // A page shows what it has room for, a picture what a person can take in.
        (_, None, None) if args.output == Output::Html => ROWS,
        (_, None, None) => RowSelection::Folded,
        (_, from, to) => RowSelection::Range(from.unwrap_or(0), to.unwrap_or(u64::MAX)),
    };
    if matches!(shown, RowSelection::Range(from, to) if from > to) {
        return Err(Failure::Unusable("--from is after --to, so nothing is left to draw".to_owned()));
    }
    let mut recordings = Vec::new();
    for path in &args.files {
        let recording = recording(path, args.format)?;
        context.terminal.detail(&format!("{} is read as {}", recording.name, recording.format.name));
        recordings.push(recording);
    }
    if let (true, Some(other)) =
        (recordings.len() > 1, recordings.iter().find(|recording| !recording.format.carries.process))
    {
        return Err(Failure::Unusable(format!(
            "{} is a {}; several recordings are drawn together where each is the trace of one server's process",
            other.name, other.format.name
        )));
    }
    let judged = match args.no_check {
        true => Vec::new(),
        false => judge(&mut recordings, &CheckOptions::default())?,
    };
    let options = DrawOptions {
        rows: shown,
        read: if args.lenient { ReadOptions::LENIENT } else { ReadOptions::default() },
        whole: (args.output == Output::Html).then_some(if args.all { usize::MAX } else { MOST_TEXT }),
    };
    let drawing = draw(&mut recordings, &judged, &options)
        .map_err(|(name, error)| Failure::of_reading(&name, error))?;
    let diagram = &drawing.diagram;
    let drawn = match args.output {
        Output::Text => {
            let terminal = TextOptions { colour: context.terminal.colour_out, width: width() };
            text(diagram, terminal)
        }
        Output::Svg => svg(diagram, SvgOptions::default()),
        Output::Html => {
            let everything = RuleSelection::everything();
            let files = recordings.iter().zip(&judged);
            let files =
                files.map(|(it, judged)| CheckedFile::of(&it.name, it.format.name, judged, &everything));
            page(diagram, &files.collect::<Vec<_>>()).map_err(io::Error::other)?
        }
    };
    // The drawing for a terminal has colours, and is free of anything else.
    let mut out: Box<dyn Write> = match args.output {
        Output::Text => Box::new(io::stdout().lock()),
        Output::Svg | Output::Html => data_out(),
    };
    out.write_all(drawn.as_bytes())?;
    out.flush()?;
    for note in &drawing.notes {
        context.terminal.note(note);
    }
    for (name, rejection) in &drawing.rejected {
        context.terminal.rejection(name, rejection);
    }
    Ok(if drawing.rejected.is_empty() { exit::WELL } else { exit::FAILED })
}

fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || {
        let size = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    };
    columns().or_else(terminal).unwrap_or(WIDTH)
}
