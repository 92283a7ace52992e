//! How bytes went from one side to the other: whether each of them arrived, and when. The pieces in which they were written
//! and read do not matter. A message is a line.

use super::{Defect, Finding, named, shown};
use crate::journal::{Entry, JournalEvent};
use crate::stdio::group::Exit;
use transcript::session::Side;

/// One end of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    /// What was written or read in one go, in order: right before it was written, or right after it was read.
    pub(crate) chunks: Vec<(u64, Vec<u8>)>,
    /// When it was closed, or its end was seen; none where that never happened.
    pub(crate) ended: Option<u64>,
}

impl Stream {
    /// Takes what a journal has of it.
    pub(crate) fn take(&mut self, entry: &Entry) {
        match &entry.event {
            JournalEvent::Bytes { bytes, .. } => self.chunks.push((entry.at, bytes.0.clone())),
            JournalEvent::Ended { .. } => self.ended = self.ended.or(Some(entry.at)),
            _ => {}
        }
    }

    /// All the bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.chunks.iter().flat_map(|chunk| &chunk.1).copied().collect()
    }

    /// When the first `count` bytes were all there; none where they never were.
    pub(crate) fn when(&self, count: usize) -> Option<u64> {
        let mut sum = 0;
        self.chunks.iter().find_map(|(at, bytes)| {
            sum += bytes.len();
            (sum >= count).then_some(*at)
        })
    }
}

/// What one side sent, and what became of it at the other.
#[derive(Debug)]
pub(crate) struct Passage<'s> {
    /// Who sent.
    pub(crate) side: Side,
    pub(crate) sent: &'s Stream,
    pub(crate) received: &'s Stream,
    /// When everybody was there: what was sent before is on its passage from then on.
    pub(crate) ready: u64,
}

/// What may be asked of the passage.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// How much later than it was sent a message may arrive, in microseconds; none where the receiver was slow itself.
    pub(crate) patience: Option<u64>,
    /// Whether all that was sent has to arrive. Where the recorder was killed, what arrived has to be what was sent first.
    pub(crate) whole: bool,
}

/// Where what arrived first differs from what was sent.
pub(super) struct Parting {
    pub(super) kind: Defect,
    pub(super) at: usize,
    /// How many bytes are missing, or too many.
    pub(super) count: usize,
    sent: Option<String>,
    came: Option<String>,
}

impl Parting {
    pub(super) fn finding(self, side: Side, index: usize, says: String) -> Finding {
        let Self { kind, sent, came, .. } = self;
        Finding { sent, came, ..Finding::new(kind, Some(side), index, says) }
    }
}

impl Passage<'_> {
    /// Where what arrived parts from what was sent; nowhere, where it only ends too early and need not be `whole`.
    pub(super) fn parting(&self, whole: bool) -> Option<Parting> {
        let (sent, received) = (self.sent.bytes(), self.received.bytes());
        let at = alike(&sent, &received);
        let (missing, extra) = (sent.len() - at, received.len() - at);
        let kind = match (missing, extra) {
            (0, 0) => return None,
            (0, _) => Defect::NotSent,
            (_, 0) if !whole => return None,
            (_, 0) => Defect::NotReceived,
            _ => Defect::OtherBytes,
        };
        let shown = |bytes: &[u8]| (at < bytes.len()).then(|| excerpt(bytes, at));
        Some(Parting { kind, at, count: missing.max(extra), sent: shown(&sent), came: shown(&received) })
    }

    /// The lines that arrived as they were sent and whose last byte came too late, with their numbers and by how much.
    pub(super) fn late(&self, patience: u64) -> Vec<(usize, Line, u64)> {
        let sent = self.sent.bytes();
        let delay = |(index, line): (usize, Line)| {
            let (from, to) = (self.sent.when(line.end)?.max(self.ready), self.received.when(line.end)?);
            (to > from.saturating_add(patience)).then(|| (index, line, to - from))
        };
        let arrived = lines(&sent[..alike(&sent, &self.received.bytes())]);
        arrived.into_iter().enumerate().filter_map(delay).collect()
    }
}

