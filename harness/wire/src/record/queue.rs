//! What was read and is not yet written down, between the traffic and the file.
//!
//! Knows: the order in which bytes were seen, the time of each, and how much may wait. Refuses to know: what the bytes
//! say. Memory: [`ROOM`], and [`SPARE`] chunks.
//!
//! The traffic waits for this program's own work, so that a fast sender loses nothing, but never for the file for
//! longer than [`PATIENCE`] in a whole session: what finds no room then is counted and let go.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use transcript::session::Side;

/// So many bytes may wait to be written down.
pub const ROOM: usize = 16 << 20;

/// So long may the traffic of one session wait for a slow file, in all.
pub const PATIENCE: Duration = Duration::from_millis(500);

/// What a parcel costs beside its bytes.
const OVERHEAD: usize = 96;

/// So much is read at a time.
const CHUNK: usize = 256 << 10;

/// So many chunks wait to be filled again.
const SPARE: usize = 8;

/// How often somebody who waits looks again.
const TICK: Duration = Duration::from_millis(5);

/// Bytes of one side as they were read, in one piece.
#[derive(Debug)]
pub(super) struct Parcel {
    pub(super) side: Side,
    /// Milliseconds since the Unix epoch. Never earlier than that of the parcel before.
    pub(super) time: i64,
    pub(super) what: What,
}

/// Room that was read into once. Whoever passes its bytes on and whoever writes them down hold it together, and the last of
/// them gives it back.
#[derive(Debug)]
pub(super) struct Chunk {
    room: Box<[u8]>,
    len: usize,
}

impl Chunk {
    /// Reads once; how many bytes came.
    pub(super) fn fill(&mut self, from: &mut impl Read) -> io::Result<usize> {
        self.len = 0;
        self.len = from.read(&mut self.room)?;
        Ok(self.len)
    }

    /// The bytes, in room of their own size where they are few, since what waits costs all its room.
    fn kept(self: &Arc<Self>) -> Arc<Self> {
        if self.len >= self.room.len() / 4 {
            return Arc::clone(self);
        }
        Arc::new(Self::of(self))
    }

    fn of(bytes: &[u8]) -> Self {
        Self { room: bytes.into(), len: bytes.len() }
    }
}

impl Deref for Chunk {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.room[..self.len]
    }
}

#[derive(Debug)]
pub(super) enum What {
    Bytes(Arc<Chunk>),
    /// What was let go because there was no room.
    Gap(Gap),
    /// The side has closed its end.
    Ended,
}

/// Bytes that were forwarded and not kept.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// How many line feeds were among them.
    pub(super) line_feeds: u64,
    /// Whether the last of them was one.
    pub(super) at_line_feed: bool,
}

#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug)]
struct State {
    parcels: VecDeque<Parcel>,
    spare: Vec<Chunk>,
    held: usize,
    gaps: [Option<Gap>; 2],
    now: i64,
    /// Nothing is taken any more: the session is over, or nobody writes.
    closed: bool,
    in_file: Option<Instant>,
    exit: Option<i32>,
    patience: Duration,
}

impl Queue {
    pub(super) fn new() -> Self {
        let state = State {
            parcels: VecDeque::new(),
            spare: Vec::new(),
            held: 0,
            gaps: [None; 2],
            now: now(),
            closed: false,
            in_file: None,
            exit: None,
            patience: PATIENCE,
        };
        Self { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() }
    }

    /// The time, which never goes back.
    pub(super) fn time(&self) -> i64 {
        self.lock().tick()
    }

    /// Room to read into.
    pub(super) fn chunk(&self) -> Chunk {
        let spare = self.lock().spare.pop();
        spare.unwrap_or_else(|| Chunk { room: vec![0; CHUNK].into(), len: 0 })
    }

