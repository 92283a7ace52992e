//! Streamable HTTP without sessions: statuses, streams, and what is left of the earlier transport.
//!
//! One exchange at a time, and which requests broke off. Memory: up to [`MOST_BROKEN`] requests whose answer never
//! came, [`MOST_OLD`] GETs and DELETEs, and [`MOST_URLS`] URLs.

use super::modern::{UNPROVEN, client_of, gist, is_clients, status};
use crate::engine::{
    Family, FindingLocation, MessageKind, NOT_WHOLE, PendingRequest, Revision, RuleContext, RuleVisitor,
    SeenMessage, Span, Trigger, Violation, bare_url, quoted, text_of,
};
use crate::rule::{Need, Rule};
use std::collections::{BTreeMap, VecDeque};
use transcript::json::Json;
use transcript::session::{Carrier, Content, Exchange, Headers, header};

pub(super) const FAMILY: Family = Family {
    name: "modern-answers",
    title: "Answers over HTTP without sessions",
    rules: &[&UNSUPPORTED, &UNKNOWN, &ENDS, &METHODS, &SESSION, &RESUME, &BUFFERING, &REISSUE],
    triggers: &[Trigger::HttpExchanges],
    visitor: || Box::new(ModernAnswersState::default()),
};

/// The most exchanges that are followed while their answers come in between others.
const MOST_OPEN: usize = 1_000;

const MOST_BROKEN: usize = 100;
const MOST_OLD: usize = 100;
const MOST_URLS: usize = 100;

/// Longer requests and URLs are not compared with later ones.
const LONGEST: usize = 1 << 16;

/// The methods that ask for something by its name.
const HAS_NAMES: &[&str] = &["tools/call", "prompts/get", "resources/read"];

const OURS: Rule = Rule {
    span: Span::MODERN,
    needs: &[Need::Http],
    source: "basic/transports/streamable-http#protocol-version-header",
    ..Rule::BLANK.server()
};

static UNSUPPORTED: Rule = Rule {
    id: "http.status.version-400",
    title: "An unknown version is refused with the status 400",
    why: "Clients look into the body of a 400 for the versions to try; any other status looks like something else.",
    fix: "Answer 400 Bad Request with -32022.",
    ..OURS
};

static UNKNOWN: Rule = Rule {
    id: "http.status.method-404",
    title: "An unknown method is refused with the status 404",
    why: "Gateways and logs learn from the status that the server has no such method.",
    fix: "Answer 404 Not Found with -32601 in the body.",
    ..OURS
};

static ENDS: Rule = Rule {
    id: "http.sse.ends-with-response",
    source: "basic/transports/streamable-http#receiving-messages",
    title: "Nothing follows the response on a stream",
    why: "Clients close the stream with the response, and lose what comes after it.",
    fix: "Send notifications first, and end the stream with the response.",
    ..OURS.should()
};

static METHODS: Rule = Rule {
    id: "http.status.get-delete-405",
    source: "basic/transports/streamable-http#earlier-streamable-http-revisions",
    title: "A server that speaks only this revision answers GET and DELETE with 405",
    why: "Old clients learn from the status that there is no stream to open and no session to end.",
    fix: "Answer 405 Method Not Allowed.",
    ..OURS.should()
};

static SESSION: Rule = Rule {
    id: "http.session.removed",
    source: "basic/transports/streamable-http#earlier-streamable-http-revisions",
    title: "A server does not hand out Mcp-Session-Id",
    why: "Old clients take it for a session and expect the server to remember it.",
    fix: "Leave the header out; use handles in arguments and results where calls belong together.",
    ..OURS.should()
};

static RESUME: Rule = Rule {
    id: "http.resume.removed",
    source: "basic/transports/streamable-http#earlier-streamable-http-revisions",
    title: "Events have no ids, since no stream can be resumed",
    why: "Clients that see ids try to resume with Last-Event-ID and wait for what never comes.",
    fix: "Leave `id` out of events.",
    ..OURS.should()
};

static BUFFERING: Rule = Rule {
    id: "http.sse.x-accel-buffering",
    source: "basic/transports/streamable-http#receiving-messages",
    title: "A stream begins with X-Accel-Buffering: no",
    why: "Proxies such as nginx hold events back until their buffer is full, so progress comes too late.",
    fix: "Send the header with every stream of events.",
    ..OURS.should()
};

static REISSUE: Rule = Rule {
    id: "http.reissue.new-id",
    source: "changelog, major change 9",
    title: "A request whose stream broke is sent again under a new id",
    why: "A late answer to the first attempt would be taken for one to the second.",
    fix: "Take the next id for every attempt.",
    ..OURS.client()
};

/// A request whose answer never came.
struct Broken {
    method: Box<str>,
    gist: String,
    id: Box<str>,
    ended: i64,
    location: FindingLocation,
}

