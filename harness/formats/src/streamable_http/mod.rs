//! `streamable-http`: Assay's envelope for captures of the Streamable HTTP transport.
//!
//! Cannot carry: HTTP methods and URLs, which exchange a message belongs to, SSE comments, bytes of a body that is
//! no JSON-RPC, the process and its exit. Headers and statuses are context, K2-A apart.

use crate::envelope;
use crate::format::Format;
use crate::transport::Transport;

const TRANSPORT: Transport = Transport::StreamableHttp;

/// The format.
pub(crate) static FORMAT: Format = Format {
    name: "streamable-http",
    aliases: &[],
    file: "streamable-http.json",
    about: "Assay's envelope of a Streamable HTTP session",
    carries: envelope::CARRIES,
    caveat: "",
    items: envelope::ITEMS,
    messages: envelope::MESSAGES,
    transport: Some(TRANSPORT),
    scripts: &[Some(TRANSPORT)],
    live: false,
    paired: true,
    redacts: &[],
    clauses: &["ENV-", "SSE-", "K2A-"],
    sniff: |head| envelope::sniff(head, TRANSPORT),
    read: |input, options, sink| envelope::read(TRANSPORT, input, options, sink),
    write: |session, out| envelope::write(TRANSPORT, session, out),
};
