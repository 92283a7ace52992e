//! The state of a client over HTTP, its requests, and how it takes what comes back for each.

use crate::http::{EVENTS, Failure, JSON, LAST_EVENT, SESSION, SseEvent, VERSION, insert, media_type, text};
use crate::play::game::Game;
use crate::play::http::calls::{CallEvent, HttpClient};
use crate::play::http::route::{Reply, Route, Routes};
use crate::play::plan::{Mismatch, MismatchKind, Plan};
use formats::identify::Transport;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap};
use hyper::{Method, Uri};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use tokio::task::AbortHandle;
use transcript::json::Json;
use transcript::message::resembles_message;

/// How often a client comes back to a stream on which nothing comes.
const TRIES: u32 = 3;

/// A client at work.
pub(super) struct ClientSession<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) game: Game<'p>,
    pub(super) routes: Routes,
    pub(super) transport: Transport,
    pub(super) path: String,
    pub(super) caller: HttpClient<'p>,
    /// Requests that are open.
    pub(super) calls: BTreeMap<u64, Call>,
    /// The request that has to be accepted before the next message is sent.
    pub(super) blocked: Option<u64>,
    pub(super) session: Option<String>,
    /// What proves who asks, as the last message had it.
    pub(super) proof: Option<String>,
    /// Where messages go over HTTP+SSE.
    pub(super) endpoint: Option<String>,
    /// Ids of events that came: on which connection, and a hash of the data.
    pub(super) seen: BTreeMap<String, (u64, u64)>,
    /// The last of them on each stream.
    pub(super) last: BTreeMap<Route, String>,
    /// How often a stream was opened without anything coming on it.
    pub(super) tries: BTreeMap<Route, u32>,
    /// The server has no stream of its own.
    pub(super) no_get: bool,
    /// The GET that was made before something was awaited on it.
    pub(super) ahead: Option<u64>,
    /// How many messages the server has begun to answer.
    pub(super) accepted: u64,
    /// Nobody listens there.
    pub(super) unreachable: Option<String>,
}

pub(super) struct Call {
    pub(super) what: Purpose,
    pub(super) running: AbortHandle,
    pub(super) status: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The message of this step.
    Post(usize),
    /// A GET for the rest of a stream.
    Stream(Route),
    /// The end of the session.
    Delete,
}

impl Purpose {
    pub(super) fn route(self) -> Option<Route> {
        match self {
            Self::Post(step) => Some(Route::Answer(step)),
            Self::Stream(route) => Some(route),
            Self::Delete => None,
        }
    }
}

