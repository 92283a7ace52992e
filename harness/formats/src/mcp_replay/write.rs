//! Writing traces.

use crate::session::{OwnedContent, OwnedEntry};
use crate::time;
use crate::transport::{MARK, Transport};
use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::{Json, write_compact};
use transcript::session::Side;

pub(super) fn lines(opening: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines { opening: opening.clone(), started: 0, latest: i64::MIN, ended: false })
}

struct Lines {
    opening: Opening,
    started: i64,
    /// The time of the youngest message: an answer may be in the file before what was said before it.
    latest: i64,
    ended: bool,
}

impl WriteLines for Lines {
    fn open(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        self.started = now;
        if let Some(line) = &self.opening.trace_start {
            return verbatim(line, out);
        }
        let mark = |of: Transport| format!(r#""{MARK}":"{}","#, of.name());
        writeln!(
            out,
            r#"{{"v":1,"type":"meta","startedAt":"{}","label":"converted","command":[],{}"_made_up":{}}}"#,
            time::write(now),
            self.opening.transport.map_or(String::new(), mark),
            if self.opening.timed { r#"["start"]"# } else { r#"["start","times"]"# }
        )
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        self.latest = self.latest.max(spoken.now);
        let dir = if spoken.side == Side::Server { "out" } else { "in" };
        let added = spoken.entry.added.as_deref().unwrap_or_default();
        write!(line, r#"{{"t":"{}","dir":"{dir}"{added},"raw":"#, time::write(spoken.now))?;
        write_compact(spoken.message.json(), line);
        line.extend_from_slice(b"}\n");
        Ok(())
    }

    fn other(&mut self, entry: &OwnedEntry, out: &mut Vec<u8>) -> io::Result<()> {
        if let OwnedContent::TraceEnd(line) = &entry.what {
            self.ended = true;
            return verbatim(line, out);
        }
        // A line that was passed over goes out again where the session was a trace before.
        let whole = entry.added.as_deref().filter(|_| self.opening.trace_start.is_some());
        whole.map_or(Ok(()), |whole| writeln!(out, "{whole}"))
    }

    fn close(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        if self.ended {
            return Ok(());
        }
        let now = now.max(self.latest);
        writeln!(
            out,
            r#"{{"t":"{}","type":"end","reason":"imported","durationMs":{},"_made_up":["end"]}}"#,
            time::write(now),
            now.saturating_sub(self.started).max(0)
        )
    }
}

/// A line of the trace that the session was before.
fn verbatim(line: &str, out: &mut Vec<u8>) -> io::Result<()> {
    let mut compact = Vec::new();
    if let Ok(line) = Json::parse(line) {
        write_compact(line, &mut compact);
        compact.push(b'\n');
    }
    out.write_all(&compact)
}
