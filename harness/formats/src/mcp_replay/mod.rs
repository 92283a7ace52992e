//! `mcp-replay`: a trace of one server's stdio traffic, version 1 (clauses RPL-META to RPL-REDACT).
//!
//! A `meta` line, a line for each message with its time and its direction, an `end` line. The format grew under the
//! same version: lines of other directions and types belong to other producers and are passed over.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; times finer than a millisecond. What other
//! producers added, members of lines and lines that are passed over, is written again. A session that has no time for its first messages gets the time of its beginning for them.

mod frame;
mod read;
mod write;

pub use frame::trace_start;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

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
        Spelling::Lines(write::lines),
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
