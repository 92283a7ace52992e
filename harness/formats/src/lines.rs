//! Line by line: what the line formats share.
//!
//! Knows: where a line begins and ends (LF, CRLF; blank lines are passed over), and how to give a refusal inside a
//! line its place in the file. Refuses to know: what a line holds. Memory does not grow with the file.

use crate::input::{Input, ReadError, excerpt, floor};
use transcript::message::Refusal;
use transcript::rejection::{Place, Rejection};
use transcript::session::{Halt, Spot};

/// One line that is not blank.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line<'a> {
    /// The line without its end.
    pub(crate) text: &'a str,
    /// Its number in the file, from 1.
    pub(crate) number: u64,
    /// Bytes from the beginning of the file to the line.
    pub(crate) offset: u64,
    /// The file ends with this line, and without a line end: it may be cut off.
    pub(crate) open_ended: bool,
}

impl Line<'_> {
    /// The place of something in the line, by its pointer.
    #[must_use]
    pub(crate) fn spot(&self, at: usize, pointer: &'static str) -> Spot {
        Spot { offset: self.offset + at as u64, line: self.number, root: pointer, index: None, tail: "" }
    }

    /// A refusal with its place in the file; `refusal.at` counts from the beginning of the line.
    #[must_use]
    pub(crate) fn refuse(&self, refusal: Refusal, pointer: &str) -> ReadError {
        let at = floor(self.text, refusal.at.min(self.text.len()));
        let place = Place {
            offset: self.offset + at as u64,
            line: self.number,
            column: 1 + self.text[..at].chars().count() as u64,
            pointer: pointer.to_owned(),
        };
        let Refusal { code, clause, message, .. } = refusal;
        let excerpt = Some(excerpt(self.text, at, false));
        ReadError::Rejected(Box::new(Rejection { code, clause, message, place, excerpt }))
    }

    /// What a sink returned of an entry that begins at byte `base` of the line.
    #[must_use]
    pub(crate) fn halted(&self, halt: Halt, base: usize, pointer: &str) -> ReadError {
        match halt {
            Halt::Refused(refusal) => self.refuse(Refusal { at: base + refusal.at, ..refusal }, pointer),
            Halt::Stop => ReadError::Stopped,
        }
    }
}

/// Hands each line that is not blank to `take`, in order.
///
/// # Errors
/// Those of the input, and the first that `take` returns.
pub(crate) fn each(
    input: &mut Input<'_>,
    mut take: impl FnMut(Line<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut number = 1;
    loop {
        // Whole lines first: what stands before a bad byte is read before the bad byte is complained of.
        let more = input.more();
        let last = matches!(more, Ok(false));
        let text = input.text();
        let whole =
            if last { text.len() } else { memchr::memrchr(b'\n', text.as_bytes()).map_or(0, |at| at + 1) };
        let mut offset = input.offset();
        let mut rest = &text[..whole];
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |at| at + 1);
            let closed = rest[..end].strip_suffix('\n');
            let line = closed.unwrap_or(&rest[..end]);
            let line = line.strip_suffix('\r').unwrap_or(line);
            if !line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
                take(Line { text: line, number, offset, open_ended: closed.is_none() })?;
            }
            offset += end as u64;
            number += 1;
            rest = &rest[end..];
        }
        input.consume(whole);
        if !more? {
            return Ok(());
        }
    }
}
