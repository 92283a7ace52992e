//! Writing arrays of messages, an item a line: bare ones where nothing else is known, else entries of an export.

use crate::session::{OwnedEntry, Session};
use crate::time;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::message::{Message, MessageClass};

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let said: Vec<_> = session.entries.iter().filter_map(|entry| Some((entry, entry.message()?))).collect();
    let export = said.iter().any(|(entry, _)| !entry.inferred || entry.time.is_some());
    // An export is put in order by its times, so they may stand still but must not run backwards.
    let mut now = said.iter().find_map(|(entry, _)| entry.time).unwrap_or_default();
    let mut line = Vec::new();
    out.write_all(b"[")?;
    for (index, (entry, message)) in said.iter().enumerate() {
        line.clear();
        line.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        if export {
            now = now.max(entry.time.unwrap_or(now));
            head(index + 1, now, entry, message, &mut line)?;
        }
        write_compact(message.json(), &mut line);
        if export {
            line.push(b'}');
        }
        out.write_all(&line)?;
    }
    out.write_all(b"\n]\n")
}

/// What an entry says ahead of its message. A side that nobody saw is not claimed: it would bind ids otherwise.
fn head(
    number: usize,
    now: i64,
    entry: &OwnedEntry,
    message: &Message<'_>,
    line: &mut Vec<u8>,
) -> io::Result<()> {
    let direction = match message.class() {
        MessageClass::Call if message.id().key().is_some() => "request",
        MessageClass::Call => "notification",
        MessageClass::Result | MessageClass::Error => "response",
    };
    write!(line, r#"{{"id":"{number}","timestamp":"{}","direction":"{direction}","#, time::write(now))?;
    if let Some(side) = entry.side.filter(|_| !entry.inferred) {
        write!(line, r#""origin":"{}","#, side.name())?;
    }
    line.extend_from_slice(b"\"message\":");
    Ok(())
}
