//! Writing a text archive: a section for each turn, in the order of the session.

use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;
use transcript::session::Side;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines { turn: Side::Server })
}

struct Lines {
    turn: Side,
}

impl WriteLines for Lines {
    /// An empty section, and one more than two: what follows stands in the order of the session.
    fn open(&mut self, _now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.write_all(b"-- server --\n-- client --\n-- server --\n")
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        if spoken.side != self.turn {
            self.turn = spoken.side;
            let server = self.turn == Side::Server;
            line.extend_from_slice(if server { b"-- server --\n" } else { b"-- client --\n" });
        }
        write_compact(spoken.message.json(), line);
        line.push(b'\n');
        Ok(())
    }
}
