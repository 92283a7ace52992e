//! A transcript that cannot be read as a session: what is wrong, by which clause, and where.

use std::fmt;

/// The kinds of rejection. Their names are part of the product's outside: case files and adapters speak them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Code {
    /// Bytes that are not UTF-8.
    InvalidUtf8,
    /// Text that is not JSON.
    InvalidJson,
    /// The input ends inside a value or inside the document.
    Truncated,
    /// JSON that is neither a message nor an array.
    NotAMessage,
    /// `jsonrpc` is not `"2.0"`.
    InvalidVersion,
    /// `method` is not a string.
    InvalidMethod,
    /// An id that is a boolean, an object or an array.
    InvalidId,
    /// Members of several kinds of message in one.
    AmbiguousMessage,
    /// A member that decides the meaning appears twice.
    AmbiguousMember,
    /// Two tool calls with one id.
    DuplicateCallId,
    /// The envelope's `transport` has another value, or is missing.
    WrongTransport,
    /// An entry that is not an object; in an envelope, one with none or several of `request`, `response`, `sse`.
    InvalidEntry,
    /// An array where one message belongs, empty or not.
    Batch,
    /// No `entries`, or what another format has in their place, such as `log.entries` of a HAR.
    MissingEntries,
    /// SSE data that starts like an object and is not JSON.
    BrokenData,
    /// A message inside a JSON string inside a JSON string.
    NestedData,
    /// A trace that does not begin with a whole `meta` line.
    MissingMeta,
    /// A second `meta` line.
    SecondMeta,
    /// A trace or a cassette of another version.
    UnsupportedVersion,
    /// A message line without `raw`.
    MissingRaw,
    /// A line with `raw` that does not say which way it went.
    MissingDir,
    /// A message after the `end` line.
    AfterEnd,
    /// The document's outermost shape is not the format's.
    WrongDocument,
    /// A structural member of a type it cannot have.
    WrongType,
    /// Larger than a stated limit.
    Limit,
}

/// Every code, with its name, the clause it falls under where no other is named, and what is wrong.
const CODES: &[(Code, &str, &str, &str)] = &[
    (Code::InvalidUtf8, "invalid-utf8", "SRV-BYTES", "Bytes that are not UTF-8."),
    (Code::InvalidJson, "invalid-json", "SRV-BYTES", "Text that is not JSON."),
    (Code::Truncated, "truncated", "SRV-BYTES", "The input ends inside a value or inside the document."),
    (Code::NotAMessage, "not-a-message", "JRP-SHAPE", "JSON that is neither a message nor an array."),
    (Code::InvalidVersion, "invalid-version", "JRP-VERSION", "`jsonrpc` is not `\"2.0\"`."),
    (Code::InvalidMethod, "invalid-method", "JRP-SHAPE", "`method` is not a string."),
    (Code::InvalidId, "invalid-id", "ID-REJECT", "An id that is a boolean, an object or an array."),
    (Code::AmbiguousMessage, "ambiguous-message", "JRP-SHAPE", "Members of several kinds of message in one."),
    (
        Code::AmbiguousMember,
        "ambiguous-member",
        "SRV-TWICE",
        "A member that decides the meaning appears twice.",
    ),
    (Code::DuplicateCallId, "duplicate-call-id", "COR-DUPLICATE", "Two tool calls with one id."),
    (
        Code::WrongTransport,
        "wrong-transport",
        "ENV-TRANSPORT",
        "The envelope's `transport` has another value, or is missing.",
    ),
    (
        Code::InvalidEntry,
        "invalid-entry",
        "ENV-ONE",
        "An entry that is not an object; in an envelope, one with none or several of `request`, `response`, `sse`.",
    ),
    (Code::Batch, "batch", "ENV-SINGLE", "An array where one message belongs, empty or not."),
    (
        Code::MissingEntries,
        "missing-entries",
        "ENV-EMPTY",
        "No `entries`, or what another format has in their place, such as `log.entries` of a HAR.",
    ),
    (
        Code::BrokenData,
        "broken-data",
        "SSE-DATA-BROKEN",
        "SSE data that starts like an object and is not JSON.",
    ),
    (
        Code::NestedData,
        "nested-data",
        "SSE-DATA-NESTED",
        "A message inside a JSON string inside a JSON string.",
    ),
    (Code::MissingMeta, "missing-meta", "RPL-META", "A trace that does not begin with a whole `meta` line."),
    (Code::SecondMeta, "second-meta", "RPL-META", "A second `meta` line."),
    (
        Code::UnsupportedVersion,
        "unsupported-version",
        "RPL-VERSION",
        "A trace or a cassette of another version.",
    ),
    (Code::MissingRaw, "missing-raw", "RPL-MESSAGE", "A message line without `raw`."),
    (
        Code::MissingDir,
        "missing-dir",
        "RPL-MESSAGE",
        "A line with `raw` that does not say which way it went.",
    ),
    (Code::AfterEnd, "after-end", "RPL-END", "A message after the `end` line."),
    (
        Code::WrongDocument,
        "wrong-document",
        "INS-SHAPE",
        "The document's outermost shape is not the format's.",
    ),
    (Code::WrongType, "wrong-type", "SRV-BYTES", "A structural member of a type it cannot have."),
    (Code::Limit, "limit", "SRV-DEPTH", "Larger than a stated limit."),
];

