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

/// Writes a session of at least `bytes` bytes and returns how many messages it has. `twist` changes one argument
/// near the end, so that two sessions differ in one event.
///
/// # Errors
/// Those of `out`.
pub(super) fn write(spelling: Spelling, bytes: u64, twist: bool, out: &mut dyn Write) -> io::Result<u64> {
    let mut written = 0;
    let mut messages = 0;
    let mut put = |text: &str, out: &mut dyn Write| {
        written += text.len() as u64;
        out.write_all(text.as_bytes())?;
        Ok::<u64, io::Error>(written)
    };
    match spelling {
        Spelling::Jsonrpc => {}
        Spelling::McpReplay => {
            put(
                "{\"v\":1,\"type\":\"meta\",\"startedAt\":\"2026-09-01T10:00:00.000Z\",\"label\":\"bulk\",\"command\":[]}\n",
                out,
            )?;
        }
        Spelling::StreamableHttp => {
            put("{\"transport\":\"streamable-http\",\"entries\":[\n", out)?;
        }
    }
    let mut size = 0;
    let mut call = 0;
    while size < bytes {
        call += 1;
        for (side, message) in
            [(Side::Client, question(call, twist && call == 100)), (Side::Server, answer(call))]
        {
            let time = call * 3 + u64::from(side == Side::Server);
            let line = match spelling {
                Spelling::Jsonrpc => format!("{message}\n"),
                Spelling::McpReplay => {
                    let dir = if side == Side::Client { "in" } else { "out" };
                    let (second, milli) = (time / 1000 % 60, time % 1000);
                    let minute = time / 60_000 % 60;
                    format!(
                        "{{\"t\":\"2026-09-01T10:{minute:02}:{second:02}.{milli:03}Z\",\"dir\":\"{dir}\",\"raw\":{message}}}\n"
                    )
                }
                Spelling::StreamableHttp => {
                    let slot = if side == Side::Client { "request" } else { "response" };
                    let comma = if messages == 0 { "" } else { ",\n" };
                    format!("{comma}{{\"timestamp_ms\":{time},\"{slot}\":{message}}}")
                }
            };
            size = put(&line, out)?;
            messages += 1;
        }
    }
    match spelling {
        Spelling::McpReplay => {
            put(
                "{\"t\":\"2026-09-01T11:00:00.000Z\",\"type\":\"end\",\"exitCode\":0,\"durationMs\":3600000}\n",
                out,
            )?;
        }
        Spelling::StreamableHttp => {
            put("\n]}\n", out)?;
        }
        Spelling::Jsonrpc => {}
    }
    Ok(messages)
}

fn question(call: u64, twisted: bool) -> String {
    let limit = if twisted { 999 } else { call % 97 };
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