    /// Takes back a chunk that is done with, once nobody else has it.
    pub(super) fn done_with(&self, chunk: Arc<Chunk>) {
        if let Some(chunk) = Arc::into_inner(chunk).filter(|chunk| chunk.room.len() == CHUNK) {
            let spare = &mut self.lock().spare;
            if spare.len() < SPARE {
                spare.push(chunk);
            }
        }
    }

    /// Keeps `bytes`, which were read a moment ago. To be called before they are passed on: what answers them must not
    /// be kept before them.
    pub(super) fn keep(&self, side: Side, bytes: &Arc<Chunk>) {
        let bytes = bytes.kept();
        let cost = bytes.room.len() + OVERHEAD;
        let mut state = self.lock();
        while state.held + cost > ROOM && !state.closed && state.may_wait() {
            let since = Instant::now();
            state = self.emptied.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            // What a file takes at once is work like any other.
            if state.in_file.is_some_and(|since| since.elapsed() > TICK) {
                state.patience = state.patience.saturating_sub(since.elapsed());
            }
        }
        if state.closed {
            return;
        }
        if state.held + cost > ROOM {
            let gap = state.gaps[usize::from(side == Side::Server)].get_or_insert_default();
            gap.line_feeds += memchr::memchr_iter(b'\n', &bytes).count() as u64;
            gap.at_line_feed = bytes.ends_with(b"\n");
            return;
        }
        state.held += cost;
        self.add(&mut state, side, What::Bytes(bytes));
    }

    /// The side has closed its end.
    pub(super) fn end(&self, side: Side) {
        let mut state = self.lock();
        if !state.closed {
            self.add(&mut state, side, What::Ended);
        }
    }

    fn add(&self, state: &mut State, side: Side, what: What) {
        let time = state.tick();
        if let Some(gap) = state.gaps[usize::from(side == Side::Server)].take() {
            state.parcels.push_back(Parcel { side, time, what: What::Gap(gap) });
        }
        state.parcels.push_back(Parcel { side, time, what });
        self.filled.notify_one();
    }