impl ClientSession<'_> {
    /// Whether the server has not named where messages go.
    pub(super) fn is_lost(&self) -> bool {
        self.transport == Transport::HttpSse && self.endpoint.is_none()
    }

    /// The headers of every request.
    pub(super) fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        // The revision is known when the answer to `initialize` is.
        let known = self.initialized().unwrap_or(false);
        for (name, value) in [
            (ACCEPT.as_str(), Some(accept)),
            (SESSION, self.session.as_deref()),
            (AUTHORIZATION.as_str(), self.proof.as_deref()),
            (VERSION, self.routes.version.as_deref().filter(|_| known)),
        ] {
            insert(&mut headers, name, value);
        }
        headers
    }

    /// Whether the answer to `initialize` was heard; none where the session has none.
    pub(super) fn initialized(&self) -> Option<bool> {
        self.routes.initialized.map(|answer| self.game.player.is_done(answer))
    }

    /// Opens a stream, behind the last event that came on it; the number of the request.
    pub(super) fn open(&mut self, route: Route) -> Option<u64> {
        let tries = self.tries.entry(route).or_default();
        *tries += 1;
        if *tries > TRIES {
            self.no_get |= route == Route::Get;
            return None;
        }
        let mut headers = self.headers(EVENTS);
        let last = self.last.get(&route).filter(|_| self.transport == Transport::StreamableHttp);
        insert(&mut headers, LAST_EVENT, last.map(String::as_str));
        let path = self.path.clone();
        let (number, running) = self.caller.send(Method::GET, &path, headers, Vec::new())?;
        self.calls.insert(number, Call { what: Purpose::Stream(route), running, status: None });
        Some(number)
    }

    /// Heeds something that came back for a request.
    pub(super) fn handle(&mut self, number: u64, came: CallEvent) {
        // What comes for a request that was let go is nobody's.
        let Some(what) = self.calls.get(&number).map(|call| call.what) else { return };
        match came {
            CallEvent::Answered(status, headers) => self.answered(number, what, status, &headers),
            CallEvent::Event(event) => self.event(number, what, event),
            CallEvent::Body(bytes) => self.body(number, what, bytes),
            CallEvent::TooLong(bytes) => {
                self.game.report(Mismatch::new(MismatchKind::TooLong(bytes), None));
                self.ended(number, what, None);
            }
            CallEvent::Ended(broken) => self.ended(number, what, broken),
            CallEvent::Failed(failure) => self.failed(number, failure),
        }
    }

    /// The head of an answer.
    fn answered(&mut self, number: u64, what: Purpose, status: u16, headers: &HeaderMap) {
        if let Some(call) = self.calls.get_mut(&number) {
            call.status = Some(status);
        }
        self.blocked = self.blocked.filter(|blocked| *blocked != number);
        let media = media_type(headers);
        match what {
            Purpose::Post(step) => {
                self.accepted += 1;
                let expected = self.expected(step);
                let fits = status == expected
                    || self.transport == Transport::HttpSse && (200..300).contains(&status);
                if !fits {
                    let why = format!("the server answered with status {status}; expected {expected}");
                    self.game.report_at(step, why);
                }
                let asks = matches!(self.routes.replies.get(step), Some(Reply::Json(_) | Reply::Stream));
                let read = media == JSON || media == EVENTS;
                if self.transport == Transport::StreamableHttp && asks && fits && !read {
                    let whole = text(headers, CONTENT_TYPE.as_str()).map(|media| media.to_lowercase());
                    let media = whole.as_deref().unwrap_or("nothing");
                    let why = format!("the server answered with {media}; expected {JSON} or {EVENTS}");
                    self.game.report_at(step, why);
                }
                let given = headers.get(SESSION).and_then(|id| id.to_str().ok());
                if let Some(id) = given.filter(|_| self.plan.script.is(step, "initialize")) {
                    self.session = Some(id.to_owned());
                }
            }
            // A server need not have a stream of its own; what is awaited on it is missed soon enough.
            Purpose::Stream(Route::Get) if status == 405 => self.no_get = true,
            // It may be too early for a stream, and is tried again once something is awaited on it.
            Purpose::Stream(Route::Get) if status != 200 && self.ahead == Some(number) => {}
            Purpose::Stream(route) if status != 200 || media != EVENTS => {
                let why = format!("a GET for a stream was answered with status {status}");
                // One that nothing has to come on was worth a try.
                if self.transport == Transport::HttpSse || self.routes.of.contains(&route) {
                    self.game.report(Mismatch::protocol(why));
                } else {
                    self.plan.notify.note(&why);
                }
                self.no_get |= route == Route::Get;
            }
            Purpose::Delete if !((200..300).contains(&status) || status == 405) => {
                self.game.report(Mismatch::protocol(format!("a DELETE was answered with status {status}")));
            }
            _ => {}
        }
    }

    /// The status of the answer to a message.
    fn expected(&self, step: usize) -> u16 {
        match (self.transport, self.routes.replies.get(step)) {
            (Transport::HttpSse, _) | (_, None) => 202,
            (_, Some(Reply::Accepted(status) | Reply::Json(status) | Reply::Refused(status, _))) => *status,
            (_, Some(Reply::Stream)) => 200,
        }
    }

    fn event(&mut self, number: u64, what: Purpose, event: SseEvent) {
        let is_message = event.is_message();
        let SseEvent { name, id, data, .. } = event;
        let route = what.route().unwrap_or(Route::Get);
        self.tries.remove(&route);
        // An empty one says that there is none any more (WHATWG).
        if id.as_ref().is_some_and(String::is_empty) {
            self.last.remove(&route);
        }
        let id = id.filter(|id| !id.is_empty());
        // Something else on the same connection is another event, whatever its id.
        let came = (number, hash(&data));
        let again = id
            .as_ref()
            .and_then(|id| self.seen.get(id))
            .is_some_and(|first| first.0 != came.0 || *first == came);
        if let Some(id) = id {
            self.seen.entry(id.clone()).or_insert(came);
            self.last.insert(route, id);
        }
        if is_message {
            self.receive(&data, again);
        } else if name.as_deref() == Some("endpoint") && self.transport == Transport::HttpSse {
            let text = String::from_utf8_lossy(&data);
            // A whole URL leads to the same server: another one was not named on the command line.
            let uri = text.trim().parse::<Uri>().ok();
            self.endpoint = uri.and_then(|uri| uri.path_and_query().map(|path| path.as_str().to_owned()));
            if self.endpoint.is_none() {
                self.game.report(Mismatch::protocol(format!("the endpoint {text} is not a path")));
            }
        }
    }

    fn body(&mut self, number: u64, what: Purpose, bytes: Vec<u8>) {
        let status = self.calls.get(&number).and_then(|call| call.status).unwrap_or_default();
        let text = std::str::from_utf8(&bytes).unwrap_or_default();
        let is_message = Json::parse(text).is_ok_and(|value| match status {
            // Under an error of HTTP an object may have a member `error` that is another protocol's.
            400.. => value.member("jsonrpc").is_some(),
            _ => resembles_message(value) || value.items().next().is_some(),
        });
        // Beside messages, servers say in words why they refuse, or that they accept.
        let said = self.transport == Transport::StreamableHttp && status == 200 && !bytes.is_empty();
        if matches!(what, Purpose::Post(_)) && (is_message || said) {
            self.receive(&bytes, false);
        }
    }

    /// Hears what is meant to be a message. What came before under the same event id is one only where the session has
    /// it again.
    fn receive(&mut self, bytes: &[u8], again: bool) {
        if again && std::str::from_utf8(bytes).is_ok_and(|text| !self.game.player.expects_again(text)) {
            return self.plan.notify.note("skipped an event that was delivered again");
        }
        self.game.receive(bytes);
    }

    fn ended(&mut self, number: u64, what: Purpose, broken: Option<String>) {
        self.calls.remove(&number);
        if let Some(why) = &broken {
            self.game.report(Mismatch::protocol(format!("a stream or an answer broke off: {why}")));
        }
        // Where an answer is awaited that did not come, the client comes back for it.
        let Some(route @ Route::Answer(step)) = what.route() else {
            if self.transport == Transport::HttpSse && what == Purpose::Stream(Route::Get) {
                self.blocked = None;
            }
            return;
        };
        let steps = &self.plan.script.steps;
        let answer = steps.iter().position(|found| found.answers == Some(step));
        let is_awaited = answer.is_some_and(|answer| !self.game.player.is_done(answer));
        if is_awaited && self.last.contains_key(&route) {
            self.open(route);
        }
    }

    fn failed(&mut self, number: u64, Failure { why, unreachable }: Failure) {
        let call = self.calls.remove(&number);
        self.blocked = self.blocked.filter(|blocked| *blocked != number);
        if unreachable && self.game.played().mismatches == 0 && self.game.player.received == 0 {
            self.unreachable = Some(why);
        } else if let Some(Call { what: Purpose::Post(step), .. }) = call {
            self.game.report_at(step, format!("the message could not be sent: {why}"));
        } else {
            self.game.report(Mismatch::protocol(format!("a request could not be sent: {why}")));
        }
    }
}

fn hash(data: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    hasher.finish()
}
