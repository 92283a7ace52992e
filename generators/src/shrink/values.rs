//! A message with something less in it, and the event that this makes of it.
//!
//! Which members of a message the normal form shows, so that both lose the same. Every candidate is simpler: plainly
//! spelled, or with fewer values, a shorter spelling, a 0 where another digit was; so nobody takes candidates for ever.

use crate::node::{Node, names, quoted};
use crate::session_builder::{Entry, KnownEvent};
use std::ops::Range;
use transcript::json::{Json, JsonKind};

/// No value deeper in a tree than this is looked at by itself.
const LEVELS: usize = 64;

/// The candidate with this number; none past the last.
pub(super) fn candidate(entry: &Entry, nth: usize) -> Option<KnownEvent> {
    let message = entry.message.as_ref()?;
    let plainer: Vec<KnownEvent> = [plain(message), named(message)].into_iter().flatten().collect();
    if let Some(plainer) = plainer.get(nth) {
        return Some(plainer.clone());
    }
    let nth = nth - plainer.len();
    let unseen = unseen(message);
    if let Some(&(inside, at)) = unseen.get(nth) {
        return Some(without_member(message, inside, at));
    }
    let nth = nth - unseen.len();
    // A result or an error is what makes the message; params and arguments may go.
    let may_go = usize::from(!message.is_response() && message.clone().value().is_some());
    if nth < may_go {
        return Some(without_value(message));
    }
    let mut smaller = message.clone();
    let (text, event) = smaller.value()?;
    let value = less(text, &mut (nth - may_go), LEVELS, true)?;
    // The normal form has the value as the message has it (EQ-ARGS, EQ-OUTCOME).
    (*text, *event) = (value.clone(), value);
    Some(smaller)
}

/// The message with its members in the usual order and its words without escapes; none where it is like that.
fn plain(message: &KnownEvent) -> Option<KnownEvent> {
    const ORDER: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];
    let mut plain = message.clone();
    let is_text = |node: Option<&Node>| node.and_then(Node::spelled).is_some_and(|it| it.starts_with('"'));
    let method = if message.is("tool_call") { Some(Node::text("tools/call")) } else { None };
    for (name, word) in [
        ("jsonrpc", Some(Node::text("2.0"))),
        ("id", message.meaning.get("id").cloned()),
        ("method", method.or_else(|| message.meaning.get("method").cloned())),
    ] {
        if let (true, Some(word)) = (is_text(plain.text.get(name)), word) {
            plain.text.set(name, word);
        }
    }
    let tool = message.meaning.get("tool").cloned();
    if let (Some(name), Some(tool)) = (plain.text.get_mut("params").and_then(|it| it.get_mut("name")), tool)
        && message.is("tool_call")
    {
        *name = tool;
    }
    if let Node::Object(members) = plain.text.bare_mut() {
        members.sort_by_key(|(key, _)| ORDER.iter().position(|name| names(key, name)).unwrap_or(ORDER.len()));
    }
    (plain.text != message.text).then_some(plain)
}

/// The message with a tool or a method of another name; none where it has that name, or an answer has none.
fn named(message: &KnownEvent) -> Option<KnownEvent> {
    let mut named = message.clone();
    let (text, event, name) = match message.is("tool_call") {
        true => (named.text.get_mut("params")?.get_mut("name")?, named.meaning.get_mut("tool")?, "a"),
        false => (named.text.get_mut("method")?, named.meaning.get_mut("method")?, "ping"),
    };
    let has_one = event.spelled().is_some_and(|spelled| spelled.starts_with('"'));
    if !has_one || event.is(name) {
        return None;
    }
    (*text, *event) = (Node::text(name), Node::text(name));
    Some(named)
}

