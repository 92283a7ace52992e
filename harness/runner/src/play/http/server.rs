//! Playing a server that listens.
//!
//! Knows: what a server of each transport answers to which request, what it demands of a client, and when it is over.
//! Refuses to know: what messages say. One thread decides; two more serve. Memory: the session, its events kept for a
//! client that comes back, and what [`super::listener`] says.
//!
//! A message for a stream that nobody reads waits until somebody does.

use super::body::Fed;
use super::listener::{Asked, Came, Listener};
use super::route::{Reply, Route, Routes};
use super::stream::Stream;
use super::{Answers, EVENTS, JSON, LAST_EVENT, SESSION, Transport, VERSION, next};
use crate::play::departure::{Departure, Kind};
use crate::play::journal::What;
use crate::play::playing::{Heard, Order, Playing};
use crate::play::{Plan, Played, Refused};
use hyper::body::Bytes;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::{Method, Response, StatusCode};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use transcript::message::Message;

/// How long the last answers may take to be sent.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// From this revision on, a client names the revision in every request behind `initialize`.
const NAMES_ITSELF: &str = "2025-06-18";

/// A server that listens, and has not begun.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    runtime: Runtime,
    transport: Transport,
    answers: Answers,
}

impl Server {
    /// Listens at `address`. Connections wait from then on, and are served by [`Server::play`].
    ///
    /// # Errors
    /// A sentence where that cannot be.
    pub fn listen(address: SocketAddr, transport: Transport, answers: Answers) -> Result<Self, Refused> {
        let refused = |error: io::Error| {
            Refused::Here(match error.kind() {
                io::ErrorKind::AddrInUse => {
                    format!("{address} is in use by another program; port 0 takes one that is free")
                }
                _ => format!("{address} cannot be listened at: {error}"),
            })
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| Refused::Here(format!("no thread can be had: {error}")))?;
        Ok(Self { listener, runtime, transport, answers })
    }

    /// Where clients connect.
    ///
    /// # Errors
    /// Where the system does not tell.
    pub fn url(&self) -> io::Result<String> {
        let path = match self.transport {
            Transport::StreamableHttp => "mcp",
            Transport::HttpSse => "sse",
        };
        Ok(format!("http://{}/{path}", self.listener.local_addr()?))
    }

    /// Plays until the session is over and its client has gone.
    ///
    /// # Errors
    /// Where it cannot begin.
    pub fn play(self, plan: &Plan<'_>) -> Result<Played, Refused> {
        let address = self.url().ok();
        let Self { listener, runtime, transport, answers } = self;
        let listening = {
            let _inside = runtime.enter();
            Listener::start(listener, plan)
        };
        let listening =
            listening.map_err(|error| Refused::Here(format!("the port cannot be used: {error}")))?;
        let name = transport.name().to_owned();
        plan.journal.note(|| What::Began {
            role: "server".to_owned(),
            transport: name,
            address,
            pid: std::process::id(),
        });
        let mut serving = Serving::new(plan, transport, answers, listening, &runtime);
        serving.play();
        let played = plan.over(serving.played());
        drop(serving);
        runtime.shutdown_timeout(LAST_WRITE);
        Ok(played)
    }
}

/// A server at work.
struct Serving<'p> {
    plan: &'p Plan<'p>,
    playing: Playing<'p>,
    routes: Routes,
    transport: Transport,
    listener: Listener,
    runtime: &'p Runtime,
    /// What is said over streams: those of requests by their step, and that of a GET.
    streams: BTreeMap<Route, Stream>,
    /// Requests that get one message as their answer.
    waiting: BTreeMap<usize, (u64, oneshot::Sender<Response<Fed>>)>,
    /// The session's id, once it is given.
    session: Option<String>,
    /// Event ids that were given.
    ids: BTreeSet<String>,
    /// What the client was told of once.
    told: BTreeSet<String>,
    connections: usize,
    /// The client has ended the session.
    deleted: bool,
    closed_early: bool,
    tally: Played,
}

