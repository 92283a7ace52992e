//! Which format is this? Told from the first value of the file, never from its name.
//!
//! Knows: the first value's kind, its outermost members or those of a list's first item, as far as they must be seen, and
//! the first line of what begins with a digit. Refuses to know: whether the rest of the file keeps what its beginning
//! promises; the reader finds out.

use crate::excerpt::floor;
use crate::input::{Input, ReadError};
use crate::{FORMATS, Format};
use transcript::json::{JsonKind, Scanner};

/// How a file begins.
#[derive(Debug, Default)]
pub struct Head {
    kind: Option<JsonKind>,
    members: Vec<(String, Option<String>)>,
    first: Vec<(String, Option<String>)>,
    line: Option<String>,
}

impl Head {
    /// What the first value is; none in an empty file.
    #[must_use]
    pub fn kind(&self) -> Option<JsonKind> {
        self.kind
    }

    /// The first line, where it begins with a digit, as a log's does.
    #[must_use]
    pub fn line(&self) -> Option<&str> {
        self.line.as_deref()
    }

    /// Whether the first value is an object with this member.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(key, _)| key == name)
    }

    /// Whether the first value is a list whose first item is an object with this member.
    #[must_use]
    pub fn first_has(&self, name: &str) -> bool {
        self.first.iter().any(|(key, _)| key == name)
    }

    /// The member's value, where it is a string.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.members.iter().find(|(key, _)| key == name)?.1.as_deref()
    }
}

/// So much of a file is looked at, in bytes, where its first value is longer. How the bytes arrive must not matter.
const LOOKED_AT: usize = 64 << 10;

/// The format of what `input` begins with; nothing is consumed. Reads the first value, or 64 KiB of it.
///
/// # Errors
/// Where the input cannot be read or is no UTF-8 there, and what can be read tells no format.
pub fn detect(input: &mut Input<'_>) -> Result<Option<&'static Format>, ReadError> {
    let mut end = Ok(true);
    while !is_enough(input.text()) && matches!(end, Ok(true)) {
        end = input.grow();
    }
    let text = input.text();
    let head = head(&text[..floor(text, LOOKED_AT.min(text.len()))]);
    // The first in the list is told by the least, so it is tried last.
    match FORMATS.iter().rev().copied().find(|format| (format.sniff)(&head)) {
        Some(format) => Ok(Some(format)),
        None => end.map(|_| None),
    }
}

/// Of a list the first item is enough, and the first byte of anything else that is neither an object nor a line that begins
/// with a digit. A number may go on for ever, and is looked at no longer than anything else.
fn is_enough(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    match scanner.peek() {
        Some(b'{') => text.len() >= LOOKED_AT || scanner.value().is_ok(),
        Some(b'[') => text.len() >= LOOKED_AT || is_item_there(&mut scanner),
        Some(b'0'..=b'9') => text.len() >= LOOKED_AT || text[scanner.at()..].contains('\n'),
        Some(_) => true,
        None => text.len() >= LOOKED_AT,
    }
}

/// Whether a list's first item is there wholly, or begins as no object does.
fn is_item_there(scanner: &mut Scanner<'_>) -> bool {
    match scanner.open(b']') {
        Ok(true) => {
            scanner.space();
            scanner.peek().is_some_and(|first| first != b'{' || scanner.value().is_ok())
        }
        // An empty list; or it is not told yet what comes.
        Ok(false) => true,
        Err(_) => false,
    }
}

fn head(text: &str) -> Head {
    let mut head = Head::default();
    let mut scanner = Scanner::new(text);
    scanner.space();
    head.kind = match scanner.peek() {
        Some(b'{') => Some(JsonKind::Object),
        Some(b'[') => Some(JsonKind::Array),
        Some(b'0'..=b'9') => {
            head.line = text[scanner.at()..].lines().next().map(Into::into);
            None
        }
        _ => None,
    };
    match head.kind {
        Some(JsonKind::Object) => head.members = members(&mut scanner),
        Some(JsonKind::Array) if scanner.open(b']') == Ok(true) => {
            scanner.space();
            if scanner.peek() == Some(b'{') {
                head.first = members(&mut scanner);
            }
        }
        _ => {}
    }
    head
}

/// The members of the object that begins here, as far as they are there.
fn members(scanner: &mut Scanner<'_>) -> Vec<(String, Option<String>)> {
    let mut members = Vec::new();
    let mut more = scanner.open(b'}').unwrap_or(false);
    while more {
        let Ok(key) = scanner.key() else { break };
        let value = scanner.take().ok();
        let text = value.and_then(|value| value.as_text()?.to_str().map(Into::into));
        members.push((key.to_str().unwrap_or_default().into_owned(), text));
        more = value.is_some() && scanner.more(b'}').unwrap_or(false);
    }
    members
}
