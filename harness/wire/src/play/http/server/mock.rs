//! A mock over HTTP: many clients at once, each with a session, streams and a live server of its own.
//!
//! One thread decides; two more serve. Memory: [`CLIENTS`] clients.

mod client;

use super::session::{NAMES_ITS_SESSION, Refusal};
use super::{LAST_WRITE, Server};
use crate::StartError;
use crate::http::{EVENTS, LAST_EVENT, SESSION, accepts, insert, spell, text};
use crate::interrupt;
use crate::messages::is;
use crate::play::http::body::next_until;
use crate::play::http::listener::{IncomingRequest, Listener, ServerEvent};
use crate::play::http::route::Answers;
use crate::play::mock::{Action, Catalogue, Matching, Served};
use crate::play::plan::{Mismatch, MismatchKind, Plan, TICK};
use crate::stdio::PipeEvent;
use client::{GET, HttpClient, PendingReply, form};
use formats::identify::Transport;
use hyper::Method;
use std::collections::{BTreeMap, VecDeque};
use std::thread::{self, JoinHandle};
use tokio::runtime::Runtime;
use tokio::time::Instant;
use transcript::message::Message;

/// How many clients are kept; then the one that came first is let go.
const CLIENTS: usize = 1024;

/// The session of clients that have none: without `initialize` there is nothing that could give it an id.
const NO_SESSION: &str = "";

impl Server {
    /// Answers requests until this process is asked to end.
    pub fn answer(self, plan: &Plan<'_>, matching: &Matching) -> Result<Served, StartError> {
        let (transport, answers) = (self.transport, self.answers);
        let catalogue = Catalogue::new(plan.script, plan.rules, answers).map_err(StartError::Unusable)?;
        let (listener, runtime) = self.begin(plan)?;
        catalogue.report(plan);
        let (clients, order, served) = (BTreeMap::new(), VecDeque::new(), Served::default());
        let mut mock = HttpMock {
            plan,
            matching,
            catalogue: &catalogue,
            transport,
            answers,
            listener,
            runtime: &runtime,
            clients,
            order,
            next: 0,
            closing: Vec::new(),
            served,
        };
        mock.serve();
        let HttpMock { mut served, listener, clients, .. } = mock;
        drop(clients);
        served.played = plan.over(served.played);
        drop(listener);
        runtime.shutdown_timeout(LAST_WRITE);
        Ok(served)
    }
}

struct HttpMock<'p> {
    plan: &'p Plan<'p>,
    matching: &'p Matching,
    catalogue: &'p Catalogue<'p>,
    transport: Transport,
    answers: Answers,
    listener: Listener,
    runtime: &'p Runtime,
    /// By session id.
    clients: BTreeMap<String, HttpClient<'p>>,
    /// Their ids, oldest first.
    order: VecDeque<String>,
    /// The number of the next session.
    next: u64,
    /// What ends live servers of clients that are gone.
    closing: Vec<JoinHandle<()>>,
    served: Served,
}

