//! A server that listens and plays.
//!
//! One thread decides; two more serve. A message for an unread stream waits for a reader. Memory: the
//! session, its events for a client that comes back, and what [`super::listener`] holds.

mod mock;
mod session;

use super::body::{next, next_until};
use super::listener::{LIMITS, Listener, ServerEvent};
use super::route::{Answers, Reply, Route, Routes};
use super::stream::Stream;
use crate::StartError;
use crate::http::{AllowedHosts, JSON, Limits, SESSION, insert, listen, runtime};
use crate::play::game::Game;
use crate::play::plan::{Mismatch, Plan, Played};
use crate::play::player::Order;
use formats::identify::Transport;
pub(crate) use session::Presence;
use session::ServerSession;
use std::collections::{BTreeMap, BTreeSet};
use std::future::poll_fn;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::time::Instant;

/// How long the last answers may take to be sent.
const LAST_WRITE: Duration = Duration::from_secs(1);

/// A server that listens, and has not begun.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    /// The hosts and origins that are served.
    pub hosts: AllowedHosts,
    runtime: Runtime,
    transport: Transport,
    answers: Answers,
    pub(super) limits: Limits,
}

impl Server {
    /// Listens at `address`. Connections wait from then on, and are served by [`Server::play`].
    pub fn listen(address: SocketAddr, transport: Transport, answers: Answers) -> Result<Self, StartError> {
        let listener = listen(address).map_err(StartError::Unusable)?;
        let runtime = runtime().map_err(StartError::Unusable)?;
        let hosts = AllowedHosts::new(address, &[]);
        Ok(Self { listener, hosts, runtime, transport, answers, limits: LIMITS })
    }

    /// Where clients connect.
    pub fn url(&self) -> io::Result<String> {
        let path = match self.transport {
            Transport::StreamableHttp => "mcp",
            Transport::HttpSse => "sse",
        };
        Ok(format!("http://{}/{path}", self.listener.local_addr()?))
    }

    /// Plays until the session is over and its client has gone.
    pub fn play(self, plan: &Plan<'_>) -> Result<Played, StartError> {
        let (_never, presence) = watch::channel(Presence::Over);
        self.play_until(plan, presence)
    }

    /// The same, and listens as long as `presence` says that the client plays, and waits for nothing more once it is gone. Its
    /// sender lives longer.
    pub(crate) fn play_until(
        self,
        plan: &Plan<'_>,
        presence: watch::Receiver<Presence>,
    ) -> Result<Played, StartError> {
        let (transport, answers) = (self.transport, self.answers);
        let (listener, runtime) = self.begin(plan)?;
        let mut serving = ServerSession {
            plan,
            game: Game::new(plan, Order::Loose),
            routes: Routes::new(plan.script, answers),
            transport,
            listener,
            runtime: &runtime,
            streams: BTreeMap::new(),
            waiting: BTreeMap::new(),
            session: None,
            ids: BTreeSet::new(),
            reported: BTreeSet::new(),
            connections: 0,
            presence,
            deleted: false,
            opened: 0,
        };
        serving.play();
        let played = plan.over(serving.game.played());
        drop(serving);
        runtime.shutdown_timeout(LAST_WRITE);
        Ok(played)
    }

    /// Serves connections from now on.
    fn begin(self, plan: &Plan<'_>) -> Result<(Listener, Runtime), StartError> {
        let address = self.url().ok();
        let inside = self.runtime.enter();
        let listening = Listener::start(self.listener, self.hosts, self.limits, plan);
        drop(inside);
        let listening =
            listening.map_err(|error| StartError::Unusable(format!("the port cannot be used: {error}")))?;
        plan.journal.began("server", self.transport.name(), address);
        Ok((listening, self.runtime))
    }
}

