//! From the journals of two peers to what was really sent and received: the pipes of a session or its HTTP exchanges, and
//! the messages in them.

use super::judge::http::{Exchange, pairs};
use super::judge::pairing::SentMessage;
use super::judge::passage::{Passage, Stream, alike, lines};
use crate::http::header;
use crate::journal::{Direction, Entry, JournalEvent, micros};
use crate::play::MISSING;
use crate::stdio::group::Exit;
use formats::sse::{SseBlockKind, SseParser};
use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use transcript::session::Side;

/// What the two peers wrote down.
#[derive(Debug, Default)]
pub(super) struct Journals {
    /// The client's.
    pub(super) client: Vec<Entry>,
    /// The server's; empty where it was never started.
    pub(super) server: Vec<Entry>,
}

/// The two pipes of a session, each as its two ends saw it.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    asked: [Stream; 2],
    answered: [Stream; 2],
    /// When the server was there.
    ready: u64,
}

impl Journals {
    /// What went over pipes.
    pub(super) fn pipes(&self) -> Pipes {
        let stream = |entries: &[Entry], way: Direction| {
            let mut stream = Stream::default();
            let own = |entry: &&Entry| entry.event.stream() == Some((way, None));
            entries.iter().filter(own).for_each(|entry| stream.take(entry));
            stream
        };
        Pipes {
            asked: [stream(&self.client, Direction::Sent), stream(&self.server, Direction::Received)],
            answered: [stream(&self.server, Direction::Sent), stream(&self.client, Direction::Received)],
            ready: self.server.first().map_or(0, |entry| entry.at),
        }
    }

    /// How the program ended that the client talked to; none where it had not.
    pub(super) fn exit(&self) -> Option<Exit> {
        self.client.iter().rev().find_map(|entry| match entry.event {
            JournalEvent::Exited { code: None, signal: None } => None,
            JournalEvent::Exited { code, signal } => Some(Exit { code, signal }),
            _ => None,
        })
    }

    /// Whether the program that the client talked to was gone soon after it was signalled.
    pub(super) fn ended_after(&self, signalled: SystemTime, patience: Duration) -> Result<(), String> {
        let signalled = micros(signalled.duration_since(UNIX_EPOCH).unwrap_or_default());
        let exited = self.client.iter().find(|entry| matches!(entry.event, JournalEvent::Exited { .. }));
        match exited {
            Some(entry) if entry.at <= signalled.saturating_add(micros(patience)) => Ok(()),
            _ => Err("the recorder kept running after it was asked to end".to_owned()),
        }
    }

    /// What a peer says of the first message that it waited for in vain, and which peer.
    pub(super) fn missing(&self) -> Option<(Side, &str)> {
        [(Side::Client, &self.client), (Side::Server, &self.server)].into_iter().find_map(
            |(side, entries)| {
                let text = entries.iter().find_map(|entry| match &entry.event {
                    JournalEvent::Mismatch { text } => Some(text).filter(|text| text.starts_with(MISSING)),
                    _ => None,
                });
                Some((side, text?.as_str()))
            },
        )
    }

    /// When our server had played to its end, and how many mismatches it saw.
    pub(super) fn server_over(&self) -> Option<(u64, u64)> {
        self.server.iter().rev().find_map(|entry| match entry.event {
            JournalEvent::Over { mismatches, .. } => Some((entry.at, mismatches)),
            _ => None,
        })
    }
}

impl Pipes {
    /// What the client sent, or what the server sent.
    pub(super) fn passage(&self, side: Side) -> Passage<'_> {
        let [sent, received] = if side == Side::Client { &self.asked } else { &self.answered };
        Passage { side, sent, received, ready: self.ready }
    }

    /// The lines of both sides, in the order of sending. What never arrived is due in a recording where `all`
    /// is.
    pub(super) fn said(&self, all: bool) -> Vec<SentMessage> {
        let mut said = Vec::new();
        for side in [Side::Client, Side::Server] {
            let Passage { sent, received, .. } = self.passage(side);
            let bytes = sent.bytes();
            let alike = alike(&bytes, &received.bytes());
            for line in lines(&bytes) {
                let text = &bytes[line.start..line.end];
                if text.trim_ascii().is_empty() {
                    continue;
                }
                let begun = sent.when(line.start + 1).unwrap_or_default();
                let arrived = received.when(line.end).filter(|_| line.end <= alike);
                let there = arrived.or_else(|| sent.when(line.end)).unwrap_or(begun);
                let due = (all || arrived.is_some()) && line.whole;
                let text = String::from_utf8_lossy(text).into_owned();
                said.push(SentMessage { side, stream: 0, exchange: None, begun, there, text, due });
            }
        }
        said.sort_by_key(|one| one.begun);
        said
    }
}

/// The exchanges of one peer, in the order they began; `asks` is the way that their requests went.
pub(super) fn exchanges(entries: &[Entry], asks: Direction) -> Vec<Exchange> {
    let mut found: BTreeMap<u64, Exchange> = BTreeMap::new();
    for entry in entries {
        match &entry.event {
            JournalEvent::Asked { exchange, method, target, headers, .. } => {
                let it = found.entry(*exchange).or_default();
                (it.method, it.target) = (method.clone(), target.clone());
                it.asked.clone_from(headers);
            }
            JournalEvent::Answered { exchange, status, headers, .. } => {
                let it = found.entry(*exchange).or_default();
                it.status = Some(*status);
                it.headers.clone_from(headers);
            }
            event => {
                let Some((way, Some(exchange))) = event.stream() else { continue };
                let it = found.entry(exchange).or_default();
                it.broken |= matches!(event, JournalEvent::Ended { broken: Some(_), .. });
                if way == asks { &mut it.body } else { &mut it.answer }.take(entry);
            }
        }
    }
    found.into_values().collect()
}

