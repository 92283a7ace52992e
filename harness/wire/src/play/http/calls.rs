//! Hyper's side of a client: sends requests, and tells what comes back.
//!
//! Knows: connections, bodies and streams of events, and their bounds. Refuses to know: what is said. Memory: what comes
//! back for each request that is open, up to the bound of a message, and [`WAITING`] things that nobody has looked at.

use super::body::Fed;
use super::{EVENTS, next, next_until};
use crate::play::journal::{Journal, Way, What};
use crate::play::{Plan, StartError};
use crate::proxy::{Target, listed, reasons};
use formats::sse::{SseBlockKind, SseParser};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// So many things that happened wait to be looked at.
const WAITING: usize = 16;

/// Something that came back for a request, by its number.
#[derive(Debug)]
pub(super) enum Came {
    /// The head of the answer.
    Answered(u16, HeaderMap),
    /// An event of a stream.
    Event { name: Option<String>, id: Option<String>, data: Vec<u8> },
    /// A whole body that is no stream.
    Body(Vec<u8>),
    /// Something larger than what is held: so many bytes. Nothing more comes.
    TooLong(u64),
    /// Nothing more comes, and why where it broke off.
    Ended(Option<String>),
    /// No answer could be had; and whether there was no connection.
    Failed(String, bool),
}

/// Sends requests.
pub(super) struct Caller {
    wire: Wire,
    client: Client<HttpsConnector<HttpConnector>, Fed>,
    came: mpsc::Receiver<(u64, Came)>,
    origin: String,
    chunk: Option<usize>,
    next: u64,
    runtime: Runtime,
}

#[derive(Clone)]
struct Wire {
    tell: mpsc::Sender<(u64, Came)>,
    journal: Journal,
    longest: u64,
    slow: Duration,
    moved: Arc<AtomicU64>,
}

impl Caller {
    pub(super) fn new(plan: &Plan<'_>, target: &Target) -> Result<Self, StartError> {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
        let runtime = runtime.map_err(|error| StartError::Here(format!("no thread can be had: {error}")))?;
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(Some(plan.patience));
        let connector = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|error| StartError::Here(format!("the system's certificates cannot be read: {error}")))?
            .https_or_http()
            .enable_http1()
            .wrap_connector(http);
        let (tell, came) = mpsc::channel(WAITING);
        let wire = Wire {
            tell,
            journal: plan.journal.clone(),
            longest: plan.longest() as u64,
            slow: plan.variants.slow_read,
            moved: Arc::default(),
        };
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let (origin, chunk) = (target.origin(), plan.variants.chunk);
        Ok(Self { wire, client, came, origin, chunk, next: 0, runtime })
    }

    /// Sends a request; its number, and what ends it early.
    pub(super) fn send(
        &mut self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Option<(u64, AbortHandle)> {
        let number = self.next;
        self.next += 1;
        let uri: Uri = format!("{}{path}", self.origin).parse().ok()?;
        let body = Fed::whole(Bytes::from(body), self.chunk, number, &self.wire.journal);
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        self.wire.journal.note(|| What::Asked {
            way: Way::Sent,
            exchange: number,
            method: request.method().to_string(),
            target: path.to_owned(),
            headers: listed(request.headers()),
        });
        let (wire, answer) = (self.wire.clone(), self.client.request(request));
        let running = self.runtime.spawn(async move {
            match answer.await {
                Ok(answer) => wire.answer(number, answer).await,
                Err(error) => {
                    let failed = Came::Failed(reasons(&error), error.is_connect());
                    wire.tell(number, failed).await;
                }
            }
        });
        Some((number, running.abort_handle()))
    }

    /// The next thing that came back, with the number of its request; none where nothing does for so long.
    pub(super) fn next(&mut self, patience: Duration) -> Option<(u64, Came)> {
        let patience = patience + self.wire.slow;
        self.runtime.block_on(next(&mut self.came, patience, &self.wire.moved))
    }

    /// The same before that time, whatever moves.
    pub(super) fn next_until(&mut self, until: Instant) -> Option<(u64, Came)> {
        self.runtime.block_on(next_until(&mut self.came, until))
    }

    /// Ends every connection.
    pub(super) fn close(self) {
        let Self { runtime, client, came, .. } = self;
        drop((client, came));
        runtime.shutdown_timeout(Duration::from_secs(1));
    }
}

