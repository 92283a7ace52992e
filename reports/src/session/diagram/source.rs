//! What a recording holds of a row, beyond what a picture shows, to look at one message closely.

use crate::object::OrderedValue;

/// What a recording holds of a row. Every string may be a stranger's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Source {
    /// Which recording, from 0.
    pub(crate) file: usize,
    /// Where its entry begins, in bytes.
    pub(crate) offset: u64,
    /// Its line, from 1.
    pub(crate) line: u64,
    /// JSON pointer into the document, or into the line's value.
    pub(crate) pointer: String,
    /// When, in milliseconds since the moment from which the recording counts.
    pub(crate) time: Option<i64>,
    /// The message or the text, as it was recorded.
    pub(crate) text: String,
    /// How many bytes at the end of that text are left out.
    pub(crate) left_out: u64,
    /// It is a result in which the server says that the tool failed (`isError`).
    pub(crate) is_error: bool,
    /// The recording does not say who sent it.
    pub(crate) inferred: bool,
    /// What else is known, by its name in plain words.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// HTTP headers in their order, by whose they are.
    pub(crate) headers: Vec<(&'static str, Vec<(String, String)>)>,
}

impl Source {
    /// How much it holds, in bytes.
    pub(crate) fn size(&self) -> u64 {
        let facts: usize = self.facts.iter().map(|(_, value)| value.len()).sum();
        let headers = self.headers.iter().flat_map(|(_, headers)| headers);
        let headers: usize = headers.map(|(name, value)| name.len() + value.len()).sum();
        (self.text.len() + facts + headers) as u64
    }

    /// Leaves out its text, and what grows with the recording beside it.
    pub(crate) fn empty(&mut self) {
        self.left_out += self.size();
        self.text.clear();
        self.facts.clear();
        self.headers.clear();
    }

    /// Adds what there is of it to the JSON of its row.
    pub(crate) fn describe<'s>(&'s self, row: OrderedValue<'s>) -> OrderedValue<'s> {
        let pair = |name: &'s str, value: OrderedValue<'s>| OrderedValue::List(vec![name.into(), value]);
        let facts = self.facts.iter().map(|(name, value)| pair(name, value.into()));
        let header = |(name, value): &'s (String, String)| pair(name, value.into());
        let headers = self.headers.iter();
        let headers =
            headers.map(|(whose, all)| pair(whose, OrderedValue::List(all.iter().map(header).collect())));
        row.with("file", self.file)
            .with("line", self.line)
            .with("pointer", &self.pointer)
            .with("at", self.time)
            .with("raw", Some(&self.text).filter(|text| !text.is_empty()))
            .with("cut", Some(self.left_out).filter(|count| *count > 0))
            .with("isError", self.is_error.then_some(true))
            .with("inferred", self.inferred.then_some(true))
            .with("facts", OrderedValue::some_of(facts))
            .with("headers", OrderedValue::some_of(headers))
    }
}
