//! The revision of a session: what the handshake names, and whether the server kept to what it can do.
//!
//! Which revisions were published, and which a server has shown that it speaks. Memory: [`MOST_SHOWN`] names.

use crate::engine::{
    Family, MessageKind, Revision, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation, quoted,
    text_of,
};
use crate::rule::Rule;
use transcript::json::Json;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "versions",
    title: "The revision of a session",
    rules: &[&SAME, &KNOWN],
    triggers: &[
        Trigger::Methods(&[MessageKind::Request, MessageKind::Result], &["initialize", "server/discover"]),
        Trigger::Kinds(&[MessageKind::Error]),
    ],
    visitor: || Box::new(VersionsState::default()),
};

static SAME: Rule = Rule {
    id: "life.version.same-if-supported",
    span: Span::SESSIONS,
    source: "basic/lifecycle#version-negotiation",
    title: "A server that speaks the version it is asked for answers with that version",
    why: "The session falls back to an older revision for no reason, or ends although both sides could talk.",
    fix: "Answer with the requested version wherever it is among those you speak.",
    ..Rule::BLANK.server()
};

static KNOWN: Rule = Rule {
    id: "life.version.known",
    span: Span::SESSIONS,
    source: "basic/lifecycle#version-negotiation",
    title: "The version in a handshake is a published revision",
    why: "No peer can speak a version that was never published; it falls back or hangs up.",
    fix: "Name the revision by its date, such as 2025-06-18.",
    ..Rule::BLANK.should()
};

/// The most names of versions that are remembered.
const MOST_SHOWN: usize = 32;

/// Known to the early SDKs, and never published with the others.
const EARLY: &str = "2024-10-07";

#[derive(Default)]
struct VersionsState {
    /// The versions that the server has shown that it speaks, over all sessions of the recording.
    shown: Vec<Box<str>>,
}

impl RuleVisitor for VersionsState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        // A server that repeats what it was sent names no version.
        if message.calls("initialize")
            && message.kind == MessageKind::Request
            && at.side != Some(Side::Server)
            && let Some(version) = message.param("protocolVersion")
        {
            known(version, at);
        }
        if let Some(result) = message.result_of("initialize")
            && let Some(version) = result.member("protocolVersion")
        {
            match text_of(version).as_deref().and_then(Revision::named) {
                Some(revision) if !revision.has_handshake() => {
                    let wrong = format!("a handshake agrees to {}, which has no handshake", revision.name());
                    at.in_revision(None).fail(&KNOWN, Violation::new(wrong).inside(version));
                }
                _ => known(version, at),
            }
            self.same(version, message, at);
        }
        let listed =
            message.result_of("server/discover").and_then(|result| result.member("supportedVersions"));
        let reported = || message.error()?.member("data")?.member("supported");
        for version in listed.or_else(reported).into_iter().flat_map(Json::items).filter_map(text_of) {
            self.show(version);
        }
    }
}

impl VersionsState {
    fn same(&mut self, version: Json<'_>, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(answer) = text_of(version) else { return };
        let server_request =
            message.request().and_then(|request| request.param("protocolVersion")).and_then(text_of);
        if let Some(server_request) = server_request {
            // A revision without a handshake cannot be chosen in one.
            let cannot_be = Revision::named(&server_request).is_some_and(|asked| !asked.has_handshake());
            if server_request == answer || cannot_be {
                at.pass(&SAME);
            } else if self.shown.contains(&server_request) {
                let wrong = format!(
                    "the client asked for {server_request}, which this server speaks, and got {answer}"
                );
                at.fail(&SAME, Violation::new(wrong).inside(version));
            } else {
                let why = "nothing shows whether the server speaks the version it was asked for";
                at.inconclusive(&SAME, why);
            }
        }
        self.show(answer);
    }

    fn show(&mut self, version: Box<str>) {
        if self.shown.len() < MOST_SHOWN && !self.shown.contains(&version) {
            self.shown.push(version);
        }
    }
}

fn known(version: Json<'_>, at: &RuleContext<'_>) {
    let Some(name) = text_of(version) else { return };
    if at.redacted(version) {
        return at.inconclusive(&KNOWN, "the recorder took out the version");
    }
    let newest = Revision::ALL.last().map(|revision| revision.name()).unwrap_or_default();
    if Revision::named(&name).is_some() {
        at.pass(&KNOWN);
    } else if is_date(&name) && (*name > *newest || *name == *EARLY) {
        at.inconclusive(&KNOWN, format!("the version {name} is not one that these rules know"));
    } else {
        at.fail(&KNOWN, Violation::new(format!("the version is {}", quoted(&name))).inside(version));
    }
}

fn is_date(name: &str) -> bool {
    name.len() == 10
        && name.bytes().enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
