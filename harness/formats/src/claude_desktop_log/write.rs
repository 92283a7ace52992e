//! Writing Claude Desktop's log of a server, as the file of one server has it.

use super::read::{MARKS, STARTED};
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
        writeln!(out, "{} [converted] [info] {STARTED}", time::write(now))
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        let found = MARKS.iter().find(|(_, side, _)| *side == spoken.side);
        let (mark, ..) = found.unwrap_or(&MARKS[0]);
        write!(line, "{} [converted] [info] {mark}", time::write(spoken.now))?;
        write_compact(spoken.message.json(), line);
        line.push(b'\n');
        Ok(())
    }
}
