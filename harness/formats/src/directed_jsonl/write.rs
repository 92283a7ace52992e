//! Writing JSON lines with directions.

use crate::time;
use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;
use transcript::session::Side;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines)
}

struct Lines;

impl WriteLines for Lines {
    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        line.push(b'{');
        if let Some(time) = spoken.entry.time {
            write!(line, r#""ts":"{}","#, time::write(time))?;
        }
        let dir = if spoken.side == Side::Server { "s2c" } else { "c2s" };
        write!(line, r#""dir":"{dir}","msg":"#)?;
        write_compact(spoken.message.json(), line);
        line.extend_from_slice(b"}\n");
        Ok(())
    }
}
