//! `inspector`: an array of messages, or an object with such an array under `events`; an item may be an entry of the
//! MCP Inspector's own export (clauses INS-SHAPE, INS-EXPORT).
//!
//! Bare messages come one by one and cost the memory of the largest. An export folds an answer into its request, so
//! from its first entry on everything is held and put in order by time.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process and its exit. As bare
//! messages it carries no sides and no times either; as an export both, but its times are also its order: a session
//! whose times run backwards or are missing goes out with the time before instead, and where none is known at all,
//! with the Unix epoch. Members of an entry that are not named in the clause are lost, `duration` among them:
//! nothing is folded when written.

mod read;

use crate::foreign::of_a_document;
use crate::format::{Capabilities, Format, Items};
use crate::head::Head;
use crate::session::{OwnedEntry, Session};
use crate::time;
use crate::writing::Spelling;
use std::io::{self, Write};
use transcript::json::{JsonKind, write_compact};
use transcript::message::{Message, MessageClass};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    items: Items::List(&[]),
    messages: &[&["message"], &["response"], &[]],
    scripts: &[None],
    clauses: &["INS-"],
    why_not,
    ..Format::new(
        ["inspector", "inspector.json", "an array of messages, or an export of the MCP Inspector"],
        sniff,
        read::read,
        Spelling::Document(write),
    )
};

fn sniff(head: &Head) -> bool {
    // A message has one of these, and so has an entry of an export.
    let could_be = ["jsonrpc", "id", "method", "params", "result", "error", "message"];
    let is_other = head.is_odd_list()
        || head.begins_with_batch()
        || of_a_document(head).is_some()
        || head.first_has_none(&could_be);
    !is_other && (head.kind() == Some(JsonKind::Array) || head.has("events") && !head.has("jsonrpc"))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    let has_messages = head.lines().any(|line| line.contains("\"jsonrpc\":"));
    (head.is_odd_list() && !has_messages).then_some(
        "it begins with `[` as a list does, and what follows is not a message but looks like a log",
    )
}

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let said: Vec<_> = session.entries.iter().filter_map(|entry| Some((entry, entry.message()?))).collect();
    let export = said.iter().any(|(entry, _)| !entry.inferred || entry.time.is_some());
    // An export is put in order by its times, so they may stand still but must not run backwards.
    let mut now = said.iter().find_map(|(entry, _)| entry.time).unwrap_or_default();
    let mut line = Vec::new();
    out.write_all(b"[")?;
    for (index, (entry, message)) in said.iter().enumerate() {
        line.clear();
        line.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        if export {
            now = now.max(entry.time.unwrap_or(now));
            head(index + 1, now, entry, message, &mut line)?;
        }
        write_compact(message.json(), &mut line);
        if export {
            line.push(b'}');
        }
        out.write_all(&line)?;
    }
    out.write_all(b"\n]\n")
}

/// What an entry says ahead of its message. A side that nobody saw is not claimed: it would bind ids otherwise.
fn head(
    number: usize,
    now: i64,
    entry: &OwnedEntry,
    message: &Message<'_>,
    line: &mut Vec<u8>,
) -> io::Result<()> {
    let direction = match message.class() {
        MessageClass::Call if message.id().key().is_some() => "request",
        MessageClass::Call => "notification",
        MessageClass::Result | MessageClass::Error => "response",
    };
    write!(line, r#"{{"id":"{number}","timestamp":"{}","direction":"{direction}","#, time::write(now))?;
    if let Some(side) = entry.side.filter(|_| !entry.inferred) {
        write!(line, r#""origin":"{}","#, side.name())?;
    }
    line.extend_from_slice(b"\"message\":");
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::small::{means, messages, read, rejects, written};
    use proptest::prelude::*;
    use transcript::rejection::Code;

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    #[test]
    fn a_list_far_larger_than_the_window_is_read_whole() {
        let long = format!(r#"{{"jsonrpc":"2.0","id":1,"result":"{}"}}"#, "é".repeat(1_500_000));
        let text = format!("{{\"events\":[{}{long},\n{PONG}]}}", format!("{PING} ,\n").repeat(50_000));
        assert_eq!(read("inspector", &text, false).unwrap().totals.events, 50_002);
        let place =
            rejects("inspector", &text.replace(",\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", ",\n7"));
        assert_eq!(place, (Code::NotAMessage, "JRP-LINE", 50_002, 1, "/events/50001".to_owned()));
    }

    /// Entries with and without sides, times and folded answers, and bare messages among them.
    fn mixed() -> impl Strategy<Value = String> {
        let entry = (
            any::<bool>(),
            prop::option::of(0..30u8),
            prop::option::of(any::<bool>()),
            prop::option::of(0..9u8),
        );
        (messages(), prop::collection::vec(entry, 12)).prop_map(|(messages, entries)| {
            let items: Vec<_> = messages
                .iter()
                .zip(entries)
                .map(|(message, (bare, time, client, took))| {
                    if bare {
                        return message.clone();
                    }
                    let mut item = format!("{{\"message\":{message}");
                    if let Some(time) = time {
                        item += &format!(",\"timestamp\":{time}");
                    }
                    if let Some(client) = client {
                        item += if client { ",\"origin\":\"client\"" } else { ",\"origin\":\"server\"" };
                    }
                    if let Some(took) = took {
                        item += &format!(",\"duration\":{took},\"response\":{PONG}");
                    }
                    item + "}"
                })
                .collect();
            format!("[{}]", items.join(","))
        })
    }

    proptest! {
        #[test]
        fn an_export_written_again_means_the_same_and_stays_as_it_is(text in mixed()) {
            let once = written("inspector", &text, "inspector");
            prop_assert_eq!(means("inspector", &once), means("inspector", &text));
            prop_assert_eq!(written("inspector", &once, "inspector"), once);
        }
    }
}
