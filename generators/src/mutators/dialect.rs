//! What some readers take for JSON and is none: other dialects of it, and lines in other frames.

use crate::format_tree::{Container, FormatTree};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::Relation;
use crate::rng::Rng;
use transcript::rejection::Code;

mutators! {
    "dialect-value" ["JRP-LINE" "SRV-BYTES"] "A member of a message has a value that JavaScript, Python or a lenient parser reads, and JSON does not."
        => Relation::Rejects(Code::InvalidJson), Apply::Spelling(value);
    "dialect-line" ["JRP-LINE"] "One line has more or less than one JSON text: two messages, half a message, a comment, another framing."
        => Relation::Rejects(Code::InvalidJson), Apply::Bytes(|format, bytes, rng| {
            let form = rng.pick(LINES).copied().unwrap_or("//");
            format.is_bare_lines() && insert_line(bytes, rng, form)
        });
}

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

/// In a body or in an event's string it would be data that is not a message, which is a different fault.
fn value(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let form = rng.pick(VALUES).copied().unwrap_or("NaN");
    tree.first_that(rng, |held, message| {
        let plain = matches!(held, Container::Bare | Container::Exported | Container::Raw | Container::Slot);
        if plain {
            message.set("x-dialect", Node::leaf(form));
        }
        plain
    })
}

/// Puts a line between two others, or before or after them all.
fn insert_line(bytes: &mut Vec<u8>, rng: &mut Rng, line: &str) -> bool {
    let starts = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    let starts: Vec<usize> = std::iter::once(0).chain(starts).collect();
    let at = rng.pick(&starts).copied().unwrap_or_default();
    bytes.splice(at..at, format!("{line}\n").into_bytes());
    true
}
