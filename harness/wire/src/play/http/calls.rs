//! The requests of a client, and what comes back for each.
//!
//! Memory: what comes back for each open request, up to the bound of a message, and [`QUEUED`] reports.

use super::body::{Intake, Received, next, next_until, whole};
use crate::StartError;
use crate::http::{self, Client, EVENTS, EventReader, SseEvent, Target, header_list, media_type};
use crate::play::journal::{Direction, JournalEvent};
use crate::play::plan::Plan;
use hyper::body::{Bytes, Incoming};
use hyper::header::HeaderMap;
use hyper::{Method, Request, Response, Uri};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// How many reports wait to be looked at.
const QUEUED: usize = 16;

/// Something that came back for a request, by its number.
#[derive(Debug)]
pub(super) enum CallEvent {
    /// The head of the answer.
    Answered(u16, HeaderMap),
    /// An event of a stream.
    Event(SseEvent),
    /// A whole body that is not a stream.
    Body(Vec<u8>),
    /// Something larger than what is held, in bytes. Nothing more comes.
    TooLong(u64),
    /// Nothing more comes, and why where it broke off.
    Ended(Option<String>),
    /// No answer could be had.
    Failed(http::Failure),
}

/// Sends requests.
pub(super) struct HttpClient<'p> {
    plan: &'p Plan<'p>,
    responses: Responses,
    client: Client,
    came: mpsc::Receiver<(u64, CallEvent)>,
    origin: String,
    next: u64,
    runtime: Runtime,
}

#[derive(Clone)]
struct Responses {
    events: mpsc::Sender<(u64, CallEvent)>,
    intake: Intake,
}

impl<'p> HttpClient<'p> {
    pub(super) fn new(plan: &'p Plan<'p>, target: &Target) -> Result<Self, StartError> {
        let runtime = http::runtime().map_err(StartError::Unusable)?;
        let client = Client::new(target, Some(plan.patience)).map_err(StartError::Unusable)?;
        let (events, came) = mpsc::channel(QUEUED);
        let responses = Responses { events, intake: Intake::new(plan) };
        Ok(Self { plan, responses, client, came, origin: target.origin(), next: 0, runtime })
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
        let mut request = Request::new(whole(body, number, self.plan));
        (*request.method_mut(), *request.uri_mut(), *request.headers_mut()) = (method, uri, headers);
        self.plan.journal.note(|| JournalEvent::Asked {
            way: Direction::Sent,
            exchange: number,
            method: request.method().to_string(),
            target: path.to_owned(),
            headers: header_list(request.headers()),
        });
        let (responses, client) = (self.responses.clone(), self.client.clone());
        let running = self.runtime.spawn(async move {
            match client.send(request).await {
                Ok(answer) => responses.answer(number, answer).await,
                Err(failure) => responses.report(number, CallEvent::Failed(failure)).await,
            }
        });
        Some((number, running.abort_handle()))
    }

    /// The next thing that came back, with the number of its request; none where nothing does for so long.
    pub(super) fn next(&mut self, patience: Duration) -> Option<(u64, CallEvent)> {
        let patience = patience + self.plan.variants.slow_read;
        self.runtime.block_on(next(&mut self.came, patience, &self.responses.intake.moved))
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
        self.intake.journal.note(|| JournalEvent::Answered {
            way: Direction::Received,
            exchange: number,
            status,
            headers: header_list(&head.headers),
        });
        let is_stream = media_type(&head.headers) == EVENTS;
        self.report(number, CallEvent::Answered(status, head.headers)).await;
        let last = match self.read(number, is_stream, body).await {
            Ok(()) => CallEvent::Ended(None),
            Err(last) => last,
        };
        self.report(number, last).await;
    }

    /// Reads a body to its end. Where it is too long or breaks off, the error is the last report.
    async fn read(&self, number: u64, is_stream: bool, body: Incoming) -> Result<(), CallEvent> {
        let (longest, mut body) = (self.intake.longest, self.intake.body(number, body));
        let (mut events, mut bytes) = (EventReader::new(longest), Vec::new());
        let broken = |why| CallEvent::Ended(Some(why));
        while let Some(part) = self.part(&mut body).await.map_err(broken)? {
            if is_stream {
                let (complete, too_long) = events.take(&part);
                for event in complete {
                    self.report(number, CallEvent::Event(event)).await;
                }
                too_long.map_or(Ok(()), |bytes| Err(CallEvent::TooLong(bytes as u64)))?;
            } else if bytes.len() + part.len() > longest {
                // Its end may never come.
                return Err(CallEvent::TooLong((bytes.len() + part.len()) as u64));
            } else {
                bytes.extend_from_slice(&part);
            }
        }
        if !is_stream {
            self.report(number, CallEvent::Body(bytes)).await;
        }
        Ok(())
    }

    async fn part(&self, body: &mut Received) -> Result<Option<Bytes>, String> {
        let part = self.intake.part(body).await?;
        if let Some(part) = part.as_ref().filter(|part| !is_idle(part)) {
            self.intake.moved.fetch_add(part.len() as u64, Ordering::Relaxed);
        }
        Ok(part)
    }
}

/// Whether a part of a stream says nothing: comments that keep the connection open.
fn is_idle(part: &[u8]) -> bool {
    part.split(|byte| *byte == b'\n').all(|line| line.is_empty() || line == b"\r" || line.starts_with(b":"))
}
