//! Bytes in, checked text out, a window at a time.
//!
//! Memory: one chunk, plus whatever the caller has not consumed yet, which is never more than the largest line or item;
//! [`MAX_ITEM_BYTES`] bounds that.

mod rejecting;

use crate::excerpt::floor;
use crate::head::LOOKED_AT;
use std::io::{self, Read};
use transcript::json::{Json, Scanner, SyntaxError};
use transcript::rejection::{Code, Rejection};

/// The largest line or item that is read: 1 GiB. A larger one is rejected with the code `limit`.
pub const MAX_ITEM_BYTES: usize = 1 << 30;

/// How much is read at a time, once that much was read: most files are short, and room for more would take longer to clear than
/// they take to read.
const CHUNK: usize = 1 << 20;

/// How much is read at first.
const FIRST_CHUNK: usize = 1 << 16;

/// Why a reading ended early.
#[derive(Debug)]
pub enum ReadError {
    /// The input could not be read at all.
    Io(io::Error),
    /// It was read, and is not a session.
    Rejected(Box<Rejection>),
    /// The sink wanted no more entries.
    Stopped,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Io(error) => write!(formatter, "{error}"),
            Self::Rejected(rejection) => write!(formatter, "{rejection}"),
            Self::Stopped => formatter.write_str("reading was stopped"),
        }
    }
}

impl std::error::Error for ReadError {}

/// A window over an input, as text.
pub struct Input<'r> {
    reader: &'r mut dyn Read,
    /// Bytes that are read and not yet known to be whole characters.
    raw: Vec<u8>,
    raw_len: usize,
    text: String,
    start: usize,
    ended: bool,
    /// What stands in `raw` is not UTF-8, and nothing that comes after can make it so.
    spoilt: bool,
    offset: u64,
    line: u64,
    column: u64,
    /// What was consumed of the file's beginning, where somebody named its format.
    pub(crate) head: Option<String>,
}

impl<'r> Input<'r> {
    /// A window at the beginning of `reader`. A byte order mark there is passed over (clause SRV-TWICE).
    ///
    /// # Errors
    /// Where the input cannot be read.
    pub fn new(reader: &'r mut dyn Read) -> Result<Self, ReadError> {
        let mut input = Self {
            reader,
            raw: Vec::new(),
            raw_len: 0,
            text: String::new(),
            start: 0,
            ended: false,
            spoilt: false,
            offset: 0,
            line: 1,
            column: 1,
            head: None,
        };
        while input.text().len() < 3 {
            match input.more() {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => return Err(input.shown(error, true)),
            }
        }
        if input.text().starts_with('\u{feff}') {
            input.start += 3;
            input.offset += 3;
        }
        Ok(input)
    }

    /// Somebody named the format: a rejection says where the file looks like another. At most 64 KiB of it are kept for that.
    pub fn named(&mut self) {
        self.head = Some(String::new());
    }

