//! The two pipes to the other side, each with a thread of its own, and the inbox where both put what happens.
//!
//! Neither pipe waits for the other. Memory: [`WAITING`] bytes in the inbox, or one line. A line is held up to a bound
//! that the caller gives; a longer one is counted and dropped. Messages to send wait too, and are no more than the
//! session.

use super::lines::{LineSplitter, Piece};
use crate::journal::{Direction, Journal, JournalEvent};
use crate::lock;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How many bytes of lines may wait to be heard; then nothing more is read.
const WAITING: usize = 8 << 20;

/// How long the inbox is waited on before that is done again.
const LONG: Duration = Duration::from_secs(3600);

/// How much is read at a time.
const CHUNK: usize = 64 << 10;

/// How much is read at a time by a peer that reads slowly.
const SLOW_CHUNK: usize = 4 << 10;

/// Something that happened at the pipes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum PipeEvent {
    /// A line, and whether a line feed ended it.
    Line(Vec<u8>, bool),
    /// A line of this number of bytes, which was not held.
    TooLong(u64),
    /// The other side says no more, and why where it did not just close.
    End(Option<String>),
    /// What was to be said has been taken.
    Taken,
    /// The other side takes no more.
    Refused(String),
    /// All is said, or cannot be, and this side's end is closed.
    Closed,
    /// Something that happened at the pipes of a live server behind this one.
    Live(Box<Self>),
}

/// Where what happened waits.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    waiting: Mutex<WaitingEvents>,
    changed: Condvar,
    /// Bytes that went either way: as long as they move, nobody is silent.
    moved: AtomicU64,
    /// Bytes of a line whose end has not come.
    begun: AtomicU64,
    /// They are more than a message may have.
    endless: AtomicBool,
}

#[derive(Debug, Default)]
struct WaitingEvents {
    came: VecDeque<PipeEvent>,
    bytes: usize,
    /// Nobody takes anything more.
    left: bool,
}

