//! An HTTP exchange as rules see it: with what it carried. Memory: what it says of itself, without its bodies, and up to
//! [`MOST_CALLS`] requests.

use super::content::text_of;
use super::error_words::{says_gone, says_unauthorized};
use super::message::{META_CLIENT, META_VERSION, MessageKind, SeenMessage};
use super::url::address;
use crate::revision::Revision;
use transcript::json::{Json, JsonKind};
use transcript::message::Message;
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Entry, Exchange, Headers, Location, header};

/// The most requests of one batch that are remembered.
const MOST_CALLS: usize = 10_000;

pub(crate) const SESSION: &str = "Mcp-Session-Id";
pub(crate) const VERSION: &str = "MCP-Protocol-Version";
pub(crate) const LAST_EVENT: &str = "Last-Event-ID";

/// Which transport an exchange belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Transport {
    /// Streamable HTTP.
    Streamable,
    /// HTTP+SSE of 2024-11-05.
    Legacy,
    /// It is not MCP, as far as can be known.
    #[default]
    Other,
}

/// A request in the body of an exchange.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) method: Box<str>,
    /// As it is written, quotes and all.
    pub(crate) id: Box<str>,
    pub(crate) answered: bool,
}

/// An exchange and what it carried.
#[derive(Debug, Default)]
pub(crate) struct HttpExchange {
    pub(crate) raw: Exchange<'static>,
    /// Its number in the order of the session.
    pub(crate) number: u64,
    /// When it began.
    pub(crate) started: Option<i64>,
    pub(crate) transport: Transport,
    /// Where its entry stands.
    pub(super) location: Location,
    /// The revision by which it is judged, as far as it showed one.
    pub(super) revision: Option<Revision>,
    /// The requests that its body made.
    pub(crate) calls: Vec<Call>,
    /// How many notifications and responses its body held.
    pub(crate) reported: u64,
    /// The id of a response in its body.
    pub(crate) response: Option<Box<str>>,
    /// Its body holds a method that MCP has, and not JSON-RPC of something else.
    pub(super) knows_mcp: bool,
    /// It is of a service that speaks JSON-RPC and not MCP.
    pub(super) foreign: bool,
    /// A message in its body names its version, as those of the era without sessions do.
    pub(crate) names_version: bool,
    /// The name of the client that its body says it is from.
    pub(crate) client: Option<Box<str>>,
    /// The body was an array of messages.
    pub(crate) batch: bool,
    /// The body held several messages, one after another.
    pub(crate) several: bool,
    /// What was wrong with the body, where it was to be a message and is none.
    pub(crate) bad_request: Option<Code>,
    /// A byte order mark comes before the body. Most JSON parsers refuse it, and RFC 8259 lets them.
    pub(crate) marked: bool,
    /// The body could have been a message and is not in the recording.
    pub(crate) request_lost: bool,
    /// The same for the answer.
    pub(crate) answer_lost: bool,
    /// What was wrong with an answer that was to be a message and is none.
    pub(crate) bad_answer: Option<Code>,
    /// How many messages the answer held.
    pub(crate) messages: u64,
    /// How many of them were errors.
    pub(crate) errors: u64,
    /// The code of the last of them.
    pub(crate) error_code: Option<i64>,
    /// Its message says that the session is gone.
    pub(crate) session_gone: bool,
    /// Its message says that a token is missing or not valid.
    pub(crate) unauthorized: bool,
    /// Events of the answer's stream were seen, comments aside.
    pub(crate) events: u64,
    /// One of them has data and came before any `endpoint` event.
    pub(crate) before_endpoint: bool,
    /// Comments stood in the answer's stream.
    pub(crate) comments: bool,
    /// The stream ends in an event that no empty line ends: whether its data are a whole message.
    pub(crate) unfinished: Option<bool>,
    /// The stream ends in a line that is not a field.
    pub(crate) no_stream: bool,
    /// The first event has an id and no data.
    pub(crate) primed: bool,
    /// The last id that an event had.
    pub(crate) last_id: Option<Box<str>>,
    /// The last reconnection time that was named, in milliseconds.
    pub(crate) retry: Option<u64>,
    /// Events came although every request was answered.
    pub(crate) went_on: bool,
    /// The version in the answer to an `initialize`, as it is spelled.
    pub(crate) chosen: Option<Box<str>>,
    /// The address that an `endpoint` event named, first of all.
    pub(crate) endpoint: Option<Box<str>>,
}

impl HttpExchange {
    pub(super) fn new(exchange: Exchange<'static>, entry: &Entry<'_>, revision: Option<Revision>) -> Self {
        let is_refused = exchange.status.is_some_and(|status| status >= 400);
        let refusal = exchange.document.as_deref().filter(|_| is_refused);
        let session_gone = refusal.is_some_and(|text| says_gone(&text.to_ascii_lowercase()));
        Self {
            session_gone,
            raw: exchange,
            number: entry.exchange.unwrap_or_default(),
            started: entry.time,
            location: entry.location,
            revision,
            ..Self::default()
        }
    }

