//! Streamable HTTP: what the POST of a message and its answer must look like.
//!
//! Headers, statuses and the shape of bodies, of one exchange at a time; but a page of another origin is refused where the same
//! request without its `Origin` is served, and a server breaks down that served the request before. Memory: [`MOST_EARLY`] of
//! what waits, and of what was served.

mod accept;

use super::legacy_sse::foreign;
use crate::engine::{
    Family, FindingLocation, HttpExchange, Method, NOT_WHOLE, Revision, RuleContext, RuleVisitor, SESSION,
    Span, Transport, Trigger, VERSION, Violation, quoted,
};
use crate::rule::{Level, Need, Rule};
use accept::{media_range, not_accepted};
use std::collections::BTreeSet;
use transcript::rejection::Code;
use transcript::session::{Carrier, header};

pub(super) use accept::accept;

pub(super) const FAMILY: Family = Family {
    name: "http",
    title: "Streamable HTTP with sessions: messages and answers",
    rules: &[
        &PER_MESSAGE,
        &BODY_KIND,
        &ACCEPT_POST,
        &ACCEPTED,
        &EMPTY,
        &REJECTED,
        &CONTENT_TYPE,
        &STATUS,
        &JSON_SINGLE,
        &ORIGIN,
    ],
    triggers: &[Trigger::HttpExchanges, Trigger::Contexts],
    visitor: || Box::new(HttpState::default()),
};

/// The session era of this transport.
pub(super) const ERA: Span = Span::between(Revision::V2025_03_26, Revision::V2025_11_25);

/// What the `Accept` header of a POST lists.
const POST_ACCEPTS: &[&str] = &["application/json", "text/event-stream"];

/// What the rules of this file and of `http_get` have in common.
pub(super) const OURS: Rule = Rule {
    span: Span::from(Revision::V2025_03_26),
    needs: &[Need::Http],
    source: "basic/transports#sending-messages-to-the-server",
    ..Rule::BLANK.server()
};

static PER_MESSAGE: Rule = Rule {
    id: "http.post.per-message",
    title: "Each message is a POST of its own",
    why: "Servers read one JSON value from a body; messages after it are lost, or the whole body is refused.",
    fix: "Send a POST for every message.",
    ..OURS.client()
};

static BODY_KIND: Rule = Rule {
    id: "http.post.body-kind",
    title: "What is sent to the MCP endpoint is a JSON-RPC message, by POST",
    why: "A server that reads messages finds none in it, and answers with an error that nobody waits for.",
    fix: "Send one JSON-RPC message, with its `jsonrpc` member, as the body of a POST.",
    ..OURS.client()
};

static ACCEPT_POST: Rule = Rule {
    id: "http.accept.post",
    needs: &[Need::Headers],
    title: "The `Accept` header of a POST lists application/json and text/event-stream",
    why: "The server chooses between the two, and many answer 406 where one is not listed by name.",
    fix: "Send `Accept: application/json, text/event-stream` with every POST.",
    softened: Some("a warning where a wildcard covers the types"),
    ..OURS.client()
};

static ACCEPTED: Rule = Rule {
    id: "http.202.status",
    title: "A notification or response that was accepted is answered with 202",
    why: "Clients take other statuses for a failure, or wait for a body that a 200 promises.",
    fix: "Answer 202 Accepted.",
    ..OURS
};

static EMPTY: Rule = Rule {
    id: "http.202.empty",
    title: "A 202 has no body",
    why: "Clients that read a body where none is expected trip over `null`, an empty string or a word.",
    fix: "End the answer after its headers.",
    ..OURS
};

static REJECTED: Rule = Rule {
    id: "http.reject.status",
    title: "A notification or response that is not accepted is answered with an HTTP error",
    why: "A client does not read the body of an answer to a notification, so an error in it is lost.",
    fix: "Answer 400 or another error status, with the JSON-RPC error as its body if you like.",
    ..OURS
};

