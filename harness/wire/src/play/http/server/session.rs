//! The state of a server over HTTP, how it answers a request of each transport, and what it demands of a client.

use crate::http::{EVENTS, JSON, LAST_EVENT, SESSION, VERSION, accepts, insert, media_type, spell, text};
use crate::messages::is;
use crate::play::game::Game;
use crate::play::http::listener::{IncomingRequest, Listener, Responder, ServerEvent};
use crate::play::http::route::{Reply, Route, Routes};
use crate::play::http::stream::Stream;
use crate::play::plan::{Mismatch, MismatchKind, Plan};
use formats::identify::Transport;
use hyper::Method;
use hyper::header::{HeaderMap, HeaderValue, WWW_AUTHENTICATE};
use std::collections::{BTreeMap, BTreeSet};
use tokio::runtime::Runtime;
use tokio::sync::watch;
use transcript::message::Message;
use transcript::revision::Revision;

/// From this revision on, a client names the revision in every request behind `initialize`.
const NAMES_ITSELF: &str = "2025-06-18";

/// What to do about a request that names none of the sessions.
pub(super) const NAMES_ITS_SESSION: &str = "send the mcp-session-id that `initialize` was answered with";

/// Why a request is refused, whatever it asks.
pub(super) struct Refusal {
    pub(super) status: u16,
    /// What is reported of it, where anything is.
    pub(super) report: Option<String>,
    /// What its client reads.
    pub(super) answer: &'static str,
}

impl Refusal {
    /// Of a request for what only a server with authorization has, from a foreign page, or one that names a revision that was not published and that the recorded session
    /// neither agrees on nor names.
    pub(super) fn find(asked: &IncomingRequest, transport: Transport, routes: &Routes) -> Option<Self> {
        if asked.target.starts_with("/.well-known/") {
            return Some(Self { status: 404, report: None, answer: "there is nothing here" });
        }
        let method = &asked.method;
        if let Some(why) = &asked.refusal {
            let answer = "this server serves only this machine; --allow-host allows others";
            return Some(Self { status: 403, report: Some(format!("a {method} {why}")), answer });
        }
        let named = text(&asked.headers, VERSION)?;
        let own = routes.version.iter().chain(&routes.named).any(|own| *own == named);
        let known = Revision::named(&named).is_some() || own;
        let report = Some(format!("a {method} names the revision {named}, which does not exist"));
        let answer = "mcp-protocol-version is not the one of this session";
        (transport == Transport::StreamableHttp && !known).then_some(Self { status: 400, report, answer })
    }
}

/// What a server learns of its client, in the order of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Presence {
    /// It plays, and may make one more request at any time.
    Plays,
    /// It has played, or nobody knows.
    Over,
    /// Nothing of it can come any more.
    Gone,
}

/// A server at work.
pub(super) struct ServerSession<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) game: Game<'p>,
    pub(super) routes: Routes,
    pub(super) transport: Transport,
    pub(super) listener: Listener,
    pub(super) runtime: &'p Runtime,
    /// What is said over streams: those of requests by their step, and that of a GET.
    pub(super) streams: BTreeMap<Route, Stream>,
    /// Requests that get one message as their answer.
    pub(super) waiting: BTreeMap<usize, Responder>,
    /// The session's id, once it is given.
    pub(super) session: Option<String>,
    /// Event ids that were given.
    pub(super) ids: BTreeSet<String>,
    /// What was reported once.
    pub(super) reported: BTreeSet<String>,
    pub(super) connections: usize,
    /// What is known of the client.
    pub(super) presence: watch::Receiver<Presence>,
    /// The client has ended the session.
    pub(super) deleted: bool,
    /// How many streams with something to say a client has opened.
    pub(super) opened: u64,
}

