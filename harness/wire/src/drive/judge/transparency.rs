//! Whether each side received what the other sent over pipes, byte for byte and in time. A message is a line.

use super::{Finding, Kind, named, shown};
use transcript::session::Side;

/// Some bytes that were written or read in one go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// When: for what was sent, right before it was written; for what was received, right after it was there.
    pub at: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// One end of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stream {
    /// What was written or read, in order.
    pub chunks: Vec<Chunk>,
    /// When it was closed, or its end was seen; none where that never happened.
    pub ended: Option<u64>,
}

impl Stream {
    /// All the bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| &chunk.bytes).copied().collect()
    }

    /// When the first `count` bytes were all there; none where they never were.
    #[must_use]
    pub fn when(&self, count: usize) -> Option<u64> {
        let mut sum = 0;
        self.chunks.iter().find_map(|chunk| {
            sum += chunk.bytes.len();
            (sum >= count).then_some(chunk.at)
        })
    }
}

/// What one side sent, and what became of it at the other.
#[derive(Debug)]
pub struct Passage<'s> {
    /// Who sent.
    pub side: Side,
    /// What was sent.
    pub sent: &'s Stream,
    /// What was received.
    pub received: &'s Stream,
    /// When everybody was there: what was sent before is on its passage from then on.
    pub ready: u64,
}

/// What may be asked of the passage.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// So much later than it was sent may a message arrive, in microseconds; none where the receiver was slow itself.
    pub patience: Option<u64>,
    /// Whether all that was sent has to arrive. Where the recorder was killed, what arrived has to be what was sent first.
    pub whole: bool,
}

/// How the bytes of one passage came through. At most one finding on bytes, since what comes after the first wrong byte says
/// nothing; and one for each message that was held up.
#[must_use]
pub fn bytes(passage: &Passage<'_>, terms: Terms) -> Vec<Finding> {
    let (sent, received) = (passage.sent.bytes(), passage.received.bytes());
    let mut found: Vec<Finding> = parting(passage.side, &sent, &received, terms.whole).into_iter().collect();
    let alike = sent.iter().zip(&received).take_while(|(a, b)| a == b).count();
    if let Some(patience) = terms.patience {
        found.extend(late(passage, &sent[..alike], patience));
    }
    found
}

/// Whether the end of what was sent came through, and in time.
#[must_use]
pub fn end(passage: &Passage<'_>, patience: u64) -> Option<Finding> {
    let sent = passage.sent.ended?;
    let other = passage.side.other().name();
    let says = match passage.received.ended {
        Some(at) if at <= sent.saturating_add(patience) => return None,
        Some(at) => format!(
            "the {other} saw the end of the {}'s output {} after it was closed",
            passage.side.name(),
            shown(at - sent)
        ),
        None => format!("the {} closed its output, and the {other} never saw the end", passage.side.name()),
    };
    Some(Finding::new(Kind::NoEnd, Some(passage.side), 0, says))
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It had not ended when nobody would wait any longer.
    Never,
}

impl Exit {
    /// The code that a shell would show.
    #[must_use]
    pub fn code(self) -> Option<i32> {
        match self {
            Self::Code(code) => Some(code),
            Self::Signal(signal) => Some(128 + signal),
            Self::Never => None,
        }
    }

    /// In words.
    #[must_use]
    pub fn in_words(self) -> String {
        match self {
            Self::Code(code) => format!("exit code {code}"),
            Self::Signal(signal) => format!("signal {signal}"),
            Self::Never => "no end".to_owned(),
        }
    }
}

/// Whether the recorder ended as the server did. A signal's end may be told as a shell tells it.
#[must_use]
pub fn exit(server: Exit, recorder: Exit) -> Option<Finding> {
    if server.code() == recorder.code() {
        return None;
    }
    let says = match recorder {
        Exit::Never => format!("the server ended with {}, and the recorder kept running", server.in_words()),
        _ => format!(
            "the server ended with {}, and the recorder with {}",
            server.in_words(),
            recorder.in_words()
        ),
    };
    let finding = Finding::new(Kind::OtherExit, None, 0, says);
    Some(finding.sent(server.in_words()).came(recorder.in_words()))
}

