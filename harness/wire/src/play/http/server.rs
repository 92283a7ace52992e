//! Playing a server that listens.
//!
//! Knows: on which stream a message is said, and when the play is over. What is answered to a request stands in `asked`.
//! Refuses to know: what messages say. One thread decides; two more serve. Memory: the session, its events kept for a
//! client that comes back, and what [`super::listener`] says.
//!
//! A message for a stream that nobody reads waits until somebody does.

mod asked;

use super::body::Fed;
use super::listener::{Came, Listener};
use super::route::{Reply, Route, Routes};
use super::stream::Stream;
use super::{Answers, JSON, Transport, next, next_until};
use crate::play::journal::What;
use crate::play::mismatch::{Kind, Mismatch};
use crate::play::playing::{Order, Playing};
use crate::play::{Plan, Played, StartError};
use hyper::Response;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::time::Instant;

/// How long the last answers may take to be sent.
const LAST_WRITE: Duration = Duration::from_secs(1);

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
    pub fn listen(address: SocketAddr, transport: Transport, answers: Answers) -> Result<Self, StartError> {
        let refused = |error: io::Error| {
            StartError::Here(match error.kind() {
                io::ErrorKind::AddrInUse => {
                    format!("{address} is in use by another program; port 0 takes one that is free")
                }
                _ => format!("{address} cannot be listened at: {error}"),
            })
        };
        let listener = TcpListener::bind(address).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| StartError::Here(format!("no thread can be had: {error}")))?;
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
    pub fn play(self, plan: &Plan<'_>) -> Result<Played, StartError> {
        let address = self.url().ok();
        let Self { listener, runtime, transport, answers } = self;
        let listening = {
            let _inside = runtime.enter();
            Listener::start(listener, plan)
        };
        let listening =
            listening.map_err(|error| StartError::Here(format!("the port cannot be used: {error}")))?;
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
            let heeded = self.take_next(self.plan.patience);
            if self.is_left() && !self.playing.is_over() {
                let missing = self.playing.missing("the client has ended the session");
                missing.into_iter().for_each(|missing| self.depart(missing));
                break;
            }
            if !heeded {
                let why = format!("nothing came for {}", self.plan.waited());
                self.playing.missing(&why).into_iter().for_each(|missing| self.depart(missing));
                if !self.is_all_said() {
                    let why = format!(
                        "the client has read no stream for what is to be said, for {}",
                        self.plan.waited()
                    );
                    self.depart(Mismatch::manners(why));
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

    fn depart(&mut self, mismatch: Mismatch) {
        self.plan.depart(&mut self.tally, &mismatch);
    }

    /// A mismatch beside messages, told once.
    fn complain(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.depart(Mismatch::manners(text));
        }
    }

    /// Whether the client has ended the session, or let go of the one stream that it has over HTTP+SSE.
    fn is_left(&mut self) -> bool {
        let legacy = self.transport == Transport::HttpSse && self.connections == 0;
        self.deleted || legacy && self.streams.get_mut(&Route::Get).is_some_and(|stream| !stream.is_read())
    }

    fn is_all_said(&self) -> bool {
        self.streams.values().all(Stream::is_said)
    }

    /// Says all that can be said now.
    fn speak(&mut self) {
        let mut together = BTreeSet::new();
        self.speak_on(&mut together);
        for route in together {
            self.streams.entry(route).or_default().say_together();
        }
    }

    /// Says all that can be said now, but for what is to be said together.
    fn speak_on(&mut self, together: &mut BTreeSet<Route>) {
        loop {
            if self.plan.variants.close_after == Some(self.playing.said()) {
                self.closed_early = true;
                return;
            }
            if self.playing.peek().is_none() {
                return;
            }
            self.pause();
            let Some(said) = self.playing.say() else { return };
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
                    self.depart(Mismatch { kind, step: Some(said.step), came: None });
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
                if self.plan.variants.merge {
                    together.insert(route);
                } else {
                    stream.say(redeliver, more);
                }
            }
        }
    }

    /// Lets the time before a message pass. Whoever asks meanwhile is not kept waiting for it.
    fn pause(&mut self) {
        let until = Instant::now() + self.plan.variants.delay;
        while Instant::now() < until
            && let Some(came) = self.runtime.block_on(next_until(&mut self.listener.came, until))
        {
            self.heed(came);
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
        let heeded = next.is_some();
        next.into_iter().for_each(|came| self.heed(came));
        heeded
    }

    fn heed(&mut self, came: Came) {
        match came {
            Came::Asked(asked) => self.asked(*asked),
            Came::Connected => self.connections += 1,
            Came::Disconnected => self.connections -= 1,
            Came::TooLong(bytes) => self.depart(Mismatch::of(Kind::TooLong(bytes), None)),
            Came::Broken(why) => self.depart(Mismatch::manners(format!("a request broke off: {why}"))),
        }
    }
}
