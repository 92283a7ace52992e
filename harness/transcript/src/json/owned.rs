//! A value that is kept, with what is inside of it.

use super::value::{Json, MemberIndex};

/// The most times as much memory as a value takes that may be kept for it.
const MOST_SPARE: usize = 4;

/// A value that is kept longer than the text it stood in.
#[derive(Debug, Clone)]
pub struct OwnedJson {
    text: String,
    parts: Vec<MemberIndex>,
}

impl OwnedJson {
    /// Keeps a value, taken apart as it is.
    #[must_use]
    pub fn new(value: Json<'_>) -> Self {
        Self { text: value.text.into(), parts: own_parts(value).into() }
    }

    /// Keeps only a value's text: its members are looked for in it.
    #[must_use]
    pub fn unindexed(value: Json<'_>) -> Self {
        Self { text: value.text.into(), parts: Vec::new() }
    }

    /// Takes a text that a writer of JSON has just made as the value it is, without reading it again. Where the text is
    /// not exactly one value, what is asked of it later has no meaning, and nothing worse happens.
    #[must_use]
    pub fn written(text: String) -> Self {
        Self { text, parts: Vec::new() }
    }

    /// The value.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        Json { text: &self.text, parts: &self.parts }
    }

    /// How many bytes its text takes.
    #[must_use]
    pub fn text_size(&self) -> usize {
        self.text.capacity()
    }

    /// How many bytes its parts take beside its text.
    #[must_use]
    pub fn index_size(&self) -> usize {
        self.parts.capacity() * size_of::<MemberIndex>()
    }

    /// Keeps another value in the same memory, taken apart as it is. Memory that is far too large goes back.
    pub fn replace(&mut self, value: Json<'_>) {
        let parts = own_parts(value);
        if self.text.capacity() > MOST_SPARE * value.text.len()
            || self.parts.capacity() > MOST_SPARE * parts.len()
        {
            *self = Self::new(value);
            return;
        }
        self.text.clear();
        self.text.push_str(value.text);
        self.parts.clear();
        self.parts.extend_from_slice(parts);
    }
}

/// Only the parts of a value: behind them may stand those of what comes after it.
fn own_parts<'a>(value: Json<'a>) -> &'a [MemberIndex] {
    let count = value.parts.first().map_or(0, |part| part.count as usize);
    value.parts.get(..count).unwrap_or_default()
}
