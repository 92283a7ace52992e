//! Requests and their answers, as spans.

use super::facts::{CLIENT, ERROR, Names, SERVER, Span, Wire, parent, text, text_attribute, unicode};
use crate::object::{OrderedValue, object};
use formats::{OwnedEntry, Session, usual_sender};
use hmac_sha256::Hash as Sha256;
use std::collections::BTreeMap;
use transcript::json::{Json, write_compact};
use transcript::message::{Id, Message, MessageClass};
use transcript::session::Side;

/// The spans of a session.
#[derive(Debug)]
pub(super) struct Spans {
    /// Each with who reports it: the side that asked, or the other one where the request says that its sender has a span.
    pub(super) spans: Vec<(Side, Span)>,
    pub(super) names: Names,
    pub(super) seen: Seen,
}

/// What was seen of a session.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) requests: usize,
    pub(super) notifications: usize,
    pub(super) orphans: usize,
    pub(super) unanswered: usize,
    /// Some message has a time.
    pub(super) timed: bool,
}

/// One message.
#[derive(Clone, Copy)]
struct TimedMessage<'s> {
    entry: &'s OwnedEntry,
    message: Message<'s>,
    /// In milliseconds since 1970, or made up.
    at: i64,
}

impl Spans {
    pub(super) fn new(session: &Session) -> Self {
        let (said, timed) = messages(session);
        let answers = answers(&said);
        let ends = said.iter().map(|said| said.at).max().unwrap_or_default();
        let trace = trace_id(&said);
        let mut wire = Wire::new(session);
        let mut names = Names::default();
        let mut version = None;
        let mut seen = Seen { timed, ..Seen::default() };
        let mut spans = Vec::new();
        for (index, asked) in said.iter().enumerate() {
            let is_request = asked.message.class() == MessageClass::Call;
            match (is_request, asked.message.id(), asked.entry.answers) {
                (true, Id::Missing, _) => seen.notifications += 1,
                (false, _, None) => seen.orphans += 1,
                _ => {}
            }
            if !is_request || matches!(asked.message.id(), Id::Missing) {
                continue;
            }
            seen.requests += 1;
            let answer = answers.get(&index).copied();
            seen.unanswered += usize::from(answer.is_none());
            let method = asked.message.method().map(unicode).unwrap_or_default();
            let outcome = answer.and_then(|answer| answer.message.outcome());
            if method == "initialize" {
                names.take(Side::Client, asked.message.params().and_then(|it| it.member("clientInfo")));
                names.take(Side::Server, outcome.and_then(|it| it.member("serverInfo")));
                version = outcome.and_then(|it| text(it.member("protocolVersion")?)).or(version);
            }
            let mut span = Span::new(asked, &method, answer.as_ref());
            let meta = asked.message.params().and_then(|params| params.member("_meta"));
            let own = meta.and_then(|it| text(it.member("io.modelcontextprotocol/protocolVersion")?));
            let spoken = own.as_ref().or(version.as_ref()).map(String::as_str);
            span.attributes.extend(spoken.map(|it| text_attribute("mcp.protocol.version", it)));
            span.attributes.extend(wire.attributes(asked.entry));
            let mut hash = Sha256::new();
            hash.update(trace);
            hash.update((index as u64).to_be_bytes());
            span.id = hex(&hash.finalize()[..8]);
            span.end = answer.map_or(ends, |answer| answer.at).max(asked.at);
            let from = asked.entry.side.unwrap_or_else(|| usual_sender(&asked.message));
            let reporter = match parent(&asked.message) {
                Some((trace, parent)) => {
                    (span.trace, span.parent, span.kind) = (trace, Some(parent), SERVER);
                    from.other()
                }
                None => {
                    span.trace = hex(&trace);
                    from
                }
            };
            spans.push((reporter, span));
        }
        Self { spans, names, seen }
    }
}

