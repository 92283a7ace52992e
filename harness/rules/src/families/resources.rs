//! Resources: what is read, what is missing, and what is told of changes.
//!
//! Memory: the URIs that were listed, up to [`MOST_LISTED`], and those that are subscribed to, up to
//! [`MOST_SUBSCRIBED`]; past either, nothing is said that would need more.

use super::tool_output::whole_result;
use crate::engine::{
    Contents, Found, LONGEST_NAME, Moment, Revision, Said, Sort, Span, Uri, Wrong, contents, embedded,
    quoted, shown, string_of, uri,
};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "resources",
    title: "Resources",
    rules: &[&URI, &ONE_OF, &CODE, &NONEMPTY, &UPDATED],
    hears: &[
        Hears::Some(&[Sort::Request], &["resources/subscribe"]),
        Hears::Some(&[Sort::Notification], &["notifications/resources/updated"]),
        Hears::Some(&[Sort::Result], &["resources/unsubscribe", "resources/list", "tools/call"]),
        Hears::Some(&[Sort::Result, Sort::Error], &["resources/read"]),
    ],
    watch: || Box::new(Watching::default()),
};

const SERVER: Rule = Rule { party: Party::Server, ..Rule::BLANK };

static URI: Rule = Rule {
    id: "resources.uri",
    span: Span::from(Revision::V2025_06_18),
    source: "server/resources#custom-uri-schemes",
    title: "The URI of a resource is one by RFC 3986",
    why: "Clients parse URIs to open, compare and show them; a bare path or a blank ends that.",
    fix: "Give each URI a scheme, and escape what is none of its characters.",
    ..SERVER
};

static ONE_OF: Rule = Rule {
    id: "resources.content.one-of",
    source: "schema, TextResourceContents and BlobResourceContents",
    title: "What a resource holds is either `text` or `blob`",
    why: "Without either there is nothing to read, and of both a client has to guess which is meant.",
    fix: "Send `text` as a string, or `blob` as a string of base64.",
    ..SERVER
};

static CODE: Rule = Rule {
    id: "resources.not-found.code",
    level: Level::Should,
    raised: Some((Revision::V2026_07_28, Level::Must)),
    source: "server/resources#error-handling",
    title: "A resource that is not there is answered with the code for it",
    why: "Clients tell a missing resource from a broken server by the code alone.",
    fix: "Answer with -32002, from 2026-07-28 on with -32602.",
    ..SERVER
};

static NONEMPTY: Rule = Rule {
    id: "resources.not-found.nonempty",
    span: Span::MODERN,
    source: "server/resources#error-handling",
    title: "A resource that is not there is not answered with empty `contents`",
    why: "It may mean a resource that holds nothing as well as one that is not there.",
    fix: "Answer with the error -32602.",
    ..SERVER
};

static UPDATED: Rule = Rule {
    id: "resources.updated.subscribed",
    level: Level::Should,
    span: Span::SESSIONS,
    source: "server/resources#subscriptions",
    title: "Updates are told of resources that the client has subscribed to",
    why: "A client that did not ask has nothing to do with it, and some fail on it.",
    fix: "Keep subscriptions by session, and drop them with `resources/unsubscribe`.",
    ..SERVER
};

const MOST_LISTED: usize = 20_000;
const MOST_SUBSCRIBED: usize = 1_000;

#[derive(Default)]
struct Watching {
    session: u64,
    listed: BTreeSet<String>,
    subscribed: BTreeSet<String>,
    /// There were more subscriptions than are kept.
    full: bool,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if self.session != at.facts.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(said) = &at.said else { return };
        self.subscriptions(said, at, found);
        if let Some(result) = whole_result(said, "resources/list") {
            for resource in result.member("resources").into_iter().flat_map(Json::items) {
                address(resource, at, found);
                if let Some(uri) = resource.member("uri").and_then(string_of)
                    && self.listed.len() < MOST_LISTED
                    && uri.len() <= LONGEST_NAME
                {
                    self.listed.insert(uri);
                }
            }
        }
        if let Some(result) = whole_result(said, "resources/read") {
            self.read(result, said, at, found);
        }
        if let Some(result) = whole_result(said, "tools/call") {
            for block in result.member("content").into_iter().flat_map(Json::items) {
                let kind = block.member("type").and_then(Json::as_text);
                let link = kind.is_some_and(|kind| kind.is("resource_link"));
                if link {
                    address(block, at, found);
                } else if let Some(resource) = embedded(block) {
                    address(resource, at, found);
                    one_of(resource, at, found);
                }
            }
        }
        if said.asked().is_some_and(|asked| asked.method() == "resources/read") {
            missing(said, at, found);
        }
    }
}