/// Members that the normal form does not show: in the message itself, or in a tool call's params.
fn unseen(message: &KnownEvent) -> Vec<(bool, usize)> {
    const OUTER: &[&str] = &["jsonrpc", "id", "method", "params", "result", "error"];
    let strange = |node: Option<&Node>, known: &[&str], inside: bool| -> Vec<(bool, usize)> {
        let Some(Node::Object(members)) = node.map(Node::bare) else { return Vec::new() };
        let known = |key: &String| known.iter().any(|name| names(key, name));
        (0..members.len()).filter(|&at| !known(&members[at].0)).map(|at| (inside, at)).collect()
    };
    let mut all = strange(Some(&message.text), OUTER, false);
    if message.is("tool_call") {
        all.extend(strange(message.text.get("params"), &["name", "arguments"], true));
    }
    all
}

fn without_member(message: &KnownEvent, inside: bool, at: usize) -> KnownEvent {
    let mut smaller = message.clone();
    let holder = if inside { smaller.text.get_mut("params") } else { Some(&mut smaller.text) };
    if let Some(Node::Object(members)) = holder.map(Node::bare_mut) {
        members.remove(at);
    }
    smaller
}

fn without_value(message: &KnownEvent) -> KnownEvent {
    let mut smaller = message.clone();
    if message.is("tool_call") {
        if let Some(params) = smaller.text.get_mut("params") {
            params.remove("arguments");
        }
        smaller.meaning.remove("arguments");
    } else {
        smaller.text.remove("params");
        smaller.meaning.remove("params");
    }
    smaller
}

/// The tree with one thing less: at its root for the first numbers, then in its parts.
fn less(node: &Node, nth: &mut usize, levels: usize, root: bool) -> Option<Node> {
    if levels == 0 {
        return None;
    }
    let count = here(node, root);
    if *nth < count {
        return Some(simpler(node, *nth, root));
    }
    *nth -= count;
    match node.bare() {
        Node::Array(items) => (0..items.len()).find_map(|at| {
            let mut items = items.clone();
            items[at] = less(&items[at], nth, levels - 1, false)?;
            Some(Node::Array(items))
        }),
        Node::Object(members) => (0..members.len()).find_map(|at| {
            let part = less(&members[at].1, nth, levels - 1, false)?;
            let mut members = members.clone();
            members[at].1 = part;
            Some(Node::Object(members))
        }),
        _ => None,
    }
}

/// How many simpler values there are for this one. A root stays the array or object that it is.
fn here(node: &Node, root: bool) -> usize {
    match node.bare() {
        Node::Array(items) => chunks(items.len()).len() + if root { 0 } else { 1 + items.len() },
        Node::Object(members) => chunks(members.len()).len() + if root { 0 } else { 1 + members.len() },
        Node::Leaf(spelled) => leaves(spelled).len(),
        _ => 0,
    }
}

fn simpler(node: &Node, nth: usize, root: bool) -> Node {
    let zero = || Node::leaf("0");
    let nth = if root || matches!(node.bare(), Node::Leaf(_)) {
        nth
    } else if nth == 0 {
        return zero();
    } else {
        nth - 1
    };
    match node.bare() {
        Node::Array(items) => match chunks(items.len()).get(nth) {
            Some(gone) => Node::Array(but(items, gone)),
            None => items.get(nth - chunks(items.len()).len()).cloned().unwrap_or_else(zero),
        },
        Node::Object(members) => match chunks(members.len()).get(nth) {
            Some(gone) => Node::Object(but(members, gone)),
            None => members.get(nth - chunks(members.len()).len()).map_or_else(zero, |it| it.1.clone()),
        },
        Node::Leaf(spelled) => leaves(spelled).get(nth).cloned().map_or_else(zero, Node::Leaf),
        other => other.clone(),
    }
}

fn but<T: Clone>(all: &[T], gone: &Range<usize>) -> Vec<T> {
    [&all[..gone.start], &all[gone.end..]].concat()
}

/// All, halves, quarters and so on to the single ones.
fn chunks(count: usize) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut size = count;
    while size > 0 {
        out.extend((0..count).step_by(size).map(|start| start..(start + size).min(count)));
        size /= 2;
    }
    out
}

