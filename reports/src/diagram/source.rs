//! What a recording holds of a row, beyond what a picture shows: for whoever looks at one message closely.

use serde::Serialize;

/// What a recording holds of a row. Every string may be a stranger's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Source {
    /// Which recording, from 0.
    pub file: usize,
    /// Where its entry begins, in bytes.
    #[serde(skip)]
    pub offset: u64,
    /// The line that it stands on, from 1.
    pub line: u64,
    /// JSON pointer into the document, or into the line's value.
    pub pointer: String,
    /// When, in milliseconds since whatever moment the recording counts from.
    #[serde(rename = "at", skip_serializing_if = "Option::is_none")]
    pub time: Option<i64>,
    /// The message or the text that stands there, as it was recorded.
    #[serde(rename = "raw", skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// So many bytes at the end of that text are left out.
    #[serde(rename = "cut", skip_serializing_if = "is_default")]
    pub left_out: u64,
    /// It is a result in which the server says that the tool failed (`isError`).
    #[serde(rename = "isError", skip_serializing_if = "is_default")]
    pub is_error: bool,
    /// The recording does not say who sent it.
    #[serde(skip_serializing_if = "is_default")]
    pub inferred: bool,
    /// What else is known, by its name in plain words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<(&'static str, String)>,
    /// HTTP headers in their order, by whose they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub headers: Vec<(&'static str, Vec<(String, String)>)>,
}

impl Source {
    /// How much it holds, in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        let facts: usize = self.facts.iter().map(|(_, value)| value.len()).sum();
        let headers = self.headers.iter().flat_map(|(_, headers)| headers);
        let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        (self.text.len() + facts + headers) as u64
    }

    /// Leaves out its text, and what grows with the recording beside it.
    pub fn empty(&mut self) {
        self.left_out += self.size();
        self.text.clear();
        self.facts.clear();
        self.headers.clear();
    }
}

/// Whether there is nothing to write down.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
