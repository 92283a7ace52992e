//! One JSON value, many spellings; and values that only look alike.

use crate::format_tree::FormatTree;
use crate::mutator::Apply;
use crate::node::{Node, Whitespace, escaped};
use crate::open_clauses::same_name;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::SessionBuilder;
use transcript::json::Json;

mutators! {
    "json-white-space" ["EQ-PAIR"] "White space is wherever JSON allows it."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            let lines: &[&str] = &["", " ", "\t", "  "];
            let document: &[&str] = &["", " ", "\t", "\n", "\r\n", "\r", "\n    "];
            let between = if tree.format.is_lines() { lines } else { document };
            tree.space = Some(Whitespace { between, rng: rng.clone() });
            true
        });
    "json-escapes" ["EQ-ARGS" "EQ-OUTCOME" "ID-STRING"] "Names and strings are written with escapes, of pairs where a character is beyond the first plane."
        => Relation::Same, Apply::Spelling(escapes);
    "json-plain" ["EQ-ARGS" "EQ-OUTCOME" "ID-STRING"] "Strings are written with as few escapes as JSON allows."
        => Relation::Same, Apply::Spelling(|tree, _| {
            let mut took = false;
            strings(tree, &mut |spelled, content| {
                let plain = crate::node::quoted(content);
                took |= plain != *spelled;
                *spelled = plain;
            });
            took
        });
    "json-member-order" ["EQ-ARGS" "EQ-OUTCOME"] "Members are in another order, in messages and around them."
        => Relation::Same, Apply::Spelling(member_order);
    "json-number-spellings" ["EQ-ARGS" "EQ-OUTCOME"] "Numbers in values are written otherwise and denote the same decimal number."
        => Relation::Same, Apply::Spelling(numbers);
    "json-normalisation" ["EQ-ARGS" "EQ-OUTCOME"] "A string has a character in one normalisation form where it had another: another string."
        => Relation::Changes, Apply::Session(|builder, rng| {
            one_of(builder, rng, &["\"é\"", "\"e\u{301}\"", "\"\u{212b}\"", "\"\u{c5}\"", "\"ﬁ\"", "\"fi\""])
        });
    "json-precision" ["EQ-ARGS" "EQ-OUTCOME"] "A value becomes a number that no double holds, or a neighbour of one."
        => Relation::Changes, Apply::Session(|builder, rng| {
            one_of(
                builder,
                rng,
                &[
                    "9007199254740993",
                    "9007199254740992",
                    "1e400",
                    "0.1000000000000000055511151231257827",
                    "-0.0",
                    "12345678901234567890",
                    "1E-400",
                ],
            )
        });
    "json-controls" ["EQ-ARGS" "EQ-OUTCOME"] "A value becomes a string with controls, line separators and characters of every width."
        => Relation::Changes, Apply::Session(|builder, rng| {
            one_of(
                builder,
                rng,
                &[
                    "\"\\u0000\\u001f\\u007f\"",
                    "\"\u{2028}\u{2029}\u{85}\"",
                    "\"a\\nb\\rc\\r\\nd\"",
                    "\"\u{feff}x\"",
                    "\"\u{10ffff}\u{e000}\"",
                    "\"data: x\\n\\n\"",
                ],
            )
        });
    "json-null-or-nothing" ["EQ-ARGS" "EQ-OUTCOME"] "A value becomes null, an empty object or an empty array, which are three things."
        => Relation::Changes, Apply::Session(|builder, rng| {
            one_of(builder, rng, &["null", "{}", "[]", "\"\"", "false", "0"])
        });
    "json-lone-surrogate" ["SRV-TWICE"] "A value becomes a string with half of a pair, as an escape."
        => Relation::Open(Reading::Free), Apply::Session(|builder, rng| {
            one_of(builder, rng, &[r#""\ud83d""#, r#""\udc00 x""#, r#""\ude00\ud83d""#])
        });
    "json-twice-in-value" ["SRV-TWICE"] "A value becomes an object that names a member twice."
        => Relation::Open(Reading::Free), Apply::Session(|builder, rng| {
            one_of(builder, rng, &[r#"{"a":1,"a":2}"#, r#"{"a":1,"\u0061":1}"#])
        });
    "json-twice-in-message" ["SRV-TWICE"] "A member that decides what a message is occurs twice in it."
        => Relation::Open(Reading::Free), Apply::Spelling(twice);
}

/// Gives one message's value one of these.
pub(super) fn one_of(builder: &mut SessionBuilder, rng: &mut Rng, values: &[&str]) -> bool {
    let value = rng.pick(values).copied().unwrap_or("null");
    plant(builder, rng, value)
}

/// Gives one message's value another one, in the message and in the event.
pub(super) fn plant(builder: &mut SessionBuilder, rng: &mut Rng, value: &str) -> bool {
    let mut those = builder.messages_where(|_| true);
    rng.shuffle(&mut those);
    for at in those {
        let Some(message) = &mut builder.entries[at].message else { continue };
        // An `error` keeps its shape.
        let is_error = message.is("error");
        if let Some((text, event)) = message.value().filter(|_| !is_error) {
            let Some(value) = Node::parse(value) else { return false };
            (*text, *event) = (value.clone(), value);
            return true;
        }
    }
    false
}

/// Every string of the file that does not belong to a frame: name or value, by its spelling and its content.
fn strings(tree: &mut FormatTree, each: &mut dyn FnMut(&mut String, &str)) {
    let mut visit = |spelled: &mut String| {
        let content =
            Json::parse(spelled).ok().and_then(|it| it.as_text()?.to_str().map(|text| text.into_owned()));
        if let Some(content) = content {
            each(spelled, &content);
        }
    };
    tree.each(&mut |_, message| {
        message.walk(&mut |node| {
            match node {
                Node::Leaf(spelled) => visit(spelled),
                Node::Object(members) => members.iter_mut().for_each(|(name, _)| visit(name)),
                _ => {}
            }
            true
        });
    });
}

fn escapes(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let (all, mut took) = (rng.one_in(2), false);
    strings(tree, &mut |spelled, content| {
        if all || rng.one_in(3) {
            *spelled = format!("\"{}\"", escaped(content));
            took = true;
        }
    });
    took
}

fn member_order(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let mut took = false;
    for value in &mut tree.values {
        value.walk(&mut |node| {
            if let Node::Object(members) = node {
                // Members of one name must keep their order among themselves.
                let twice = (0..members.len())
                    .any(|at| members[..at].iter().any(|(other, _)| same_name(other, &members[at].0)));
                if !twice && members.len() > 1 {
                    rng.shuffle(members);
                    took = true;
                }
            }
            true
        });
    }
    took
}

fn numbers(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let mut took = false;
    tree.each(&mut |_, message| {
        for name in ["params", "result", "error"] {
            let Some(value) = message.get_mut(name) else { continue };
            value.walk(&mut |node| {
                if let Node::Leaf(spelled) = node
                    && let Some(other) = respelled(spelled, rng.below(4))
                {
                    *spelled = other;
                    took = true;
                }
                true
            });
        }
    });
    took
}

/// Another spelling of an integer.
fn respelled(number: &str, form: usize) -> Option<String> {
    let digits = number.strip_prefix('-').unwrap_or(number);
    if digits.is_empty() || number == "-0" || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    Some(match form {
        0 => format!("{number}.0"),
        1 => format!("{number}e0"),
        2 if digits != "0" => format!("{number}0E-1"),
        _ => format!("{number}.00e+00"),
    })
}

/// An envelope's message that occurs twice is another matter; here it is a member of the message's own, or the
/// name of a tool.
fn twice(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let (name, other) = (rng.pick(&["jsonrpc", "id", "method", "name", "result"]).copied(), rng.one_in(2));
    let name = name.unwrap_or("id");
    tree.first_that(rng, |_, message| {
        let called = message.get("method").is_some_and(|method| method.is("tools/call"));
        let holder = match name {
            "name" if called => message.get_mut("params"),
            "name" => None,
            _ => Some(message),
        };
        let Some(holder) = holder else { return false };
        let Some(value) = holder.get(name).cloned() else { return false };
        let value = if other && matches!(name, "method" | "name") { Node::text("another") } else { value };
        let Node::Object(members) = holder.bare_mut() else { return false };
        members.push((crate::node::quoted(name), value));
        true
    })
}
