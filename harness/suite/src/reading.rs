//! What an importer in Rust gives back: a reading or a rejection, of a transcript in one of the capture formats.

use verdict::answer::{Answer, Level};
use verdict::meaning::{Call, Calls, Event, Meaning};

/// A capture format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Format(&'static str);

macro_rules! capture_formats {
    ($($constant:ident $name:literal),* $(,)?) => {
        impl Format {
            $(#[doc = concat!("`", $name, "`.")] pub const $constant: Self = Self($name);)*

            /// Those that have a constant here.
            pub const NAMED: &[Self] = &[$(Self::$constant),*];
        }
    };
}

capture_formats! {
    JSONRPC "jsonrpc", STREAMABLE_HTTP "streamable-http", HTTP_SSE "http-sse", MCP_REPLAY "mcp-replay",
    INSPECTOR "inspector", HAR "har", MCP_REC "mcp-rec", MCPORTER "mcporter", MCP_RECORDER "mcp-recorder",
    VSCODE_LOG "vscode-log", INSPECTOR_NETWORK "inspector-network", CLAUDE_DESKTOP_LOG "claude-desktop-log",
    MARKED_TEXT "marked-text", DIRECTED_JSONL "directed-jsonl", MCP_CASSETTE "mcp-cassette",
    AGENT_VCR "agent-vcr", TXTAR "txtar",
}

impl Format {
    /// Its name, as in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.0
    }
}

impl From<&'static formats::Format> for Format {
    fn from(format: &'static formats::Format) -> Self {
        Self(format.name)
    }
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reading {
    /// The whole session, event by event.
    Events(Meaning),
    /// Its tool calls and their outcomes only.
    Calls(Calls),
}

impl Reading {
    /// Takes JSON: an object with `events` or with `calls`, as docs/contract.md defines them. Numbers stay as they are spelled.
    ///
    /// # Errors
    /// A sentence where it is neither.
    pub fn parse(level: Level, json: &str) -> Result<Self, String> {
        match level {
            Level::Events => Meaning::parse(json).map(Self::Events),
            Level::Calls => Calls::parse(json).map(Self::Calls),
        }
    }
}

impl From<Vec<Call>> for Reading {
    fn from(calls: Vec<Call>) -> Self {
        Self::Calls(calls.into_iter().collect())
    }
}

impl From<Vec<Event>> for Reading {
    fn from(events: Vec<Event>) -> Self {
        Self::Events(events.into_iter().collect())
    }
}

/// An object with `events`, or with `calls`.
impl TryFrom<serde_json::Value> for Reading {
    type Error = String;

    fn try_from(value: serde_json::Value) -> Result<Self, String> {
        let level = if value.get("calls").is_some() { Level::Calls } else { Level::Events };
        Self::parse(level, &value.to_string())
    }
}

/// Why a transcript is not read. Any error becomes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// One of this project's codes, where the importer tells kinds apart.
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
}

impl Rejection {
    /// A rejection without a code.
    pub fn new(message: impl Into<String>) -> Self {
        Self { code: None, message: message.into() }
    }
}

impl<E: std::error::Error> From<E> for Rejection {
    fn from(error: E) -> Self {
        Self::new(error.to_string())
    }
}

/// The answer that a reading or a rejection is.
pub(crate) fn answer(reading: Result<Reading, Rejection>) -> Answer {
    match reading {
        Ok(Reading::Events(meaning)) => Answer::Meaning(meaning),
        Ok(Reading::Calls(calls)) => Answer::Calls(calls),
        Err(Rejection { code, message }) => Answer::Rejection { code, message },
    }
}

/// For an importer that gives answers of all kinds: the reading, if it is one.
///
/// # Errors
/// The rejection, or another answer in words.
pub fn reading(answer: Answer) -> Result<Reading, Rejection> {
    match answer {
        Answer::Meaning(meaning) => Ok(Reading::Events(meaning)),
        Answer::Calls(calls) => Ok(Reading::Calls(calls)),
        Answer::Rejection { code, message } => Err(Rejection { code, message }),
        other => Err(Rejection::new(other.in_words())),
    }
}

#[cfg(test)]
mod tests {
    use super::{Format, Level, Reading, Rejection};

    #[test]
    fn every_format_has_its_constant() {
        let names: Vec<&str> = formats::FORMATS.iter().map(|format| format.name).collect();
        assert_eq!(Format::NAMED.iter().map(|format| format.name()).collect::<Vec<_>>(), names);
    }

    #[test]
    fn json_is_a_reading_and_an_error_a_rejection() {
        let calls = r#"{"calls": [{"tool": "add", "arguments": {"n": 1.50}, "outcome": null}]}"#;
        let read = Reading::try_from(serde_json::from_str::<serde_json::Value>(calls).unwrap()).unwrap();
        assert!(matches!(
            (&read, Reading::parse(Level::Calls, calls)),
            (Reading::Calls(_), Ok(Reading::Calls(_)))
        ));
        assert!(Reading::parse(Level::Events, calls).is_err());
        let failing = || -> Result<Reading, Rejection> {
            String::from_utf8(vec![0xff])?;
            Ok(Vec::<super::Event>::new().into())
        };
        assert!(failing().unwrap_err().message.contains("utf-8"));
    }
}
