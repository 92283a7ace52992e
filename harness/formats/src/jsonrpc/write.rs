//! Writing JSON-RPC lines.

use crate::writing::{Opening, Spoken, WriteLines};
use std::io;
use transcript::json::write_compact;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines)
}

struct Lines;

impl WriteLines for Lines {
    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        write_compact(spoken.message.json(), line);
        line.push(b'\n');
        Ok(())
    }
}