    /// The text of the window.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text[self.start..]
    }

    /// Bytes from the beginning of the file to the window.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The line the window begins on.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Reads on, so that the window grows; false at the end of the input.
    ///
    /// # Errors
    /// Where the input cannot be read, is not UTF-8 there, or what was not consumed is larger than [`MAX_ITEM_BYTES`]. What
    /// stands before a bad byte can be looked at first, so that the fault that is reported does not depend on how much
    /// happened to be read at once (clause SRV-SAME).
    pub fn more(&mut self) -> Result<bool, ReadError> {
        if self.spoilt {
            return Err(self.not_utf8());
        }
        if self.ended {
            return Ok(false);
        }
        if self.text().len() > MAX_ITEM_BYTES {
            let message = format!("one line or item is larger than {} MiB", MAX_ITEM_BYTES >> 20);
            return Err(self.reject(Code::Limit, 0, message));
        }
        self.text.drain(..self.start);
        self.start = 0;
        // The more is waiting, the more is read at once; see also `grow`.
        let chunk = usize::try_from(self.offset).unwrap_or(CHUNK).clamp(FIRST_CHUNK, CHUNK);
        let wanted = chunk.max(self.text.len());
        if self.raw.len() < wanted {
            self.raw.resize(wanted, 0);
        }
        self.read_on()?;
        let bytes = &self.raw[..self.raw_len];
        match simdutf8::compat::from_utf8(bytes) {
            Ok(text) => {
                self.text.push_str(text);
                self.raw_len = 0;
            }
            Err(error) => {
                let (good, rest) = bytes.split_at(error.valid_up_to());
                self.text.push_str(std::str::from_utf8(good).unwrap_or_default());
                let rest = rest.len();
                self.raw.copy_within(self.raw_len - rest..self.raw_len, 0);
                self.raw_len = rest;
                self.spoilt = error.error_len().is_some() || self.ended;
                if self.spoilt && error.valid_up_to() == 0 {
                    return Err(self.not_utf8());
                }
                return Ok(true);
            }
        }
        Ok(!self.ended)
    }

    /// Reads some bytes, behind those that are not yet text.
    fn read_on(&mut self) -> io::Result<()> {
        let read = loop {
            match self.reader.read(&mut self.raw[self.raw_len..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.raw_len += read;
        self.ended = read == 0;
        Ok(())
    }

    /// Moves the window past its first `count` bytes, which must end at a character.
    pub fn consume(&mut self, count: usize) {
        let passed = &self.text[self.start..self.start + count];
        match memchr::memrchr(b'\n', passed.as_bytes()) {
            Some(last) => {
                self.line += memchr::memchr_iter(b'\n', &passed.as_bytes()[..=last]).count() as u64;
                self.column = 1 + passed[last + 1..].chars().count() as u64;
            }
            None => self.column += passed.chars().count() as u64,
        }
        if let Some(head) = self.head.as_mut().filter(|head| head.len() < LOOKED_AT) {
            head.push_str(&passed[..floor(passed, passed.len().min(LOOKED_AT - head.len()))]);
        }
        self.start += count;
        self.offset += count as u64;
    }

    /// Moves past what `step` scans, reading on as long as the text ends inside it, and returns its length in
    /// the window. Nothing is consumed: the caller looks at the text and then calls [`Input::consume`].
    ///
    /// # Errors
    /// A rejection where the text is not what `step` scans.
    pub fn scan(
        &mut self,
        step: impl Fn(&mut Scanner<'_>) -> Result<(), SyntaxError>,
    ) -> Result<usize, ReadError> {
        loop {
            let mut scanner = Scanner::new(self.text());
            let done = step(&mut scanner);
            let at = scanner.at();
            // A number at the window's edge may go on behind it. What is closed may not, and must not wait for
            // bytes that may be bad.
            let seen = &self.text().as_bytes()[..at];
            let edge = at == self.text().len() && !matches!(seen.last(), Some(b'}' | b']' | b'"'));
            match done {
                Ok(()) if !edge => return Ok(at),
                Err(fault) if !fault.ended => return Err(self.refuse(fault.into(), 0, "")),
                done => {
                    if !self.grow()? {
                        return match done {
                            Ok(()) => Ok(at),
                            Err(fault) => Err(self.refuse(fault.into(), 0, "")),
                        };
                    }
                }
            }
        }
    }

    /// Reads until there is twice as much as there was, or all there is; false where nothing came. Whatever is scanned
    /// again is then twice as long, and a large item costs time in proportion, not its square, however small the parts
    /// are in which a pipe brings it.
    pub(crate) fn grow(&mut self) -> Result<bool, ReadError> {
        let before = self.text().len();
        loop {
            match self.more() {
                Ok(true) if self.text().len() < 2 * before => {}
                // What came before a bad byte is looked at first; the byte will be met again.
                Ok(false) | Err(ReadError::Rejected(_)) if self.text().len() > before => return Ok(true),
                other => return other,
            }
        }
    }

    /// The length of the JSON value that the window begins with; see [`Input::scan`].
    ///
    /// # Errors
    /// A rejection where there is none.
    pub fn value(&mut self) -> Result<usize, ReadError> {
        self.scan(|scanner| scanner.value())
    }

    /// Moves the window past white space and looks at the byte it then begins with; none at the end of the input.
    ///
    /// # Errors
    /// Those of [`Input::more`].
    pub fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        loop {
            let text = self.text();
            let space = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
            self.consume(space);
            match self.text().as_bytes().first().copied() {
                Some(byte) => return Ok(Some(byte)),
                None if self.more()? => {}
                None => return Ok(None),
            }
        }
    }

    /// Moves past an object member's name and colon, and returns the name.
    ///
    /// # Errors
    /// A rejection where something else stands there.
    pub fn key(&mut self) -> Result<String, ReadError> {
        let length = self.scan(|scanner| scanner.key().map(drop))?;
        let name = Scanner::new(self.text()).key().ok().and_then(|key| key.to_str().map(Into::into));
        self.consume(length);
        Ok(name.unwrap_or_default())
    }

    /// After a member or an item: moves past a comma to the next one (true), or past `close` (false).
    ///
    /// # Errors
    /// A rejection where neither stands there, or another comma or `close` follows the comma.
    pub fn next(&mut self, close: u8) -> Result<bool, ReadError> {
        let expected =
            if close == b'}' { "a comma or a closing brace" } else { "a comma or a closing bracket" };
        match self.peek()? {
            Some(b',') => {
                self.consume(1);
                match self.peek()? {
                    Some(byte) if byte == close => Err(self.reject(
                        Code::InvalidJson,
                        0,
                        "this is not valid JSON: a value was expected after the comma",
                    )),
                    Some(_) => Ok(true),
                    None => Err(self.truncated("a value")),
                }
            }
            Some(byte) if byte == close => {
                self.consume(1);
                Ok(false)
            }
            Some(_) => Err(self.reject(
                Code::InvalidJson,
                0,
                format!("this is not valid JSON: {expected} was expected"),
            )),
            None => Err(self.truncated(expected)),
        }
    }

    /// Moves past the opening byte of an object or array and says whether it has a first member or item.
    ///
    /// # Errors
    /// Where the input ends.
    pub fn enter(&mut self, close: u8) -> Result<bool, ReadError> {
        self.consume(1);
        match self.peek()? {
            Some(byte) if byte == close => {
                self.consume(1);
                Ok(false)
            }
            Some(_) => Ok(true),
            None => Err(self.truncated("a value")),
        }
    }

    /// Moves past white space to the end of the input, from the end of the document.
    ///
    /// # Errors
    /// Where anything else follows the document.
    pub fn finish(&mut self) -> Result<(), ReadError> {
        let last = self.line;
        match self.peek()? {
            None => Ok(()),
            Some(_) => {
                let wrong = self.reject(Code::InvalidJson, 0, "something follows the end of the document");
                Err(self.behind_document(wrong, last))
            }
        }
    }

    /// Looks whether only white space follows the document that ended before the window, and moves past nothing.
    ///
    /// # Errors
    /// Where anything else follows it.
    pub(crate) fn end(&mut self) -> Result<(), ReadError> {
        match self.scan(|scanner| scanner.end()) {
            Ok(_) => Ok(()),
            Err(wrong) => Err(self.behind_document(wrong, self.line)),
        }
    }

    /// The one document that the whole of the window is.
    ///
    /// # Errors
    /// A rejection where it is none, or not all of it.
    pub(crate) fn document(&self) -> Result<Json<'_>, ReadError> {
        Json::parse(self.text()).map_err(|fault| {
            let wrong = self.refuse(fault.into(), 0, "");
            let mut scanner = Scanner::new(self.text());
            scanner.space();
            match scanner.value() {
                // A fault inside it would have come first.
                Ok(()) => self.behind_document(wrong, self.position(scanner.at()).line),
                Err(_) => wrong,
            }
        })
    }
}

#[cfg(test)]
mod tests;
