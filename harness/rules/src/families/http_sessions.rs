//! Streamable HTTP with sessions: session ids, and the version in the headers.
//!
//! Which session the server assigned where, and when it was over. Memory: up to [`MOST_SESSIONS`] sessions and as many
//! URLs.

mod in_envelopes;
mod rules;
mod versions;

use crate::engine::{
    Family, FindingLocation, HttpExchange, MessageKind, Revision, RuleContext, RuleVisitor, SESSION,
    TAKEN_OUT, Transport, Trigger, VERSION, Violation, quoted,
};
use crate::rule::Level;
use in_envelopes::{EnvelopeSessions, assigned, is_lost, names_of, renamed};
use rules::{AFTER_END, BAD_400, CHARSET, ECHO, ENTROPY, MISSING_400, NEGOTIATED, PRESENT, REINIT};
use std::collections::{BTreeMap, BTreeSet};
use versions::{bad_version, version};

pub(super) const FAMILY: Family = Family {
    name: "http-sessions",
    title: "Streamable HTTP with sessions: session ids and versions",
    rules: &[&CHARSET, &ENTROPY, &ECHO, &MISSING_400, &AFTER_END, &REINIT, &PRESENT, &NEGOTIATED, &BAD_400],
    triggers: &[
        Trigger::HttpExchanges,
        Trigger::Contexts,
        Trigger::Methods(&[MessageKind::Result], &["initialize"]),
    ],
    visitor: || Box::new(HttpSessionsState::default()),
};

/// The most sessions that are followed, and the most URLs.
const MOST_SESSIONS: usize = 1_000;

/// A handshake that was made.
#[derive(Debug, Clone, Default)]
struct Handshake {
    /// The session that the server assigned, if any.
    session: Option<Box<str>>,
    /// The version that it chose, as it spelled it.
    version: Option<Box<str>>,
    /// When it was over.
    since: Option<i64>,
    /// Others at the same URL chose other versions.
    mixed: bool,
}

/// A session that is over.
#[derive(Debug)]
struct Over {
    since: Option<i64>,
    url: Box<str>,
    /// What showed it.
    location: FindingLocation,
    what: &'static str,
    /// The client itself ended it.
    deleted: bool,
    /// The client knows, and has not begun again.
    waiting: bool,
    /// The client has begun again: when the answer to that ended.
    replaced: Option<i64>,
}

#[derive(Default)]
struct HttpSessionsState {
    /// The last handshake at each URL.
    handshakes: BTreeMap<Box<str>, Handshake>,
    /// That of each session.
    sessions: BTreeMap<Box<str>, Handshake>,
    /// What later answers called it.
    renamed: BTreeSet<Box<str>>,
    over: BTreeMap<Box<str>, Over>,
    /// Where an error said that a session is gone, and what the rule says of it unless the session is served again.
    gone: Vec<(Box<str>, FindingLocation, String)>,
    /// Where a session that is over was answered with 401 although no token was sent.
    locked: Vec<FindingLocation>,
    /// Another request was answered so: the server asks for tokens.
    asks: bool,
    /// What an envelope shows, which has no exchanges.
    in_envelope: EnvelopeSessions,
}