impl ServerSession<'_> {
    fn play(&mut self) {
        loop {
            self.send_due();
            if self.game.closed_early || self.game.player.is_over() && self.is_all_sent() {
                break;
            }
            let handled = self.take_next(self.plan.patience, Presence::Gone);
            let talks_on = handled && self.game.is_late(self.opened);
            if self.is_left() && !self.game.player.is_over() {
                self.game.miss("the client has ended the session");
                break;
            }
            if !handled || talks_on {
                let why = match *self.presence.borrow() == Presence::Gone && !talks_on {
                    true => "no client came back".to_owned(),
                    false => self.game.silence(),
                };
                self.game.miss(&why);
                if !self.is_all_sent() {
                    let why = format!(
                        "the client has opened no stream for the next message for {}",
                        self.plan.waited()
                    );
                    self.game.report(Mismatch::protocol(why));
                }
                break;
            }
        }
        if self.game.player.is_over() {
            self.linger();
        }
        self.close();
    }

    /// Waits for the client to end the session, or to go.
    fn linger(&mut self) {
        self.game.wait_anew();
        // A client without a connection may make one to end the session.
        while !self.deleted && !self.is_let_go() {
            let (patience, until) = match (self.connections > 0, *self.presence.borrow()) {
                (true, _) => (self.plan.patience, Presence::Gone),
                (false, Presence::Plays) => (self.plan.patience, Presence::Over),
                (false, _) if self.session.is_some() => (LAST_WRITE, Presence::Gone),
                _ => break,
            };
            let silent = !self.take_next(patience, until);
            let told = until == Presence::Over && *self.presence.borrow() >= until;
            if silent && !told || self.game.is_late(self.opened) {
                break;
            }
        }
    }

    /// Ends every stream and every connection.
    fn close(&mut self) {
        self.streams.values_mut().for_each(|stream| stream.feed = None);
        self.waiting.clear();
        self.listener.stop();
        self.game.wait_anew();
        while self.connections > 0 && !self.game.is_late(0) {
            let listener = &mut self.listener;
            match self.runtime.block_on(next(&mut listener.came, LAST_WRITE, &listener.moved)) {
                Some(ServerEvent::Disconnected) => self.connections -= 1,
                Some(ServerEvent::Connected) => self.connections += 1,
                Some(_) => {}
                None => break,
            }
        }
    }

    /// Whether the client has ended the session, or let go of the one stream that it has over HTTP+SSE.
    fn is_left(&mut self) -> bool {
        self.deleted || self.connections == 0 && self.is_let_go()
    }

    /// Whether nobody reads the one stream over HTTP+SSE. A proxy may keep its other connections for later.
    fn is_let_go(&mut self) -> bool {
        self.transport == Transport::HttpSse
            && self.streams.get_mut(&Route::Get).is_some_and(|stream| !stream.is_read())
    }

    fn is_all_sent(&self) -> bool {
        self.streams.values().all(Stream::is_sent)
    }

    /// Sends all that is due now.
    fn send_due(&mut self) {
        let mut together = BTreeSet::new();
        self.send_apart(&mut together);
        for route in together {
            self.streams.entry(route).or_default().send_together();
        }
    }

    /// Sends all that is due now, except what is to be sent together.
    fn send_apart(&mut self, together: &mut BTreeSet<Route>) {
        loop {
            if self.game.closes() || self.game.player.peek().is_none() {
                return;
            }
            self.pause();
            let Some(due) = self.game.player.next_message() else { return };
            let route = match (self.transport, self.routes.of.get(due.step)) {
                (Transport::StreamableHttp, Some(Route::Answer(asked))) => Route::Answer(*asked),
                _ => Route::Get,
            };
            if let Route::Answer(asked) = route
                && let Some(reply) = self.waiting.remove(&asked)
            {
                let status = match self.routes.replies.get(asked) {
                    Some(Reply::Json(status)) => *status,
                    _ => 200,
                };
                let (step, text) = (due.step, due.text.into_owned());
                let id = self.give_id(asked, status);
                if !reply.send((status, JSON), &text, self.plan, |it| insert(it, SESSION, id.as_deref())) {
                    let why = "the client went away before its request was answered".to_owned();
                    self.game.report_at(step, why);
                }
                continue;
            }
            // A request that never was one over HTTP has no stream of its own.
            let route = if self.streams.contains_key(&route) { route } else { Route::Get };
            self.add(route, due.step, &due.text);
            let answers = self.plan.script.steps.get(due.step).is_some_and(|step| step.answers.is_some());
            let (redeliver, more) = (self.plan.variants.redeliver, self.has_several(route));
            if let Some(stream) = self.streams.get_mut(&route) {
                stream.whole = answers && route != Route::Get;
                if self.plan.variants.merge {
                    together.insert(route);
                } else {
                    stream.send(redeliver, more);
                }
            }
        }
    }

    /// Lets the time before a message pass. What is asked meanwhile is not kept waiting for it.
    fn pause(&mut self) {
        let until = Instant::now() + self.plan.variants.delay;
        while Instant::now() < until
            && let Some(came) = self.runtime.block_on(next_until(&mut self.listener.came, until))
        {
            self.handle(came);
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
        let count = self.streams.get(&route).map_or(0, Stream::count);
        let mut ids = (count..).map(|number| format!("{stream}-{number}"));
        ids.find(|id| !self.ids.contains(id)).unwrap_or_default()
    }

    /// Waits for the next thing that happens, and handles it; whether there was one before the client was said to be so.
    fn take_next(&mut self, patience: Duration, so: Presence) -> bool {
        let patience = patience + self.plan.variants.slow_read;
        let (came, presence) = (&mut self.listener.came, &mut self.presence);
        let next = self.runtime.block_on(async {
            let mut next = pin!(next(came, patience, &self.listener.moved));
            let mut gone = pin!(presence.wait_for(|now| *now >= so));
            // What has come counts first.
            poll_fn(|context| match next.as_mut().poll(context) {
                Poll::Pending if gone.as_mut().poll(context).is_ready() => Poll::Ready(None),
                polled => polled,
            })
            .await
        });
        let handled = next.is_some();
        next.into_iter().for_each(|came| self.handle(came));
        handled
    }
}