impl Code {
    /// The code's name in case files, answers and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().1
    }

    /// The clause that a rejection of this kind falls under, where the reader names no other.
    #[must_use]
    pub fn clause(self) -> &'static str {
        self.row().2
    }

    /// What is wrong with a transcript that is rejected so, in a sentence.
    #[must_use]
    pub fn about(self) -> &'static str {
        self.row().3
    }

    /// The code of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        CODES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Every code.
    pub fn all() -> impl Iterator<Item = Self> {
        CODES.iter().map(|row| row.0)
    }

    fn row(self) -> &'static (Code, &'static str, &'static str, &'static str) {
        // The test below holds the table to the order of the enum.
        &CODES[self as usize]
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// A place in a transcript.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Position {
    /// Bytes from the beginning of the file.
    pub offset: u64,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1, in characters; where the line is not UTF-8, in bytes.
    pub column: u64,
    /// JSON pointer (RFC 6901): into the document, or into the line's value for the line formats.
    pub pointer: String,
}

/// A piece of the line in question, small enough to show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// Text of the line around the place, on one line; invalid bytes shown as U+FFFD.
    pub text: String,
    /// Byte offset of the place in `text`.
    pub at: usize,
    /// The line goes on to the left of `text`.
    pub cut_before: bool,
    /// The line goes on to the right of `text`.
    pub cut_after: bool,
}

/// Why a transcript is not read (the contract's *rejection*).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// The kind.
    pub code: Code,
    /// The clause of the reading contract that it falls under.
    pub clause: &'static str,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
    /// Where.
    pub position: Position,
    /// The line, where it was at hand.
    pub excerpt: Option<Excerpt>,
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}, column {}", self.position.line, self.position.column)?;
        if !self.position.pointer.is_empty() {
            write!(formatter, " ({})", self.position.pointer)?;
        }
        write!(formatter, ": {} [{}, {}]", self.message, self.code, self.clause)
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::{CODES, Code};

    #[test]
    fn every_code_finds_its_own_row_and_clause() {
        for (index, (code, name, clause, _)) in CODES.iter().enumerate() {
            assert_eq!(*code as usize, index, "{name} stands out of order");
            assert_eq!(Code::from_name(name), Some(*code));
            assert!(clause.contains('-'), "{name} names no clause");
        }
        // A code that is added after the last row would index past the table.
        assert_eq!(Code::Limit as usize + 1, CODES.len());
    }
}