impl Inbox {
    /// Puts something in; where lines wait that are too many, only when there is room.
    pub(crate) fn put(&self, came: PipeEvent) {
        let mut waiting = lock(&self.waiting);
        while waiting.bytes >= WAITING && is_line(&came) && !waiting.left {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.left {
            return;
        }
        waiting.bytes += weight(&came);
        waiting.came.push_back(came);
        drop(waiting);
        self.changed.notify_all();
    }

    /// The next thing that happened; none where nothing does, and not a byte of a message moves, for so long.
    pub(crate) fn next(&self, patience: Duration) -> Option<PipeEvent> {
        loop {
            let moved = self.moved.load(Ordering::Relaxed);
            let came = self.wait(patience);
            let silent = self.moved.load(Ordering::Relaxed) == moved || self.endless.load(Ordering::Relaxed);
            if came.is_some() || silent {
                return came;
            }
        }
    }

    /// Drops what waits and whatever else comes: who writes it must not wait for somebody who listens no more.
    pub(crate) fn leave(&self) {
        *lock(&self.waiting) = WaitingEvents { left: true, ..WaitingEvents::default() };
        self.changed.notify_all();
    }

    /// Hands on, from a thread of its own, all that happens up to the other side's end, or as long as somebody takes it.
    pub(crate) fn hand_on(self: Arc<Self>, mut take: impl FnMut(PipeEvent) -> bool + Send + 'static) {
        thread::spawn(move || {
            loop {
                let Some(came) = self.next(LONG) else { continue };
                let is_end = matches!(came, PipeEvent::End(_));
                if !take(came) || is_end {
                    return self.leave();
                }
            }
        });
    }

    /// How many bytes of a line have come whose end has not.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    fn wait(&self, patience: Duration) -> Option<PipeEvent> {
        let until = Instant::now() + patience;
        let mut waiting = lock(&self.waiting);
        loop {
            if let Some(came) = waiting.came.pop_front() {
                waiting.bytes -= weight(&came);
                drop(waiting);
                self.changed.notify_all();
                return Some(came);
            }
            let left = until.checked_duration_since(Instant::now())?;
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

fn is_line(came: &PipeEvent) -> bool {
    match came {
        PipeEvent::Live(came) => is_line(came),
        came => matches!(came, PipeEvent::Line(..)),
    }
}

fn weight(came: &PipeEvent) -> usize {
    match came {
        PipeEvent::Line(line, _) => line.len(),
        PipeEvent::Live(came) => weight(came),
        _ => 0,
    }
}

/// The pipe to the other side. It closes when this is dropped and all is said.
#[derive(Debug)]
pub(crate) struct Writer(Sender<Vec<u8>>);

impl Writer {
    /// A writer that writes all of a message at once.
    pub(crate) fn plain(to: File, inbox: &Arc<Inbox>) -> Self {
        Self::open(to, Journal::default(), inbox, |bytes, to, _| to.write_all(bytes))
    }

    /// A writer that sends messages by `write`, which reports each number of bytes that moved.
    pub(crate) fn open(
        mut to: File,
        journal: Journal,
        inbox: &Arc<Inbox>,
        write: impl Fn(&[u8], &mut File, &mut dyn FnMut(usize)) -> io::Result<()> + Send + 'static,
    ) -> Self {
        let (sender, messages): (_, Receiver<Vec<u8>>) = channel();
        let inbox = Arc::clone(inbox);
        thread::spawn(move || {
            let mut broken = None;
            for bytes in messages {
                if broken.is_some() {
                    continue;
                }
                let mut moved = |count: usize| {
                    inbox.moved.fetch_add(count as u64, Ordering::Relaxed);
                };
                match write(&bytes, &mut to, &mut moved) {
                    Ok(()) => inbox.put(PipeEvent::Taken),
                    Err(error) => {
                        broken = Some(error.to_string());
                        inbox.put(PipeEvent::Refused(error.to_string()));
                    }
                }
            }
            // Before it is closed: the other side sees the end later.
            let at = journal.now();
            drop(to);
            journal.note_at(at, || JournalEvent::Ended { way: Direction::Sent, exchange: None, broken });
            inbox.put(PipeEvent::Closed);
        });
        Self(sender)
    }

    /// Has bytes written. [`PipeEvent::Taken`] reports when they are, or [`PipeEvent::Refused`] that they cannot be.
    pub(crate) fn write(&self, bytes: Vec<u8>) {
        // The thread ends no sooner than this sender.
        let _ = self.0.send(bytes);
    }
}

/// Reads from the other side to its end.
pub(crate) fn listen(mut from: File, slow: Duration, longest: usize, journal: Journal, inbox: &Arc<Inbox>) {
    let inbox = Arc::clone(inbox);
    thread::spawn(move || {
        let mut chunk = vec![0; if slow.is_zero() { CHUNK } else { SLOW_CHUNK }];
        let (mut splitter, mut lines) =
            (LineSplitter::default(), LineAssembler { longest, ..LineAssembler::default() });
        let broken = loop {
            thread::sleep(slow);
            match from.read(&mut chunk) {
                Ok(0) => break None,
                Ok(count) => {
                    journal.bytes_at(journal.now(), Direction::Received, None, &chunk[..count]);
                    splitter.take(&chunk[..count], &mut |piece| lines.take(piece, &inbox));
                    inbox.moved.fetch_add(count as u64, Ordering::Relaxed);
                    match memchr::memrchr(b'\n', &chunk[..count]) {
                        Some(end) => inbox.begun.store((count - end - 1) as u64, Ordering::Relaxed),
                        None => {
                            inbox.begun.fetch_add(count as u64, Ordering::Relaxed);
                        }
                    }
                    inbox.endless.store(inbox.begun() > longest as u64, Ordering::Relaxed);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error.to_string()),
            }
        };
        splitter.finish(&mut |piece| lines.take(piece, &inbox));
        journal.ended(Direction::Received, None, broken.clone());
        inbox.put(PipeEvent::End(broken));
    });
}

/// Lines, long ones put together again as far as they are held.
#[derive(Default)]
struct LineAssembler {
    longest: usize,
    long: Vec<u8>,
    lost: u64,
}

impl LineAssembler {
    fn take(&mut self, piece: Piece<'_>, inbox: &Inbox) {
        match piece {
            Piece::Line(line, ended) => inbox.put(PipeEvent::Line(line.to_vec(), ended)),
            Piece::Part(part) if self.lost == 0 && self.long.len() + part.len() <= self.longest => {
                self.long.extend_from_slice(part);
            }
            Piece::Part(part) => {
                self.lost += (std::mem::take(&mut self.long).len() + part.len()) as u64;
            }
            Piece::LongEnds(ended) => {
                let (line, lost) = (std::mem::take(&mut self.long), std::mem::take(&mut self.lost));
                inbox.put(if lost > 0 { PipeEvent::TooLong(lost) } else { PipeEvent::Line(line, ended) });
            }
            Piece::LongLost => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe;
    use super::{Inbox, Journal, LineAssembler, Piece, PipeEvent, Writer, channel, listen};
    use std::io::Write as _;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn what_is_said_at_one_end_is_heard_at_the_other() {
        let (from, to) = pipe().unwrap();
        let (here, there) = (Arc::new(Inbox::default()), Arc::new(Inbox::default()));
        let writer = Writer::plain(to, &here);
        listen(from, Duration::ZERO, 100, Journal::default(), &there);
        let long = "x".repeat(5 << 20);
        writer.write(format!("a\n\n{long}\nb").into_bytes());
        drop(writer);
        assert_eq!([here.next(SOON), here.next(SOON)], [Some(PipeEvent::Taken), Some(PipeEvent::Closed)]);
        for expected in [
            PipeEvent::Line(b"a".to_vec(), true),
            PipeEvent::Line(Vec::new(), true),
            PipeEvent::TooLong(long.len() as u64),
            PipeEvent::Line(b"b".to_vec(), false),
            PipeEvent::End(None),
        ] {
            assert_eq!(there.next(SOON), Some(expected));
        }
        assert_eq!(there.next(Duration::ZERO), None);
    }

    #[test]
    fn who_takes_nothing_is_told_of() {
        let (from, to) = pipe().unwrap();
        let inbox = Arc::new(Inbox::default());
        let writer = Writer::plain(to, &inbox);
        drop(from);
        writer.write(b"a\n".to_vec());
        assert!(matches!(inbox.next(SOON), Some(PipeEvent::Refused(_))));
    }

    #[test]
    fn a_full_box_lets_nothing_more_be_read() {
        let (from, mut to) = pipe().unwrap();
        let inbox = Arc::new(Inbox::default());
        listen(from, Duration::ZERO, 1 << 30, Journal::default(), &inbox);
        let line = [&vec![b'x'; 3 << 20][..], b"\n"].concat();
        let writing = thread::spawn(move || (0..10).for_each(|_| to.write_all(&line).unwrap()));
        let mut most = 0;
        for _ in 0..10 {
            assert!(matches!(inbox.next(SOON), Some(PipeEvent::Line(line, true)) if line.len() == 3 << 20));
            most = most.max(inbox.waiting.lock().unwrap().bytes);
        }
        writing.join().unwrap();
        assert!(most <= super::WAITING + (3 << 20), "{most}");
        assert_eq!(inbox.next(SOON), Some(PipeEvent::End(None)));
    }

    #[test]
    fn a_full_box_that_is_left_holds_nobody_up() {
        let (from, mut to) = pipe().unwrap();
        let inbox = Arc::new(Inbox::default());
        listen(from, Duration::ZERO, 1 << 30, Journal::default(), &inbox);
        let (done, written) = channel();
        thread::spawn(move || {
            let line = [&vec![b'x'; 3 << 20][..], b"\n"].concat();
            (0..10).for_each(|_| to.write_all(&line).unwrap());
            done.send(()).unwrap();
        });
        assert!(written.recv_timeout(Duration::from_millis(300)).is_err());
        inbox.leave();
        assert_eq!(written.recv_timeout(SOON), Ok(()));
        assert_eq!(inbox.next(Duration::ZERO), None);
    }

    #[test]
    fn a_long_line_is_held_up_to_its_bound() {
        let (inbox, mut lines) = (Inbox::default(), LineAssembler { longest: 4, ..LineAssembler::default() });
        for (parts, expected) in [
            (["ab", "cd"], PipeEvent::Line(b"abcd".to_vec(), true)),
            (["abc", "de"], PipeEvent::TooLong(5)),
            (["abcde", "f"], PipeEvent::TooLong(6)),
            (["", "f"], PipeEvent::Line(b"f".to_vec(), true)),
        ] {
            parts.iter().for_each(|part| lines.take(Piece::Part(part.as_bytes()), &inbox));
            lines.take(Piece::LongEnds(true), &inbox);
            assert_eq!(inbox.next(SOON), Some(expected));
        }
    }
}
