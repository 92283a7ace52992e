//! What passes, on its way from the traffic to the archive: requests, responses, and parts of their bodies.

use crate::http::{End, Watch};
use crate::queue::Queue;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::time::Sleep;

/// What an event costs beside its content, roughly.
const OVERHEAD: usize = 128;

/// The two bodies of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// What the client sends.
    Request,
    /// What the server sends.
    Response,
}

/// The head of a request.
#[derive(Debug, Clone)]
pub(super) struct RequestHead {
    /// On which of the client's connections, counted from 1.
    pub(super) connection: u64,
    pub(super) method: String,
    pub(super) url: String,
    pub(super) version: String,
    pub(super) headers: Vec<(String, String)>,
}

/// The head of a response.
#[derive(Debug, Clone, Default)]
pub(super) struct ResponseHead {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) version: String,
    pub(super) headers: Vec<(String, String)>,
}

/// Something that passed.
#[derive(Debug)]
pub(super) enum ProxyEvent {
    /// A request began.
    Request(Box<RequestHead>),
    /// Its response began.
    Response(Box<ResponseHead>),
    /// A part of a body.
    Part(Side, Vec<u8>),
    /// A part of a body that is not kept: its size in bytes.
    Lost(Side, u64),
    /// A body ended.
    Ended(Side, End),
    /// There is no response, for this reason; the proxy has answered the client itself.
    NoResponse(String),
    /// A connection does not speak HTTP, for this reason. It belongs to no exchange.
    NotHttp(String),
}

/// Something that passed, where and when.
#[derive(Debug)]
pub(super) struct Sent {
    /// The number of the exchange.
    pub(super) exchange: u64,
    /// Since the recording began.
    pub(super) at: Duration,
    pub(super) event: ProxyEvent,
}

/// The traffic's end of the queue, which is closed with the last of its clones. Sending never blocks.
#[derive(Debug, Clone)]
pub(super) struct Sender {
    end: Arc<QueueEnd>,
    origin: Instant,
    /// The recording ends, and with it whatever is open: no peer breaks off any more.
    pub(super) over: Arc<AtomicBool>,
}

/// One end of the queue: that of the archive, or the one that all senders share. The queue is closed when either is dropped.
#[derive(Debug)]
pub(super) struct QueueEnd(Arc<Queue<Sent>>);

/// A queue whose times count from now.
pub(super) fn queue() -> (Sender, QueueEnd) {
    let queue = Arc::new(Queue::new());
    let end = Arc::new(QueueEnd(Arc::clone(&queue)));
    (Sender { end, origin: Instant::now(), over: Arc::default() }, QueueEnd(queue))
}

impl Sender {
    /// Hands over what passed just now. A part of a body for which there is no room is counted and let go.
    pub(super) fn send(&self, exchange: u64, event: ProxyEvent) {
        let queue = &self.end;
        let (cost, event) = match event {
            ProxyEvent::Part(side, bytes) if !queue.has_room(bytes.len()) => {
                (OVERHEAD, ProxyEvent::Lost(side, bytes.len() as u64))
            }
            ProxyEvent::Part(side, bytes) => (bytes.len() + OVERHEAD, ProxyEvent::Part(side, bytes)),
            ProxyEvent::Ended(side, End::Broken(_)) if self.over.load(Ordering::Relaxed) => {
                (OVERHEAD, ProxyEvent::Ended(side, End::Dropped))
            }
            ProxyEvent::NoResponse(_) if self.over.load(Ordering::Relaxed) => {
                (OVERHEAD, ProxyEvent::Ended(Side::Response, End::Dropped))
            }
            event => (OVERHEAD, event),
        };
        queue.push(cost, Sent { exchange, at: self.origin.elapsed(), event });
    }

    /// Hands over what passes of a body.
    pub(super) fn watch(&self, exchange: u64, side: Side) -> Passing {
        Passing { sender: self.clone(), exchange, side, pause: None }
    }
}

/// A body that passes, as the archive sees it.
#[derive(Debug)]
pub(super) struct Passing {
    sender: Sender,
    exchange: u64,
    side: Side,
    /// Where the file is behind.
    pause: Option<Pin<Box<Sleep>>>,
}

impl Watch for Passing {
    fn poll_room(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.sender.end.poll_room(&mut self.pause, context)
    }

    fn part(&mut self, part: &[u8]) {
        self.sender.send(self.exchange, ProxyEvent::Part(self.side, part.to_vec()));
    }

    fn ended(&mut self, end: End) {
        self.sender.send(self.exchange, ProxyEvent::Ended(self.side, end));
    }
}

impl Deref for QueueEnd {
    type Target = Queue<Sent>;

    fn deref(&self) -> &Queue<Sent> {
        &self.0
    }
}

impl Drop for QueueEnd {
    fn drop(&mut self) {
        self.0.close();
    }
}

#[cfg(test)]
mod tests {
    use super::{ProxyEvent, Side, queue};
    use crate::http::{End, Watch as _};
    use crate::queue::{NextItem, ROOM};
    use std::sync::atomic::Ordering;
    use std::task::{Context, Waker};
    use std::time::Duration;

    fn part(size: usize) -> ProxyEvent {
        ProxyEvent::Part(Side::Response, vec![b'x'; size])
    }

    #[test]
    fn content_beyond_the_room_is_counted_and_let_go() {
        let (sender, receiver) = queue();
        [ROOM - 1000, 2000, 10].into_iter().for_each(|size| sender.send(1, part(size)));
        let next = || match receiver.next(Duration::ZERO) {
            NextItem::Item(sent) => sent.event,
            other => panic!("{other:?}"),
        };
        assert!(matches!(next(), ProxyEvent::Part(_, bytes) if bytes.len() == ROOM - 1000));
        assert!(matches!(next(), ProxyEvent::Lost(Side::Response, 2000)));
        assert!(matches!(next(), ProxyEvent::Part(_, bytes) if bytes.len() == 10));
        sender.send(1, part(ROOM));
        assert!(matches!(next(), ProxyEvent::Part(..)), "what was taken gives its room back");
        assert!(matches!(receiver.next(Duration::ZERO), NextItem::Nothing));
        sender.over.store(true, Ordering::Relaxed);
        let torn = || End::Broken("its connection was dropped first".to_owned());
        for event in
            [ProxyEvent::Ended(Side::Response, torn()), ProxyEvent::NoResponse("the same".to_owned())]
        {
            sender.send(1, event);
            assert!(matches!(next(), ProxyEvent::Ended(Side::Response, End::Dropped)), "no peer is at fault");
        }
        let mut passing = sender.watch(1, Side::Request);
        sender.send(1, part(ROOM - 1000));
        drop(sender);
        drop(receiver);
        let context = &mut Context::from_waker(Waker::noop());
        assert!(passing.poll_room(context).is_ready(), "nobody waits for a receiver that is gone");
    }
}
