//! What a program writes to its standard error: its beginning and its end, however much there is.

use crate::lock;
use std::collections::VecDeque;
use std::io::Read;
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How much later than its program the end of a standard error may come: its last words are worth reading.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A program that has written this many bytes more than are kept writes without end.
const FLOOD: u64 = 16 << 20;

/// The pause after each piece of a flood, so that a program that writes one does not take the processors from all others.
const BETWEEN: Duration = Duration::from_millis(1);

/// A standard error that is read to its end by a thread of its own. Nothing more is read once this is dropped: a program
/// that still writes finds the pipe closed.
#[derive(Debug)]
pub struct Stderr {
    kept: Arc<Mutex<KeptText>>,
    ended: Receiver<()>,
}

#[derive(Debug, Default)]
struct KeptText {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// How many bytes of each are kept.
    room: [usize; 2],
    /// How many bytes came in between.
    cut: u64,
    /// Nobody wants to know any more.
    over: bool,
}

impl Stderr {
    /// Keeps `head` bytes of the beginning and `tail` of the end.
    pub fn keep(pipe: ChildStderr, head: usize, tail: usize) -> Self {
        let kept = Arc::new(Mutex::new(KeptText { room: [head, tail], ..KeptText::default() }));
        let (done, ended) = sync_channel(1);
        let into = Arc::clone(&kept);
        // Nobody waits for this thread: a process that left the group may hold the pipe open for ever.
        thread::spawn(move || {
            read(pipe, &into);
            let _ = done.send(());
        });
        Self { kept, ended }
    }

    /// Forgets the output so far.
    pub fn clear(&self) {
        let mut kept = lock(&self.kept);
        kept.head.clear();
        kept.tail.clear();
        kept.cut = 0;
    }

    /// The output so far. Where something is left out, it says how much.
    pub fn text(&self) -> String {
        lock(&self.kept).text()
    }

    /// Waits a while for the end, once the program was ended.
    pub fn wait(&self) {
        let _ = self.ended.recv_timeout(LAST_WORDS);
    }

    /// The output of a program that was ended, with what it wrote last.
    pub(crate) fn last_words(&self) -> String {
        self.wait();
        self.text()
    }
}

impl Drop for Stderr {
    fn drop(&mut self) {
        lock(&self.kept).over = true;
    }
}

impl KeptText {
    fn take(&mut self, mut bytes: &[u8]) {
        let [head, tail] = self.room;
        if self.tail.is_empty() && self.cut == 0 {
            let fits = bytes.len().min(head - self.head.len());
            self.head.extend_from_slice(&bytes[..fits]);
            bytes = &bytes[fits..];
        }
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(tail);
        self.tail.drain(..over);
        self.cut += over as u64;
    }

    fn text(&self) -> String {
        let tail: Vec<u8> = self.tail.iter().copied().collect();
        let [head, tail] = [&self.head, &tail].map(|part| String::from_utf8_lossy(part).into_owned());
        match self.cut {
            cut if cut > 0 && self.room[0] > 0 => {
                format!("{head}\n… {cut} bytes of the standard error are left out …\n{tail}")
            }
            _ => head + &tail,
        }
    }
}

fn read(mut pipe: impl Read, into: &Mutex<KeptText>) {
    let mut chunk = [0; 4 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut chunk) {
        let mut kept = lock(into);
        if kept.over {
            return;
        }
        kept.take(&chunk[..count]);
        if kept.cut > FLOOD {
            drop(kept);
            thread::sleep(BETWEEN);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::KeptText;

    #[test]
    fn the_beginning_and_the_end_are_kept_and_what_is_left_out_is_said() {
        let kept = |room, parts: &[&str]| {
            let mut kept = KeptText { room, ..KeptText::default() };
            parts.iter().for_each(|part| kept.take(part.as_bytes()));
            kept.text()
        };
        assert_eq!(kept([4, 3], &["ab", "cdef"]), "abcdef");
        let text = kept([4, 3], &["abcdef", "gh", "ij"]);
        assert_eq!(text, "abcd\n… 3 bytes of the standard error are left out …\nhij");
        // Where only the end is asked for, that is what it is.
        assert_eq!(kept([0, 3], &["abcd", "ef"]), "def");
    }
}
