//! What keeps a stream alive and says nothing: comments, retries, priming events, events of other names; and messages
//! whose event has no name of its own.

use super::endpoint::anywhere;
use crate::format_tree::{FormatTree, change_each, has_message};
use crate::mutator::Apply;
use crate::node::{Line, Node};
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::Entry;

mutators! {
    "keepalive-empty" ["SSE-KEEPALIVE"] "An event comes that has no field at all: a comment."
        => Relation::Same, Apply::Session(|builder, rng| anywhere(builder, rng, Entry::event(None, None, None)));
    "keepalive-retry" ["SSE-KEEPALIVE"] "A reconnection time comes without data."
        => Relation::Same, Apply::Session(|builder, rng| {
            let mut entry = Entry::event(None, Some("retry-1"), None);
            if let Some(sse) = &mut entry.owned.sse {
                sse.retry = Some(3000);
            }
            anywhere(builder, rng, entry)
        });
    "keepalive-priming" ["SSE-DATA-TEXT" "SSE-EVENT"] "A priming event comes: an id and empty data, with or without a name."
        => Relation::Same, Apply::Session(|builder, rng| {
            let name = rng.pick(&[None, Some("message"), Some("")]).copied().flatten();
            anywhere(builder, rng, Entry::event(name, Some("0:0"), Some("")))
        });
    "keepalive-text" ["SSE-DATA-TEXT"] "A message event comes whose data is plainly no message."
        => Relation::Same, Apply::Session(|builder, rng| {
            let forms = ["ping", " ", "/path?id=1", r#"{"time":1}"#, r#"{"id":7}"#, "{}"];
            let data = rng.pick(&forms).copied();
            anywhere(builder, rng, Entry::event(Some("message"), None, data))
        });
    "keepalive-other-name" ["SSE-EVENT"] "An event of another name comes, with a message for its data."
        => Relation::Same, Apply::Session(|builder, rng| {
            let names = ["ping", "keepalive", "error", "Message", "messages", " message", "mes"];
            let data = r#"{"jsonrpc":"2.0","id":0,"result":{"from":"nobody"}}"#;
            let name = rng.pick(&names).copied();
            anywhere(builder, rng, Entry::event(name, None, Some(data)))
        });
    "events-unnamed" ["SSE-EVENT" "HAR-STREAM"] "The events of a stream that carry messages have no name, or an empty one."
        => Relation::Same, Apply::Spelling(unnamed_in_streams);
    "entries-unnamed" ["SSE-EVENT"] "The events of an envelope that carry messages have no name, or an empty one."
        => Relation::Open(Reading::Free), Apply::Spelling(unnamed_in_envelopes);
    "stream-comments" ["HAR-STREAM" "SSE-KEEPALIVE"] "Comments, unknown fields and retries come between and inside the events of a stream."
        => Relation::Same, Apply::Spelling(comments);
    "stream-fields" ["HAR-STREAM" "SSE-EVENT"] "A stream begins with events that hold a message and are none by their name or by their fields."
        => Relation::Same, Apply::Spelling(fields);
    "stream-bare-name" ["HAR-STREAM" "SSE-EVENT"] "An event has a name that a field without a colon takes back."
        => Relation::Same, Apply::Spelling(bare_name);
}

fn unnamed_in_envelopes(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let empty = rng.one_in(2);
    let (mut struck, mut message) = (Vec::new(), 0);
    for entry in tree.entries() {
        let carries = has_message(entry);
        let named = |sse: &&mut Node| sse.get("event").is_some_and(|name| name.is("message"));
        if let Some(sse) = entry.get_mut("sse").filter(named) {
            match empty {
                true => sse.set("event", Node::text("")),
                false => sse.remove("event"),
            }
            struck.push(message);
        }
        message += usize::from(carries);
    }
    tree.struck.extend(&struck);
    !struck.is_empty()
}

fn unnamed_in_streams(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let name = if rng.one_in(2) { "event: " } else { ": no name" };
    change_each(tree.streams().flat_map(|stream| &mut stream.lines), |line| {
        let named = matches!(line, Line::Plain(text) if text == "event: message");
        if named {
            *line = Line::Plain(name.to_owned());
        }
        named
    })
}

fn comments(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    const ASIDES: &[&str] = &[": ping - 2026-11-21", ":", "retry: 500", "x-unknown: {}", "id", "retry: soon"];
    before_lines(tree, |_| rng.one_in(2).then(|| vec![rng.pick(ASIDES).copied().unwrap_or(":")]))
}

/// Events without a message, as the lines of each.
const NO_MESSAGES: &[&[&str]] = &[
    &["event: ping", ": a comment", DATA],
    &["event: ping", DATA],
    &[DATA, "event: ping"],
    &["event: message", "event: ping", DATA],
    &[DATA_TRIMMED],
    &[DATA_CAPITAL],
    &["x: y", "event: ping", "id: 7", DATA],
];

const DATA: &str = r#"data: {"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"nobody"}}"#;
const DATA_TRIMMED: &str = r#"data : {"jsonrpc":"2.0","id":0,"method":"ping"}"#;
const DATA_CAPITAL: &str = r#"Data: {"jsonrpc":"2.0","id":0,"method":"ping"}"#;

fn fields(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let (form, mark) = (rng.pick(NO_MESSAGES).copied().unwrap_or_default(), rng.one_in(2));
    // A reader that takes CRLF for two ends parts a name from its data.
    let ends = if rng.one_in(3) { "\r\n" } else { "\n" };
    let mark = if mark { "\u{feff}" } else { "" };
    let text = format!("{mark}{}\n", form.join("\n"));
    change_each(tree.streams(), |stream| {
        stream.lines.splice(0..0, text.split('\n').map(|line| Line::Plain(line.to_owned())));
        stream.ends = vec![ends];
        true
    })
}

fn bare_name(tree: &mut FormatTree, _: &mut Rng) -> bool {
    before_lines(tree, |line| matches!(line, Line::Data(_)).then(|| vec!["event: ping", "event"]))
}

/// Puts other lines before those of streams, wherever there are some for one.
fn before_lines(tree: &mut FormatTree, mut before: impl FnMut(&Line) -> Option<Vec<&'static str>>) -> bool {
    let mut took = false;
    for stream in tree.streams() {
        for line in std::mem::take(&mut stream.lines) {
            if let Some(lines) = before(&line) {
                stream.lines.extend(lines.into_iter().map(|line| Line::Plain(line.to_owned())));
                took = true;
            }
            stream.lines.push(line);
        }
    }
    took
}