    /// A header of the request.
    pub(crate) fn request_header(&self, name: &str) -> Option<&str> {
        header(&self.raw.request_headers, name)
    }

    /// A header of the answer.
    pub(crate) fn response_header(&self, name: &str) -> Option<&str> {
        header(&self.raw.response_headers, name)
    }

    /// The session that it is of, by the request or else by the answer.
    pub(crate) fn session(&self) -> Option<&str> {
        self.request_header(SESSION).or(self.response_header(SESSION))
    }

    /// The session, the version and the token that its request names.
    pub(crate) fn named(&self) -> [Option<Box<str>>; 3] {
        [SESSION, VERSION, "authorization"].map(|name| self.request_header(name).map(Into::into))
    }

    /// Where it goes, and the session that it is of.
    pub(crate) fn peer(&self) -> Box<str> {
        format!("{} {}", self.url(), self.session().unwrap_or_default()).into()
    }

    /// Whether the request accepts a stream of events.
    pub(crate) fn listens(&self) -> bool {
        self.request_header("accept").is_some_and(|accept| accept.contains("text/event-stream"))
    }

    /// Whether the request's method is this one.
    pub(crate) fn is(&self, method: &str) -> bool {
        self.raw.method.eq_ignore_ascii_case(method)
    }

    /// The answer's status, where there was an answer; 0 where there was none.
    pub(crate) fn status(&self) -> u16 {
        self.raw.status.unwrap_or_default()
    }

    /// The server took what it was sent.
    pub(crate) fn succeeded(&self) -> bool {
        (200..300).contains(&self.status())
    }

    /// It is a stream of HTTP+SSE, and nothing tells when it said what.
    pub(crate) fn is_unplaced(&self) -> bool {
        self.endpoint.is_some() && !self.raw.timed
    }

    /// Its recorder says when the answer was whole, and that nobody broke it off.
    pub(crate) fn is_whole(&self) -> bool {
        self.raw.timed && self.raw.ended.is_some() && self.raw.fate.is_none()
    }

    /// The answer is a stream of events.
    pub(crate) fn streams(&self) -> bool {
        self.succeeded() && self.raw.media_type == "text/event-stream"
    }

    /// Its URL without query and fragment, and without the slash at its end that some servers redirect to.
    pub(crate) fn url(&self) -> &str {
        address(&self.raw.url)
    }

    /// Its headers have something of MCP.
    pub(super) fn names_mcp(&self) -> bool {
        [SESSION, VERSION, "Mcp-Method"].iter().any(|name| self.request_header(name).is_some())
            || self.resumes()
    }

    /// Its body held messages.
    pub(crate) fn speaks(&self) -> bool {
        self.reported > 0 || !self.calls.is_empty() || self.bad_request.is_some()
    }

    /// Its streams are of messages, and not of another service.
    pub(crate) fn streams_messages(&self) -> bool {
        let asked = !self.foreign && !self.calls.is_empty();
        asked || self.endpoint.is_some() || self.is("GET") && self.request_header(SESSION).is_some()
    }

    /// It asks with this method.
    pub(crate) fn calls(&self, method: &str) -> bool {
        self.calls.iter().any(|call| &*call.method == method)
    }

    /// Whether a step is the event by which its stream asks for messages.
    pub(super) fn opens(&self, entry: &Entry<'_>) -> bool {
        self.is("GET") && entry.sse.as_ref().is_some_and(|sse| sse.name.as_deref() == Some("endpoint"))
    }

    /// It carries on with a stream that broke off.
    pub(crate) fn resumes(&self) -> bool {
        self.request_header(LAST_EVENT).is_some()
    }

    /// Whether every request that it made was answered in it.
    pub(crate) fn is_answered(&self) -> bool {
        self.calls.iter().all(|call| call.answered)
    }

    /// Whether it began when an earlier one was over for certain: within one millisecond they may have crossed.
    pub(crate) fn began_after(&self, ended: Option<i64>) -> bool {
        matches!((self.started, ended), (Some(started), Some(ended)) if started > ended)
    }

