//! What came of a comparison, as JSON; `diff.schema.json` beside this folder says what is in it.
//!
//! Events and values are the text of the recordings: numbers stay as they are spelled there. Memory: the text of the differences
//! that are shown.

use super::Kinds;
use super::side::Side;
use transcript::align::{Counts, Mismatch, OwnedEvent};
use transcript::json::quoted;

/// A comparison on its way to JSON.
#[derive(Debug)]
pub struct Json {
    shown: u64,
    differences: Vec<String>,
    hidden: u64,
    kinds: Kinds,
}

impl Json {
    /// Nothing was compared so far. At most `shown` differences are listed; all are counted.
    #[must_use]
    pub fn new(shown: u64) -> Self {
        Self { shown, differences: Vec::new(), hidden: 0, kinds: Kinds::default() }
    }

    /// Takes the next difference.
    pub fn mismatch(&mut self, mismatch: &Mismatch<'_>) {
        self.kinds.count(mismatch);
        if self.differences.len() as u64 >= self.shown {
            self.hidden += 1;
            return;
        }
        let mut also = String::new();
        let (pointer, a, b) = match mismatch {
            Mismatch::Differs(a, b, found, others) => {
                let others: Vec<String> = others.iter().map(|other| quoted(other)).collect();
                if !others.is_empty() {
                    also = format!(r#""also": [{}], "#, others.join(", "));
                }
                (quoted(&found.pointer), event(a, found.left.as_deref()), event(b, found.right.as_deref()))
            }
            Mismatch::OnlyLeft(a) => (null(), event(a, None), null()),
            Mismatch::OnlyRight(b) => (null(), null(), event(b, None)),
        };
        self.differences.push(format!(r#"{{"pointer": {pointer}, {also}"a": {a}, "b": {b}}}"#));
    }

    /// The whole, with a newline. `names` are what the recordings are called.
    #[must_use]
    pub fn finish(self, counts: &Counts, sides: [&Side; 2], names: [&str; 2]) -> String {
        let recordings = sides.into_iter().zip(names).map(|(side, name)| {
            format!(r#"{{"name": {}, "format": {}}}"#, quoted(name), quoted(side.format.name))
        });
        let kinds = self.kinds.sorted().into_iter().map(|(kind, [differ, only_a, only_b])| {
            let kind = quoted(kind);
            format!(r#"{{"kind": {kind}, "differ": {differ}, "only_a": {only_a}, "only_b": {only_b}}}"#)
        });
        let members = [
            ("same", counts.same().to_string()),
            ("recordings", list(recordings)),
            ("equal", counts.equal.to_string()),
            ("differ", counts.differing.to_string()),
            ("only_a", counts.only_left.to_string()),
            ("only_b", counts.only_right.to_string()),
            ("redacted", counts.redacted.to_string()),
            ("ignored", counts.ignored.to_string()),
            ("kinds", list(kinds)),
            ("differences", list(self.differences.into_iter())),
            ("hidden", self.hidden.to_string()),
        ];
        let lines: Vec<String> =
            members.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// An event with its place, and its value at the place of the difference, if there is one.
fn event(event: &OwnedEvent, value: Option<&str>) -> String {
    let value = value.map_or_else(String::new, |value| format!(r#", "value": {value}"#));
    format!(
        r#"{{"index": {}, "line": {}, "pointer": {}, "event": {}{value}}}"#,
        event.index,
        event.location.line,
        quoted(&event.location.pointer()),
        event.to_json()
    )
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("\n    {item}")).collect();
    if items.is_empty() { "[]".to_owned() } else { format!("[{}\n  ]", items.join(",")) }
}

fn null() -> String {
    "null".to_owned()
}
