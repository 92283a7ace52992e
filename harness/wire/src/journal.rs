//! What a peer really sent and received, written down as it happens.
//!
//! Each entry is one line of JSON, handed to the system at once, so that a journal outlives a peer that is killed; only
//! its last line can be cut off. Times are microseconds since the Unix epoch and never run backwards within one
//! journal. What was sent has the time right before it was written, what was received the time right after it was read:
//! a recorder between the two has seen it no earlier than the one and no later than the other. Every time is read from
//! the system's clock, which all processes share: one that a process keeps for itself is off by however long the process
//! was put aside while it was set.

use crate::files::{Growing, open_regular};
use crate::lock;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The most bytes that a journal holds, unless [`Journal::hold`] says otherwise.
pub const LARGEST: u64 = 256 << 20;

/// One thing that happened, and when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Microseconds since the Unix epoch.
    pub at: u64,
    /// What happened.
    #[serde(flatten)]
    pub event: JournalEvent,
}

/// The way that something went, as the peer sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the peer to the other side.
    Sent,
    /// From the other side to the peer.
    Received,
}

/// What happened. Over HTTP every part belongs to an exchange, numbered from 0 in the order they began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum JournalEvent {
    /// The peer is there. The first note of every journal.
    Began {
        /// `client` or `server`.
        role: String,
        /// `stdio`, `streamable-http` or `http-sse`.
        transport: String,
        /// Where a server listens, or what a client connects to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// The peer's own process.
        pid: u32,
    },
    /// The head of a request.
    Asked {
        /// Whose request it is.
        way: Direction,
        /// Its exchange.
        exchange: u64,
        /// The method.
        method: String,
        /// The path and query.
        target: String,
        /// The headers, in order.
        headers: Vec<(String, String)>,
    },
    /// The head of an answer.
    Answered {
        /// Whose answer it is.
        way: Direction,
        /// Its exchange.
        exchange: u64,
        /// The status.
        status: u16,
        /// The headers, in order.
        headers: Vec<(String, String)>,
    },
    /// Bytes: of a pipe, or of a body.
    Bytes {
        /// Which way they went.
        way: Direction,
        /// The exchange whose body they are of; none on a pipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<u64>,
        /// The bytes, as one write or one read had them.
        bytes: Bytes,
    },
    /// A pipe or a body is at its end.
    Ended {
        /// Whose end it is.
        way: Direction,
        /// The exchange whose body it is; none for a pipe.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exchange: Option<u64>,
        /// Why it ended too early; none where it ended well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broken: Option<String>,
    },
    /// The process at the other side ended: with a code, or by a signal.
    Exited {
        /// The exit code.
        code: Option<i32>,
        /// The signal.
        signal: Option<i32>,
    },
    /// The other side departed from the session.
    Mismatch {
        /// How, and where, in words.
        text: String,
    },
    /// The peer has played to its end. The last note, unless it was killed.
    Over {
        /// How many messages it sent.
        sent: u64,
        /// How many messages of the session it received.
        received: u64,
        /// How many mismatches it saw.
        mismatches: u64,
    },
}

impl JournalEvent {
    /// The stream that these bytes are of, or that is at its end: its way, and its exchange where it is a body.
    pub(crate) fn stream(&self) -> Option<(Direction, Option<u64>)> {
        match *self {
            Self::Bytes { way, exchange, .. } | Self::Ended { way, exchange, .. } => Some((way, exchange)),
            _ => None,
        }
    }
}

/// Bytes: a string in JSON where they are UTF-8, `{"base64": "…"}` where they are not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bytes(pub Vec<u8>);

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Encoded<T> {
    Text(T),
    Base64 { base64: String },
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let encoded = match std::str::from_utf8(&self.0) {
            Ok(text) => Encoded::Text(text),
            Err(_) => Encoded::Base64 { base64: STANDARD.encode(&self.0) },
        };
        encoded.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Encoded::<String>::deserialize(deserializer)? {
            Encoded::Text(text) => Ok(Self(text.into_bytes())),
            Encoded::Base64 { base64 } => STANDARD.decode(base64).map(Self).map_err(serde::de::Error::custom),
        }
    }
}

/// Where a peer notes what happens; one that keeps nothing where no file was asked for.
#[derive(Debug, Clone, Default)]
pub struct Journal(Option<Arc<Sink>>);

#[derive(Debug)]
struct Sink {
    /// The last time that was given out. A clock that is set back stops here.
    last: AtomicU64,
    output: Mutex<Output>,
}

#[derive(Debug)]
struct Output {
    file: Growing,
    /// How many bytes may be written yet.
    room: u64,
    /// Nothing is written after the first fault: a journal has no holes.
    fault: Option<io::Error>,
}

impl Journal {
    /// A journal in a new file, or in place of an old one.
    ///
    /// # Errors
    /// A sentence, where the file cannot be made or somebody else writes it.
    pub fn create(path: &Path) -> Result<Self, String> {
        let output = Mutex::new(Output { file: Growing::create(path, true)?, room: LARGEST, fault: None });
        Ok(Self(Some(Arc::new(Sink { last: AtomicU64::new(0), output }))))
    }

    /// Lets a journal that has just been created hold this number of bytes. What would make it larger is not written, nor
    /// anything after it, and [`Journal::fault`] says so.
    pub fn hold(&self, bytes: u64) {
        if let Some(sink) = &self.0 {
            lock(&sink.output).room = bytes;
        }
    }