/// How the bytes of a pipe came through. At most one finding on bytes, since what comes after the first wrong byte says
/// nothing; and one for each message that was held up.
pub(crate) fn bytes(passage: &Passage<'_>, terms: Terms) -> Vec<Finding> {
    let Passage { side, .. } = *passage;
    let sent = passage.sent.bytes();
    let mut found = Vec::new();
    if let Some(parting) = passage.parting(terms.whole) {
        let Parting { kind, at, count, .. } = parting;
        let (own, other) = (side.name(), side.other().name());
        let index = lines(&sent[..at]).iter().filter(|line| line.whole || kind == Defect::NotSent).count();
        let place =
            || format!("byte {at} of its output, byte {} of {}", at - start(&sent, at), named(side, index));
        let says = match kind {
            Defect::NotSent => format!("the {other} received {count} bytes more than the {own} sent"),
            Defect::NotReceived => {
                format!("the {other} never received the {own}'s {count} bytes from {} on", place())
            }
            _ => format!("what the {own} sent and what the {other} received differ from {} on", place()),
        };
        found.push(parting.finding(side, index, says));
    }
    let late = terms.patience.map(|patience| passage.late(patience));
    found.extend(late.into_iter().flatten().map(|(index, line, delay)| {
        let says = format!("{} was held up for {}", named(side, index), shown(delay));
        Finding::new(Defect::HeldUp, Some(side), index, says).sent(excerpt(&sent, line.start))
    }));
    found
}

/// Whether the end of what was sent came through, and in time.
pub(crate) fn end(passage: &Passage<'_>, patience: u64) -> Option<Finding> {
    let sent = passage.sent.ended?;
    let (own, other) = (passage.side.name(), passage.side.other().name());
    let says = match passage.received.ended {
        Some(at) if at <= sent.saturating_add(patience) => return None,
        Some(at) => {
            let delay = shown(at - sent);
            format!("the {other} saw the end of the {own}'s output {delay} after it was closed")
        }
        None => format!("the {own} closed its output, and the {other} never saw the end"),
    };
    Some(Finding::new(Defect::NoEnd, Some(passage.side), 0, says))
}

/// How a program ended, in words; none where it had not ended when nobody would wait any longer.
pub(crate) fn in_words(exit: Option<Exit>) -> String {
    exit.map_or_else(|| "no end".to_owned(), |exit| exit.to_string())
}

/// Whether the recorder ended as the server did. It may say as a shell does that a signal ended that.
pub(crate) fn exit(server: Exit, recorder: Option<Exit>) -> Option<Finding> {
    if server.shell_code() == recorder.and_then(Exit::shell_code) {
        return None;
    }
    let ended = format!("the server ended with {server}");
    let says = match recorder {
        None => format!("{ended}, and the recorder kept running"),
        Some(exit) => format!("{ended}, and the recorder with {exit}"),
    };
    let finding = Finding::new(Defect::OtherExit, None, 0, says);
    Some(finding.sent(server.to_string()).came(in_words(recorder)))
}

/// How many bytes arrived as they were sent.
pub(crate) fn alike(sent: &[u8], received: &[u8]) -> usize {
    sent.iter().zip(received).take_while(|(a, b)| a == b).count()
}

/// A line of a stream: where it begins, where it ends with its end of line, and whether it has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) whole: bool,
}

