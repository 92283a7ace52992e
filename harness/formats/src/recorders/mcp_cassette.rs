//! `mcp-cassette`: the cassette of mcp-cassette (0.3 and 0.4, PyPI): `format_version` 1 to 3, what is known of the recording, and
//! `messages`, each with its `sender` and its `payload`.
//!
//! A payload that is text is a line that was not a JSON object: it rejects the file, or is passed over where leniency is asked for
//! (RPL-NOISE). `t_offset_ms` counts from the start of the recorder, and nothing says when that was: `recorded_at` is its end. So
//! times count from whatever moment that was.
//!
//! Cannot carry: anything of HTTP or SSE but which messages came in one exchange, which is passed over, and so no authorization
//! challenge; the process; when the session was. The recorder itself has put every message through Python's JSON: of a member
//! that stood twice only the last is there, and digits of a fraction beyond the seventeenth are lost; and, unless it was told not
//! to, it has put `REDACTED` in the place of every value whose name has `token`, `secret` or `password` in it, `progressToken`
//! and `maxTokens` among them.

use super::document::{self, Form, Item, Version, wrong};
use crate::format::{Capabilities, Format, Items, ReadOptions};
use crate::head::Head;
use crate::input::ReadError;
use crate::writing::{Spelling, Spoken, WriteLines};
use std::io::{self, Write};
use transcript::json::{JsonString, write_compact};
use transcript::message::{Id, Message, MessageClass, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Side, Sink};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "mcp-cassette writes REDACTED for values whose names contain `token`, such as `progressToken`, unless it runs with --no-default-redactions",
    items: Items::List(&["messages"]),
    messages: &[&["payload"]],
    redacts: &["REDACTED"],
    why_not,
    ..Format::new(
        ["mcp-cassette", "mcp-cassette.json", "a cassette of mcp-cassette: messages, each with its sender"],
        sniff,
        |input, options, sink| document::each(input, &FORM, &mut |item| message(item, options, sink)),
        Spelling::Lines(|_| Box::new(Cassette::default())),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("format_version") && head.has("messages") && !head.has("jsonrpc")
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    (head.has("messages") && !sniff(head) && !head.has("jsonrpc"))
        .then_some("it has `messages` and no `format_version`, as conversations with a model have")
}

const FORM: Form = Form {
    name: "a cassette",
    list: "messages",
    root: "/messages/",
    version: Version {
        pointer: "/format_version",
        is_read: |version| ["1", "2", "3"].contains(&version),
        of: "a cassette of the format",
        read: "1 to 3, as numbers,",
    },
};

fn message(item: &Item<'_, '_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    let [sender, payload, time] =
        item.members("a message of a cassette", ["sender", "payload", "t_offset_ms"])?;
    let name = sender.and_then(|(_, sender)| sender.as_text());
    let side =
        |name: JsonString<'_>| [Side::Client, Side::Server].into_iter().find(|side| name.is(side.name()));
    let Some(side) = name.and_then(side) else {
        let at = sender.map_or(0, |(at, _)| at);
        let said = "a message says in `sender` who sent it: \"client\" or \"server\"";
        return Err(item.refuse(Refusal { at, ..wrong(Code::MissingDir, said) }));
    };
    let Some(payload) = payload else {
        let said = "the message belongs in `payload`, which is missing";
        return Err(item.refuse(wrong(Code::InvalidEntry, said)));
    };
    let entry = Entry {
        time: time.and_then(|(_, time)| time.as_number()?.parse().ok()),
        side: Some(side),
        ..Entry::new(Location { tail: "/payload", ..item.location }, Content::Empty)
    };
    document::give(item.input, payload, entry, options, sink)
}

#[derive(Default)]
struct Cassette {
    messages: u64,
    /// When the first message that has a time was sent.
    start: Option<i64>,
    /// How long after that the last one was.
    now: i64,
}

impl WriteLines for Cassette {
    fn open(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        // When the session was recorded is not known, and the recorder's own reader asks for a time.
        out.extend_from_slice(
            b"{\n  \"format_version\": 3,\n  \"recorded_at\": \"1970-01-01T00:00:00Z\",\n  \"transport\": \"stdio\",\n  \"messages\": [",
        );
        Ok(())
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        if let Some(time) = spoken.entry.time {
            self.now = time.saturating_sub(*self.start.get_or_insert(time));
        }
        line.extend_from_slice(if self.messages == 0 { b"\n" } else { b",\n" });
        let sender = if spoken.side == Side::Server { "server" } else { "client" };
        let (seq, now) = (self.messages, self.now);
        write!(line, "    {{\"seq\": {seq}, \"t_offset_ms\": {now}, \"sender\": \"{sender}\", ")?;
        named(&spoken.message, line)?;
        line.extend_from_slice(b", \"payload\": ");
        write_compact(spoken.message.json(), line);
        line.extend_from_slice(b", \"redacted\": false, \"exchange\": null, \"channel\": null}");
        self.messages += 1;
        Ok(())
    }

    fn close(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(if self.messages == 0 { b"]\n}\n" } else { b"\n  ]\n}\n" });
        Ok(())
    }
}

/// What the recorder says of a message beside it. It does not know ids that are not integers.
fn named(message: &Message<'_>, line: &mut Vec<u8>) -> io::Result<()> {
    let kind = match (message.class(), message.id()) {
        (MessageClass::Call, Id::Missing) => "notification",
        (MessageClass::Call, _) => "request",
        _ => "response",
    };
    write!(line, "\"kind\": \"{kind}\", \"method\": ")?;
    match message.method() {
        Some(method) => write!(line, "\"{}\"", method.raw())?,
        None => line.extend_from_slice(b"null"),
    }
    line.extend_from_slice(b", \"msg_id\": ");
    match message.id() {
        Id::Text(text) => write!(line, "\"{}\"", text.raw()),
        Id::Number(number) if number.parse::<i64>().is_ok() => write!(line, "{number}"),
        _ => write!(line, "null"),
    }
}
