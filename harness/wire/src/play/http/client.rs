//! A client that connects to a server and plays.
//!
//! A message that needs no answer is accepted before the next one is sent, so that the server receives them in order.
//! Memory: the session, the ids of the events that came, and what [`super::calls`] holds.

mod session;

use super::calls::HttpClient;
use super::route::{Answers, Reply, Route, Routes};
use crate::StartError;
use crate::http::{JSON, SESSION, Target};
use crate::play::game::Game;
use crate::play::plan::{Mismatch, Plan, Played};
use crate::play::player::Order;
use formats::identify::Transport;
use hyper::Method;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use session::{Call, ClientSession, Purpose};
use std::collections::BTreeMap;
use tokio::time::Instant;
use transcript::session::Headers;

/// Connects to a server and plays its client.
///
/// # Errors
/// Where it cannot begin, or nobody listens there.
pub fn as_client(plan: &Plan<'_>, target: &Target, transport: Transport) -> Result<Played, StartError> {
    let mut session = ClientSession {
        plan,
        game: Game::new(plan, Order::Loose),
        routes: Routes::new(plan.script, Answers::AsRecorded),
        transport,
        path: target.path().to_owned(),
        caller: HttpClient::new(plan, target)?,
        calls: BTreeMap::new(),
        blocked: None,
        session: None,
        proof: None,
        endpoint: None,
        seen: BTreeMap::new(),
        last: BTreeMap::new(),
        tries: BTreeMap::new(),
        no_get: false,
        ahead: None,
        accepted: 0,
        unreachable: None,
    };
    plan.journal.began("client", transport.name(), Some(target.origin() + target.path()));
    session.play();
    let played = session.game.played();
    let unreachable = session.unreachable.take();
    session.caller.close();
    match unreachable {
        Some(why) => Err(StartError::CannotRun(format!("{} cannot be reached: {why}", target.origin()))),
        None => Ok(plan.over(played)),
    }
}

impl ClientSession<'_> {
    fn play(&mut self) {
        if self.transport == Transport::HttpSse {
            self.open(Route::Get);
        }
        loop {
            self.send_due();
            self.open_what_is_needed();
            if self.game.closed_early
                || self.unreachable.is_some()
                || self.game.player.is_over() && self.is_accepted()
            {
                break;
            }
            if self.is_hopeless() || !self.take_next() || self.game.is_late(self.accepted) {
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
        if !self.game.closed_early && self.unreachable.is_none() {
            self.delete();
        }
    }

    /// Reports what the play cannot go on without.
    fn give_up(&mut self) {
        let waited = self.plan.waited();
        let why = match self.is_hopeless() {
            true => "no stream is open for it".to_owned(),
            false => self.game.silence(),
        };
        if self.is_lost() {
            self.game.report(Mismatch::protocol(format!(
                "the server did not name the endpoint for messages: {why}"
            )));
        } else if !self.game.miss(&why) && (self.blocked.is_some() || self.game.player.unsent() > 0) {
            self.game
                .report(Mismatch::protocol(format!("the server has not accepted a message for {waited}")));
        }
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
            && (self.is_lost() || self.game.player.awaited().is_some())
    }

    /// Sends all that is due now.
    fn send_due(&mut self) {
        while self.blocked.is_none() && !self.game.closed_early && !self.is_lost() {
            if self.game.closes() || self.game.player.peek().is_none() || self.listens_first() {
                return;
            }
            self.pause();
            let path = self.endpoint.as_ref().unwrap_or(&self.path).clone();
            let Some(said) = self.game.player.next_message() else { return };
            let mut headers = self.headers(self.accept());
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            self.recorded_headers(said.step, &mut headers);
            let call = self.caller.send(Method::POST, &path, headers, said.text.into_owned().into_bytes());
            let Some((number, running)) = call else {
                let why = format!("a message cannot be sent to {path}");
                return self.game.report_at(said.step, why);
            };
            self.calls.insert(number, Call { what: Purpose::Post(said.step), running, status: None });
            let answered = matches!(self.routes.replies.get(said.step), Some(Reply::Json(_) | Reply::Stream));
            if self.transport == Transport::HttpSse || !answered {
                self.blocked = Some(number);
            }
        }
    }

    /// Lets the time before a message pass, and handles what comes meanwhile.
    fn pause(&mut self) {
        let until = Instant::now() + self.plan.variants.delay;
        while Instant::now() < until
            && let Some((number, came)) = self.caller.next_until(until)
        {
            self.handle(number, came);
        }
    }

    fn accept(&self) -> &'static str {
        match self.transport {
            Transport::StreamableHttp => "application/json, text/event-stream",
            Transport::HttpSse => "*/*",
        }
    }

    /// MCP's own headers, and what proves who asks, as the recording has them with this message.
    fn recorded_headers(&mut self, step: usize, headers: &mut HeaderMap) {
        let Some(entry) = self.plan.script.entry(step) else { return };
        let exchange = self.plan.script.session.entries.iter().find_map(|other| match &other.what {
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

    /// Opens the stream of a GET before the first message behind the answer to `initialize`, where the session has something
    /// that comes on it: what a server says of its own while nobody listens is lost. Whether the message has to wait.
    fn listens_first(&mut self) -> bool {
        let steps = self.plan.script.steps.len();
        let comes =
            |step: usize| self.routes.of.get(step) == Some(&Route::Get) && !self.game.player.is_done(step);
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
        let steps = &self.plan.script.steps;
        // An error without an id answers nothing either, but is the body of a POST's answer.
        let is_body = |step: usize| match self.routes.of.get(step) {
            Some(Route::Answer(asked)) => matches!(self.routes.replies.get(*asked), Some(Reply::Json(_))),
            _ => false,
        };
        let of_its_own =
            |step: usize| steps.get(step).is_some_and(|step| step.answers.is_none()) && !is_body(step);
        let awaited = self.game.player.awaited_now().any(of_its_own);
        let is_open = self.calls.values().any(|call| call.what == Purpose::Stream(Route::Get));
        let asked = self.routes.initialized.and_then(|answer| steps.get(answer)?.answers);
        let in_between =
            asked.is_some_and(|asked| self.game.player.is_done(asked)) && self.initialized() == Some(false);
        if awaited && !is_open && !in_between {
            self.open(Route::Get);
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
        self.game.wait_anew();
        while !self.calls.is_empty() {
            if !self.take_next() || self.game.is_late(self.accepted) {
                let why = format!("the server has not answered a DELETE for {}", self.plan.waited());
                self.game.report(Mismatch::protocol(why));
                return;
            }
        }
    }

    /// Waits for the next thing that happens, and handles it; whether there was one.
    fn take_next(&mut self) -> bool {
        let next = self.caller.next(self.plan.patience);
        let handled = next.is_some();
        next.into_iter().for_each(|(number, came)| self.handle(number, came));
        handled
    }
}
