//! Follows the HTTP exchanges of a recording, and tells which transport each is of.
//!
//! Exchanges of other sites, JSON-RPC of other services, CORS preflights and OAuth documents stand in the same
//! recording and are not MCP; and that HTTP+SSE of 2024-11-05 is shown by its `endpoint` event. Memory: one exchange
//! without its bodies, and up to [`MOST_URLS`] URLs of each sort, and sessions; up to [`MOST_WAITING`] exchanges that came before the
//! revision was known, such as a refusal for want of a token; and up to [`MOST_OPEN`] streams that are open at a time.

use super::http_exchange::{HttpExchange, SESSION, Transport};
use super::message::{META_VERSION, SeenMessage};
use super::url::announced;
use crate::revision::Revision;
use formats::other_protocol;
use formats::url::normal;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use transcript::rejection::Rejection;
use transcript::session::{Content, Entry};

/// This many URLs are remembered; beyond it, an exchange with a new one counts as another site's.
const MOST_URLS: usize = 1_000;

/// The most exchanges that are followed while their answers come in between others. Beyond it the oldest counts as over.
const MOST_OPEN: usize = 1_000;

/// The most exchanges that wait for a revision to be judged by.
const MOST_WAITING: usize = 100;

/// Follows the exchanges of a recording.
#[derive(Debug, Default)]
pub(crate) struct ExchangeTracker {
    /// Those of which more may come: the last, and the others whose parts have times of their own. By their start.
    open: VecDeque<HttpExchange>,
    /// Which of them the step at hand is part of.
    current: Option<usize>,
    waiting: Vec<HttpExchange>,
    /// Where messages were posted over Streamable HTTP.
    endpoints: BTreeSet<Box<str>>,
    /// Where streams of HTTP+SSE were opened.
    streams: BTreeSet<Box<str>>,
    /// Where HTTP+SSE servers asked for messages.
    targets: BTreeSet<Box<str>>,
    /// Where another protocol is spoken whose methods have names of MCP's.
    others: BTreeSet<Box<str>>,
    /// What became of the GETs of each session, by [`HttpExchange::peer`].
    listening: BTreeMap<Box<str>, Listening>,
    /// The recorder says when each part of an answer came, and so keeps the streams that are still open.
    keeps_open: bool,
}

/// What became of the GETs by which a client listens, from the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Listening {
    /// The server has no stream for them.
    Refused,
    /// They may be tried again, or what came of them is not in the recording.
    Unclear,
    /// A stream is in the recording.
    Opened,
}

impl ExchangeTracker {
    /// Takes a step in; the exchanges before it that can be judged now, mostly one, where the step begins another.
    pub(super) fn see(
        &mut self,
        entry: &Entry<'_>,
        message: Option<&SeenMessage<'_>>,
        revision: Option<Revision>,
    ) -> Vec<HttpExchange> {
        let mut done = Vec::new();
        match &entry.content {
            Content::Exchange(exchange) => {
                done.extend(self.close(|open| !open.raw.timed && !open.is_unplaced()));
                if self.open.len() == MOST_OPEN {
                    let oldest = self.open.front().map(|open| open.number);
                    done.extend(self.close(|open| Some(open.number) == oldest));
                }
                let exchange = HttpExchange::new(exchange.owned(), entry, revision);
                self.listen(&exchange);
                self.open.push_back(exchange);
            }
            Content::ExchangeEnd => done.extend(self.close(|open| Some(open.number) == entry.exchange)),
            _ => {
                let number = entry.exchange;
                let current = self.open.iter_mut().rev().find(|open| Some(open.number) == number);
                if let Some(exchange) = current {
                    exchange.take(entry, message, revision);
                    // Messages go there while the stream is open.
                    if let Some(endpoint) = exchange.endpoint.as_ref().filter(|_| exchange.opens(entry)) {
                        keep(&mut self.targets, &announced(&exchange.raw.url, endpoint));
                        keep(&mut self.streams, exchange.url());
                    }
                }
            }
        }
        self.current = self.place(entry);
        if done.is_empty() {
            return done;
        }
        if done.iter().any(|done| done.revision.or(revision).is_none()) && self.waiting.len() < MOST_WAITING {
            self.waiting.extend(done);
            return Vec::new();
        }
        std::mem::take(&mut self.waiting).into_iter().chain(done).collect()
    }

    /// The exchange that a step is part of, as far as it is known.
    pub(super) fn exchange_of(&self, entry: &Entry<'_>) -> Option<&HttpExchange> {
        self.open.get(self.place(entry)?)
    }

    /// Whether a message is of a service that speaks JSON-RPC and not MCP: its exchange begins with a method that MCP has not, at
    /// an address where nobody spoke MCP, and nothing in its headers is MCP's.
    pub(super) fn is_foreign(&mut self, entry: &Entry<'_>, message: &SeenMessage<'_>) -> bool {
        let Some(place) = self.place(entry) else { return false };
        let exchange = &self.open[place];
        if message.method.is_none() || exchange.speaks() {
            return exchange.foreign;
        }
        let knows = |open: &HttpExchange| open.knows_mcp && open.url() == exchange.url();
        let here = self.endpoints.contains(exchange.url()) || self.open.iter().any(knows);
        // Methods that MCP has not may be named as its own are, and an address where MCP is spoken be known before.
        let elsewhere = !self.endpoints.is_empty() || self.open.iter().any(|open| open.knows_mcp);
        let like_ours =
            |method: &str| method.starts_with("notifications/") || !elsewhere && method.contains('/');
        let other = other_protocol(&message.raw).is_some()
            || self.others.contains(exchange.url()) && !message.calls("initialize");
        let ours = !other && (message.known.is_some() || message.method.as_deref().is_some_and(like_ours))
            || message.meta(META_VERSION).is_some()
            || exchange.names_mcp();
        let foreign = exchange.is("POST") && !here && !ours && !self.is_target(&exchange.raw.url);
        if foreign && other {
            keep(&mut self.others, self.open[place].url());
        }
        self.open[place].foreign = foreign;
        foreign
    }

