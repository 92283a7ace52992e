//! Events by fingerprints of their normal forms, so that many are distinguished without comparing them value by value.

use super::contents::leaves_out;
use crate::call_ids::fingerprint;
use crate::diff::DiffOptions;
use crate::json::{Json, JsonKind, JsonString, Tree, write_number};
use crate::meaning::{Event, EventKind};

/// What is compared of an event, as fingerprints of 128 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// All of it: under rules without a redaction marker, two events are equal where this is.
    pub all: u128,
    /// All but values.
    pub(super) frame: u128,
    /// A redacted value stands in it, which equals any other.
    pub hides: bool,
}

impl Key {
    /// The key of an event under the rules; with its id, or without.
    #[must_use]
    pub fn new(event: &Event<'_>, rules: &DiffOptions, with_id: bool) -> Self {
        let mut form = NormalForm { rules, bytes: Vec::new(), hides: false };
        form.part(event.kind.name().as_bytes());
        if let Some(id) = event.id.as_deref().filter(|_| with_id) {
            form.part(id);
        }
        if let Some(method) = event.message.method().filter(|_| event.kind != EventKind::ToolCall) {
            form.part(&method.decode());
        }
        let frame = fingerprint(&form.bytes);
        for (name, value) in event.values().filter(|(name, _)| !leaves_out(rules, name)) {
            form.part(name.as_bytes());
            form.value(name, value);
        }
        Self { all: fingerprint(&form.bytes), frame, hides: form.hides }
    }
}

/// Bytes that are equal for values that are, under rules without a redaction marker.
struct NormalForm<'r> {
    rules: &'r DiffOptions,
    bytes: Vec<u8>,
    hides: bool,
}

enum Step<'t> {
    Value { node: usize, above: usize, label: Label<'t> },
    Close,
}

#[derive(Clone, Copy)]
enum Label<'t> {
    None,
    Item(usize),
    Member(JsonString<'t>),
}

impl NormalForm<'_> {
    /// Bytes behind their number, so that no two parts run together.
    fn part(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(&bytes.len().to_le_bytes());
        self.bytes.extend_from_slice(bytes);
    }

    /// What is left out has neither name nor number here, as where it is absent.
    fn value(&mut self, name: &str, value: Json<'_>) {
        let tree = Tree::new(value);
        let mut path = vec![name.to_owned()];
        let mut waiting = vec![Step::Value { node: 0, above: 1, label: Label::None }];
        while let Some(step) = waiting.pop() {
            let Step::Value { node, above, label } = step else {
                self.bytes.push(b'.');
                continue;
            };
            if !self.rules.ignore.is_empty() {
                path.truncate(above);
                path.extend(label.in_path());
                if self.rules.ignore.iter().any(|pattern| pattern.matches(&path)) {
                    continue;
                }
            }
            match label {
                Label::None => {}
                Label::Item(index) => self.bytes.extend_from_slice(&index.to_le_bytes()),
                Label::Member(name) => self.part(&name.decode()),
            }
            let value = tree.value(node);
            let above = path.len();
            let below = |(label, node)| Step::Value { node, above, label };
            match value.kind() {
                JsonKind::Array => {
                    self.bytes.push(b'[');
                    let items: Vec<_> =
                        tree.items(node).enumerate().map(|(at, node)| (Label::Item(at), node)).collect();
                    waiting.push(Step::Close);
                    waiting.extend(items.into_iter().rev().map(below));
                }
                JsonKind::Object => {
                    self.bytes.push(b'{');
                    let members = tree.sorted_members(node).into_iter();
                    waiting.push(Step::Close);
                    waiting.extend(members.rev().map(|(name, node)| below((Label::Member(name), node))));
                }
                JsonKind::Number => {
                    self.bytes.push(b'0');
                    write_number(value.text(), &mut self.bytes);
                }
                JsonKind::String => self.string(value),
                JsonKind::Null | JsonKind::Bool => self.bytes.extend(value.text().bytes().take(1)),
            }
        }
    }

    fn string(&mut self, value: Json<'_>) {
        let Some(text) = value.as_text() else { return };
        let text = text.decode();
        let marker = self.rules.redacted.as_ref();
        self.hides |= marker.is_some_and(|marker| memchr::memmem::find(&text, marker.as_bytes()).is_some());
        self.bytes.push(b'"');
        self.part(&text);
    }
}

impl Label<'_> {
    fn in_path(self) -> Option<String> {
        match self {
            Self::None => None,
            Self::Item(index) => Some(index.to_string()),
            Self::Member(name) => Some(String::from_utf8_lossy(&name.decode()).into_owned()),
        }
    }
}
