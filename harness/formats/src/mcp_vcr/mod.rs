//! `mcp-vcr`: the YAML transcript of mcp-vcr (0.2, PyPI): `messages`, each with `dir` (`c2s` or `s2c`), `payload` and `t`, and
//! `meta`. Its lines of JSON are [`directed_jsonl`](crate::directed_jsonl)'s.
//!
//! A list at the margin, or indented alike, is read item by item; an item may be a block, or JSON on one line. Scalars are what
//! PyYAML makes of them, which mcp-vcr reads and writes with: `no` is false and `1e5` is text. What it makes a number or a time of
//! that JSON cannot say, such as `0x1F`, `1_000` or `2026-11-23`, rejects the file, and so do aliases, merges, and tags. The
//! scanner is another: it reads no lone surrogate, which PyYAML writes.
//!
//! `t` counts milliseconds from the start of the session, which `meta` tells where the recorder has ended only behind the
//! messages: times count from whatever moment that was. An item without `t` at the end of the file is cut off.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process; when the session was. What is
//! written here is JSON, an item a line, and is read as that; to PyYAML a number such as `1e5` is text in it. The recorder puts `<REDACTED…>` and `<PATH>` in the place of secrets and paths unless it is told not to, has put every
//! message through Python's JSON, and keeps nothing that was no JSON object.

mod read;
mod scalar;
mod write;
mod yaml;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "to PyYAML, with which mcp-vcr reads, a number with an exponent is text unless it has a dot and a sign, as in 1.0e+5",
    redacts: &["<REDACTED", "<PATH>"],
    ..Format::new(
        ["mcp-vcr", "mcp-vcr.yaml", "a YAML transcript of mcp-vcr: messages with directions and times"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

fn sniff(head: &Head) -> bool {
    has_list(head) && (head.lines().any(|line| line.trim_end() == "meta:") || head.lines().any(is_directed))
}

fn has_list(head: &Head) -> bool {
    head.lines().any(|line| matches!(line.trim_end(), "messages:" | "messages: []"))
}

fn is_directed(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '-']);
    ["dir: c2s", "dir: s2c", r#"{"dir""#, r#"dir: "c2s""#, r#"dir: "s2c""#]
        .iter()
        .any(|begin| line.starts_with(begin))
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    (has_list(head) && !sniff(head)).then_some("its messages say in no `dir` who sent them")
}

#[cfg(test)]
mod tests;