    fn place(&self, entry: &Entry<'_>) -> Option<usize> {
        let number = entry.exchange?;
        self.open.iter().rposition(|open| open.number == number)
    }

    /// The exchange that the step at hand is part of, as far as it is known. Its transport is reported at its end.
    pub(crate) fn current(&self) -> Option<&HttpExchange> {
        self.open.get(self.current?)
    }

    /// The exchanges that are left at the end. One that the reader had to stop in is none to be judged.
    pub(super) fn end(&mut self, rejection: Option<&Rejection>) -> Vec<HttpExchange> {
        let left = self.close(|_| rejection.is_none());
        std::mem::take(&mut self.waiting).into_iter().chain(left).collect()
    }

    /// Those of the open exchanges of which nothing more will come.
    fn close(&mut self, is_over: impl Fn(&HttpExchange) -> bool) -> Vec<HttpExchange> {
        let (over, open) = std::mem::take(&mut self.open).into_iter().partition::<VecDeque<_>, _>(is_over);
        self.open = open;
        over.into_iter().map(|exchange| self.closed(exchange)).collect()
    }

    fn closed(&mut self, mut exchange: HttpExchange) -> HttpExchange {
        exchange.transport = self.transport(&exchange);
        // A client may follow the server that redirects it.
        let redirects = (300..400).contains(&exchange.status()) && self.is_target(&exchange.raw.url);
        if let Some(elsewhere) = exchange.response_header("location").filter(|_| redirects) {
            keep(&mut self.targets, &announced(&exchange.raw.url, elsewhere));
        }
        if exchange.transport == Transport::Streamable && exchange.speaks() {
            keep(&mut self.endpoints, exchange.url());
        }
        exchange
    }

    /// Whether HTTP+SSE servers asked for messages there.
    pub(crate) fn is_target(&self, url: &str) -> bool {
        self.has_targets() && self.targets.contains(&*normal(url))
    }

    /// Whether only one stream of HTTP+SSE asked for messages.
    pub(crate) fn has_one_target(&self) -> bool {
        self.targets.len() == 1
    }

    /// Whether anybody was asked for messages in the manner of HTTP+SSE.
    pub(crate) fn has_targets(&self) -> bool {
        !self.targets.is_empty()
    }

    fn listen(&mut self, exchange: &HttpExchange) {
        self.keeps_open |= exchange.raw.timed;
        let listens = exchange.listens() || exchange.streams() || exchange.request_header(SESSION).is_some();
        if !exchange.is("GET") || !listens {
            return;
        }
        let now = match exchange.status() {
            400 | 404..=406 | 501 => Listening::Refused,
            _ if exchange.streams() => Listening::Opened,
            _ => Listening::Unclear,
        };
        if self.listening.len() < MOST_URLS {
            let most = self.listening.entry(exchange.peer()).or_insert(now);
            *most = now.max(*most);
        }
    }

    /// Whether a session, by [`HttpExchange::peer`], may have had a stream that is not in the recording: a browser's export leaves
    /// out what is still open.
    pub(crate) fn may_lack_a_stream(&self, peer: &str) -> bool {
        !self.keeps_open && self.listening.get(peer).is_none_or(|known| *known == Listening::Unclear)
    }

    fn transport(&self, exchange: &HttpExchange) -> Transport {
        if exchange.url().contains("/.well-known/") {
            return Transport::Other;
        }
        let here = self.endpoints.contains(exchange.url());
        let with_session = exchange.request_header(SESSION).is_some();
        let listens = exchange.listens();
        let is_mcp = exchange.names_mcp();
        if exchange.is("POST") && exchange.speaks() {
            // A message that went astray in HTTP+SSE finds no server that answers it in its own exchange, and its
            // sender, unlike that of a message over Streamable HTTP, accepts no stream.
            let answered =
                exchange.messages > 0 || exchange.streams() || exchange.response_header(SESSION).is_some();
            let strays = !here && !answered && !with_session && !listens;
            if self.is_target(&exchange.raw.url) || self.has_targets() && strays {
                return Transport::Legacy;
            }
            let ours = here || is_mcp || exchange.knows_mcp;
            return if ours { Transport::Streamable } else { Transport::Other };
        }
        if exchange.is("GET") {
            return match () {
                () if exchange.endpoint.is_some() => Transport::Legacy,
                () if with_session => Transport::Streamable,
                () if self.streams.contains(exchange.url()) => Transport::Legacy,
                () if here && (is_mcp || listens) || is_mcp && listens => Transport::Streamable,
                () => Transport::Other,
            };
        }
        let sends = ["POST", "PUT", "PATCH"].iter().any(|method| exchange.is(method));
        if sends && here || exchange.is("DELETE") && (here || with_session) {
            return Transport::Streamable;
        }
        Transport::Other
    }
}

fn keep(urls: &mut BTreeSet<Box<str>>, url: &str) {
    if urls.len() < MOST_URLS {
        urls.insert(url.into());
    }
}
