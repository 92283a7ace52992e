//! `mcp-replay`: a trace of one server's stdio traffic, version 1 (clauses RPL-META to RPL-REDACT).
//!
//! A `meta` line, a line for each message with its time and its direction, an `end` line. The format grew under the
//! same version: lines of other directions and types belong to other producers and are passed over.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; times finer than a millisecond. What other
//! producers added, members of lines and lines that are passed over, is written again. A session that has no time for its first
//! messages gets the time of its beginning for them.

mod read;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::session::{OwnedContent, OwnedEntry, Session};
use crate::time;
use crate::transport::{MARK, STDIO, Transport};
use crate::writing::{Opening, Spelling, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::{Json, write_compact, write_string};
use transcript::session::Side;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities {
        direction: true,
        times: true,
        process: true,
        numbering: true,
        ..Capabilities::MESSAGES
    },
    messages: &[&["raw"]],
    scripts: &[None],
    live: true,
    paired: true,
    clauses: &["RPL-"],
    why_not,
    ..Format::new(
        ["mcp-replay", "mcp-replay.jsonl", "a trace of stdio traffic, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(lines),
    )
};

/// A trace that lost its head is still one: the reader says what is missing.
fn sniff(head: &Head) -> bool {
    head.text("type") == Some("meta") || is_like(head) && why_not(head).is_none()
}

fn is_like(head: &Head) -> bool {
    head.has("t") && ["type", "dir", "raw"].iter().any(|name| head.has(name))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    let known = |dir: &str| matches!(dir, "in" | "out" | "event" | "command" | "telemetry");
    let foreign = !head.has("type") && head.text("dir").is_some_and(|dir| !known(dir));
    (foreign && (is_like(head) || head.has("raw") || head.has("msg")))
        .then_some("the `dir` of its first line is neither `in` nor `out`")
}

/// The first line: when the recording began, in milliseconds of the Unix epoch, what it is called, the server's command, and
/// the transport (none: stdio).
pub fn trace_start(started: i64, label: &str, command: &[String], transport: Option<Transport>) -> String {
    let mut words = Vec::new();
    for (index, word) in command.iter().enumerate() {
        words.extend_from_slice(if index == 0 { b"" } else { b"," });
        write_string(word.as_bytes(), &mut words);
    }
    let mut named = Vec::new();
    write_string(label.as_bytes(), &mut named);
    let [named, words] = [named, words].map(|text| String::from_utf8_lossy(&text).into_owned());
    let (started, transport) = (time::write(started), transport.map_or(STDIO, Transport::name));
    format!(
        r#"{{"v":1,"type":"meta","startedAt":"{started}","label":{named},"command":[{words}],"{MARK}":"{transport}"}}"#
    )
}

impl Session {
    /// Says when a session over HTTP was recorded, which only a trace has a place for: from `started` to `ended`, in
    /// milliseconds of the Unix epoch, under this label.
    pub fn record_from_to(&mut self, label: &str, started: i64, ended: i64) {
        let start =
            trace_start(started, label, &[], Some(self.transport().unwrap_or(Transport::StreamableHttp)));
        let end = format!(
            r#"{{"t":"{}","type":"end","reason":"producer_shutdown","durationMs":{}}}"#,
            time::write(ended),
            ended.saturating_sub(started).max(0)
        );
        self.entries.insert(0, OwnedEntry::new(OwnedContent::TraceStart(start)));
        self.entries.push(OwnedEntry::new(OwnedContent::TraceEnd(end)));
    }
}

pub(super) fn lines(opening: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines { opening: opening.clone(), started: 0, latest: i64::MIN, batches: 0, ended: false })
}

struct Lines {
    opening: Opening,
    started: i64,
    /// The time of the youngest message: an answer may be in the file before what was said before it.
    latest: i64,
    /// How many batches there were.
    batches: u64,
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
        write!(line, r#"{{"t":"{}","dir":"{dir}"{added}"#, time::write(spoken.now))?;
        // As `record` numbers the messages of a batch.
        if let Some(item) = spoken.entry.item.filter(|_| !added.contains(r#","batch":"#)) {
            self.batches += u64::from(item == 0);
            write!(line, r#","batch":{}"#, self.batches)?;
        }
        line.extend_from_slice(br#","raw":"#);
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

#[cfg(test)]
mod tests {
    use crate::small::{session, written};

    #[test]
    fn what_other_producers_added_goes_out_again() {
        let text = r#"{"v":1,"type":"meta","startedAt":"2026-05-12T23:00:00.000Z","label":"l","command":["c"],"source":"tape@2"}
{"t":"2026-05-12T23:00:00.100Z","dir":"in","kind":"mcp.request","attest":{"n":1e400},"raw":{"jsonrpc":"2.0","id":0,"method":"ping"}}
{"t":"2026-05-12T23:00:00.200Z","type":"turn","role":"user","blocks":[]}
{"t":"2026-05-12T23:00:00.300Z","dir":"event","kind":"stdio.noise","raw":{"id":0}}
{"t":"2026-05-12T23:00:01.000Z","type":"end","exitCode":0,"durationMs":1000}
"#;
        assert_eq!(written("mcp-replay", text, "mcp-replay"), text);
        // Another format has no place for it, and that is said.
        let session = session("mcp-replay", text);
        let lost = |to: &str| {
            let losses = session.losses(crate::find(to).unwrap());
            losses
                .into_iter()
                .map(|loss| loss.what)
                .filter(|what| what.contains("added") || what.contains("skipped"))
                .collect::<Vec<_>>()
        };
        assert_eq!(lost("mcp-replay"), Vec::<String>::new());
        let expected =
            ["members that other producers added to the lines of messages (1)", "what was skipped (2)"];
        assert_eq!(lost("har"), expected);
    }
}
