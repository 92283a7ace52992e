//! `http-sse` (alias `sse-legacy`): Assay's envelope for captures of the deprecated HTTP+SSE transport.
//!
//! Cannot carry: HTTP methods and URLs, SSE comments, bytes of a body that is not JSON-RPC, the process and its
//! exit. The alias is a name for commands; inside a file the label is `http-sse` alone (clause ENV-TRANSPORT).

use crate::envelope;
use crate::format::Format;
use crate::transport::Transport;

const TRANSPORT: Transport = Transport::HttpSse;

/// The format.
pub(crate) static FORMAT: Format = Format {
    name: "http-sse",
    aliases: &["sse-legacy"],
    file: "http-sse.json",
    about: "Assay's envelope of a legacy HTTP+SSE session",
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
