//! Streamable HTTP with sessions: what GET and DELETE are for, and what is not theirs.
//!
//! Memory: the paths of up to [`MOST_SESSIONS`] sessions, as many GETs whose 404 may yet turn out to be wrong, and as many
//! that came before any message was posted to their address.

use super::http::{ERA, OURS, accept};
use crate::engine::{
    Family, FindingLocation, HttpExchange, Revision, RuleContext, RuleVisitor, SESSION, Transport, Trigger,
    VERSION, Violation, host, quoted,
};
use crate::rule::{Level, Rule};
use std::collections::BTreeMap;

pub(super) const FAMILY: Family = Family {
    name: "http-get",
    title: "Streamable HTTP with sessions: GET and DELETE",
    rules: &[&SINGLE, &NO_BODY, &ACCEPT_GET, &GET_ANSWER, &DELETE],
    triggers: &[Trigger::HttpExchanges],
    visitor: || Box::new(HttpGetState::default()),
};

static SINGLE: Rule = Rule {
    id: "http.endpoint.single",
    span: ERA,
    source: "basic/transports#streamable-http",
    title: "One path serves the POSTs and the GETs of a session",
    why: "Clients are given one address and use it for everything; what is served elsewhere they never find.",
    fix: "Serve POST, GET and DELETE at one path.",
    ..OURS
};

static NO_BODY: Rule = Rule {
    id: "http.get.no-body",
    source: "basic/transports#sending-messages-to-the-server; RFC 9110, sections 9.3.1 and 9.3.5",
    title: "A GET or DELETE has no body",
    why: "Servers look for messages only in POSTs, and proxies drop or refuse the body of a GET.",
    fix: "Send each message by POST, and a GET or DELETE without a body.",
    ..OURS.should().client()
};

static ACCEPT_GET: Rule = Rule {
    id: "http.accept.get",
    span: ERA,
    source: "basic/transports#listening-for-messages-from-the-server",
    title: "The `Accept` header of a GET lists text/event-stream",
    why: "Servers distinguish a client that listens from a browser that looks by this header, and refuse the others.",
    fix: "Send `Accept: text/event-stream` with every GET.",
    softened: Some(
        "a warning where a wildcard covers the type, and on a GET for JSON before any message: it may be another program's",
    ),
    ..OURS.client()
};

static GET_ANSWER: Rule = Rule {
    id: "http.get.405-or-sse",
    span: ERA,
    source: "basic/transports#listening-for-messages-from-the-server",
    title: "A GET is answered with a stream or with 405",
    why: "Clients take 405 for \"no stream here\" and go on; any other status is a failure to them, and a body of \
          another type cannot be read.",
    fix: "Answer 405 Method Not Allowed where there is no stream to offer.",
    contested: Some(
        "The text lets a client open several streams; an SDK keeps to one and answers 409 to the second, which is reported and \
         not held against it.",
    ),
    softened: Some("a note on 409, which may be the answer to a second stream"),
    ..OURS
};

static DELETE: Rule = Rule {
    id: "http.session.delete-answer",
    span: ERA,
    source: "basic/transports#session-management",
    title: "A DELETE is answered with a status, without a stream or a message",
    why: "A client that ends its session reads no more; what comes is lost, and a 500 leaves it in doubt.",
    fix: "Answer 200 or 204 without a body, or 405 where clients may not end sessions.",
    ..OURS.should()
};

/// The most sessions that are followed.
const MOST_SESSIONS: usize = 1_000;

#[derive(Default)]
struct HttpGetState {
    /// Where each session was served first, by its id.
    paths: BTreeMap<Box<str>, Box<str>>,
    /// GETs that were answered with 404 although they named a session, which may have ended: the session and where.
    gone: Vec<(Box<str>, FindingLocation)>,
    /// GETs for JSON at addresses that no message was posted to before: the URL and where.
    early: Vec<(Box<str>, FindingLocation)>,
}

impl RuleVisitor for HttpGetState {
    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.transport == Transport::Other && exchange.is("GET") && asks_for_json(exchange) {
            if self.early.len() < MOST_SESSIONS {
                self.early.push((exchange.url().into(), at.location()));
            }
            return;
        }
        if exchange.transport != Transport::Streamable {
            return;
        }
        self.path(exchange, at);
        if exchange.is("POST") && exchange.speaks() {
            self.early(exchange, at);
        }
        if let Some(size) = exchange.raw.request_size.filter(|_| exchange.is("GET") || exchange.is("DELETE"))
        {
            let method = &exchange.raw.method;
            at.check(&NO_BODY, size == 0, || format!("the body of the {method} has {size} bytes"));
        }
        if exchange.is("GET") {
            self.get(exchange, at);
        }
        if exchange.is("DELETE") {
            deleted(exchange, at);
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        if !self.gone.is_empty() {
            let why = "a GET got 404, and nothing later tells whether its session was over";
            at.inconclusive(&GET_ANSWER, why);
        }
    }
}

