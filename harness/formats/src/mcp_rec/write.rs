//! Writing lines of mcp-rec.

use super::read::DIRECTIONS;
use crate::session::Session;
use std::io::{self, Write};
use transcript::json::write_compact;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    // A line always has a time: the one before where it is not known, and the first that is known before that.
    let mut now = session.entries.iter().find_map(|entry| entry.time).unwrap_or_default();
    let mut line = Vec::new();
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        now = entry.time.unwrap_or(now);
        let said = DIRECTIONS.iter().find(|(_, side)| Some(*side) == entry.side);
        let (dir, _) = said.unwrap_or(&DIRECTIONS[0]);
        let (sign, size) = (if now < 0 { "-" } else { "" }, now.unsigned_abs());
        line.clear();
        write!(line, r#"{{"ts": {sign}{}.{:03}, "dir": "{dir}", "msg": "#, size / 1000, size % 1000)?;
        write_compact(message.json(), &mut line);
        line.extend_from_slice(b"}\n");
        out.write_all(&line)?;
    }
    Ok(())
}
