//! Recordings drawn: read, and made into a diagram, with what came of judging them.
//!
//! Memory: what the diagram holds, which says its own.

use crate::session::diagram::Diagram;
use crate::session::diagram_builder::{
    DiagramBuilder, EntrySummarizer, EntrySummary, Findings, Reader, RowSelection, merge,
};
use formats::{Format, Input, OrderGuess, ReadError, ReadOptions, Totals, walk};
use rules::CheckResult;
use std::io::{Read, Seek};
use std::path::Path;
use transcript::rejection::Rejection;
use transcript::session::SinkError;

/// A recording that can be read again.
#[derive(Debug)]
pub struct Recording<S> {
    /// Its name, as a person finds it.
    pub name: String,
    /// Its capture format.
    pub format: &'static Format,
    /// Its bytes.
    pub source: S,
}

/// What is drawn.
#[derive(Debug, Clone)]
pub struct DrawOptions {
    /// Which rows.
    pub rows: RowSelection,
    /// How the recordings are read: what is passed over where a message belongs has its place marked.
    pub read: ReadOptions,
    /// How many bytes of each text are kept with its row, for a page; nothing of any, where none.
    pub whole: Option<usize>,
}

/// A drawing, and what became of its recordings.
#[derive(Debug)]
pub struct Drawing {
    /// The picture.
    pub diagram: Diagram,
    /// What a person should know of it, in sentences without their full stop.
    pub notes: Vec<String>,
    /// Which recordings were rejected, by their names. They are drawn up to that place.
    pub rejected: Vec<(String, Box<Rejection>)>,
}

/// Draws recordings: one, or several traces of one session by time, each read on a thread of its own. What came of judging
/// them is given in their order; nothing is drawn of it where there is none.
///
/// # Errors
/// Where one cannot be read: its name, and why.
pub fn draw<S: Read + Seek + Send>(
    recordings: &mut [Recording<S>],
    judged: &[CheckResult],
    options: &DrawOptions,
) -> Result<Drawing, (String, ReadError)> {
    // A picture has a few findings beside each row; a page has them all.
    let mut findings = Findings::default();
    for (number, judged) in judged.iter().enumerate().filter(|_| options.whole.is_none()) {
        findings.add(number, judged);
    }
    let servers: Vec<String> = recordings.iter().map(server).collect();
    let mut builder = DiagramBuilder::new(&servers, options.rows, findings);
    let ends = read(recordings, options, &mut builder);
    let first = recordings.first().map(|first| first.format);
    let mut caveats: Vec<_> = first.map(|format| (format, format.caveat)).into_iter().collect();
    let mut rejected = Vec::new();
    for (file, (recording, end)) in recordings.iter().zip(ends).enumerate() {
        match end {
            Ok(totals) if totals.guessed => caveats.push((recording.format, OrderGuess::CAVEAT)),
            Ok(_) => {}
            Err(ReadError::Rejected(rejection)) => {
                builder.rejected(file, &recording.name, &rejection);
                rejected.push((recording.name.clone(), rejection));
            }
            Err(error) => return Err((recording.name.clone(), error)),
        }
    }
    let diagram = builder.finish(&title(recordings), about(recordings));
    let caveats = caveats.into_iter().filter(|(_, caveat)| !caveat.is_empty());
    let notes = caveats.map(|(format, caveat)| format!("{}: {caveat}", format.name)).collect();
    Ok(Drawing { diagram, notes, rejected })
}

/// Reads every recording into the drawing, and returns what came of each.
fn read<S: Read + Seek + Send>(
    recordings: &mut [Recording<S>],
    options: &DrawOptions,
    builder: &mut DiagramBuilder,
) -> Vec<Result<Totals, ReadError>> {
    if let [recording] = recordings {
        return vec![read_one(0, recording, options, &mut |piece| {
            builder.take(piece);
            Ok(())
        })];
    }
    let mut readers: Vec<Reader<'_, Result<Totals, ReadError>>> = Vec::new();
    for (number, recording) in recordings.iter_mut().enumerate() {
        readers.push(Box::new(move |sender| {
            read_one(number, recording, options, &mut |piece| sender.send(piece).map_err(|_| SinkError::Stop))
        }));
    }
    let ends = merge(readers, |piece| builder.take(piece));
    ends.into_iter().map(|end| end.unwrap_or(Err(ReadError::Stopped))).collect()
}

fn read_one<S: Read + Seek>(
    number: usize,
    recording: &mut Recording<S>,
    options: &DrawOptions,
    take: &mut dyn FnMut(EntrySummary) -> Result<(), SinkError>,
) -> Result<Totals, ReadError> {
    recording.source.rewind()?;
    let mut pen = EntrySummarizer::new(number, options.whole);
    let mut input = Input::new(&mut recording.source)?;
    walk(recording.format, &mut input, options.read, &mut |step| take(pen.take(&step)))
}

/// What to call a server before its trace does.
fn server<S>(recording: &Recording<S>) -> String {
    let stem = Path::new(&recording.name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| recording.name.clone())
}

/// One recording by its path, several by their names.
fn title<S>(recordings: &[Recording<S>]) -> String {
    match recordings {
        [one] => one.name.clone(),
        several => several.iter().map(server).collect::<Vec<_>>().join(", "),
    }
}

/// What is known of the recordings as a whole.
fn about<S>(recordings: &[Recording<S>]) -> Vec<String> {
    let mut about = Vec::new();
    if let [first, ..] = recordings {
        about.push(match recordings.len() {
            1 => first.format.name.to_owned(),
            several => format!("{several} servers, by time"),
        });
        if !first.format.carries.direction {
            about.push("the sender is inferred from the messages".to_owned());
        }
    }
    about
}
