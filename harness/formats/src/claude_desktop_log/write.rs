//! Writing Claude Desktop's log of a server, as the file of one server has it.

use super::read::{MARKS, STARTED};
use crate::session::Session;
use crate::time;
use std::io::{self, Write};
use transcript::json::write_compact;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut now = session.entries.iter().find_map(|entry| entry.time).unwrap_or_default();
    writeln!(out, "{} [converted] [info] {STARTED}", time::write(now))?;
    let mut line = Vec::new();
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        now = entry.time.unwrap_or(now);
        let found = MARKS.iter().find(|(_, side, _)| Some(*side) == entry.side);
        let (mark, ..) = found.unwrap_or(&MARKS[0]);
        line.clear();
        write!(line, "{} [converted] [info] {mark}", time::write(now))?;
        write_compact(message.json(), &mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