impl RuleVisitor for HttpSessionsState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        self.in_envelope.visit(at);
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.in_envelope.finish(at);
        for (_, location, wrong) in self.gone.drain(..) {
            at.fail(&AFTER_END, Violation::new(wrong).only(Level::Should).at(location));
        }
        for location in self.locked.drain(..).filter(|_| !self.asks) {
            let wrong = Violation::new("the answer is 401, and nothing else that was asked needed a token");
            at.fail(&AFTER_END, wrong.only(Level::Should).at(location));
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.transport != Transport::Streamable {
            return;
        }
        let is_over = exchange.request_header(SESSION).is_some_and(|session| self.over.contains_key(session));
        self.asks |= exchange.status() == 401 && !is_over;
        self.begin_again(exchange, at);
        let lives = exchange
            .request_header(SESSION)
            .is_some_and(|session| self.sessions.contains_key(session) && !self.over.contains_key(session));
        bad_version(exchange, lives, at);
        if exchange.calls("initialize") {
            return self.begun(exchange, at);
        }
        self.read(exchange);
        let named = exchange.request_header(SESSION).and_then(|session| self.sessions.get(session));
        let sure = named.is_some();
        // Requests of the era without sessions may go to the same server. One of a session is none of them for its header alone.
        let header = exchange.request_header(VERSION).filter(|_| !sure || exchange.names_version);
        let shown = [at.revision, header.and_then(Revision::named)];
        if shown.into_iter().flatten().any(|revision| !revision.has_handshake()) {
            return;
        }
        let handshake = named.or_else(|| self.handshakes.get(exchange.url())).cloned();
        if handshake.as_ref().is_some_and(|handshake| handshake.since.is_none()) {
            let why = "the recording does not say when the answer to `initialize` came";
            for rule in [&ECHO, &PRESENT, &NEGOTIATED] {
                at.inconclusive(rule, why);
            }
        }
        if let Some(handshake) = handshake.filter(|handshake| exchange.began_after(handshake.since)) {
            let by = handshake.version.as_deref().and_then(Revision::named).or(at.revision);
            let at = &at.by(by);
            if !sure && hides_its_body(exchange) {
                if handshake.session.is_some() {
                    at.inconclusive(&ECHO, "the body is not in the recording, and may be an `initialize`");
                }
                return;
            }
            self.session(exchange, &handshake, at);
            if let Some(session) =
                exchange.response_header(SESSION).filter(|_| self.renamed.len() < MOST_SESSIONS)
            {
                self.renamed.insert(session.into());
            }
            // Without its session nobody knows which of several handshakes a request is of.
            let hidden = !at.would_show(&exchange.raw.request_headers, VERSION);
            if sure || !handshake.mixed && (handshake.session.is_none() || hidden) {
                version(exchange, handshake.version.as_deref(), at);
            }
        }
        self.after_end(exchange, at);
    }
}

impl HttpSessionsState {
    /// An answer to `initialize`.
    fn begun(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if !exchange.succeeded() || exchange.errors > 0 {
            return;
        }
        let session = exchange.response_header(SESSION);
        if let Some(session) = session {
            assigned(&exchange.raw.response_headers, session, at);
        }
        let handshake = Handshake {
            session: session.map(Into::into),
            version: exchange.chosen.clone(),
            since: exchange.raw.ended,
            mixed: false,
        };
        let before = self.handshakes.get(exchange.url());
        let mixed = before.is_some_and(|before| before.mixed || before.version != handshake.version);
        let handshake = Handshake { mixed, ..handshake };
        if self.handshakes.len() < MOST_SESSIONS || self.handshakes.contains_key(exchange.url()) {
            self.handshakes.insert(exchange.url().into(), handshake.clone());
        }
        if self.sessions.len() < MOST_SESSIONS {
            for session in session.into_iter().flat_map(|_| names_of(&exchange.raw.response_headers)) {
                self.over.remove(&*session);
                self.sessions.insert(session, handshake.clone());
            }
        }
    }

    /// A client that names a session has read the answer that assigned it, whether or not the log says when that came.
    fn read(&mut self, exchange: &HttpExchange) {
        let Some(session) = exchange.request_header(SESSION) else { return };
        let last = self.handshakes.get_mut(exchange.url());
        let last = last.filter(|last| last.session.as_deref() == Some(session));
        for handshake in self.sessions.get_mut(session).into_iter().chain(last) {
            handshake.since = handshake.since.or(exchange.started.map(|started| started - 1));
        }
    }

    /// Whether a request names its session.
    fn session(&mut self, exchange: &HttpExchange, handshake: &Handshake, at: &RuleContext<'_>) {
        let Some(assigned) = &handshake.session else { return };
        if self.over.contains_key(assigned) && exchange.request_header(SESSION).is_none() {
            return;
        }
        match exchange.request_header(SESSION) {
            Some(session) if self.sessions.contains_key(session) => at.pass(&ECHO),
            Some(session) if is_lost(session, at) => at.inconclusive(&ECHO, TAKEN_OUT),
            Some(_) if self.sessions.len() >= MOST_SESSIONS => {}
            Some(session) if self.renamed.contains(session) => at.fail(&ECHO, renamed(session)),
            Some(session) => {
                // A made-up id looks like a second session, so that whether sessions alternate is not asked.
                match at.facts.late || at.facts.torn() {
                    true => at.inconclusive(&ECHO, "the session may have been assigned before the recording"),
                    false => at.fail(&ECHO, format!("no server assigned the session {}", quoted(session))),
                }
            }
            None => {
                let method = &exchange.raw.method;
                let headers = &exchange.raw.request_headers;
                let wrong = format!("the {method} names no session, and the server assigned one");
                at.lacks_header(&ECHO, headers, SESSION, wrong);
                match exchange.status() {
                    _ if !at.would_show(headers, SESSION) => {}
                    400 => at.pass(&MISSING_400),
                    401 | 403 | 405 | 429 => {}
                    status @ 402..=499 => at.fail(&MISSING_400, format!("the answer is {status}")),
                    _ => {}
                }
            }
        }
    }

