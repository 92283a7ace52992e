//! The two pipes to the other side, each with a thread of its own, and the box where both put what happens.
//!
//! Knows: lines, and that neither way may wait for the other one. Refuses to know: what is said. Memory: so much as waits
//! in the box: [`WAITING`] bytes, or one line; a line is held up to a bound that the caller gives, and what is longer is
//! counted and let go. What is to be said waits too, and is no more than the session.

use super::journal::{Journal, Way, What};
use super::variant::Variants;
use crate::record::split::{Piece, Splitter};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// So many bytes of lines may wait to be heard; then nothing more is read.
pub(super) const WAITING: usize = 8 << 20;

/// How much is read at a time.
const CHUNK: usize = 64 << 10;

/// How much is read at a time by a peer that reads slowly.
const SIP: usize = 4 << 10;

/// Something that happened at the pipes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// A line, and whether a line feed ended it.
    Line(Vec<u8>, bool),
    /// A line of so many bytes, which was not held.
    TooLong(u64),
    /// The other side says no more, and why where it did not just close.
    End(Option<String>),
    /// What was to be said has been taken.
    Taken,
    /// The other side takes no more.
    Refused(String),
    /// All is said, or cannot be, and this side's end is closed.
    Closed,
}

/// Where what happened waits.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// Bytes that went either way: as long as they move, nobody is silent.
    moved: AtomicU64,
    /// Bytes of a line whose end has not come.
    begun: AtomicU64,
}

#[derive(Debug, Default)]
struct Waiting {
    came: VecDeque<Came>,
    bytes: usize,
}

impl Inbox {
    fn put(&self, came: Came) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        while waiting.bytes >= WAITING && matches!(came, Came::Line(..)) {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.bytes += weight(&came);
        waiting.came.push_back(came);
        drop(waiting);
        self.changed.notify_all();
    }

    /// The next thing that happened; none where nothing does, and not a byte moves, for so long.
    pub(super) fn next(&self, patience: Duration) -> Option<Came> {
        loop {
            let moved = self.moved.load(Ordering::Relaxed);
            let came = self.wait(patience);
            if came.is_some() || self.moved.load(Ordering::Relaxed) == moved {
                return came;
            }
        }
    }

