//! The requests of a session: where they go, and their headers. And the streams of events that answer them, read as they come:
//! one that breaks off is resumed behind its last event.

use crate::http::{
    Client, EventReader, HELD, JSON, LAST_EVENT, SESSION, SseEvent, Target, Unread, VERSION, collect,
    endpoint_path, error_chain, full, insert, text,
};
use crate::lock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use transcript::revision::Revision;

/// How much of what a server says to an error is repeated.
const QUOTED: usize = 200;

/// How long is waited before a stream is resumed, where the server does not say.
const RETRY: Duration = Duration::from_secs(1);

/// The longest that a server can have us wait.
const LONGEST_RETRY: Duration = Duration::from_secs(60);

/// How long is waited at least.
const SHORTEST_RETRY: Duration = Duration::from_millis(50);

/// How many streams in a row may end at once without an event.
const TRIES: u32 = 3;

/// Who sends the requests of a session.
pub(super) struct Caller {
    client: Client,
    pub(super) origin: String,
    target: String,
    pub(super) state: Mutex<SessionState>,
    /// How many bytes of answers were read, and how many may be.
    heard: AtomicU64,
    most: u64,
}

/// What is said of a request where more came.
pub(crate) const FLOODED: &str = "the server wrote more than 64 MiB";

/// How it begins where the body of an answer is not whole.
pub(crate) const BROKEN: &str = "the answer broke off: ";

/// What is said where a stream ends without the answer, and cannot be resumed.
pub(crate) const CLOSED: &str = "the server closed the stream before it answered";

/// How it begins where a stream is cut off.
pub(crate) const TORN: &str = "the stream broke off: ";

/// How far ahead of its cancellation a request is sent.
pub(super) const AHEAD: Duration = Duration::from_millis(10);

/// What stands before the address of the metadata that the challenge of a 401 names.
pub(crate) const METADATA: &str = ", with metadata at ";

/// What requests have to say.
#[derive(Default)]
pub(super) struct SessionState {
    /// The id of `initialize`, until it is answered.
    pub(super) hello: Option<String>,
    /// What opened the session, where a new one may follow it.
    pub(super) opening: Option<String>,
    /// The session's id, as it came: it may have bytes that none may have.
    pub(super) id: Option<HeaderValue>,
    /// Each id that a session was given.
    pub(super) given: Vec<String>,
    /// A later answer named another one.
    pub(super) renamed: bool,
    /// The revision that was agreed on.
    pub(super) version: Option<String>,
    /// A request named its revision itself: there is no session.
    modern: bool,
    /// Where messages go over HTTP+SSE.
    pub(super) endpoint: Option<String>,
    /// The server has answered something.
    pub(super) reached: bool,
    /// How the session ended, where the client did not end it.
    pub(super) fate: Option<Outcome>,
}

/// How a session over HTTP ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The client closed its end.
    Closed,
    /// The server could not be reached from the beginning on.
    Unreachable,
    /// The server does not know the session any more, or its stream broke off.
    Lost,
    /// A signal of this number asked for it.
    #[cfg_attr(not(unix), expect(dead_code, reason = "no signals are caught elsewhere"))]
    Signal(i32),
}

impl Outcome {
    /// The exit code that a server over stdio would have.
    pub(crate) fn code(self) -> i32 {
        match self {
            Self::Closed => 0,
            Self::Lost => 1,
            Self::Unreachable => 3,
            Self::Signal(signal) => 128 + signal,
        }
    }
}

impl Caller {
    /// Of answers, a prober reads no more than one message may have.
    pub(super) fn new(target: &Target, client: Client, is_probing: bool) -> Self {
        let origin = target.origin();
        let (target, state) = (format!("{origin}{}", target.path()), Mutex::default());
        let most = if is_probing { HELD as u64 } else { u64::MAX };
        Self { client, target, origin, state, heard: AtomicU64::default(), most }
    }

    /// Counts bytes of answers; why no more are read, where they are too many.
    fn hear(&self, bytes: usize) -> Result<(), String> {
        let heard = self.heard.fetch_add(bytes as u64, Ordering::Relaxed) + bytes as u64;
        if heard > self.most { Err(FLOODED.to_owned()) } else { Ok(()) }
    }

