//! The envelope that `streamable-http` and `http-sse` share: an object with `transport` and `entries`, each entry
//! a `request`, a `response` or an `sse` event (clauses ENV-*, SSE-*, K2A-*).
//!
//! Cannot carry: HTTP methods and URLs, which exchange a message belongs to, SSE comments, bytes of a body that is not JSON-RPC, the
//! process and its exit. Headers and statuses are context, K2-A apart. The alias of `http-sse` is a name for commands; inside a file
//! the label is `http-sse` (clause ENV-TRANSPORT).
//!
//! Streams: memory is the largest entry, wherever `transport` stands.

mod entry;
mod read;
mod write;

pub(crate) use entry::context;
pub(crate) use write::is_foreign;

use crate::format::{Capabilities, Format, Items};
use crate::head::Head;
use crate::transport::Transport;
use crate::writing::Spelling;

/// The envelope of the Streamable HTTP transport.
pub(crate) static STREAMABLE_HTTP: Format = Format {
    transport: Some(Transport::StreamableHttp),
    scripts: &[Some(Transport::StreamableHttp)],
    ..envelope(Format::new(
        ["streamable-http", "streamable-http.json", "Assay's envelope of a Streamable HTTP session"],
        |head| sniff(head, Transport::StreamableHttp),
        |input, options, sink| read::read(Transport::StreamableHttp, input, options, sink),
        Spelling::Lines(|opening| write::lines(Transport::StreamableHttp, opening)),
    ))
};

/// The envelope of the deprecated HTTP+SSE transport.
pub(crate) static HTTP_SSE: Format = Format {
    aliases: &["sse-legacy"],
    transport: Some(Transport::HttpSse),
    scripts: &[Some(Transport::HttpSse)],
    ..envelope(Format::new(
        ["http-sse", "http-sse.json", "Assay's envelope of a legacy HTTP+SSE session"],
        |head| sniff(head, Transport::HttpSse),
        |input, options, sink| read::read(Transport::HttpSse, input, options, sink),
        Spelling::Lines(|opening| write::lines(Transport::HttpSse, opening)),
    ))
};

/// What both formats have alike.
const fn envelope(format: Format) -> Format {
    let carries = Capabilities {
        times_before_1970: false,
        direction: true,
        times: true,
        http: true,
        sse: true,
        challenge: true,
        ..Capabilities::MESSAGES
    };
    Format {
        carries,
        items: Items::List(&["entries"]),
        messages: &[&["request"], &["response"], &["sse", "data"]],
        paired: true,
        clauses: &["ENV-", "SSE-", "K2A-"],
        ..format
    }
}

fn sniff(head: &Head, transport: Transport) -> bool {
    head.text("transport") == Some(transport.name())
}
