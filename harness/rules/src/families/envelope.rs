//! Envelopes of Streamable HTTP and HTTP+SSE: what their recorder must keep to.

use crate::engine::{Family, RuleContext, RuleVisitor, Trigger, Violation};
use crate::rule::{Level, Rule};
use transcript::rejection::Rejection;
use transcript::session::{Carrier, Content};

pub(super) const FAMILY: Family = Family {
    name: "envelope",
    title: "Envelopes of HTTP sessions",
    rules: &[&TRANSPORT, &ONE_SLOT, &TYPES, &ENDPOINT],
    triggers: &[Trigger::Recordings(|recording| recording.envelope)],
    visitor: || Box::new(EnvelopeState::default()),
};

pub(super) static TRANSPORT: Rule = Rule {
    id: "rec.env.transport",
    source: "Assay import formats, envelope",
    title: "`transport` names the transport of the session",
    why: "Importers choose by it how the entries are read, and refuse an envelope whose transport they cannot tell.",
    fix: "Write \"streamable-http\" or \"http-sse\", as the session was.",
    ..Rule::BLANK.recorder()
};

pub(super) static ONE_SLOT: Rule = Rule {
    id: "rec.env.one-slot",
    source: "Assay import formats, entries",
    title: "An entry has exactly one of `request`, `response` and `sse`",
    why: "With none or several of them it is not clear which message comes first, or whether there is one.",
    fix: "Write an entry for each message.",
    ..Rule::BLANK.recorder()
};

static TYPES: Rule = Rule {
    id: "rec.env.types",
    source: "Assay import formats, envelope",
    title: "Times, contexts and the data of events have the types that the format gives them",
    why: "One importer ignores a member of the wrong type and loses what it said; another refuses the file.",
    fix: "Write `timestamp_ms` as a whole number, `status` as a number, `headers` as an object of strings, `id` as a \
          string, and `data` as an object or a string; leave out what is not known.",
    softened: Some("a warning where the contract leaves it open (ENV-LOOSE, K2A-SPELLING), and on null"),
    ..Rule::BLANK.recorder()
};

static ENDPOINT: Rule = Rule {
    id: "rec.env.endpoint-only-legacy",
    source: "Assay import formats, http-sse; 2024-11-05 basic/transports#http-with-sse",
    title: "An `endpoint` event is only in HTTP+SSE envelopes",
    why: "Streamable HTTP has no such event: the envelope names the wrong transport, or two sessions were mixed.",
    fix: "Name the transport that the server spoke.",
    ..Rule::BLANK.recorder()
};

#[derive(Default)]
struct EnvelopeState {
    /// A member of a wrong type was found.
    mistyped: bool,
}

impl RuleVisitor for EnvelopeState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if !at.facts.recording.kind.envelope {
            return;
        }
        match &at.entry.content {
            Content::Envelope | Content::MadeUp(_) => return,
            Content::WrongType(wrong) => {
                self.mistyped = true;
                let level = if wrong.open { Level::Should } else { Level::Must };
                return at.fail(&TYPES, Violation::new(wrong.what.to_string()).only(level));
            }
            _ => {}
        }
        at.pass(&ONE_SLOT);
        if at.entry.carrier == Carrier::Sse {
            let name = at.entry.sse.as_ref().and_then(|sse| sse.name.as_deref());
            at.check(
                &ENDPOINT,
                at.facts.recording.kind.http_sse || name != Some("endpoint"),
                || "an `endpoint` event in an envelope of Streamable HTTP",
            );
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>) {
        if at.facts.recording.kind.envelope && rejection.is_none() {
            at.pass(&TRANSPORT);
            if !self.mistyped {
                at.pass(&TYPES);
            }
        }
    }
}
