//! Playing a client that connects to a server.
//!
//! Knows: what a client of each transport sends, what it expects back, and when it opens, and comes back to, a stream.
//! Refuses to know: what messages say. Memory: the session, the ids of the events that came, and what [`super::calls`]
//! says.
//!
//! A message that nobody has to answer is accepted before the next one is sent, so that the server hears them in order.

use super::calls::{Caller, Came};
use super::route::{Reply, Route, Routes};
use super::{Answers, EVENTS, JSON, LAST_EVENT, SESSION, Transport, VERSION};
use crate::play::departure::{Departure, Kind};
use crate::play::journal::What;
use crate::play::playing::{Order, Playing};
use crate::play::{Plan, Played, Refused};
use crate::proxy::Target;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Uri};
use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use tokio::task::AbortHandle;
use transcript::json::Json;
use transcript::message::resembles_message;
use transcript::session::Headers;

/// So often a client comes back to a stream on which nothing comes.
const TRIES: u32 = 3;

/// Connects to a server and plays its client.
///
/// # Errors
/// Where it cannot begin, or nobody listens there.
pub fn as_client(plan: &Plan<'_>, target: &Target, transport: Transport) -> Result<Played, Refused> {
    let caller = Caller::new(plan, target)?;
    plan.journal.note(|| What::Began {
        role: "client".to_owned(),
        transport: transport.name().to_owned(),
        address: Some(target.origin() + target.path()),
        pid: std::process::id(),
    });
    let mut calling = Calling {
        plan,
        playing: Playing::new(plan.script, plan.rules.clone(), Order::Loose),
        routes: Routes::of(plan.script, Answers::AsRecorded),
        transport,
        path: target.path().to_owned(),
        caller,
        calls: BTreeMap::new(),
        blocked: None,
        session: None,
        endpoint: None,
        seen: BTreeSet::new(),
        last: BTreeMap::new(),
        tries: BTreeMap::new(),
        no_get: false,
        closed_early: false,
        unreachable: None,
        tally: Played::default(),
    };
    calling.play();
    let played = Played { said: calling.playing.said(), heard: calling.playing.heard(), ..calling.tally };
    let unreachable = calling.unreachable.take();
    calling.caller.close();
    match unreachable {
        Some(why) => Err(Refused::Command(format!("{} cannot be reached: {why}", target.origin()))),
        None => Ok(plan.over(played)),
    }
}

/// A client at work.
struct Calling<'p> {
    plan: &'p Plan<'p>,
    playing: Playing<'p>,
    routes: Routes,
    transport: Transport,
    path: String,
    caller: Caller,
    /// Requests that are open.
    calls: BTreeMap<u64, Call>,
    /// The request that has to be accepted before the next message is sent.
    blocked: Option<u64>,
    session: Option<String>,
    /// Where messages go over HTTP+SSE.
    endpoint: Option<String>,
    /// Ids of events that came.
    seen: BTreeSet<String>,
    /// The last of them on each stream.
    last: BTreeMap<Route, String>,
    /// How often a stream was opened without anything coming on it.
    tries: BTreeMap<Route, u32>,
    /// The server has no stream of its own.
    no_get: bool,
    closed_early: bool,
    /// Nobody listens there.
    unreachable: Option<String>,
    tally: Played,
}

struct Call {
    what: Purpose,
    running: AbortHandle,
    status: Option<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// The message of this step.
    Post(usize),
    /// A GET for the rest of a stream.
    Stream(Route),
    /// The end of the session.
    Delete,
}

impl Purpose {
    fn route(self) -> Option<Route> {
        match self {
            Self::Post(step) => Some(Route::Answer(step)),
            Self::Stream(route) => Some(route),
            Self::Delete => None,
        }
    }
}

