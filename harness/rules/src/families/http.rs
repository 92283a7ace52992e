//! Streamable HTTP: what the POST of a message and its answer must look like.
//!
//! Headers, statuses and the shape of bodies, of one exchange at a time.

use super::legacy_sse::foreign;
use super::modern::NOT_WHOLE;
use super::modern_http::shows_all;
use crate::engine::{
    Family, FindingLocation, HttpExchange, Report, RuleContext, RuleVisitor, Transport, Trigger, Violation,
    quoted,
};
use crate::rule::{Level, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use transcript::rejection::{Code, Rejection};
use transcript::session::{Carrier, Headers, header};

pub(super) const FAMILY: Family = Family {
    name: "http",
    title: "Streamable HTTP with sessions: messages and answers",
    rules: &RULES,
    triggers: &[Trigger::HttpExchanges, Trigger::Contexts],
    visitor: || Box::new(HttpState::default()),
};

/// What the `Accept` header of a POST lists.
const POST_ACCEPTS: &[&str] = &["application/json", "text/event-stream"];

const TEXT: &str = include_str!("http.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const PER_MESSAGE: &Rule = named(&RULES, "http.post.per-message");
const BODY_KIND: &Rule = named(&RULES, "http.post.body-kind");
const ACCEPT_POST: &Rule = named(&RULES, "http.accept.post");
const ACCEPTED: &Rule = named(&RULES, "http.202.status");
const EMPTY: &Rule = named(&RULES, "http.202.empty");
const REJECTED: &Rule = named(&RULES, "http.reject.status");
const CONTENT_TYPE: &Rule = named(&RULES, "http.request.content-type");
const STATUS: &Rule = named(&RULES, "http.request.status");
const JSON_SINGLE: &Rule = named(&RULES, "http.json.single");
const ORIGIN: &Rule = named(&RULES, "http.origin.403");

#[derive(Default)]
struct HttpState {
    /// An envelope showed headers of a request, and of an answer.
    shown: [bool; 2],
    /// What is wrong with `Accept` in an envelope, if anything, where no message had shown the revision yet.
    early: Vec<(Option<Violation<'static>>, FindingLocation)>,
}

/// The most requests that wait for the revision.
const MOST_EARLY: usize = 100;

impl RuleVisitor for HttpState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let (Some(headers), Some(message)) = (at.envelope_headers(), at.message) else { return };
        match (at.entry.carrier, message.request()) {
            (Carrier::Request, _) => {
                self.shown[0] = true;
                if header(headers, "accept").is_none() && !shows_all(headers) {
                    report.inconclusive(ACCEPT_POST, at, NOT_WHOLE);
                } else if at.revision.is_some() {
                    accept(ACCEPT_POST, POST_ACCEPTS, headers, at, report);
                } else if self.early.len() < MOST_EARLY {
                    self.early.push((not_accepted(POST_ACCEPTS, headers), at.location()));
                }
            }
            (Carrier::Response, Some(_)) => {
                self.shown[1] = true;
                let status = at.entry.context.and_then(|context| context.status);
                if status.is_none_or(|status| (200..300).contains(&status)) {
                    match header(headers, "content-type") {
                        Some(media) => media_type(&media_range(media), status, at, report),
                        None => report.inconclusive(CONTENT_TYPE, at, NOT_WHOLE),
                    };
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        for (wrong, location) in std::mem::take(&mut self.early) {
            match wrong {
                None => report.pass(ACCEPT_POST, at),
                Some(wrong) => report.fail(ACCEPT_POST, at, wrong.at(location)),
            }
        }
        let rules: [&[&'static Rule]; 2] = [&[ACCEPT_POST], &[CONTENT_TYPE, STATUS]];
        for (rules, shown) in rules.iter().zip(self.shown) {
            for rule in rules.iter().filter(|_| at.is_in_envelope() && !shown) {
                report.inconclusive(rule, at, NOT_WHOLE);
            }
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>, report: &mut Report) {
        if exchange.transport != Transport::Streamable {
            return;
        }
        foreign(ORIGIN, exchange, at, report);
        let sent = exchange.raw.request_size.filter(|size| *size > 0 && !exchange.request_lost);
        match (sent, exchange.is("POST")) {
            (Some(size), false) if exchange.is("PUT") || exchange.is("PATCH") => {
                let wrong =
                    format!("a body of {size} bytes is sent by {}, and not by POST", exchange.raw.method);
                report.fail(BODY_KIND, at, wrong);
            }
            (Some(size), true) if !exchange.speaks() => {
                report.fail(BODY_KIND, at, format!("the body of {size} bytes holds no JSON-RPC message"));
            }
            (Some(_), true) if exchange.bad_request.is_none() => report.pass(BODY_KIND, at),
            _ => {}
        }
        if !exchange.is("POST") || !exchange.speaks() {
            return;
        }
        accept(ACCEPT_POST, POST_ACCEPTS, &exchange.raw.request_headers, at, report);
        if exchange.several || exchange.bad_request.is_none() {
            report.check(
                PER_MESSAGE,
                at,
                !exchange.several,
                || "the body holds several messages, one after another",
            );
        }
        match exchange.calls.is_empty() {
            true if exchange.reported > 0 => reported(exchange, at, report),
            false => answered(exchange, at, report),
            true => {}
        }
    }
}

/// Whether a part of an `Accept` header has the weight nought, which says that the type is not acceptable.
fn is_refused(part: &str) -> bool {
    let mut parameters = part.split(';').skip(1).filter_map(|parameter| parameter.trim().split_once('='));
    parameters.any(|(name, weight)| {
        name.trim().eq_ignore_ascii_case("q")
            && weight.trim().parse::<f32>().is_ok_and(|weight| weight == 0.0)
    })
}

fn media_range(part: &str) -> String {
    part.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Judges whether an `Accept` header lists each of these types.
pub(super) fn accept(
    rule: &'static Rule,
    types: &[&str],
    headers: &Headers<'_>,
    at: &RuleContext<'_>,
    report: &mut Report,
) {
    match not_accepted(types, headers) {
        None => report.pass(rule, at),
        Some(wrong) => report.fail(rule, at, wrong),
    }
}

/// What is wrong with an `Accept` header that is to list each of these types. A wildcard that covers them is good HTTP and
/// yet no listing.
fn not_accepted(types: &[&str], headers: &Headers<'_>) -> Option<Violation<'static>> {
    let mut listed = Vec::new();
    for (_, value) in headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("accept")) {
        // A weight of nought takes a type out.
        let types = value.split(',').filter(|part| !is_refused(part)).map(media_range);
        listed.extend(types);
    }
    let missing: Vec<&&str> =
        types.iter().filter(|wanted| !listed.iter().any(|one| one == **wanted)).collect();
    let covered = |wanted: &str| {
        let family = wanted.split('/').next().unwrap_or_default();
        listed.iter().any(|one| one == "*/*" || *one == format!("{family}/*"))
    };
    let first = missing.first()?;
    if missing.iter().all(|wanted| covered(wanted)) {
        let wrong = format!("`Accept` covers {first} only by a wildcard");
        return Some(Violation::new(wrong).only(Level::Should));
    }
    Some(Violation::new(match header(headers, "accept") {
        None => "there is no `Accept` header".to_owned(),
        Some(value) => format!("`Accept` is {}, without {first}", quoted(value)),
    }))
}

/// The answer to notifications and responses.
fn reported(exchange: &HttpExchange, at: &RuleContext<'_>, report: &mut Report) {
    match exchange.status() {
        200..=299 if exchange.errors > 0 => {
            let wrong = format!("the answer is {} with a JSON-RPC error in it", exchange.status());
            report.fail(REJECTED, at, wrong);
        }
        202 => {
            report.pass(ACCEPTED, at);
            match exchange.raw.response_size {
                Some(size) => report.check(EMPTY, at, size == 0, || format!("the body has {size} bytes")),
                None => report.inconclusive(EMPTY, at, "the recording does not say how long the body was"),
            }
        }
        200..=299 if exchange.answer_lost => {
            report.inconclusive(
                ACCEPTED,
                at,
                "the body of the answer, which may be an error, is not in the recording",
            );
        }
        status @ 200..=299 => report.fail(ACCEPTED, at, format!("the answer is {status}")),
        400..=599 => report.pass(REJECTED, at),
        _ => {}
    }
}

/// The type of an answer to requests, and its status where that is known.
fn media_type(media: &str, status: Option<u16>, at: &RuleContext<'_>, report: &mut Report) {
    let known = matches!(media, "application/json" | "text/event-stream");
    report.check(CONTENT_TYPE, at, known, || match media {
        "" => format!("the answer is {} without a Content-Type", status.unwrap_or_default()),
        _ => format!("the answer is of the type {}", quoted(media)),
    });
    match status.filter(|_| known) {
        Some(status) => report.check(STATUS, at, status == 200, || format!("the answer is {status}")),
        None if known => report.inconclusive(STATUS, at, "the recording does not say the answer's status"),
        None => {}
    }
}

/// The answer to requests.
fn answered(exchange: &HttpExchange, at: &RuleContext<'_>, report: &mut Report) {
    if !exchange.succeeded() {
        return;
    }
    let media = exchange.raw.media_type.as_str();
    media_type(media, exchange.raw.status, at, report);
    if media != "application/json" {
        return;
    }
    match (exchange.bad_answer, exchange.messages) {
        _ if exchange.answer_lost => report.inconclusive(JSON_SINGLE, at, "the body is not in the recording"),
        (Some(Code::Batch), _) if exchange.batch => {}
        (Some(Code::Batch), _) => report.fail(JSON_SINGLE, at, "the body is an array of messages"),
        (Some(Code::InvalidJson), _) => report.fail(JSON_SINGLE, at, "the body is not one JSON value"),
        // A message with a fault of its own is one message.
        (Some(_), _) | (None, 1) => report.pass(JSON_SINGLE, at),
        (None, 0) if exchange.raw.response_size.is_none_or(|size| size == 0) => {
            report.inconclusive(
                JSON_SINGLE,
                at,
                "the body is empty, or the exchange was broken off before it came",
            );
        }
        (None, _) => report.fail(JSON_SINGLE, at, "the body is not a JSON-RPC message"),
    }
}
