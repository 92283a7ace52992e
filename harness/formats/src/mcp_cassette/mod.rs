//! `mcp-cassette`: the cassette of mcp-cassette (0.3 and 0.4, PyPI): `format_version` 1 to 3, what is known of the recording, and
//! `messages`, each with its `sender` and its `payload`.
//!
//! A payload that is text is a line that was no JSON object: it rejects the file, or is passed over where leniency is asked for
//! (RPL-NOISE). `t_offset_ms` counts from the start of the recorder, and nothing says when that was: `recorded_at` is its end. So
//! times count from whatever moment that was.
//!
//! Cannot carry: anything of HTTP or SSE but which messages came in one exchange, which is passed over, and so no authorization
//! challenge; the process; when the session was. The recorder itself has put every message through Python's JSON: of a member
//! that stood twice only the last is there, and digits of a fraction beyond the seventeenth are lost; and, unless it was told not
//! to, it has put `REDACTED` in the place of every value whose name has `token`, `secret` or `password` in it, `progressToken`
//! and `maxTokens` among them.

mod read;
mod write;

use crate::format::{Capabilities, Format, Items};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "mcp-cassette writes REDACTED for values whose names have `token` in them, as `progressToken` has, unless it is told not to",
    items: Items::List(&["messages"]),
    messages: &[&["payload"]],
    redacts: &["REDACTED"],
    ..Format::new(
        ["mcp-cassette", "mcp-cassette.json", "a cassette of mcp-cassette: messages, each with its sender"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("format_version") && head.has("messages") && !head.has("jsonrpc")
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    (head.has("messages") && !sniff(head) && !head.has("jsonrpc"))
        .then_some("it has `messages` and no `format_version`, as conversations with a model have")
}