/// Where what arrived parts from what was sent.
fn parting(side: Side, sent: &[u8], received: &[u8], whole: bool) -> Option<Finding> {
    let at = sent.iter().zip(received).take_while(|(a, b)| a == b).count();
    let other = side.other().name();
    if at == sent.len() {
        let extra = received.len() - at;
        let finding = || {
            let index = lines(sent).len();
            let says = format!("the {other} received {extra} bytes more than the {} sent", side.name());
            Finding::new(Kind::NotSent, Some(side), index, says).came(excerpt(received, at))
        };
        return (extra > 0).then(finding);
    }
    let index = lines(&sent[..at]).iter().filter(|line| line.whole).count();
    let place = format!("byte {at} of its output, byte {} of {}", at - start(sent, at), named(side, index));
    if at == received.len() {
        let finding = || {
            let missing = sent.len() - at;
            let says =
                format!("the {other} never received the {}'s {missing} bytes from {place} on", side.name());
            Finding::new(Kind::NotReceived, Some(side), index, says).sent(excerpt(sent, at))
        };
        return whole.then(finding);
    }
    let says = format!("what the {} sent and what the {other} received differ from {place} on", side.name());
    let finding = Finding::new(Kind::OtherBytes, Some(side), index, says);
    Some(finding.sent(excerpt(sent, at)).came(excerpt(received, at)))
}

/// Messages whose last byte came too late.
fn late(passage: &Passage<'_>, alike: &[u8], patience: u64) -> Vec<Finding> {
    let mut found = Vec::new();
    for (index, line) in lines(alike).iter().enumerate() {
        let (Some(sent), Some(received)) = (passage.sent.when(line.end), passage.received.when(line.end))
        else {
            continue;
        };
        let sent = sent.max(passage.ready);
        if received > sent.saturating_add(patience) {
            let name = named(passage.side, index);
            let says = format!("{name} was held up for {}", shown(received - sent));
            let finding = Finding::new(Kind::HeldUp, Some(passage.side), index, says);
            found.push(finding.sent(excerpt(alike, line.start)));
        }
    }
    found
}

/// A line of a stream: where it begins, where it ends with its end of line, and whether it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line {
    /// Of its first byte.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// Whether it ends with a line feed.
    pub whole: bool,
}

/// The lines of a stream, the last one without a line feed among them.
#[must_use]
pub fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut start = 0;
    let line = |piece: &[u8]| {
        let line = Line { start, end: start + piece.len(), whole: piece.ends_with(b"\n") };
        start = line.end;
        line
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

/// Where the line begins in which `at` stands.
fn start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1)
}

/// So many bytes are shown around a place.
const AROUND: usize = 30;

pub(super) fn excerpt(bytes: &[u8], at: usize) -> String {
    let from = start(bytes, at).max(at.saturating_sub(AROUND));
    let to = bytes.len().min(at + AROUND);
    let text = String::from_utf8_lossy(&bytes[from..to]);
    let before = if from > start(bytes, at) { "…" } else { "" };
    let after = if to < bytes.len() { "…" } else { "" };
    format!("{before}{text}{after}")
}

#[cfg(test)]
mod tests {
    use super::{Chunk, Exit, Passage, Stream, Terms, bytes, end, exit, lines};
    use crate::drive::judge::Kind;
    use transcript::session::Side;

    fn stream(chunks: &[(u64, &str)], ended: Option<u64>) -> Stream {
        let chunk = |&(at, text): &(u64, &str)| Chunk { at, bytes: text.as_bytes().to_vec() };
        Stream { chunks: chunks.iter().map(chunk).collect(), ended }
    }

    const TERMS: Terms = Terms { patience: Some(1_000), whole: true };

    fn found(sent: &[(u64, &str)], received: &[(u64, &str)], terms: Terms) -> Vec<(Kind, usize, String)> {
        let (sent, received) = (stream(sent, None), stream(received, None));
        let passage = Passage { side: Side::Client, sent: &sent, received: &received, ready: 0 };
        bytes(&passage, terms).into_iter().map(|it| (it.kind, it.index, it.says)).collect()
    }

