//! What some readers take for JSON and is none: other dialects of it, and lines in other frames.

use super::dice::Dice;
use super::node::Node;
use super::page::{Held, Page};
use super::{Apply, Mutator};
use crate::relation::Relation;
use transcript::rejection::Code;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "dialect-value",
        sentence: "A member of a message has a value that JavaScript, Python or a lenient parser reads, and JSON does not.",
        clauses: &["JRP-LINE", "SRV-BYTES"],
        relation: Relation::Rejects(Code::InvalidJson),
        apply: Apply::Spelling(value),
    },
    Mutator {
        name: "dialect-line",
        sentence: "One line has more or less than one JSON text: two messages, half a message, a comment, another framing.",
        clauses: &["JRP-LINE"],
        relation: Relation::Rejects(Code::InvalidJson),
        apply: Apply::Bytes(|format, bytes, dice| {
            let form = dice.pick(LINES).copied().unwrap_or("//");
            format.name == "jsonrpc" && insert_line(bytes, dice, form)
        }),
    },
];

const VALUES: &[&str] = &[
    "NaN",
    "Infinity",
    "-Infinity",
    "True",
    "None",
    "undefined",
    "'a'",
    "\"a\tb\"",
    "007",
    "+1",
    "0x1F",
    "1.",
    ".5",
    r#""\q""#,
    r#""\x41""#,
    "[1,]",
    r#"{"a":1,}"#,
    "/* a */ 1",
    "{a:1}",
    "1_000",
];

const LINES: &[&str] = &[
    concat!(r#"{"jsonrpc":"2.0","method":"first"}"#, r#" {"jsonrpc":"2.0","method":"second"}"#),
    concat!(r#"{"jsonrpc":"2.0","method":"first"}"#, r#"{"jsonrpc":"2.0","method":"second"}"#),
    concat!(r#"{"jsonrpc":"2.0","method":"first"}"#, "\r", r#"{"jsonrpc":"2.0","method":"second"}"#),
    concat!(r#"{"jsonrpc":"2.0","method":"first"}"#, ","),
    "{\n \"jsonrpc\": \"2.0\",\n \"method\": \"several lines\"\n}",
    concat!("Content-Length: 34\r\n\r\n", r#"{"jsonrpc":"2.0","method":"first"}"#),
    "// a comment",
    "# a comment",
    "data: {\"jsonrpc\":\"2.0\",\"method\":\"first\"}",
    concat!("\u{a0}", r#"{"jsonrpc":"2.0","method":"first"}"#),
    concat!(r#"{"jsonrpc":"2.0","method":"first"}"#, "\u{2028}"),
    "\u{3000}",
];

/// In a body or in an event's string it would be data that is no message, which is another matter.
fn value(page: &mut Page, dice: &mut Dice) -> bool {
    let form = dice.pick(VALUES).copied().unwrap_or("NaN");
    page.first_that(dice, |held, message| {
        let plain = matches!(held, Held::Bare | Held::Exported | Held::Raw | Held::Slot);
        if plain {
            message.set("x-dialect", Node::leaf(form));
        }
        plain
    })
}

/// Puts a line between two others, or before or after them all.
fn insert_line(bytes: &mut Vec<u8>, dice: &mut Dice, line: &str) -> bool {
    let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let at = dice.pick(&starts).copied().unwrap_or_default();
    bytes.splice(at..at, format!("{line}\n").into_bytes());
    true
}