    /// The time for a note that is made later.
    pub fn now(&self) -> u64 {
        let Some(sink) = &self.0 else { return 0 };
        let now = micros(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
        sink.last.fetch_max(now, Ordering::Relaxed).max(now)
    }

    /// Notes what happens now.
    pub fn note(&self, event: impl FnOnce() -> JournalEvent) {
        self.note_at(self.now(), event);
    }

    /// Notes what happened at a time of [`Journal::now`].
    pub fn note_at(&self, at: u64, event: impl FnOnce() -> JournalEvent) {
        let Some(sink) = &self.0 else { return };
        let line = serde_json::to_vec(&Entry { at, event: event() });
        let mut output = lock(&sink.output);
        let Output { file, room, fault } = &mut *output;
        if fault.is_some() {
            return;
        }
        let written = line.map_err(io::Error::other).and_then(|mut line| {
            line.push(b'\n');
            let full = || io::Error::other("it has reached its size limit");
            *room = room.checked_sub(line.len() as u64).ok_or_else(full)?;
            file.append(|file| file.write_all(&line))
        });
        *fault = written.err();
    }

    /// Notes that a peer begins.
    pub(crate) fn began(&self, role: &str, transport: &str, address: Option<String>) {
        let (role, transport, pid) = (role.to_owned(), transport.to_owned(), std::process::id());
        self.note(|| JournalEvent::Began { role, transport, address, pid });
    }

    /// Notes bytes of a pipe, or of the body of an exchange.
    pub fn bytes_at(&self, at: u64, way: Direction, exchange: Option<u64>, bytes: &[u8]) {
        self.note_at(at, || JournalEvent::Bytes { way, exchange, bytes: Bytes(bytes.to_vec()) });
    }

    /// Notes that a pipe, or the body of an exchange, is at its end.
    pub fn ended(&self, way: Direction, exchange: Option<u64>, broken: Option<String>) {
        self.note(|| JournalEvent::Ended { way, exchange, broken });
    }

    /// Why the journal is not whole, where it is not.
    pub fn fault(&self) -> Option<String> {
        let output = lock(&self.0.as_ref()?.output);
        output.fault.as_ref().map(ToString::to_string)
    }
}

/// A duration in the unit of a journal.
pub(crate) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Reads the journal in a file. A last line that has no line feed was cut off with the peer, and is left out.
///
/// # Errors
/// Where the file cannot be read, or a line of it is not an entry; the error names it.
pub fn read(path: &Path) -> io::Result<Vec<Entry>> {
    read_from(open_regular(path)?)
}

pub(crate) fn read_from(input: impl Read) -> io::Result<Vec<Entry>> {
    let (mut input, mut notes, mut line) = (BufReader::new(input), Vec::new(), Vec::new());
    loop {
        line.clear();
        input.read_until(b'\n', &mut line)?;
        if line.pop() != Some(b'\n') {
            return Ok(notes);
        }
        let note = serde_json::from_slice(&line).map_err(|error| {
            let number = notes.len() + 1;
            io::Error::new(
                io::ErrorKind::InvalidData,
                format!("line {number} is not a journal entry: {error}"),
            )
        })?;
        notes.push(note);
    }
}

#[cfg(test)]
mod tests {
    use super::{Entry, Journal, JournalEvent, read, read_from};
    use std::path::Path;

    const OVER: JournalEvent = JournalEvent::Over { sent: 1, received: 2, mismatches: 3 };

    /// One entry of each kind. Bytes are text where they can be.
    const ENTRIES: &str = include_str!("journal.txt");

    #[test]
    fn what_is_noted_is_read_again_and_told_by_one_clock() {
        let entries = read_from(ENTRIES.as_bytes()).unwrap();
        let lines: Vec<_> = entries.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
        assert_eq!(lines, ENTRIES.lines().collect::<Vec<_>>());
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b", "c"].map(|name| folder.path().join(name));
        let journals = paths.each_ref().map(|path| Journal::create(path).unwrap());
        let before = journals[0].now();
        for Entry { event, .. } in &entries {
            journals[0].note(|| event.clone());
        }
        let noted = read(&paths[0]).unwrap();
        assert!(noted.iter().map(|note| note.at).is_sorted() && noted[0].at >= before && before > 1 << 50);
        assert!(noted.iter().map(|note| &note.event).eq(entries.iter().map(|entry| &entry.event)));
        assert_eq!(journals[0].fault(), None);
        let times: Vec<u64> = (0..3_000).map(|index| journals[index % 3].now()).collect();
        assert!(times.is_sorted());
    }

    #[test]
    fn a_journal_that_was_cut_off_is_read_up_to_there() {
        let cut = ENTRIES.trim_end();
        assert_eq!(read_from(cut.as_bytes()).unwrap().len(), ENTRIES.lines().count() - 1);
        assert_eq!(read_from(&b""[..]).unwrap(), []);
        let error = read_from(format!("{cut}\n{{}}\n").as_bytes()).unwrap_err();
        assert!(error.to_string().starts_with("line 11 is not a journal entry"), "{error}");
    }

    #[test]
    fn a_journal_has_an_end_and_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let journal = Journal::create(&path).unwrap();
        journal.hold(100);
        (0..3).for_each(|_| journal.note(|| OVER));
        assert_eq!(read(&path).unwrap().len(), 1, "two would be more than a hundred bytes");
        assert!(journal.fault().unwrap().contains("its size limit"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_remembered() {
        let journal = Journal::create(Path::new("/dev/full")).unwrap();
        journal.note(|| OVER);
        assert!(journal.fault().is_some());
        assert!(Journal::default().fault().is_none());
        assert!(Path::new("/dev/full").exists());
    }
}