    /// The session is over, and the server's exit code is this: nothing more is kept, and what waits is still handed
    /// out.
    pub(super) fn close(&self, exit: i32) {
        let mut state = self.lock();
        state.closed = true;
        state.exit = Some(exit);
        for side in [Side::Client, Side::Server] {
            if let Some(gap) = state.gaps[usize::from(side == Side::Server)].take() {
                let time = state.tick();
                state.parcels.push_back(Parcel { side, time, what: What::Gap(gap) });
            }
        }
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// The next parcel, if one waits.
    pub(super) fn next_at_once(&self) -> Option<Parcel> {
        self.hand_out(&mut self.lock())
    }

    /// The next parcel; none when the session is over.
    pub(super) fn next(&self) -> Option<Parcel> {
        let mut state = self.lock();
        loop {
            let parcel = self.hand_out(&mut state);
            if parcel.is_some() || state.closed {
                return parcel;
            }
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn hand_out(&self, state: &mut State) -> Option<Parcel> {
        let parcel = state.parcels.pop_front()?;
        if let What::Bytes(bytes) = &parcel.what {
            state.held -= bytes.room.len() + OVERHEAD;
            self.emptied.notify_all();
        }
        Some(parcel)
    }

    /// Runs something that may take as long as the file does.
    pub(super) fn in_file<T>(&self, work: impl FnOnce() -> T) -> T {
        self.lock().in_file = Some(Instant::now());
        let done = work();
        self.lock().in_file = None;
        done
    }

    /// The exit code that the session was closed with.
    pub(super) fn exit(&self) -> i32 {
        self.lock().exit.unwrap_or_default()
    }

    /// Whether something has kept the file busy for as long as this.
    pub(super) fn is_stuck(&self, time: Duration) -> bool {
        self.lock().in_file.is_some_and(|since| since.elapsed() >= time)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn tick(&mut self) -> i64 {
        self.now = self.now.max(now());
        self.now
    }

    fn may_wait(&self) -> bool {
        self.in_file.is_none() || !self.patience.is_zero()
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Gap, PATIENCE, Parcel, Queue, ROOM, What};
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Instant;
    use transcript::session::Side;

    fn chunk(bytes: &[u8]) -> Arc<Chunk> {
        Arc::new(Chunk::of(bytes))
    }

    #[test]
    fn chunks_are_filled_again_and_few_bytes_have_little_room() {
        let queue = Queue::new();
        let mut filled = queue.chunk();
        let size = filled.room.len();
        assert_eq!(filled.fill(&mut &vec![b'x'; size][..]).unwrap(), size);
        let (room, filled) = (filled.room.as_ptr(), Arc::new(filled));
        queue.keep(Side::Client, &filled);
        queue.done_with(filled);
        assert_ne!(queue.chunk().room.as_ptr(), room, "it waits to be written");
        let Some(Parcel { what: What::Bytes(kept), .. }) = queue.next() else { panic!() };
        assert_eq!(kept.len(), size);
        queue.done_with(kept);
        let mut again = queue.chunk();
        assert_eq!(again.room.as_ptr(), room);
        assert_eq!(again.fill(&mut &b"few"[..]).unwrap(), 3);
        queue.keep(Side::Client, &Arc::new(again));
        let Some(Parcel { what: What::Bytes(kept), .. }) = queue.next() else { panic!() };
        assert_eq!((&**kept, kept.room.len()), (&b"few"[..], 3));
    }

    #[test]
    fn a_file_that_hangs_costs_the_traffic_no_more_than_its_patience() {
        let queue = Queue::new();
        let (stop, stopped) = channel::<()>();
        thread::scope(|scope| {
            let queue = &queue;
            queue.keep(Side::Server, &chunk(b"first\n"));
            let (in_file, entered) = channel();
            scope.spawn(move || {
                queue.in_file(|| {
                    in_file.send(()).unwrap();
                    let _ = stopped.recv();
                });
            });
            entered.recv().unwrap();
            let line = [vec![b'x'; (1 << 20) - 1], b"\n".to_vec()].concat();
            let since = Instant::now();
            for _ in 0..64 {
                queue.keep(Side::Client, &chunk(&line));
            }
            let took = since.elapsed();
            assert!(took >= PATIENCE && took < PATIENCE * 4, "{took:?}");
            drop(stop);
        });
        queue.keep(Side::Server, &chunk(b"more"));
        queue.close(0);
        let kept: Vec<Parcel> = std::iter::from_fn(|| queue.next()).collect();
        let bytes: usize = kept
            .iter()
            .map(|parcel| if let What::Bytes(bytes) = &parcel.what { bytes.len() } else { 0 })
            .sum();
        assert!(bytes <= ROOM && bytes > ROOM - (2 << 20), "{bytes}");
        let gap = kept.iter().find_map(|parcel| match parcel.what {
            What::Gap(gap) => Some((parcel.side, gap)),
            _ => None,
        });
        assert_eq!(gap, Some((Side::Client, Gap { line_feeds: 64 - 15, at_line_feed: true })));
        assert!(kept.is_sorted_by_key(|parcel| parcel.time));
    }

    #[test]
    fn nothing_is_let_go_while_the_program_itself_is_slow() {
        let queue = Queue::new();
        thread::scope(|scope| {
            let queue = &queue;
            scope.spawn(move || {
                for _ in 0..64 {
                    queue.keep(Side::Client, &chunk(&vec![b'x'; 1 << 20]));
                }
                queue.close(0);
            });
            let mut bytes = 0;
            while let Some(parcel) = queue.next() {
                let What::Bytes(some) = parcel.what else { panic!("{parcel:?}") };
                bytes += some.len();
                thread::sleep(std::time::Duration::from_millis(2));
            }
            assert_eq!(bytes, 64 << 20);
        });
    }
}
