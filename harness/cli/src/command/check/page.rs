//! `check --output html`: one recording as a page in which one can look at each message, with what was found.

use super::judge::Judge;
use crate::command::context::{CommandContext, Failure};
use crate::command::tape::{self, recording};
use crate::exit;
use crate::terminal::data_out;
use formats::{ReadOptions, Tolerance};
use reports::drawing::{DrawOptions, draw};
use reports::viewer::{MOST_TEXT, ROWS, page};
use rules::record::CheckedFile;
use std::io::{self, Write as _};
use std::path::Path;

/// Judges a recording and prints its page. It returns the exit code of `check`.
///
/// # Errors
/// Where the recording cannot be read, or the page not be written.
pub(super) fn run(path: &Path, judge: &Judge, strict: bool, context: CommandContext) -> Result<u8, Failure> {
    let recording = recording(path, judge.format)?;
    context.terminal.detail(&format!("{} is read as {}", recording.name, recording.format.name));
    let options = DrawOptions {
        rows: ROWS,
        // Like the rules, the page goes on behind a message with a fault.
        read: ReadOptions::new(Tolerance::Faults),
        whole: Some(MOST_TEXT),
    };
    let mut recordings = [recording];
    let judged = tape::judge(&mut recordings, &judge.options)?;
    let drawing = draw(&mut recordings, &judged, &options)
        .map_err(|(name, error)| Failure::of_reading(&name, error))?;
    let mut files = Vec::new();
    for (recording, judged) in recordings.iter().zip(&judged) {
        let mut file = CheckedFile::of(&recording.name, recording.format.name, judged, &judge.selection);
        if let Some(why) = judge.require(&mut file, judged) {
            return Err(Failure::Unusable(why));
        }
        files.push(file);
    }
    let page = page(&drawing.diagram, &files).map_err(io::Error::other)?;
    let mut out = data_out();
    out.write_all(page.as_bytes())?;
    out.flush()?;
    for note in &drawing.notes {
        context.terminal.note(note);
    }
    let failed = !drawing.rejected.is_empty() || files.iter().any(|file| file.is_failure(strict));
    Ok(if failed { exit::FAILED } else { exit::WELL })
}
