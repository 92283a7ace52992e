//! The first and the last line of a trace, for a recorder that writes one while a session goes on, or knows how it went.

use crate::session::{OwnedContent, OwnedEntry, Session};
use crate::time;
use crate::transport::{MARK, STDIO, Transport};
use transcript::json::write_string;

/// The first line: when the recording began, in milliseconds of the Unix epoch, what it is called, the server's command, and
/// the transport (none: stdio).
#[must_use]
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
