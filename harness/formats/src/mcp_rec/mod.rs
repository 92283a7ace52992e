//! `mcp-rec`: what `mcp-rec record` (0.1, PyPI) keeps of a server's stdio traffic, a line a message:
//! `{"ts": 1795322377.386, "dir": "client->server", "msg": {…}}`.
//!
//! A line of a server's stdout that is not JSON stands there as `{"_raw": …, "_unparsed": true}`. It is not a message
//! (RPL-NOISE): it rejects the file, or is passed over where leniency is asked for.
//!
//! The recorder appends to its file and marks no beginning, so that two recordings under one name are one file in which
//! nothing tells them apart. It is read as the one session that a transcript is; where the second recording calls a
//! tool under an id of the first, which is nearly always, COR-DUPLICATE rejects it at that line.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the command and how it ended; times finer
//! than a millisecond are not written. The recorder itself has put every message through Python's JSON: of a member
//! that stood twice only the last is there, `-0` is `0`, `1e400` has become `Infinity`, which is not JSON, a line with
//! nothing but `null` is gone, and bytes that were not UTF-8 are U+FFFD.

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "mcp-rec appends without a mark: two recordings under one name are read as one session",
    messages: &[&["msg"]],
    ..Format::new(
        ["mcp-rec", "mcp-rec.jsonl", "lines of mcp-rec, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("msg") && read::DIRECTIONS.iter().any(|(name, _)| head.text("dir") == Some(name))
}
