//! The traffic's end of a recording: bytes as they were read, in the order and with the times at which they were seen.
//!
//! Memory: what the queue holds.

use crate::lock;
use crate::queue::Queue;
use crate::stdio::Gap;
use crate::stdio::group::Exit;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};
use transcript::session::Side;

/// What an item costs beside its bytes.
const OVERHEAD: usize = 96;

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
    Bytes(Vec<u8>),
    /// What was let go because there was no room.
    Gap(Gap),
    /// The side has closed its end.
    Ended,
}

#[derive(Debug)]
pub(super) struct Intake {
    pub(super) queue: Queue<IntakeItem>,
    state: Mutex<IntakeState>,
}

#[derive(Debug)]
struct IntakeState {
    /// By side: what was let go since the last item.
    gaps: [Option<Gap>; 2],
    now: i64,
    /// Who closed an end first.
    gone: Option<Side>,
    end: End,
}

/// How the session ended.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct End {
    /// The server's exit, with the signal that ended it or was passed on to it.
    pub(super) exit: Exit,
    /// The client had not closed its end when the server did.
    pub(super) is_input_open: bool,
}

impl Intake {
    pub(super) fn new() -> Self {
        let state = IntakeState { gaps: [None; 2], now: now(), gone: None, end: End::default() };
        Self { queue: Queue::new(), state: Mutex::new(state) }
    }

    /// The time, which never goes back.
    pub(super) fn time(&self) -> i64 {
        lock(&self.state).tick()
    }

    /// Keeps bytes that were just read. To be called before they are forwarded: what answers them must not be kept before
    /// them.
    pub(super) fn keep(&self, side: Side, bytes: &[u8]) {
        let cost = bytes.len() + OVERHEAD;
        let mut may_wait = true;
        loop {
            let mut state = lock(&self.state);
            if self.queue.has_room(cost) {
                return self.add(&mut state, side, cost, Content::Bytes(bytes.to_vec()));
            }
            if !may_wait {
                let gap = state.gaps[index(side)].get_or_insert_default();
                gap.line_feeds += memchr::memchr_iter(b'\n', bytes).count() as u64;
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

    /// The side closed an end, which counts where the other had not. To be called before the other can know of it.
    pub(super) fn gone(&self, side: Side) {
        lock(&self.state).gone.get_or_insert(side);
    }

    /// The session is over, as the server ended so: nothing more is kept, and what waits is still handed out.
    pub(super) fn close(&self, exit: Exit) {
        let mut state = lock(&self.state);
        state.end = End { exit, is_input_open: state.gone != Some(Side::Client) };
        for side in [Side::Client, Side::Server] {
            self.add_gap(&mut state, side);
        }
        self.queue.close();
    }

    /// How it was closed.
    pub(super) fn how_it_ended(&self) -> End {
        lock(&self.state).end
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
    use super::{Content, Gap, Intake, IntakeItem};
    use crate::queue::{NextItem, PATIENCE, ROOM};
    use crate::stdio::group::Exit;
    use std::thread;
    use std::time::{Duration, Instant};
    use transcript::session::Side;

    /// The bytes of the next item.
    fn next(intake: &Intake) -> Vec<u8> {
        match intake.queue.next(PATIENCE * 40) {
            NextItem::Item(IntakeItem { content: Content::Bytes(bytes), .. }) => bytes,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_file_that_hangs_costs_the_traffic_no_more_than_its_patience() {
        let intake = Intake::new();
        let line = [vec![b'x'; (1 << 20) - 1], b"\n".to_vec()].concat();
        intake.keep(Side::Server, b"first\n");
        intake.queue.in_file(|| {
            let since = Instant::now();
            (0..64).for_each(|_| intake.keep(Side::Client, &line));
            let took = since.elapsed();
            assert!(took >= PATIENCE / 2 && took < PATIENCE * 4, "{took:?}");
        });
        intake.keep(Side::Server, b"more");
        intake.close(Exit::default());
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
                    let part = vec![b'x'; 1 << 20];
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
            intake.close(Exit::default());
            assert!(matches!(intake.queue.next(PATIENCE), NextItem::Closed), "no gap");
        });
    }
}
