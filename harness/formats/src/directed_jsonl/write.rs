//! Writing JSON lines with directions.

use crate::session::Session;
use crate::time;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::session::Side;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        line.clear();
        line.push(b'{');
        if let Some(now) = entry.time {
            write!(line, r#""ts":"{}","#, time::write(now))?;
        }
        let dir = if entry.side == Some(Side::Server) { "s2c" } else { "c2s" };
        write!(line, r#""dir":"{dir}","msg":"#)?;
        write_compact(message.json(), &mut line);
        line.extend_from_slice(b"}\n");
        out.write_all(&line)?;
    }
    Ok(())
}
