//! The guide's test cases and edge cases, each as entries made by hand: the blocks of `identifications.txt`.
//!
//! A capture is the name of its format, and then a line for each entry: `TIME METHOD MEDIA` is an exchange; `>`, `<`, `~` and `|` are
//! messages in a request, an answer, a stream and a line; `event`, `envelope` and `start` are what has no message. What an entry
//! has besides stands behind commas. `#` is a remark.

use super::{Identification, Identifier, Transport, TransportFinding};
use crate::format::Format;
use crate::tests::holds;
use crate::{find, jsonrpc};
use std::str::FromStr as _;
use transcript::contract::Contract;
use transcript::json::Json;
use transcript::message::Message;
use transcript::session::{Carrier, Content, Context, Entry, Exchange, Headers, Location, Side, Sse};

/// Feeds entries to an identifier as a reader would.
struct Capture {
    contract: Contract,
    identifier: Identifier,
    exchanges: u64,
}

impl Capture {
    fn new(format: &Format) -> Self {
        Self { contract: Contract::default(), identifier: Identifier::new(format), exchanges: 0 }
    }

    fn give(&mut self, entry: &Entry<'_>) {
        let event = self.contract.take(entry).unwrap();
        self.identifier.take(entry, event.as_ref());
    }

    fn entry(&mut self, content: Content<'_>, carrier: Carrier, sse: Option<Sse<'_>>) {
        let side = Some(if carrier == Carrier::Request { Side::Client } else { Side::Server });
        let exchange = (self.exchanges > 0).then_some(self.exchanges);
        self.give(&Entry { side, carrier, sse, exchange, ..Entry::new(Location::default(), content) });
    }

    fn message(&mut self, text: &str, carrier: Carrier) {
        let sse = (carrier == Carrier::Sse).then(Sse::default);
        self.entry(Content::Message(Message::parse(text).unwrap()), carrier, sse);
    }

    fn exchange(&mut self, time: &str, method: &str, media: &str, more: &[(&str, &str)]) {
        let mut exchange = Exchange {
            method: method.into(),
            url: "http://a/mcp".into(),
            status: Some(200),
            media_type: match media {
                "stream" => "text/event-stream",
                "json" => "application/json",
                "-" => "",
                other => other,
            }
            .to_owned(),
            request_headers: headers(more),
            ..Exchange::default()
        };
        for &(name, value) in more {
            match name {
                "ended" => exchange.ended = i64::from_str(value).ok(),
                "fate" => exchange.fate = Some(value.into()),
                "header" => {}
                "status" => exchange.status = u16::from_str(value).ok(),
                "timed" => exchange.timed = true,
                "url" => exchange.url = value.into(),
                other => panic!("{other}"),
            }
        }
        let location =
            Location { root: "/log/entries/", index: Some(self.exchanges), line: 7, ..Location::default() };
        self.exchanges += 1;
        let entry = Entry::new(location, Content::Exchange(&exchange));
        self.give(&Entry { time: Some(time.parse().unwrap()), exchange: Some(self.exchanges), ..entry });
    }

    fn line(&mut self, line: &str) {
        let mut parts = line.split(", ");
        let (word, rest) = parts.next().and_then(|first| first.split_once(' ')).unwrap_or((line, ""));
        let more: Vec<_> = parts.map(|part| part.split_once(' ').unwrap_or((part, ""))).collect();
        let one = |name| more.iter().find(|(other, _)| *other == name).map(|(_, value)| (*value).into());
        match word {
            ">" => self.message(rest, Carrier::Request),
            "<" => self.message(rest, Carrier::Response),
            "~" => self.message(rest, Carrier::Sse),
            "|" => self.message(rest, Carrier::Line),
            _ if line.starts_with("event") => {
                let sse = Sse { name: one("name"), data: one("data"), ..Sse::default() };
                self.entry(Content::Event, Carrier::Sse, Some(sse));
            }
            _ if line.starts_with("envelope") => {
                let context =
                    Context { text: Json::parse("{}").unwrap(), status: None, headers: headers(&more) };
                let location = Location { root: "/transport_context", ..Location::default() };
                self.give(&Entry { context: Some(&context), ..Entry::new(location, Content::Envelope) });
            }
            "start" => {
                let meta = Content::TraceStart(Json::parse(rest).unwrap());
                self.give(&Entry::new(Location::default(), meta));
            }
            time => {
                let (method, media) = rest.split_once(' ').unwrap();
                self.exchange(time, method, media, &more);
            }
        }
    }
}

fn headers<'t>(more: &[(&'t str, &'t str)]) -> Headers<'t> {
    let headers = more.iter().filter(|(name, _)| *name == "header");
    headers.filter_map(|(_, header)| header.split_once(' ')).map(|(n, v)| (n.into(), v.into())).collect()
}

/// All that was found, in a line. A count that the format cannot tell is left out.
fn brief(found: &Identification) -> String {
    let mut out = vec![match found.transport {
        TransportFinding::One(transport) => transport.name().to_owned(),
        other => format!("{other:?}").to_lowercase(),
    }];
    out.extend(found.revision.iter().map(|(revision, source)| format!("{revision} by {}", source.name())));
    let counts = [
        ("requests", found.requests_total),
        ("open", found.connections_active),
        ("sse", found.sse_connections_total),
        ("sse open", found.sse_connections_active),
        ("events", found.sse_events),
        ("messages", Some(found.messages)),
    ];
    out.extend(counts.iter().filter_map(|(name, count)| Some(format!("{name} {}", (*count)?))));
    out.extend(found.responses.map(|it| {
        format!(
            "json {} stream {} 202 {} other {} none {}",
            it.json, it.event_stream, it.accepted, it.other, it.none
        )
    }));
    out.extend(found.stream_durations.map(|it| match it.extremes {
        Some((least, most)) => format!("lasted {least} to {most}, {} in {}", it.total, it.streams),
        None => format!("lasted {} in {}", it.total, it.streams),
    }));
    out.extend(found.both_modes.as_ref().map(|urls| format!("both [{}]", urls.join(" "))));
    out.extend(found.evidence.iter().map(|piece| {
        let (weak, at) = (if piece.weak { "perhaps " } else { "" }, &piece.location);
        let line = at.line.unwrap_or_default();
        format!("{weak}{} for {} at {line}{}", piece.shows, piece.sign, at.pointer)
    }));
    out.join("; ")
}

#[test]
fn a_capture_shows_its_transport_its_revision_and_its_counts() {
    holds(include_str!("../tests/identifications.txt"), |_, text| {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut capture = Capture::new(find(lines.next().unwrap()).unwrap());
        lines.for_each(|line| capture.line(line));
        brief(&capture.identifier.finish())
    });
    assert_eq!(find("streamable-http").map(|format| format.name), Some(Transport::StreamableHttp.name()));
}

#[test]
fn a_flood_of_values_is_counted_in_little_room() {
    let mut capture = Capture::new(&jsonrpc::FORMAT);
    for number in 0..10_000 {
        let long = "x".repeat(100);
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"a","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{number}{long}"}}}}}}"#
        );
        capture.message(&text, Carrier::Request);
    }
    let found = capture.identifier.finish();
    assert_eq!(found.evidence.len(), 8);
    assert!(found.evidence.iter().all(|piece| piece.shows.chars().count() == 41));
    assert!(found.evidence[7].what.ends_with("; 9992 more have yet other values"));
}
