//! Writing VS Code's log of a server.

use super::read::{MARKS, STATE};
use crate::session::Session;
use crate::time;
use std::io::{self, Write};
use transcript::json::write_compact;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut now = session.entries.iter().find_map(|entry| entry.time).unwrap_or_default();
    writeln!(out, "{} [info] {STATE}Running", stamp(now))?;
    let mut line = Vec::new();
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        now = entry.time.unwrap_or(now);
        let found = MARKS.iter().find(|(_, side)| Some(*side) == entry.side);
        let (mark, _) = found.unwrap_or(&MARKS[0]);
        line.clear();
        write!(line, "{} [debug] {mark}", stamp(now))?;
        write_compact(message.json(), &mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}

/// A time as the log has it.
fn stamp(now: i64) -> String {
    time::write(now).replace('T', " ").replace('Z', "")
}