impl HttpMock<'_> {
    fn serve(&mut self) {
        while !interrupt::requested() {
            let until = Instant::now() + TICK;
            if let Some(came) = self.runtime.block_on(next_until(&mut self.listener.came, until)) {
                self.handle(came);
            }
            self.look_around();
        }
        for id in std::mem::take(&mut self.order) {
            self.let_go(&id);
        }
        for closing in std::mem::take(&mut self.closing) {
            let _ = closing.join();
        }
        self.listener.stop();
        // What was answered last has to be sent.
        let until = Instant::now() + LAST_WRITE;
        let mut open = true;
        while open && Instant::now() < until {
            open = self.runtime.block_on(async {
                tokio::time::timeout_at(until, self.listener.came.recv())
                    .await
                    .is_ok_and(|it| matches!(it, Some(ServerEvent::Connected | ServerEvent::Request(_))))
            });
        }
    }

    /// What waits too long, and streams that nobody reads any more.
    fn look_around(&mut self) {
        let ids: Vec<String> = self.clients.keys().cloned().collect();
        for id in ids {
            let Some(client) = self.clients.get_mut(&id) else { continue };
            let late = client.mock.expire(self.plan.patience);
            let left = self.transport == Transport::HttpSse
                && client.streams.get_mut(&GET).is_none_or(|stream| !stream.is_read());
            self.act(&id, late);
            if left {
                self.let_go(&id);
            }
        }
    }

    fn handle(&mut self, came: ServerEvent) {
        match came {
            ServerEvent::Request(asked) => self.asked(*asked),
            ServerEvent::TooLong(bytes) => self.report(&Mismatch::new(MismatchKind::TooLong(bytes), None)),
            ServerEvent::Live(id, came) => self.heard_live(&id, came),
            // A client may go at any time.
            ServerEvent::Connected | ServerEvent::Disconnected | ServerEvent::Broken(_) => {}
        }
    }

    fn asked(&mut self, asked: IncomingRequest) {
        if let Some(refusal) = Refusal::find(&asked, self.transport, &self.catalogue.routes) {
            refusal.report.into_iter().for_each(|report| self.report(&Mismatch::protocol(report)));
            return asked.answer(refusal.status, refusal.answer, self.plan);
        }
        match (asked.method.clone(), self.transport) {
            (Method::POST, _) => self.post(asked),
            (Method::GET, Transport::StreamableHttp) => self.get(asked),
            (Method::GET, Transport::HttpSse) => self.legacy(asked),
            (Method::DELETE, Transport::StreamableHttp) => {
                if let Some((id, asked)) = self.of_a_session(asked) {
                    self.let_go(&id);
                    asked.answer(200, "", self.plan);
                }
            }
            _ => asked.answer(405, "only POST, GET and DELETE are served here", self.plan),
        }
    }

    fn post(&mut self, asked: IncomingRequest) {
        let said = String::from_utf8_lossy(&asked.body).into_owned();
        let message = match Message::parse(&said) {
            Ok(message) => message,
            Err(refusal) => {
                self.report(&Mismatch::new(MismatchKind::NoMessage(refusal.message), Some(said.clone())));
                return asked.answer(400, "this is not one message", self.plan);
            }
        };
        let opens = is(message, "initialize") && self.transport == Transport::StreamableHttp;
        let (id, asked) = match opens {
            true => (self.admit(), asked),
            false => match self.of_a_session(asked) {
                Some(found) => found,
                None => return,
            },
        };
        self.served.played.received += 1;
        let tag = asked.exchange;
        let Some(client) = self.clients.get_mut(&id) else { return };
        let (actions, step) = client.mock.receive(message, tag);
        let asks = message.method().is_some() && message.id().key().is_some();
        if self.transport == Transport::HttpSse || !asks {
            asked.answer(202, if asks { "Accepted" } else { "" }, self.plan);
            return self.act(&id, actions);
        }
        let known = step.is_some() || self.matching.live.is_some();
        let named = (opens && known).then(|| id.clone());
        match form(self.answers, step.and_then(|step| self.catalogue.routes.replies.get(step)), &actions) {
            Some(status) => {
                client.waiting.insert(tag, PendingReply { status, named, reply: asked.reply });
            }
            None => {
                let feed = asked.reply.open(self.plan, |it| insert(it, SESSION, named.as_deref()));
                client.streams.entry(Some(tag)).or_default().feed = Some(feed);
            }
        }
        self.act(&id, actions);
    }

    /// A stream that the client wants to read.
    fn get(&mut self, asked: IncomingRequest) {
        let Some((id, asked)) = self.of_a_session(asked) else { return };
        if !accepts(&asked.headers, EVENTS) {
            self.report(&Mismatch::protocol(format!("a GET does not accept {EVENTS}")));
        }
        let last = text(&asked.headers, LAST_EVENT);
        if let Some(status) = self.catalogue.routes.no_get.filter(|_| last.is_none()) {
            return asked.answer(status, "this server has no stream of its own", self.plan);
        }
        let Some(client) = self.clients.get_mut(&id) else { return };
        let lane = match &last {
            None => Some(GET),
            Some(id) => {
                let mut streams = client.streams.iter_mut();
                streams.find_map(|(lane, stream)| stream.go_behind(id, false).then_some(*lane))
            }
        };
        let Some(lane) = lane else {
            return asked.answer(400, "there is no such event", self.plan);
        };
        let stream = client.streams.entry(lane).or_default();
        if stream.is_read() && last.is_none() {
            return asked.answer(409, "there is a stream already", self.plan);
        }
        stream.feed = Some(asked.reply.open(self.plan, |_| ()));
        stream.send(false, false);
    }

    /// The one stream of a client over HTTP+SSE, whose first event says where messages go.
    fn legacy(&mut self, asked: IncomingRequest) {
        let id = self.admit();
        let feed = asked.reply.open(self.plan, |_| ());
        let _ = feed.send(spell(Some("endpoint"), None, &format!("/messages?sessionId={id}")));
        if let Some(client) = self.clients.get_mut(&id) {
            client.streams.entry(GET).or_default().feed = Some(feed);
        }
    }

    /// A new client, by the id of its session.
    fn admit(&mut self) -> String {
        self.next += 1;
        let id = format!("mcp-concord-{}-{}", std::process::id(), self.next);
        self.admit_as(id.clone());
        id
    }

    fn admit_as(&mut self, id: String) {
        if self.order.len() >= CLIENTS
            && let Some(oldest) = self.order.front().cloned()
        {
            self.plan.notify.note(&format!("{CLIENTS} clients are connected: the oldest one is dropped"));
            self.let_go(&oldest);
        }
        self.order.push_back(id.clone());
        self.clients.insert(id, HttpClient::new(self.catalogue, self.matching));
    }

    /// The client that a request names. Every other request is answered.
    fn of_a_session(&mut self, asked: IncomingRequest) -> Option<(String, IncomingRequest)> {
        let named = match self.transport {
            Transport::StreamableHttp => text(&asked.headers, SESSION),
            Transport::HttpSse => {
                let query = asked.target.split_once('?').map_or("", |(_, query)| query);
                query.split('&').find_map(|pair| pair.strip_prefix("sessionId=")).map(ToOwned::to_owned)
            }
        };
        let (status, why) = match named {
            Some(id) if self.clients.contains_key(&id) => return Some((id, asked)),
            Some(_) => (404, "names no session that is open"),
            None if self.transport == Transport::StreamableHttp
                && self.catalogue.routes.initialized.is_none() =>
            {
                if !self.clients.contains_key(NO_SESSION) {
                    self.admit_as(NO_SESSION.to_owned());
                }
                return Some((NO_SESSION.to_owned(), asked));
            }
            None => (400, "names no session"),
        };
        let how = match self.transport {
            Transport::StreamableHttp => NAMES_ITS_SESSION,
            Transport::HttpSse => "the stream's `endpoint` event says where to post",
        };
        self.report(&Mismatch::protocol(format!("a {} {why}; {how}", asked.method)));
        asked.answer(status, &format!("the request {why}"), self.plan);
        None
    }

    /// Lets go of a client, and ends its live server.
    fn let_go(&mut self, id: &str) {
        self.order.retain(|other| other != id);
        let Some(mut client) = self.clients.remove(id) else { return };
        self.served.new.extend(std::mem::take(&mut client.mock.live.new));
        client.streams.values_mut().for_each(|stream| stream.feed = None);
        if let Some(live) = client.mock.server.take() {
            let patience = self.plan.patience;
            // It may take its time, and others are not kept waiting for it.
            self.closing.push(thread::spawn(move || live.close(patience)));
        }
    }

    fn heard_live(&mut self, id: &str, came: PipeEvent) {
        let Some(client) = self.clients.get_mut(id) else { return };
        let actions = client.mock.heard_live(came);
        self.act(id, actions);
    }

    fn act(&mut self, id: &str, actions: Vec<Action>) {
        for action in actions {
            match action {
                Action::Send { text, about, last } => self.send(id, &text, about, last),
                Action::Report(mismatch) => self.report(&mismatch),
                Action::Ask(text) => {
                    let Some(client) = self.clients.get_mut(id) else { continue };
                    let (events, client_id) = (self.listener.events.clone(), id.to_owned());
                    let hand_on = move |came| {
                        // Where nobody listens any more, all is over.
                        let _ = events.blocking_send(ServerEvent::Live(client_id.clone(), came));
                    };
                    let ended = client.mock.ask_live(&text, self.plan.longest(), hand_on, &mut self.served);
                    self.act(id, ended);
                }
            }
        }
    }

    fn send(&mut self, id: &str, text: &str, about: Option<u64>, last: bool) {
        let Some(client) = self.clients.get_mut(id) else { return };
        self.served.played.sent += 1;
        thread::sleep(self.plan.variants.delay);
        client.send(text, about, last, self.transport, self.plan);
    }

    fn report(&mut self, mismatch: &Mismatch) {
        self.plan.report(&mut self.served.played, mismatch);
    }
}
