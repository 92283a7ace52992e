//! Writing a cassette, a message a line.

use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::message::{Id, Message, MessageClass};
use transcript::session::Side;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines::default())
}

#[derive(Default)]
struct Lines {
    messages: u64,
    /// When the first message that has a time was sent.
    start: Option<i64>,
    /// How long after that the last one was.
    now: i64,
}

impl WriteLines for Lines {
    fn open(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        // When the session was recorded is not known, and the recorder's own reader asks for a time.
        out.extend_from_slice(
            b"{\n  \"format_version\": 3,\n  \"recorded_at\": \"1970-01-01T00:00:00Z\",\n  \"transport\": \"stdio\",\n  \"messages\": [",
        );
        Ok(())
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        if let Some(time) = spoken.entry.time {
            self.now = time.saturating_sub(*self.start.get_or_insert(time));
        }
        line.extend_from_slice(if self.messages == 0 { b"\n" } else { b",\n" });
        let sender = if spoken.side == Side::Server { "server" } else { "client" };
        let (seq, now) = (self.messages, self.now);
        write!(line, "    {{\"seq\": {seq}, \"t_offset_ms\": {now}, \"sender\": \"{sender}\", ")?;
        named(&spoken.message, line)?;
        line.extend_from_slice(b", \"payload\": ");
        write_compact(spoken.message.json(), line);
        line.extend_from_slice(b", \"redacted\": false, \"exchange\": null, \"channel\": null}");
        self.messages += 1;
        Ok(())
    }

    fn close(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(if self.messages == 0 { b"]\n}\n" } else { b"\n  ]\n}\n" });
        Ok(())
    }
}

/// What the recorder says of a message beside it. Ids that are no integers it does not know.
fn named(message: &Message<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    let kind = match (message.class(), message.id()) {
        (MessageClass::Call, Id::Missing) => "notification",
        (MessageClass::Call, _) => "request",
        _ => "response",
    };
    write!(line, "\"kind\": \"{kind}\", \"method\": ")?;
    match message.method() {
        Some(method) => write!(line, "\"{}\"", method.raw())?,
        None => line.extend_from_slice(b"null"),
    }
    line.extend_from_slice(b", \"msg_id\": ");
    match message.id() {
        Id::Text(text) => write!(line, "\"{}\"", text.raw()),
        Id::Number(number) if number.parse::<i64>().is_ok() => write!(line, "{number}"),
        _ => write!(line, "null"),
    }
}
