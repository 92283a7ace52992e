//! Rejections of what stands in the window: their places, and what is shown around them.

use super::{Input, ReadError};
use crate::excerpt::{SHOWN, excerpt, floor};
use crate::foreign::not_text;
use transcript::message::Refusal;
use transcript::rejection::{Code, Position, Rejection};
use transcript::session::{Entry, Location, Sink, SinkError};

impl Input<'_> {
    /// A rejection at the end of an input that ends too early.
    #[must_use]
    pub fn truncated(&self, expected: &str) -> ReadError {
        self.reject(Code::Truncated, 0, format!("the file ends where {expected} was expected"))
    }

    /// A rejection at byte `at` of the window.
    #[must_use]
    pub fn reject(&self, code: Code, at: usize, message: impl Into<String>) -> ReadError {
        self.refuse(Refusal { code, clause: code.clause(), at, message: message.into() }, 0, "")
    }

    /// The place of byte `at` of the window; its pointer is left to the caller, who knows the document.
    #[must_use]
    pub fn position(&self, at: usize) -> Position {
        let text = self.text();
        let at = floor(text, at.min(text.len()));
        let before = &text[..at];
        let (line, column) = match memchr::memrchr(b'\n', before.as_bytes()) {
            Some(last) => (
                self.line + memchr::memchr_iter(b'\n', before.as_bytes()).count() as u64,
                1 + before[last + 1..].chars().count() as u64,
            ),
            None => (self.line, self.column + before.chars().count() as u64),
        };
        Position { offset: self.offset + at as u64, line, column, pointer: String::new() }
    }

    /// A refusal of something that begins at byte `base` of the window, with its place in the document.
    #[must_use]
    pub fn refuse(&self, refusal: Refusal, base: usize, pointer: &str) -> ReadError {
        let at = base + refusal.at;
        let position = Position { pointer: pointer.to_owned(), ..self.position(at) };
        let excerpt = Some(excerpt(self.text(), at, self.column > 1));
        let Refusal { code, clause, message, .. } = refusal;
        ReadError::Rejected(Box::new(Rejection { code, clause, message, position, excerpt }))
    }

    /// A rejection of what follows the document that ends on line `last`: where another one follows, that is said.
    pub(super) fn behind_document(&self, error: ReadError, last: u64) -> ReadError {
        let ReadError::Rejected(mut rejection) = error else { return error };
        let at = rejection.position.offset.checked_sub(self.offset).and_then(|at| usize::try_from(at).ok());
        let next = at.and_then(|at| self.text().as_bytes().get(at));
        if rejection.code == Code::InvalidJson && matches!(next, Some(b'{' | b'[')) {
            let first = rejection.position.line;
            rejection.message = format!(
                "the document ends on line {last}, and a second one begins on line {first}; split the file into one file per \
                 document (`jq -c . FILE` prints each on a line)"
            );
        }
        ReadError::Rejected(rejection)
    }

    /// Hands on an entry that begins at byte `at` of the window.
    ///
    /// # Errors
    /// What the sink returns, with its place where it is a refusal.
    pub(crate) fn give(&self, entry: Entry<'_>, at: usize, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        let location = entry.location;
        sink(entry).map_err(|error| self.sink_error(error, at, &location))
    }

    /// What a sink returned, with a place where it was a refusal: `base` is where in the window the entry begins.
    #[must_use]
    pub fn sink_error(&self, error: SinkError, base: usize, location: &Location) -> ReadError {
        match error {
            SinkError::Rejected(refusal) => self.refuse(refusal, base, &location.pointer()),
            SinkError::Stop => ReadError::Stopped,
        }
    }

    /// The rejection with the text around its place, of which no more may have been read than came at once: it is read until
    /// there is as much as is shown. Lines are whole when they are looked at; of a bad byte that is not so.
    pub(crate) fn shown(&mut self, error: ReadError, lines: bool) -> ReadError {
        let ReadError::Rejected(mut rejection) = error else { return error };
        let place = rejection.position.offset.checked_sub(self.offset);
        let Some(at) = place.and_then(|place| usize::try_from(place).ok()) else {
            return ReadError::Rejected(rejection);
        };
        if self.spoilt && at == self.text().len() {
            while !self.ended && self.raw_len <= SHOWN && !self.raw[..self.raw_len].contains(&b'\n') {
                if self.read_on().is_err() {
                    break;
                }
            }
            return self.not_utf8();
        }
        if lines || at > self.text().len() {
            return ReadError::Rejected(rejection);
        }
        let is_enough = |text: &str| {
            let behind = &text.as_bytes()[at..];
            behind.len() > SHOWN + 4 || behind.contains(&b'\n')
        };
        while !is_enough(self.text()) && matches!(self.more(), Ok(true)) {}
        let end = floor(self.text(), (at + SHOWN + 5).min(self.text().len()));
        rejection.excerpt = Some(excerpt(&self.text()[..end], at, self.column > 1));
        ReadError::Rejected(rejection)
    }

    /// A rejection at the bytes that are not text.
    pub(super) fn not_utf8(&self) -> ReadError {
        let bytes = &self.raw[..self.raw_len];
        let byte = bytes.first().copied().unwrap_or_default();
        let known = not_text(self.text(), bytes).filter(|_| self.offset == 0);
        let message = known.map_or_else(|| format!("byte 0x{byte:02x} is not UTF-8 here"), str::to_owned);
        let refusal =
            Refusal { code: Code::InvalidUtf8, clause: "SRV-BYTES", at: self.text().len(), message };
        let ReadError::Rejected(mut rejection) = self.refuse(refusal, 0, "") else {
            return ReadError::Stopped;
        };
        if let Some(excerpt) = &mut rejection.excerpt {
            let rest = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            excerpt.cut_after = rest.len() > SHOWN;
            excerpt.text.push_str(&String::from_utf8_lossy(&rest[..rest.len().min(SHOWN)]));
        }
        ReadError::Rejected(rejection)
    }
}