impl ServerSession<'_> {
    /// A mismatch beside messages, reported once.
    pub(super) fn complain(&mut self, text: String) {
        if self.reported.insert(text.clone()) {
            self.game.report(Mismatch::protocol(text));
        }
    }

    /// Whether more than one event is to be said on a stream for which a client can come back.
    pub(super) fn has_several(&self, route: Route) -> bool {
        let count = self.routes.of.iter().filter(|other| **other == route).count();
        self.transport == Transport::StreamableHttp && count > 1
    }

    /// The id that the session gets with an answer of this status to the POST of a step, which is its `initialize`.
    pub(super) fn give_id(&mut self, step: usize, status: u16) -> Option<String> {
        let opens = status < 400 && self.plan.script.is(step, "initialize");
        let id = self.routes.session.as_ref().filter(|_| opens)?;
        let id = id.clone().unwrap_or_else(|| format!("mcp-concord-{}", std::process::id()));
        HeaderValue::from_str(&id).ok()?;
        self.session = Some(id.clone());
        Some(id)
    }

    /// Heeds something that happened.
    pub(super) fn handle(&mut self, came: ServerEvent) {
        match came {
            ServerEvent::Request(asked) => self.asked(*asked),
            ServerEvent::Connected => self.connections += 1,
            ServerEvent::Disconnected => self.connections -= 1,
            ServerEvent::TooLong(bytes) => {
                self.game.report(Mismatch::new(MismatchKind::TooLong(bytes), None))
            }
            ServerEvent::Broken(why) => {
                self.game.report(Mismatch::protocol(format!("a request broke off: {why}")))
            }
            // Nothing lives behind a script.
            ServerEvent::Live(..) => {}
        }
    }

    /// Heeds a request, and answers it now or later.
    fn asked(&mut self, asked: IncomingRequest) {
        if let Some(refusal) = Refusal::find(&asked, self.transport, &self.routes) {
            refusal.report.into_iter().for_each(|report| self.complain(report));
            return asked.answer(refusal.status, refusal.answer, self.plan);
        }
        match asked.method {
            Method::POST => self.post(asked),
            Method::GET => self.get(asked),
            Method::DELETE if self.transport == Transport::StreamableHttp => {
                if let Some(asked) = self.of_the_session(asked) {
                    self.deleted = true;
                    asked.answer(200, "", self.plan);
                }
            }
            _ => {
                self.complain(format!("a {} request, which MCP does not use", asked.method));
                asked.answer(405, "only POST, GET and DELETE are served here", self.plan);
            }
        }
    }

    /// A message, or several.
    fn post(&mut self, asked: IncomingRequest) {
        let Ok(said) = String::from_utf8(asked.body.clone()) else {
            self.game.receive(&asked.body);
            return asked.answer(400, "this is not UTF-8", self.plan);
        };
        self.look_at(&asked.headers);
        let message = Message::parse(&said).ok();
        let asked = match message.is_some_and(|message| is(message, "initialize")) {
            true => asked,
            false => match self.of_the_session(asked) {
                Some(asked) => asked,
                None => return,
            },
        };
        let steps = self.game.receive(said.as_bytes()).unwrap_or_default();
        if self.transport == Transport::HttpSse {
            return asked.answer(202, "Accepted", self.plan);
        }
        match steps.first() {
            Some(&step) => self.reply(asked, step),
            None if message
                .is_some_and(|message| message.method().is_some() && message.id().key().is_some()) =>
            {
                asked.answer(400, "the session does not have this request here", self.plan);
            }
            None if message.is_none() => asked.answer(400, "this is not a message", self.plan),
            None => asked.answer(202, "", self.plan),
        }
    }

    /// Answers the POST of a step of the session.
    fn reply(&mut self, asked: IncomingRequest, step: usize) {
        match self.routes.replies.get(step).cloned() {
            Some(Reply::Refused(status, headers)) => {
                let values = headers.iter().filter_map(|(_, value)| HeaderValue::from_str(value).ok());
                let address = Some(asked.target.as_str()).filter(|_| status < 400);
                asked.reply.send((status, ""), "", self.plan, |headers| {
                    insert(headers, "location", address);
                    values.for_each(|value| {
                        headers.append(WWW_AUTHENTICATE, value);
                    });
                });
            }
            Some(Reply::Json(_)) => {
                self.waiting.insert(step, asked.reply);
            }
            Some(Reply::Stream) => {
                let id = self.give_id(step, 200);
                let feed = asked.reply.open(self.plan, |headers| insert(headers, SESSION, id.as_deref()));
                self.streams.entry(Route::Answer(step)).or_default().feed = Some(feed);
            }
            Some(Reply::Accepted(status)) => asked.answer(status, "", self.plan),
            None => asked.answer(202, "", self.plan),
        }
    }

    /// A stream that the client wants to read.
    fn get(&mut self, asked: IncomingRequest) {
        if !accepts(&asked.headers, EVENTS) {
            self.complain(format!("a GET does not accept {EVENTS}"));
        }
        if self.transport == Transport::HttpSse {
            return self.legacy(asked);
        }
        let Some(asked) = self.of_the_session(asked) else { return };
        let last = text(&asked.headers, LAST_EVENT);
        let redeliver = self.plan.variants.redeliver;
        let route = match &last {
            None => Some(Route::Get),
            Some(id) => {
                let mut streams = self.streams.iter_mut();
                streams.find_map(|(route, stream)| stream.go_behind(id, redeliver).then_some(*route))
            }
        };
        let Some(route) = route else {
            self.complain("a client resumed after an event that was never sent".to_owned());
            return asked.answer(400, "there is no such event", self.plan);
        };
        if let Some(status) = self.routes.no_get {
            return asked.answer(status, "this server has no stream of its own", self.plan);
        }
        if self.streams.entry(route).or_default().is_read() && last.is_none() {
            self.complain("a second GET while the stream of the first one is open".to_owned());
            return asked.answer(409, "there is a stream already", self.plan);
        }
        self.open(route, asked, None);
    }

    /// The one stream of HTTP+SSE, whose first event says where messages go.
    fn legacy(&mut self, asked: IncomingRequest) {
        if self.streams.entry(Route::Get).or_default().is_read() {
            self.complain("a second GET while the stream of the first one is open".to_owned());
            return asked.answer(409, "there is a stream already", self.plan);
        }
        let recorded = self.plan.script.session.entries.iter().find_map(|entry| {
            let sse = entry.sse.as_ref().filter(|sse| sse.name.as_deref() == Some("endpoint"))?;
            let path = sse.data.as_deref()?;
            (path.starts_with('/') && !path.contains(['\n', '\r'])).then(|| path.to_owned())
        });
        let path = recorded.unwrap_or_else(|| "/messages?sessionId=1".to_owned());
        self.open(Route::Get, asked, Some(&path));
    }

    fn open(&mut self, route: Route, asked: IncomingRequest, endpoint: Option<&str>) {
        let feed = asked.reply.open(self.plan, |_| ());
        if let Some(path) = endpoint {
            let _ = feed.send(spell(Some("endpoint"), None, path));
        }
        let (redeliver, more) = (self.plan.variants.redeliver, self.has_several(route));
        let stream = self.streams.entry(route).or_default();
        self.opened += u64::from(!stream.is_sent());
        stream.feed = Some(feed);
        stream.send(redeliver, more);
    }

    /// What a client has to say in its headers, whatever it sends.
    fn look_at(&mut self, headers: &HeaderMap) {
        if media_type(headers) != JSON {
            self.complain(format!("a POST does not say that it holds {JSON}"));
        }
        if self.transport == Transport::StreamableHttp
            && !(accepts(headers, JSON) && accepts(headers, EVENTS))
        {
            self.complain(format!("a POST does not accept both {JSON} and {EVENTS}"));
        }
    }

    /// Passes on a request that names the session and the revision, once they are known. Every other one is answered.
    fn of_the_session(&mut self, asked: IncomingRequest) -> Option<IncomingRequest> {
        let known = self.routes.initialized.is_some_and(|answer| self.game.player.is_done(answer));
        if let Some(id) = self.session.clone().filter(|_| known) {
            let (status, why) = match text(&asked.headers, SESSION) {
                Some(named) if named == id => (0, ""),
                Some(_) => (404, "names another session"),
                None => (400, "names no session"),
            };
            if status > 0 {
                let method = &asked.method;
                self.complain(format!("a {method} {why}, where {SESSION} is {id}; {NAMES_ITS_SESSION}"));
                asked.answer(status, "mcp-session-id is not the one of this session", self.plan);
                return None;
            }
            if let Some(version) = self.routes.version.clone() {
                match text(&asked.headers, VERSION) {
                    Some(named) if named != version => {
                        let method = &asked.method;
                        self.complain(format!(
                            "a {method} names the revision {named}, but {version} was agreed on"
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
}
