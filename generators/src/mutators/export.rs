//! The Inspector's own export as the Inspector writes it: answers folded into their requests, times of several forms,
//! and bare messages among the entries.

use crate::format_tree::{FormatTree, change_each, items, rewrite};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::Relation;
use crate::rng::Rng;
use formats::Format;
use transcript::rejection::Code;

mutators! {
    "export-folded" ["INS-EXPORT" "COR-LATE"] "Answers of an export are folded into earlier entries, which may be unrelated; times tell their order."
        => Relation::Same, Apply::Bytes(folded);
    "export-folded-broken" ["INS-EXPORT" "ID-REJECT"] "An answer that is folded into an entry has an id that is none."
        => Relation::Rejects(Code::InvalidId), Apply::Spelling(|tree, rng| {
            let id = rng.pick(&["true", "{}", "[]"]).copied().unwrap_or("true");
            let answer = Node::parse(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            let inspector = tree.format.is_bare_list();
            let entry = items(&mut tree.values).find(|item| inspector && item.get("message").is_some());
            let (Some(entry), Some(answer)) = (entry, answer) else { return false };
            entry.set("response", answer);
            entry.set("duration", Node::leaf("3"));
            true
        });
    "export-mixed" ["INS-EXPORT"] "Notifications of an export are bare messages, which go with the entry before."
        => Relation::Same, Apply::Spelling(mixed);
}

/// Respells every time, so that no two are equal, and folds some answers. The order of the times is that of the file.
fn folded(format: &'static Format, bytes: &mut Vec<u8>, rng: &mut Rng) -> bool {
    // In tenths of a millisecond: what is finer than a millisecond decides, or what is finer than a second, or nothing.
    let step = rng.pick(&[3, 70, 13_000]).copied().unwrap_or(70);
    let fold = !rng.one_in(4);
    let change = |document: &mut Node| {
        let Some(items) = list(document).filter(|items| items.iter().all(is_entry)) else { return false };
        let mut kept: Vec<(u64, Node)> = Vec::new();
        for (at, mut item) in (0..).zip(std::mem::take(items)) {
            let message = item.get("message").cloned();
            let answers = message.as_ref().is_some_and(|it| it.get("method").is_none());
            let mut asked = kept.iter_mut().filter(|(_, asked)| takes(asked, &item)).collect::<Vec<_>>();
            let chosen = rng.below(asked.len());
            match (asked.get_mut(chosen), message) {
                (Some((before, asked)), Some(message)) if fold && answers && !rng.one_in(4) => {
                    asked.set("duration", Node::leaf(tenths((at - *before) * step)));
                    asked.set("response", message);
                }
                _ => {
                    item.set("timestamp", time(at * step, step, rng));
                    kept.push((at, item));
                }
            }
        }
        items.extend(kept.into_iter().map(|(_, item)| item));
        !items.is_empty()
    };
    format.is_bare_list() && rewrite(bytes, change)
}

/// The items, where the document is a list or has one.
fn list(document: &mut Node) -> Option<&mut Vec<Node>> {
    let held = if matches!(document, Node::Array(_)) { document } else { document.get_mut("events")? };
    match held {
        Node::Array(items) => Some(items),
        _ => None,
    }
}

fn is_entry(item: &Node) -> bool {
    item.get("message").is_some() && item.get("timestamp").is_some() && item.get("response").is_none()
}

/// Whether an entry can take an answer in: it has none, it is a request, and its sender is not the answer's.
fn takes(asked: &Node, answer: &Node) -> bool {
    let origin = |item: &Node| item.get("origin").and_then(Node::content);
    let other = origin(asked).is_some() && origin(answer).is_some() && origin(asked) != origin(answer);
    let calls = asked.get("message").is_some_and(|message| message.get("method").is_some());
    other && calls && asked.get("response").is_none()
}

/// Tenths of a millisecond as milliseconds.
fn tenths(tenths: u64) -> String {
    match tenths % 10 {
        0 => (tenths / 10).to_string(),
        rest => format!("{}.{rest}", tenths / 10),
    }
}

/// A moment in one of the forms that hold it.
fn time(tenths: u64, step: u64, rng: &mut Rng) -> Node {
    // 2026-05-12T23:00:00Z.
    const BEGINNING: u64 = 1_778_626_800_000;
    let (seconds, rest) = (tenths / 10_000, tenths % 10_000);
    let clock = |hour: u64| format!("{hour:02}:{:02}:{:02}.{rest:04}", seconds / 60, seconds % 60);
    match rng.below(if step.is_multiple_of(10) { 3 } else { 2 }) {
        0 => Node::text(&format!("2026-05-12T{}Z", clock(23))),
        1 => Node::text(&format!("2026-05-13T{}+02:00", clock(1))),
        _ => Node::leaf((BEGINNING + tenths / 10).to_string()),
    }
}

/// Without its entry nobody knows who sent a message, which matters to what is asked and answered.
fn mixed(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let inspector = tree.format.is_bare_list();
    let plain = |message: &&Node| message.get("method").is_some() && message.get("id").is_none();
    change_each(items(&mut tree.values).filter(|_| inspector).skip(1), |item| {
        let message = item.get("message").filter(plain).filter(|_| !rng.one_in(3)).cloned();
        message.is_some_and(|message| {
            *item = message;
            true
        })
    })
}
