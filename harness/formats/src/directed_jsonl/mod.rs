//! `directed-jsonl`: lines of JSON in which a member says which way a message went, as many small recorders write them:
//! `{"seq":0,"t":1776658414.952,"dir":"c2s","msg":{…}}`, `{"type":"frame","t":4,"dir":"c2s","frame":{…}}`,
//! `{"ts":"2026-…","direction":"s2c","transport":"stdio","raw":{…}}`.
//!
//! A table in `read.rs` has the names: of the direction and its values, of the message, of the time and of the session.
//! Values that recorders use in both senses, such as `in` and `out` or `request` and `response`, are not in it: what is
//! not certain is not read. A line has one message as JSON; text that holds JSON is none, and rejects the file or is passed
//! over where leniency is asked for (RPL-NOISE), and so is what a server printed. A line of another direction, such as
//! `stderr` or `meta`, is passed over (RPL-DIR), and so is one that has neither, such as a header or a summary.
//!
//! Lines of a second session are refused with the way to take one out. A number for a time is in seconds or milliseconds
//! since 1970 where it is as large as that, and otherwise in milliseconds since the header's `startedAt`, or since whatever
//! moment the recorder counts from.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process. Members beside these are
//! passed over, such as the headers that some recorders keep. A stream that mcp-cassette has as one line of `chunks` is
//! refused. What a recorder has done to numbers and members that occur twice depends on its language.
//!
//! From the sources of mcpsnoop, of the mcp-cassette that is written in TypeScript (its version 1, and 2 over stdio) and of the
//! mcp-recorder that is; none of them is published as a package. And from mcp-vcr (0.2, PyPI), which writes such lines with
//! `--format ndjson` under a header whose `_type` is `meta`.

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;
use read::{DIRECTIONS, MESSAGES};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    messages: &[&["msg"], &["message"], &["frame"], &["raw"], &["payload"], &["body"]],
    redacts: &["<REDACTED", "<PATH>"],
    ..Format::new(
        ["directed-jsonl", "directed.jsonl", "JSON lines of small recorders, with directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    let is_line =
        has_message(head) && directions(head).any(|(name, value)| read::side(name, value).is_some());
    let is_header = head.has("cassetteVersion")
        || head.text("_type") == Some("meta")
        || has_message(head) && head.text("direction") == Some("meta");
    is_line || is_header
}

fn has_message(head: &Head) -> bool {
    MESSAGES.iter().any(|(name, _)| head.has(name))
}

fn directions(head: &Head) -> impl Iterator<Item = (&str, &str)> {
    DIRECTIONS.iter().filter_map(|(name, _)| Some((*name, head.text(name)?)))
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    let is_directed = directions(head).next().is_some();
    match () {
        () if !is_directed || sniff(head) => None,
        () if has_message(head) => {
            Some("its first line's direction is none that says for certain who sent what")
        }
        () => Some("its first line has a direction and no message"),
    }
}
