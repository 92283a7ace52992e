//! One result that fell short: where it stands in the transcript, what was expected, what came, and how to run it again.

use super::options::{Options, WIDTH, paint, style};
use super::words::{InWords, in_words};
use crate::plain::{cut, plain};
use crate::record::{CaseResult, Record};
use anstyle::{AnsiColor, Style};
use std::fmt::Write as _;

/// How what stands around the text is painted, as rustc and `check` paint it.
const FRAME: Style = AnsiColor::BrightBlue.on_default().bold();

/// One result that fell short, with all that is needed to understand it and to rerun it.
pub fn failure(record: &Record, line: &CaseResult, options: &Options<'_>) -> String {
    with_note(record, line, None, options)
}

/// The same, and a note at its end.
pub(super) fn with_note(
    record: &Record,
    line: &CaseResult,
    note: Option<String>,
    options: &Options<'_>,
) -> String {
    let loss = match line.silent_loss {
        true => ", silent loss: a message is missing, and nothing says so",
        false => "",
    };
    let verdict = paint(line.verdict.name(), style(line.verdict), options.colour);
    let mut out = format!("{verdict}: {}, {}{loss}\n", plain(&line.case), plain(&line.format));
    let indent = place(record, line, options, &mut out);
    for (name, text) in rows(record, line, options).into_iter().chain(note.map(|note| ("note", note))) {
        let mark = paint("=", FRAME, options.colour);
        // What goes on stands below what it goes on from.
        let below = " ".repeat(indent + name.len() + 5);
        let _ = writeln!(out, "{:indent$} {mark} {name}: {}", "", text.replace('\n', &format!("\n{below}")));
    }
    out
}

/// A result that fell short, in one line.
pub fn in_short(line: &CaseResult) -> String {
    let name = format!("{}: {}/{}", line.verdict.name(), plain(&line.case), plain(&line.format));
    match in_words(line) {
        InWords { sides: Some([expected, got]), .. } => format!("{name}: expected {expected}; got {got}"),
        InWords { message: Some(message), .. } => format!("{name}: {}", cut(message, WIDTH)),
        InWords { .. } => name,
    }
}

/// File, line and pointer, and the line itself where the record has it. How wide the numbers of lines are.
fn place(record: &Record, line: &CaseResult, options: &Options<'_>, out: &mut String) -> usize {
    let Some(file) = (options.file)(line) else { return 0 };
    let painted = |text: &str| paint(text, FRAME, options.colour);
    let Some(place) = &line.place else {
        let _ = writeln!(out, "{} {}", painted("-->"), plain(&file));
        return 0;
    };
    let number = place.line.to_string();
    let width = number.len();
    let at = plain(&format!("{file}:{number} {}", place.pointer));
    let _ = writeln!(out, "{:width$}{} {}", "", painted("-->"), at.trim_end());
    let transcript = record.cases.get(&line.case).and_then(|note| note.transcripts.get(&line.format));
    let index = usize::try_from(place.line).unwrap_or(usize::MAX).saturating_sub(1);
    let text = transcript.and_then(|text| text.lines().nth(index)).filter(|text| !text.trim().is_empty());
    if let Some(text) = text {
        let empty = format!("{:width$} {}\n", "", painted("|"));
        let _ = write!(out, "{empty}{} {}\n{empty}", painted(&format!("{number} |")), cut(text, WIDTH));
    }
    width
}

fn rows(record: &Record, line: &CaseResult, options: &Options<'_>) -> Vec<(&'static str, String)> {
    let mut rows = Vec::new();
    for id in &line.clauses {
        rows.push(("clause", format!("{id}: {}", record.clauses.get(id).map_or("", String::as_str))));
    }
    rows.extend(record.cases.get(&line.case).map(|note| ("reason", plain(&note.reason))));
    let at = line.difference.as_ref().map(|difference| difference.at.as_str());
    // A rejection is not part of an answer, and an empty pointer is the whole of it.
    rows.extend(at.filter(|at| !at.is_empty() && !at.starts_with("/rejection")).map(|at| ("at", plain(at))));
    let InWords { sides, message } = in_words(line);
    if let Some([expected, got]) = sides {
        rows.extend([("expected", expected), ("got", got)]);
    }
    rows.extend(message.map(|message| ("message", cut(message, WIDTH))));
    if let Some(said) = &line.stderr {
        let lines: Vec<String> = said.lines().map(|line| cut(line, WIDTH)).collect();
        rows.push(("stderr", lines.join("\n")));
    }
    rows.push(("rerun", plain(&(options.rerun)(line))));
    rows
}
