//! The state of a client over HTTP, and the requests that both sending and answering need.

use crate::StartError;
use crate::http::{EVENTS, LAST_EVENT, SESSION, Target, VERSION, insert};
use crate::play::deadline::Deadline;
use crate::play::http::calls::HttpClient;
use crate::play::http::protocol::{Answers, Transport};
use crate::play::http::route::{Route, Routes};
use crate::play::mismatch::{Kind, Mismatch};
use crate::play::plan::{Plan, Played};
use crate::play::player::{Order, Player};
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, HeaderMap};
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::AbortHandle;

/// So often a client comes back to a stream on which nothing comes.
const TRIES: u32 = 3;

/// A client at work.
pub(super) struct ClientSession<'p> {
    pub(super) plan: &'p Plan<'p>,
    pub(super) player: Player<'p>,
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
    /// Ids of events that came.
    pub(super) seen: BTreeSet<String>,
    /// The last of them on each stream.
    pub(super) last: BTreeMap<Route, String>,
    /// How often a stream was opened without anything coming on it.
    pub(super) tries: BTreeMap<Route, u32>,
    /// The server has no stream of its own.
    pub(super) no_get: bool,
    /// The GET that was made before something was awaited on it.
    pub(super) ahead: Option<u64>,
    pub(super) closed_early: bool,
    pub(super) deadline: Deadline,
    /// How many messages the server has begun to answer.
    pub(super) accepted: u64,
    /// A wait ran out although something came: nothing that was awaited.
    pub(super) talks_on: bool,
    /// Nobody listens there.
    pub(super) unreachable: Option<String>,
    pub(super) tally: Played,
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

impl<'p> ClientSession<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, target: &Target, transport: Transport) -> Result<Self, StartError> {
        let caller = HttpClient::new(plan, target)?;
        Ok(Self {
            plan,
            player: Player::new(plan.script, plan.rules.clone(), Order::Loose),
            routes: Routes::of(plan.script, Answers::AsRecorded),
            transport,
            path: target.path().to_owned(),
            caller,
            calls: BTreeMap::new(),
            blocked: None,
            session: None,
            proof: None,
            endpoint: None,
            seen: BTreeSet::new(),
            last: BTreeMap::new(),
            tries: BTreeMap::new(),
            no_get: false,
            ahead: None,
            closed_early: false,
            deadline: Deadline::new(plan.patience + plan.variants.delay + plan.variants.slow_read),
            accepted: 0,
            talks_on: false,
            unreachable: None,
            tally: Played::default(),
        })
    }

    /// Whether nobody told where messages go.
    pub(super) fn is_lost(&self) -> bool {
        self.transport == Transport::HttpSse && self.endpoint.is_none()
    }

    pub(super) fn report(&mut self, mismatch: Mismatch) {
        self.plan.report(&mut self.tally, &mismatch);
    }

    pub(super) fn report_at(&mut self, step: usize, why: String) {
        self.report(Mismatch { kind: Kind::Protocol(why), step: Some(step), came: None });
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
        self.routes.initialized.map(|answer| self.player.is_done(answer))
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
}