/// The messages of a session over HTTP. Where the recording keeps whole exchanges and no times within them (`coarse`), a
/// message of a stream may be stamped with the end of its exchange.
pub(super) fn said(client: &[Exchange], server: &[Exchange], all: bool, coarse: bool) -> Vec<SentMessage> {
    let (pairs, _) = pairs(client, server);
    let mut said = Vec::new();
    let (mut stream, mut last) = (0, 0);
    for (index, (asked, answered)) in client.iter().zip(pairs).enumerate() {
        let answered = answered.map(|at| &server[at]);
        let number = index as u64;
        let body = asked.body.bytes();
        if !body.is_empty() {
            let begun = asked.body.when(1).unwrap_or_default();
            let arrived = answered.and_then(|it| it.body.when(body.len()));
            // Requests that were under way at once have no order.
            stream += u64::from(begun < last);
            last = arrived.unwrap_or(begun);
            said.push(SentMessage {
                side: Side::Client,
                stream,
                exchange: Some(number),
                begun,
                there: last,
                text: String::from_utf8_lossy(&body).into_owned(),
                due: all || arrived.is_some(),
            });
        }
        said.extend(answered.into_iter().flat_map(|answered| answers(asked, answered, number, all, coarse)));
    }
    said.sort_by_key(|one| one.begun);
    said
}

/// How many messages the answer of an exchange has, as far as it came.
pub(super) fn heard(exchange: &Exchange) -> usize {
    answers(exchange, exchange, 0, false, false).len()
}

/// The messages of one answer.
fn answers(asked: &Exchange, answered: &Exchange, number: u64, all: bool, coarse: bool) -> Vec<SentMessage> {
    let (sent, received) = (&answered.answer, &asked.answer);
    let bytes = sent.bytes();
    let over = received.ended.or(sent.ended).filter(|_| coarse);
    let one = |text: &[u8], start: usize, end: usize| {
        let begun = sent.when(start + 1).unwrap_or_default();
        let arrived = received.when(end);
        SentMessage {
            side: Side::Server,
            stream: number,
            exchange: Some(number),
            begun,
            there: over.or(arrived).unwrap_or(begun),
            text: String::from_utf8_lossy(text).into_owned(),
            due: all || arrived.is_some(),
        }
    };
    let media = header(&answered.headers, "content-type").unwrap_or_default();
    let is = |name: &str| media.trim_start().to_ascii_lowercase().starts_with(name);
    let mut said = Vec::new();
    if is("text/event-stream") {
        let mut parser = SseParser::default();
        // Byte by byte, so that it is known with which byte an event was whole.
        for (at, byte) in bytes.iter().enumerate() {
            parser.feed(std::slice::from_ref(byte), &mut |event| {
                let named = event.name.is_none_or(|name| name.is_empty() || name == b"message");
                if event.kind == SseBlockKind::Event && named && !event.data.trim_ascii().is_empty() {
                    said.push(one(event.data, usize::try_from(event.at).unwrap_or(at), at + 1));
                }
            });
        }
    } else if is("application/json") && !bytes.trim_ascii().is_empty() {
        said.push(one(&bytes, 0, bytes.len()));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::{Exit, Journals, SentMessage, exchanges, said};
    use crate::journal::Direction::{Received, Sent};
    use crate::journal::read_from;
    use transcript::session::Side;

    /// Both journals of a session over pipes, or of one over HTTP.
    fn journals(over_http: bool) -> Journals {
        let texts = include_str!("journals.txt").split("\n\n").skip(if over_http { 2 } else { 0 });
        let mut read = texts.map(|text| read_from(format!("{}\n", text.trim()).as_bytes()).unwrap());
        Journals { client: read.next().unwrap(), server: read.next().unwrap() }
    }

    fn shown(said: Vec<SentMessage>) -> Vec<(String, Side, u64, u64, bool)> {
        let show = |it: SentMessage| (it.text.trim().to_owned(), it.side, it.begun, it.there, it.due);
        said.into_iter().map(show).collect()
    }

    #[test]
    fn lines_have_the_times_of_their_first_and_last_bytes() {
        let journals = journals(false);
        let pipes = journals.pipes();
        let expected = [
            ("{\"a\":1}".to_owned(), Side::Client, 10, 15, true),
            ("{\"b\":2}".to_owned(), Side::Client, 10, 25, true),
            ("{\"c\":3}".to_owned(), Side::Server, 40, 50, true),
            ("{\"d\":4}".to_owned(), Side::Server, 45, 45, false),
        ];
        assert_eq!(shown(pipes.said(false)), expected);
        assert!(pipes.said(true)[3].due);
        assert_eq!(journals.exit(), Some(Exit { code: None, signal: Some(9) }));
        let asked = pipes.passage(Side::Client);
        assert_eq!((asked.sent.ended, asked.received.ended), (Some(60), None));
    }

    #[test]
    fn exchanges_are_put_together_and_streams_taken_apart() {
        let Journals { client, server } = journals(true);
        let (client, server) = (exchanges(&client, Sent), exchanges(&server, Received));
        assert_eq!((client.len(), client[0].status, client[0].answer.ended), (1, Some(200), Some(19)));
        for (coarse, there) in [(false, 17), (true, 19)] {
            let said = said(&client, &server, true, coarse);
            assert!(said.iter().all(|one| one.exchange == Some(0)));
            let request = ("{\"a\":1}".to_owned(), Side::Client, 2, 2, true);
            assert_eq!(shown(said), [request, ("{\"b\":2}".to_owned(), Side::Server, 5, there, true)]);
        }
    }
}
