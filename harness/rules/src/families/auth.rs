//! Authorization: refusals and their challenges, and tokens on requests.
//!
//! Challenges as HTTP spells them, in a HAR and in the context of an envelope's entry. Refusals come before the
//! revision is known, so that they are judged at the end. Memory: up to [`MOST`] refusals, sessions and operations.

mod rules;

use super::auth_flow::{Documents, named_metadata};
use crate::engine::{
    Challenge, Family, FindingLocation, HttpExchange, Revision, RuleContext, RuleVisitor, TAKEN_OUT,
    Transport, Trigger, Violation, parameter, query, quoted,
};
use crate::rule::Level;
use rules::{
    BEARER, CHALLENGE, EVERY_REQUEST, INSUFFICIENT, METADATA, OFFLINE, QUERY_TOKEN, REQUIRED, RETRY_LIMIT,
    SCOPE,
};
use std::collections::BTreeMap;
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "auth",
    title: "Authorization",
    rules: &[
        &REQUIRED,
        &CHALLENGE,
        &METADATA,
        &SCOPE,
        &INSUFFICIENT,
        &OFFLINE,
        &EVERY_REQUEST,
        &BEARER,
        &QUERY_TOKEN,
        &RETRY_LIMIT,
    ],
    triggers: &[Trigger::HttpExchanges, Trigger::Contexts],
    visitor: || Box::new(AuthState::default()),
};

/// The most of each that are remembered.
const MOST: usize = 1_000;

/// More refusals in a row than "a few".
const FEW: u64 = 5;

/// A refusal of an MCP request.
#[derive(Debug)]
struct Refusal {
    status: u16,
    challenges: Vec<Challenge>,
    /// Where they say that the metadata is.
    named: Option<Box<str>>,
    /// The request came with a token; none in an envelope, which does not tell.
    with_token: Option<bool>,
    location: FindingLocation,
}

#[derive(Default)]
struct AuthState {
    refusals: Vec<Refusal>,
    documents: Documents,
    /// Sessions, and URLs of servers without sessions, at which a token was taken, and when it first was.
    authorised: BTreeMap<Box<str>, Option<i64>>,
    /// Refusals in a row, by URL and method, and when the last of them came.
    in_a_row: BTreeMap<Box<str>, (u64, Option<i64>)>,
    /// Where a row grew too long, or ended in time.
    loops: Vec<(bool, FindingLocation)>,
}

impl RuleVisitor for AuthState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if at.exchange.is_none()
            && let Some(context) = at.entry.context
        {
            let challenges = Challenge::all(&context.headers);
            self.refused(context.status.unwrap_or_default(), challenges, None, None, at);
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        self.documents.see(exchange, at);
        if exchange.transport == Transport::Other {
            return;
        }
        self.token(exchange, at);
        let challenges = Challenge::all(&exchange.raw.response_headers);
        let body = exchange.raw.document.as_deref().and_then(|body| Json::parse(body).ok());
        let error = body.and_then(|body| body.member("error")?.as_text());
        let says = |code: &str| challenges.is_empty() && error.is_some_and(|error| error.is(code));
        if says("insufficient_scope") {
            at.fail(&INSUFFICIENT, "`insufficient_scope` is in the body, and there is no `WWW-Authenticate`");
        }
        let status = exchange.status();
        if says("invalid_token") && status != 401 {
            at.as_asked()
                .fail(&REQUIRED, format!("the answer is {status}, and its body says `invalid_token`"));
        } else if exchange.unauthorized
            && matches!(status, 200..=299 | 400 | 500)
            && asks_the_server(exchange)
        {
            let wrong = format!("the answer is {status}, and its error says that a valid token is missing");
            at.as_asked().fail(&REQUIRED, Violation::new(wrong).only(Level::Should));
        }
        let with_token = exchange.request_header("authorization").is_some();
        self.refused(status, challenges, named_metadata(exchange), Some(with_token), at);
        self.count(exchange, at);
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        let asked = at.as_asked();
        let at = if self.documents.are_of_2025_03_26() { at } else { &asked };
        for refusal in &self.refusals {
            self.judge(refusal, at);
        }
        for (metadata, location) in self.documents.of_resources() {
            let scopes = metadata.member("scopes_supported").into_iter().flat_map(Json::items);
            let offline = scopes.filter_map(Json::as_text).any(|scope| scope.is("offline_access"));
            let wrong = "`scopes_supported` lists \"offline_access\"";
            at.check(&OFFLINE, !offline, || Violation::new(wrong).at(location.clone()));
        }
        for (kept, location) in &self.loops {
            at.check(&RETRY_LIMIT, *kept, || {
                let wrong = format!("more than {FEW} refusals in a row for the same method");
                Violation::new(wrong).at(location.clone())
            });
        }
    }
}

