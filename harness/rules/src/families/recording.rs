//! Recordings that cannot be read to their end, whatever their format.
//!
//! Which rule a reader's refusal falls under.

use super::{encoding, envelope, replay};
use crate::engine::{
    Family, FindingLocation, RecordingKind, Report, Revision, RuleContext, RuleVisitor, Trigger, Violation,
};
use crate::rule::{Level, Party, Rule};
use transcript::batch;
use transcript::json::Json;
use transcript::message::resembles_message;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Carrier, Content, Noise};

pub(super) const FAMILY: Family = Family {
    name: "recording",
    title: "Recordings of any format",
    rules: &[&READABLE, &WHOLE, &SHAPE],
    triggers: &[Trigger::NonMessages],
    visitor: || Box::new(RecordingState::default()),
};

static READABLE: Rule = Rule {
    id: "rec.readable",
    party: Party::Recorder,
    source: "the capture format's own description; RFC 8259, section 2",
    title: "The file is a recording of its format from the first byte to the last",
    why: "What follows the place where a reader has to stop is lost to every user of the file.",
    fix: "Write the document in one go, or repair it by hand at the place that is shown. Part a file of several documents into one file per document; `jq -c . FILE` lists them, one a line.",
    softened: Some(
        "a warning where the contract leaves it open or a sender may have cut the body; a note on what a program may have printed, and on a batch where the revision is not known",
    ),
    ..Rule::BLANK
};

static WHOLE: Rule = Rule {
    id: "rec.bodies",
    level: Level::Should,
    party: Party::Recorder,
    source: "HAR 1.2, postData and content",
    title: "The bodies of the exchanges are in the file",
    why: "An exporter that leaves bodies out leaves messages out, and nothing can be said about what is not there.",
    fix: "Export with bodies (in a browser: \"with content\"), and stop proxies from streaming past the recorder.",
    ..Rule::BLANK
};

static SHAPE: Rule = Rule {
    id: "rec.inspector.shape",
    party: Party::Recorder,
    source: "Assay import formats, inspector",
    title: "An Inspector export is an array of messages, or an object with one under `events`",
    why: "Importers look only in these two places, and do not recognize a file of another shape.",
    fix: "Write [message, …] or {\"events\": [message, …]}.",
    ..Rule::BLANK
};

/// Which rule a refusal falls under. Those that a rule of a format names are its own.
fn rule_for(kind: RecordingKind, code: Code) -> &'static Rule {
    match code {
        Code::MissingMeta | Code::SecondMeta if kind.trace => &replay::META_FIRST,
        Code::UnsupportedVersion if kind.trace => &replay::VERSION,
        Code::MissingRaw | Code::MissingDir | Code::WrongType if kind.trace => &replay::LINE,
        Code::AfterEnd if kind.trace => &replay::END_LAST,
        Code::WrongTransport if kind.envelope => &envelope::TRANSPORT,
        Code::InvalidEntry if kind.envelope => &envelope::ONE_SLOT,
        Code::WrongDocument if kind.bare_list => &SHAPE,
        Code::InvalidUtf8 => &encoding::UTF8,
        _ => &READABLE,
    }
}

/// How much it binds that something is not a message which no other rule tells of: readers refuse the recording there.
fn untold(noise: &Noise<'_>, at: &RuleContext<'_>) -> Option<Level> {
    let kind = at.facts.recording.kind;
    // Such a line may be what a program printed, and rules of its own tell of it.
    let printed = kind.trace || kind.bare_lines || kind.bare_list;
    match noise.why.code {
        // In a trace each line is the recorder's own.
        Code::InvalidJson if kind.trace => Some(Level::Must),
        Code::Truncated if kind.trace => Some(Level::Must),
        Code::Truncated if !printed => Some(match at.entry.carrier {
            Carrier::Line => Level::Must,
            // Anyone who sent the body may have cut it.
            _ => Level::Should,
        }),
        Code::WrongType => Some(Level::Must),
        // Which side sent it cannot be known. Of a trace's lines a rule of traces tells.
        Code::MissingDir if !kind.trace => Some(Level::Must),
        Code::NestedData => Some(Level::Should),
        // An item of a batch.
        _ if noise.why.clause == batch::CLAUSE => Some(Level::Must),
        // One revision has batches, and readers take them only where the session shows that it is of that one.
        Code::Batch if at.revision.is_none() => Some(Level::Info),
        Code::Batch if at.facts.by_envelope && at.revision.is_some_and(Revision::has_batches) => {
            Some(Level::Info)
        }
        Code::NotAMessage if !printed && !Json::parse(&noise.text).is_ok_and(resembles_message) => {
            Some(if noise.why.clause == "RPL-NOISE" { Level::Info } else { Level::Must })
        }
        _ => None,
    }
}

#[derive(Default)]
struct RecordingState {
    missing: bool,
    damaged: bool,
    /// An Inspector export has items that are not messages.
    foreign: bool,
}

impl RuleVisitor for RecordingState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        match &at.entry.content {
            Content::Missing(body) => {
                self.missing = true;
                report.fail(&WHOLE, at, body.to_string());
            }
            // What is not an object at all is not a message with a fault, and no program printed it into a list.
            Content::Noise(noise)
                if at.facts.recording.kind.bare_list && noise.why.code == Code::NotAMessage =>
            {
                let resembles = Json::parse(&noise.text).is_ok_and(resembles_message);
                if !resembles {
                    self.foreign = true;
                    report.fail(&SHAPE, at, "the item is not a message");
                }
            }
            Content::Noise(noise) => {
                if let Some(level) = untold(noise, at) {
                    self.damaged = true;
                    let wrong = format!("{} (clause {})", noise.why.message, noise.why.clause);
                    report.fail(&READABLE, at, Violation::new(wrong).only(level));
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>, report: &mut Report) {
        if at.facts.recording.kind.exchanges && !self.missing {
            report.pass(&WHOLE, at);
        }
        let Some(rejection) = rejection else {
            if !self.damaged {
                report.pass(&READABLE, at);
            }
            if at.facts.recording.kind.bare_list && !self.foreign {
                report.pass(&SHAPE, at);
            }
            return;
        };
        let rule = rule_for(at.facts.recording.kind, rejection.code);
        let location = FindingLocation {
            offset: rejection.position.offset,
            line: rejection.position.line,
            pointer: rejection.position.pointer.clone(),
            within: String::new(),
            snippet: rejection.excerpt.as_ref().map(|excerpt| excerpt.text.clone()).unwrap_or_default(),
        };
        let message = format!("{} (clause {}); the rest is not judged", rejection.message, rejection.clause);
        report.fail(rule, at, Violation::new(message).at(location));
    }
}
