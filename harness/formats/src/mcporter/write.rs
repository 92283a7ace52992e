//! Writing the NDJSON of mcporter.

use crate::session::Session;
use crate::time;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::session::Side;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut now = session.entries.iter().find_map(|entry| entry.time).unwrap_or_default();
    lifecycle("start", now, out)?;
    let mut line = Vec::new();
    for entry in &session.entries {
        let Some(message) = entry.message() else { continue };
        now = entry.time.unwrap_or(now);
        line.clear();
        line.push(b'{');
        for (key, value) in message.json().members().filter(|(key, _)| !key.is("_meta")) {
            write!(line, "\"{}\":", key.raw())?;
            write_compact(value, &mut line);
            line.push(b',');
        }
        let dir = if entry.side == Some(Side::Server) { "recv" } else { "send" };
        meta(dir, now, &mut line)?;
        out.write_all(&line)?;
    }
    lifecycle("close", now, out)
}

fn lifecycle(event: &str, now: i64, out: &mut dyn Write) -> io::Result<()> {
    write!(out, r#"{{"jsonrpc":"2.0","method":"$transport/{event}","#)?;
    meta("lifecycle", now, out)
}

fn meta(dir: &str, now: i64, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, r#""_meta":{{"dir":"{dir}","server":"converted","ts":"{}"}}}}"#, time::write(now))
}
