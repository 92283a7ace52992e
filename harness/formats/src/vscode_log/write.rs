//! Writing VS Code's log of a server.

use super::read::{MARKS, STATE};
use crate::time;
use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines)
}

struct Lines;

impl WriteLines for Lines {
    fn open(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        writeln!(out, "{} [info] {STATE}Running", stamp(now))
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        let found = MARKS.iter().find(|(_, side)| *side == spoken.side);
        let (mark, _) = found.unwrap_or(&MARKS[0]);
        write!(line, "{} [debug] {mark}", stamp(spoken.now))?;
        write_compact(spoken.message.json(), line);
        line.push(b'\n');
        Ok(())
    }
}

/// A time as the log has it.
fn stamp(now: i64) -> String {
    time::write(now).replace('T', " ").replace('Z', "")
}