impl Watching {
    fn subscriptions(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        if said.sort == Sort::Request && said.calls("resources/subscribe") {
            // The first update may overtake the answer.
            if let Some(uri) = said.param("uri").and_then(string_of) {
                self.full |= self.subscribed.len() >= MOST_SUBSCRIBED || uri.len() > LONGEST_NAME;
                if !self.full {
                    self.subscribed.insert(uri);
                }
            }
        }
        if let (Some(_), Some(asked)) = (said.result_of("resources/unsubscribe"), said.asked())
            && let Some(uri) = asked.param("uri").and_then(string_of)
        {
            self.subscribed.remove(&uri);
        }
        if !said.calls("notifications/resources/updated") {
            return;
        }
        let Some(value) = said.param("uri") else { return };
        let Some(uri) = string_of(value) else { return };
        // What changed may be a part of what was subscribed to.
        if self.subscribed.iter().any(|known| uri.starts_with(known.trim_end_matches('/'))) {
            found.held(&UPDATED, at);
        } else if self.full {
            found.unsure(&UPDATED, at, "there are more subscriptions than are followed");
        } else {
            let wrong = format!("nobody has subscribed to {}", quoted(&uri));
            found.broke_if_whole(&UPDATED, at, Wrong::of(wrong).inside(value));
        }
    }

    fn read(&self, result: Json<'_>, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(contents) = result.member("contents") else { return };
        for resource in contents.items() {
            address(resource, at, found);
            one_of(resource, at, found);
        }
        let asked = said.asked().and_then(|asked| asked.param("uri")).and_then(string_of);
        if contents.kind() != JsonKind::Array || contents.items().next().is_some() {
            return;
        }
        match asked {
            Some(uri) if self.listed.contains(&uri) => found.held(&NONEMPTY, at),
            _ => {
                let wrong = Wrong::of("`contents` is empty, and nothing shows that the resource is there");
                found.broke(&NONEMPTY, at, wrong.inside(contents).only(Level::Should));
            }
        }
    }
}

fn address(resource: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    let Some(value) = resource.member("uri") else { return };
    let Some(text) = string_of(value) else { return };
    let wrong = |why: &str| Wrong::of(format!("{} is no URI: {why}", shown(value))).inside(value);
    match uri(&text) {
        Uri::Good => found.held(&URI, at),
        Uri::Loose(why) => found.broke(&URI, at, wrong(why).only(Level::Should)),
        Uri::Bad(why) => found.broke(&URI, at, wrong(why)),
    }
}

fn one_of(resource: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    match contents(resource) {
        Contents::Text | Contents::Blob => found.held(&ONE_OF, at),
        Contents::Both => {
            let wrong = Wrong::of("the resource has both `text` and `blob`").inside(resource);
            found.broke(&ONE_OF, at, wrong.only(Level::Should));
        }
        Contents::Neither => {
            let wrong = Wrong::of("the resource has neither `text` nor `blob` as a string");
            found.broke(&ONE_OF, at, wrong.inside(resource));
        }
    }
}

/// An error of a reading that is about the resource, as far as its code or its words tell.
fn missing(said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
    let (Some(error), Some(code)) = (said.error(), said.error_code()) else { return };
    let words = error.member("message").and_then(string_of).unwrap_or_default().to_lowercase();
    let missing = ["not found", "no such", "unknown resource", "does not exist", "doesn't exist"];
    let missing = missing.iter().any(|part| words.contains(part)) && !words.contains("method");
    if missing {
        found.held(&NONEMPTY, at);
    }
    let modern = at.revision == Some(Revision::V2026_07_28);
    let right = if modern { -32602 } else { -32002 };
    if code == right && (missing || !modern) {
        return found.held(&CODE, at);
    }
    // A server without resources knows no such method, which is another matter.
    if code == -32601 || !(missing || modern && code == -32002) {
        return;
    }
    let wrong = Wrong::of(format!("the code is {code} where a missing resource has {right}")).inside(error);
    found.broke(&CODE, at, if code == -32002 { wrong } else { wrong.only(Level::Should) });
}