impl Span {
    /// A span with what the request and its answer say.
    fn new(asked: &TimedMessage<'_>, method: &str, answer: Option<&TimedMessage<'_>>) -> Self {
        let member = |name: &str| asked.message.params().and_then(|params| text(params.member(name)?));
        let mut attributes = vec![text_attribute("mcp.method.name", method)];
        let id = asked.message.id().key();
        attributes.extend(id.map(|id| text_attribute("jsonrpc.request.id", String::from_utf8_lossy(&id))));
        let target = match method {
            "tools/call" => {
                attributes.push(text_attribute("gen_ai.operation.name", "execute_tool"));
                member("name").map(|name| ("gen_ai.tool.name", name))
            }
            "prompts/get" => member("name").map(|name| ("gen_ai.prompt.name", name)),
            _ => None,
        };
        let mut name = method.to_owned();
        if let Some((key, target)) = target {
            name = format!("{method} {target}");
            attributes.push(text_attribute(key, target));
        }
        if method.starts_with("resources/") {
            attributes.extend(member("uri").map(|uri| text_attribute("mcp.resource.uri", uri)));
        }
        let status = answer.map_or_else(object, |answer| {
            let (more, status) = outcome(method, &answer.message);
            attributes.extend(more);
            status
        });
        let (trace, id) = (String::new(), String::new());
        let (start, end) = (asked.at, asked.at);
        Self { trace, id, parent: None, name, kind: CLIENT, start, end, attributes, status }
    }
}

/// What an answer says of how the request went.
fn outcome(method: &str, answer: &Message<'_>) -> (Vec<OrderedValue<'static>>, OrderedValue<'static>) {
    let outcome = answer.outcome();
    let member = |name: &str| outcome.and_then(|outcome| outcome.member(name));
    let failed = |message: Option<String>| object().with("code", ERROR).with("message", message);
    match answer.class() {
        MessageClass::Error => {
            let code = member("code").and_then(Json::as_number).unwrap_or("_OTHER");
            let mut attributes = vec![text_attribute("error.type", code)];
            if code != "_OTHER" {
                attributes.push(text_attribute("rpc.response.status_code", code));
            }
            (attributes, failed(member("message").and_then(text)))
        }
        _ if method == "tools/call" && member("isError").is_some_and(|it| it.text() == "true") => {
            (vec![text_attribute("error.type", "tool_error")], failed(None))
        }
        _ => (Vec::new(), object()),
    }
}

/// The messages with their times, and whether any was recorded. A message without one has that of the message before.
fn messages(session: &Session) -> (Vec<TimedMessage<'_>>, bool) {
    let said = |entry| OwnedEntry::message(entry).map(|message| (entry, message));
    let first = session.entries.iter().filter(|entry| entry.message().is_some()).find_map(|entry| entry.time);
    let mut now = first.unwrap_or_default();
    let messages = session.entries.iter().filter_map(said).map(|(entry, message)| {
        now = if first.is_some() { entry.time.unwrap_or(now) } else { now + 1 };
        TimedMessage { entry, message, at: now }
    });
    (messages.collect(), first.is_some())
}

/// The first answer to each request, by the request's index.
fn answers<'s>(said: &[TimedMessage<'s>]) -> BTreeMap<usize, TimedMessage<'s>> {
    let mut answers = BTreeMap::new();
    for answer in said {
        if let Some(index) = answer.entry.answers.and_then(|index| usize::try_from(index).ok()) {
            answers.entry(index).or_insert(*answer);
        }
    }
    answers
}

/// The first 16 bytes of a digest of what both sides said.
fn trace_id(said: &[TimedMessage<'_>]) -> [u8; 16] {
    let mut digest = Sha256::new();
    let mut text = Vec::new();
    for said in said {
        text.clear();
        text.extend_from_slice(said.entry.side.map_or("", Side::name).as_bytes());
        write_compact(said.message.json(), &mut text);
        text.push(b'\n');
        digest.update(&text);
    }
    let mut id = [0; 16];
    id.copy_from_slice(&digest.finalize()[..16]);
    id
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
