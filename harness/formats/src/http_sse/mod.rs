//! `http-sse` (alias `sse-legacy`): Assay's envelope for captures of the deprecated HTTP+SSE transport.
//!
//! Cannot carry: HTTP methods and URLs, SSE comments, bytes of a body that is not JSON-RPC, the process and its
//! exit. The alias is a name for commands; inside a file the label is `http-sse` alone (clause ENV-TRANSPORT).

use crate::envelope;
use crate::format::Format;
use crate::transport::Transport;
use crate::writing::Spelling;

const TRANSPORT: Transport = Transport::HttpSse;

/// The format.
pub(crate) static FORMAT: Format = Format {
    aliases: &["sse-legacy"],
    carries: envelope::CARRIES,
    items: envelope::ITEMS,
    messages: envelope::MESSAGES,
    transport: Some(TRANSPORT),
    scripts: &[Some(TRANSPORT)],
    paired: true,
    clauses: &["ENV-", "SSE-", "K2A-"],
    ..Format::new(
        ["http-sse", "http-sse.json", "Assay's envelope of a legacy HTTP+SSE session"],
        |head| envelope::sniff(head, TRANSPORT),
        |input, options, sink| envelope::read(TRANSPORT, input, options, sink),
        Spelling::Lines(|opening| envelope::lines(TRANSPORT, opening)),
    )
};
