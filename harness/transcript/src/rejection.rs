//! A transcript that cannot be read as a session: what is wrong, by which clause, and where.

use std::fmt;

macro_rules! codes {
    ($($Code:ident $name:literal $clause:literal $about:literal)+) => {
        /// The kinds of rejection. Their names are part of the product's outside: case files and adapters speak them.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Code {
            $(#[doc = $about] $Code,)+
        }

        /// Every code, with its name, the clause it falls under where no other is named, and what is wrong.
        const CODES: &[(Code, &str, &str, &str)] = &[$((Code::$Code, $name, $clause, $about)),+];
    };
}

codes! {
    InvalidUtf8 "invalid-utf8" "SRV-BYTES" "Bytes that are not UTF-8."
    InvalidJson "invalid-json" "SRV-BYTES" "Text that is not JSON."
    Truncated "truncated" "SRV-BYTES" "The input ends inside a value or inside the document."
    NotAMessage "not-a-message" "JRP-SHAPE" "JSON that is neither a message nor an array."
    InvalidVersion "invalid-version" "JRP-VERSION" "`jsonrpc` is not `\"2.0\"`."
    InvalidMethod "invalid-method" "JRP-SHAPE" "`method` is not a string."
    InvalidId "invalid-id" "ID-REJECT" "An id that is a boolean, an object or an array."
    AmbiguousMessage "ambiguous-message" "JRP-SHAPE" "Members of several kinds of message in one."
    AmbiguousMember "ambiguous-member" "SRV-TWICE" "A member that decides the meaning appears twice."
    DuplicateCallId "duplicate-call-id" "COR-DUPLICATE" "Two tool calls with one id."
    WrongTransport "wrong-transport" "ENV-TRANSPORT" "The envelope's `transport` has another value, or is missing."
    InvalidEntry "invalid-entry" "ENV-ONE" "An entry that is not an object; in an envelope, one with none or several of `request`, `response`, `sse`."
    Batch "batch" "ENV-SINGLE" "An array where one message belongs, empty or not."
    MissingEntries "missing-entries" "ENV-EMPTY" "No `entries`, or what another format has in their place, such as `log.entries` of a HAR."
    BrokenData "broken-data" "SSE-DATA-BROKEN" "SSE data that starts like an object and is not JSON."
    NestedData "nested-data" "SSE-DATA-NESTED" "A message inside a JSON string inside a JSON string."
    MissingMeta "missing-meta" "RPL-META" "A trace that does not begin with a whole `meta` line."
    SecondMeta "second-meta" "RPL-META" "A second `meta` line."
    UnsupportedVersion "unsupported-version" "RPL-VERSION" "A trace or a cassette of another version."
    MissingRaw "missing-raw" "RPL-MESSAGE" "A message line without `raw`."
    MissingDir "missing-dir" "RPL-MESSAGE" "A line with `raw` that does not say which way it went."
    AfterEnd "after-end" "RPL-END" "A message after the `end` line."
    WrongDocument "wrong-document" "INS-SHAPE" "The document's outermost shape is not the format's."
    WrongType "wrong-type" "SRV-BYTES" "A structural member of a type it cannot have."
    Limit "limit" "SRV-DEPTH" "Larger than a stated limit."
}

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
