//! Writing traces.

use crate::session::{OwnedContent, OwnedEntry, Session};
use crate::time;
use crate::transport::MARK;
use std::io::{self, Write};
use transcript::json::{Json, write_compact};
use transcript::session::Side;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let opened = session.trace_start();
    let started = opened
        .and_then(|meta| time::parse(&meta.member("startedAt")?.as_text()?.to_str()?))
        .or_else(|| session.entries.iter().find_map(|entry| entry.time))
        .unwrap_or_default();
    match opened {
        Some(meta) => verbatim(meta, out)?,
        None => writeln!(
            out,
            r#"{{"v":1,"type":"meta","startedAt":"{}","label":"converted","command":[],{}"_made_up":{}}}"#,
            time::write(started),
            session.transport().map_or(String::new(), |of| format!(r#""{MARK}":"{}","#, of.name())),
            if session.entries.iter().any(|entry| entry.time.is_some()) {
                r#"["start"]"#
            } else {
                r#"["start","times"]"#
            }
        )?,
    }
    let (mut now, mut ended) = (started, false);
    let mut line = Vec::new();
    for entry in &session.entries {
        // What other producers added goes out again where the session was a trace before.
        let added = entry.added.as_deref().filter(|_| opened.is_some());
        let Some(message) = entry.message() else {
            if let Some(end) = closed(entry) {
                ended = true;
                verbatim(end, out)?;
            } else if let Some(whole) = added {
                writeln!(out, "{whole}")?;
            }
            continue;
        };
        now = entry.time.unwrap_or(now);
        let dir = if entry.side == Some(Side::Server) { "out" } else { "in" };
        line.clear();
        let added = added.unwrap_or_default();
        write!(line, r#"{{"t":"{}","dir":"{dir}"{added},"raw":"#, time::write(now))?;
        write_compact(message.json(), &mut line);
        line.extend_from_slice(b"}\n");
        out.write_all(&line)?;
    }
    if ended {
        return Ok(());
    }
    writeln!(
        out,
        r#"{{"t":"{}","type":"end","reason":"imported","durationMs":{},"_made_up":["end"]}}"#,
        time::write(now),
        now.saturating_sub(started).max(0)
    )
}

fn closed(entry: &OwnedEntry) -> Option<Json<'_>> {
    match &entry.what {
        OwnedContent::TraceEnd(text) => Json::parse(text).ok(),
        _ => None,
    }
}

fn verbatim(value: Json<'_>, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    write_compact(value, &mut line);
    line.push(b'\n');
    out.write_all(&line)
}
