//! The state of a server over HTTP, and the responses that both playing and answering need.

use crate::http::{Body, SESSION, insert};
use crate::play::deadline::Deadline;
use crate::play::http::listener::{Listener, Responder};
use crate::play::http::protocol::{Answers, Transport};
use crate::play::http::route::{Route, Routes};
use crate::play::http::stream::Stream;
use crate::play::mismatch::Mismatch;
use crate::play::plan::{Plan, Played};
use crate::play::player::{Order, Player};
use hyper::header::HeaderValue;
use std::collections::{BTreeMap, BTreeSet};
use tokio::runtime::Runtime;
use tokio::sync::watch;

/// A server at work.
pub(super) struct ServerSession<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) player: Player<'p>,
    pub(super) routes: Routes,
    pub(super) transport: Transport,
    pub(super) listener: Listener,
    pub(super) runtime: &'p Runtime,
    /// What is said over streams: those of requests by their step, and that of a GET.
    pub(super) streams: BTreeMap<Route, Stream>,
    /// Requests that get one message as their answer.
    pub(super) waiting: BTreeMap<usize, (u64, Responder)>,
    /// The session's id, once it is given.
    pub(super) session: Option<String>,
    /// Event ids that were given.
    pub(super) ids: BTreeSet<String>,
    /// What the client was told of once.
    pub(super) told: BTreeSet<String>,
    pub(super) connections: usize,
    /// Whether it is known that nobody comes any more.
    pub(super) gone: watch::Receiver<bool>,
    /// The client has ended the session.
    pub(super) deleted: bool,
    pub(super) closed_early: bool,
    pub(super) deadline: Deadline,
    /// How many streams with something to say a client has opened.
    pub(super) opened: u64,
    pub(super) tally: Played,
}

impl<'p> ServerSession<'p> {
    pub(super) fn new(
        plan: &'p Plan<'p>,
        transport: Transport,
        answers: Answers,
        listener: Listener,
        runtime: &'p Runtime,
        gone: watch::Receiver<bool>,
    ) -> Self {
        Self {
            plan,
            player: Player::new(plan.script, plan.rules.clone(), Order::Loose),
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
            gone,
            deleted: false,
            closed_early: false,
            deadline: Deadline::new(plan.patience + plan.variants.slow_read + plan.variants.delay),
            opened: 0,
            tally: Played::default(),
        }
    }

    pub(super) fn report(&mut self, mismatch: Mismatch) {
        self.plan.report(&mut self.tally, &mismatch);
    }

    /// A mismatch beside messages, told once.
    pub(super) fn complain(&mut self, text: String) {
        if self.told.insert(text.clone()) {
            self.report(Mismatch::protocol(text));
        }
    }

    /// Whether more than one event is to be said on a stream for which a client can come back.
    pub(super) fn has_several(&self, route: Route) -> bool {
        let count = self.routes.of.iter().filter(|other| **other == route).count();
        self.transport == Transport::StreamableHttp && count > 1
    }

    /// Answers the POST of a step; the answer to `initialize` gives the session its id. False where the client has gone.
    pub(super) fn respond(
        &mut self,
        reply: Responder,
        status: u16,
        media: &str,
        body: Body,
        step: usize,
    ) -> bool {
        let method = self.plan.script.message(step).and_then(|message| message.method());
        let is_initialize = status < 400 && method.is_some_and(|method| method.is("initialize"));
        let id = self.routes.session.as_ref().filter(|_| is_initialize);
        let id = id.map(|id| id.clone().unwrap_or_else(|| format!("mcp-concord-{}", std::process::id())));
        let is_sent =
            reply.send(status, Some(media), body, |headers| insert(headers, SESSION, id.as_deref()));
        self.session = id.filter(|id| HeaderValue::from_str(id).is_ok()).or(self.session.take());
        is_sent
    }
}