static CONTENT_TYPE: Rule = Rule {
    id: "http.request.content-type",
    needs: &[Need::Headers],
    title: "A request is answered with application/json or text/event-stream",
    why: "Clients choose by it how the body is read, and fail on any other.",
    fix: "Answer with one JSON object or with a stream, and say which in Content-Type.",
    softened: Some("a warning where a server that serves others fails with 500, which may be a proxy's"),
    ..OURS
};

static STATUS: Rule = Rule {
    id: "http.request.status",
    needs: &[Need::Headers],
    source: "basic/transports#sending-messages-to-the-server; RFC 9110, section 15.3",
    title: "A request that was served is answered with 200",
    why: "Other statuses of success have meanings of their own, such as 201 for what was created, and some clients \
          take no other than 200.",
    fix: "Answer 200 OK.",
    ..OURS.info()
};

static JSON_SINGLE: Rule = Rule {
    id: "http.json.single",
    title: "An answer of application/json is one JSON-RPC message",
    why: "Clients parse the body as one value, and fail on JSON lines, a list or anything else.",
    fix: "Send only the response, as JSON; a stream of events has the type text/event-stream.",
    contested: Some(
        "In 2025-03-26 one object is asked for even where a batch was sent; an array is not held against its answer.",
    ),
    ..OURS
};

static ORIGIN: Rule = Rule {
    id: "http.origin.403",
    source: "basic/transports#security-warning",
    title: "A local server refuses pages from other origins",
    why: "Any web page can make a browser talk to local servers; the `Origin` header is what gives it away.",
    fix: "Compare `Origin` with a list of your own, and answer 403 to what is not on it.",
    softened: Some("always a warning: no recording shows which origins the server trusts"),
    ..OURS
};

