//! HTTP+SSE of 2024-11-05: the stream, its `endpoint` event, and the POSTs to the address it names.
//!
//! Later revisions keep the transport for old peers, so these rules hold in every session that is spoken over it.
//! Memory: the URLs of streams that named no address, up to [`MOST_SILENT`].

use crate::engine::{
    Family, FindingLocation, HttpExchange, Origin, Report, RuleContext, RuleVisitor, SESSION, Transport,
    Trigger, Violation, quoted, resolve,
};
use crate::rule::{Level, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::{Carrier, header};

pub(super) const FAMILY: Family = Family {
    name: "legacy-sse",
    title: "HTTP+SSE of 2024-11-05",
    rules: &RULES,
    triggers: &[
        Trigger::HttpExchanges,
        Trigger::SseEvents,
        Trigger::Recordings(|recording| recording.http_sse),
    ],
    visitor: || Box::new(LegacySseState::default()),
};

const TEXT: &str = include_str!("legacy_sse.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const SENT: &Rule = named(&RULES, "sse.endpoint.sent");
const FIRST: &Rule = named(&RULES, "sse.endpoint.first");
const URI: &Rule = named(&RULES, "sse.endpoint.uri");
const SAME_ORIGIN: &Rule = named(&RULES, "sse.endpoint.same-origin");
const TARGET: &Rule = named(&RULES, "sse.post.target");
const MESSAGE: &Rule = named(&RULES, "sse.message.event");
const VIA_STREAM: &Rule = named(&RULES, "sse.response.via-stream");
const ORIGIN: &Rule = named(&RULES, "sse.origin");

/// The most streams without an `endpoint` event that are remembered.
const MOST_SILENT: usize = 100;

#[derive(Default)]
struct LegacySseState {
    /// Where the first stream with an `endpoint` event was opened.
    stream: Option<Box<str>>,
    /// Where a stream was opened that named no address, or where a client that asked for one got none: the URL, the place,
    /// and what is wrong.
    silent: Vec<(Box<str>, FindingLocation, String)>,
    /// A request was posted, accepted, and not answered where it was posted: where.
    unanswered: Vec<Box<str>>,
    /// An `endpoint` event stands in an envelope.
    named: bool,
    /// Events were seen before it.
    before: bool,
}

impl RuleVisitor for LegacySseState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let envelope = at.facts.recording.kind.http_sse;
        if at.entry.carrier == Carrier::Sse && (envelope || at.exchange.is_some()) {
            self.event(envelope, at, report);
        }
        if envelope
            && at.entry.carrier == Carrier::Response
            && at.message.is_some_and(|message| message.request().is_none())
        {
            let why = "a `response` that answers nothing may be the body of a GET that was to open a stream; a HAR would show it";
            report.inconclusive(SENT, at, why);
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>, report: &mut Report) {
        let in_session = exchange.request_header(SESSION).or(exchange.response_header(SESSION)).is_some();
        if let Some(wrong) = unnamed(exchange).filter(|_| !in_session && self.silent.len() < MOST_SILENT) {
            self.silent.push((exchange.url().into(), at.location(), wrong));
        }
        let unanswered =
            exchange.messages == 0 && !exchange.streams() && !exchange.answer_lost && exchange.succeeded();
        if unanswered && !exchange.calls.is_empty() && self.unanswered.len() < MOST_SILENT {
            self.unanswered.push(exchange.url().into());
        }
        if exchange.transport != Transport::Legacy {
            return;
        }
        if exchange.endpoint.is_some() && self.stream.is_none() {
            self.stream = Some(exchange.url().into());
        }
        foreign(ORIGIN, exchange, at, report);
        if !exchange.is("POST") {
            return;
        }
        report.check(TARGET, at, at.exchanges.is_target(&exchange.raw.url), || {
            format!("the message is posted to {}, which no `endpoint` event named", quoted(&exchange.raw.url))
        });
        // A refusal may say why in its body.
        if !exchange.calls.is_empty() && exchange.succeeded() {
            report.check(
                VIA_STREAM,
                at,
                exchange.messages == 0,
                || "the body of the POST's answer holds a message",
            );
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        if at.facts.recording.kind.http_sse && !self.named {
            let why =
                "the envelope has no `endpoint` event, which some recorders leave out; a HAR would show it";
            report.inconclusive(SENT, at, why);
        }
        // A stream of its own, and elsewhere requests that are accepted and answered nowhere: the old transport.
        for (url, location, wrong) in std::mem::take(&mut self.silent) {
            let wanted =
                self.unanswered.iter().any(|post| **post != *url && Origin::new(post) == Origin::new(&url));
            if wanted || self.stream.as_deref() == Some(&*url) {
                report.fail(SENT, at, Violation::new(wrong).at(location));
            }
        }
    }
}

impl LegacySseState {
    fn event(&mut self, envelope: bool, at: &RuleContext<'_>, report: &mut Report) {
        let Some(sse) = &at.entry.sse else { return };
        let name = sse.name.as_deref().unwrap_or_default();
        let data = sse.data.as_deref();
        let before = match at.exchanges.current() {
            // The exchange has counted the event at hand already.
            Some(exchange) if !envelope => exchange.is("GET") && exchange.events > 1,
            _ => self.before,
        };
        self.before |= at.message.is_some() || !name.is_empty() && name != "endpoint";
        if name == "endpoint" {
            let second = envelope && self.named;
            self.named = true;
            if !envelope && at.exchanges.current().is_none_or(|exchange| !exchange.is("GET")) {
                return;
            }
            report.pass(SENT, at);
            if !second {
                report.check(FIRST, at, !before, || "another event comes before the `endpoint` event");
            }
            self.address(data.unwrap_or_default(), at, report);
            return;
        }
        let legacy = envelope || at.exchanges.current().is_some_and(|exchange| exchange.endpoint.is_some());
        if !legacy {
            return;
        }
        let hidden = data
            .and_then(|data| Json::parse(data).ok())
            .is_some_and(|value| value.kind() == JsonKind::Object && value.member("jsonrpc").is_some());
        if at.message.is_some() {
            report.pass(MESSAGE, at);
        } else if hidden && !matches!(name, "" | "message") {
            report.fail(MESSAGE, at, format!("a message is in an event named {}", quoted(name)));
        }
    }

    fn address(&mut self, data: &str, at: &RuleContext<'_>, report: &mut Report) {
        let wrong = not_a_uri(data);
        match wrong {
            None => report.pass(URI, at),
            Some((level, what)) => {
                let wrong = Violation::new(format!("the data is {}: {what}", quoted(data)));
                report.fail(URI, at, if level == Level::Must { wrong } else { wrong.only(level) });
                return;
            }
        }
        let Some(stream) = at.exchange.map(|exchange| &*exchange.url) else { return };
        let (here, there) = (Origin::new(stream), Origin::new(&resolve(stream, data)));
        report.check(SAME_ORIGIN, at, here.is_none() || here == there, || {
            format!("the stream is at {}, and its address at {}", quoted(stream), quoted(data))
        });
    }
}

/// Why the answer to a GET names no address, if it is one that should.
fn unnamed(exchange: &HttpExchange) -> Option<String> {
    if !exchange.is("GET") || !exchange.succeeded() || exchange.endpoint.is_some() {
        return None;
    }
    if exchange.streams() {
        let wrong = "the stream names no address in an `endpoint` event";
        return (!exchange.answer_lost).then(|| wrong.to_owned());
    }
    let listens =
        exchange.request_header("accept").is_some_and(|accept| accept.contains("text/event-stream"));
    // Where messages are posted as well, `http.get.405-or-sse` tells of it.
    (listens && exchange.transport != Transport::Streamable).then(|| {
        let (status, media) = (exchange.status(), &exchange.raw.media_type);
        format!("the answer is {status} of the type {}, and no stream that names an address", quoted(media))
    })
}

/// What is wrong with the data of an `endpoint` event, if anything.
fn not_a_uri(data: &str) -> Option<(Level, &'static str)> {
    if data.is_empty() {
        return Some((Level::Must, "it holds no address"));
    }
    if data.starts_with(['{', '"']) {
        return Some((Level::Should, "JSON, where a bare address belongs"));
    }
    if !data.is_ascii() {
        return Some((Level::Should, "characters that a URI spells in percents"));
    }
    let odd = |c: char| c.is_ascii_control() || " <>\"{}|\\^`".contains(c);
    data.contains(odd).then_some((Level::Must, "characters that no URI has"))
}

/// A server on this machine that takes what a page of another host sent. Whether it allows that host on purpose
/// cannot be seen, so that the finding is advice.
pub(super) fn foreign(
    rule: &'static Rule,
    exchange: &HttpExchange,
    at: &RuleContext<'_>,
    report: &mut Report,
) {
    let Some(origin) = header(&exchange.raw.request_headers, "origin") else { return };
    let local = Origin::new(&exchange.raw.url).is_some_and(|origin| origin.is_loopback());
    let from_here = Origin::new(origin).is_some_and(|origin| origin.is_loopback());
    match exchange.status() {
        403 => report.pass(rule, at),
        _ if !local || from_here || !exchange.succeeded() => {}
        _ => {
            let wrong = format!("the server took a message from a page of the origin {}", quoted(origin));
            report.fail(rule, at, Violation::new(wrong).only(Level::Should));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::not_a_uri;
    use crate::rule::Level;

    #[test]
    fn every_form_of_reference_is_an_address() {
        for data in ["/m", "?sessionId=1", "m", "../m", "https://a/m?x=%20", "//a/m"] {
            assert_eq!(not_a_uri(data), None, "{data}");
        }
        let level = |data| not_a_uri(data).map(|(level, _)| level);
        assert_eq!(level(""), Some(Level::Must));
        assert_eq!(level("/m m"), Some(Level::Must));
        assert_eq!(level("\"/m\""), Some(Level::Should));
        assert_eq!(level("{\"uri\":\"/m\"}"), Some(Level::Should));
    }
}