impl<'p> Serving<'p> {
    fn new(
        plan: &'p Plan<'p>,
        transport: Transport,
        answers: Answers,
        listener: Listener,
        runtime: &'p Runtime,
    ) -> Self {
        Self {
            plan,
            playing: Playing::new(plan.script, plan.rules.clone(), Order::Loose),
            routes: Routes::of(plan.script, answers),
            transport,
            listener,
            runtime,
            streams: BTreeMap::new(),
            waiting: BTreeMap::new(),
            session: None,
            ids: BTreeSet::new(),
            told: BTreeSet::new(),
            connections: 0,
            deleted: false,
            closed_early: false,
            tally: Played::default(),
        }
    }

    fn play(&mut self) {
        loop {
            self.speak();
            if self.closed_early || self.playing.is_over() && self.is_all_said() {
                break;
            }
            if !self.take_next(self.plan.patience) {
                let why = format!("nothing came for {}", self.plan.waited());
                self.playing.missing(&why).into_iter().for_each(|missing| self.depart(missing));
                if !self.is_all_said() {
                    let why = format!(
                        "the client has read no stream for what is to be said, for {}",
                        self.plan.waited()
                    );
                    self.depart(Departure::manners(why));
                }
                break;
            }
        }
        if self.playing.is_over() {
            self.linger();
        }
        self.close();
    }

    /// Waits for the client to end the session, or to go.
    fn linger(&mut self) {
        // Whoever has no connection may make one to end the session.
        while !self.deleted && (self.connections > 0 || self.session.is_some()) {
            let patience = if self.connections > 0 { self.plan.patience } else { LAST_WRITE };
            if !self.take_next(patience) {
                break;
            }
        }
    }

    /// Ends every stream and every connection.
    fn close(&mut self) {
        self.streams.values_mut().for_each(Stream::close);
        self.waiting.clear();
        self.listener.stop();
        while self.connections > 0 {
            let listener = &mut self.listener;
            match self.runtime.block_on(next(&mut listener.came, LAST_WRITE, &listener.moved)) {
                Some(Came::Disconnected) => self.connections -= 1,
                Some(Came::Connected) => self.connections += 1,
                Some(_) => {}
                None => break,
            }
        }
    }

    fn played(&self) -> Played {
        Played { said: self.playing.said(), heard: self.playing.heard(), ..self.tally }
    }

    fn depart(&mut self, departure: Departure) {
        self.plan.depart(&mut self.tally, &departure);
    }

