//! `http-sse` (alias `sse-legacy`): Assay's envelope for captures of the deprecated HTTP+SSE transport.
//!
//! Cannot carry: HTTP methods and URLs, SSE comments, bytes of a body that is no JSON-RPC, the process and its
//! exit. The alias is a name for commands; inside a file the label is `http-sse` alone (clause ENV-TRANSPORT).

use crate::{Format, envelope};

const LABEL: &str = "http-sse";

/// The format.
pub(crate) static FORMAT: Format = Format {
    name: LABEL,
    aliases: &["sse-legacy"],
    file: "http-sse.json",
    about: "Assay's envelope of a legacy HTTP+SSE session",
    carries: envelope::CARRIES,
    caveat: "",
    sniff: |head| envelope::sniff(head, LABEL),
    read: |input, options, sink| envelope::read(LABEL, input, options, sink),
    write: |session, out| envelope::write(LABEL, session, out),
};