    pub(super) fn take(
        &mut self,
        entry: &Entry<'_>,
        message: Option<&SeenMessage<'_>>,
        revision: Option<Revision>,
    ) {
        self.revision = revision.or(self.revision);
        match (entry.carrier, message, &entry.content) {
            (Carrier::Request, Some(message), _) => self.request(message),
            (Carrier::Request, None, Content::Noise(noise)) => {
                self.batch |= noise.why.code == Code::Batch;
                self.several |= noise.why.code == Code::InvalidJson && holds_several(&noise.text);
                self.bad_request.get_or_insert(noise.why.code);
            }
            (Carrier::Request, None, Content::Mark) => self.marked = true,
            (Carrier::Request, None, Content::Missing(_)) => self.request_lost = true,
            (_, Some(message), _) => self.answer(message, entry),
            (_, None, Content::Missing(_)) => self.answer_lost = true,
            (_, None, Content::Noise(noise)) => {
                self.bad_answer.get_or_insert(noise.why.code);
            }
            (Carrier::Sse, None, Content::Event) => self.event(entry, false),
            // An event that was cut off may have been the answer.
            (Carrier::Sse, None, Content::Skipped(_)) => {
                self.answer_lost = true;
                if self.raw.is_left() {
                    return;
                }
                self.comments |= entry.sse.as_ref().is_some_and(|sse| sse.comments > 0);
                let data = entry.sse.as_ref().and_then(|sse| sse.data.as_deref());
                self.unfinished = data.map(|data| Message::parse(data).is_ok());
                self.no_stream = data.is_none();
            }
            _ => {}
        }
    }

    fn request(&mut self, message: &SeenMessage<'_>) {
        self.batch |= message.item.is_some();
        self.knows_mcp |= message.known.is_some();
        self.names_version |= message.meta(META_VERSION).is_some();
        self.client = message.meta(META_CLIENT).and_then(|client| text_of(client.member("name")?));
        if message.kind != MessageKind::Request {
            self.reported += 1;
            if message.method.is_none() {
                self.response = message.raw.written_id().map(Into::into);
            }
            return;
        }
        let Some(id) = message.raw.written_id() else {
            self.bad_request.get_or_insert(Code::InvalidId);
            return;
        };
        if self.calls.len() < MOST_CALLS {
            let method = message.method.as_deref().unwrap_or_default().into();
            self.calls.push(Call { method, id: id.into(), answered: false });
        }
    }

    fn answer(&mut self, message: &SeenMessage<'_>, entry: &Entry<'_>) {
        self.messages += 1;
        self.errors += u64::from(message.kind == MessageKind::Error);
        self.error_code = message.error_code().or(self.error_code);
        let error = message.error().and_then(|error| error.member("message")).and_then(text_of);
        let says =
            |what: fn(&str) -> bool| error.as_deref().is_some_and(|text| what(&text.to_ascii_lowercase()));
        self.session_gone |= says(says_gone);
        self.unauthorized |= says(says_unauthorized);
        if let Some(result) = message.result_of("initialize") {
            self.chosen = result.member("protocolVersion").and_then(text_of);
        }
        if matches!(message.kind, MessageKind::Result | MessageKind::Error) {
            let id = message.raw.written_id();
            if let Some(call) = self.calls.iter_mut().find(|call| id == Some(&*call.id)) {
                call.answered = true;
            }
        } else if entry.carrier == Carrier::Sse {
            self.went_on |= !self.calls.is_empty() && self.is_answered();
        }
        if entry.carrier == Carrier::Sse {
            self.event(entry, true);
        }
    }

    /// Takes an event in, which carries a message or does not.
    fn event(&mut self, entry: &Entry<'_>, carries: bool) {
        let Some(sse) = &entry.sse else { return };
        self.comments |= sse.comments > 0;
        if !carries && sse.name.is_none() && sse.id.is_none() && sse.data.is_none() {
            (self.comments, self.retry) = (self.comments | sse.retry.is_some(), sse.retry.or(self.retry));
            return;
        }
        let id = sse.id.as_deref().filter(|id| !id.is_empty());
        if self.events == 0 {
            self.primed = !carries && id.is_some() && sse.data.as_deref().unwrap_or_default().is_empty();
        }
        let data = sse.data.as_deref().unwrap_or_default();
        match sse.name.as_deref() {
            _ if self.endpoint.is_some() => {}
            Some("endpoint") => self.endpoint = Some(data.into()),
            // Of an event without data no client hears.
            _ => self.before_endpoint |= carries || !data.is_empty(),
        }
        self.events += 1;
        self.last_id = id.map(Into::into).or(self.last_id.take());
        self.retry = sse.retry.or(self.retry);
    }
}

/// Whether these are all headers of a request as they were on the wire, rather than those that a recorder chooses to keep or a
/// converter writes: no request comes without one of these.
pub(crate) fn shows_all(headers: &Headers<'_>) -> bool {
    ["host", ":authority", "user-agent", "content-length", "connection"]
        .iter()
        .any(|name| header(headers, name).is_some())
}

/// The string that a value is, or its text.
pub(crate) fn plain(value: Json<'_>) -> Box<str> {
    text_of(value).unwrap_or_else(|| value.text().into())
}

/// Whether a text is JSON-RPC messages, one after another. Each ends where a line does.
pub(crate) fn holds_several(text: &str) -> bool {
    let is_message = |line: &str| {
        Json::parse(line.trim())
            .is_ok_and(|value| value.kind() == JsonKind::Object && value.member("jsonrpc").is_some())
    };
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.clone().nth(1).is_some() && lines.all(is_message)
}
