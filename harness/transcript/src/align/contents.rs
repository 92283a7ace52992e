//! What two events say, value by value.

use crate::diff::{Comparison, DiffOptions, Difference, PointerPattern, first_below};
use crate::meaning::{Event, EventKind};
use crate::message::Message;

/// Compares what two events of one kind say, under the rules; their ids and what they answer are left aside.
#[must_use]
pub fn contents(left: &Event<'_>, right: &Event<'_>, rules: &DiffOptions) -> Comparison {
    let mut found = Comparison::default();
    if !matches!(left.kind, EventKind::ToolCall) && left.message.method() != right.message.method() {
        let method = |message: Message<'_>| message.method().map(|method| format!("\"{}\"", method.raw()));
        let (left, right) = (method(left.message), method(right.message));
        found.difference = Some(Difference { pointer: "/method".to_owned(), left, right });
        return found;
    }
    let right: Vec<_> = right.values().collect();
    let left: Vec<_> = left.values().collect();
    let names = left.iter().map(|value| value.0).chain(right.iter().map(|value| value.0));
    let mut done = Vec::new();
    for name in names {
        if done.contains(&name) {
            continue;
        }
        done.push(name);
        if leaves_out(rules, name) {
            found.add(Comparison { ignored: 1, ..Comparison::default() });
            continue;
        }
        let find = |values: &[(&str, _)]| values.iter().find(|value| value.0 == name).map(|value| value.1);
        found.add(match (find(&left), find(&right)) {
            (Some(a), Some(b)) => first_below(vec![name.to_owned()], a, b, rules),
            (a, b) => {
                let text = |value: Option<crate::json::Json<'_>>| value.map(|value| value.text().to_owned());
                let (left, right) = (text(a), text(b));
                let difference = Some(Difference { pointer: format!("/{name}"), left, right });
                Comparison { difference, ..Comparison::default() }
            }
        });
    }
    found
}

/// Whether the rules leave out a whole member of the normal form.
pub(super) fn leaves_out(rules: &DiffOptions, name: &str) -> bool {
    let path = [name.to_owned()];
    rules.ignore.iter().any(|pattern: &PointerPattern| pattern.matches(&path))
}
