//! `mcp-recorder`: the cassette of mcp-recorder (0.5, PyPI): `version`, `metadata`, and `interactions`, each with the
//! `request` of a client and the `response` that came to it.
//!
//! An interaction is read as its request and then its response. The recorder adds one when it is over, so that calls
//! which overlapped stand in the order of their ends. Of an event stream it keeps only the first event as the
//! response, whatever that is: a call whose progress came first holds the notification and has no answer. Answers to a
//! GET, every later event, and batches are gone. `lifecycle` interactions (GET, DELETE) hold no message and are passed
//! over. A response under an HTTP error status that is not JSON-RPC at all carries no message (ENV-NULL).
//!
//! Cannot carry: times, HTTP but for a status, SSE event names and ids, the process, an authorization challenge. What a
//! server says by itself has no place with a request: it is written as an interaction without one, which mcp-recorder's
//! model of a cassette allows and its replay never sends. So is an answer that other messages separate from its request: `convert`
//! refuses such a session. The recorder itself has put every message through Python's
//! JSON: of a member that stood twice only the last is there, `-0` is `0`, `1e400` has become `Infinity`, which is no
//! JSON.

use super::document::{self, Form, Item, Version};
use crate::format::{Format, Items, ReadOptions, Unloadable};
use crate::head::Head;
use crate::input::ReadError;
use crate::session::{OwnedEntry, Session};
use crate::writing::{Spelling, Spoken, WriteLines};
use std::io;
use transcript::json::{Json, JsonKind, write_compact};
use transcript::message::{Id, Message};
use transcript::session::{Carrier, Content, Entry, Location, Side, Sink};

/// The format.
pub(crate) static FORMAT: Format = Format {
    caveat: "mcp-recorder keeps the first event of a stream as its response, and interactions in the order of their ends",
    items: Items::List(&["interactions"]),
    messages: &[&["request"], &["response"]],
    unloadable,
    ..Format::new(
        ["mcp-recorder", "mcp-recorder.json", "a cassette of mcp-recorder: requests, each with its response"],
        sniff,
        |input, options, sink| document::each(input, &FORM, &mut |item| interaction(item, options, sink)),
        Spelling::Lines(|_| Box::new(Cassette::default())),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("interactions") && !["jsonrpc", "events", "entries", "log"].iter().any(|name| head.has(name))
}

const FORM: Form = Form {
    name: "a cassette",
    list: "interactions",
    root: "/interactions/",
    // The recorder reads only cassettes of its own major version.
    version: Version::first("/version", "a cassette of version"),
};

/// Hands on what an interaction holds.
fn interaction(item: &Item<'_, '_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    let &Item { input, location, .. } = item;
    let [request, response, status] =
        item.members("an interaction", ["request", "response", "response_status"])?;
    if request.is_none() && response.is_none() {
        let entry = Entry::new(location, Content::Skipped("an interaction without a message".into()));
        return input.give(entry, 0, sink);
    }
    let status: Option<u16> = status.and_then(|(_, status)| status.as_number()?.parse().ok());
    let halves = [
        (request, Side::Client, Carrier::Request, "/request"),
        (response, Side::Server, Carrier::Response, "/response"),
    ];
    for (held, side, carrier, tail) in halves {
        let Some((at, value)) = held else { continue };
        let location = Location { tail, ..location };
        let entry = Entry { side: Some(side), carrier, ..Entry::new(location, Content::Empty) };
        let failed = carrier == Carrier::Response && status.is_some_and(|status| status >= 400);
        if failed && is_foreign(value) {
            let location = document::located(input, at, location);
            input.give(Entry { location, ..entry }, at, sink)?;
        } else {
            document::give(input, (at, value), entry, options, sink)?;
        }
    }
    Ok(())
}

/// Whether an answer under an error status is not of JSON-RPC at all.
fn is_foreign(value: Json<'_>) -> bool {
    value.kind() == JsonKind::Object
        && value.member("jsonrpc").is_none()
        && Message::parse(value.text()).is_err()
}

/// What mcp-recorder does not load: an answer that is not in the interaction of its request.
fn unloadable(session: &Session) -> Option<Unloadable> {
    let messages = session.entries.iter().filter(|entry| entry.message().is_some());
    let is_apart = |(at, entry): &(u64, &OwnedEntry)| {
        entry.side == Some(Side::Server) && entry.answers.is_some_and(|asked| asked + 1 != *at)
    };
    let mut apart = (0..).zip(messages).filter(is_apart).map(|(_, entry)| entry.location.line);
    let (line, more) = (apart.next()?, apart.count());
    let others = if more > 0 { format!(", and {more} more") } else { String::new() };
    let what =
        format!("the answer on line {line} with its request{others}, since other messages come between");
    Some(Unloadable { what, entries: Vec::new() })
}

#[derive(Default)]
struct Cassette {
    messages: u64,
    /// The client's message before, which is written with the answer that follows it at once. Anything else would be bound to
    /// it by nobody but a replay.
    asked: Option<Asked>,
    begun: bool,
}

struct Asked {
    /// Which message it is.
    number: u64,
    text: Vec<u8>,
    sort: &'static str,
}

impl Cassette {
    /// Writes what was asked with its answer, or one of them.
    fn interaction(&mut self, asked: Option<Asked>, answer: Option<&Message<'_>>, line: &mut Vec<u8>) {
        line.extend_from_slice(if self.begun { b",\n" } else { b"\n" });
        self.begun = true;
        let (sort, text) =
            asked.map_or(("jsonrpc_request", b"null".to_vec()), |asked| (asked.sort, asked.text));
        line.extend_from_slice(format!("    {{\"type\": \"{sort}\", \"request\": ").as_bytes());
        line.extend_from_slice(&text);
        line.extend_from_slice(b", \"response\": ");
        match answer {
            Some(message) => write_compact(message.json(), line),
            None => line.extend_from_slice(b"null"),
        }
        let status = if answer.is_some() { 200 } else { 202 };
        let rest = format!(
            ", \"response_is_sse\": false, \"response_status\": {status}, \"latency_ms\": 0, \"http_method\": null, \
             \"http_path\": null}}"
        );
        line.extend_from_slice(rest.as_bytes());
    }

    /// Writes what was asked and has no answer behind it.
    fn unanswered(&mut self, line: &mut Vec<u8>) {
        if let Some(asked) = self.asked.take() {
            self.interaction(Some(asked), None, line);
        }
    }
}

impl WriteLines for Cassette {
    fn open(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(
            b"{\n  \"version\": \"1.0\",\n  \"metadata\": {\"recorded_at\": \"\", \"server_url\": \"\"},\n  \"interactions\": [",
        );
        Ok(())
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        let number = self.messages;
        self.messages += 1;
        if spoken.side == Side::Server {
            let of = |asked: &mut Asked| spoken.entry.answers == Some(asked.number);
            let asked = self.asked.take_if(of);
            self.unanswered(line);
            self.interaction(asked, Some(&spoken.message), line);
            return Ok(());
        }
        self.unanswered(line);
        let notifies = matches!(spoken.message.id(), Id::Missing);
        let mut asked = Asked {
            number,
            text: Vec::new(),
            sort: if notifies { "notification" } else { "jsonrpc_request" },
        };
        write_compact(spoken.message.json(), &mut asked.text);
        self.asked = Some(asked);
        Ok(())
    }

    fn close(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        self.unanswered(out);
        out.extend_from_slice(if self.begun { b"\n  ]\n}\n" } else { b"]\n}\n" });
        Ok(())
    }
}