    /// How many bytes of a line have come whose end has not.
    pub(super) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    fn wait(&self, patience: Duration) -> Option<Came> {
        let until = Instant::now() + patience;
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
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

fn weight(came: &Came) -> usize {
    match came {
        Came::Line(line, _) => line.len(),
        _ => 0,
    }
}

/// The pipe to the other side. It closes when this is dropped and all is said.
#[derive(Debug)]
pub(super) struct Mouth(Sender<Vec<u8>>);

impl Mouth {
    /// A mouth that says what it is told in the way of `variants`.
    pub(super) fn open(mut to: File, variants: Variants, journal: Journal, inbox: &Arc<Inbox>) -> Self {
        let (sender, told): (_, Receiver<Vec<u8>>) = channel();
        let inbox = Arc::clone(inbox);
        thread::spawn(move || {
            let mut broken = None;
            for bytes in told {
                if broken.is_some() {
                    continue;
                }
                let mut moved = |count: usize| {
                    inbox.moved.fetch_add(count as u64, Ordering::Relaxed);
                };
                match variants.write(&bytes, &mut to, &journal, &mut moved) {
                    Ok(()) => inbox.put(Came::Taken),
                    Err(error) => {
                        broken = Some(error.to_string());
                        inbox.put(Came::Refused(error.to_string()));
                    }
                }
            }
            // Before it is closed: whoever sees the end has seen it later.
            let at = journal.now();
            drop(to);
            journal.note_at(at, || What::Ended { way: Way::Sent, exchange: None, broken });
            inbox.put(Came::Closed);
        });
        Self(sender)
    }

    /// Has bytes written. [`Came::Taken`] tells when they are, or [`Came::Refused`] that they cannot be.
    pub(super) fn say(&self, bytes: Vec<u8>) {
        // The thread ends no sooner than this sender.
        let _ = self.0.send(bytes);
    }
}

/// Reads from the other side to its end.
pub(super) fn listen(mut from: File, slow: Duration, longest: usize, journal: Journal, inbox: &Arc<Inbox>) {
    let inbox = Arc::clone(inbox);
    thread::spawn(move || {
        let mut chunk = vec![0; if slow.is_zero() { CHUNK } else { SIP }];
        let (mut splitter, mut lines) = (Splitter::default(), Lines { longest, ..Lines::default() });
        let broken = loop {
            thread::sleep(slow);
            match from.read(&mut chunk) {
                Ok(0) => break None,
                Ok(count) => {
                    journal.bytes_at(journal.now(), Way::Received, None, &chunk[..count]);
                    splitter.take(&chunk[..count], &mut |piece| lines.take(piece, &inbox));
                    inbox.moved.fetch_add(count as u64, Ordering::Relaxed);
                    match memchr::memrchr(b'\n', &chunk[..count]) {
                        Some(end) => inbox.begun.store((count - end - 1) as u64, Ordering::Relaxed),
                        None => {
                            inbox.begun.fetch_add(count as u64, Ordering::Relaxed);
                        }
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Some(error.to_string()),
            }
        };
        splitter.finish(&mut |piece| lines.take(piece, &inbox));
        journal.ended(Way::Received, None, broken.clone());
        inbox.put(Came::End(broken));
    });
}

/// Lines, long ones put together again as far as they are held.
#[derive(Default)]
struct Lines {
    longest: usize,
    long: Vec<u8>,
    lost: u64,
}

impl Lines {
    fn take(&mut self, piece: Piece<'_>, inbox: &Inbox) {
        match piece {
            Piece::Line(line, ended) => inbox.put(Came::Line(line.to_vec(), ended)),
            Piece::Part(part) if self.lost == 0 && self.long.len() + part.len() <= self.longest => {
                self.long.extend_from_slice(part);
            }
            Piece::Part(part) => {
                self.lost += (std::mem::take(&mut self.long).len() + part.len()) as u64;
            }
            Piece::LongEnds(ended) => {
                let (line, lost) = (std::mem::take(&mut self.long), std::mem::take(&mut self.lost));
                inbox.put(if lost > 0 { Came::TooLong(lost) } else { Came::Line(line, ended) });
            }
            Piece::LongLost => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Came, Inbox, Journal, Lines, Mouth, Piece, Variants, listen};
    use crate::record::owned;
    use std::io::Write as _;
    use std::sync::Arc;
    use std::thread;
    use std::time::Duration;

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn what_is_said_at_one_end_is_heard_at_the_other() {
        let (from, to) = std::io::pipe().unwrap();
        let (from, to) = (owned(from), owned(to));
        let (here, there) = (Arc::new(Inbox::default()), Arc::new(Inbox::default()));
        let mouth = Mouth::open(to, Variants::default(), Journal::default(), &here);
        listen(from, Duration::ZERO, 100, Journal::default(), &there);
        let long = "x".repeat(5 << 20);
        mouth.say(format!("a\n\n{long}\nb").into_bytes());
        drop(mouth);
        assert_eq!([here.next(SOON), here.next(SOON)], [Some(Came::Taken), Some(Came::Closed)]);
        for expected in [
            Came::Line(b"a".to_vec(), true),
            Came::Line(Vec::new(), true),
            Came::TooLong(long.len() as u64),
            Came::Line(b"b".to_vec(), false),
            Came::End(None),
        ] {
            assert_eq!(there.next(SOON), Some(expected));
        }
        assert_eq!(there.next(Duration::ZERO), None);
    }

    #[test]
    fn who_takes_nothing_is_told_of() {
        let (from, to) = std::io::pipe().unwrap();
        let inbox = Arc::new(Inbox::default());
        let to = owned(to);
        let mouth = Mouth::open(to, Variants::default(), Journal::default(), &inbox);
        drop(from);
        mouth.say(b"a\n".to_vec());
        assert!(matches!(inbox.next(SOON), Some(Came::Refused(_))));
    }

    #[test]
    fn a_full_box_lets_nothing_more_be_read() {
        let (from, to) = std::io::pipe().unwrap();
        let (from, mut to) = (owned(from), owned(to));
        let inbox = Arc::new(Inbox::default());
        listen(from, Duration::ZERO, 1 << 30, Journal::default(), &inbox);
        let line = [&vec![b'x'; 3 << 20][..], b"\n"].concat();
        let writing = thread::spawn(move || (0..10).for_each(|_| to.write_all(&line).unwrap()));
        let mut most = 0;
        for _ in 0..10 {
            assert!(matches!(inbox.next(SOON), Some(Came::Line(line, true)) if line.len() == 3 << 20));
            most = most.max(inbox.waiting.lock().unwrap().bytes);
        }
        writing.join().unwrap();
        assert!(most <= super::WAITING + (3 << 20), "{most}");
        assert_eq!(inbox.next(SOON), Some(Came::End(None)));
    }

    #[test]
    fn a_long_line_is_held_up_to_its_bound() {
        let (inbox, mut lines) = (Inbox::default(), Lines { longest: 4, ..Lines::default() });
        for (parts, expected) in [
            (["ab", "cd"], Came::Line(b"abcd".to_vec(), true)),
            (["abc", "de"], Came::TooLong(5)),
            (["abcde", "f"], Came::TooLong(6)),
            (["", "f"], Came::Line(b"f".to_vec(), true)),
        ] {
            parts.iter().for_each(|part| lines.take(Piece::Part(part.as_bytes()), &inbox));
            lines.take(Piece::LongEnds(true), &inbox);
            assert_eq!(inbox.next(SOON), Some(expected));
        }
    }
}
