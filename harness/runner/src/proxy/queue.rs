//! What passes, on its way from the traffic to the file.
//!
//! Knows: the order and the time of what passed, and how far the file is behind. Refuses to know: sockets and files.
//! Telling never blocks. Memory: [`BOUND`] bytes of content, and what an exchange's heads and ends take.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// So much content waits for the file at most. What passes beyond it is counted and not kept.
pub(super) const BOUND: usize = 16 << 20;

/// What a note takes beside its content, roughly.
const NOTE: usize = 128;

/// The two bodies of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// What the client sent.
    Request,
    /// What the server answered.
    Answer,
}

/// The head of a request.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) url: String,
    pub(super) version: String,
    pub(super) headers: Vec<(String, String)>,
}

/// The head of an answer.
#[derive(Debug, Clone)]
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) reason: String,
    pub(super) version: String,
    pub(super) headers: Vec<(String, String)>,
}

/// How a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// With its last byte.
    Whole,
    /// The one who sent it broke off, in these words.
    Broken(String),
    /// The one who read it went away.
    Dropped,
}

/// Something that passed.
#[derive(Debug)]
pub(super) enum What {
    /// A request began.
    Asked(Box<Asked>),
    /// The answer began.
    Answered(Box<Answered>),
    /// A part of a body.
    Part(Side, Vec<u8>),
    /// A part of a body that is not kept: so many bytes.
    Lost(Side, u64),
    /// A body ended.
    Ended(Side, End),
    /// No answer could be had, in these words; the client was told so by the recorder.
    Unanswered(String),
    /// What came on a connection is no HTTP, in these words. It belongs to no exchange.
    NoHttp(String),
}

/// What passed, where and when.
#[derive(Debug)]
pub(super) struct Note {
    /// The number of the exchange.
    pub(super) exchange: u64,
    /// Since the recording began.
    pub(super) at: Duration,
    pub(super) what: What,
}

/// The end of the queue that the traffic has.
#[derive(Debug, Clone)]
pub(super) struct Teller {
    sender: Sender<Note>,
    waiting: Arc<AtomicUsize>,
    origin: Instant,
}

/// The end that the file has.
#[derive(Debug)]
pub(super) struct Told {
    receiver: Receiver<Note>,
    waiting: Arc<AtomicUsize>,
}

/// A queue whose times count from now.
pub(super) fn queue() -> (Teller, Told) {
    let (sender, receiver) = channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    (Teller { sender, waiting: Arc::clone(&waiting), origin: Instant::now() }, Told { receiver, waiting })
}

impl Teller {
    /// Tells that something passed just now.
    pub(super) fn tell(&self, exchange: u64, what: What) {
        let what = match what {
            What::Part(side, bytes) if self.waiting.load(Ordering::Relaxed) + bytes.len() > BOUND => {
                What::Lost(side, bytes.len() as u64)
            }
            what => what,
        };
        self.waiting.fetch_add(weight(&what), Ordering::Relaxed);
        // Where nobody listens any more the recording has ended, and so will the traffic.
        let _ = self.sender.send(Note { exchange, at: self.origin.elapsed(), what });
    }
}

impl Told {
    /// The next note; none where none came within `patience`, and an error where none will come any more.
    pub(super) fn next(&self, patience: Duration) -> Result<Option<Note>, ()> {
        match self.receiver.recv_timeout(patience) {
            Ok(note) => {
                self.waiting.fetch_sub(weight(&note.what), Ordering::Relaxed);
                Ok(Some(note))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }
}

fn weight(what: &What) -> usize {
    match what {
        What::Part(_, bytes) => bytes.len() + NOTE,
        _ => NOTE,
    }
}

#[cfg(test)]
mod tests {
    use super::{BOUND, Side, What, queue};
    use std::time::Duration;

    #[test]
    fn content_beyond_the_bound_is_counted_and_let_go() {
        let (teller, told) = queue();
        let part = |size| What::Part(Side::Answer, vec![b'x'; size]);
        teller.tell(1, part(BOUND - 1000));
        teller.tell(1, part(2000));
        teller.tell(1, part(10));
        let next = || told.next(Duration::ZERO).unwrap().unwrap().what;
        assert!(matches!(next(), What::Part(_, bytes) if bytes.len() == BOUND - 1000));
        assert!(matches!(next(), What::Lost(Side::Answer, 2000)));
        assert!(matches!(next(), What::Part(_, bytes) if bytes.len() == 10));
        teller.tell(1, part(BOUND));
        assert!(matches!(next(), What::Part(..)), "what was taken waits no more");
        assert!(told.next(Duration::ZERO).unwrap().is_none());
        drop(teller);
        assert!(told.next(Duration::ZERO).is_err());
    }
}
