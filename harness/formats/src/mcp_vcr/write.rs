//! Writing a YAML transcript, an item a line: JSON, which is YAML.

use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;
use transcript::session::Side;

/// What the recorder's own reader asks for, as far as it is known.
const META: &str = "meta:\n  recorded_at: '1970-01-01T00:00:00Z'\n  schema_version: '1.0'\n  server_command: []\n  \
                    session_id: '00000000'\n  version: 1\n";

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines { empty: true, start: None, passed: 0 })
}

struct Lines {
    empty: bool,
    /// When the first message was sent that has a time.
    start: Option<i64>,
    /// Milliseconds from there to the last.
    passed: i64,
}

impl WriteLines for Lines {
    fn open(&mut self, _now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.write_all(META.as_bytes())
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        if std::mem::take(&mut self.empty) {
            line.extend_from_slice(b"messages:\n");
        }
        if let Some(time) = spoken.entry.time {
            self.passed = time.saturating_sub(*self.start.get_or_insert(time));
        }
        let dir = if spoken.side == Side::Server { "s2c" } else { "c2s" };
        write!(line, r#"- {{"dir": "{dir}", "payload": "#)?;
        write_compact(spoken.message.json(), line);
        writeln!(line, r#", "t": {}}}"#, self.passed)
    }

    fn close(&mut self, _now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        if self.empty { out.write_all(b"messages: []\n") } else { Ok(()) }
    }
}
