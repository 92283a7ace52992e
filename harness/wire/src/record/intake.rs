//! The traffic's end of a recording: bytes as they were read, in the order and with the times at which they were seen.
//!
//! Memory: what the queue holds, and [`SPARE`] chunks.

use crate::lock;
use crate::queue::Queue;
use crate::stdio::Gap;
use std::io::{self, Read};
use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};
use transcript::session::Side;

/// What an item costs beside its bytes.
const OVERHEAD: usize = 96;

/// How much is read at a time.
const CHUNK: usize = 256 << 10;

/// How many chunks are kept to be filled again.
const SPARE: usize = 8;

/// Something that was seen on one side.
#[derive(Debug)]
pub(super) struct IntakeItem {
    pub(super) side: Side,
    /// Milliseconds since the Unix epoch. Never earlier than that of the item before.
    pub(super) time: i64,
    pub(super) content: Content,
}

#[derive(Debug)]
pub(super) enum Content {
    Bytes(Arc<Chunk>),
    /// What was let go because there was no room.
    Gap(Gap),
    /// The side has closed its end.
    Ended,
}

/// Room that was read into once. The thread that forwards its bytes and the one that writes them down share it, and the
/// last of them gives it back.
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
    fn compact(self: &Arc<Self>) -> Arc<Self> {
        if self.len >= self.room.len() / 4 {
            return Arc::clone(self);
        }
        Arc::new(Self::from(&self[..]))
    }
}

