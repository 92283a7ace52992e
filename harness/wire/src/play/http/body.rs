//! Bodies on their way to the other side, sent part by part, and bodies that come, read part by part; both noted. And waiting for
//! what comes.
//!
//! Memory: the parts that are not sent yet, which are no more than the session.

use crate::http::{Body, End, PolledPart, Watch, Watched, boxed};
use crate::interrupt;
use crate::play::journal::{Direction, Journal};
use crate::play::plan::{Plan, TICK};
use http_body_util::BodyExt as _;
use hyper::body::{Body as HttpBody, Bytes, Frame, Incoming, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

/// Sends the parts of a body. It ends when this is dropped.
pub(super) type BodySender = UnboundedSender<Bytes>;

/// A body that is all there.
pub(super) fn whole(bytes: impl Into<Bytes>, exchange: u64, plan: &Plan<'_>) -> Body {
    let mut pieces = Pieces::open(plan.variants.chunk).1;
    (pieces.part, pieces.is_whole) = (bytes.into(), true);
    noted(pieces, exchange, plan)
}

/// A body of which nobody knows how long it will be.
pub(super) fn open(exchange: u64, plan: &Plan<'_>) -> (BodySender, Body) {
    let (sender, pieces) = Pieces::open(plan.variants.chunk);
    (sender, noted(pieces, exchange, plan))
}

fn noted(pieces: Pieces, exchange: u64, plan: &Plan<'_>) -> Body {
    boxed(Watched::new(pieces, Noted { journal: plan.journal.clone(), exchange, way: Direction::Sent }))
}

/// A body that is noted as it passes.
#[derive(Debug)]
pub(super) struct Noted {
    journal: Journal,
    exchange: u64,
    way: Direction,
}

impl Watch for Noted {
    fn part(&mut self, part: &[u8]) {
        self.journal.bytes_at(self.journal.now(), self.way, Some(self.exchange), part);
    }

    fn ended(&mut self, end: End) {
        let broken = match (end, self.way) {
            (End::Complete, _) => None,
            (End::Broken(why), _) => Some(why),
            (End::Dropped, Direction::Sent) => Some("the other side does not read on".to_owned()),
            (End::Dropped, Direction::Received) => Some("this side went away".to_owned()),
        };
        self.journal.ended(self.way, Some(self.exchange), broken);
    }
}

/// A body in pieces of a size.
#[derive(Debug)]
struct Pieces {
    parts: UnboundedReceiver<Bytes>,
    /// What was taken out and is not sent.
    part: Bytes,
    /// Nothing comes behind this part.
    is_whole: bool,
    chunk: usize,
    /// The last part has to be sent before the next one is.
    pause: bool,
}

impl Pieces {
    fn open(chunk: Option<usize>) -> (BodySender, Self) {
        let (sender, parts) = unbounded_channel();
        let chunk = chunk.unwrap_or(usize::MAX).max(1);
        (sender, Self { parts, part: Bytes::new(), is_whole: false, chunk, pause: false })
    }
}

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledPart<Infallible> {
        let body = self.get_mut();
        if std::mem::take(&mut body.pause) {
            // What is polled again has been sent.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if body.part.is_empty() && !body.is_whole {
            match ready!(body.parts.poll_recv(context)) {
                Some(part) => body.part = part,
                None => return Poll::Ready(None),
            }
        }
        if body.part.is_empty() {
            return Poll::Ready(None);
        }
        let piece = body.part.split_to(body.chunk.min(body.part.len()));
        body.pause = body.chunk < usize::MAX;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.is_whole && self.part.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        if self.is_whole { SizeHint::with_exact(self.part.len() as u64) } else { SizeHint::default() }
    }
}

/// A body that comes.
pub(super) type Received = Watched<Incoming, Noted>;

/// Reads bodies that come.
#[derive(Clone)]
pub(super) struct Intake {
    pub(super) journal: Journal,
    /// A message of up to this size is held.
    pub(super) longest: usize,
    slow: Duration,
    /// Bytes that came: as long as they do, nobody is silent.
    pub(super) moved: Arc<AtomicU64>,
}

impl Intake {
    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let (journal, slow) = (plan.journal.clone(), plan.variants.slow_read);
        Self { journal, longest: plan.longest(), slow, moved: Arc::default() }
    }

    /// The body of an exchange, to be read.
    pub(super) fn body(&self, exchange: u64, body: Incoming) -> Received {
        Watched::new(body, Noted { journal: self.journal.clone(), exchange, way: Direction::Received })
    }

    /// The next part of a body; none at its end. Fails with the reason for which it broke off.
    pub(super) async fn part(&self, body: &mut Received) -> Result<Option<Bytes>, String> {
        if !body.is_end_stream() && !self.slow.is_zero() {
            tokio::time::sleep(self.slow).await;
        }
        let Some(frame) = body.frame().await else { return Ok(None) };
        Ok(Some(frame.map_err(|error| error.to_string())?.into_data().unwrap_or_default()))
    }
}

/// The next thing that happens; none where nothing does, and not a byte moves, for so long, or where this process is asked to
/// end.
pub(super) async fn next<T>(came: &mut Receiver<T>, patience: Duration, moved: &AtomicU64) -> Option<T> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match within(came, Instant::now() + patience).await {
            Ok(next) => return next,
            Err(_) if interrupt::requested() || moved.load(Ordering::Relaxed) == before => return None,
            Err(_) => {}
        }
    }
}

/// The next thing that happens before that time; none where nothing does.
pub(super) async fn next_until<T>(came: &mut Receiver<T>, until: Instant) -> Option<T> {
    within(came, until).await.ok().flatten()
}

async fn within<T>(came: &mut Receiver<T>, until: Instant) -> Result<Option<T>, Elapsed> {
    loop {
        match timeout_at(until.min(Instant::now() + TICK), came.recv()).await {
            Err(_) if !interrupt::requested() && Instant::now() < until => {}
            next => return next,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;
    use hyper::body::{Body as _, Bytes};
    use std::pin::Pin;
    use std::task::{Context, Poll, Waker};

    fn pieces(mut body: Pieces) -> Vec<String> {
        let mut context = Context::from_waker(Waker::noop());
        let mut found = Vec::new();
        while !body.is_end_stream() && found.last().is_none_or(|last| last != "end") {
            found.push(match Pin::new(&mut body).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(frame))) => {
                    String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
                }
                Poll::Ready(None) => "end".to_owned(),
                _ => "-".to_owned(),
            });
        }
        found
    }

    #[test]
    fn a_body_is_sent_in_its_pieces() {
        let whole = |chunk| Pieces { part: Bytes::from("abcde"), is_whole: true, ..Pieces::open(chunk).1 };
        assert_eq!(whole(None).size_hint().exact(), Some(5));
        assert_eq!(pieces(whole(None)), ["abcde"]);
        assert_eq!(pieces(whole(Some(2))), ["ab", "-", "cd", "-", "e"]);
        let (sender, body) = Pieces::open(None);
        ["abc", "d"].into_iter().for_each(|part| sender.send(Bytes::from(part)).unwrap());
        drop(sender);
        assert_eq!(pieces(body), ["abc", "d", "end"]);
    }
}
