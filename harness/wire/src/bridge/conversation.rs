//! Who asked what: between one server over stdio and its clients, of whom there is one, or several where it is shared.
//!
//! A server over stdio does not say to which request a message of its own belongs. Progress goes where its token says; news of
//! lists and resources goes to everybody's stream of a GET; whatever else it says while requests are open goes with the last
//! one, and otherwise to the stream of a GET.
//!
//! To one client bytes pass as they are. Of several, ids and progress tokens are numbered anew on their way to the server, and
//! put back in what comes from it. The server is initialized once, by the first of them; the others get the same answer.
//!
//! Memory: [`OPEN`] requests, and what [`super::streams`] keeps for each client.

use super::streams::{LISTENING, Streams};
use crate::messages::{
    about, id_span, id_text, internal_error, is, on_one_line, own_token, protocol_version, span, with,
};
use std::collections::{BTreeMap, VecDeque};
use transcript::message::Message;

/// How many requests of clients, and of the server, may be open.
const OPEN: usize = 1_000;

/// A server and its clients.
#[derive(Debug, Default)]
pub(super) struct Conversation {
    shared: bool,
    pub(super) clients: BTreeMap<u64, Client>,
    next_client: u64,
    next_name: u64,
    /// Oldest first.
    open: Vec<Request>,
    /// What the server asks: the id, and the client that is asked.
    asked: VecDeque<(Vec<u8>, u64)>,
    /// What a shared server answered to `initialize`.
    hello: Option<String>,
    /// It has got `notifications/initialized`.
    initialized: bool,
}

/// What is known of a client.
#[derive(Debug)]
pub(super) struct Client {
    pub(super) streams: Streams,
    /// The revision that was agreed on, or before that the one that was asked for.
    pub(super) version: Option<String>,
}

/// A client's request that waits.
#[derive(Debug)]
struct Request {
    /// Where its answer goes.
    to: ClientStream,
    /// The text of the id by which the server answers, and what that is compared by where it writes it otherwise.
    id: String,
    key: Vec<u8>,
    /// The text of the client's own id.
    own_id: String,
    /// The progress token, as the server and as the client has it.
    token: Option<[String; 2]>,
    is_hello: bool,
}

/// Why a client's messages are not taken.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// A request has the id of one that is open.
    SameId,
    /// More are open than may be.
    TooMany,
    /// The server does not read what is sent to it.
    Full,
    /// The server takes nothing any more.
    Over,
}

/// A stream of a client, by the numbers of both.
pub(super) type ClientStream = (u64, u64);

impl Conversation {
    pub(super) fn new(shared: bool) -> Self {
        Self { shared, ..Self::default() }
    }

    /// A client comes.
    pub(super) fn join(&mut self) -> u64 {
        self.next_client += 1;
        self.clients.insert(self.next_client, Client { streams: Streams::new(), version: None });
        self.next_client
    }

    /// A client goes; how many messages did not reach it. What it asked stays open, since the server may answer it.
    pub(super) fn leave(&mut self, client: u64) -> u64 {
        self.asked.retain(|(_, asked)| *asked != client);
        let left = self.clients.remove(&client);
        left.map_or(0, |mut left| {
            left.streams.finish_all();
            left.streams.unread()
        })
    }

    pub(super) fn streams(&mut self, client: u64) -> Option<&mut Streams> {
        Some(&mut self.clients.get_mut(&client)?.streams)
    }

    /// How many requests are open.
    pub(super) fn open(&self) -> usize {
        self.open.len()
    }

