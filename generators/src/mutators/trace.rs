//! Traces and lists whose frame is broken, and what a recorder leaves that was killed or that heard noise.

use crate::format_tree::{FormatTree, rewrite};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use transcript::rejection::Code;

mutators! {
    "trace-without-meta" ["RPL-META"] "A trace does not begin with its first line, as rotation does it, or has no line at all."
        => Relation::Rejects(Code::MissingMeta), Apply::Spelling(|tree, rng| {
            let form = rng.below(4);
            trace(tree, |lines| match form {
                0 | 1 => drop(lines.remove(0)),
                2 => lines.swap(0, 1),
                _ => lines.clear(),
            })
        });
    "trace-meta-incomplete" ["RPL-META"] "The first line of a trace lacks one of its members, or is of another type."
        => Relation::Rejects(Code::MissingMeta), Apply::Spelling(|tree, rng| {
            let names = ["startedAt", "label", "command", "v", "type", ""];
            let name = rng.pick(&names).copied().unwrap_or_default();
            trace(tree, |lines| match name {
                "" => lines[0].set("type", Node::text("header")),
                name => lines[0].remove(name),
            })
        });
    "trace-version" ["RPL-VERSION"] "A trace is of another version."
        => Relation::Rejects(Code::UnsupportedVersion), Apply::Spelling(|tree, rng| {
            let form =
                rng.pick(&["2", "0", "\"1\"", "10", "-1", "null", "1.5", "true"]).copied().unwrap_or("2");
            trace(tree, |lines| lines[0].set("v", Node::leaf(form)))
        });
    "trace-without-raw" ["RPL-MESSAGE"] "A message line of a trace has no raw."
        => Relation::Rejects(Code::MissingRaw), Apply::Spelling(|tree, rng| {
            let side = if rng.one_in(2) { "in" } else { "out" };
            let more = match rng.one_in(2) {
                true => r#","message":{"jsonrpc":"2.0","method":"ping"}"#,
                false => "",
            };
            let text = format!(r#"{{"t":"2026-05-12T23:00:00.000Z","dir":"{side}"{more}}}"#);
            between(tree, rng, &text)
        });
    "trace-without-dir" ["RPL-MESSAGE"] "A line of a trace has a message and does not say who sent it."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            between(tree, rng, r#"{"t":"2026-05-12T23:00:00.000Z","raw":{"jsonrpc":"2.0","method":"ping"}}"#)
        });
    "trace-second-meta" ["RPL-META" "RPL-END"] "A trace has a second first line: in its midst, or behind its end where another session was appended."
        => Relation::Rejects(Code::SecondMeta), Apply::Spelling(|tree, rng| {
            let at = rng.below(tree.values.len());
            trace(tree, |lines| lines.insert(at + 1, lines[0].clone()))
        });
    "trace-after-end" ["RPL-END"] "A message follows the end of a trace."
        => Relation::Rejects(Code::AfterEnd), Apply::Spelling(|tree, rng| {
            let side = if rng.one_in(2) { "in" } else { "out" };
            let text = format!(
                r#"{{"t":"2026-05-12T23:00:00.000Z","dir":"{side}","raw":{{"jsonrpc":"2.0","method":"late"}}}}"#
            );
            trace(tree, |lines| lines.extend(Node::parse(&text)))
        });
    "trace-end-code" ["RPL-END"] "The last line of a trace says how the server exited: by a signal, or in failure."
        => Relation::Same, Apply::Spelling(|tree, rng| {
            let code = rng.pick(&["143", "1", "-1", "0"]).copied().unwrap_or("1");
            let mut took = false;
            trace(tree, |lines| {
                if let Some(end) =
                    lines.last_mut().filter(|line| line.get("type").is_some_and(|it| it.is("end")))
                {
                    end.set("exitCode", Node::leaf(code));
                    took = true;
                }
            });
            took
        });
    "trace-times-odd" ["RPL-ORDER" "EQ-CONTEXT"] "The times of a trace's lines are missing or invalid."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            let form = rng.pick(&[None, Some("1788256800120"), Some("\"later\""), Some("null")]).copied();
            let form = form.flatten().map(Node::leaf);
            trace(tree, |lines| {
                for line in &mut lines[1..] {
                    match &form {
                        Some(form) => line.set("t", form.clone()),
                        None => line.remove("t"),
                    }
                }
            })
        });
    "trace-without-end" ["RPL-END"] "A trace has no last line, as of a recorder that was killed."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, _| {
            trace(tree, |lines| {
                lines.pop();
            })
        });
    "trace-noise" ["RPL-NOISE"] "The raw of a line is what a server printed beside its messages."
        => Relation::Open(Reading::Known), Apply::Spelling(|tree, rng| {
            let raws = [
                "42",
                "null",
                "true",
                r#""listening""#,
                r#"{"not":"jsonrpc"}"#,
                r#"{"id":0,"level":"info"}"#,
            ];
            let raw = rng.pick(&raws).copied().unwrap_or_default();
            let text = format!(r#"{{"t":"2026-05-12T23:00:00.000Z","dir":"out","raw":{raw}}}"#);
            between(tree, rng, &text)
        });
    "line-no-object" ["JRP-LINE" "ENV-SINGLE"] "One line, item or slot holds JSON and no message."
        => Relation::Rejects(Code::NotAMessage), Apply::Spelling(no_message);
    "inspector-other" ["INS-SHAPE"] "An Inspector's file is neither an array nor an object with events."
        => Relation::Rejects(Code::WrongDocument), Apply::Spelling(|tree, rng| {
            let form = rng.pick(OTHERS).and_then(|form| Node::parse(form)).unwrap_or(Node::leaf("7"));
            let bare = tree.format.is_bare_list();
            if bare {
                tree.values = vec![form];
            }
            bare
        });
    "inspector-events" ["INS-SHAPE"] "An Inspector's entries are in an object, under `events`."
        => Relation::Same, Apply::Bytes(|format, bytes, rng| {
            let mut company = Node::parse(r#"{"version":"1","exportedAt":null,"Events":[7]}"#);
            let company = company.take_if(|_| rng.one_in(2)).unwrap_or(Node::Object(Vec::new()));
            format.is_bare_list()
                && rewrite(bytes, |document| {
                    let mut whole = company;
                    whole.set("events", document.clone());
                    let took = matches!(document, Node::Array(_));
                    *document = whole;
                    took
                })
        });
}

/// Documents that are not Inspector files.
const OTHERS: &[&str] = &[
    "{}",
    r#"{"messages":[]}"#,
    "7",
    "null",
    r#"{"events":null}"#,
    r#"{"events":{"0":{"jsonrpc":"2.0","method":"ping"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
];

fn no_message(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let at = rng.below(tree.values.len() + 1);
    let line = r#"{"t":"2026-05-12T23:00:00.000Z","dir":"in","raw":{"jsonrpc":"2.0","method":"ping"}}"#;
    let bare = rng.pick(&["42", "null", "true", "\"text\"", line]).and_then(|form| Node::parse(form));
    let bare = bare.unwrap_or(Node::leaf("null"));
    let slot = rng.pick(&["0", "false", "\"text\"", "\"\""]).copied().unwrap_or("0");
    let name = if rng.one_in(2) { "request" } else { "response" };
    let scalar = rng.pick(&["42", "null", "\"x\"", "[]"]).copied().unwrap_or("42");
    if tree.format.carries.process {
        return between(tree, rng, scalar);
    }
    if let Some(items) = tree.bare_items() {
        items.insert(at % (items.len() + 1), bare);
        return true;
    }
    let entry = Node::parse(&format!(r#"{{"{name}":{slot}}}"#));
    entry.is_some_and(|entry| tree.insert_entry(rng.next_u64(), entry))
}

fn trace(tree: &mut FormatTree, change: impl FnOnce(&mut Vec<Node>)) -> bool {
    let is_trace = tree.format.carries.process && tree.values.len() > 1;
    if is_trace {
        change(&mut tree.values);
    }
    is_trace
}

/// Puts a line somewhere after `meta` and before `end`.
fn between(tree: &mut FormatTree, rng: &mut Rng, line: &str) -> bool {
    let at = rng.next_u64();
    trace(tree, |lines| {
        let places = lines.len() as u64 - 1;
        let at = 1 + usize::try_from(at % places).unwrap_or_default();
        lines.insert(at, Node::parse(line).unwrap_or(Node::leaf("{}")));
    })
}
