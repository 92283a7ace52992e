//! From the journals of two peers to what was really sent and received.
//!
//! Knows: how a journal's notes are put together to streams, exchanges and messages. Refuses to know: what a recorder made
//! of them.

use crate::play::journal::{Note, Way, What};
use formats::sse::{Kind, Parser};
use judge::drive::fidelity::Said;
use judge::drive::http::{Exchange, pairs};
use judge::drive::transparency::{Chunk, Exit, Stream, Way as Passage, lines};
use std::collections::BTreeMap;
use transcript::session::Side;

/// What the two peers wrote down.
#[derive(Debug, Default)]
pub(super) struct Journals {
    /// The client's.
    pub(super) client: Vec<Note>,
    /// The server's; empty where it was never started.
    pub(super) server: Vec<Note>,
}

/// The two pipes of a session, each as its two ends saw it.
#[derive(Debug, Default)]
pub(super) struct Pipes {
    asked: [Stream; 2],
    answered: [Stream; 2],
}

impl Journals {
    /// What went over pipes.
    pub(super) fn pipes(&self) -> Pipes {
        let stream = |notes: &[Note], wanted: Way| {
            let mut stream = Stream::default();
            for note in notes {
                match &note.what {
                    What::Bytes { way, exchange: None, bytes } if *way == wanted => {
                        stream.chunks.push(Chunk { at: note.at, bytes: bytes.0.clone() });
                    }
                    What::Ended { way, exchange: None, .. } if *way == wanted => {
                        stream.ended = stream.ended.or(Some(note.at));
                    }
                    _ => {}
                }
            }
            stream
        };
        Pipes {
            asked: [stream(&self.client, Way::Sent), stream(&self.server, Way::Received)],
            answered: [stream(&self.server, Way::Sent), stream(&self.client, Way::Received)],
        }
    }

    /// How the program ended that the client talked to.
    pub(super) fn exit(&self) -> Exit {
        let exit = self.client.iter().rev().find_map(|note| match note.what {
            What::Exited { code: Some(code), .. } => Some(Exit::Code(code)),
            What::Exited { signal: Some(signal), .. } => Some(Exit::Signal(signal)),
            _ => None,
        });
        exit.unwrap_or(Exit::Never)
    }

    /// The exchanges of a session over HTTP: the client's, and the server's.
    pub(super) fn exchanges(&self) -> [Vec<Exchange>; 2] {
        [exchanges(&self.client, Way::Sent), exchanges(&self.server, Way::Received)]
    }
}