impl HttpGetState {
    /// One session, one path.
    fn path(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let Some(session) = exchange.session().filter(|_| exchange.succeeded()) else { return };
        // What was served here was not a mistake of the client's: a GET that failed is that of `http.get.405-or-sse`.
        self.gone.retain(|(gone, location)| {
            let lives = &**gone == session && exchange.is("POST");
            if lives {
                let wrong =
                    Violation::new("the GET got 404, and its session went on to work").at(location.clone());
                at.fail(&GET_ANSWER, wrong);
            }
            !lives
        });
        // At another host it may be what a proxy passes on.
        match self.paths.get(session) {
            Some(path) if host(path) != host(exchange.url()) => {}
            Some(path) => {
                at.check(&SINGLE, **path == *exchange.url(), || {
                    format!("the session is served at {} too", quoted(path))
                });
            }
            None if self.paths.len() < MOST_SESSIONS => {
                self.paths.insert(session.into(), exchange.url().into());
            }
            None => {}
        }
    }

    /// A message is posted where a GET asked for JSON before.
    fn early(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        self.early.retain(|(url, location)| {
            let here = **url == *exchange.url();
            if here {
                let wrong =
                    "a GET asks for JSON where messages are posted later, and does not accept a stream";
                at.fail(&ACCEPT_GET, Violation::new(wrong).at(location.clone()).only(Level::Should));
            }
            !here
        });
    }

    fn get(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        accept(&ACCEPT_GET, &["text/event-stream"], &exchange.raw.request_headers, at);
        let listens = exchange.listens();
        match exchange.status() {
            405 => at.pass(&GET_ANSWER),
            200..=299 if exchange.streams() => at.pass(&GET_ANSWER),
            200..=299 => {
                let media = &exchange.raw.media_type;
                let wrong = format!("the answer is {} of the type {}", exchange.status(), quoted(media));
                at.fail(&GET_ANSWER, wrong);
            }
            // What an unknown or lost place to resume from is answered with, nobody says.
            400 | 404 if exchange.resumes() => {}
            404 => match exchange.request_header(SESSION) {
                Some(session) if self.gone.len() < MOST_SESSIONS => {
                    self.gone.push((session.into(), at.location()))
                }
                Some(_) => {}
                None if self.paths.is_empty() => at.fail(&GET_ANSWER, "the answer is 404"),
                None => {
                    let headers = &exchange.raw.request_headers;
                    at.lacks_header(&GET_ANSWER, headers, SESSION, "the answer is 404");
                }
            },
            400 if listens && at.facts.negotiated.initialized && self.is_proper(exchange, at) => {
                let named = [(SESSION, "session"), (VERSION, "version")];
                let named = named.into_iter().filter(|(name, _)| exchange.request_header(name).is_some());
                let named = match named.map(|(_, what)| what).collect::<Vec<_>>()[..] {
                    [] => "nothing has to be named".to_owned(),
                    [what] => format!("the {what} is named"),
                    _ => "session and version are named".to_owned(),
                };
                at.fail(&GET_ANSWER, format!("the answer is 400 although {named}"));
            }
            409 => {
                let wrong =
                    Violation::new("the answer is 409: another stream may be open, and several are allowed");
                at.fail(&GET_ANSWER, wrong.only(Level::Info));
            }
            501 => at.fail(&GET_ANSWER, "the answer is 501"),
            406 if listens => at.fail(&GET_ANSWER, "the answer is 406 although a stream is accepted"),
            _ => {}
        }
    }

    /// A GET names what it must name: its session, if there are any, and the version.
    fn is_proper(&self, exchange: &HttpExchange, at: &RuleContext<'_>) -> bool {
        let session = match exchange.request_header(SESSION) {
            Some(session) => self.paths.contains_key(session),
            None => self.paths.is_empty(),
        };
        let version = exchange.request_header(VERSION).and_then(Revision::named);
        session && (version.is_some() || at.revision == Some(Revision::V2025_03_26))
    }
}

/// Whether a request names JSON as what it accepts, and no stream. A monitor or a browser accepts anything.
fn asks_for_json(exchange: &HttpExchange) -> bool {
    let accept = exchange.request_header("accept").unwrap_or_default().to_ascii_lowercase();
    accept.contains("application/json") && !accept.contains("text/event-stream") && !accept.contains("*/*")
}

/// The answer to a DELETE.
fn deleted(exchange: &HttpExchange, at: &RuleContext<'_>) {
    let says = exchange.succeeded() && (exchange.streams() || exchange.messages > 0);
    let status = exchange.status();
    if status != 0 {
        at.check(&DELETE, !says && status != 500, || match says {
            true => format!("the answer is {status} with a stream or a message"),
            false => format!("the answer is {status}"),
        });
    }
}
