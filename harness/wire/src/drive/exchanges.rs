//! From the journals of two peers to the exchanges of a session over HTTP, and to the messages in them.

use crate::drive::judge::http::{Exchange, pairs};
use crate::drive::judge::messages::SentMessage;
use crate::drive::judge::transparency::Chunk;
use crate::http::header;
use crate::play::journal::{Direction, Entry, Event};
use formats::sse::{SseBlockKind, SseParser};
use std::collections::BTreeMap;
use transcript::session::Side;

/// The exchanges of one peer, in the order in which they began; `asks` is the way that their requests went.
pub(super) fn exchanges(notes: &[Entry], asks: Direction) -> Vec<Exchange> {
    let mut found: BTreeMap<u64, Exchange> = BTreeMap::new();
    for note in notes {
        match &note.event {
            Event::Asked { exchange, method, target, headers, .. } => {
                let it = found.entry(*exchange).or_default();
                (it.method, it.target) = (method.clone(), target.clone());
                it.asked.clone_from(headers);
            }
            Event::Answered { exchange, status, headers, .. } => {
                let it = found.entry(*exchange).or_default();
                it.status = Some(*status);
                it.headers.clone_from(headers);
            }
            Event::Bytes { way, exchange: Some(exchange), bytes } => {
                let it = found.entry(*exchange).or_default();
                let body = if *way == asks { &mut it.body } else { &mut it.answer };
                body.chunks.push(Chunk { at: note.at, bytes: bytes.0.clone() });
            }
            Event::Ended { way, exchange: Some(exchange), broken } => {
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
pub(super) fn said(client: &[Exchange], server: &[Exchange], all: bool, coarse: bool) -> Vec<SentMessage> {
    let (pairs, _) = pairs(client, server);
    let mut said = Vec::new();
    let (mut stream, mut last) = (0, 0);
    for (index, (asked, answered)) in client.iter().zip(pairs).enumerate() {
        let answered = answered.map(|at| &server[at]);
        let number = index as u64;
        let length = asked.body.bytes().len();
        if length > 0 {
            let begun = asked.body.when(1).unwrap_or_default();
            let arrived = answered.and_then(|it| it.body.when(length));
            // Requests that were under way at once have no order.
            stream += u64::from(begun < last);
            last = arrived.unwrap_or(begun);
            said.push(SentMessage {
                side: Side::Client,
                stream,
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
    let kind = |name: &str| media.trim_start().to_ascii_lowercase().starts_with(name);
    let mut said = Vec::new();
    if kind("text/event-stream") {
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
    } else if kind("application/json") && !bytes.trim_ascii().is_empty() {
        said.push(one(&bytes, 0, bytes.len()));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::{exchanges, said};
    use crate::play::journal::{Bytes, Direction, Entry, Event};

    fn notes(what: Vec<(u64, Event)>) -> Vec<Entry> {
        what.into_iter().map(|(at, event)| Entry { at, event }).collect()
    }

    fn bytes(way: Direction, exchange: Option<u64>, text: &str) -> Event {
        Event::Bytes { way, exchange, bytes: Bytes(text.into()) }
    }

    fn ended(way: Direction, exchange: Option<u64>) -> Event {
        Event::Ended { way, exchange, broken: None }
    }

    #[test]
    fn exchanges_are_put_together_and_streams_taken_apart() {
        let journal = |asks: Direction, answers: Direction, late: u64| {
            let headers = vec![("Content-Type".to_owned(), "text/event-stream; charset=utf-8".to_owned())];
            notes(vec![
                (
                    1,
                    Event::Asked {
                        way: asks,
                        exchange: 0,
                        method: "POST".into(),
                        target: "/mcp".into(),
                        headers: Vec::new(),
                    },
                ),
                (2, bytes(asks, Some(0), "{\"a\":1}")),
                (3, ended(asks, Some(0))),
                (4 + late, Event::Answered { way: answers, exchange: 0, status: 200, headers }),
                (5 + late, bytes(answers, Some(0), ": hi\n\nid: 1\ndata: {\"b\"")),
                (7 + late, bytes(answers, Some(0), ":2}\n\nevent: ping\ndata: x\n\n")),
                (9 + late, ended(answers, Some(0))),
            ])
        };
        let client = exchanges(&journal(Direction::Sent, Direction::Received, 10), Direction::Sent);
        let server = exchanges(&journal(Direction::Received, Direction::Sent, 0), Direction::Received);
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
