//! `streamable-http`: Assay's envelope for captures of the Streamable HTTP transport.
//!
//! Cannot carry: HTTP methods and URLs, which exchange a message belongs to, SSE comments, bytes of a body that is
//! no JSON-RPC, the process and its exit. Headers and statuses are context, K2-A apart.

use crate::envelope;
use crate::format::Format;
use crate::transport::Transport;
use crate::writing::Spelling;

const TRANSPORT: Transport = Transport::StreamableHttp;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: envelope::CARRIES,
    items: envelope::ITEMS,
    messages: envelope::MESSAGES,
    transport: Some(TRANSPORT),
    scripts: &[Some(TRANSPORT)],
    paired: true,
    clauses: &["ENV-", "SSE-", "K2A-"],
    ..Format::new(
        ["streamable-http", "streamable-http.json", "Assay's envelope of a Streamable HTTP session"],
        |head| envelope::sniff(head, TRANSPORT),
        |input, options, sink| envelope::read(TRANSPORT, input, options, sink),
        Spelling::Lines(|opening| envelope::lines(TRANSPORT, opening)),
    )
};
