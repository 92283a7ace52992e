//! What was seen and is not written yet, between the traffic and a file that may be slow.
//!
//! The traffic waits for this program's own work, so that a fast sender loses nothing, but never for the file for longer
//! than [`PATIENCE`] in a whole session. What finds no room then is for its sender to count and let go. At most [`ROOM`]
//! bytes wait.

use crate::lock;
use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};
use tokio::time::{Sleep, sleep};

/// How many bytes may wait to be written.
pub(crate) const ROOM: usize = 16 << 20;

/// How long the traffic of one session may wait for a slow file, in all.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// With this many bytes waiting, tasks wait too. The rest is for those that look at the same time.
const FULL: usize = ROOM / 2;

/// How often somebody who waits for room looks again.
const TICK: Duration = Duration::from_millis(2);

/// How long one write may take before it counts as waiting for the file.
const QUICK: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub(crate) struct Queue<T> {
    state: Mutex<QueueState<T>>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug)]
struct QueueState<T> {
    /// Each with its cost in bytes.
    items: VecDeque<(usize, T)>,
    held: usize,
    closed: bool,
    /// When the write began that is under way.
    writing: Option<Instant>,
    /// When the traffic first waited for that write.
    starved: Option<Instant>,
    /// How long the traffic has waited for earlier writes.
    waited: Duration,
}

/// What a queue hands out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum NextItem<T> {
    Item(T),
    /// Nothing came in time.
    Nothing,
    /// Nothing will come.
    Closed,
}

impl<T> Queue<T> {
    pub(crate) fn new() -> Self {
        let state = QueueState {
            items: VecDeque::new(),
            held: 0,
            closed: false,
            writing: None,
            starved: None,
            waited: Duration::ZERO,
        };
        Self { state: Mutex::new(state), filled: Condvar::new(), emptied: Condvar::new() }
    }

    /// Whether `cost` more bytes may wait.
    pub(crate) fn has_room(&self, cost: usize) -> bool {
        lock(&self.state).held + cost <= ROOM
    }

    /// Adds an item that costs `cost` bytes, whether there is room or not; a closed queue lets it go.
    pub(crate) fn push(&self, cost: usize, item: T) {
        let mut state = lock(&self.state);
        if !state.closed {
            state.held += cost;
            state.items.push_back((cost, item));
            self.filled.notify_one();
        }
    }

    /// Waits until there is room for `cost` more bytes, which another sender may take first. False where there is none,
    /// and the file has kept the traffic waiting for long enough.
    pub(crate) fn wait_for_room(&self, cost: usize) -> bool {
        let mut state = lock(&self.state);
        while state.must_wait(cost, ROOM) {
            state = self.emptied.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
        }
        state.held + cost <= ROOM
    }

    /// The same for a task that does not know how much comes next: ready when it need not wait. `pause` is its own.
    pub(crate) fn poll_room(
        &self,
        pause: &mut Option<Pin<Box<Sleep>>>,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        loop {
            if !lock(&self.state).must_wait(0, FULL) {
                return Poll::Ready(());
            }
            ready!(pause.get_or_insert_with(|| Box::pin(sleep(TICK))).as_mut().poll(context));
            *pause = None;
        }
    }

    /// Nothing more is taken. What waits is still handed out.
    pub(crate) fn close(&self) {
        lock(&self.state).closed = true;
        self.filled.notify_all();
        self.emptied.notify_all();
    }

