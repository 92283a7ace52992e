//! `inspector-network`: the network export of the MCP Inspector (2.12): an array of HTTP exchanges, each with `timestamp`,
//! `method`, `url`, `requestHeaders`, and `requestBody`, `responseStatus`, `responseHeaders`, `responseBody` where there
//! are any.
//!
//! What HAR-ORDER, HAR-MESSAGE, HAR-STREAM, HAR-MISSING and HAR-K2A say of exchanges holds for these. The Inspector adds an
//! exchange when the head of its answer is there, so that exchanges are put in order by their times. It keeps the last
//! thousand, its OAuth calls (`category` is `auth`) and those of a page that went to an authorization server among them.
//!
//! Its bodies are not what passed. Of the stream of a GET there is a number of events (`stream`) and no event: such a body
//! is missing, and so is one of which the Inspector says that it withheld it. A body that is JSON has been through
//! JavaScript's numbers, so that 9007199254740993 has become another one and 1.0 is 1, and strings under names such as
//! `token`, `code` and `password` are replaced, in tool arguments too; event streams are kept as they came. The answers
//! to others than a GET are kept whole, however many events they have.
//!
//! Cannot carry: two headers of one name, which become one; when an answer ended, since `duration` ends with its head; the process. When written, an exchange is of the category `transport`, its id
//! is its time and place, the stream of a GET has its text, and `_events` says when parts of answers came: the Inspector
//! writes neither.

mod read;
#[cfg(test)]
mod tests;
mod write;

use crate::exchange::CARRIES;
use crate::format::{Capabilities, Format, Items};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { repeats: false, sizes: false, ..CARRIES },
    caveat: "the Inspector keeps no events of a GET's stream, writes the numbers of JSON bodies as JavaScript has them, and \
             takes out texts under names such as `token` and `code`",
    items: Items::List(&[]),
    messages: &[&["requestBody"], &["responseBody"]],
    clauses: &["HAR-", "SSE-", "K2A-"],
    ..Format::new(
        [
            "inspector-network",
            "inspector-network.json",
            "a network export of the MCP Inspector: HTTP exchanges with their bodies",
        ],
        sniff,
        read::read,
        Spelling::Document(write::write),
    )
};

fn sniff(head: &Head) -> bool {
    ["url", "method", "requestHeaders"].iter().all(|name| head.first_has(name))
}
