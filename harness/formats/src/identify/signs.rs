//! The signs of a capture, taken together: what they come to, and their evidence.

use super::evidence::{Evidence, EvidenceLocation, Tally, Values};
use super::finding::{RevisionSource, TransportFinding};
use crate::made_up::{LABEL, TRANSPORT};
use crate::transport::{STDIO, Transport};

/// What was found, by kind.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// The version header, where it tells a transport.
    pub(super) header: Tally,
    /// Its values, wherever it went.
    pub(super) versions: Values,
    pub(super) session: Tally,
    pub(super) method: Tally,
    /// POSTs answered with an event stream, and with a response.
    pub(super) streamed: Tally,
    pub(super) answered: Tally,
    pub(super) endpoint: Tally,
    /// Versions that requests name, and that results of `initialize` do.
    pub(super) metas: Values,
    pub(super) initialized: Values,
    /// POSTs that could have had the version header and had none.
    pub(super) bare: Tally,
    /// Recorded commands without a URL and with one.
    pub(super) program: Tally,
    pub(super) url: Tally,
    /// What a converter made up, and where it says so.
    pub(super) made_up: Option<(&'static str, EvidenceLocation)>,
    /// The transport that a trace says its session ran over, and where it says so.
    pub(super) marked: Option<(&'static str, EvidenceLocation)>,
}

impl Signs {
    /// Whether the whole transport was made up.
    pub(super) fn is_without_http(&self) -> bool {
        self.made_up.as_ref().is_some_and(|(what, _)| *what == TRANSPORT)
    }

    /// Whether a request of which no address is known may have gone to an endpoint of HTTP+SSE.
    pub(super) fn may_be_legacy(&self) -> bool {
        self.made_up.as_ref().is_some_and(|(what, _)| *what == LABEL || self.endpoint.any())
    }

    /// The transport that the signs come to, in a capture that calls itself `label`.
    pub(super) fn verdict(&self, label: Option<Transport>) -> TransportFinding {
        let streamable = [&self.header, &self.session, &self.method, &self.streamed, &self.answered]
            .iter()
            .any(|sign| sign.any())
            || label == Some(Transport::StreamableHttp);
        let legacy = self.endpoint.any() || label == Some(Transport::HttpSse);
        let marked = |name| self.marked.as_ref().is_some_and(|(marked, _)| *marked == name);
        let streamable = streamable || marked(Transport::StreamableHttp.name());
        let legacy = legacy || marked(Transport::HttpSse.name());
        match (streamable, legacy) {
            (true, true) => TransportFinding::Mixed,
            (true, false) => TransportFinding::One(Transport::StreamableHttp),
            (false, true) => TransportFinding::One(Transport::HttpSse),
            (false, false) if marked(STDIO) => TransportFinding::Stdio,
            (false, false) => TransportFinding::Unknown,
        }
    }

    /// The revision, from the first source that has one.
    pub(super) fn revision(&self, transport: TransportFinding) -> Option<(String, RevisionSource)> {
        let hint = || match transport {
            _ if self.method.granted && self.method.any() => Some("2026-07-28"),
            _ if self.endpoint.any() && transport != TransportFinding::Mixed => Some("2024-11-05"),
            // Where another header is of the newest revision, none was forgotten by an older client.
            _ if self.wants_header(transport) && !self.method.any() => Some("2025-03-26"),
            _ => None,
        };
        let said = [
            (self.metas.granted(), RevisionSource::RequestMeta),
            (self.initialized.granted(), RevisionSource::InitializeResult),
            (self.versions.granted(), RevisionSource::Header),
        ];
        said.into_iter()
            .chain(std::iter::once_with(|| (hint(), RevisionSource::Hint)))
            .find_map(|(version, source)| Some((version?.to_owned(), source)))
    }

    /// Whether a version header was to be expected and none came. A server must then assume 2025-03-26.
    pub(super) fn wants_header(&self, transport: TransportFinding) -> bool {
        self.bare.any()
            && !self.versions.any()
            && transport == TransportFinding::One(Transport::StreamableHttp)
    }

    /// Every sign, written out: those of a transport first.
    pub(super) fn evidence(&self, label: Option<Transport>, wants_header: bool) -> Vec<Evidence> {
        let (streamable, legacy) = (Transport::StreamableHttp.name(), Transport::HttpSse.name());
        let mut found: Vec<Evidence> = Vec::new();
        let one = |shows: &'static str, sign, what, location| Evidence {
            shows: shows.into(),
            sign,
            what,
            weak: false,
            location,
            more: 0,
        };
        found.extend(label.map(|label| {
            let location = EvidenceLocation { line: None, pointer: "/transport".to_owned() };
            one(label.name(), "envelope-transport", "the envelope's `transport`".to_owned(), location)
        }));
        found.extend(self.made_up.clone().map(|(what, location)| {
            let what = format!("the {what} was made up when this file was converted");
            one("converted", "made-up", what, location)
        }));
        found.extend(self.marked.clone().map(|(transport, location)| {
            one(transport, "trace-transport", "the trace's `_transport`".to_owned(), location)
        }));
        for (tally, shows, sign, what, weak) in [
            (&self.endpoint, legacy, "endpoint-event", "a stream whose first event is `endpoint`", false),
            (&self.header, streamable, "version-header", "header MCP-Protocol-Version", false),
            (&self.session, streamable, "session-header", "header Mcp-Session-Id", false),
            (&self.method, streamable, "method-header", "header Mcp-Method", false),
            (&self.streamed, streamable, "streamed-post", "a POST answered with an event stream", false),
            (&self.answered, streamable, "answered-post", "a POST answered with a JSON-RPC response", false),
            (
                &self.program,
                "stdio",
                "command-program",
                "a recorded command that names a program and no URL",
                true,
            ),
            (&self.url, "http", "command-url", "a recorded command that names a URL", true),
        ] {
            let piece = tally.evidence(shows, sign, what);
            found.extend(piece.map(|piece| Evidence { weak, ..piece }));
        }
        found.extend(self.metas.evidence(
            "request-meta",
            "named in _meta by requests, one of which got a result",
            "named in _meta by requests, none of which got a result",
        ));
        let settled = "protocolVersion in the result of initialize";
        found.extend(self.initialized.evidence("initialize-result", settled, settled));
        found.extend(self.versions.evidence(
            "version-header",
            "value of MCP-Protocol-Version",
            "value of MCP-Protocol-Version on refused requests",
        ));
        let none = Tally::default();
        let bare = if wants_header { &self.bare } else { &none };
        for (tally, shows, sign, what) in [
            (&self.method, "2026-07-28", "method-header", "header Mcp-Method"),
            (&self.endpoint, "2024-11-05", "endpoint-event", "event `endpoint`"),
            (&self.session, "2025-03-26 to 2025-11-25", "session-header", "header Mcp-Session-Id"),
            (
                bare,
                "2025-03-26",
                "no-version-header",
                "no MCP-Protocol-Version header, for which a server must assume this",
            ),
        ] {
            found.extend(tally.evidence(shows, sign, what).map(Evidence::weak));
        }
        found
    }
}
