//! Writing the NDJSON of mcporter.

use crate::time;
use crate::writing::{Opening, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;
use transcript::session::Side;

pub(super) fn lines(_: &Opening) -> Box<dyn WriteLines> {
    Box::new(Lines)
}

struct Lines;

impl WriteLines for Lines {
    fn open(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        lifecycle("start", now, out)
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        line.push(b'{');
        for (key, value) in spoken.message.json().members().filter(|(key, _)| !key.is("_meta")) {
            write!(line, "\"{}\":", key.raw())?;
            write_compact(value, line);
            line.push(b',');
        }
        let dir = if spoken.side == Side::Server { "recv" } else { "send" };
        meta(dir, spoken.now, line)
    }

    fn close(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        lifecycle("close", now, out)
    }
}

fn lifecycle(event: &str, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
    write!(out, r#"{{"jsonrpc":"2.0","method":"$transport/{event}","#)?;
    meta("lifecycle", now, out)
}

fn meta(dir: &str, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, r#""_meta":{{"dir":"{dir}","server":"converted","ts":"{}"}}}}"#, time::write(now))
}