impl AuthState {
    fn refused(
        &mut self,
        status: u16,
        challenges: Vec<Challenge>,
        named: Option<Box<str>>,
        with_token: Option<bool>,
        at: &RuleContext<'_>,
    ) {
        let refuses = status == 401 || (400..500).contains(&status) && !challenges.is_empty();
        if refuses && self.refusals.len() < MOST {
            self.refusals.push(Refusal { status, challenges, named, with_token, location: at.location() });
        }
    }

    /// The token of a request.
    fn token(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let bearer =
            |value: &str| value.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("bearer "));
        if parameter(query(&exchange.raw.url), "access_token").is_some() {
            // The URL itself is not shown again.
            let location = FindingLocation { snippet: exchange.url().to_owned(), ..at.location() };
            at.fail(&QUERY_TOKEN, Violation::new("the URL has a parameter `access_token`").at(location));
        } else if exchange.request_header("authorization").is_some_and(bearer) {
            at.pass(&QUERY_TOKEN);
        }
        let session = exchange.session();
        let client = exchange.client.as_deref().map(|client| format!("{client} {}", exchange.url()));
        let whose = session.or(client.as_deref()).unwrap_or(exchange.url());
        match exchange.request_header("authorization") {
            Some(value) => {
                let asked = Challenge::all(&exchange.raw.response_headers);
                let mut asked = asked.iter().chain(self.refusals.iter().flat_map(|one| &one.challenges));
                let level = if asked.any(Challenge::is_bearer) { Level::Must } else { Level::Should };
                scheme(value, bearer(value), level, at);
                if bearer(value) {
                    at.pass(&EVERY_REQUEST);
                }
                if exchange.succeeded() && self.authorised.len() < MOST {
                    self.authorised.entry(whose.into()).or_insert(exchange.raw.ended);
                }
            }
            None if self.authorised.get(whose).is_some_and(|since| exchange.began_after(*since)) => {
                // Without a session it may be another client that is here for the first time.
                let begins = exchange.calls("initialize")
                    || exchange.calls("server/discover")
                    || exchange.calls.is_empty();
                if session.is_some() || !begins && exchange.status() != 401 {
                    let method = &exchange.raw.method;
                    at.fail(&EVERY_REQUEST, format!("the {method} has no `Authorization` header"));
                }
            }
            None => {}
        }
    }

    /// Refusals in a row.
    fn count(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let Some(call) = exchange.calls.first() else { return };
        let key: Box<str> = format!("{} {}", call.method, exchange.url()).into();
        let full = self.loops.len() >= MOST || self.in_a_row.len() >= MOST;
        match exchange.status() {
            401 | 403 if !full => {
                let (row, last) = self.in_a_row.entry(key).or_default();
                // A request that was sent before the client knew does not count as another attempt.
                if *row > 0 && !exchange.began_after(*last) {
                    return;
                }
                (*row, *last) = (*row + 1, exchange.raw.ended);
                if *row == FEW + 1 {
                    self.loops.push((false, at.location()));
                }
            }
            200..=299 => {
                let (row, _) = self.in_a_row.remove(&key).unwrap_or_default();
                if (1..=FEW).contains(&row) && !full {
                    self.loops.push((true, at.location()));
                }
            }
            _ => {}
        }
    }

    fn judge(&self, refusal: &Refusal, at: &RuleContext<'_>) {
        let wrong = |what: String| Violation::new(what).at(refusal.location.clone());
        let bearer: Vec<&Challenge> = refusal.challenges.iter().filter(|one| one.is_bearer()).collect();
        let first = |name: &str| bearer.iter().find_map(|challenge| challenge.param(name));
        let error = first("error");
        let status = refusal.status;
        if let Some(scope) = first("scope") {
            let offline = scope.split(' ').any(|word| word == "offline_access");
            at.check(&OFFLINE, !offline, || wrong(format!("the challenge asks for {}", quoted(scope))));
        }
        if status == 403
            && (error == Some("insufficient_scope") || refusal.with_token == Some(true) && error.is_none())
            || error == Some("insufficient_scope")
        {
            if bearer.is_empty() {
                return;
            }
            let missing =
                ["error", "scope", "resource_metadata"].into_iter().find(|name| first(name).is_none());
            match missing {
                _ if status != 403 => at.fail(&INSUFFICIENT, wrong(format!("the answer is {status}"))),
                Some(name) => at.fail(&INSUFFICIENT, wrong(format!("the challenge has no `{name}`"))),
                None => at.pass(&INSUFFICIENT),
            }
            return;
        }
        if status != 401 {
            let no_token = refusal.with_token == Some(false) && status == 403;
            if !bearer.is_empty() && (error == Some("invalid_token") || no_token) {
                let why = if no_token { "no token was sent" } else { "the challenge says `invalid_token`" };
                at.fail(&REQUIRED, wrong(format!("the answer is {status}, and {why}")));
            }
            return;
        }
        at.pass(&REQUIRED);
        // A header is a must in one revision, and one of two ways in those after it.
        let shown = at.facts.negotiated.revision;
        let only_way = shown == Some(Revision::V2025_06_18);
        let missing = refusal.named.as_deref().filter(|named| self.documents.are_missing_at(named));
        let (rule, lacks) = match refusal.challenges.is_empty() {
            true => (&CHALLENGE, Some("the 401 has no `WWW-Authenticate` header".to_owned())),
            false => {
                at.pass(&CHALLENGE);
                let named = refusal.challenges.iter().any(|one| one.param("resource_metadata").is_some());
                let unnamed = (!named).then(|| "the challenge names no `resource_metadata`".to_owned());
                let nothing = |named| format!("the challenge names {named}, which holds no metadata");
                (&METADATA, unnamed.or(missing.map(nothing)))
            }
        };
        if refusal.challenges.is_empty() && refusal.with_token.is_none() {
            let why = "an envelope has the headers that its recorder chose to keep; a HAR would show it";
            return at.inconclusive(rule, why);
        }
        match (lacks, self.documents.well_known()) {
            (None, _) => at.pass(rule),
            (Some(what), _) if only_way => at.fail(rule, wrong(what)),
            (Some(_), Some(true)) => at.pass(rule),
            (Some(what), Some(false)) => {
                at.fail(rule, wrong(format!("{what}, and the well-known addresses hold nothing")));
            }
            (Some(what), None) if missing.is_some() => at.fail(rule, wrong(what)),
            (Some(_), None) => {
                let why = "the metadata may be at its well-known address, where nobody looked";
                at.inconclusive(rule, why);
            }
        }
        if !bearer.is_empty() {
            let at = at.in_revision(shown);
            at.check(&SCOPE, first("scope").is_some(), || wrong("the challenge names no `scope`".to_owned()));
        }
    }
}

/// Whether an error is the server's own: a tool, a prompt or a resource may tell of another server.
fn asks_the_server(exchange: &HttpExchange) -> bool {
    const OWN: [&str; 3] = ["initialize", "server/discover", "ping"];
    let call = exchange.calls.first();
    call.is_some_and(|call| OWN.contains(&&*call.method) || call.method.ends_with("/list"))
}

/// What an `Authorization` header begins with; what it holds is not shown again.
fn scheme(value: &str, bearer: bool, level: Level, at: &RuleContext<'_>) {
    let (scheme, token) = value.trim().split_once(' ').unwrap_or_default();
    let hidden = at.facts.hides(value)
        || value.to_ascii_lowercase().contains("redact")
        || !value.contains(|char: char| char.is_ascii_alphanumeric());
    match bearer && !token.trim().is_empty() {
        true => at.pass(&BEARER),
        false if hidden => at.inconclusive(&BEARER, TAKEN_OUT),
        false => {
            let wrong = match scheme {
                "" => "the header does not name a scheme before a token".to_owned(),
                _ => format!("the scheme is {}", quoted(scheme)),
            };
            at.fail(&BEARER, Violation::new(wrong).only(level));
        }
    }
}
