//! The addresses that elicitations send users to.
//!
//! Memory: the ids of elicitations with a fingerprint of each address, up to [`MOST_IDS`].

use super::elicitation::secrecy;
use crate::engine::{
    Family, LONGEST_NAME, MessageKind, Revision, RuleContext, RuleVisitor, Span, Trigger, Violation,
    per_session, percent_decoded, quoted, secret, server_requests, string_of,
};
use crate::rule::Rule;
use foldhash::fast::FixedState;
use std::collections::BTreeMap;
use std::hash::BuildHasher;
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "elicitation-urls",
    title: "Addresses of elicitations",
    rules: &[&SECRETS, &UNIQUE],
    triggers: &[
        Trigger::InputRequests,
        Trigger::Kinds(&[MessageKind::Error]),
        Trigger::Methods(&[MessageKind::Request], &["elicitation/create"]),
    ],
    visitor: per_session::<ElicitationUrlsState>,
};

static SECRETS: Rule = Rule {
    id: "elicit.url-secrets",
    span: Span::from(Revision::V2025_11_25),
    source: "client/elicitation#safe-url-handling",
    title: "The address of an elicitation has no credentials or personal data, as its names show",
    why: "Clients show and log the address, and anyone who sees it can get in or learn who the user is.",
    fix: "Send an address with a random state, and let the page ask the user to log in.",
    ..Rule::BLANK.server()
};

static UNIQUE: Rule = Rule {
    id: "elicit.id-unique",
    span: Span::only(Revision::V2025_11_25),
    source: "schema, ElicitRequestURLParams",
    title: "One `elicitationId` does not name two elicitations with different URLs",
    why: "When it is completed, the client takes the wrong one for done.",
    fix: "Make a new random id for each elicitation.",
    ..Rule::BLANK.should().server()
};

/// The most ids that are remembered.
const MOST_IDS: usize = 10_000;

#[derive(Default)]
struct ElicitationUrlsState {
    ids: BTreeMap<String, u64>,
}

impl RuleVisitor for ElicitationUrlsState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        for asked in server_requests(at).iter().filter(|asked| asked.method == "elicitation/create") {
            self.elicitation(asked.params, at);
        }
        let data = at.message.and_then(|message| message.error()?.member("data")?.member("elicitations"));
        for elicitation in data.into_iter().flat_map(Json::items) {
            self.elicitation(Some(elicitation), at);
        }
    }
}

impl ElicitationUrlsState {
    fn elicitation(&mut self, params: Option<Json<'_>>, at: &RuleContext<'_>) {
        let Some(value) = params.and_then(|params| params.member("url")) else { return };
        let Some(url) = string_of(value) else { return };
        let id = params.and_then(|params| string_of(params.member("elicitationId")?));
        if at.redacted(value) {
            for rule in [&SECRETS, &UNIQUE] {
                at.inconclusive(rule, "the recorder took out parts of the address");
            }
            return;
        }
        at.without(&SECRETS, gives_away(&url), |found| {
            Violation::new(format!("the address has {found}")).inside(value)
        });
        let Some(id) = id.filter(|id| id.len() <= LONGEST_NAME) else { return };
        let print = FixedState::default().hash_one(&url);
        if self.ids.len() >= MOST_IDS && !self.ids.contains_key(&id) {
            return;
        }
        let known = *self.ids.entry(id.clone()).or_insert(print);
        at.check(&UNIQUE, known == print, || {
            let wrong = format!("the id {} was that of an elicitation with another address", quoted(&id));
            Violation::new(wrong).inside(value)
        });
    }
}

/// What an address tells that it should not.
fn gives_away(url: &str) -> Option<String> {
    let behind = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = behind.split(['/', '?', '#']).next().unwrap_or_default();
    if authority
        .rsplit_once('@')
        .is_some_and(|(user, _)| user.split_once(':').is_some_and(|(_, key)| !key.is_empty()))
    {
        return Some("a password before its host".to_owned());
    }
    let parameters = behind.split(['?', '#', '&']).skip(1).filter_map(|part| part.split_once('='));
    let mut parameters = parameters.filter(|(_, value)| !value.is_empty());
    let named = parameters.find(|(name, value)| {
        let is_mail = name.contains("email") || *name == "login_hint";
        secrecy(name).is_some() || *name == "id_token" || is_mail && percent_decoded(value).contains('@')
    });
    let named = named.map(|(name, _)| format!("the parameter {}", quoted(name)));
    named.or_else(|| secret(url).map(str::to_owned))
}
