//! The connections of a server, each of whose requests is handed to the thread that decides.
//!
//! Memory: a body for each of the connections that [`Limits`] allow, and [`QUEUED`] requests.

use super::body::{BodySender, Intake, open, whole};
use crate::http::{
    AllowedHosts, Body, BoxError, EVENTS, HEAD_DEADLINE, Limits, Service, Serving, answer, header_list,
};
use crate::play::journal::{Direction, JournalEvent};
use crate::play::plan::Plan;
use crate::stdio::PipeEvent;
use hyper::body::Incoming;
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response, StatusCode};
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::{mpsc, oneshot};

/// What clients may take of a server, where nothing else is said.
pub(super) const LIMITS: Limits = Limits { connections: 1024, head_deadline: HEAD_DEADLINE };

/// How many events wait to be looked at.
const QUEUED: usize = 16;

/// Something that happened.
#[derive(Debug)]
pub(super) enum ServerEvent {
    /// A request, with all of its body.
    Request(Box<IncomingRequest>),
    /// A connection is there.
    Connected,
    /// A connection is gone.
    Disconnected,
    /// A request's body was larger than what is held, in bytes.
    TooLong(u64),
    /// A request broke off.
    Broken(String),
    /// Something that happened at the pipes of the live server behind a client of this session id.
    Live(String, PipeEvent),
}

/// A request.
#[derive(Debug)]
pub(super) struct IncomingRequest {
    pub(super) exchange: u64,
    pub(super) method: Method,
    /// The path and the query.
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    /// Why it is refused, whatever it asks for.
    pub(super) refusal: Option<String>,
    pub(super) body: Vec<u8>,
    pub(super) reply: Responder,
}

/// Where an answer goes. Without one the connection is closed.
#[derive(Debug)]
pub(super) struct Responder {
    exchange: u64,
    answer: oneshot::Sender<Response<Body>>,
}

impl Responder {
    /// Answers with a whole body, and headers that `add` adds; false where the client has gone.
    pub(super) fn send(
        self,
        (status, media): (u16, &str),
        text: &str,
        plan: &Plan<'_>,
        add: impl FnOnce(&mut HeaderMap),
    ) -> bool {
        let body = whole(text.to_owned(), self.exchange, plan);
        self.open_with(status, media, body, add)
    }

    /// Answers with a stream of events, which is fed by what this returns.
    pub(super) fn open(self, plan: &Plan<'_>, add: impl FnOnce(&mut HeaderMap)) -> BodySender {
        let (feed, body) = open(self.exchange, plan);
        self.open_with(200, EVENTS, body, add);
        feed
    }

    fn open_with(self, status: u16, media: &str, body: Body, add: impl FnOnce(&mut HeaderMap)) -> bool {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::OK);
        let mut answer = answer(status, Some(media).filter(|media| !media.is_empty()), body);
        add(answer.headers_mut());
        self.answer.send(answer).is_ok()
    }
}

impl IncomingRequest {
    /// Answers with a text, or with nothing.
    pub(super) fn answer(self, status: u16, text: &str, plan: &Plan<'_>) {
        let media = if text.is_empty() { "" } else { "text/plain; charset=utf-8" };
        self.reply.send((status, media), text, plan, |_| ());
    }
}

/// The listening end of a server.
pub(super) struct Listener {
    pub(super) came: mpsc::Receiver<ServerEvent>,
    /// Bytes that came: as long as they do, nobody is silent.
    pub(super) moved: Arc<AtomicU64>,
    /// Where more that happens can be put in.
    pub(super) events: mpsc::Sender<ServerEvent>,
    serving: Serving,
}

struct Requests {
    events: mpsc::Sender<ServerEvent>,
    intake: Intake,
    hosts: AllowedHosts,
    next: AtomicU64,
}

impl Listener {
    /// Serves connections. To be called inside of a runtime.
    pub(super) fn start(
        listener: TcpListener,
        hosts: AllowedHosts,
        limits: Limits,
        plan: &Plan<'_>,
    ) -> io::Result<Self> {
        let (events, came) = mpsc::channel(QUEUED);
        let intake = Intake::new(plan);
        let moved = Arc::clone(&intake.moved);
        let requests = Requests { events: events.clone(), intake, hosts, next: AtomicU64::new(0) };
        Ok(Self { came, moved, events, serving: Serving::start(listener, limits, requests)? })
    }

    /// Ends every connection when its answer has been sent.
    pub(super) fn stop(&self) {
        self.serving.stop();
    }
}

impl Service for Requests {
    async fn connected(&self, _: u64) {
        let _ = self.events.send(ServerEvent::Connected).await;
    }

    async fn answer(&self, _: u64, request: Request<Incoming>) -> Result<Response<Body>, BoxError> {
        let exchange = self.next.fetch_add(1, Ordering::Relaxed);
        let (head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        self.intake.journal.note(|| JournalEvent::Asked {
            way: Direction::Received,
            exchange,
            method: head.method.to_string(),
            target: target.clone(),
            headers: header_list(&head.headers),
        });
        let body = match self.body(exchange, body).await {
            Ok(body) => body,
            Err((event, why)) => {
                let _ = self.events.send(event).await;
                return Err(why.into());
            }
        };
        let (reply, answer) = oneshot::channel();
        let refusal = self.hosts.refusal_of_server(&head.uri, &head.headers);
        let (method, headers, reply) = (head.method, head.headers, Responder { exchange, answer: reply });
        let asked = Box::new(IncomingRequest { exchange, method, target, headers, refusal, body, reply });
        self.events.send(ServerEvent::Request(asked)).await.map_err(|_| "nobody answers")?;
        let answer = answer.await.map_err(|_| "nobody answers")?;
        let (status, headers) = (answer.status().as_u16(), header_list(answer.headers()));
        self.intake.journal.note(|| JournalEvent::Answered {
            way: Direction::Sent,
            exchange,
            status,
            headers,
        });
        Ok(answer)
    }

    async fn disconnected(&self, _: hyper::Result<()>) {
        let _ = self.events.send(ServerEvent::Disconnected).await;
    }
}

impl Requests {
    async fn body(&self, exchange: u64, body: Incoming) -> Result<Vec<u8>, (ServerEvent, String)> {
        let mut body = self.intake.body(exchange, body);
        let (mut bytes, mut count) = (Vec::new(), 0);
        let broken = |why: String| (ServerEvent::Broken(why.clone()), why);
        while let Some(part) = self.intake.part(&mut body).await.map_err(broken)? {
            count += part.len();
            if count <= self.intake.longest {
                bytes.extend_from_slice(&part);
                // What is longer may have no end, and nobody waits for it.
                self.intake.moved.fetch_add(part.len() as u64, Ordering::Relaxed);
            } else {
                bytes = Vec::new();
            }
        }
        match count > self.intake.longest {
            true => Err((ServerEvent::TooLong(count as u64), "the body is too long".to_owned())),
            false => Ok(bytes),
        }
    }
}
