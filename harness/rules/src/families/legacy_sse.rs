//! HTTP+SSE of 2024-11-05: the stream, its `endpoint` event, and the POSTs to the address it names.
//!
//! Later revisions keep the transport for old peers, so these rules hold in every session that is spoken over it.
//! Memory: the URLs of streams that named no address, up to [`MOST_SILENT`].

use crate::engine::{
    Family, FindingLocation, HttpExchange, Origin, RuleContext, RuleVisitor, Span, Transport, Trigger,
    Violation, quoted,
};
use crate::rule::{Level, Need, Rule};
use formats::url::resolve;
use transcript::json::{Json, JsonKind};
use transcript::session::{Carrier, header};

pub(super) const FAMILY: Family = Family {
    name: "legacy-sse",
    title: "HTTP+SSE of 2024-11-05",
    rules: &[&SENT, &FIRST, &URI, &SAME_ORIGIN, &TARGET, &MESSAGE, &VIA_STREAM, &ORIGIN],
    triggers: &[
        Trigger::HttpExchanges,
        Trigger::SseEvents,
        Trigger::Recordings(|recording| recording.http_sse),
    ],
    visitor: || Box::new(LegacySseState::default()),
};

/// What the rules of this file have in common.
const OURS: Rule = Rule {
    span: Span::SESSIONS,
    needs: &[Need::Sse],
    source: "2024-11-05 basic/transports#http-with-sse",
    ..Rule::BLANK.server()
};

static SENT: Rule = Rule {
    id: "sse.endpoint.sent",
    title: "Each HTTP+SSE stream names the address for messages in an `endpoint` event",
    why: "The client has no other way to learn the address, and waits for it until it gives up.",
    fix: "Send `event: endpoint` with the address as data when the stream is opened.",
    ..OURS
};

static FIRST: Rule = Rule {
    id: "sse.endpoint.first",
    source: "2025-11-25 basic/transports#backwards-compatibility",
    title: "The `endpoint` event is the first event of its stream",
    why: "Clients take the first event as the sign of the old transport, and are not ready for a message before it.",
    fix: "Send the `endpoint` event before anything else; only comments may precede it.",
    ..OURS.should()
};

static URI: Rule = Rule {
    id: "sse.endpoint.uri",
    title: "The data of the `endpoint` event is a URI, and nothing around it",
    why: "Clients resolve it against the address of the stream; quotes and braces become part of a path.",
    fix: "Send the bare address, such as /messages?sessionId=1; a relative one is fine.",
    softened: Some("a warning where characters are only not escaped, and on JSON around an address"),
    ..OURS
};

static SAME_ORIGIN: Rule = Rule {
    id: "sse.endpoint.same-origin",
    needs: &[Need::Http, Need::Sse],
    title: "The `endpoint` event names an address at the origin of its stream",
    why: "Clients refuse another origin, since a stranger who controls the stream could send their messages and credentials \
          anywhere; behind a proxy it is usually an internal host name that no client can reach.",
    fix: "Name the address only by its path.",
    ..OURS.should()
};

static TARGET: Rule = Rule {
    id: "sse.post.target",
    needs: &[Need::Http, Need::Sse],
    title: "Messages are posted to the address that the `endpoint` event named",
    why: "The address carries the session; a message that is posted elsewhere reaches no session or another one.",
    fix: "Resolve the data of the event against the URL of the stream, and keep its query.",
    ..OURS.client()
};

static MESSAGE: Rule = Rule {
    id: "sse.message.event",
    title: "The events that carry messages are named `message`",
    why: "Clients listen to events of that name, and those of any other name are lost.",
    fix: "Write `event: message`, or leave the name out.",
    ..OURS
};

static VIA_STREAM: Rule = Rule {
    id: "sse.response.via-stream",
    needs: &[Need::Http, Need::Sse],
    title: "Answers come through the stream and not in the body of the POST",
    why: "Clients of this transport do not read the body of a POST, and wait for the answer in vain.",
    fix: "Send the response as a `message` event, and end the POST without one.",
    ..OURS.should()
};

