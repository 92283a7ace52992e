//! From bytes to a meaning, and how a meaning is written.

use crate::format::{Format, ReadOptions};
use crate::input::{Input, ReadError};
use crate::reading::{Step, walk};
use crate::session::Totals;
use std::io::Read;
use transcript::calls::Calls;
use transcript::k2a::AuthorizationSummary;
use transcript::meaning::{Event, write_end};

/// A meaning as JSON text in the contract's normal form, with an event on each line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// The normal form.
    pub text: String,
    /// What it amounts to.
    pub totals: Totals,
}

/// Reads a whole transcript to its meaning. Memory: the meaning.
///
/// # Errors
/// As [`walk`].
pub fn meaning(format: &Format, reader: &mut dyn Read, options: ReadOptions) -> Result<Meaning, ReadError> {
    let mut text = MeaningWriter::new();
    let totals = walk(format, &mut Input::new(reader)?, options, &mut |step| {
        if let Step::Event(_, event) = step {
            text.event(event);
        }
        Ok(())
    })?;
    text.end(totals.authorization_discovery);
    Ok(Meaning { text: String::from_utf8_lossy(&text.text).into_owned(), totals })
}

/// Writes a meaning as it comes: an event a line, or only the tool calls, with their outcomes.
#[derive(Debug)]
pub struct MeaningWriter {
    text: Vec<u8>,
    calls: Option<Calls>,
}

impl MeaningWriter {
    /// A meaning that begins.
    #[must_use]
    pub fn new() -> Self {
        Self { text: b"{\"events\": [".to_vec(), calls: None }
    }

    /// The tool calls of a meaning that begins.
    #[must_use]
    pub fn of_calls() -> Self {
        Self { text: b"{\"calls\": [".to_vec(), calls: Some(Calls::default()) }
    }

    /// Adds an event.
    pub fn event(&mut self, event: &Event<'_>) {
        if let Some(calls) = &mut self.calls {
            return calls.take(event, &mut self.text);
        }
        self.text.extend_from_slice(if event.index == 0 { b"\n" } else { b",\n" });
        event.write(&mut self.text);
    }

    /// Closes the meaning.
    pub fn end(&mut self, summary: Option<AuthorizationSummary>) {
        if let Some(calls) = &mut self.calls {
            calls.finish(&mut self.text);
        }
        self.text.push(b'\n');
        write_end(summary, &mut self.text);
    }

    /// Takes what was written so far.
    pub fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.text)
    }

    /// How much waits to be taken, in bytes.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.text.len()
    }
}

impl Default for MeaningWriter {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::meaning;
    use crate::{ReadError, ReadOptions, find};
    use transcript::rejection::Code;

    fn read(text: &[u8]) -> Result<String, (Code, u64, u64)> {
        match meaning(find("jsonrpc").unwrap(), &mut { text }, ReadOptions::default()) {
            Ok(meaning) => Ok(meaning.text),
            Err(ReadError::Rejected(rejection)) => {
                Err((rejection.code, rejection.position.line, rejection.position.column))
            }
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn lines_become_events() {
        let text = b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}\r\n\n \
            {\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{ }}";
        let expected = "{\"events\": [\n{\"kind\": \"tool_call\", \"id\": \"1\", \"tool\": \"a\"},\n\
            {\"kind\": \"result\", \"id\": \"1\", \"answers\": 0, \"result\": {}}\n],\n\
            \"authorization_discovery\": null}\n";
        assert_eq!(read(text).as_deref(), Ok(expected));
    }

    #[test]
    fn a_refusal_has_the_place_in_the_file() {
        let ok = "{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n";
        for (bad, code, column) in [
            ("[]\n", Code::Batch, 1),
            ("{\"jsonrpc\":\"2.0\",\"méthod\":\"é\",\"id\":[],\"method\":\"a\"}", Code::InvalidId, 36),
            ("{\"jsonrpc\":\"2.0\"", Code::Truncated, 17),
            ("{\"jsonrpc\":\"2.0\"\n", Code::InvalidJson, 17),
            ("\0\n", Code::InvalidJson, 1),
        ] {
            assert_eq!(read(format!("{ok}\n{bad}").as_bytes()), Err((code, 3, column)), "{bad}");
        }
        let mut bytes = ok.as_bytes().to_vec();
        bytes.extend_from_slice(b"{\"a\":\"\xff\"}\n");
        assert_eq!(read(&bytes), Err((Code::InvalidUtf8, 2, 7)));
        assert_eq!(read(b"\xe2\x82"), Err((Code::InvalidUtf8, 1, 1)));
        // The first fault is the one that is reported, also where a later one is read in the same breath.
        assert_eq!(read(b"{}\n{\"\xff\n"), Err((Code::NotAMessage, 1, 1)));
        assert_eq!(read(b"{\"\xff\n{}\n"), Err((Code::InvalidUtf8, 1, 3)));
    }
}