/// An exchange of which more may come.
#[derive(Default)]
struct OpenExchange {
    number: Option<u64>,
    timed: bool,
    /// It makes a request of this revision.
    asks: bool,
    answered: bool,
    /// An event had an id.
    id: Option<FindingLocation>,
    judged: bool,
    broken: Option<Broken>,
}

/// Whether the header names another version than the body, by which a server may go that speaks both.
fn names_another(exchange: &Exchange<'_>) -> bool {
    let version = header(&exchange.request_headers, "MCP-Protocol-Version");
    version.is_some_and(|version| version != Revision::V2026_07_28.name())
}

/// A GET or DELETE.
struct Old {
    method: String,
    url: String,
    status: u16,
    location: FindingLocation,
}

#[derive(Default)]
struct ModernAnswersState {
    /// The exchange at hand.
    exchange: OpenExchange,
    /// Others whose answers come in between.
    others: Vec<OpenExchange>,
    broken: VecDeque<Broken>,
    old: Vec<Old>,
    /// Where requests were sent; and, once the server there has listed its versions, whether none of them begins with
    /// a handshake.
    endpoints: BTreeMap<String, Option<bool>>,
}

impl RuleVisitor for ModernAnswersState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if matches!(at.entry.content, Content::ExchangeEnd) {
            self.turn_to(at.entry.exchange);
            self.end();
        }
        let Some(exchange) = at.exchange else { return };
        self.turn_to(at.entry.exchange);
        if matches!(at.entry.content, Content::Exchange(_)) {
            self.begins(exchange, at);
        }
        if at.entry.carrier == Carrier::Sse && at.event_id().is_some_and(|id| !id.is_empty()) {
            self.exchange.id.get_or_insert_with(|| at.location());
        }
        let Some(message) = at.message.filter(|message| message.item.is_none()) else { return };
        if at.entry.carrier == Carrier::Request {
            if message.kind == MessageKind::Request
                && is_clients(message, at)
                && at.revision == Some(Revision::V2026_07_28)
                && !names_another(exchange)
            {
                self.asks(message, exchange, at);
            }
            return;
        }
        match message.request() {
            _ if self.exchange.asks => self.answer(message, exchange, at),
            // What asks for a version that nobody knows shows no revision; its refusal does.
            Some(request) if message.error_code() == Some(-32022) => statuses(message, request, at),
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        for old in self.old.drain(..) {
            let Some(modern_only) = self.endpoints.get(&old.url) else { continue };
            match (old.status, modern_only) {
                (405, _) => at.pass(&METHODS),
                (0 | 401 | 403 | 429 | 500.., _) | (_, Some(false)) => {}
                (status, Some(true)) => {
                    let wrong = format!("{} is answered with {status}", old.method);
                    at.fail(&METHODS, Violation::new(wrong).at(old.location));
                }
                (_, None) => {
                    let why = "whether the server speaks older revisions too is not in the recording; an answer to \
                               server/discover would show it";
                    at.inconclusive(&METHODS, why);
                }
            }
        }
    }
}

impl ModernAnswersState {
    /// Takes up the exchange of this number again, if it is one of the others.
    fn turn_to(&mut self, number: Option<u64>) {
        let Some(place) = self.others.iter().position(|other| other.number == number) else { return };
        let other = self.others.swap_remove(place);
        self.leave();
        self.exchange = other;
    }

    /// Another exchange is at hand; more of the last one may come.
    fn leave(&mut self) {
        if self.exchange.timed && self.others.len() < MOST_OPEN {
            self.others.push(std::mem::take(&mut self.exchange));
        }
        self.end();
    }

    /// Nothing more comes of the exchange at hand.
    fn end(&mut self) {
        let done = std::mem::take(&mut self.exchange);
        if let Some(broken) = done.broken.filter(|_| !done.answered) {
            if self.broken.len() >= MOST_BROKEN {
                self.broken.pop_front();
            }
            self.broken.push_back(broken);
        }
    }

    fn begins(&mut self, exchange: &Exchange<'_>, at: &RuleContext<'_>) {
        self.leave();
        (self.exchange.number, self.exchange.timed) = (at.entry.exchange, exchange.timed);
        let method = exchange.method.to_ascii_uppercase();
        if matches!(&*method, "GET" | "DELETE") && self.old.len() < MOST_OLD && exchange.url.len() <= LONGEST
        {
            let (url, status) = (bare_url(&exchange.url).to_owned(), exchange.status.unwrap_or_default());
            self.old.push(Old { method, url, status, location: at.location() });
        }
    }

