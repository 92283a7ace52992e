//! The revisions of the specification, in their order, and how a session shows which one is its own.

use crate::json::Json;
use crate::session::{Carrier, Content, Entry, header};
use std::fmt;

crate::named! {
    /// A published revision of MCP.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[expect(missing_docs, reason = "each is named by its date")]
    pub enum Revision {
        V2024_11_05 "2024-11-05",
        V2025_03_26 "2025-03-26",
        V2025_06_18 "2025-06-18",
        V2025_11_25 "2025-11-25",
        V2026_07_28 "2026-07-28",
    }
}

impl Revision {
    /// The names of all of them, for a sentence.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }

    /// The revision that a header with this entry names: `MCP-Protocol-Version` of a request (clause EQ-BATCH).
    #[must_use]
    pub fn declared(entry: &Entry<'_>) -> Option<Self> {
        let headers = match (&entry.content, entry.context) {
            (Content::Exchange(exchange), _) => &exchange.request_headers,
            (_, Some(context)) if entry.carrier == Carrier::Request => &context.headers,
            _ => return None,
        };
        Self::named(header(headers, "MCP-Protocol-Version")?)
    }

    /// The revision that a value names, such as the `protocolVersion` of a result.
    #[must_use]
    pub fn new(value: Json<'_>) -> Option<Self> {
        Self::named(&value.as_text()?.to_str()?)
    }

    /// Whether a message may be an array of messages.
    #[must_use]
    pub fn has_batches(self) -> bool {
        self == Self::V2025_03_26
    }

    /// Whether sessions of it begin with `initialize`; from 2026-07-28 on each request stands by itself.
    #[must_use]
    pub fn has_handshake(self) -> bool {
        self < Self::V2026_07_28
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
