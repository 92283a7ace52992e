//! `show`: draws a session.

use super::{Around, Failure, format_of, named_format, open};
use crate::exit;
use crate::source::Source;
use formats::{Format, Input, ReadError, ReadOptions, walk};
use reports::diagram::{Diagram, SvgOptions, TextOptions, html, svg, text};
use reports::diagram_builder::{
    DiagramBuilder, EntrySummarizer, EntrySummary, Findings, Reader, RowSelection, merge,
};
use rules::CheckOptions;
use std::fs;
use std::io::{self, IsTerminal as _, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use tempfile::SpooledTempFile;
use transcript::session::SinkError;

/// Up to this size what can be read only once waits in memory, then in a temporary file.
const IN_MEMORY: usize = 16 << 20;

/// How wide text is drawn where neither a terminal nor COLUMNS says it.
const WIDTH: usize = 100;

/// Draws a session: who said what to whom, what was never answered, and what `check` finds where.
///
/// Several traces of the servers of one session are put together by time, with a lane for each server.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mcp-concord show session.har                         in the terminal; the format is told from the content
  mcp-concord show --output svg trace.jsonl > a.svg    a picture
  mcp-concord show --output html a.har > a.html        a page with the picture, and every row in words
  mcp-concord show weather.jsonl files.jsonl           two servers of one session (mcp-replay), by time
  mcp-concord show --from 120 --to 160 trace.jsonl     these messages alone
  mcp-concord show --no-check - < capture              from the standard input, without what check finds

Of a long session the first 40 rows and the last 20 are drawn, and between them up to 240 that are out of the ordinary;
what is folded is counted. A session that the contract rejects is drawn up to the place where it is rejected.
Exit code 0: drawn; 1: drawn and rejected; 2: an input or the call could not be used.")]
pub(crate) struct Args {
    /// The transcript; `-` is the standard input. Several must be traces of one server each (mcp-replay).
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Their capture format, where the content should not decide.
    #[arg(long, value_name = "FORMAT", value_parser = named_format)]
    format: Option<&'static Format>,
    /// What to draw it as.
    #[arg(long, value_enum, default_value = "text", value_name = "KIND")]
    output: Output,
    /// Fold nothing: memory and picture grow with the session.
    #[arg(long, conflicts_with_all = ["from", "to"])]
    all: bool,
    /// Draw the messages from this number on alone, as the picture numbers them.
    #[arg(long, value_name = "NUMBER")]
    from: Option<u64>,
    /// Draw the messages up to this number alone.
    #[arg(long, value_name = "NUMBER")]
    to: Option<u64>,
    /// Leave out what `check` finds.
    #[arg(long)]
    no_check: bool,
    /// Pass over what is no message where one belongs, and draw that it stood there.
    #[arg(long)]
    lenient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// For a terminal.
    Text,
    /// A picture.
    Svg,
    /// A page with the picture and its words.
    Html,
}

/// A recording that can be read twice.
struct Recording {
    name: String,
    tape: Tape,
    format: &'static Format,
}

enum Tape {
    File(fs::File),
    Kept(SpooledTempFile),
}

impl Tape {
    /// Its bytes from the beginning.
    fn again(&mut self) -> io::Result<&mut (dyn Read + Send)> {
        match self {
            Self::File(file) => file.rewind().map(|()| file as _),
            Self::Kept(kept) => kept.rewind().map(|()| kept as _),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// Where an input cannot be opened or told, or is rejected after it was drawn.
pub(crate) fn run(args: &Args, around: Around) -> Result<u8, Failure> {
    let shown = match (args.all, args.from, args.to) {
        (true, ..) => RowSelection::All,
        (_, None, None) => RowSelection::Folded,
        (_, from, to) => RowSelection::Range(from.unwrap_or(0), to.unwrap_or(u64::MAX)),
    };
    if matches!(shown, RowSelection::Range(from, to) if from > to) {
        return Err(Failure::Unusable("--from is behind --to, so that nothing is left to draw".to_owned()));
    }
    let mut recordings = Vec::new();
    for path in &args.files {
        let recording = recording(path, args.format)?;
        around.voice.detail(&format!("{} is read as {}", recording.name, recording.format.name));
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
    let mut findings = Findings::default();
    if !args.no_check {
        for (number, recording) in recordings.iter_mut().enumerate() {
            check(number, recording, &mut findings)?;
        }
    }
    let servers: Vec<String> = recordings.iter().map(server).collect();
    let mut drawing = DiagramBuilder::new(&servers, shown, findings);
    let ends = read(&mut recordings, args.lenient, &mut drawing);
    let mut rejected = Vec::new();
    for (file, (recording, end)) in recordings.iter().zip(ends).enumerate() {
        match end {
            Ok(()) => {}
            Err(ReadError::Rejected(rejection)) => {
                drawing.rejected(file, &recording.name, &rejection);
                rejected.push((recording.name.clone(), rejection));
            }
            Err(error) => return Err(Failure::of_reading(&recording.name, error)),
        }
    }
    print(&drawing.finish(&title(&recordings), about(&recordings)), args.output, around)?;
    if let Some(format) =
        recordings.first().map(|first| first.format).filter(|format| !format.caveat.is_empty())
    {
        around.voice.note(&format!("{}: {}", format.name, format.caveat));
    }
    for (name, rejection) in &rejected {
        around.voice.rejection(name, rejection);
    }
    Ok(if rejected.is_empty() { exit::WELL } else { exit::FELL_SHORT })
}

/// Opens a recording and tells its format. What is no plain file is kept, since it is read twice.
fn recording(path: &Path, asked: Option<&'static Format>) -> Result<Recording, Failure> {
    let Source { name, mut reader } = open(path)?;
    let lost = |error: io::Error| Failure::Unusable(format!("{name} cannot be read: {error}"));
    let mut tape = if path.as_os_str() != "-" && path.is_file() {
        Tape::File(fs::File::open(path).map_err(lost)?)
    } else {
        let mut kept = SpooledTempFile::new(IN_MEMORY);
        io::copy(&mut reader, &mut kept).map_err(lost)?;
        Tape::Kept(kept)
    };
    let mut reader = tape.again().map_err(lost)?;
    let mut input = Input::new(&mut reader).map_err(|error| Failure::of_reading(&name, error))?;
    let format = format_of(asked, &mut input, &name)?;
    Ok(Recording { name, tape, format })
}

fn check(number: usize, recording: &mut Recording, findings: &mut Findings) -> Result<(), Failure> {
    let lost = |error| Failure::Unusable(format!("{} cannot be read: {error}", recording.name));
    let mut reader = recording.tape.again().map_err(lost)?;
    // What is no text at all is rejected when it is drawn.
    let Ok(mut input) = Input::new(&mut reader) else { return Ok(()) };
    let judged = rules::check(recording.format, &mut input, &CheckOptions::default()).map_err(lost)?;
    findings.add(number, &judged);
    Ok(())
}

/// Reads every recording into the drawing, and returns what came of each.
fn read(
    recordings: &mut [Recording],
    lenient: bool,
    drawing: &mut DiagramBuilder,
) -> Vec<Result<(), ReadError>> {
    if let [recording] = recordings {
        return vec![read_one(0, recording, lenient, &mut |piece| {
            drawing.take(piece);
            Ok(())
        })];
    }
    let mut readers: Vec<Reader<'_, Result<(), ReadError>>> = Vec::new();
    for (number, recording) in recordings.iter_mut().enumerate() {
        readers.push(Box::new(move |sender| {
            read_one(number, recording, lenient, &mut |piece| sender.send(piece).map_err(|_| SinkError::Stop))
        }));
    }
    let ends = merge(readers, |piece| drawing.take(piece));
    ends.into_iter().map(|end| end.unwrap_or(Err(ReadError::Stopped))).collect()
}

fn read_one(
    number: usize,
    recording: &mut Recording,
    lenient: bool,
    take: &mut dyn FnMut(EntrySummary) -> Result<(), SinkError>,
) -> Result<(), ReadError> {
    let mut reader = recording.tape.again()?;
    let options = if lenient { ReadOptions::LENIENT } else { ReadOptions::default() };
    let mut pen = EntrySummarizer::new(number);
    walk(recording.format, &mut Input::new(&mut reader)?, options, &mut |step| take(pen.take(&step)))?;
    Ok(())
}

/// What to call a server before its trace does.
fn server(recording: &Recording) -> String {
    let stem = Path::new(&recording.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| recording.name.clone())
}

/// One recording by its path, several by their names.
fn title(recordings: &[Recording]) -> String {
    match recordings {
        [one] => one.name.clone(),
        several => several.iter().map(server).collect::<Vec<_>>().join(", "),
    }
}

/// What is known of the recordings as a whole.
fn about(recordings: &[Recording]) -> Vec<String> {
    let mut about = Vec::new();
    if let [first, ..] = recordings {
        about.push(match recordings.len() {
            1 => first.format.name.to_owned(),
            several => format!("{several} servers, by time"),
        });
        if !first.format.carries.direction {
            about.push("who spoke is told by what was said".to_owned());
        }
    }
    about
}

fn print(diagram: &Diagram, output: Output, around: Around) -> Result<(), Failure> {
    let drawn = match output {
        Output::Text => {
            let terminal = TextOptions { colour: around.voice.colour_out, width: width() };
            text(diagram, terminal)
        }
        Output::Svg => svg(diagram, SvgOptions::default()).map_err(io::Error::other)?,
        Output::Html => html(diagram).map_err(io::Error::other)?,
    };
    let mut out = io::stdout().lock();
    out.write_all(drawn.as_bytes())?;
    Ok(out.flush()?)
}

fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = || {
        let size = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
        size.map(|(width, _)| usize::from(width.0))
    };
    columns().or_else(terminal).unwrap_or(WIDTH)
}