    /// Takes what a client says: the stream of the answers, where there are any, and the lines for the server. Where any of it
    /// cannot be passed on, nothing is.
    pub(super) fn ask(
        &mut self,
        client: u64,
        said: &[Message<'_>],
    ) -> Result<(Option<u64>, Vec<String>), NotTaken> {
        let requests: Vec<_> = said.iter().filter(|said| said.method().is_some()).collect();
        let ids: Vec<&str> = requests.iter().filter_map(|said| id_text(**said)).collect();
        if self.open.len() + ids.len() > OPEN {
            return Err(NotTaken::TooMany);
        }
        let is_open = |id: &str| self.open.iter().any(|open| open.to.0 == client && open.own_id == id);
        if ids.iter().enumerate().any(|(at, id)| is_open(id) || ids[..at].contains(id)) {
            return Err(NotTaken::SameId);
        }
        let stream = match ids.is_empty() {
            true => None,
            false => self.streams(client).map(|streams| streams.open(said.len() > 1)),
        };
        let mut lines = Vec::new();
        for &message in said {
            let line = match (message.method(), stream, message.id().key()) {
                (Some(_), Some(stream), Some(_)) => self.request(client, stream, message),
                (Some(_), ..) => self.notification(client, message),
                _ => self.answer(client, message),
            };
            lines.extend(line.map(|line| on_one_line(&line).into_owned()));
        }
        Ok((stream, lines))
    }

    fn request(&mut self, client: u64, stream: u64, message: Message<'_>) -> Option<String> {
        let (id, key) = (id_text(message)?.to_owned(), message.id().key()?.into_owned());
        let is_hello = is(message, "initialize");
        if is_hello && let Some(client) = self.clients.get_mut(&client) {
            client.version = message.params().and_then(protocol_version);
        }
        let token = own_token(message).map(|token| token.text().to_owned());
        let (to, own_id, token) = ((client, stream), id.clone(), token.map(|token| [token.clone(), token]));
        let mut request = Request { to, own_id, id, key, token, is_hello };
        if !self.shared {
            self.open.push(request);
            return Some(message.text().to_owned());
        }
        self.next_name += 1;
        let name = self.next_name.to_string();
        (request.id, request.key) = (name.clone(), name.clone().into_bytes());
        if let Some([servers, _]) = &mut request.token {
            servers.clone_from(&name);
        }
        let is_first = self.open.iter().all(|open| !open.is_hello);
        self.open.push(request);
        match self.hello.clone().filter(|_| is_hello) {
            Some(hello) => {
                Message::parse(&hello).into_iter().for_each(|hello| self.greet(hello));
                None
            }
            None if is_hello && !is_first => None,
            None => Some(renamed(message, &name)),
        }
    }

    fn notification(&mut self, client: u64, message: Message<'_>) -> Option<String> {
        if !self.shared {
            return Some(message.text().to_owned());
        }
        if is(message, "notifications/initialized") && std::mem::replace(&mut self.initialized, true) {
            return None;
        }
        let Some(request) = about(message, "notifications/cancelled", "requestId") else {
            return Some(message.text().to_owned());
        };
        let mut open = self.open.iter().filter(|open| open.to.0 == client);
        let name = &open.find(|open| open.own_id == request.text())?.id;
        Some(with(message, span(message, request), Some(name)).into_owned())
    }

    /// An answer to the server. Of several clients only the one that was asked may give it.
    fn answer(&mut self, client: u64, message: Message<'_>) -> Option<String> {
        let key = message.id().key();
        let asked = self.asked.iter().position(|(id, _)| key.as_deref() == Some(id));
        let asked = asked.and_then(|at| self.asked.remove(at));
        (!self.shared || asked.is_some_and(|(_, asked)| asked == client)).then(|| message.text().to_owned())
    }

    /// Takes a message of the server to the streams that it belongs to; none where it answers nobody.
    pub(super) fn receive(&mut self, message: Message<'_>) -> Option<Vec<ClientStream>> {
        if message.method().is_none() {
            let (text, key) = (id_text(message), message.id().key());
            let by_text = self.open.iter().position(|open| text == Some(&open.id));
            let by_key = || self.open.iter().position(|open| key.as_deref() == Some(&open.key));
            return by_text.or_else(by_key).map(|found| self.answered(found, message));
        }
        if let Some(token) = about(message, "notifications/progress", "progressToken") {
            let of =
                |open: &&Request| open.token.as_ref().is_some_and(|[servers, _]| servers == token.text());
            if let Some(open) = self.open.iter().find(of) {
                let own = open.token.as_ref().map(|[_, own]| &**own);
                let (to, text) = (open.to, with(message, span(message, token), own));
                return Some(self.deliver(vec![to], &text));
            }
        }
        let is_news = ["list_changed", "resources/updated"].iter().any(|end| {
            message.method().and_then(|method| method.to_str()).is_some_and(|it| it.ends_with(end))
        });
        let here = |open: &&Request| !is_news && self.clients.contains_key(&open.to.0);
        let last = self.open.iter().rev().find(here).map(|open| open.to);
        let everybody = || self.clients.keys().map(|client| (*client, LISTENING)).collect();
        let mut to: Vec<_> = last.map_or_else(everybody, |last| vec![last]);
        if let Some(id) = message.id().key() {
            // One client is asked, the one that came last.
            to.drain(..to.len().saturating_sub(1));
            if self.asked.len() == OPEN {
                self.asked.pop_front();
            }
            self.asked.extend(to.first().map(|(client, _)| (id.into_owned(), *client)));
        }
        Some(self.deliver(to, message.text()))
    }

    /// Nothing more comes from the server: every open request is answered with an error that says why.
    pub(super) fn end(&mut self, why: &str) {
        for Request { to, own_id, .. } in std::mem::take(&mut self.open) {
            self.deliver(vec![to], &internal_error(&own_id, &format!("mcp-concord record: {why}")));
        }
        self.clients.values_mut().for_each(|client| client.streams.finish_all());
    }

    fn answered(&mut self, found: usize, message: Message<'_>) -> Vec<ClientStream> {
        let is_hello = self.open[found].is_hello;
        let to = self.give(found, message);
        if self.shared && is_hello {
            self.hello = message.json().member("result").map(|_| message.text().to_owned());
            self.greet(message);
        }
        vec![to]
    }

    /// Answers every client of a shared server that waits for the answer to its `initialize`, with what the first one got.
    fn greet(&mut self, hello: Message<'_>) {
        while let Some(found) = self.open.iter().position(|open| open.is_hello) {
            self.give(found, hello);
        }
    }

    /// Gives an open request this answer; where that went.
    fn give(&mut self, found: usize, answer: Message<'_>) -> ClientStream {
        let Request { to, own_id, is_hello, .. } = self.open.remove(found);
        let result = answer.json().member("result").filter(|_| is_hello);
        let own_id = Some(&*own_id).filter(|_| self.shared);
        self.deliver(vec![to], &with(answer, id_span(answer), own_id));
        let is_last = self.open.iter().all(|open| open.to != to);
        if let Some(client) = self.clients.get_mut(&to.0) {
            client.version = result.and_then(protocol_version).or(client.version.take());
            if is_last {
                client.streams.finish(to.1);
            }
        }
        to
    }

    fn deliver(&mut self, to: Vec<ClientStream>, text: &str) -> Vec<ClientStream> {
        for (client, stream) in &to {
            self.streams(*client).into_iter().for_each(|streams| streams.add(*stream, text));
        }
        to
    }
}

/// A request with this name for its id, and for its progress token where it has one.
fn renamed(message: Message<'_>, name: &str) -> String {
    let named = with(message, id_span(message), Some(name));
    let token = Message::parse(&named).ok().and_then(|message| {
        let token = span(message, own_token(message)?);
        Some(with(message, token, Some(name)).into_owned())
    });
    token.unwrap_or_else(|| named.into_owned())
}

#[cfg(test)]
mod tests;
