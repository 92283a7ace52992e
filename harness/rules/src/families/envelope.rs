//! Envelopes of Streamable HTTP and HTTP+SSE: what their recorder must keep to.

use crate::engine::{Family, Report, RuleContext, RuleVisitor, Trigger};
use crate::rule::{Party, Rule};
use transcript::rejection::Rejection;
use transcript::session::{Carrier, Content};

pub(super) const FAMILY: Family = Family {
    name: "envelope",
    title: "Envelopes of HTTP sessions",
    rules: &[&TRANSPORT, &ONE_SLOT, &ENDPOINT],
    triggers: &[Trigger::Recordings(|recording| recording.envelope)],
    visitor: || Box::new(EnvelopeState),
};

pub(super) static TRANSPORT: Rule = Rule {
    id: "rec.env.transport",
    party: Party::Recorder,
    source: "Assay import formats, envelope",
    title: "`transport` names the transport of the session",
    why: "Importers choose by it how the entries are read, and refuse an envelope whose transport they cannot tell.",
    fix: "Write \"streamable-http\" or \"http-sse\", as the session was.",
    ..Rule::BLANK
};

pub(super) static ONE_SLOT: Rule = Rule {
    id: "rec.env.one-slot",
    party: Party::Recorder,
    source: "Assay import formats, entries",
    title: "An entry has exactly one of `request`, `response` and `sse`",
    why: "With none or several of them it is not clear which message comes first, or whether there is one.",
    fix: "Write an entry for each message.",
    ..Rule::BLANK
};

static ENDPOINT: Rule = Rule {
    id: "rec.env.endpoint-only-legacy",
    party: Party::Recorder,
    source: "Assay import formats, http-sse; 2024-11-05 basic/transports#http-with-sse",
    title: "An `endpoint` event is only in HTTP+SSE envelopes",
    why: "Streamable HTTP has no such event: the envelope names the wrong transport, or two sessions were mixed.",
    fix: "Name the transport that the server spoke.",
    ..Rule::BLANK
};

struct EnvelopeState;

impl RuleVisitor for EnvelopeState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if !at.facts.recording.kind.envelope {
            return;
        }
        if matches!(at.entry.content, Content::Envelope) {
            return;
        }
        report.pass(&ONE_SLOT, at);
        if at.entry.carrier == Carrier::Sse {
            let name = at.entry.sse.as_ref().and_then(|sse| sse.name.as_deref());
            report.check(
                &ENDPOINT,
                at,
                at.facts.recording.kind.http_sse || name != Some("endpoint"),
                || "an `endpoint` event in an envelope of Streamable HTTP",
            );
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>, report: &mut Report) {
        if at.facts.recording.kind.envelope && rejection.is_none() {
            report.pass(&TRANSPORT, at);
        }
    }
}
