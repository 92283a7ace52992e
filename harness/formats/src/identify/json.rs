//! What a capture turned out to show, as one JSON object: what `identify --output json` prints and what importers answer.

use super::evidence::Evidence;
use super::finding::{Identification, TransportFinding};
use crate::format::Format;
use crate::session::bodies_missing;
use transcript::json::write_string;

impl TransportFinding {
    /// Its name, as in JSON; none where it is unknown.
    #[must_use]
    pub fn name(self) -> Option<&'static str> {
        match self {
            Self::One(transport) => Some(transport.name()),
            Self::Stdio => Some(crate::transport::STDIO),
            Self::Mixed => Some("mixed"),
            Self::Unknown => None,
        }
    }
}

impl Identification {
    /// What a person should know of it, in a sentence without its full stop.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let missing = bodies_missing(self.missing, self.coded)
            .map(|missing| format!("{missing}; they are counted by their headers (HAR-MISSING)"));
        let notes: Vec<String> = self.instead.iter().cloned().chain(missing).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }

    /// The object, a member a line. What is unknown is `null`.
    #[must_use]
    pub fn to_json(&self, format: &Format) -> String {
        let (revision, from) = match &self.revision {
            Some((revision, from)) => (text(revision), text(from.name())),
            None => (null(), null()),
        };
        let durations = self.stream_durations.map_or_else(null, |durations| {
            let (shortest, longest) = durations.extremes.unzip();
            format!(
                r#"{{"streams": {}, "shortest_ms": {}, "longest_ms": {}, "total_ms": {}}}"#,
                durations.streams,
                number(shortest),
                number(longest),
                durations.total
            )
        });
        let responses = self.responses.map_or_else(null, |kinds| {
            format!(
                r#"{{"json": {}, "event_stream": {}, "accepted": {}, "other": {}, "none": {}}}"#,
                kinds.json, kinds.event_stream, kinds.accepted, kinds.other, kinds.none
            )
        });
        let both = self.both_modes.as_ref().map_or_else(null, |urls| {
            let urls: Vec<String> = urls.iter().map(|url| text(url)).collect();
            format!("[{}]", urls.join(", "))
        });
        let evidence: Vec<String> =
            self.evidence.iter().map(|piece| format!("\n    {}", object(piece))).collect();
        let members = [
            ("format", text(format.name)),
            ("transport", self.transport.name().map_or_else(null, text)),
            ("revision", revision),
            ("revision_from", from),
            (
                "evidence",
                if evidence.is_empty() { "[]".to_owned() } else { format!("[{}\n  ]", evidence.join(",")) },
            ),
            ("requests_total", number(self.requests_total)),
            ("connections_active", number(self.connections_active)),
            ("sse_connections_total", number(self.sse_connections_total)),
            ("sse_connections_active", number(self.sse_connections_active)),
            ("sse_events", number(self.sse_events)),
            ("stream_durations", durations),
            ("responses", responses),
            ("both_modes", both),
            ("messages", self.messages.to_string()),
        ];
        let lines: Vec<String> =
            members.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

fn object(piece: &Evidence) -> String {
    format!(
        r#"{{"shows": {}, "sign": {}, "what": {}, "line": {}, "pointer": {}, "weak": {}, "more": {}}}"#,
        text(&piece.shows),
        text(piece.sign),
        text(&piece.what),
        number(piece.location.line),
        text(&piece.location.pointer),
        piece.weak,
        piece.more
    )
}

fn number(number: Option<impl ToString>) -> String {
    number.map_or_else(null, |number| number.to_string())
}

fn text(text: &str) -> String {
    let mut out = Vec::new();
    write_string(text.as_bytes(), &mut out);
    String::from_utf8_lossy(&out).into_owned()
}

fn null() -> String {
    "null".to_owned()
}
