//! From the journals of two peers to what was really sent and received over pipes.

use crate::drive::judge::messages::SentMessage;
use crate::drive::judge::transparency::{Chunk, Exit, Passage, Stream, lines};
use crate::play::MISSING;
use crate::play::journal::{Direction, Entry, Event, micros};
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
        let stream = |notes: &[Entry], wanted: Direction| {
            let mut stream = Stream::default();
            for note in notes {
                match &note.event {
                    Event::Bytes { way, exchange: None, bytes } if *way == wanted => {
                        stream.chunks.push(Chunk { at: note.at, bytes: bytes.0.clone() });
                    }
                    Event::Ended { way, exchange: None, .. } if *way == wanted => {
                        stream.ended = stream.ended.or(Some(note.at));
                    }
                    _ => {}
                }
            }
            stream
        };
        Pipes {
            asked: [stream(&self.client, Direction::Sent), stream(&self.server, Direction::Received)],
            answered: [stream(&self.server, Direction::Sent), stream(&self.client, Direction::Received)],
            ready: self.server.first().map_or(0, |note| note.at),
        }
    }

    /// How the program ended that the client talked to.
    pub(super) fn exit(&self) -> Exit {
        let exit = self.client.iter().rev().find_map(|note| match note.event {
            Event::Exited { code: Some(code), .. } => Some(Exit::Code(code)),
            Event::Exited { signal: Some(signal), .. } => Some(Exit::Signal(signal)),
            _ => None,
        });
        exit.unwrap_or(Exit::Never)
    }

    /// Whether the program that the client talked to was gone soon after it had been told to.
    pub(super) fn ended_after(&self, told: SystemTime, patience: Duration) -> Result<(), String> {
        let told = micros(told.duration_since(UNIX_EPOCH).unwrap_or_default());
        let exited = self.client.iter().find(|note| matches!(note.event, Event::Exited { .. }));
        match exited {
            Some(note) if note.at <= told.saturating_add(micros(patience)) => Ok(()),
            _ => Err("the recorder kept running after it was told to end".to_owned()),
        }
    }

    /// What a peer says of the first message that it waited for in vain, and which peer.
    pub(super) fn missing(&self) -> Option<(Side, &str)> {
        let client = self.client.iter().map(|note| (Side::Client, note));
        client.chain(self.server.iter().map(|note| (Side::Server, note))).find_map(|(side, note)| match &note
            .event
        {
            Event::Mismatch { text } if text.starts_with(MISSING) => Some((side, text.as_str())),
            _ => None,
        })
    }

    /// When our server had played to its end.
    pub(super) fn server_over(&self) -> Option<u64> {
        self.server.iter().rev().find(|note| matches!(note.event, Event::Over { .. })).map(|note| note.at)
    }

    /// How our server ended: with `asked`, where it was told to, or else as it judged its client. None where it never came to
    /// its end.
    pub(super) fn server_exit(&self, asked: i32) -> Option<Exit> {
        let mismatches = self.server.iter().rev().find_map(|note| match note.event {
            Event::Over { mismatches, .. } => Some(mismatches),
            _ => None,
        })?;
        let own = i32::from(mismatches > 0);
        Some(Exit::Code(if asked == 0 { own } else { asked }))
    }
}

impl Pipes {
    /// What the client sent, or what the server sent.
    pub(super) fn passage(&self, side: Side) -> Passage<'_> {
        let [sent, received] = match side {
            Side::Client => &self.asked,
            Side::Server => &self.answered,
        };
        Passage { side, sent, received, ready: self.ready }
    }

    /// The lines of both sides, in the order in which they were sent. What never arrived is due in a recording where `all`
    /// is.
    pub(super) fn said(&self, all: bool) -> Vec<SentMessage> {
        let mut said = Vec::new();
        for side in [Side::Client, Side::Server] {
            let Passage { sent, received, .. } = self.passage(side);
            let (bytes, came) = (sent.bytes(), received.bytes());
            let alike = bytes.iter().zip(&came).take_while(|(a, b)| a == b).count();
            for line in lines(&bytes) {
                let text = &bytes[line.start..line.end];
                if text.trim_ascii().is_empty() {
                    continue;
                }
                let begun = sent.when(line.start + 1).unwrap_or_default();
                let there = received.when(line.end).filter(|_| line.end <= alike);
                said.push(SentMessage {
                    side,
                    stream: 0,
                    exchange: None,
                    begun,
                    there: there.or_else(|| sent.when(line.end)).unwrap_or(begun),
                    text: String::from_utf8_lossy(text).into_owned(),
                    due: (all || there.is_some()) && line.whole,
                });
            }
        }
        said.sort_by_key(|one| one.begun);
        said
    }
}

#[cfg(test)]
mod tests {
    use super::Journals;
    use crate::drive::judge::transparency::Exit;
    use crate::play::journal::{Bytes, Direction, Entry, Event};
    use transcript::session::Side;

    fn notes(what: Vec<(u64, Event)>) -> Vec<Entry> {
        what.into_iter().map(|(at, event)| Entry { at, event }).collect()
    }

    fn bytes(way: Direction, text: &str) -> Event {
        Event::Bytes { way, exchange: None, bytes: Bytes(text.into()) }
    }

    #[test]
    fn lines_have_the_times_of_their_first_and_last_bytes() {
        use Direction::{Received, Sent};
        let journals = Journals {
            client: notes(vec![
                (10, bytes(Sent, "{\"a\":1}\n\n{\"b\"")),
                (20, bytes(Sent, ":2}\n")),
                (50, bytes(Received, "{\"c\":3}\n{\"d")),
                (60, Event::Ended { way: Sent, exchange: None, broken: None }),
                (90, Event::Exited { code: None, signal: Some(9) }),
            ]),
            server: notes(vec![
                (15, bytes(Received, "{\"a\":1}\n")),
                (25, bytes(Received, "\n{\"b\":2}\n")),
                (40, bytes(Sent, "{\"c\":3}\n")),
                (45, bytes(Sent, "{\"d\":4}\n")),
            ]),
        };
        let pipes = journals.pipes();
        let said = pipes.said(false);
        let shown: Vec<_> =
            said.iter().map(|it| (it.text.trim(), it.side, it.begun, it.there, it.due)).collect();
        assert_eq!(
            shown,
            [
                ("{\"a\":1}", Side::Client, 10, 15, true),
                ("{\"b\":2}", Side::Client, 10, 25, true),
                ("{\"c\":3}", Side::Server, 40, 50, true),
                ("{\"d\":4}", Side::Server, 45, 45, false),
            ]
        );
        assert!(pipes.said(true)[3].due);
        assert_eq!(journals.exit(), Exit::Signal(9));
        assert_eq!(
            (pipes.passage(Side::Client).sent.ended, pipes.passage(Side::Client).received.ended),
            (Some(60), None)
        );
    }
}
