//! What a live server is asked for one client, and what it says to that.
//!
//! Where the recording answered `initialize`, the live server has not seen it: it is sent the client's own before the first
//! request. The client's requests keep their ids there, since it is the only one who asks.

use super::additions::New;
use super::{Action, refusal};
use crate::messages::{about, id_span, id_text, is, on_one_line, own_token, with};
use crate::play::names::FreshIds;
use crate::play::plan::{Mismatch, MismatchKind};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use transcript::message::Message;
use transcript::session::Side;

/// The id of the request with which a live server is opened.
const HELLO: &str = "mcp-concord-initialize";

/// What says that it is open.
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A live server, as one client has it.
#[derive(Debug, Default)]
pub(in crate::play) struct Forwarding {
    state: LiveState,
    /// The client's own `initialize`.
    hello: Option<String>,
    /// What waits until the server is open.
    queue: Vec<String>,
    open: Vec<Forwarded>,
    /// What the server asked, by the id that the client knows: the id that the server knows, and the request it belongs to.
    asked: HashMap<Vec<u8>, (String, Option<Vec<u8>>)>,
    /// What the server was asked, and answered.
    pub(in crate::play) new: Vec<New>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum LiveState {
    #[default]
    Closed,
    Opening,
    Open,
    Dead(String),
}

/// A request that waits for the live server.
#[derive(Debug)]
struct Forwarded {
    id: Vec<u8>,
    id_text: String,
    tag: u64,
    token: Option<String>,
    new: New,
    since: Instant,
}

impl Forwarded {
    /// Refuses it, and reports that the live server gave no answer.
    fn fail(&self, why: &str, actions: &mut Vec<Action>) {
        actions.push(refusal(&self.id_text, why, self.tag));
        actions.push(unanswered(why, self.new.request().unwrap_or_default()));
    }
}

impl Forwarding {
    /// Remembers what a server has to be opened with.
    pub(super) fn see(&mut self, message: Message<'_>) {
        if is(message, "initialize") {
            self.hello = Some(message.text().to_owned());
        }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// The new messages that one of the server belongs to: those of the request, or of the last one.
    fn new_of(&mut self, id: Option<&[u8]>) -> Option<&mut New> {
        match self.open.iter().rposition(|it| id.is_none_or(|id| it.id == id)) {
            Some(found) => Some(&mut self.open[found].new),
            None => self.new.last_mut(),
        }
    }

    /// Asks the live server. All equal messages share `key`.
    pub(super) fn ask(&mut self, key: u128, message: Message<'_>, tag: u64, actions: &mut Vec<Action>) {
        let (Some(id), Some(id_text)) = (message.id().key(), id_text(message)) else { return };
        if let LiveState::Dead(why) = &self.state {
            actions.push(refusal(id_text, why, tag));
            return actions.push(unanswered(why, message.text()));
        }
        let token = own_token(message).map(|token| token.text().to_owned());
        let new = New::asked(key, message.text());
        let (id, id_text, since) = (id.into_owned(), id_text.to_owned(), Instant::now());
        self.open.push(Forwarded { id, id_text, tag, token, new, since });
        let text = on_one_line(message.text()).into_owned();
        match (&self.state, &self.hello) {
            (LiveState::Closed, Some(hello)) if !is(message, "initialize") => {
                let hello = Message::parse(hello).ok();
                let id = format!("\"{HELLO}\"");
                let named = hello.map(|hello| with(hello, id_span(hello), Some(&id)).into_owned());
                actions.extend(named.map(|named| Action::Ask(on_one_line(&named).into_owned())));
                self.queue.push(text);
                self.state = LiveState::Opening;
            }
            (LiveState::Opening, _) => self.queue.push(text),
            _ => {
                self.state = LiveState::Open;
                actions.push(Action::Ask(text));
            }
        }
    }

    /// Hands a notification on. Where all is new, it is kept.
    pub(super) fn note(&mut self, key: u128, message: Message<'_>, all: bool, actions: &mut Vec<Action>) {
        if self.state != LiveState::Open || !all && is(message, "notifications/initialized") {
            return;
        }
        actions.push(Action::Ask(on_one_line(message.text()).into_owned()));
        // These two name requests, whose ids are others in the recording.
        if all && !is(message, "notifications/cancelled") && !is(message, "notifications/progress") {
            self.new.push(New::asked(key, message.text()));
        }
    }

    /// Hands an answer on to the live server, where that had asked.
    pub(super) fn answer(&mut self, key: &[u8], message: Message<'_>, actions: &mut Vec<Action>) -> bool {
        let Some((id, request)) = self.asked.remove(key) else { return false };
        let text = with(message, id_span(message), Some(&id)).into_owned();
        if let Some(new) = self.new_of(request.as_deref()) {
            new.add(Side::Client, &text);
        }
        actions.push(Action::Ask(on_one_line(&text).into_owned()));
        true
    }

    /// What is to be done for a line of the live server.
    pub(super) fn receive(&mut self, line: &str, ids: &mut FreshIds) -> Vec<Action> {
        let mut actions = Vec::new();
        let message = match Message::parse(line) {
            Ok(message) => message,
            Err(refusal) => {
                let kind = MismatchKind::NoMessage(format!("the live server wrote: {}", refusal.message));
                actions.push(Action::Report(Mismatch { kind, step: None, came: Some(line.to_owned()) }));
                return actions;
            }
        };
        self.open.iter_mut().for_each(|open| open.since = Instant::now());
        match (message.method(), message.id().key()) {
            (None, Some(id)) if *id == *HELLO.as_bytes() => self.opened(message, &mut actions),
            (None, Some(id)) => {
                let Some(found) = self.open.iter().position(|open| open.id == *id) else {
                    return actions;
                };
                let Forwarded { tag, mut new, .. } = self.open.remove(found);
                new.add(Side::Server, line);
                self.new.push(new);
                actions.push(Action::Send { text: line.to_owned(), about: Some(tag), last: true });
            }
            _ if self.state != LiveState::Open => {}
            (Some(_), Some(id)) => {
                let open = self.open.last().map(|open| (open.id.clone(), open.tag));
                let (request, tag) = open.unzip();
                let live_id = id_text(message).unwrap_or_default().to_owned();
                let name = ids.for_client(&id, &live_id);
                let named = with(message, id_span(message), Some(&name)).into_owned();
                let key = Message::parse(&named).ok().and_then(|it| it.id().key().map(|id| id.into_owned()));
                if let Some(new) = self.new_of(request.as_deref()) {
                    new.add(Side::Server, line);
                }
                self.asked.extend(key.map(|key| (key, (live_id, request))));
                actions.push(Action::Send { text: named, about: tag, last: false });
            }
            (Some(_), None) => {
                let token = about(message, "notifications/progress", "progressToken").map(|it| it.text());
                let by_token = |open: &&Forwarded| token.is_some() && open.token.as_deref() == token;
                let open = self.open.iter().find(by_token).or(self.open.last());
                let (request, tag) = open.map(|open| (open.id.clone(), open.tag)).unzip();
                if let Some(new) = self.new_of(request.as_deref()) {
                    new.add(Side::Server, line);
                }
                actions.push(Action::Send { text: line.to_owned(), about: tag, last: false });
            }
            (None, None) => {}
        }
        actions
    }

    /// Nothing more comes from the live server.
    pub(super) fn ended(&mut self, why: &str) -> Vec<Action> {
        let mut actions = Vec::new();
        std::mem::take(&mut self.open).iter().for_each(|open| open.fail(why, &mut actions));
        self.state = LiveState::Dead(why.to_owned());
        self.queue.clear();
        actions
    }

    /// Answers what the live server has not answered for so long.
    pub(super) fn late(&mut self, patience: Duration, actions: &mut Vec<Action>) {
        let late: Vec<Forwarded> = self.open.extract_if(.., |open| open.since.elapsed() > patience).collect();
        let why = format!("the live server has sent nothing for {} s", patience.as_secs_f64());
        late.iter().for_each(|open| open.fail(&why, actions));
    }

    /// Asks what waited until the live server was open.
    fn opened(&mut self, message: Message<'_>, actions: &mut Vec<Action>) {
        let is_error = message.json().member("error").is_some();
        if is_error {
            let why = format!("the live server refuses the session: {}", message.text());
            return actions.extend(self.ended(&why));
        }
        self.state = LiveState::Open;
        actions.push(Action::Ask(INITIALIZED.to_owned()));
        actions.extend(std::mem::take(&mut self.queue).into_iter().map(Action::Ask));
    }
}

/// That the live server gave no answer to a request.
fn unanswered(why: &str, request: &str) -> Action {
    Action::Report(Mismatch { came: Some(request.to_owned()), ..Mismatch::protocol(why) })
}
