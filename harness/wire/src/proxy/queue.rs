//! What passes, on its way from the traffic to the file.
//!
//! Knows: the order and the time of what passed, and how far the file is behind. Refuses to know: sockets and files.
//! Telling never blocks. Memory: [`BOUND`] bytes of content, and what an exchange's heads and ends take.
//!
//! The traffic waits for this program's own work, so that a fast sender loses nothing, but for the file no longer than
//! [`PATIENCE`] in all: what finds no room then is counted and let go.

use crate::record::PATIENCE;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep};

/// So much content waits for the file at most. What passes beyond it is counted and not kept.
pub(super) const BOUND: usize = 16 << 20;

/// Where so much waits, the traffic waits too. What is left is for those who looked at the same time.
const FULL: usize = BOUND / 2;

/// How often somebody who waits looks again.
const TICK: Duration = Duration::from_millis(2);

/// What a file may take for one write, like any other work.
const QUICK: Duration = Duration::from_millis(5);

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
    behind: Arc<Behind>,
    origin: Instant,
}

/// The end that the file has.
#[derive(Debug)]
pub(super) struct Told {
    receiver: Receiver<Note>,
    behind: Arc<Behind>,
}

/// How far the file is behind, and by whose fault.
#[derive(Debug, Default)]
struct Behind {
    waiting: AtomicUsize,
    file: Mutex<File>,
}

#[derive(Debug, Default)]
struct File {
    /// When it was last turned to, while it is.
    since: Option<Instant>,
    /// What it took while the traffic waited.
    spent: Duration,
}

/// A queue whose times count from now.
pub(super) fn queue() -> (Teller, Told) {
    let (sender, receiver) = channel();
    let behind = Arc::<Behind>::default();
    (Teller { sender, behind: Arc::clone(&behind), origin: Instant::now() }, Told { receiver, behind })
}

impl Behind {
    fn is_full(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > FULL
    }

    fn is_hopeless(&self) -> bool {
        let file = self.file();
        file.spent + file.since.map_or(Duration::ZERO, excess) >= PATIENCE
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Teller {
    /// Tells that something passed just now.
    pub(super) fn tell(&self, exchange: u64, what: What) {
        let what = match what {
            What::Part(side, bytes) if self.behind.waiting.load(Ordering::Relaxed) + bytes.len() > BOUND => {
                What::Lost(side, bytes.len() as u64)
            }
            what => what,
        };
        self.behind.waiting.fetch_add(weight(&what), Ordering::Relaxed);
        // Where nobody listens any more the recording has ended, and so will the traffic.
        let _ = self.sender.send(Note { exchange, at: self.origin.elapsed(), what });
    }

    /// Ready when more may pass. `pause` is the waiting itself, and nobody else's.
    pub(super) fn poll_room(
        &self,
        pause: &mut Option<Pin<Box<Sleep>>>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        while self.behind.is_full() && !self.behind.is_hopeless() {
            let tick = pause.get_or_insert_with(|| Box::pin(sleep(TICK)));
            ready!(tick.as_mut().poll(context));
            *pause = None;
        }
        Poll::Ready(())
    }
}

impl Told {
    /// The next note; none where none came within `patience`, and an error where none will come any more.
    pub(super) fn next(&self, patience: Duration) -> Result<Option<Note>, ()> {
        match self.receiver.recv_timeout(patience) {
            Ok(note) => {
                self.behind.waiting.fetch_sub(weight(&note.what), Ordering::Relaxed);
                Ok(Some(note))
            }
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(()),
        }
    }

    /// Runs one write, which may take as long as a file does.
    pub(super) fn in_file<T>(&self, work: impl FnOnce() -> T) -> T {
        let since = Instant::now();
        self.behind.file().since = Some(since);
        let done = work();
        let mut file = self.behind.file();
        file.since = None;
        if self.behind.is_full() {
            file.spent += excess(since);
        }
        done
    }
}

impl Drop for Told {
    /// Nobody is waited for who writes no more.
    fn drop(&mut self) {
        self.behind.file().spent = PATIENCE;
    }
}

/// What a write that began then has taken beyond what any work may take.
fn excess(since: Instant) -> Duration {
    since.elapsed().saturating_sub(QUICK)
}

fn weight(what: &What) -> usize {
    match what {
        What::Part(_, bytes) => bytes.len() + NOTE,
        _ => NOTE,
    }
}

#[cfg(test)]
mod tests {
    use super::{BOUND, PATIENCE, Side, What, queue};
    use std::future::poll_fn;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};
    use tokio::runtime::Builder;

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

    #[test]
    fn the_traffic_waits_for_this_program_and_not_for_ever_for_the_file() {
        let (teller, told) = queue();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let room = || {
            let since = Instant::now();
            let mut pause = None;
            runtime.block_on(poll_fn(|context| teller.poll_room(&mut pause, context)));
            since.elapsed()
        };
        let part = |size| What::Part(Side::Answer, vec![b'x'; size]);
        assert!(room() < PATIENCE / 4);
        teller.tell(1, part(BOUND - 1000));
        let slow = PATIENCE / 2;
        let working = thread::spawn(move || {
            thread::sleep(slow);
            told.next(Duration::ZERO).unwrap();
            told
        });
        assert!(room() >= slow, "work of our own is waited for");
        let told = working.join().unwrap();
        teller.tell(1, part(BOUND - 1000));
        let (entered, is_in) = channel();
        let (stop, stopped) = channel::<()>();
        let writing = thread::spawn(move || {
            told.in_file(|| {
                entered.send(()).unwrap();
                let _ = stopped.recv();
            });
            told
        });
        is_in.recv().unwrap();
        let took = room();
        assert!(took > PATIENCE / 2 && took < PATIENCE * 4, "{took:?}");
        assert!(room() < PATIENCE / 4, "it was waited for long enough");
        drop(stop);
        drop(writing.join().unwrap());
        assert!(room() < PATIENCE / 4, "and is not waited for again");
    }

    #[test]
    fn nobody_waits_for_who_writes_no_more() {
        let (teller, told) = queue();
        teller.tell(1, What::Part(Side::Answer, vec![b'x'; BOUND - 1000]));
        drop(told);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let mut pause = None;
        let room = poll_fn(|context| teller.poll_room(&mut pause, context));
        let waited = runtime.block_on(async { tokio::time::timeout(PATIENCE, room).await });
        assert!(waited.is_ok());
    }
}