/// Simpler spellings of a leaf, the simplest first.
fn leaves(spelled: &str) -> Vec<String> {
    if spelled == "0" {
        return Vec::new();
    }
    let mut out = vec!["0".to_owned()];
    let value = Json::parse(spelled).ok();
    match value.map(Json::kind) {
        Some(JsonKind::String) => {
            out.extend(["\"\"".to_owned(), "\"a\"".to_owned()]);
            if let Some(content) = Node::leaf(spelled).content() {
                let letters: Vec<char> = content.chars().collect();
                let (half, count) = (letters.len() / 2, letters.len());
                let parts = [0..half, half..count, 0..count.saturating_sub(1), count.min(1)..count];
                out.extend(parts.map(|part| quoted(&letters[part].iter().collect::<String>())));
            }
        }
        Some(JsonKind::Number) => {
            let cuts = [spelled.len() / 2, spelled.len().saturating_sub(1)];
            out.extend(cuts.iter().map(|&end| spelled[..end].to_owned()));
            out.extend([1, spelled.len() / 2].iter().map(|&start| spelled[start..].to_owned()));
            out.retain(|cut| Json::parse(cut).is_ok_and(|value| value.kind() == JsonKind::Number));
        }
        _ => {}
    }
    // A 0 may stand for another digit; everything else has to be shorter.
    let shorter = |less: &String| less.len() < spelled.len() || less == "0";
    let mut seen = Vec::new();
    out.retain(|less| {
        shorter(less) && !seen.contains(less) && {
            seen.push(less.clone());
            true
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::{candidate, chunks, leaves};
    use crate::session_builder::Entry;
    use transcript::session::Side;

    #[test]
    fn leaves_get_shorter_and_end_at_zero() {
        assert_eq!(leaves("0"), [""; 0]);
        assert_eq!(leaves("7"), ["0"]);
        assert_eq!(leaves("true"), ["0"]);
        assert_eq!(leaves(r#""a""#), ["0", r#""""#]);
        assert!(leaves("-12.5e3").contains(&"-12".to_owned()), "{:?}", leaves("-12.5e3"));
        assert!(leaves(r#""\ud83d""#).contains(&r#""a""#.to_owned()));
        assert!(leaves(r#""añb""#).contains(&r#""ñb""#.to_owned()));
    }

    #[test]
    fn chunks_are_all_then_halves_then_single_ones() {
        assert!(chunks(0).is_empty());
        assert_eq!(chunks(3), [0..3, 0..1, 1..2, 2..3]);
        assert_eq!(chunks(4), [0..4, 0..2, 2..4, 0..1, 1..2, 2..3, 3..4]);
    }

    #[test]
    fn the_message_and_its_event_lose_the_same() {
        let text = r#"{"id":1,"jsonrpc":"\u0032.0","method":"tools\/call","x":1,"params":{"name":"b","_meta":{},"arguments":{"n":[1,{"m":"xyz"}]}}}"#;
        let event = r#"{"kind":"tool_call","tool":"b","arguments":{"n":[1,{"m":"xyz"}]}}"#;
        let entry = Entry::message(Side::Client, text, event, Some("1"));
        let all: Vec<_> = (0..).map_while(|nth| candidate(&entry, nth)).collect();
        assert!(all.len() > 10, "{}", all.len());
        let before = entry.message.unwrap();
        for smaller in &all {
            assert!(
                smaller.text.spell(None).len() < before.text.spell(None).len()
                    || *smaller.text.spell(None) != before.text.spell(None)
            );
            let arguments = smaller.text.get("params").and_then(|params| params.get("arguments"));
            assert_eq!(
                arguments.map(|it| it.spell(None)),
                smaller.meaning.get("arguments").map(|it| it.spell(None))
            );
            assert!(
                smaller.text.get("id").is_some() && smaller.text.get("params").unwrap().get("name").is_some()
            );
        }
        let spelled: Vec<String> = all.iter().map(|it| it.text.spell(None)).collect();
        assert!(
            spelled[0].starts_with(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b","#)
        );
        assert!(spelled[1].contains(r#""name":"a""#) && all[1].meaning.spell(None).contains(r#""tool":"a""#));
        for wanted in [r#""x":1"#, "_meta", "arguments", "xyz"] {
            assert!(spelled.iter().any(|text| !text.contains(wanted)), "{wanted} never goes");
        }
    }
}
