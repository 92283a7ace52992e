//! Long sessions of tool calls, for measurements: as many bytes as asked for, the same every time.
//!
//! What ordinary traffic looks like in size and kind (numbers, escapes, text in several scripts, a result of a few
//! hundred bytes). Written straight out, so that a gigabyte costs no memory.

use std::io::{self, Write};
use transcript::session::Side;

/// The spellings that a long session can be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spelling {
    /// A message a line.
    Jsonrpc,
    /// The same as a trace.
    McpReplay,
    /// The same as an envelope, an entry a line.
    StreamableHttp,
}

impl Spelling {
    /// All of them, with the name of their format.
    pub(super) const ALL: [(&'static str, Self); 3] = [
        ("jsonrpc", Self::Jsonrpc),
        ("mcp-replay", Self::McpReplay),
        ("streamable-http", Self::StreamableHttp),
    ];
}

impl Spelling {
    /// What comes before and behind the messages.
    fn around(self) -> [&'static str; 2] {
        match self {
            Self::Jsonrpc => ["", ""],
            Self::McpReplay => [
                "{\"v\":1,\"type\":\"meta\",\"startedAt\":\"2026-09-01T10:00:00.000Z\",\"label\":\"bulk\",\"command\":[]}\n",
                "{\"t\":\"2026-09-01T11:00:00.000Z\",\"type\":\"end\",\"exitCode\":0,\"durationMs\":3600000}\n",
            ],
            Self::StreamableHttp => ["{\"transport\":\"streamable-http\",\"entries\":[\n", "\n]}\n"],
        }
    }

    /// A message at this time, the first one or another.
    fn entry(self, side: Side, time: u64, message: &str, is_first: bool) -> String {
        let by_client = side == Side::Client;
        match self {
            Self::Jsonrpc => format!("{message}\n"),
            Self::McpReplay => {
                let dir = if by_client { "in" } else { "out" };
                let (minute, second, milli) = (time / 60_000 % 60, time / 1000 % 60, time % 1000);
                format!(
                    "{{\"t\":\"2026-09-01T10:{minute:02}:{second:02}.{milli:03}Z\",\"dir\":\"{dir}\",\"raw\":{message}}}\n"
                )
            }
            Self::StreamableHttp => {
                let slot = if by_client { "request" } else { "response" };
                let comma = if is_first { "" } else { ",\n" };
                format!("{comma}{{\"timestamp_ms\":{time},\"{slot}\":{message}}}")
            }
        }
    }
}

/// Writes a session of at least `bytes` bytes.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(spelling: Spelling, bytes: u64, out: &mut dyn Write) -> io::Result<()> {
    let [head, tail] = spelling.around();
    out.write_all(head.as_bytes())?;
    let (mut size, mut call) = (head.len() as u64, 0);
    while size < bytes {
        call += 1;
        for (side, time, message) in
            [(Side::Client, call * 3, question(call)), (Side::Server, call * 3 + 1, answer(call))]
        {
            let entry = spelling.entry(side, time, &message, size == head.len() as u64);
            out.write_all(entry.as_bytes())?;
            size += entry.len() as u64;
        }
    }
    out.write_all(tail.as_bytes())
}

fn question(call: u64) -> String {
    let limit = call % 97;
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{call},\"method\":\"tools/call\",\"params\":{{\"name\":\"search_{}\",\
         \"arguments\":{{\"query\":\"übergang {call} \\\"exact\\\"\",\"limit\":{limit},\"weights\":[0.25,1e-3,-{}.5],\
         \"filter\":{{\"path\":\"src/**/*.rs\",\"since\":null,\"deep\":true}}}},\"_meta\":{{\"progressToken\":{call}}}}}}}",
        call % 7,
        call % 13
    )
}

fn answer(call: u64) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{call},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\"{}found {call} of {}\\n\
         line two: naïve café \\u00e9 — done\"}}],\"structuredContent\":{{\"count\":{call},\"items\":[{{\"file\":\"src/lib.rs\",\
         \"line\":{},\"score\":0.{}}},{{\"file\":\"src/main.rs\",\"line\":3,\"score\":1}}]}},\"isError\":false}}}}",
        "The quick brown fox jumps over the lazy dog; ".repeat((call % 5) as usize),
        call * 3,
        call % 1000,
        call % 89 + 10
    )
}
