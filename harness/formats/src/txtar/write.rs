//! Writing a text archive: a section for each turn, in the order of the session.

use crate::session::Session;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::session::Side;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    // An empty section, and one more than two: what follows stands in the order of the session.
    out.write_all(b"-- server --\n-- client --\n-- server --\n")?;
    let mut turn = Side::Server;
    let mut line = Vec::new();
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        let side = entry.side.unwrap_or(Side::Client);
        line.clear();
        if side != turn {
            turn = side;
            line.extend_from_slice(if side == Side::Server { b"-- server --\n" } else { b"-- client --\n" });
        }
        write_compact(message.json(), &mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
