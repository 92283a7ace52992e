//! Traces that nobody would record, each made to fill one of the judge's tables: the same every time.
//!
//! Written straight out, so that a gigabyte costs no memory.

use std::io::{self, Write};

/// What a trace is made of, over and over.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// Requests that are answered, each with an id in no order, and a token as well.
    Ids,
    /// Progress under tokens that nobody gave.
    Tokens,
    /// Requests that are never answered.
    Open,
    /// Requests that are answered when all were made.
    Late,
    /// Results of a great many small values.
    Values,
    /// Another listing of other tools each time.
    Tools,
}

impl Shape {
    pub(crate) const ALL: [(&'static str, Self); 6] = [
        ("ids", Self::Ids),
        ("tokens", Self::Tokens),
        ("open", Self::Open),
        ("late", Self::Late),
        ("values", Self::Values),
        ("tools", Self::Tools),
    ];
}

/// Writes a trace of at least `bytes` bytes.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write(shape: Shape, bytes: u64, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = TraceWriter { out, written: 0, state: 0x9e37_79b9_7f4a_7c15 };
    lines.plain(concat!(
        r#"{"v":1,"type":"meta","startedAt":"2026-09-01T10:00:00.000Z","label":"hostile","#,
        r#""command":["server"]}"#
    ))?;
    lines.say("in", concat!(
        r#"{"jsonrpc":"2.0","id":"first","method":"initialize","params":{"protocolVersion":"2025-11-25","#,
        r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#
    ))?;
    lines.say(
        "out",
        concat!(
            r#"{"jsonrpc":"2.0","id":"first","result":{"protocolVersion":"2025-11-25","#,
            r#""capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#
        ),
    )?;
    let mut made = 0_u64;
    while lines.written < if matches!(shape, Shape::Late) { bytes / 2 } else { bytes } {
        made += 1;
        match shape {
            Shape::Ids => {
                let id = lines.any();
                lines.call(&format!("\"{id:x}\""), "{}")?;
                lines.answer(&format!("\"{id:x}\""))?;
            }
            Shape::Tokens => {
                let token = lines.any();
                lines.say("out", &format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"{token:x}","progress":1}}}}"#
                ))?;
            }
            Shape::Open | Shape::Late => {
                lines.call(&format!("\"id-{made}\""), r#"{"path":"src/lib.rs","list":[1,2,3]}"#)?
            }
            Shape::Values => {
                lines.call(&made.to_string(), "{}")?;
                let values = "1,".repeat(1 << 20);
                lines.say("out", &format!(
                    r#"{{"jsonrpc":"2.0","id":{made},"result":{{"content":[],"structuredContent":{{"list":[{values}1]}}}}}}"#
                ))?;
            }
            Shape::Tools => {
                lines.say(
                    "in",
                    &format!(r#"{{"jsonrpc":"2.0","id":{made},"method":"tools/list","params":{{}}}}"#),
                )?;
                let tool = |number: u64| {
                    format!(
                        r#"{{"name":"tool_{made}_{number}","inputSchema":{{"type":"object","properties":{{"p{made}_{number}":{{"type":"string"}}}}}}}}"#
                    )
                };
                let tools: Vec<_> = (0..2_000).map(tool).collect();
                lines.say(
                    "out",
                    &format!(r#"{{"jsonrpc":"2.0","id":{made},"result":{{"tools":[{}]}}}}"#, tools.join(",")),
                )?;
            }
        }
    }
    if matches!(shape, Shape::Late) {
        for id in 1..=made {
            lines.answer(&format!("\"id-{id}\""))?;
        }
    }
    lines.plain(r#"{"t":"2026-09-01T11:00:00.000Z","type":"end","exitCode":0,"durationMs":3600000}"#)
}

struct TraceWriter<'w> {
    out: &'w mut dyn Write,
    written: u64,
    state: u64,
}

impl TraceWriter<'_> {
    fn plain(&mut self, line: &str) -> io::Result<()> {
        self.written += line.len() as u64 + 1;
        writeln!(self.out, "{line}")
    }

    fn say(&mut self, dir: &str, message: &str) -> io::Result<()> {
        self.plain(&format!(r#"{{"t":"2026-09-01T10:00:01.000Z","dir":"{dir}","raw":{message}}}"#))
    }

    fn call(&mut self, id: &str, arguments: &str) -> io::Result<()> {
        self.say("in", &format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"a","arguments":{arguments},"_meta":{{"progressToken":{id}}}}}}}"#
        ))
    }

    fn answer(&mut self, id: &str) -> io::Result<()> {
        self.say("out", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[]}}}}"#))
    }

    /// A number in no order (xorshift).
    fn any(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}