impl Wire {
    async fn tell(&self, number: u64, came: Came) {
        // Where nobody listens any more, the play is over.
        let _ = self.tell.send((number, came)).await;
    }

    async fn answer(&self, number: u64, answer: Response<Incoming>) {
        let (head, body) = answer.into_parts();
        let status = head.status.as_u16();
        self.journal.note(|| What::Answered {
            way: Way::Received,
            exchange: number,
            status,
            headers: listed(&head.headers),
        });
        let media = head.headers.get(CONTENT_TYPE).map(|value| value.as_bytes().to_ascii_lowercase());
        let streams = media.is_some_and(|media| media.starts_with(EVENTS.as_bytes()));
        self.tell(number, Came::Answered(status, head.headers)).await;
        let mut open = Open { wire: self, number, lasted: false };
        let ended = if streams { self.events(number, body).await } else { self.whole(number, body).await };
        open.lasted = true;
        if let Some(broken) = ended {
            self.journal.ended(Way::Received, Some(number), broken.clone());
            self.tell(number, Came::Ended(broken)).await;
        }
    }

    /// Reads a stream to its end, and why it ended; none where it was let go.
    async fn events(&self, number: u64, mut body: Incoming) -> Option<Option<String>> {
        let (mut parser, mut waiting) = (SseParser::default(), 0);
        loop {
            let part = match self.part(number, &mut body).await {
                Ok(Some(part)) => part,
                Ok(None) => return Some(None),
                Err(why) => return Some(Some(why)),
            };
            let mut events = Vec::new();
            parser.feed(&part, &mut |event| {
                let text =
                    |bytes: Option<&[u8]>| bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned());
                if matches!(event.kind, SseBlockKind::Event | SseBlockKind::Dataless) {
                    let (name, id) = (text(event.name), text(event.id));
                    events.push(Came::Event { name, id, data: event.data.to_vec() });
                }
            });
            waiting = if events.is_empty() { waiting + part.len() as u64 } else { 0 };
            for event in events {
                self.tell(number, event).await;
            }
            if waiting > self.longest {
                self.tell(number, Came::TooLong(waiting)).await;
                return None;
            }
        }
    }

    async fn whole(&self, number: u64, mut body: Incoming) -> Option<Option<String>> {
        let (mut bytes, mut count) = (Vec::new(), 0);
        loop {
            match self.part(number, &mut body).await {
                Ok(Some(part)) => {
                    count += part.len() as u64;
                    if count <= self.longest {
                        bytes.extend_from_slice(&part);
                    } else {
                        bytes = Vec::new();
                    }
                }
                Ok(None) => break,
                Err(why) => return Some(Some(why)),
            }
        }
        let came = if count > self.longest { Came::TooLong(count) } else { Came::Body(bytes) };
        self.tell(number, came).await;
        Some(None)
    }

    async fn part(&self, number: u64, body: &mut Incoming) -> Result<Option<Bytes>, String> {
        if !self.slow.is_zero() {
            tokio::time::sleep(self.slow).await;
        }
        match body.frame().await {
            None => Ok(None),
            Some(Ok(frame)) => {
                let part = frame.into_data().unwrap_or_default();
                self.journal.bytes_at(self.journal.now(), Way::Received, Some(number), &part);
                self.moved.fetch_add(part.len() as u64, Ordering::Relaxed);
                Ok(Some(part))
            }
            Some(Err(error)) => Err(error.to_string()),
        }
    }
}

/// An answer that is being read. Where it is let go before its end, the journal says so.
struct Open<'w> {
    wire: &'w Wire,
    number: u64,
    lasted: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.lasted {
            let why = "this side went away".to_owned();
            self.wire.journal.ended(Way::Received, Some(self.number), Some(why));
        }
    }
}
