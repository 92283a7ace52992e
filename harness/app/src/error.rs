//! Why nothing can be answered.

use formats::ReadError;
use rules::Revision;
use std::{fmt, io};
use transcript::json::quoted;
use transcript::rejection::Rejection;

/// Why nothing can be answered: the cause, and the recording at fault.
#[derive(Debug)]
pub struct Error {
    /// The recording at fault, as the caller names it; none where the call is at fault.
    pub name: Option<String>,
    /// What is wrong.
    pub cause: Cause,
}

/// What is wrong.
#[derive(Debug)]
pub enum Cause {
    /// The contract rejects the recording.
    Rejected(Box<Rejection>),
    /// The recording cannot be read.
    Unreadable(io::Error),
    /// The caller asked to stop.
    Interrupted,
    /// The content shows no capture format, and why.
    UnknownFormat(String),
    /// The content is known and no recording: what it is, and what to do with it.
    Foreign(&'static str),
    /// It was found rather than named, and is not a recording of the format that was asked for.
    NoRecording,
    /// An option has a value that it cannot have: the option, and why.
    BadOption(String, String),
    /// The options are not what the function takes, and why.
    BadRequest(String),
    /// The other format cannot carry the session without a change of its meaning: each reason.
    CannotCarry(Vec<String>),
    /// The session is of another revision than the required rules, in a sentence; or it shows none, where the required one is.
    OtherRevision(String, Option<Revision>),
    /// Nothing of a recording that was cut off is whole.
    NothingWhole,
    /// The answer cannot be written.
    Output(io::Error),
    /// The answer could not be made.
    Failed(String),
}

/// What a reader fails with whose caller asked to stop.
#[derive(Debug)]
pub(crate) struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the caller asked to stop")
    }
}

impl std::error::Error for Stopped {}

impl From<Cause> for Error {
    fn from(cause: Cause) -> Self {
        Self { name: None, cause }
    }
}

impl Error {
    /// The code of an option that has a value which it cannot have.
    pub const BAD_OPTION: &str = "bad-option";

    pub(crate) fn option(name: &str, why: impl fmt::Display) -> Self {
        Cause::BadOption(name.to_owned(), why.to_string()).into()
    }

    pub(crate) fn failed(why: impl fmt::Display) -> Self {
        Cause::Failed(why.to_string()).into()
    }

    /// The same, about the recording of this name.
    pub(crate) fn about(self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self }
    }

    /// What ended the reading of `name`.
    pub fn reading(name: &str, error: ReadError) -> Self {
        let cause = match error {
            ReadError::Rejected(rejection) => Cause::Rejected(rejection),
            ReadError::Io(error) if error.get_ref().is_some_and(|it| it.is::<Stopped>()) => {
                Cause::Interrupted
            }
            ReadError::Io(error) => Cause::Unreadable(error),
            ReadError::Stopped => Cause::Interrupted,
        };
        Self::from(cause).about(name)
    }

    /// The kind: the code of a rejection (see [`transcript::rejection::Code`]), or one of a call that cannot be answered.
    pub fn code(&self) -> &'static str {
        match &self.cause {
            Cause::Rejected(rejection) => rejection.code.name(),
            Cause::Unreadable(_) => "unreadable",
            Cause::Interrupted => "interrupted",
            Cause::UnknownFormat(_) | Cause::Foreign(_) => "unknown-format",
            Cause::NoRecording => "no-recording",
            Cause::BadOption(..) | Cause::BadRequest(_) => Self::BAD_OPTION,
            Cause::CannotCarry(_) => "cannot-carry",
            Cause::OtherRevision(..) => "other-revision",
            Cause::NothingWhole => "nothing-whole",
            Cause::Output(_) | Cause::Failed(_) => "failed",
        }
    }

    /// What is wrong, in a sentence without its full stop.
    pub fn message(&self) -> String {
        match &self.cause {
            Cause::Rejected(rejection) => rejection.message.clone(),
            Cause::Unreadable(error) => format!("it cannot be read: {error}"),
            Cause::Interrupted => Stopped.to_string(),
            Cause::UnknownFormat(why) if why == formats::EMPTY => why.clone(),
            Cause::UnknownFormat(why) => {
                format!("the format cannot be detected: {why}; name it ({})", formats::names())
            }
            Cause::Foreign(what) => format!("it is not a recording: {what}"),
            Cause::NoRecording => "it is not a recording".to_owned(),
            Cause::BadOption(option, why) => format!("{option}: {why}"),
            Cause::CannotCarry(reasons) => reasons.join("; "),
            Cause::NothingWhole => {
                "nothing in it can be saved: it ends before its first item begins".to_owned()
            }
            Cause::Output(error) => format!("the answer cannot be written: {error}"),
            Cause::OtherRevision(why, _) | Cause::BadRequest(why) | Cause::Failed(why) => why.clone(),
        }
    }

    /// How the recording was rejected, where it was: the clause, the line and column from 1, and a JSON pointer (RFC 6901).
    pub fn rejection(&self) -> Option<&Rejection> {
        match &self.cause {
            Cause::Rejected(rejection) => Some(rejection),
            _ => None,
        }
    }

    /// The error as one JSON object on a line.
    pub fn json(&self) -> String {
        let word = |word: Option<&str>| word.map_or("null".to_owned(), quoted);
        let number = |number: Option<u64>| number.map_or("null".to_owned(), |number| number.to_string());
        let place = self.rejection().map(|rejection| &rejection.position);
        format!(
            r#"{{"code": {}, "message": {}, "name": {}, "clause": {}, "line": {}, "column": {}, "pointer": {}}}"#,
            quoted(self.code()),
            quoted(&self.message()),
            word(self.name.as_deref()),
            word(self.rejection().map(|rejection| rejection.clause)),
            number(place.map(|place| place.line)),
            number(place.map(|place| place.column)),
            word(place.map(|place| place.pointer.as_str()))
        )
    }
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rejection = self.rejection();
        if let Some(name) = &self.name {
            formatter.write_str(name)?;
            if let Some(place) = rejection.map(|rejection| &rejection.position) {
                write!(formatter, ":{}:{}", place.line, place.column)?;
                if !place.pointer.is_empty() {
                    write!(formatter, " ({})", place.pointer)?;
                }
            }
            formatter.write_str(": ")?;
        }
        write!(formatter, "{} [{}", self.message(), self.code())?;
        match rejection {
            Some(rejection) => write!(formatter, ", {}]", rejection.clause),
            None => formatter.write_str("]"),
        }
    }
}

impl std::error::Error for Error {}
