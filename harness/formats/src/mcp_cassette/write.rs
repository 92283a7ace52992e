//! Writing a cassette, a message a line.

use crate::session::Session;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::message::{Id, Message, MessageClass};
use transcript::session::Side;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    // When the session was recorded is not known, and the recorder's own reader asks for a time.
    out.write_all(
        b"{\n  \"format_version\": 3,\n  \"recorded_at\": \"1970-01-01T00:00:00Z\",\n  \"transport\": \"stdio\",\n  \"messages\": [",
    )?;
    let timed = session.entries.iter().filter(|entry| entry.message().is_some());
    let start = timed.filter_map(|entry| entry.time).next().unwrap_or_default();
    let (mut now, mut seq, mut line) = (0, 0u64, Vec::new());
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        now = entry.time.map_or(now, |time| time.saturating_sub(start));
        line.clear();
        line.extend_from_slice(if seq == 0 { b"\n" } else { b",\n" });
        let sender = if entry.side == Some(Side::Server) { "server" } else { "client" };
        write!(line, "    {{\"seq\": {seq}, \"t_offset_ms\": {now}, \"sender\": \"{sender}\", ")?;
        named(&message, &mut line)?;
        line.extend_from_slice(b", \"payload\": ");
        write_compact(message.json(), &mut line);
        line.extend_from_slice(b", \"redacted\": false, \"exchange\": null, \"channel\": null}");
        out.write_all(&line)?;
        seq += 1;
    }
    out.write_all(if seq == 0 { b"]\n}\n" } else { b"\n  ]\n}\n" })
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
