//! Writing JSON-RPC lines.

use crate::session::Session;
use std::io::{self, Write};
use transcript::json::write_compact;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    for message in session.messages() {
        line.clear();
        write_compact(message.json(), &mut line);
        line.push(b'\n');
        out.write_all(&line)?;
    }
    Ok(())
}