/// The lines of a stream, the last one without a line feed among them.
pub(crate) fn lines(bytes: &[u8]) -> Vec<Line> {
    let mut start = 0;
    let line = |piece: &[u8]| {
        let line = Line { start, end: start + piece.len(), whole: piece.ends_with(b"\n") };
        start = line.end;
        line
    };
    bytes.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

/// The beginning of the line that has the byte at `at`.
fn start(bytes: &[u8], at: usize) -> usize {
    bytes[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |before| before + 1)
}

/// How many bytes are shown on either side of a place.
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
pub(crate) mod tests {
    use super::{Exit, Passage, Stream, Terms, bytes, end, exit, lines};
    use crate::drive::judge::Defect;
    use transcript::session::Side;

    pub(crate) fn stream(chunks: &[(u64, &str)], ended: Option<u64>) -> Stream {
        Stream { chunks: chunks.iter().map(|&(at, text)| (at, text.into())).collect(), ended }
    }

    const TERMS: Terms = Terms { patience: Some(1_000), whole: true };

    /// What `times` says of a stream, such as `0 one␊ + 10 two`.
    fn spelled(times: &str) -> Stream {
        let chunk = |chunk: &str| {
            let (at, text) = chunk.split_once(' ')?;
            Some((at.parse().unwrap(), text.replace('␊', "\n").replace('␍', "\r").into_bytes()))
        };
        Stream { chunks: times.split(" + ").filter_map(chunk).collect(), ended: None }
    }

    #[test]
    fn every_byte_must_arrive_in_time_in_whatever_pieces() {
        for row in include_str!("passage.tsv").lines().filter(|row| !row.starts_with('#')) {
            let [sent, received, terms, expected] = row.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let [sent, received] = [sent, received].map(spelled);
            let terms = match terms {
                "" => TERMS,
                terms => Terms { patience: None, whole: terms == "slow" },
            };
            let passage = Passage { side: Side::Client, sent: &sent, received: &received, ready: 0 };
            let found = bytes(&passage, terms);
            let found = found.iter().map(|it| format!("{} {}: {}", it.kind, it.index, it.says));
            let found = found.collect::<Vec<_>>().join("; ");
            assert_eq!(if found.is_empty() { "nothing" } else { &found }, expected, "{row}");
        }
        // Nobody receives before being there.
        let [sent, received] = ["0 one␊ + 5000 two␊", "5900 one␊two␊"].map(spelled);
        let passage = Passage { side: Side::Client, sent: &sent, received: &received, ready: 4_950 };
        assert_eq!(bytes(&passage, TERMS), []);
    }

    #[test]
    fn the_end_must_arrive_too() {
        for (sent, received, part) in [
            (Some(5), Some(1_005), None),
            (None, None, None),
            (Some(5), None, Some("the server never saw the end")),
            (Some(5), Some(1_006), Some("1001 µs after")),
        ] {
            let (sent, received) = (stream(&[], sent), stream(&[], received));
            let passage = Passage { side: Side::Client, sent: &sent, received: &received, ready: 0 };
            let found = end(&passage, 1_000).map(|it| it.says);
            assert_eq!(found.is_some(), part.is_some(), "{found:?}");
            assert!(found.unwrap_or_default().contains(part.unwrap_or_default()), "{part:?}");
        }
    }

    #[test]
    fn the_recorder_exits_as_the_server_does() {
        let code = |code| Exit { code: Some(code), signal: None };
        let signal = Exit { code: None, signal: Some(15) };
        assert_eq!(exit(code(7), Some(code(7))), None);
        assert_eq!(exit(signal, Some(code(143))), None);
        let found = exit(code(7), Some(code(0))).unwrap();
        let texts = (found.sent.as_deref(), found.came.as_deref());
        assert_eq!((found.kind, texts), (Defect::OtherExit, (Some("exit code 7"), Some("exit code 0"))));
        assert!(exit(code(0), None).unwrap().says.contains("kept running"));
    }

    #[test]
    fn a_line_without_an_end_is_a_line() {
        let lines = lines(b"a\n\nbc").into_iter().map(|line| (line.start, line.end, line.whole));
        assert_eq!(lines.collect::<Vec<_>>(), [(0, 2, true), (2, 3, true), (3, 5, false)]);
    }
}
