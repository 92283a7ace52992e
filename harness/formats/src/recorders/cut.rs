//! A message without members that its recorder added.

use transcript::json::{Json, JsonString, Scanner, SyntaxError};
use transcript::message::Refusal;

/// A text without some ranges of what it was.
pub(super) struct Cut {
    pub(super) text: String,
    /// The ranges, in order.
    ranges: Vec<(usize, usize)>,
}

impl Cut {
    /// The text without these ranges, which are in order.
    pub(super) fn new(text: &str, ranges: Vec<(usize, usize)>) -> Self {
        let mut rest = String::with_capacity(text.len());
        let mut from = 0;
        for (start, end) in &ranges {
            rest.push_str(&text[from..*start]);
            from = *end;
        }
        rest.push_str(&text[from..]);
        Self { text: rest, ranges }
    }

    /// A refusal with its place in the text as it was, which begins at `start`.
    pub(super) fn moved(&self, refusal: Refusal, start: usize) -> Refusal {
        let at = self.ranges.iter().fold(refusal.at, |at, (from, to)| match at >= *from {
            true => at + to - from,
            false => at,
        });
        Refusal { at: start + at, ..refusal }
    }
}

/// Where the members of an object are that `goes` chooses, each with one of the commas beside it.
pub(super) fn members<'a>(
    object: &'a str,
    mut goes: impl FnMut(JsonString<'a>, usize, Json<'a>) -> bool,
) -> Result<Vec<(usize, usize)>, SyntaxError> {
    let mut scanner = Scanner::new(object);
    let mut found = Vec::new();
    // The end of the member before, once one stays; the beginning of one that goes ahead of all that stay.
    let (mut before, mut ahead) = (None, None);
    let mut more = scanner.open(b'}')?;
    while more {
        let key_at = scanner.at();
        let key = scanner.key()?;
        let at = scanner.at();
        let value = scanner.take()?;
        let end = scanner.at();
        found.extend(ahead.take().map(|start| (start, key_at)));
        let has_gone = goes(key, at, value);
        match before {
            Some(before) if has_gone => found.push((before, end)),
            None if has_gone => ahead = Some(key_at),
            _ => {}
        }
        if !has_gone || before.is_some() {
            before = Some(end);
        }
        more = scanner.more(b'}')?;
        if !more {
            found.extend(ahead.take().map(|start| (start, end)));
        }
    }
    Ok(found)
}
