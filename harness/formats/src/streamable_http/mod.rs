//! `streamable-http`: Assay's envelope for captures of the Streamable HTTP transport.
//!
//! Cannot carry: HTTP methods and URLs, which exchange a message belongs to, SSE comments, bytes of a body that is
//! no JSON-RPC, the process and its exit. Headers and statuses are context, K2-A apart.

use crate::{Format, envelope};

const LABEL: &str = "streamable-http";

/// The format.
pub(crate) static FORMAT: Format = Format {
    name: LABEL,
    aliases: &[],
    file: "streamable-http.json",
    about: "Assay's envelope of a Streamable HTTP session",
    carries: envelope::CARRIES,
    caveat: "",
    sniff: |head| envelope::sniff(head, LABEL),
    read: |input, options, sink| envelope::read(LABEL, input, options, sink),
    write: |session, out| envelope::write(LABEL, session, out),
};
