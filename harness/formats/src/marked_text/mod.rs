//! `marked-text`: lines of text that begin with a mark which says who sent the message behind it: `-->` and `<--`, as the
//! JSON-RPC specification writes its examples, `>>>` and `<<<`, `→` and `←`, and `STDIN:`, `STDOUT:` and `STDERR:`, as
//! goose records its servers.
//!
//! What points right, and `STDIN:`, was sent to the server. A program that logs from a server's point of view writes it
//! the other way round, and nothing in the file tells. A line behind `STDERR:` is passed over (RPL-DIR). A line without a
//! mark rejects the file, or is passed over where leniency is asked for: as a message whose direction is not known where
//! it begins as JSON does, and otherwise as noise (RPL-NOISE). A message that goes on over several lines is refused on
//! the first.
//!
//! Cannot carry: times; anything of HTTP or SSE, and so no authorization challenge; the process. goose writes down what
//! passed, byte for byte but for bytes that are not UTF-8.

mod read;

use crate::format::Format;
use crate::head::Head;
use crate::writing::Spelling;
use read::Marked;

/// The format.
pub(crate) static FORMAT: Format = Format::new(
    ["marked-text", "marked.txt", "lines with `-->` and `<--`, `>>>` and `<<<`, or `STDIN:` and `STDOUT:`"],
    sniff,
    read::read,
    Spelling::ReadOnly,
);

/// The first line has a mark, and the first marked message is one of JSON-RPC: arrows stand in many texts.
fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| Marked::of(line).is_some()) && has_message(head)
}

fn has_message(head: &Head) -> bool {
    let sent = |line| Marked::of(line).filter(|marked| marked.side.is_some());
    head.lines()
        .find_map(sent)
        .is_some_and(|marked| marked.rest.starts_with('{') && marked.rest.contains("\"jsonrpc\""))
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    (has_message(head) && !sniff(head)).then_some("its first line has no mark of a direction")
}