impl Pipes {
    /// What the client sent, or what the server sent.
    pub(super) fn passage(&self, side: Side) -> Passage<'_> {
        let [sent, received] = match side {
            Side::Client => &self.asked,
            Side::Server => &self.answered,
        };
        Passage { side, sent, received }
    }

    /// The lines of both sides, in the order in which they were sent. What never arrived is due in a recording where `all`
    /// is.
    pub(super) fn said(&self, all: bool) -> Vec<Said> {
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
                said.push(Said {
                    side,
                    lane: 0,
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

/// The exchanges of one peer, in the order in which they began; `asks` is the way that their requests went.
fn exchanges(notes: &[Note], asks: Way) -> Vec<Exchange> {
    let mut found: BTreeMap<u64, Exchange> = BTreeMap::new();
    for note in notes {
        match &note.what {
            What::Asked { exchange, method, target, headers, .. } => {
                let it = found.entry(*exchange).or_default();
                (it.method, it.target) = (method.clone(), target.clone());
                it.asked.clone_from(headers);
            }
            What::Answered { exchange, status, headers, .. } => {
                let it = found.entry(*exchange).or_default();
                it.status = Some(*status);
                it.headers.clone_from(headers);
            }
            What::Bytes { way, exchange: Some(exchange), bytes } => {
                let it = found.entry(*exchange).or_default();
                let body = if *way == asks { &mut it.body } else { &mut it.answer };
                body.chunks.push(Chunk { at: note.at, bytes: bytes.0.clone() });
            }
            What::Ended { way, exchange: Some(exchange), broken } => {
                let it = found.entry(*exchange).or_default();
                let body = if *way == asks { &mut it.body } else { &mut it.answer };
                body.ended = body.ended.or(Some(note.at));
                it.broken |= broken.is_some();
            }
            _ => {}
        }
    }
    found.into_values().collect()
}

/// The messages of a session over HTTP. Where the recording keeps whole exchanges and no times within them (`coarse`), a
/// message of a stream may be stamped with the end of its exchange.
pub(super) fn said(client: &[Exchange], server: &[Exchange], all: bool, coarse: bool) -> Vec<Said> {
    let (pairs, _) = pairs(client, server);
    let mut said = Vec::new();
    let (mut lane, mut last) = (0, 0);
    for (index, (asked, answered)) in client.iter().zip(pairs).enumerate() {
        let answered = answered.map(|at| &server[at]);
        let number = index as u64;
        let length = asked.body.bytes().len();
        if length > 0 {
            let begun = asked.body.when(1).unwrap_or_default();
            let arrived = answered.and_then(|it| it.body.when(length));
            // Requests that were under way at once have no order.
            lane += u64::from(begun < last);
            last = arrived.unwrap_or(begun);
            said.push(Said {
                side: Side::Client,
                lane,
                exchange: Some(number),
                begun,
                there: last,
                text: String::from_utf8_lossy(&asked.body.bytes()).into_owned(),
                due: all || arrived.is_some(),
            });
        }
        if let Some(answered) = answered {
            said.extend(answers(asked, answered, number, all, coarse));
        }
    }
    said.sort_by_key(|one| one.begun);
    said
}

/// The messages of one answer.
fn answers(asked: &Exchange, answered: &Exchange, number: u64, all: bool, coarse: bool) -> Vec<Said> {
    let (sent, received) = (&answered.answer, &asked.answer);
    let bytes = sent.bytes();
    let over = received.ended.or(sent.ended).filter(|_| coarse);
    let one = |text: &[u8], start: usize, end: usize| {
        let begun = sent.when(start + 1).unwrap_or_default();
        let arrived = received.when(end);
        Said {
            side: Side::Server,
            lane: number,
            exchange: Some(number),
            begun,
            there: over.or(arrived).unwrap_or(begun),
            text: String::from_utf8_lossy(text).into_owned(),
            due: all || arrived.is_some(),
        }
    };
    let kind = |name: &str| {
        let found = answered.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case("content-type"));
        found.is_some_and(|(_, value)| value.trim_start().to_ascii_lowercase().starts_with(name))
    };
    let mut said = Vec::new();
    if kind("text/event-stream") {
        let mut parser = Parser::default();
        // Byte by byte, so that it is known with which byte an event was whole.
        for (at, byte) in bytes.iter().enumerate() {
            parser.feed(std::slice::from_ref(byte), &mut |event| {
                let named = event.name.is_none_or(|name| name.is_empty() || name == b"message");
                if event.kind == Kind::Event && named && !event.data.trim_ascii().is_empty() {
                    said.push(one(event.data, usize::try_from(event.at).unwrap_or(at), at + 1));
                }
            });
        }
    } else if kind("application/json") && !bytes.trim_ascii().is_empty() {
        said.push(one(&bytes, 0, bytes.len()));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::{Journals, said};
    use crate::play::journal::{Bytes, Note, Way, What};
    use judge::drive::transparency::Exit;
    use transcript::session::Side;

    fn notes(what: Vec<(u64, What)>) -> Vec<Note> {
        what.into_iter().map(|(at, what)| Note { at, what }).collect()
    }

    fn bytes(way: Way, exchange: Option<u64>, text: &str) -> What {
        What::Bytes { way, exchange, bytes: Bytes(text.into()) }
    }

    fn ended(way: Way, exchange: Option<u64>) -> What {
        What::Ended { way, exchange, broken: None }
    }

    #[test]
    fn lines_have_the_times_of_their_first_and_last_bytes() {
        use Way::{Received, Sent};
        let journals = Journals {
            client: notes(vec![
                (10, bytes(Sent, None, "{\"a\":1}\n\n{\"b\"")),
                (20, bytes(Sent, None, ":2}\n")),
                (50, bytes(Received, None, "{\"c\":3}\n{\"d")),
                (60, ended(Sent, None)),
                (90, What::Exited { code: None, signal: Some(9) }),
            ]),
            server: notes(vec![
                (15, bytes(Received, None, "{\"a\":1}\n")),
                (25, bytes(Received, None, "\n{\"b\":2}\n")),
                (40, bytes(Sent, None, "{\"c\":3}\n")),
                (45, bytes(Sent, None, "{\"d\":4}\n")),
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

    #[test]
    fn exchanges_are_put_together_and_streams_taken_apart() {
        let journal = |asks: Way, answers: Way, late: u64| {
            let headers = vec![("Content-Type".to_owned(), "text/event-stream; charset=utf-8".to_owned())];
            notes(vec![
                (
                    1,
                    What::Asked {
                        way: asks,
                        exchange: 0,
                        method: "POST".into(),
                        target: "/mcp".into(),
                        headers: Vec::new(),
                    },
                ),
                (2, bytes(asks, Some(0), "{\"a\":1}")),
                (3, ended(asks, Some(0))),
                (4 + late, What::Answered { way: answers, exchange: 0, status: 200, headers }),
                (5 + late, bytes(answers, Some(0), ": hi\n\nid: 1\ndata: {\"b\"")),
                (7 + late, bytes(answers, Some(0), ":2}\n\nevent: ping\ndata: x\n\n")),
                (9 + late, ended(answers, Some(0))),
            ])
        };
        let journals = Journals {
            client: journal(Way::Sent, Way::Received, 10),
            server: journal(Way::Received, Way::Sent, 0),
        };
        let [client, server] = journals.exchanges();
        assert_eq!((client.len(), client[0].status, client[0].answer.ended), (1, Some(200), Some(19)));
        let shown = |coarse| {
            let said = said(&client, &server, true, coarse);
            said.into_iter().map(|it| (it.text, it.begun, it.there, it.exchange)).collect::<Vec<_>>()
        };
        let request = ("{\"a\":1}".to_owned(), 2, 2, Some(0));
        assert_eq!(shown(false), [request.clone(), ("{\"b\":2}".to_owned(), 5, 17, Some(0))]);
        assert_eq!(shown(true), [request, ("{\"b\":2}".to_owned(), 5, 19, Some(0))]);
    }
}
