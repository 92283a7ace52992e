//! Traces and lists whose frame is broken, and what a recorder leaves that was killed or that heard noise.

use super::dice::Dice;
use super::node::Node;
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use transcript::rejection::Code;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "trace-without-meta",
        sentence: "A trace has lost its first line, as rotation does it.",
        clauses: &["RPL-META"],
        relation: Relation::Rejects(Code::MissingMeta),
        apply: Apply::Spelling(|page, _| {
            trace(page, |lines| {
                lines.remove(0);
            })
        }),
    },
    Mutator {
        name: "trace-meta-incomplete",
        sentence: "The first line of a trace lacks one of its members.",
        clauses: &["RPL-META"],
        relation: Relation::Rejects(Code::MissingMeta),
        apply: Apply::Spelling(|page, dice| {
            let name = dice.pick(&["startedAt", "label", "command"]).copied().unwrap_or_default();
            trace(page, |lines| lines[0].remove(name))
        }),
    },
    Mutator {
        name: "trace-version",
        sentence: "A trace is of another version.",
        clauses: &["RPL-VERSION"],
        relation: Relation::Rejects(Code::UnsupportedVersion),
        apply: Apply::Spelling(|page, dice| {
            let form = dice.pick(&["2", "0", "\"1\"", "10", "-1"]).copied().unwrap_or("2");
            trace(page, |lines| lines[0].set("v", Node::leaf(form)))
        }),
    },
    Mutator {
        name: "trace-without-raw",
        sentence: "A message line of a trace has no raw.",
        clauses: &["RPL-MESSAGE"],
        relation: Relation::Rejects(Code::MissingRaw),
        apply: Apply::Spelling(|page, dice| {
            let side = if dice.one_in(2) { "in" } else { "out" };
            let text = format!(r#"{{"t":"2026-05-12T23:00:00.000Z","dir":"{side}"}}"#);
            between(page, dice, &text)
        }),
    },
    Mutator {
        name: "trace-without-end",
        sentence: "A trace has no last line, as of a recorder that was killed.",
        clauses: &["RPL-END"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|page, _| {
            trace(page, |lines| {
                lines.pop();
            })
        }),
    },
    Mutator {
        name: "trace-noise",
        sentence: "The raw of a line is what a server printed beside its messages.",
        clauses: &["RPL-NOISE"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Spelling(|page, dice| {
            let raws = [
                "42",
                "null",
                "true",
                r#""listening""#,
                r#"{"not":"jsonrpc"}"#,
                r#"{"id":0,"level":"info"}"#,
            ];
            let raw = dice.pick(&raws).copied().unwrap_or_default();
            let text = format!(r#"{{"t":"2026-05-12T23:00:00.000Z","dir":"out","raw":{raw}}}"#);
            between(page, dice, &text)
        }),
    },
    Mutator {
        name: "line-no-object",
        sentence: "One line of the message lines is JSON and no object.",
        clauses: &["JRP-LINE"],
        relation: Relation::Rejects(Code::NotAMessage),
        apply: Apply::Spelling(|page, dice| {
            let form = dice.pick(&["42", "null", "true", "\"text\""]).copied().unwrap_or("42");
            let at = dice.below(page.values.len() + 1);
            let bare = page.format.name == "jsonrpc";
            if bare {
                page.values.insert(at, Node::leaf(form));
            }
            bare
        }),
    },
    Mutator {
        name: "inspector-other",
        sentence: "An Inspector's file is neither an array nor an object with events.",
        clauses: &["INS-SHAPE"],
        relation: Relation::Rejects(Code::WrongDocument),
        apply: Apply::Spelling(|page, dice| {
            let form = dice.pick(&["{}", r#"{"messages":[]}"#, "7", "null"]).copied().unwrap_or("{}");
            let inspector = page.format.name == "inspector";
            if inspector {
                page.values = vec![Node::leaf(form)];
            }
            inspector
        }),
    },
    Mutator {
        name: "inspector-events",
        sentence: "An Inspector's entries stand in an object, under `events`.",
        clauses: &["INS-SHAPE"],
        relation: Relation::Same,
        apply: Apply::Spelling(|page, _| {
            let inspector = page.format.name == "inspector";
            if let Some(list) = page.values.first_mut().filter(|_| inspector) {
                let list = std::mem::replace(list, Node::leaf("null"));
                page.values = vec![Node::Object(vec![("\"events\"".to_owned(), list)])];
            }
            inspector
        }),
    },
];

fn trace(page: &mut Page, change: impl FnOnce(&mut Vec<Node>)) -> bool {
    let is_trace = page.format.name == "mcp-replay" && page.values.len() > 1;
    if is_trace {
        change(&mut page.values);
    }
    is_trace
}

/// Puts a line somewhere after `meta` and before `end`.
fn between(page: &mut Page, dice: &mut Dice, line: &str) -> bool {
    let at = dice.throw();
    trace(page, |lines| {
        let places = lines.len() as u64 - 1;
        let at = 1 + usize::try_from(at % places).unwrap_or_default();
        lines.insert(at, Node::parse(line).unwrap_or(Node::leaf("{}")));
    })
}
