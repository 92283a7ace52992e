//! The revision of a session: what the handshake names, and whether the server kept to what it can do.
//!
//! Knows: which revisions were published, and which a server has shown that it speaks. Memory: [`MOST_SHOWN`] names.

use crate::engine::{Found, Moment, Revision, Said, Sort, Span, Wrong, quoted, text_of};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "versions",
    title: "The revision of a session",
    rules: &[&SAME, &KNOWN],
    hears: &[
        Hears::Some(&[Sort::Request, Sort::Result], &["initialize", "server/discover"]),
        Hears::Each(&[Sort::Error]),
    ],
    watch: || Box::new(Watching::default()),
};

static SAME: Rule = Rule {
    id: "life.version.same-if-supported",
    party: Party::Server,
    span: Span::SESSIONS,
    source: "basic/lifecycle#version-negotiation",
    title: "A server that speaks the version it is asked for answers with that version",
    why: "The session falls back to an older revision for no reason, or ends although both sides could talk.",
    fix: "Answer with the requested version wherever it is among those you speak.",
    ..Rule::BLANK
};

static KNOWN: Rule = Rule {
    id: "life.version.known",
    level: Level::Should,
    span: Span::SESSIONS,
    source: "basic/lifecycle#version-negotiation",
    title: "The version in a handshake is a published revision",
    why: "No peer can speak a version that was never published; it falls back or hangs up.",
    fix: "Name the revision by its date, such as 2025-06-18.",
    ..Rule::BLANK
};

/// So many names of versions are remembered.
const MOST_SHOWN: usize = 32;

/// Known to the early SDKs, and never published with the others.
const EARLY: &str = "2024-10-07";

#[derive(Default)]
struct Watching {
    /// The versions that the server has shown that it speaks, over all sessions of the recording.
    shown: Vec<Box<str>>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        let Some(said) = &at.said else { return };
        if said.calls("initialize")
            && said.sort == Sort::Request
            && let Some(version) = said.param("protocolVersion")
        {
            known(version, at, found);
        }
        if let Some(result) = said.result_of("initialize")
            && let Some(version) = result.member("protocolVersion")
        {
            known(version, at, found);
            self.same(version, said, at, found);
        }
        let listed = said.result_of("server/discover").and_then(|result| result.member("supportedVersions"));
        let told = || said.error()?.member("data")?.member("supported");
        for version in listed.or_else(told).into_iter().flat_map(Json::items).filter_map(text_of) {
            self.show(version);
        }
    }
}

impl Watching {
    fn same(&mut self, version: Json<'_>, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(answer) = text_of(version) else { return };
        let wish = said.asked().and_then(|asked| asked.param("protocolVersion")).and_then(text_of);
        if let Some(wish) = wish {
            if wish == answer {
                found.held(&SAME, at);
            } else if self.shown.contains(&wish) {
                let wrong =
                    format!("the client asked for {wish}, which this server speaks, and got {answer}");
                found.broke(&SAME, at, Wrong::of(wrong).inside(version));
            } else {
                found.unsure(
                    &SAME,
                    at,
                    "nothing shows whether the server speaks the version it was asked for",
                );
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

fn known(version: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    let Some(name) = text_of(version) else { return };
    if at.facts.redacted(version) {
        return found.unsure(&KNOWN, at, "the recorder took out the version");
    }
    let newest = Revision::ALL.last().map(|revision| revision.name()).unwrap_or_default();
    if Revision::named(&name).is_some() {
        found.held(&KNOWN, at);
    } else if is_date(&name) && (*name > *newest || *name == *EARLY) {
        found.unsure(&KNOWN, at, format!("the version {name} is not one that these rules know"));
    } else {
        found.broke(&KNOWN, at, Wrong::of(format!("the version is {}", quoted(&name))).inside(version));
    }
}

fn is_date(name: &str) -> bool {
    name.len() == 10
        && name.bytes().enumerate().all(|(index, byte)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}