    /// The next item, waiting for it no longer than `patience`.
    pub(crate) fn next(&self, patience: Duration) -> NextItem<T> {
        let until = Instant::now() + patience;
        let mut state = lock(&self.state);
        loop {
            if let Some((cost, item)) = state.items.pop_front() {
                state.held -= cost;
                self.emptied.notify_all();
                return NextItem::Item(item);
            }
            let left = until.saturating_duration_since(Instant::now());
            if state.closed || left.is_zero() {
                return if state.closed { NextItem::Closed } else { NextItem::Nothing };
            }
            state = self.filled.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Runs a write, which may take as long as the file does.
    pub(crate) fn in_file<R>(&self, write: impl FnOnce() -> R) -> R {
        lock(&self.state).writing = Some(Instant::now());
        let done = write();
        lock(&self.state).end_write();
        done
    }

    /// A part of a long write is done: the file does not hang.
    pub(crate) fn progress(&self) {
        let mut state = lock(&self.state);
        state.end_write();
        state.writing = Some(Instant::now());
    }

    /// Whether one write, or a part of a long one, has taken as long as this.
    pub(crate) fn is_stuck(&self, time: Duration) -> bool {
        lock(&self.state).writing.is_some_and(|since| since.elapsed() >= time)
    }
}

impl<T> QueueState<T> {
    /// Whether the traffic waits, with `cost` more bytes to come and room for `limit`.
    fn must_wait(&mut self, cost: usize, limit: usize) -> bool {
        if self.closed || self.held + cost <= limit {
            return false;
        }
        if self.writing.is_none() {
            // Our own work is under way.
            return true;
        }
        self.starved.get_or_insert_with(Instant::now);
        self.waited() < PATIENCE
    }

    fn end_write(&mut self) {
        self.waited = self.waited();
        (self.writing, self.starved) = (None, None);
    }

    /// How long the traffic has waited for the file so far.
    fn waited(&self) -> Duration {
        let now = self.writing.zip(self.starved);
        self.waited + now.map_or(Duration::ZERO, |(since, starved)| starved.max(since + QUICK).elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::{FULL, NextItem, PATIENCE, Queue, ROOM};
    use crate::lock;
    use std::future::poll_fn;
    use std::sync::Arc;
    use std::thread;
    use std::time::{Duration, Instant};
    use tokio::runtime::Builder;

    /// Waits for room as a thread and as a task, which must not wait again then.
    fn wait(queue: &Queue<u8>) {
        queue.wait_for_room(1);
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        let mut pause = None;
        runtime.block_on(poll_fn(|context| queue.poll_room(&mut pause, context)));
        assert!(!waits(queue));
    }

    /// Whether a thread or a task has to wait for room.
    fn waits(queue: &Queue<u8>) -> bool {
        let mut state = lock(&queue.state);
        state.must_wait(1, ROOM) || state.must_wait(0, FULL)
    }

    #[test]
    fn items_come_in_order_and_give_their_room_back() {
        let queue = Queue::new();
        queue.push(ROOM, 1);
        assert!(!queue.has_room(1));
        queue.push(0, 2);
        assert_eq!([queue.next(PATIENCE), queue.next(PATIENCE)], [NextItem::Item(1), NextItem::Item(2)]);
        assert!(queue.has_room(ROOM) && queue.next(Duration::ZERO) == NextItem::Nothing);
        queue.push(1, 3);
        queue.close();
        queue.push(1, 4);
        assert_eq!([queue.next(PATIENCE), queue.next(PATIENCE)], [NextItem::Item(3), NextItem::Closed]);
    }

    #[test]
    fn the_traffic_waits_for_this_program_and_not_for_ever_for_the_file() {
        let queue = Arc::new(Queue::new());
        assert!(!waits(&queue));
        wait(&queue);
        queue.push(ROOM, 1);
        let slow = PATIENCE / 2;
        // From before the other thread sleeps, so that the wait is measured whole.
        let begun = Instant::now();
        let working = Arc::clone(&queue);
        let working = thread::spawn(move || {
            thread::sleep(slow);
            working.next(Duration::ZERO)
        });
        queue.wait_for_room(1);
        assert!(begun.elapsed() >= slow, "work of our own is waited for");
        working.join().unwrap();
        queue.push(ROOM, 2);
        queue.in_file(|| {
            let since = Instant::now();
            wait(&queue);
            let waited = since.elapsed();
            assert!(waited > PATIENCE / 2 && waited < PATIENCE * 4, "{waited:?}");
            assert!(queue.is_stuck(PATIENCE), "the file was waited for long enough");
        });
        queue.in_file(|| assert!(!waits(&queue), "and is not waited for again"));
    }

    #[test]
    fn nobody_waits_for_a_closed_queue() {
        let queue = Queue::new();
        queue.push(ROOM, 1);
        queue.close();
        assert!(!waits(&queue));
        wait(&queue);
    }
}
