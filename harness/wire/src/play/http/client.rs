//! Playing a client that connects to a server.
//!
//! Knows: what a client of each transport sends, and when it opens a stream. What comes back is heeded in `answered`.
//! Refuses to know: what messages say. Memory: the session, the ids of the events that came, and what [`super::calls`]
//! says.
//!
//! A message that nobody has to answer is accepted before the next one is sent, so that the server hears them in order.

mod answered;

use super::calls::{Caller, Came};
use super::route::{Reply, Route, Routes};
use super::{Answers, EVENTS, JSON, LAST_EVENT, SESSION, Transport, VERSION};
use crate::play::journal::What;
use crate::play::mismatch::{Kind, Mismatch};
use crate::play::playing::{Order, Playing};
use crate::play::{Plan, Played, StartError};
use crate::proxy::Target;
use hyper::Method;
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::AbortHandle;
use tokio::time::Instant;
use transcript::session::Headers;

/// So often a client comes back to a stream on which nothing comes.
const TRIES: u32 = 3;

/// Connects to a server and plays its client.
///
/// # Errors
/// Where it cannot begin, or nobody listens there.
pub fn as_client(plan: &Plan<'_>, target: &Target, transport: Transport) -> Result<Played, StartError> {
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
        proof: None,
        endpoint: None,
        seen: BTreeSet::new(),
        last: BTreeMap::new(),
        tries: BTreeMap::new(),
        no_get: false,
        ahead: None,
        closed_early: false,
        unreachable: None,
        tally: Played::default(),
    };
    calling.play();
    let played = Played { said: calling.playing.said(), heard: calling.playing.heard(), ..calling.tally };
    let unreachable = calling.unreachable.take();
    calling.caller.close();
    match unreachable {
        Some(why) => Err(StartError::Command(format!("{} cannot be reached: {why}", target.origin()))),
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
    /// What proves who asks, as the last message had it.
    proof: Option<String>,
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
    /// The GET that was made before something was awaited on it.
    ahead: Option<u64>,
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
            if self.is_hopeless() || !self.take_next() {
                // A server need not answer a GET before it has something to say.
                if self.blocked.is_some() && self.blocked == self.ahead {
                    self.blocked = None;
                    continue;
                }
                self.give_up();
                break;
            }
        }
        self.calls.values().for_each(|call| call.running.abort());
        self.calls.clear();
        if !self.closed_early && self.unreachable.is_none() {
            self.delete();
        }
    }

    /// Tells what the play cannot go on without.
    fn give_up(&mut self) {
        let waited = self.plan.waited();
        let why = match self.is_hopeless() {
            true => "no stream is open on which it could come".to_owned(),
            false => format!("nothing came for {waited}"),
        };
        if self.is_lost() {
            self.depart(Mismatch::manners(format!("the server does not tell where messages go: {why}")));
        } else if let Some(missing) = self.playing.missing(&why) {
            self.depart(missing);
        } else if self.blocked.is_some() || self.playing.unsaid() > 0 {
            self.depart(Mismatch::manners(format!("the server has not accepted a message for {waited}")));
        }
    }

    /// Whether nobody told where messages go.
    fn is_lost(&self) -> bool {
        self.transport == Transport::HttpSse && self.endpoint.is_none()
    }

    fn depart(&mut self, mismatch: Mismatch) {
        self.plan.depart(&mut self.tally, &mismatch);
    }

    fn depart_at(&mut self, step: usize, why: String) {
        self.depart(Mismatch { kind: Kind::Manners(why), step: Some(step), came: None });
    }

    /// Whether the server has begun to answer every message, as far as it has to.
    fn is_accepted(&self) -> bool {
        let begun = |call: &Call| !matches!(call.what, Purpose::Post(_)) || call.status.is_some();
        self.blocked.is_none() && self.calls.values().all(begun)
    }

    /// Whether something is awaited and can come no more.
    fn is_hopeless(&self) -> bool {
        self.calls.is_empty()
            && self.blocked.is_none()
            && (self.is_lost() || self.playing.awaited().is_some())
    }

    /// Says all that can be said now.
    fn speak(&mut self) {
        while self.blocked.is_none() && !self.closed_early && !self.is_lost() {
            if self.plan.variants.close_after == Some(self.playing.said()) {
                self.closed_early = true;
                return;
            }
            if self.playing.peek().is_none() || self.listens_first() {
                return;
            }
            self.pause();
            let path = self.endpoint.as_ref().unwrap_or(&self.path).clone();
            let Some(said) = self.playing.say() else { return };
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

    /// Lets the time before a message pass, and heeds what comes meanwhile.
    fn pause(&mut self) {
        let until = Instant::now() + self.plan.variants.delay;
        while Instant::now() < until
            && let Some((number, came)) = self.caller.next_until(until)
        {
            self.heed(number, came);
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
        let mut add = |name: &'static str, value: Option<&str>| {
            if let Some(value) = value.and_then(|value| HeaderValue::from_str(value).ok()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        };
        add(SESSION, self.session.as_deref());
        add(AUTHORIZATION.as_str(), self.proof.as_deref());
        // The revision is known when the answer to `initialize` is.
        let known = self.initialized().unwrap_or(false);
        add(VERSION, self.routes.version.as_deref().filter(|_| known));
        headers
    }

    /// MCP's own headers, and what proves who asks, as the recording has them with this message.
    fn recorded_headers(&mut self, step: usize, headers: &mut HeaderMap) {
        let Some(entry) = self.plan.script.entry(step) else { return };
        let exchange = self.plan.script.entries().iter().find_map(|other| match &other.what {
            formats::OwnedContent::Exchange(exchange) if other.exchange == entry.exchange => {
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
        let proof = headers.get(AUTHORIZATION).and_then(|proof| proof.to_str().ok());
        self.proof = proof.map(ToOwned::to_owned);
    }

    /// Whether the answer to `initialize` was heard; none where the session has none.
    fn initialized(&self) -> Option<bool> {
        self.routes.initialized.map(|answer| self.playing.is_done(answer))
    }

    /// Opens the stream of a GET before the first message behind the answer to `initialize`, where the session has something
    /// that comes on it: what a server says of its own while nobody listens is lost. Whether the message has to wait.
    fn listens_first(&mut self) -> bool {
        let steps = self.plan.script.steps().len();
        let comes =
            |step: usize| self.routes.of.get(step) == Some(&Route::Get) && !self.playing.is_done(step);
        let due = self.transport == Transport::StreamableHttp
            && self.ahead.is_none()
            && !self.no_get
            && self.initialized() == Some(true)
            && self.calls.values().all(|call| call.what != Purpose::Stream(Route::Get))
            && (0..steps).any(comes);
        if due {
            self.ahead = self.open(Route::Get);
            self.blocked = self.ahead;
        }
        self.blocked.is_some()
    }

    /// Opens the stream of a GET where something is awaited that may come on it, which is whatever answers nothing; but
    /// not in the middle of `initialize`.
    fn open_what_is_needed(&mut self) {
        if self.transport == Transport::HttpSse || self.no_get {
            return;
        }
        let steps = self.plan.script.steps();
        // An error without an id answers nothing either, but is the body of a POST's answer.
        let is_body = |step: usize| match self.routes.of.get(step) {
            Some(Route::Answer(asked)) => matches!(self.routes.replies.get(*asked), Some(Reply::Json(_))),
            _ => false,
        };
        let of_its_own =
            |step: usize| steps.get(step).is_some_and(|step| step.answers.is_none()) && !is_body(step);
        let awaited = self.playing.awaited_now().any(of_its_own);
        let is_open = self.calls.values().any(|call| call.what == Purpose::Stream(Route::Get));
        let asked = self.routes.initialized.and_then(|answer| steps.get(answer)?.answers);
        let in_between =
            asked.is_some_and(|asked| self.playing.is_done(asked)) && self.initialized() == Some(false);
        if awaited && !is_open && !in_between {
            self.open(Route::Get);
        }
    }

    /// Opens a stream, behind the last event that came on it; the number of the request.
    fn open(&mut self, route: Route) -> Option<u64> {
        let tries = self.tries.entry(route).or_default();
        *tries += 1;
        if *tries > TRIES {
            self.no_get |= route == Route::Get;
            return None;
        }
        let mut headers = self.headers(EVENTS);
        let last = self.last.get(&route).and_then(|id| HeaderValue::from_str(id).ok());
        if let Some(last) = last.filter(|_| self.transport == Transport::StreamableHttp) {
            headers.insert(HeaderName::from_static(LAST_EVENT), last);
        }
        let path = self.path.clone();
        let (number, running) = self.caller.send(Method::GET, &path, headers, Vec::new())?;
        self.calls.insert(number, Call { what: Purpose::Stream(route), running, status: None });
        Some(number)
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
                self.depart(Mismatch::manners(why));
                return;
            }
        }
    }

    /// Waits for the next thing that happens, and heeds it; whether there was one.
    fn take_next(&mut self) -> bool {
        let next = self.caller.next(self.plan.patience);
        let heeded = next.is_some();
        next.into_iter().for_each(|(number, came)| self.heed(number, came));
        heeded
    }

    fn heed(&mut self, number: u64, came: Came) {
        // What comes for a request that was let go is nobody's.
        let Some(what) = self.calls.get(&number).map(|call| call.what) else { return };
        match came {
            Came::Answered(status, headers) => self.answered(number, what, status, &headers),
            Came::Event { name, id, data } => self.event(what, name.as_deref(), id, data),
            Came::Body(bytes) => self.body(number, what, bytes),
            Came::TooLong(bytes) => {
                self.depart(Mismatch::of(Kind::TooLong(bytes), None));
                self.ended(number, what, None);
            }
            Came::Ended(broken) => self.ended(number, what, broken),
            Came::Failed(why, unreachable) => self.failed(number, why, unreachable),
        }
    }
}
