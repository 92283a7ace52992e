//! Writing lines of mcp-rec.

use super::read::DIRECTIONS;
use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines)
}

struct Lines;

impl WriteLines for Lines {
    /// A line always has a time: the one before where it is not known, and the first that is known before that.
    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        let said = DIRECTIONS.iter().find(|(_, side)| *side == spoken.side);
        let (dir, _) = said.unwrap_or(&DIRECTIONS[0]);
        let (sign, size) = (if spoken.now < 0 { "-" } else { "" }, spoken.now.unsigned_abs());
        write!(line, r#"{{"ts": {sign}{}.{:03}, "dir": "{dir}", "msg": "#, size / 1000, size % 1000)?;
        write_compact(spoken.message.json(), line);
        line.extend_from_slice(b"}\n");
        Ok(())
    }
}
