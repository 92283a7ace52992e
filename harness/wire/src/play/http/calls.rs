//! Hyper's side of a client: sends requests, and reports what comes back.
//!
//! Memory: what comes back for each open request, up to the bound of a message, and [`WAITING`] reports.

use super::body::StreamedBody;
use super::protocol::{EVENTS, next, next_until};
use crate::StartError;
use crate::net::{self, error_chain, header_list};
use crate::play::journal::{Direction, Event, Journal};
use crate::play::plan::Plan;
use crate::proxy::Target;
use formats::sse::{SseBlockKind, SseParser};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderMap};
use hyper::{Method, Request, Response, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// So many things that happened wait to be looked at.
const WAITING: usize = 16;

/// Something that came back for a request, by its number.
#[derive(Debug)]
pub(super) enum CallEvent {
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
pub(super) struct HttpClient {
    responses: Responses,
    client: Client<HttpsConnector<HttpConnector>, StreamedBody>,
    came: mpsc::Receiver<(u64, CallEvent)>,
    origin: String,
    chunk: Option<usize>,
    next: u64,
    runtime: Runtime,
}

#[derive(Clone)]
struct Responses {
    events: mpsc::Sender<(u64, CallEvent)>,
    journal: Journal,
    longest: u64,
    slow: Duration,
    moved: Arc<AtomicU64>,
}

impl HttpClient {
    pub(super) fn new(plan: &Plan<'_>, target: &Target) -> Result<Self, StartError> {
        let runtime = net::runtime().map_err(StartError::Unusable)?;
        let connector = net::connector(Some(plan.patience)).map_err(StartError::Unusable)?;
        let (events, came) = mpsc::channel(WAITING);
        let responses = Responses {
            events,
            journal: plan.journal.clone(),
            longest: plan.longest() as u64,
            slow: plan.variants.slow_read,
            moved: Arc::default(),
        };
        let client = Client::builder(TokioExecutor::new()).build(connector);
        let (origin, chunk) = (target.origin(), plan.variants.chunk);
        Ok(Self { responses, client, came, origin, chunk, next: 0, runtime })
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
        let body = StreamedBody::whole(Bytes::from(body), self.chunk, number, &self.responses.journal);
        let mut request = Request::new(body);
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        self.responses.journal.note(|| Event::Asked {
            way: Direction::Sent,
            exchange: number,
            method: request.method().to_string(),
            target: path.to_owned(),
            headers: header_list(request.headers()),
        });
        let (responses, answer) = (self.responses.clone(), self.client.request(request));
        let running = self.runtime.spawn(async move {
            match answer.await {
                Ok(answer) => responses.answer(number, answer).await,
                Err(error) => {
                    let failed = CallEvent::Failed(error_chain(&error), error.is_connect());
                    responses.report(number, failed).await;
                }
            }
        });
        Some((number, running.abort_handle()))
    }

    /// The next thing that came back, with the number of its request; none where nothing does for so long.
    pub(super) fn next(&mut self, patience: Duration) -> Option<(u64, CallEvent)> {
        let patience = patience + self.responses.slow;
        self.runtime.block_on(next(&mut self.came, patience, &self.responses.moved))
    }

    /// The same before that time, whatever moves.
    pub(super) fn next_until(&mut self, until: Instant) -> Option<(u64, CallEvent)> {
        self.runtime.block_on(next_until(&mut self.came, until))
    }

    /// Ends every connection.
    pub(super) fn close(self) {
        let Self { runtime, client, came, .. } = self;
        drop((client, came));
        // Nothing here blocks: the time is for a busy machine.
        runtime.shutdown_timeout(Duration::from_secs(10));
    }
}

impl Responses {
    async fn report(&self, number: u64, event: CallEvent) {
        // Where nobody listens any more, the play is over.
        let _ = self.events.send((number, event)).await;
    }

    async fn answer(&self, number: u64, answer: Response<Incoming>) {
        let (head, body) = answer.into_parts();
        let status = head.status.as_u16();
        self.journal.note(|| Event::Answered {
            way: Direction::Received,
            exchange: number,
            status,
            headers: header_list(&head.headers),
        });
        let media = head.headers.get(CONTENT_TYPE).map(|value| value.as_bytes().to_ascii_lowercase());
        let streams = media.is_some_and(|media| media.starts_with(EVENTS.as_bytes()));
        self.report(number, CallEvent::Answered(status, head.headers)).await;
        let mut open = Open { responses: self, number, lasted: false };
        let ended = if streams { self.stream(number, body).await } else { self.whole(number, body).await };
        open.lasted = true;
        if let Some(broken) = ended {
            self.journal.ended(Direction::Received, Some(number), broken.clone());
            self.report(number, CallEvent::Ended(broken)).await;
        }
    }

    /// Reads a stream to its end, and why it ended; none where it was let go.
    async fn stream(&self, number: u64, mut body: Incoming) -> Option<Option<String>> {
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
                    events.push(CallEvent::Event { name, id, data: event.data.to_vec() });
                }
            });
            waiting = if events.is_empty() { waiting + part.len() as u64 } else { 0 };
            for event in events {
                self.report(number, event).await;
            }
            if waiting > self.longest {
                self.report(number, CallEvent::TooLong(waiting)).await;
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
                    // Its end may never come.
                    if count > self.longest {
                        self.report(number, CallEvent::TooLong(count)).await;
                        return None;
                    }
                    bytes.extend_from_slice(&part);
                }
                Ok(None) => break,
                Err(why) => return Some(Some(why)),
            }
        }
        self.report(number, CallEvent::Body(bytes)).await;
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
                self.journal.bytes_at(self.journal.now(), Direction::Received, Some(number), &part);
                if !is_idle(&part) {
                    self.moved.fetch_add(part.len() as u64, Ordering::Relaxed);
                }
                Ok(Some(part))
            }
            Some(Err(error)) => Err(error.to_string()),
        }
    }
}

/// Whether a part of a stream says nothing: comments that keep the connection open.
fn is_idle(part: &[u8]) -> bool {
    part.split(|byte| *byte == b'\n').all(|line| line.is_empty() || line == b"\r" || line.starts_with(b":"))
}

/// An answer that is being read. Where it is let go before its end, the journal says so.
struct Open<'w> {
    responses: &'w Responses,
    number: u64,
    lasted: bool,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if !self.lasted {
            let why = "this side went away".to_owned();
            self.responses.journal.ended(Direction::Received, Some(self.number), Some(why));
        }
    }
}
