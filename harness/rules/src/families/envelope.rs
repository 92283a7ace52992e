//! Envelopes of Streamable HTTP and HTTP+SSE: what their recorder must keep to.

use crate::engine::{Family, Report, RuleContext, RuleVisitor, Trigger, Violation};
use crate::rule::{Level, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use transcript::rejection::Rejection;
use transcript::session::{Carrier, Content};

pub(super) const FAMILY: Family = Family {
    name: "envelope",
    title: "Envelopes of HTTP sessions",
    rules: &RULES,
    triggers: &[Trigger::Recordings(|recording| recording.envelope)],
    visitor: || Box::new(EnvelopeState::default()),
};

const TEXT: &str = include_str!("envelope.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

pub(super) const TRANSPORT: &Rule = named(&RULES, "rec.env.transport");
pub(super) const ONE_SLOT: &Rule = named(&RULES, "rec.env.one-slot");
const TYPES: &Rule = named(&RULES, "rec.env.types");
const ENDPOINT: &Rule = named(&RULES, "rec.env.endpoint-only-legacy");

#[derive(Default)]
struct EnvelopeState {
    /// A member of a wrong type was found.
    mistyped: bool,
}

impl RuleVisitor for EnvelopeState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if !at.facts.recording.kind.envelope {
            return;
        }
        match &at.entry.content {
            Content::Envelope | Content::MadeUp(_) => return,
            Content::WrongType(wrong) => {
                self.mistyped = true;
                let level = if wrong.open { Level::Should } else { Level::Must };
                return report.fail(TYPES, at, Violation::new(wrong.what.to_string()).only(level));
            }
            _ => {}
        }
        report.pass(ONE_SLOT, at);
        if at.entry.carrier == Carrier::Sse {
            let name = at.entry.sse.as_ref().and_then(|sse| sse.name.as_deref());
            report.check(
                ENDPOINT,
                at,
                at.facts.recording.kind.http_sse || name != Some("endpoint"),
                || "an `endpoint` event in an envelope of Streamable HTTP",
            );
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>, report: &mut Report) {
        if at.facts.recording.kind.envelope && rejection.is_none() {
            report.pass(TRANSPORT, at);
            if !self.mistyped {
                report.pass(TYPES, at);
            }
        }
    }
}