impl From<&[u8]> for Chunk {
    fn from(bytes: &[u8]) -> Self {
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
pub(super) struct Intake {
    pub(super) queue: Queue<IntakeItem>,
    state: Mutex<IntakeState>,
}

#[derive(Debug)]
struct IntakeState {
    spare: Vec<Chunk>,
    /// By side: what was let go since the last item.
    gaps: [Option<Gap>; 2],
    now: i64,
    exit: i32,
}

impl Intake {
    pub(super) fn new() -> Self {
        let state = IntakeState { spare: Vec::new(), gaps: [None; 2], now: now(), exit: 0 };
        Self { queue: Queue::new(), state: Mutex::new(state) }
    }

    /// The time, which never goes back.
    pub(super) fn time(&self) -> i64 {
        lock(&self.state).tick()
    }

    /// Room to read into.
    pub(super) fn chunk(&self) -> Chunk {
        let spare = lock(&self.state).spare.pop();
        spare.unwrap_or_else(|| Chunk { room: vec![0; CHUNK].into(), len: 0 })
    }

    /// Takes back a chunk, once nobody else has it.
    pub(super) fn recycle(&self, chunk: Arc<Chunk>) {
        if let Some(chunk) = Arc::into_inner(chunk).filter(|chunk| chunk.room.len() == CHUNK) {
            let spare = &mut lock(&self.state).spare;
            if spare.len() < SPARE {
                spare.push(chunk);
            }
        }
    }

    /// Keeps bytes that were just read. To be called before they are forwarded: what answers them must not be kept before
    /// them.
    pub(super) fn keep(&self, side: Side, bytes: &Arc<Chunk>) {
        let bytes = bytes.compact();
        let cost = bytes.room.len() + OVERHEAD;
        let mut may_wait = true;
        loop {
            let mut state = lock(&self.state);
            if self.queue.has_room(cost) {
                return self.add(&mut state, side, cost, Content::Bytes(bytes));
            }
            if !may_wait {
                let gap = state.gaps[index(side)].get_or_insert_default();
                gap.line_feeds += memchr::memchr_iter(b'\n', &bytes).count() as u64;
                gap.at_line_feed = bytes.ends_with(b"\n");
                return;
            }
            // Others need the state meanwhile.
            drop(state);
            may_wait = self.queue.wait_for_room(cost);
        }
    }

    /// The side has closed its end.
    pub(super) fn end(&self, side: Side) {
        self.add(&mut lock(&self.state), side, 0, Content::Ended);
    }

    /// The session is over, and the server's exit code is this: nothing more is kept, and what waits is still handed out.
    pub(super) fn close(&self, exit: i32) {
        let mut state = lock(&self.state);
        state.exit = exit;
        for side in [Side::Client, Side::Server] {
            self.add_gap(&mut state, side);
        }
        self.queue.close();
    }

    /// The exit code that the session was closed with.
    pub(super) fn exit(&self) -> i32 {
        lock(&self.state).exit
    }

    fn add(&self, state: &mut IntakeState, side: Side, cost: usize, content: Content) {
        self.add_gap(state, side);
        self.queue.push(cost, IntakeItem { side, time: state.tick(), content });
    }

    fn add_gap(&self, state: &mut IntakeState, side: Side) {
        if let Some(gap) = state.gaps[index(side)].take() {
            self.queue.push(0, IntakeItem { side, time: state.tick(), content: Content::Gap(gap) });
        }
    }
}

impl IntakeState {
    fn tick(&mut self) -> i64 {
        self.now = self.now.max(now());
        self.now
    }
}

/// Where a side's entry is in a pair: the client's first.
pub(super) fn index(side: Side) -> usize {
    usize::from(side == Side::Server)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Content, Gap, Intake, IntakeItem};
    use crate::queue::{NextItem, PATIENCE, ROOM};
    use std::sync::Arc;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::{Duration, Instant};
    use transcript::session::Side;

    fn chunk(bytes: &[u8]) -> Arc<Chunk> {
        Arc::new(Chunk::from(bytes))
    }

    /// The bytes of the next item.
    fn next(intake: &Intake) -> Arc<Chunk> {
        match intake.queue.next(PATIENCE * 40) {
            NextItem::Item(IntakeItem { content: Content::Bytes(bytes), .. }) => bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn chunks_are_filled_again_and_few_bytes_have_little_room() {
        let intake = Intake::new();
        let mut filled = intake.chunk();
        let size = filled.room.len();
        assert_eq!(filled.fill(&mut &vec![b'x'; size][..]).unwrap(), size);
        let (room, filled) = (filled.room.as_ptr(), Arc::new(filled));
        intake.keep(Side::Client, &filled);
        intake.recycle(filled);
        assert_ne!(intake.chunk().room.as_ptr(), room, "it waits to be written");
        let kept = next(&intake);
        assert_eq!(kept.len(), size);
        intake.recycle(kept);
        let mut again = intake.chunk();
        assert_eq!(again.room.as_ptr(), room);
        assert_eq!(again.fill(&mut &b"few"[..]).unwrap(), 3);
        intake.keep(Side::Client, &Arc::new(again));
        let kept = next(&intake);
        assert_eq!((&**kept, kept.room.len()), (&b"few"[..], 3));
    }

    #[test]
    fn a_file_that_hangs_costs_the_traffic_no_more_than_its_patience() {
        let intake = Intake::new();
        let line = chunk(&[vec![b'x'; (1 << 20) - 1], b"\n".to_vec()].concat());
        let (stop, stopped) = channel::<()>();
        thread::scope(|scope| {
            let intake = &intake;
            intake.keep(Side::Server, &chunk(b"first\n"));
            let (entered, is_in) = channel();
            scope.spawn(move || {
                intake.queue.in_file(|| {
                    entered.send(()).unwrap();
                    let _ = stopped.recv();
                });
            });
            is_in.recv().unwrap();
            let since = Instant::now();
            for _ in 0..64 {
                intake.keep(Side::Client, &line);
            }
            let took = since.elapsed();
            assert!(took >= PATIENCE / 2 && took < PATIENCE * 4, "{took:?}");
            drop(stop);
        });
        intake.keep(Side::Server, &chunk(b"more"));
        intake.close(0);
        let kept: Vec<IntakeItem> = std::iter::from_fn(|| match intake.queue.next(PATIENCE) {
            NextItem::Item(item) => Some(item),
            _ => None,
        })
        .collect();
        let size =
            |item: &IntakeItem| if let Content::Bytes(bytes) = &item.content { bytes.len() } else { 0 };
        let bytes: usize = kept.iter().map(size).sum();
        assert!(bytes <= ROOM && bytes > ROOM - (2 << 20), "{bytes}");
        let gap = kept.iter().find_map(|item| match item.content {
            Content::Gap(gap) => Some((item.side, gap)),
            _ => None,
        });
        assert_eq!(gap, Some((Side::Client, Gap { line_feeds: 64 - 15, at_line_feed: true })));
        assert!(kept.is_sorted_by_key(|item| item.time));
    }

    #[test]
    fn nothing_is_let_go_while_the_program_itself_is_slow() {
        let intake = Intake::new();
        thread::scope(|scope| {
            let intake = &intake;
            let sides = [Side::Client, Side::Server].map(|side| {
                scope.spawn(move || {
                    let part = chunk(&vec![b'x'; 1 << 20]);
                    (0..32).for_each(|_| intake.keep(side, &part));
                })
            });
            let bytes: usize = (0..64)
                .map(|_| {
                    thread::sleep(Duration::from_millis(2));
                    next(intake).len()
                })
                .sum();
            assert_eq!(bytes, 64 << 20);
            sides.into_iter().for_each(|side| side.join().unwrap());
            intake.close(0);
            assert!(matches!(intake.queue.next(PATIENCE), NextItem::Closed), "no gap");
        });
    }
}
