//! Why nothing can be answered.

use formats::ReadError;
use std::fmt;
use transcript::json::write_string;
use transcript::rejection::Rejection;

/// Why nothing can be answered: a value with a code, and its place in the recording where it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// The kind: the code of a rejection (see [`transcript::rejection::Code`]), or one of the constants here.
    pub code: &'static str,
    /// What is wrong, in a sentence without its full stop.
    pub message: String,
    /// The recording at fault, as the caller names it; none where the call is at fault.
    pub name: Option<String>,
    /// Where a recording was rejected, and by which clause.
    pub place: Option<Box<Place>>,
}

/// A place in a recording, and the clause by which it is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The clause of the reading contract.
    pub clause: &'static str,
    /// The line, from 1.
    pub line: u64,
    /// The column, from 1, in characters.
    pub column: u64,
    /// JSON pointer (RFC 6901) into the document or the line.
    pub pointer: String,
}

impl Error {
    /// An option has a value that it cannot have.
    pub const BAD_OPTION: &str = "bad-option";
    /// The content shows no capture format.
    pub const UNKNOWN_FORMAT: &str = "unknown-format";
    /// The other format cannot carry the session without a change of its meaning.
    pub const CANNOT_CARRY: &str = "cannot-carry";
    /// The session is of another revision than the required rules, or shows none.
    pub const OTHER_REVISION: &str = "other-revision";
    /// Nothing of a recording that was cut off is whole.
    pub const NOTHING_WHOLE: &str = "nothing-whole";
    /// The caller asked to stop.
    pub const INTERRUPTED: &str = "interrupted";
    /// The answer could not be made.
    pub const FAILED: &str = "failed";

    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), name: None, place: None }
    }

    pub(crate) fn option(name: &str, why: impl fmt::Display) -> Self {
        Self::new(Self::BAD_OPTION, format!("{name}: {why}"))
    }

    pub(crate) fn of(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    pub(crate) fn rejected(name: &str, rejection: &Rejection) -> Self {
        let position = &rejection.position;
        let place = Place {
            clause: rejection.clause,
            line: position.line,
            column: position.column,
            pointer: position.pointer.clone(),
        };
        Self {
            code: rejection.code.name(),
            message: rejection.message.clone(),
            name: Some(name.to_owned()),
            place: Some(Box::new(place)),
        }
    }

    /// What ended the reading of `name`. Bytes can always be read, unless the caller asks to stop.
    pub(crate) fn reading(name: &str, error: ReadError) -> Self {
        match error {
            ReadError::Rejected(rejection) => Self::rejected(name, &rejection),
            ReadError::Io(_) | ReadError::Stopped => {
                Self::new(Self::INTERRUPTED, "the caller asked to stop").of(name)
            }
        }
    }

    /// The error as one JSON object on a line.
    #[must_use]
    pub fn json(&self) -> String {
        let text = |text: &str| {
            let mut out = Vec::new();
            write_string(text.as_bytes(), &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let word = |word: Option<&str>| word.map_or("null".to_owned(), text);
        let number = |number: Option<u64>| number.map_or("null".to_owned(), |number| number.to_string());
        let place = self.place.as_deref();
        format!(
            r#"{{"code": {}, "message": {}, "name": {}, "clause": {}, "line": {}, "column": {}, "pointer": {}}}"#,
            text(self.code),
            text(&self.message),
            word(self.name.as_deref()),
            word(place.map(|place| place.clause)),
            number(place.map(|place| place.line)),
            number(place.map(|place| place.column)),
            word(place.map(|place| place.pointer.as_str()))
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(formatter, "{name}")?;
            if let Some(Place { line, column, pointer, .. }) = self.place.as_deref() {
                write!(formatter, ":{line}:{column}")?;
                if !pointer.is_empty() {
                    write!(formatter, " ({pointer})")?;
                }
            }
            formatter.write_str(": ")?;
        }
        write!(formatter, "{} [{}", self.message, self.code)?;
        match self.place.as_deref() {
            Some(place) => write!(formatter, ", {}]", place.clause),
            None => formatter.write_str("]"),
        }
    }
}

impl std::error::Error for Error {}
