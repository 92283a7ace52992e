//! Writing a YAML transcript, an item a line: JSON, which is YAML.

use crate::session::Session;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::session::Side;

/// What the recorder's own reader asks for, as far as it is known.
const META: &str = "meta:\n  recorded_at: '1970-01-01T00:00:00Z'\n  schema_version: '1.0'\n  server_command: []\n  \
                    session_id: '00000000'\n  version: 1\n";

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(META.as_bytes())?;
    let timed = session.entries.iter().filter(|entry| entry.message().is_some());
    let start = timed.clone().filter_map(|entry| entry.time).next().unwrap_or_default();
    if timed.count() == 0 {
        return out.write_all(b"messages: []\n");
    }
    out.write_all(b"messages:\n")?;
    let (mut now, mut line) = (0, Vec::new());
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        now = entry.time.map_or(now, |time| time.saturating_sub(start));
        let dir = if entry.side == Some(Side::Server) { "s2c" } else { "c2s" };
        line.clear();
        write!(line, r#"- {{"dir": "{dir}", "payload": "#)?;
        write_compact(message.json(), &mut line);
        writeln!(line, r#", "t": {now}}}"#)?;
        out.write_all(&line)?;
    }
    Ok(())
}