#[derive(Default)]
struct HttpState {
    /// An envelope showed headers of a request, and of an answer.
    shown: [bool; 2],
    /// What is wrong with `Accept` in an envelope, if anything, where no message had shown the revision yet.
    early: Vec<(Option<Violation<'static>>, FindingLocation)>,
    /// Requests of pages that were refused, with the status.
    refused: Vec<(String, u16, FindingLocation)>,
    /// Requests without an `Origin` that were served.
    served: BTreeSet<String>,
    /// Exchanges whose requests were answered with nothing but a status.
    bare: Vec<(u64, u16, FindingLocation)>,
    /// The session, the version and the token of the last request that was served.
    last: Option<[Option<Box<str>>; 3]>,
}

/// The most requests that wait for the revision, or for another to be compared with.
const MOST_EARLY: usize = 100;

impl RuleVisitor for HttpState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        let (Some(headers), Some(message)) = (at.envelope_headers(), at.message) else { return };
        match (at.entry.carrier, message.request()) {
            (Carrier::Request, _) => {
                self.shown[0] = true;
                if header(headers, "accept").is_none() && !at.would_show(headers, "accept") {
                    at.inconclusive(&ACCEPT_POST, NOT_WHOLE);
                } else if at.revision.is_some() {
                    accept(&ACCEPT_POST, POST_ACCEPTS, headers, at);
                } else if self.early.len() < MOST_EARLY {
                    self.early.push((not_accepted(POST_ACCEPTS, headers), at.location()));
                }
            }
            (Carrier::Response, Some(_)) => {
                self.shown[1] = true;
                let status = at.entry.context.and_then(|context| context.status);
                if status.is_none_or(|status| (200..300).contains(&status)) {
                    match header(headers, "content-type") {
                        Some(media) => media_type(&media_range(media), status, at),
                        None => at.inconclusive(&CONTENT_TYPE, NOT_WHOLE),
                    };
                }
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        for (_, status, location) in self.refused.drain(..).filter(|(asked, ..)| self.served.contains(asked))
        {
            let wrong =
                format!("the answer to a page is {status}, and the same request without `Origin` is served");
            at.fail(&ORIGIN, Violation::new(wrong).only(Level::Should).at(location));
        }
        // A cancelled request is not to be answered, and its exchange has to end.
        let open = at.pending.open();
        let cancelled: Vec<_> =
            open.iter().filter(|it| it.cancelled.is_some()).filter_map(|it| it.exchange).collect();
        for (number, status, location) in self.bare.drain(..) {
            if !cancelled.contains(&number) {
                at.as_asked().fail(&CONTENT_TYPE, Violation::new(untyped(status)).at(location));
            }
        }
        for (wrong, location) in self.early.drain(..) {
            at.without(&ACCEPT_POST, wrong, |wrong| wrong.at(location));
        }
        let rules: [&[&'static Rule]; 2] = [&[&ACCEPT_POST], &[&CONTENT_TYPE, &STATUS]];
        for (rules, shown) in rules.iter().zip(self.shown) {
            for rule in rules.iter().filter(|_| at.is_in_envelope() && !shown) {
                at.inconclusive(rule, NOT_WHOLE);
            }
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        if exchange.transport != Transport::Streamable {
            return;
        }
        foreign(&ORIGIN, exchange, at);
        self.compare(exchange, at);
        let sent = exchange.raw.request_size.filter(|size| *size > 0 && !exchange.request_lost);
        match (sent, exchange.is("POST")) {
            (Some(size), false) if exchange.is("PUT") || exchange.is("PATCH") => {
                let wrong =
                    format!("a body of {size} bytes is sent by {}, and not by POST", exchange.raw.method);
                at.fail(&BODY_KIND, wrong);
            }
            (Some(size), true) if !exchange.speaks() => {
                at.fail(&BODY_KIND, format!("the body of {size} bytes holds no JSON-RPC message"));
            }
            (Some(_), true) if exchange.bad_request.is_none() => at.pass(&BODY_KIND),
            _ => {}
        }
        if !exchange.is("POST") || !exchange.speaks() {
            return;
        }
        accept(&ACCEPT_POST, POST_ACCEPTS, &exchange.raw.request_headers, at);
        if exchange.several || exchange.bad_request.is_none() {
            let wrong = "the body holds several messages, one after another";
            at.check(&PER_MESSAGE, !exchange.several, || wrong);
        }
        match exchange.calls.is_empty() {
            true if exchange.reported > 0 => reported(exchange, at),
            false if is_bare(exchange) && self.bare.len() < MOST_EARLY => {
                self.bare.push((exchange.number, exchange.status(), at.location()));
            }
            false if self.breaks_down(exchange) => {
                let wrong = match exchange.raw.media_type.as_str() {
                    "" => "the answer is 500, without a JSON-RPC error".to_owned(),
                    media => format!("the answer is 500 and of the type {}", quoted(media)),
                };
                at.fail(&CONTENT_TYPE, Violation::new(wrong).only(Level::Should));
            }
            false => answered(exchange, at),
            true => {}
        }
        if exchange.succeeded() {
            self.last = Some(exchange.named());
        }
    }
}

impl HttpState {
    /// A server that serves other requests fails at this one, in no words of JSON-RPC. Of a ping and of a method that no revision has
    /// other rules say so.
    fn breaks_down(&self, exchange: &HttpExchange) -> bool {
        let [call] = &exchange.calls[..] else { return false };
        let is_other = || Method::find(&call.method).is_some() && &*call.method != "ping";
        let media = exchange.raw.media_type.as_str();
        exchange.status() == 500
            && !matches!(media, "application/json" | "text/event-stream")
            && !exchange.answer_lost
            && self.last.as_ref() == Some(&exchange.named())
            && is_other()
    }

    /// Keeps what shows that a request was refused for its `Origin`, whose status is named from 2025-11-25 on.
    fn compare(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let [call] = &exchange.calls[..] else { return };
        let named = [SESSION, VERSION, "content-type"].map(|name| exchange.request_header(name));
        let asked =
            || format!("{} {} {:?} {named:?}", exchange.url(), call.method, exchange.raw.request_size);
        let accepts = || not_accepted(POST_ACCEPTS, &exchange.raw.request_headers).is_none();
        let since = Some(Revision::V2025_11_25);
        match (exchange.request_header("origin"), exchange.status()) {
            (None, 200..=299) if self.served.len() < MOST_EARLY => {
                self.served.insert(asked());
            }
            (Some(_), status @ (400 | 402 | 406..=428 | 500))
                if at.revision >= since && self.refused.len() < MOST_EARLY && accepts() =>
            {
                self.refused.push((asked(), status, at.location()));
            }
            _ => {}
        }
    }
}

/// The answer to notifications and responses.
fn reported(exchange: &HttpExchange, at: &RuleContext<'_>) {
    match exchange.status() {
        200..=299 if exchange.errors > 0 => {
            at.fail(&REJECTED, format!("the answer is {} with a JSON-RPC error in it", exchange.status()));
        }
        202 => {
            at.pass(&ACCEPTED);
            match exchange.raw.response_size {
                Some(size) => at.check(&EMPTY, size == 0, || format!("the body has {size} bytes")),
                None => at.inconclusive(&EMPTY, "the recording does not say how long the body was"),
            }
        }
        200..=299 if exchange.answer_lost => {
            let why = "the body of the answer, which may be an error, is not in the recording";
            at.inconclusive(&ACCEPTED, why);
        }
        // That what asks for nothing is answered is a finding about the answer.
        200..=299 if exchange.messages > 0 && !exchange.streams() => {
            at.inconclusive(&ACCEPTED, "the body answers a message that asks for nothing");
        }
        status @ 200..=299 => at.fail(&ACCEPTED, format!("the answer is {status}")),
        400..=599 => at.pass(&REJECTED),
        _ => {}
    }
}

/// The type of an answer to requests, and its status where that is known.
fn media_type(media: &str, status: Option<u16>, at: &RuleContext<'_>) {
    let known = matches!(media, "application/json" | "text/event-stream");
    // The head shows it, also where the version that the server chose is in a body that was not read.
    at.as_asked().check(&CONTENT_TYPE, known, || match media {
        "" => untyped(status.unwrap_or_default()),
        _ => format!("the answer is of the type {}", quoted(media)),
    });
    match status.filter(|_| known) {
        Some(status) => at.check(&STATUS, status == 200, || format!("the answer is {status}")),
        None if known => at.inconclusive(&STATUS, "the recording does not say the answer's status"),
        None => {}
    }
}

fn untyped(status: u16) -> String {
    match status {
        202 => "the request is answered with 202, as a notification is".to_owned(),
        _ => format!("the answer is {status} without a Content-Type"),
    }
}

/// Whether nothing but a status is in the answer to requests.
fn is_bare(exchange: &HttpExchange) -> bool {
    exchange.succeeded() && exchange.raw.media_type.is_empty() && exchange.messages == 0
}

/// The answer to requests.
fn answered(exchange: &HttpExchange, at: &RuleContext<'_>) {
    if !exchange.succeeded() {
        return;
    }
    let media = exchange.raw.media_type.as_str();
    media_type(media, exchange.raw.status, at);
    if media != "application/json" {
        return;
    }
    match (exchange.bad_answer, exchange.messages) {
        _ if exchange.answer_lost || exchange.raw.is_left() && exchange.messages == 0 => {
            at.inconclusive(&JSON_SINGLE, "the body is not in the recording, or not to its end");
        }
        (Some(Code::Batch), _) if exchange.batch => {}
        (Some(Code::Batch), _) => at.fail(&JSON_SINGLE, "the body is an array of messages"),
        // That the body is not JSON is what `enc.json.parse` says.
        (Some(Code::InvalidJson | Code::InvalidUtf8), _) => {}
        // A message with a fault of its own is one message.
        (Some(_), _) | (None, 1) => at.pass(&JSON_SINGLE),
        (None, 0) if exchange.raw.response_size.is_some_and(|size| size > 0) => {
            at.fail(&JSON_SINGLE, "the body is not a JSON-RPC message");
        }
        (None, 0) if exchange.is_whole() || exchange.response_header("content-length") == Some("0") => {
            at.fail(&JSON_SINGLE, "the body is empty");
        }
        (None, 0) if exchange.raw.response_size.is_none_or(|size| size == 0) => {
            at.inconclusive(&JSON_SINGLE, "the body is empty, or the exchange was broken off before it came");
        }
        (None, _) => at.fail(&JSON_SINGLE, "the body is not a JSON-RPC message"),
    }
}
