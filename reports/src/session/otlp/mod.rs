//! A session as OpenTelemetry spans, in the JSON that a collector takes (OTLP/JSON): a span for each request.
//!
//! By the semantic conventions for MCP, which are in development: the attributes of requests, outcomes and transports, and
//! no content of messages. Ids follow from the messages, so that the same session has the same spans.
//!
//! Memory: the session, and its spans.

mod facts;
mod spans;

use crate::object::{OrderedValue, object};
use formats::{Format, OrderGuess, Session};
use spans::{Seen, Spans};
use std::io::{self, Write};
use transcript::session::Side;

/// The name of this output in commands.
pub const NAME: &str = "otlp-json";

/// Writes the spans of a session.
///
/// # Errors
/// Where the output cannot be written.
pub fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let Spans { spans, names, .. } = Spans::new(session);
    let of = |side: Side| {
        let spans = spans.iter().filter(|(reporter, _)| *reporter == side);
        let spans: Vec<_> = spans.map(|(_, span)| span.json()).collect();
        let resource = object().with("attributes", names.attributes(side));
        let scope = object().with("name", "mcp-concord").with("version", env!("CARGO_PKG_VERSION"));
        let some = !spans.is_empty();
        let scope_spans = vec![object().with("scope", scope).with("spans", spans)];
        some.then(|| object().with("resource", resource).with("scopeSpans", scope_spans))
    };
    let sides: Vec<OrderedValue<'_>> = [Side::Client, Side::Server].into_iter().filter_map(of).collect();
    serde_json::to_writer_pretty(&mut *out, &object().with("resourceSpans", sides))?;
    out.write_all(b"\n")
}

/// What the spans do not show of a session that was read as `from`, in sentences without their full stop.
pub fn notes(session: &Session, from: &Format) -> Vec<String> {
    let Seen { requests, notifications, orphans, unanswered, timed } = Spans::new(session).seen;
    let mut notes =
        vec![format!("{NAME} has a span for each request ({requests}), without params and results")];
    let mut note = |there: bool, text: String| {
        if there {
            notes.push(text);
        }
    };
    note(notifications > 0, format!("{NAME} has no span for notifications ({notifications}): left out"));
    note(orphans > 0, format!("{NAME} has no span for answers to no request ({orphans}): left out"));
    note(
        unanswered > 0,
        format!("requests without an answer ({unanswered}): their spans end where the recording does"),
    );
    let times = format!(
        "{} has no times: messages are placed a millisecond apart from 1970 on, and a span's length means nothing",
        from.name
    );
    note(!timed && requests > 0, times);
    let inferred = format!(
        "{} does not say who sent what: it was inferred from the methods and from what is answered",
        from.name
    );
    note(session.entries.iter().any(|entry| entry.inferred), inferred);
    note(!from.caveat.is_empty(), format!("{}: {}", from.name, from.caveat));
    note(session.totals.guessed, format!("{}: {}", from.name, OrderGuess::CAVEAT));
    notes.extend(session.totals.notes());
    notes
}

#[cfg(test)]
mod tests;