    fn asks(&mut self, message: &SeenMessage<'_>, exchange: &Exchange<'_>, at: &RuleContext<'_>) {
        self.exchange.asks = true;
        if self.endpoints.len() < MOST_URLS && exchange.url.len() <= LONGEST {
            self.endpoints.entry(bare_url(&exchange.url).to_owned()).or_default();
        }
        let params = message.raw.params();
        let Some(id) = message.raw.written_id() else { return };
        if params.is_some_and(|params| params.text().len() > LONGEST) || message.calls("subscriptions/listen")
        {
            return;
        }
        let method = message.method.as_deref().unwrap_or_default();
        let client = client_of(|name| message.meta(name)).unwrap_or_default();
        let gist = gist(params, &[]) + client;
        let now = at.entry.time;
        let first = self.broken.iter().position(|broken| {
            *broken.method == *method && broken.gist == gist && now.is_some_and(|now| now >= broken.ended)
        });
        if let Some(first) = first.and_then(|first| self.broken.remove(first)) {
            at.check(&REISSUE, *first.id != *id, || {
                Violation::new(format!("the second attempt has the id {id} again"))
                    .see(first.location, "the first")
            });
        }
        // One that was refused before it reached the server, such as for want of a token, may come again as it is.
        let streams = matches!(exchange.status, Some(200..300)) && exchange.media_type == "text/event-stream";
        self.exchange.broken = exchange.ended.filter(|_| streams).map(|ended| Broken {
            method: method.into(),
            gist,
            id: id.into(),
            ended,
            location: at.location(),
        });
    }

    fn answer(&mut self, message: &SeenMessage<'_>, exchange: &Exchange<'_>, at: &RuleContext<'_>) {
        let stream = at.entry.carrier == Carrier::Sse;
        if self.exchange.answered {
            at.fail(&ENDS, "the stream continues after the response");
        }
        if let Some(request) = message.request() {
            self.exchange.answered = true;
            if stream {
                at.pass(&ENDS);
            }
            self.listed(message, request, exchange);
            statuses(message, request, at);
        }
        if self.exchange.judged {
            return;
        }
        if !at.facts.modern {
            if stream {
                at.inconclusive(&BUFFERING, UNPROVEN);
            }
            return;
        }
        self.exchange.judged = true;
        let session = header(&exchange.response_headers, "Mcp-Session-Id");
        at.without(&SESSION, session, |id| format!("the answer has Mcp-Session-Id {}", quoted(id)));
        if !stream {
            return;
        }
        at.without(&RESUME, self.exchange.id.take(), |id| Violation::new("an event has an id").at(id));
        match header(&exchange.response_headers, "X-Accel-Buffering") {
            Some(value) if value.trim().eq_ignore_ascii_case("no") => at.pass(&BUFFERING),
            Some(value) => at.fail(&BUFFERING, format!("X-Accel-Buffering is {}", quoted(value))),
            None if !shows_more(&exchange.response_headers) => {
                at.inconclusive(&BUFFERING, NOT_WHOLE);
            }
            None if is_near(&exchange.url) => {
                at.fail(&BUFFERING, "the stream begins without X-Accel-Buffering");
            }
            None => {
                let why = "a proxy on the way may have kept the header; a recording beside the server would show it";
                at.inconclusive(&BUFFERING, why);
            }
        }
    }

    /// What the server says of its versions.
    fn listed(&mut self, message: &SeenMessage<'_>, request: &PendingRequest, exchange: &Exchange<'_>) {
        let listed = match message.error() {
            Some(error) if message.error_code() == Some(-32022) => {
                error.member("data").and_then(|data| data.member("supported"))
            }
            None if request.method() == "server/discover" => {
                message.raw.outcome().and_then(|result| result.member("supportedVersions"))
            }
            _ => None,
        };
        let mut versions = listed.into_iter().flat_map(Json::items).filter_map(text_of).peekable();
        if versions.peek().is_some()
            && let Some(modern_only) = self.endpoints.get_mut(bare_url(&exchange.url))
        {
            let old = |version: Box<str>| Revision::named(&version).is_some_and(Revision::has_handshake);
            *modern_only = Some(!versions.any(old));
        }
    }
}

fn statuses(message: &SeenMessage<'_>, request: &PendingRequest, at: &RuleContext<'_>) {
    let (rule, wanted) = match message.error_code() {
        Some(-32022) => (&UNSUPPORTED, 400),
        // Some servers use the code for a tool or prompt that they do not have.
        Some(-32601) if HAS_NAMES.contains(&request.method()) => return,
        Some(-32601) if at.facts.modern => (&UNKNOWN, 404),
        Some(-32601) => return at.inconclusive(&UNKNOWN, UNPROVEN),
        _ => return,
    };
    let Some(status) = status(at) else { return };
    at.check(rule, status == wanted, || {
        Violation::new(format!("the status is {status} rather than {wanted}")).of(request)
    });
}

/// Whether an answer shows more headers than the one that a converter writes.
fn shows_more(headers: &Headers<'_>) -> bool {
    headers.iter().any(|(name, _)| !name.eq_ignore_ascii_case("content-type"))
}

/// Whether a URL is of this very machine, so that no proxy stands between.
fn is_near(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    ["127.", "localhost", "[::1]"].iter().any(|host| rest.starts_with(host))
}