    #[test]
    fn bytes_may_come_in_other_pieces_and_no_others() {
        let sent = [(0, "{\"a\":1}\n{\"b\":"), (10, "2}\n")];
        assert_eq!(found(&sent, &[(20, "{\"a\""), (20, ":1}\n{\"b\":2}"), (21, "\n")], TERMS), []);
        for (received, kind, index, part) in [
            (
                "{\"a\":1}\n{\"b\":3}\n",
                Kind::OtherBytes,
                1,
                "byte 13 of its output, byte 5 of message 2 of the client",
            ),
            ("{\"a\":1}\r\n{\"b\":2}\n", Kind::OtherBytes, 0, "byte 7 of its output, byte 7 of message 1"),
            ("{\"a\":1}\n", Kind::NotReceived, 1, "the client's 8 bytes from byte 8 of its output"),
            ("", Kind::NotReceived, 0, "never received the client's 16 bytes"),
            ("{\"a\":1}\n{\"b\":2}\n\n", Kind::NotSent, 2, "1 bytes more"),
        ] {
            let found = found(&sent, &[(10, received)], TERMS);
            assert_eq!((found.len(), found[0].0, found[0].1), (1, kind, index), "{received:?}");
            assert!(found[0].2.contains(part), "{}", found[0].2);
        }
    }

    #[test]
    fn a_message_is_late_by_its_last_byte() {
        let sent = [(0, "one\n"), (5_000, "two\n")];
        let whole = Terms { patience: Some(1_000), whole: true };
        assert_eq!(found(&sent, &[(900, "one\n"), (5_900, "two\n")], whole), []);
        // The first one came together with the second, so it was held up: a recorder that buffers.
        let late = found(&sent, &[(5_900, "one\ntwo\n")], whole);
        assert_eq!((late.len(), late[0].0, late[0].1), (1, Kind::HeldUp, 0));
        assert!(late[0].2.contains("held up for 5900 µs"), "{}", late[0].2);
        assert_eq!(found(&sent, &[(900, "one\nt"), (9_000, "wo\n")], whole)[0].1, 1);
        // Whoever is not there yet cannot receive.
        let (early, there) = (stream(&sent, None), stream(&[(5_900, "one\ntwo\n")], None));
        let passage = Passage { side: Side::Client, sent: &early, received: &there, ready: 4_950 };
        assert_eq!(bytes(&passage, whole), []);
        // A reader that is slow itself has nobody to blame.
        assert_eq!(found(&sent, &[(5_900, "one\ntwo\n")], Terms { patience: None, whole: true }), []);
    }

    #[test]
    fn of_a_killed_recorder_a_beginning_is_enough() {
        let terms = Terms { patience: None, whole: false };
        assert_eq!(found(&[(0, "one\ntwo\n")], &[(1, "one\ntw")], terms), []);
        assert_eq!(found(&[(0, "one\ntwo\n")], &[(1, "one\ntv")], terms)[0].0, Kind::OtherBytes);
    }

    #[test]
    fn the_end_has_to_come_too() {
        let ended = |sent, received| {
            let (sent, received) = (stream(&[], sent), stream(&[], received));
            end(&Passage { side: Side::Client, sent: &sent, received: &received, ready: 0 }, 1_000)
                .map(|it| it.says)
        };
        assert_eq!(ended(Some(5), Some(1_005)), None);
        assert_eq!(ended(None, None), None);
        assert!(ended(Some(5), None).unwrap().contains("the server never saw the end"));
        assert!(ended(Some(5), Some(1_006)).unwrap().contains("1001 µs after"));
    }

    #[test]
    fn an_exit_is_the_servers_own() {
        assert_eq!(exit(Exit::Code(7), Exit::Code(7)), None);
        assert_eq!(exit(Exit::Signal(15), Exit::Code(143)), None);
        let found = exit(Exit::Code(7), Exit::Code(0)).unwrap();
        assert_eq!(
            (found.kind, found.sent.as_deref(), found.came.as_deref()),
            (Kind::OtherExit, Some("exit code 7"), Some("exit code 0"))
        );
        assert!(exit(Exit::Code(0), Exit::Never).unwrap().says.contains("kept running"));
    }

    #[test]
    fn a_line_without_an_end_is_a_line() {
        let lines = lines(b"a\n\nbc");
        assert_eq!(
            lines.iter().map(|line| (line.start, line.end, line.whole)).collect::<Vec<_>>(),
            [(0, 2, true), (2, 3, true), (3, 5, false)]
        );
    }
}