static ORIGIN: Rule = Rule {
    id: "sse.origin",
    needs: &[Need::Http, Need::Sse],
    source: "2024-11-05 basic/transports#security-warning",
    title: "A local HTTP+SSE server refuses pages from other origins",
    why: "Any web page can make a browser talk to local servers; the `Origin` header is what gives it away.",
    fix: "Compare `Origin` with a list of your own, and refuse with 403.",
    softened: Some("always a warning: no recording shows which origins the server trusts"),
    ..OURS
};

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
    fn visit(&mut self, at: &RuleContext<'_>) {
        let envelope = at.facts.recording.kind.http_sse;
        if at.entry.carrier == Carrier::Sse && (envelope || at.exchange.is_some()) {
            self.event(envelope, at);
        }
        if envelope
            && at.entry.carrier == Carrier::Response
            && at.message.is_some_and(|message| message.request().is_none())
        {
            let why = "a `response` that answers nothing may be the body of a GET that was to open a stream; a HAR would show it";
            at.inconclusive(&SENT, why);
        }
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let in_session = exchange.session().is_some();
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
        foreign(&ORIGIN, exchange, at);
        if !exchange.is("POST") {
            return;
        }
        at.check(&TARGET, at.exchanges.is_target(&exchange.raw.url), || {
            format!("the message is posted to {}, which no `endpoint` event named", quoted(&exchange.raw.url))
        });
        // A refusal may say why in its body.
        if !exchange.calls.is_empty() && exchange.succeeded() {
            at.check(&VIA_STREAM, exchange.messages == 0, || "the body of the POST's answer holds a message");
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        if at.facts.recording.kind.http_sse && !self.named {
            let why =
                "the envelope has no `endpoint` event, which some recorders leave out; a HAR would show it";
            at.inconclusive(&SENT, why);
        }
        // A stream of its own, and elsewhere requests that are accepted and answered nowhere: the old transport.
        for (url, location, wrong) in std::mem::take(&mut self.silent) {
            let wanted =
                self.unanswered.iter().any(|post| **post != *url && Origin::new(post) == Origin::new(&url));
            if wanted || self.stream.as_deref() == Some(&*url) {
                at.fail(&SENT, Violation::new(wrong).at(location));
            }
        }
    }
}

impl LegacySseState {
    fn event(&mut self, envelope: bool, at: &RuleContext<'_>) {
        let Some(sse) = &at.entry.sse else { return };
        let name = sse.name.as_deref().unwrap_or_default();
        let data = sse.data.as_deref();
        let before = match at.exchanges.current() {
            Some(exchange) if !envelope => exchange.is("GET") && exchange.before_endpoint,
            _ => self.before,
        };
        self.before |= at.message.is_some() || !name.is_empty() && name != "endpoint";
        if name == "endpoint" {
            let second = envelope && self.named;
            self.named = true;
            if !envelope && at.exchanges.current().is_none_or(|exchange| !exchange.is("GET")) {
                return;
            }
            at.pass(&SENT);
            if !second {
                at.check(&FIRST, !before, || "another event comes before the `endpoint` event");
            }
            self.address(data.unwrap_or_default(), at);
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
            at.pass(&MESSAGE);
        } else if hidden && !matches!(name, "" | "message") {
            at.fail(&MESSAGE, format!("a message is in an event named {}", quoted(name)));
        }
    }

    fn address(&mut self, data: &str, at: &RuleContext<'_>) {
        let wrong = not_a_uri(data);
        match wrong {
            None => at.pass(&URI),
            Some((level, what)) => {
                let wrong = Violation::new(format!("the data is {}: {what}", quoted(data)));
                at.fail(&URI, if level == Level::Must { wrong } else { wrong.only(level) });
                return;
            }
        }
        let Some(stream) = at.exchange.map(|exchange| &*exchange.url) else { return };
        let (here, there) = (Origin::new(stream), Origin::new(&resolve(stream, data)));
        at.check(&SAME_ORIGIN, here.is_none() || here == there, || {
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
    // Where messages are posted as well, `http.get.405-or-sse` tells of it.
    (exchange.listens() && exchange.transport != Transport::Streamable).then(|| {
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
pub(super) fn foreign(rule: &'static Rule, exchange: &HttpExchange, at: &RuleContext<'_>) {
    let Some(origin) = header(&exchange.raw.request_headers, "origin") else { return };
    let local = Origin::new(&exchange.raw.url).is_some_and(|origin| origin.is_loopback());
    let from_here = Origin::new(origin).is_some_and(|origin| origin.is_loopback());
    match exchange.status() {
        403 => at.pass(rule),
        _ if !local || from_here || !exchange.succeeded() => {}
        _ => {
            let wrong = format!("the server took a message from a page of the origin {}", quoted(origin));
            at.fail(rule, Violation::new(wrong).only(Level::Should));
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
