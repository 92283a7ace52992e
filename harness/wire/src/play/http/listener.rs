//! Hyper's side of a server: accepts connections, and hands each request to the thread that decides.
//!
//! Memory: a body for each of [`Limits::connections`], and [`WAITING`] requests.

use super::body::StreamedBody;
use crate::net::{AllowedHosts, HEAD_DEADLINE, header_list};
use crate::play::journal::{Direction, Event, Journal};
use crate::play::plan::Plan;
use crate::stdio::PipeEvent;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::future::{Future as _, poll_fn};
use std::io;
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc, oneshot, watch};

/// What clients may take of a server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// So many connections are served at a time; others wait.
    pub(super) connections: usize,
    /// So long may a connection go without a whole head of a request, and keep its place from others.
    pub(super) head_deadline: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connections: 1024, head_deadline: HEAD_DEADLINE }
    }
}

/// So many things that happened wait to be looked at.
const WAITING: usize = 16;

/// Something that happened.
#[derive(Debug)]
pub(super) enum ServerEvent {
    /// A request, with all of its body.
    Request(Box<IncomingRequest>),
    /// A connection is there.
    Connected,
    /// A connection is gone.
    Disconnected,
    /// A request's body was larger than what is held: so many bytes.
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
    /// Where the answer goes. Without one the connection is closed.
    pub(super) reply: oneshot::Sender<Response<StreamedBody>>,
}

impl IncomingRequest {
    /// Answers with a text, or with nothing.
    pub(super) fn answer(self, status: u16, text: &str, plan: &Plan<'_>) {
        let bytes = Bytes::from(text.to_owned());
        let body = StreamedBody::whole(bytes, plan.variants.chunk, self.exchange, plan.journal);
        let media = (!text.is_empty()).then_some("text/plain; charset=utf-8");
        // A client may go before it is answered.
        let _ = self.reply.send(body.answer(status, media));
    }
}

/// The listening end of a server.
pub(super) struct Listener {
    pub(super) came: mpsc::Receiver<ServerEvent>,
    /// Bytes that came: as long as they do, nobody is silent.
    pub(super) moved: Arc<AtomicU64>,
    /// Where more that happens can be put in.
    pub(super) events: mpsc::Sender<ServerEvent>,
    stop: watch::Sender<bool>,
}

#[derive(Clone)]
struct ConnectionHandler {
    events: mpsc::Sender<ServerEvent>,
    journal: Journal,
    hosts: Arc<AllowedHosts>,
    longest: u64,
    slow: Duration,
    head_deadline: Duration,
    next: Arc<AtomicU64>,
    moved: Arc<AtomicU64>,
}

impl Listener {
    /// Serves connections. To be called inside of a runtime.
    pub(super) fn start(
        listener: TcpListener,
        hosts: AllowedHosts,
        limits: Limits,
        plan: &Plan<'_>,
    ) -> io::Result<Self> {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        let (events, came) = mpsc::channel(WAITING);
        let (stop, stopped) = watch::channel(false);
        let serving = ConnectionHandler {
            events,
            journal: plan.journal.clone(),
            hosts: Arc::new(hosts),
            longest: plan.longest() as u64,
            slow: plan.variants.slow_read,
            head_deadline: limits.head_deadline,
            next: Arc::default(),
            moved: Arc::default(),
        };
        let (moved, put) = (Arc::clone(&serving.moved), serving.events.clone());
        let room = Arc::new(Semaphore::new(limits.connections));
        tokio::spawn(async move {
            loop {
                let Ok(place) = Arc::clone(&room).acquire_owned().await else { return };
                let Ok((stream, _)) = listener.accept().await else {
                    // Too many open files, or a client that was gone at once: the next one may do better.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                let (serving, stopped) = (serving.clone(), stopped.clone());
                tokio::spawn(async move {
                    let _ = serving.events.send(ServerEvent::Connected).await;
                    serving.connection(stream, stopped).await;
                    let _ = serving.events.send(ServerEvent::Disconnected).await;
                    drop(place);
                });
            }
        });
        Ok(Self { came, moved, events: put, stop })
    }

    /// Ends every connection when its answer has been sent.
    pub(super) fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl ConnectionHandler {
    async fn connection(&self, stream: TcpStream, mut stopped: watch::Receiver<bool>) {
        // Without it an answer may wait for the other side's acknowledgement of the last one.
        let _ = stream.set_nodelay(true);
        let service = service_fn(|request| self.serve(request));
        let mut connection = hyper::server::conn::http1::Builder::new();
        connection.timer(TokioTimer::new()).header_read_timeout(self.head_deadline);
        let mut connection = pin!(connection.serve_connection(TokioIo::new(stream), service));
        let mut stopped = pin!(stopped.wait_for(|stopped| *stopped));
        let mut stopping = false;
        // What is no HTTP is answered by hyper.
        let _ = poll_fn(|context| {
            if !stopping && stopped.as_mut().poll(context).is_ready() {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
            connection.as_mut().poll(context)
        })
        .await;
    }

    async fn serve(&self, request: Request<Incoming>) -> io::Result<Response<StreamedBody>> {
        let exchange = self.next.fetch_add(1, Ordering::Relaxed);
        let (head, body) = request.into_parts();
        let target = head.uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        self.journal.note(|| Event::Asked {
            way: Direction::Received,
            exchange,
            method: head.method.to_string(),
            target: target.clone(),
            headers: header_list(&head.headers),
        });
        let body = self.body(exchange, body).await?;
        let (reply, answer) = oneshot::channel();
        let refusal = self.hosts.refusal_of_server(&head.uri, &head.headers);
        let (method, headers) = (head.method, head.headers);
        let asked = Box::new(IncomingRequest { exchange, method, target, headers, refusal, body, reply });
        let nobody = || io::Error::other("nobody answers");
        self.events.send(ServerEvent::Request(asked)).await.map_err(|_| nobody())?;
        let answer = answer.await.map_err(|_| nobody())?;
        let (status, headers) = (answer.status().as_u16(), header_list(answer.headers()));
        self.journal.note(|| Event::Answered { way: Direction::Sent, exchange, status, headers });
        Ok(answer)
    }

    async fn body(&self, exchange: u64, mut body: Incoming) -> io::Result<Vec<u8>> {
        let (mut bytes, mut count) = (Vec::new(), 0);
        loop {
            if !body.is_end_stream() && !self.slow.is_zero() {
                tokio::time::sleep(self.slow).await;
            }
            let part = match body.frame().await {
                None => break,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
                Some(Err(error)) => {
                    self.journal.ended(Direction::Received, Some(exchange), Some(error.to_string()));
                    let _ = self.events.send(ServerEvent::Broken(error.to_string())).await;
                    return Err(io::Error::other(error));
                }
            };
            self.journal.bytes_at(self.journal.now(), Direction::Received, Some(exchange), &part);
            count += part.len() as u64;
            if count <= self.longest {
                bytes.extend_from_slice(&part);
                // What is longer may have no end, and nobody waits for it.
                self.moved.fetch_add(part.len() as u64, Ordering::Relaxed);
            } else {
                bytes = Vec::new();
            }
        }
        self.journal.ended(Direction::Received, Some(exchange), None);
        if count > self.longest {
            let _ = self.events.send(ServerEvent::TooLong(count)).await;
            return Err(io::Error::other("the body is too long"));
        }
        Ok(bytes)
    }
}