    /// A body that is one message, or says why there is none.
    pub(super) async fn whole(&self, body: Incoming) -> Result<String, String> {
        let left = self.most.saturating_sub(self.heard.load(Ordering::Relaxed));
        let read = collect(body, HELD.min(usize::try_from(left).unwrap_or(HELD))).await;
        let bytes = read.map_err(|why| match why {
            Unread::TooLong if self.most != u64::MAX => FLOODED.to_owned(),
            why => format!("{BROKEN}{why}"),
        })?;
        self.hear(bytes.len())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Keeps the session's id where the answer to these requests gives it; whether the session is one of HTTP+SSE. Only `initialize` is
    /// answered with another id.
    pub(super) fn learn(&self, headers: &HeaderMap, ids: &[String]) -> bool {
        let mut state = lock(&self.state);
        if let Some(id) = headers.get(SESSION).filter(|id| !state.modern && state.id.as_ref() != Some(id)) {
            let begins = state.hello.as_ref().is_some_and(|hello| ids.contains(hello));
            if begins || state.id.is_none() {
                state.given.extend(text(headers, SESSION));
                state.id = Some(id.clone());
            } else {
                state.renamed = true;
            }
        }
        state.endpoint.is_some()
    }

    /// Has messages go to an endpoint; whether it is at the same server, since a server that names another one may want what is
    /// sent there.
    pub(super) fn go_to(&self, endpoint: &str) -> bool {
        let Some(path) = endpoint_path(&self.origin, &self.target, endpoint) else { return false };
        lock(&self.state).endpoint = Some(format!("{}{path}", self.origin));
        true
    }

    /// Sends a request with the headers of the session.
    pub(super) async fn send(
        &self,
        method: Method,
        accept: &str,
        last_event: Option<&str>,
        body: Option<&str>,
    ) -> Result<Response<Incoming>, String> {
        let request = {
            let mut state = lock(&self.state);
            let said = body.filter(|_| state.version.is_none()).map(serde_json::from_str::<Value>);
            let said = said.and_then(Result::ok).unwrap_or_default();
            let named = said["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
            state.modern |= named.is_some();
            let is_modern = state.modern;
            let version = named.or(is_modern.then_some(Revision::V2026_07_28.name()));
            let repeated = said["method"].as_str().filter(|_| is_modern);
            let name = match repeated {
                Some("resources/read") => said["params"]["uri"].as_str(),
                Some("tools/call" | "prompts/get") => said["params"]["name"].as_str(),
                _ => None,
            };
            let name = name.map(spelled);
            let to = state.endpoint.as_ref().filter(|_| body.is_some()).unwrap_or(&self.target);
            let uri: Uri = to.parse().map_err(|_| "the server's endpoint is not a URL".to_owned())?;
            let mut request = Request::new(full(body.unwrap_or_default().to_owned()));
            (*request.method_mut(), *request.uri_mut()) = (method, uri);
            for (name, value) in [
                (ACCEPT.as_str(), Some(accept)),
                (CONTENT_TYPE.as_str(), body.map(|_| JSON)),
                (VERSION, state.version.as_deref().or(version)),
                ("mcp-method", repeated),
                ("mcp-name", name.as_deref()),
                (LAST_EVENT, last_event),
            ] {
                insert(request.headers_mut(), name, value);
            }
            request.headers_mut().extend(state.id.clone().map(|id| (HeaderName::from_static(SESSION), id)));
            request
        };
        let answer = self.client.send(request).await;
        let answer =
            answer.map_err(|failure| format!("{} cannot be reached: {}", self.origin, failure.why))?;
        lock(&self.state).reached = true;
        Ok(answer)
    }
}

/// A name as a header carries it: as it is, or as Base64.
fn spelled(name: &str) -> Cow<'_, str> {
    let is_plain = name.bytes().all(|byte| matches!(byte, b' '..=b'~')) && name.trim() == name;
    match is_plain && !name.starts_with("=?base64?") {
        true => name.into(),
        false => format!("=?base64?{}?=", STANDARD.encode(name)).into(),
    }
}

/// A status, and the beginning of what the server says to it.
pub(super) fn described(status: StatusCode, body: &str) -> String {
    let said: String = body.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(QUOTED).collect();
    if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") }
}

/// The address in the challenge of a 401 at which the metadata of the resource is.
pub(super) fn named_metadata(headers: &HeaderMap) -> Option<String> {
    let challenges = text(headers, "www-authenticate")?;
    let (_, value) = challenges.split_once("resource_metadata=")?;
    let value = value.trim_start_matches('"').split(['"', ',', ' ']).next()?;
    value.starts_with("http").then(|| value.to_owned())
}

/// A stream that is read.
pub(super) struct Stream {
    body: Incoming,
    reader: EventReader,
    opened: Instant,
    /// The id of the last event.
    pub(super) last: Option<String>,
    pub(super) retry: Duration,
    /// How many bodies in a row ended at once, and said nothing.
    in_vain: u32,
}

impl Stream {
    pub(super) fn new(body: Incoming) -> Self {
        let (reader, opened) = (EventReader::new(HELD), Instant::now());
        Self { body, reader, opened, last: None, retry: RETRY, in_vain: 1 }
    }

    /// Goes on with another body.
    pub(super) fn resume(&mut self, body: Incoming) {
        (self.body, self.reader, self.opened) = (body, EventReader::new(HELD), Instant::now());
        self.in_vain += 1;
    }

    /// Whether it is worth another try, now that it has ended.
    pub(super) fn may_try(&mut self) -> bool {
        if self.opened.elapsed() > RETRY {
            self.in_vain = 0;
        }
        self.in_vain < TRIES
    }

    /// The events that come next, those without data left out; with an error, in a sentence, where the stream ends, as
    /// `at_end` says, or breaks off, or an event is too long.
    pub(super) async fn next(&mut self, caller: &Caller, at_end: &str) -> Result<Vec<SseEvent>, String> {
        let frame = self.body.frame().await.ok_or_else(|| at_end.to_owned())?;
        let frame = frame.map_err(|error| format!("{TORN}{}", error_chain(&error)))?;
        let data = frame.into_data().unwrap_or_default();
        caller.hear(data.len())?;
        let (mut events, too_long) = self.reader.take(&data);
        for event in &events {
            if let Some(retry) = event.retry {
                self.retry = Duration::from_millis(retry).clamp(SHORTEST_RETRY, LONGEST_RETRY);
                // It asks to be polled.
                self.in_vain = 0;
            }
            if let Some(id) = &event.id {
                self.last = Some(id.clone()).filter(|id| !id.is_empty());
            }
        }
        events.retain(|event| !event.data.is_empty());
        if !events.is_empty() {
            self.in_vain = 0;
        }
        match too_long {
            Some(_) => Err(format!("an event has more than {} MiB", HELD >> 20)),
            None => Ok(events),
        }
    }
}