impl Calling<'_> {
    fn play(&mut self) {
        if self.transport == Transport::HttpSse {
            self.open(Route::Get);
        }
        loop {
            self.speak();
            self.open_what_is_needed();
            if self.closed_early || self.unreachable.is_some() || self.playing.is_over() && self.is_accepted()
            {
                break;
            }
            let why = if self.is_hopeless() {
                "no stream is open on which it could come".to_owned()
            } else if self.take_next() {
                continue;
            } else {
                format!("nothing came for {}", self.plan.waited())
            };
            if let Some(missing) = self.playing.missing(&why) {
                self.depart(missing);
            } else if self.blocked.is_some() || self.playing.unsaid() > 0 {
                let why = format!("the server has not accepted a message for {}", self.plan.waited());
                self.depart(Departure::manners(why));
            }
            break;
        }
        self.calls.values().for_each(|call| call.running.abort());
        self.calls.clear();
        if !self.closed_early && self.unreachable.is_none() {
            self.delete();
        }
    }

    fn depart(&mut self, departure: Departure) {
        self.plan.depart(&mut self.tally, &departure);
    }

    fn depart_at(&mut self, step: usize, why: String) {
        self.depart(Departure { kind: Kind::Manners(why), step: Some(step), came: None });
    }

    /// Whether the server has begun to answer every message, as far as it has to.
    fn is_accepted(&self) -> bool {
        let begun = |call: &Call| !matches!(call.what, Purpose::Post(_)) || call.status.is_some();
        self.blocked.is_none() && self.calls.values().all(begun)
    }

    /// Whether something is awaited and can come no more.
    fn is_hopeless(&self) -> bool {
        self.calls.is_empty() && self.blocked.is_none() && self.playing.awaited().is_some()
    }

    /// Says all that can be said now.
    fn speak(&mut self) {
        while self.blocked.is_none() && !self.closed_early {
            let path = match (self.transport, &self.endpoint) {
                (Transport::StreamableHttp, _) => self.path.clone(),
                (_, Some(path)) => path.clone(),
                (_, None) => return,
            };
            if self.plan.variants.close_after == Some(self.playing.said()) {
                self.closed_early = true;
                return;
            }
            let Some(said) = self.playing.say() else { return };
            thread::sleep(self.plan.variants.delay);
            let mut headers = self.headers(self.accept());
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            self.recorded_headers(said.step, &mut headers);
            let call = self.caller.send(Method::POST, &path, headers, said.text.into_owned().into_bytes());
            let Some((number, running)) = call else {
                let why = format!("{path} is no path to send a message to");
                return self.depart_at(said.step, why);
            };
            self.calls.insert(number, Call { what: Purpose::Post(said.step), running, status: None });
            let answered = matches!(self.routes.replies.get(said.step), Some(Reply::Json(_) | Reply::Stream));
            if self.transport == Transport::HttpSse || !answered {
                self.blocked = Some(number);
            }
        }
    }

    fn accept(&self) -> &'static str {
        match self.transport {
            Transport::StreamableHttp => "application/json, text/event-stream",
            Transport::HttpSse => "*/*",
        }
    }

    /// The headers of every request.
    fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        let mut add = |name, value: Option<&str>| {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        add(SESSION, self.session.as_deref());
        // The revision is known when the answer to `initialize` is.
        let known = self.initialized().unwrap_or(false);
        add(VERSION, self.routes.version.as_deref().filter(|_| known));
        headers
    }

    /// MCP's own headers, and what proves who asks, as the recording has them with this message.
    fn recorded_headers(&self, step: usize, headers: &mut HeaderMap) {
        let Some(entry) = self.plan.script.entry(step) else { return };
        let exchange = self.plan.script.entries().iter().find_map(|other| match &other.what {
            formats::What::Exchange(exchange) if other.exchange == entry.exchange => {
                Some(&exchange.request_headers)
            }
            _ => None,
        });
        let context = entry.context.as_ref().map(|context| &context.headers);
        let none = Headers::new();
        for (name, value) in entry.exchange.and(exchange).or(context).unwrap_or(&none) {
            let name = name.to_lowercase();
            let kept = name.starts_with("mcp-") && name != SESSION || name == AUTHORIZATION.as_str();
            if let (true, Ok(name), Ok(value)) =
                (kept, HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value))
            {
                headers.insert(name, value);
            }
        }
    }

    /// Whether the answer to `initialize` was heard; none where the session has none.
    fn initialized(&self) -> Option<bool> {
        self.routes.initialized.map(|answer| self.playing.is_done(answer))
    }

    /// Opens the stream of a GET where something is awaited that may come on it, which is whatever answers nothing; but
    /// not in the middle of `initialize`.
    fn open_what_is_needed(&mut self) {
        if self.transport == Transport::HttpSse || self.no_get {
            return;
        }
        let steps = self.plan.script.steps();
        let of_its_own = |step: usize| steps.get(step).is_some_and(|step| step.answers.is_none());
        let awaited = self.playing.awaited_now().any(of_its_own);
        let is_open = self.calls.values().any(|call| call.what == Purpose::Stream(Route::Get));
        let asked = self.routes.initialized.and_then(|answer| steps.get(answer)?.answers);
        let in_between =
            asked.is_some_and(|asked| self.playing.is_done(asked)) && self.initialized() == Some(false);
        if awaited && !is_open && !in_between {
            self.open(Route::Get);
        }
    }

    /// Opens a stream, behind the last event that came on it.
    fn open(&mut self, route: Route) {
        let tries = self.tries.entry(route).or_default();
        *tries += 1;
        if *tries > TRIES {
            self.no_get |= route == Route::Get;
            return;
        }
        let mut headers = self.headers(EVENTS);
        let last = self.last.get(&route).and_then(|id| HeaderValue::from_str(id).ok());
        if let Some(last) = last.filter(|_| self.transport == Transport::StreamableHttp) {
            headers.insert(HeaderName::from_static(LAST_EVENT), last);
        }
        let path = self.path.clone();
        if let Some((number, running)) = self.caller.send(Method::GET, &path, headers, Vec::new()) {
            self.calls.insert(number, Call { what: Purpose::Stream(route), running, status: None });
        }
    }

    /// Ends the session, where the server gave it an id.
    fn delete(&mut self) {
        if self.session.is_none() {
            return;
        }
        let (headers, path) = (self.headers("*/*"), self.path.clone());
        let Some((number, running)) = self.caller.send(Method::DELETE, &path, headers, Vec::new()) else {
            return;
        };
        self.calls.insert(number, Call { what: Purpose::Delete, running, status: None });
        while !self.calls.is_empty() {
            if !self.take_next() {
                let why = format!("the server has not answered a DELETE for {}", self.plan.waited());
                self.depart(Departure::manners(why));
                return;
            }
        }
    }

    /// Waits for the next thing that happens, and heeds it; whether there was one.
    fn take_next(&mut self) -> bool {
        let Some((number, came)) = self.caller.next(self.plan.patience) else { return false };
        // What comes for a request that was let go is nobody's.
        let Some(what) = self.calls.get(&number).map(|call| call.what) else { return true };
        match came {
            Came::Answered(status, headers) => self.answered(number, what, status, &headers),
            Came::Event { name, id, data } => self.event(what, name.as_deref(), id, data),
            Came::Body(bytes) => self.body(number, what, bytes),
            Came::TooLong(bytes) => {
                self.depart(Departure::of(Kind::TooLong(bytes), None));
                self.ended(number, what, None);
            }
            Came::Ended(broken) => self.ended(number, what, broken),
            Came::Failed(why, unreachable) => self.failed(number, why, unreachable),
        }
        true
    }

    fn answered(&mut self, number: u64, what: Purpose, status: u16, headers: &HeaderMap) {
        if let Some(call) = self.calls.get_mut(&number) {
            call.status = Some(status);
        }
        self.blocked = self.blocked.filter(|blocked| *blocked != number);
        let media =
            headers.get(CONTENT_TYPE).map(|value| String::from_utf8_lossy(value.as_bytes()).to_lowercase());
        let is = |name: &str| media.as_deref().is_some_and(|media| media.starts_with(name));
        match what {
            Purpose::Post(step) => {
                let expected = self.expected(step);
                let fits = status == expected
                    || self.transport == Transport::HttpSse && (200..300).contains(&status);
                if !fits {
                    let why =
                        format!("the server answers with the status {status}, where {expected} was expected");
                    self.depart_at(step, why);
                }
                let asks = matches!(self.routes.replies.get(step), Some(Reply::Json(_) | Reply::Stream));
                let read = is(JSON) || is(EVENTS);
                if self.transport == Transport::StreamableHttp && asks && fits && !read {
                    let media = media.as_deref().unwrap_or("nothing");
                    let why = format!("the server answers with {media}, where {JSON} or {EVENTS} belongs");
                    self.depart_at(step, why);
                }
                let method = self.plan.script.message(step).and_then(|message| message.method());
                let given = headers.get(SESSION).and_then(|id| id.to_str().ok());
                if let Some(id) = given
                    && method.is_some_and(|method| method.is("initialize"))
                {
                    self.session = Some(id.to_owned());
                }
            }
            // A server need not have a stream of its own; what is awaited on it is missed soon enough.
            Purpose::Stream(Route::Get) if status == 405 => self.no_get = true,
            Purpose::Stream(route) if status != 200 || !is(EVENTS) => {
                self.no_get |= route == Route::Get;
                self.depart(Departure::manners(format!(
                    "a GET for a stream is answered with the status {status}"
                )));
            }
            Purpose::Delete if !((200..300).contains(&status) || status == 405) => {
                self.depart(Departure::manners(format!("a DELETE is answered with the status {status}")));
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

    fn event(&mut self, what: Purpose, name: Option<&str>, id: Option<String>, data: Vec<u8>) {
        let route = what.route().unwrap_or(Route::Get);
        self.tries.remove(&route);
        let again = id.as_ref().is_some_and(|id| self.seen.contains(id));
        if let Some(id) = id {
            self.seen.insert(id.clone());
            self.last.insert(route, id);
        }
        match name {
            Some("endpoint") if self.transport == Transport::HttpSse => {
                let text = String::from_utf8_lossy(&data);
                // A whole URL leads to the same server: another one was not named on the command line.
                let uri = text.trim().parse::<Uri>().ok();
                self.endpoint = uri.and_then(|uri| uri.path_and_query().map(|path| path.as_str().to_owned()));
                if self.endpoint.is_none() {
                    self.depart(Departure::manners(format!("the endpoint {text} is no path")));
                }
            }
            None | Some("" | "message") if !data.is_empty() => self.hear(&data, again),
            _ => {}
        }
    }

    fn body(&mut self, number: u64, what: Purpose, bytes: Vec<u8>) {
        let status = self.calls.get(&number).and_then(|call| call.status).unwrap_or_default();
        let is_message = std::str::from_utf8(&bytes).is_ok_and(|text| {
            Json::parse(text).is_ok_and(|value| resembles_message(value) || value.items().next().is_some())
        });
        // Beside messages, servers say in words why they refuse, or that they accept.
        let said = self.transport == Transport::StreamableHttp && status == 200 && !bytes.is_empty();
        if matches!(what, Purpose::Post(_)) && (is_message || said) {
            self.hear(&bytes, false);
        }
    }

    /// Hears what is meant to be a message. What came before under the same event id is one only where the session has
    /// it again.
    fn hear(&mut self, bytes: &[u8], again: bool) {
        let Ok(text) = std::str::from_utf8(bytes) else {
            let came = String::from_utf8_lossy(bytes).into_owned();
            return self.depart(Departure::of(Kind::NoMessage("it is no UTF-8".to_owned()), Some(came)));
        };
        if again && !self.playing.expects_again(text) {
            return self.plan.tell.note("an event was delivered again, and passed over");
        }
        for heard in self.playing.hear(text) {
            heard.departure.into_iter().for_each(|departure| self.depart(departure));
        }
    }

    fn ended(&mut self, number: u64, what: Purpose, broken: Option<String>) {
        self.calls.remove(&number);
        if let Some(why) = &broken {
            self.depart(Departure::manners(format!("a stream or an answer broke off: {why}")));
        }
        // Where an answer is awaited that did not come, the client comes back for it.
        let Some(route @ Route::Answer(step)) = what.route() else {
            if self.transport == Transport::HttpSse && what == Purpose::Stream(Route::Get) {
                self.blocked = None;
            }
            return;
        };
        let steps = self.plan.script.steps();
        let answer = steps.iter().position(|found| found.answers == Some(step));
        let is_awaited = answer.is_some_and(|answer| !self.playing.is_done(answer));
        if is_awaited && self.last.contains_key(&route) {
            self.open(route);
        }
    }

    fn failed(&mut self, number: u64, why: String, unreachable: bool) {
        let call = self.calls.remove(&number);
        self.blocked = self.blocked.filter(|blocked| *blocked != number);
        if unreachable && self.tally == Played::default() && self.playing.heard() == 0 {
            self.unreachable = Some(why);
        } else if let Some(Call { what: Purpose::Post(step), .. }) = call {
            self.depart_at(step, format!("the message could not be sent: {why}"));
        } else {
            self.depart(Departure::manners(format!("a request could not be sent: {why}")));
        }
    }
}
