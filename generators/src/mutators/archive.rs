//! How exporters write a HAR: bodies in base64, types with parameters, exchanges in the order they ended; and
//! files that are none.

use crate::format_tree::{FormatTree, change_each, is_archive, rewrite};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use formats::Format;
use transcript::rejection::Code;

mutators! {
    "har-base64" ["HAR-STREAM" "HAR-MESSAGE"] "The bodies of answers are written in base64, all of them or some."
        => Relation::Same, Apply::Bytes(|format, bytes, rng| {
            let all = rng.one_in(2);
            contents(format, bytes, |content| {
                let text = content.get("text").and_then(Node::content).filter(|_| all || rng.one_in(2));
                text.is_some_and(|text| {
                    content.set("text", Node::text(&STANDARD.encode(&text)));
                    content.set("encoding", Node::text("base64"));
                    true
                })
            })
        });
    "har-base64-no-text" ["SRV-BYTES" "HAR-STREAM"] "A stream in base64 has a byte in a comment that is not UTF-8."
        => Relation::Open(Reading::Known), Apply::Bytes(|format, bytes, _| {
            let mut done = false;
            contents(format, bytes, |content| {
                let kind = content.get("mimeType").and_then(Node::content).unwrap_or_default();
                let text = content.get("text").and_then(Node::content).filter(|_| !done);
                let Some(text) = text.filter(|_| kind.starts_with("text/event-stream")) else { return false };
                let text = [b": \xff\n", text.as_bytes()].concat();
                content.set("text", Node::text(&STANDARD.encode(&text)));
                content.set("encoding", Node::text("base64"));
                done = true;
                true
            })
        });
    "har-media-types" ["HAR-STREAM" "HAR-MESSAGE"] "The types of bodies have parameters, and that of a POST's says little."
        => Relation::Same, Apply::Bytes(|format, bytes, rng| {
            exchanges(format, bytes, |entries| {
                let mut took = false;
                for entry in entries {
                    if let Some(posted) = entry.get_mut("request").and_then(|it| it.get_mut("postData")) {
                        let types = ["application/json; charset=utf-8", "text/plain;charset=UTF-8", ""];
                        posted.set("mimeType", Node::text(rng.pick(&types).copied().unwrap_or("")));
                        took = true;
                    }
                    let content = entry.get_mut("response").and_then(|it| it.get_mut("content"));
                    let Some(content) = content else { continue };
                    let Some(kind) = content.get("mimeType").and_then(Node::content) else { continue };
                    if !kind.is_empty() && !kind.contains(';') {
                        let parameters = rng.pick(&[";charset=utf-8", "; charset=UTF-8", " ; x=\"y\""]);
                        let kind = format!("{kind}{}", parameters.copied().unwrap_or_default());
                        content.set("mimeType", Node::text(&kind));
                        typed(entry, &kind);
                        took = true;
                    }
                }
                took
            })
        });
    "har-by-completion" ["HAR-ORDER"] "Exchanges are not in the order of their starts, which are fractions of a millisecond, seconds or time zones apart."
        => Relation::Same, Apply::Bytes(|format, bytes, rng| {
            let form = rng.below(3);
            exchanges(format, bytes, |entries| {
                for (at, entry) in entries.iter_mut().enumerate() {
                    entry.set("startedDateTime", Node::text(&start(at, form)));
                }
                rng.shuffle(entries);
                // There are no more exchanges than a minute has seconds, or they keep their order.
                entries.len() > 1 && entries.len() < 50
            })
        });
    "har-without-entries" ["HAR-MISSING"] "An archive has no log, or a log without an array of entries."
        => Relation::Rejects(Code::MissingEntries), Apply::Spelling(|tree, rng| {
            let forms = [
                "{}",
                r#"{"log":{}}"#,
                r#"{"log":{"version":"1.2","entries":{}}}"#,
                r#"{"log":{"entries":null}}"#,
                r#"{"log":[]}"#,
                r#"{"entries":[]}"#,
            ];
            replace(tree, rng.pick(&forms).and_then(|form| Node::parse(form)))
        });
    "har-bare" ["HAR-MISSING"] "The exchanges of an archive are in a bare array."
        => Relation::Rejects(Code::WrongDocument), Apply::Spelling(|tree, _| {
            let entries =
                tree.values.first().and_then(|document| document.get("log")?.get("entries")).cloned();
            replace(tree, entries)
        });
}

/// Gives the answer's header the same type as its content has.
fn typed(entry: &mut Node, kind: &str) {
    if let Some(Node::Array(headers)) = entry.get_mut("response").and_then(|it| it.get_mut("headers")) {
        let types = |header: &&mut Node| {
            let name = header.get("name").and_then(Node::content);
            name.is_some_and(|name| name.eq_ignore_ascii_case("content-type"))
        };
        headers.iter_mut().filter(types).for_each(|header| header.set("value", Node::text(kind)));
    }
}

/// When an exchange of this number started: tenths of a millisecond, seconds, or seconds in one of two time zones.
fn start(at: usize, form: usize) -> String {
    match form {
        0 => format!("2026-05-12T23:10:00.000{at:02}0Z"),
        1 => format!("2026-05-12T23:10:{at:02}.5Z"),
        _ if at.is_multiple_of(2) => format!("2026-05-12T23:10:{at:02}.000Z"),
        _ => format!("2026-05-13T01:10:{at:02}.000+02:00"),
    }
}

fn replace(tree: &mut FormatTree, document: Option<Node>) -> bool {
    let document = document.filter(|_| is_archive(tree.format));
    let took = document.is_some();
    tree.values.splice(.., document.into_iter().chain(tree.values.clone().into_iter().filter(|_| !took)));
    took
}

fn exchanges(format: &Format, bytes: &mut Vec<u8>, change: impl FnOnce(&mut Vec<Node>) -> bool) -> bool {
    is_archive(format)
        && rewrite(bytes, |document| match document.get_mut("log").and_then(|log| log.get_mut("entries")) {
            Some(Node::Array(entries)) => change(entries),
            _ => false,
        })
}

/// The contents of the answers.
fn contents(format: &Format, bytes: &mut Vec<u8>, mut change: impl FnMut(&mut Node) -> bool) -> bool {
    exchanges(format, bytes, |entries| {
        change_each(entries, |entry| {
            let content = entry.get_mut("response").and_then(|it| it.get_mut("content"));
            content.is_some_and(|content| content.get("encoding").is_none() && change(content))
        })
    })
}