    /// A departure beside messages, told once.
    fn complain(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.depart(Departure::manners(text));
        }
    }

    fn is_all_said(&self) -> bool {
        self.streams.values().all(Stream::is_said)
    }

    /// Says all that can be said now.
    fn speak(&mut self) {
        loop {
            if self.plan.variants.close_after == Some(self.playing.said()) {
                self.closed_early = true;
                return;
            }
            let Some(said) = self.playing.say() else { return };
            thread::sleep(self.plan.variants.delay);
            let route = match (self.transport, self.routes.of.get(said.step)) {
                (Transport::StreamableHttp, Some(Route::Answer(asked))) => Route::Answer(*asked),
                _ => Route::Get,
            };
            if let Route::Answer(asked) = route
                && let Some((exchange, reply)) = self.waiting.remove(&asked)
            {
                let status = match self.routes.replies.get(asked) {
                    Some(Reply::Json(status)) => *status,
                    _ => 200,
                };
                let answer = self.respond(status, Some(JSON), self.whole(&said.text, exchange), asked);
                if reply.send(answer).is_err() {
                    let why = "the client went away before its request was answered".to_owned();
                    let kind = Kind::Manners(why);
                    self.depart(Departure { kind, step: Some(said.step), came: None });
                }
                continue;
            }
            // A request that never was one over HTTP has no stream of its own.
            let route = if self.streams.contains_key(&route) { route } else { Route::Get };
            self.add(route, said.step, &said.text);
            let answers = self.plan.script.steps().get(said.step).is_some_and(|step| step.answers.is_some());
            let (redeliver, more) = (self.plan.variants.redeliver, self.has_several(route));
            if let Some(stream) = self.streams.get_mut(&route) {
                stream.whole = answers && route != Route::Get;
                stream.say(redeliver, more);
            }
        }
    }

    fn add(&mut self, route: Route, step: usize, text: &str) {
        let sse = self.plan.script.entry(step).and_then(|entry| entry.sse.as_ref());
        let plain = |text: &&str| !text.contains(['\n', '\r', '\0']);
        let name = sse.and_then(|sse| sse.name.as_deref()).filter(plain);
        let recorded = sse.and_then(|sse| sse.id.as_deref()).filter(plain).map(ToOwned::to_owned);
        let id = match (recorded, self.transport) {
            (None, Transport::StreamableHttp) => Some(self.event_id(route)),
            (recorded, _) => recorded,
        };
        id.iter().for_each(|id| {
            self.ids.insert(id.clone());
        });
        self.streams.entry(route).or_default().add(name, id, text);
    }

    /// An id that no event has.
    fn event_id(&self, route: Route) -> String {
        let stream = match route {
            Route::Answer(step) => step.to_string(),
            _ => "get".to_owned(),
        };
        let count = self.streams.get(&route).map_or(0, Stream::len);
        let mut ids = (count..).map(|number| format!("{stream}-{number}"));
        ids.find(|id| !self.ids.contains(id)).unwrap_or_default()
    }

    /// Whether more than one event is to be said on a stream for which a client can come back.
    fn has_several(&self, route: Route) -> bool {
        let count = self.routes.of.iter().filter(|other| **other == route).count();
        self.transport == Transport::StreamableHttp && count > 1
    }

    /// Waits for the next thing that happens, and heeds it; whether there was one.
    fn take_next(&mut self, patience: Duration) -> bool {
        let patience = patience + self.plan.variants.slow_read;
        let next = self.runtime.block_on(next(&mut self.listener.came, patience, &self.listener.moved));
        match next {
            Some(Came::Asked(asked)) => self.asked(*asked),
            Some(Came::Connected) => self.connections += 1,
            Some(Came::Disconnected) => self.connections -= 1,
            Some(Came::TooLong(bytes)) => self.depart(Departure::of(Kind::TooLong(bytes), None)),
            Some(Came::Broken(why)) => self.depart(Departure::manners(format!("a request broke off: {why}"))),
            None => return false,
        }
        true
    }

    fn asked(&mut self, asked: Asked) {
        if asked.target.starts_with("/.well-known/") {
            // Clients look there for what a server without authorization does not have.
            return self.answer(asked, 404, "there is nothing here");
        }
        match asked.method {
            Method::POST => self.post(asked),
            Method::GET => self.get(asked),
            Method::DELETE if self.transport == Transport::StreamableHttp => {
                if let Some(asked) = self.of_the_session(asked) {
                    self.deleted = true;
                    self.answer(asked, 200, "");
                }
            }
            _ => {
                self.complain(format!("a {} came, which MCP does not have", asked.method));
                self.answer(asked, 405, "a POST, a GET or a DELETE belongs here");
            }
        }
    }

    /// A message, or several.
    fn post(&mut self, asked: Asked) {
        let Ok(text) = std::str::from_utf8(&asked.body) else {
            let came = String::from_utf8_lossy(&asked.body).into_owned();
            self.depart(Departure::of(Kind::NoMessage("it is no UTF-8".to_owned()), Some(came)));
            return self.answer(asked, 400, "this is no UTF-8");
        };
        let text = text.to_owned();
        self.look_at(&asked.headers);
        let message = Message::parse(&text).ok();
        let is_initialize =
            message.and_then(|message| message.method()).is_some_and(|method| method.is("initialize"));
        let asked = match is_initialize {
            true => asked,
            false => match self.of_the_session(asked) {
                Some(asked) => asked,
                None => return,
            },
        };
        let mut steps = Vec::new();
        for Heard { step, departure } in self.playing.hear(&text) {
            steps.extend(step);
            departure.into_iter().for_each(|departure| self.depart(departure));
        }
        if self.transport == Transport::HttpSse {
            return self.answer(asked, 202, "Accepted");
        }
        match steps.first() {
            Some(&step) => self.reply(asked, step),
            None if message
                .is_some_and(|message| message.method().is_some() && message.id().key().is_some()) =>
            {
                self.answer(asked, 400, "the session does not have this request here");
            }
            None if message.is_none() => self.answer(asked, 400, "this is no message"),
            None => self.answer(asked, 202, ""),
        }
    }

    /// Answers the POST of a step of the session.
    fn reply(&mut self, asked: Asked, step: usize) {
        match self.routes.replies.get(step).cloned() {
            Some(Reply::Refused(status, headers)) => {
                let mut answer = self.respond(status, None, self.whole("", asked.exchange), step);
                for (_, value) in headers {
                    if let Ok(value) = HeaderValue::from_str(&value) {
                        answer.headers_mut().append(WWW_AUTHENTICATE, value);
                    }
                }
                let _ = asked.reply.send(answer);
            }
            Some(Reply::Json(_)) => {
                self.waiting.insert(step, (asked.exchange, asked.reply));
            }
            Some(Reply::Stream) => {
                let (feed, body) = Fed::open(self.plan.variants.chunk, asked.exchange, self.plan.journal);
                self.streams.entry(Route::Answer(step)).or_default().open(feed);
                let _ = asked.reply.send(self.respond(200, Some(EVENTS), body, step));
            }
            Some(Reply::Accepted(status)) => self.answer(asked, status, ""),
            None => self.answer(asked, 202, ""),
        }
    }

    /// A stream that the client wants to read.
    fn get(&mut self, asked: Asked) {
        if !accepts(&asked.headers, EVENTS) {
            self.complain(format!("a GET does not accept {EVENTS}"));
        }
        if self.transport == Transport::HttpSse {
            return self.legacy(asked);
        }
        let Some(asked) = self.of_the_session(asked) else { return };
        let last = asked.headers.get(LAST_EVENT).and_then(|id| std::str::from_utf8(id.as_bytes()).ok());
        let redeliver = self.plan.variants.redeliver;
        let route = match last {
            None => Some(Route::Get),
            Some(id) => {
                let mut streams = self.streams.iter_mut();
                streams.find_map(|(route, stream)| stream.go_behind(id, redeliver).then_some(*route))
            }
        };
        let Some(route) = route else {
            self.complain("a client came back for an event that nobody had said".to_owned());
            return self.answer(asked, 400, "there is no such event");
        };
        if let Some(status) = self.routes.no_get {
            return self.answer(asked, status, "this server has no stream of its own");
        }
        if self.streams.entry(route).or_default().is_read() && last.is_none() {
            self.complain("a second GET came while the first one was read".to_owned());
            return self.answer(asked, 409, "there is a stream already");
        }
        self.open(route, asked, None);
    }

    /// The one stream of HTTP+SSE, which begins by telling where messages go.
    fn legacy(&mut self, asked: Asked) {
        if self.streams.entry(Route::Get).or_default().is_read() {
            self.complain("a second GET came while the first one was read".to_owned());
            return self.answer(asked, 409, "there is a stream already");
        }
        let recorded = self.plan.script.entries().iter().find_map(|entry| {
            let sse = entry.sse.as_ref().filter(|sse| sse.name.as_deref() == Some("endpoint"))?;
            let path = sse.data.as_deref()?;
            (path.starts_with('/') && !path.contains(['\n', '\r'])).then(|| path.to_owned())
        });
        let path = recorded.unwrap_or_else(|| "/messages?sessionId=1".to_owned());
        self.open(Route::Get, asked, Some(&path));
    }

    fn open(&mut self, route: Route, asked: Asked, endpoint: Option<&str>) {
        let (feed, body) = Fed::open(self.plan.variants.chunk, asked.exchange, self.plan.journal);
        if let Some(path) = endpoint {
            let _ = feed.send(super::stream::spell(Some("endpoint"), None, path));
        }
        let mut answer = Response::new(body);
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(EVENTS));
        let _ = asked.reply.send(answer);
        let (redeliver, more) = (self.plan.variants.redeliver, self.has_several(route));
        let stream = self.streams.entry(route).or_default();
        stream.open(feed);
        stream.say(redeliver, more);
    }

    /// What a client has to say in its headers, whatever it sends.
    fn look_at(&mut self, headers: &HeaderMap) {
        if !headers.get(CONTENT_TYPE).is_some_and(|value| value.as_bytes().starts_with(JSON.as_bytes())) {
            self.complain(format!("a POST does not say that it holds {JSON}"));
        }
        if self.transport == Transport::StreamableHttp
            && !(accepts(headers, JSON) && accepts(headers, EVENTS))
        {
            self.complain(format!("a POST does not accept both {JSON} and {EVENTS}"));
        }
    }

    /// Passes on a request that names the session and the revision, once they are known. Every other one is answered.
    fn of_the_session(&mut self, asked: Asked) -> Option<Asked> {
        let named = |name: &str| asked.headers.get(name).map(|value| value.as_bytes().to_vec());
        let known = self.routes.initialized.is_some_and(|answer| self.playing.is_done(answer));
        if let Some(id) = self.session.clone().filter(|_| known) {
            let (status, why) = match named(SESSION) {
                Some(named) if named == id.as_bytes() => (0, ""),
                Some(_) => (404, "names another session"),
                None => (400, "names no session"),
            };
            if status > 0 {
                self.complain(format!("a {} {why}, where {SESSION} is {id}", asked.method));
                self.answer(asked, status, "mcp-session-id is not the one of this session");
                return None;
            }
            if let Some(version) = self.routes.version.clone() {
                match named(VERSION).map(|named| String::from_utf8_lossy(&named).into_owned()) {
                    Some(named) if named != version => {
                        let method = &asked.method;
                        self.complain(format!(
                            "a {method} names the revision {named}, where {version} was agreed on"
                        ));
                    }
                    None if version.as_str() >= NAMES_ITSELF => {
                        self.complain(format!("a {} does not name the revision in {VERSION}", asked.method));
                    }
                    _ => {}
                }
            }
        }
        Some(asked)
    }

    fn whole(&self, text: &str, exchange: u64) -> Fed {
        let bytes = Bytes::from(text.to_owned());
        Fed::whole(bytes, self.plan.variants.chunk, exchange, self.plan.journal)
    }

    /// The head of an answer to the POST of a step; the one to `initialize` gives the session its id.
    fn respond(&mut self, status: u16, media: Option<&'static str>, body: Fed, step: usize) -> Response<Fed> {
        let mut answer = Response::new(body);
        *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
        if let Some(media) = media {
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(media));
        }
        let method = self.plan.script.message(step).and_then(|message| message.method());
        if let Some(id) = self.routes.session.as_ref().filter(|_| status < 400)
            && method.is_some_and(|method| method.is("initialize"))
        {
            let id = id.clone().unwrap_or_else(|| format!("mcp-concord-{}", std::process::id()));
            if let Ok(value) = HeaderValue::from_str(&id) {
                answer.headers_mut().insert(HeaderName::from_static(SESSION), value);
                self.session = Some(id);
            }
        }
        answer
    }

    fn answer(&self, asked: Asked, status: u16, text: &str) {
        let mut answer = Response::new(self.whole(text, asked.exchange));
        *answer.status_mut() = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
        if !text.is_empty() {
            answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        }
        let _ = asked.reply.send(answer);
    }
}

fn accepts(headers: &HeaderMap, media: &str) -> bool {
    let listed = |value: &HeaderValue| {
        let text = String::from_utf8_lossy(value.as_bytes()).to_lowercase();
        text.split(',').any(|item| {
            let item = item.split(';').next().unwrap_or_default().trim();
            item == media
                || item == "*/*"
                || media.split_once('/').is_some_and(|(kind, _)| item == format!("{kind}/*"))
        })
    };
    headers.get_all(ACCEPT).iter().any(listed)
}