    /// How a session that is over is answered, and whether this exchange shows that one is.
    fn after_end(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let Some(session) = exchange.request_header(SESSION) else { return };
        if let Some(over) = self.over.get_mut(session) {
            if !exchange.began_after(over.since) || *over.url != *exchange.url() {
                return;
            }
            if !over.deleted && exchange.succeeded() {
                // The 404 meant something else.
                self.over.remove(session);
                return;
            }
            match exchange.status() {
                404 => {
                    at.pass(&AFTER_END);
                    over.waiting |= exchange.is("POST");
                    over.since = exchange.raw.ended.max(over.since);
                }
                status @ (200..=299 | 400 | 402 | 406..=428) => {
                    let wrong = Violation::new(format!("the answer is {status}, and the session was over"));
                    at.fail(&AFTER_END, wrong.see(over.location.clone(), over.what));
                }
                401 if exchange.request_header("authorization").is_none()
                    && self.locked.len() < MOST_SESSIONS =>
                {
                    self.locked.push(at.location());
                }
                _ => {}
            }
            return;
        }
        // What a tool calls a session may be another one.
        if exchange.succeeded() && !exchange.session_gone {
            self.gone.retain(|(gone, ..)| **gone != *session);
        }
        if self.sessions.contains_key(session)
            && exchange.session_gone
            && !matches!(exchange.status(), 300..=399 | 401 | 403 | 404 | 407 | 429)
            && self.gone.len() < MOST_SESSIONS
        {
            let status = exchange.status();
            let wrong = format!("the answer is {status}, and its error says that the session is gone");
            self.gone.push((session.into(), at.location(), wrong));
            return;
        }
        // An unknown method is answered with 404 too, by servers of the next revision.
        let here = self.handshakes.contains_key(exchange.url());
        let lost = here
            && (exchange.is("POST") || exchange.is("GET") && exchange.resumes())
            && exchange.status() == 404
            && exchange.error_code != Some(-32601);
        let deleted = exchange.is("DELETE") && exchange.succeeded();
        if (lost || deleted) && self.over.len() < MOST_SESSIONS {
            let what = if deleted { "the DELETE" } else { "the first 404" };
            let since = exchange.raw.ended;
            self.over.insert(
                session.into(),
                Over {
                    since,
                    url: exchange.url().into(),
                    location: at.location(),
                    what,
                    deleted,
                    waiting: lost,
                    replaced: None,
                },
            );
        }
    }

    /// What a client does that was informed that its session is over: the next request that it makes.
    fn begin_again(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.calls.is_empty() {
            return;
        }
        let session = exchange.request_header(SESSION);
        let waiting = |over: &Over| over.waiting && exchange.began_after(over.since);
        if exchange.calls("initialize") && session.is_none() {
            // Which of several clients begins again cannot be known, and need not be.
            for over in self.over.values_mut().filter(|over| waiting(over) && *over.url == *exchange.url()) {
                at.pass(&REINIT);
                over.waiting = false;
                over.replaced = exchange.raw.ended;
            }
            return;
        }
        // One that leaves the id out and is refused goes on all the same.
        let goes_on = exchange.status() >= 400 && !exchange.calls("server/discover");
        let over = match session {
            Some(session) => self.over.get_mut(session),
            None => {
                self.over.values_mut().find(|over| goes_on && waiting(over) && *over.url == *exchange.url())
            }
        };
        let returns = |over: &Over| exchange.began_after(over.replaced);
        let Some(over) = over.filter(|over| waiting(over) || returns(over)) else { return };
        let is_back = returns(over);
        (over.waiting, over.replaced) = (false, None);
        let begins = exchange.calls("initialize");
        let wrong = match begins {
            _ if is_back => "the client goes back to the session that is over, and has another one",
            true => "`initialize` is sent with the id of the session that is over",
            false if session.is_none() => "the client continues without a session, and sends no `initialize`",
            false => "the client continues with the session that is over",
        };
        // The server goes on with the session all the same, or the other one is of another client.
        let level = if is_back || exchange.succeeded() && !begins { Level::Should } else { Level::Must };
        at.fail(&REINIT, Violation::new(wrong).only(level).see(over.location.clone(), over.what));
    }
}

/// Whether nothing shows what was posted, as of a request that a recorder turned away itself.
fn hides_its_body(exchange: &HttpExchange) -> bool {
    exchange.is("POST")
        && exchange.calls.is_empty()
        && exchange.reported == 0
        && exchange.bad_request.is_none()
}
