//! A value laid out flat, to be compared part by part.
//!
//! Built and walked without recursion, so that a million levels cost memory in proportion to the text and no stack.

use super::number::{same_number, write_number};
use super::string::{JsonString, content_end};
use super::value::{Json, JsonKind};
use std::cmp::Ordering;

/// One value in a [`Tree`]: where its text stands, and which node comes after its last descendant.
#[derive(Debug, Clone, Copy)]
pub struct Node {
    start: usize,
    end: usize,
    after: usize,
}

/// A JSON value as its nodes in file order; an object's children are name, value, name, value.
#[derive(Debug)]
pub struct Tree<'a> {
    text: &'a str,
    nodes: Vec<Node>,
}

impl<'a> Tree<'a> {
    /// Lays out `value`.
    #[must_use]
    pub fn new(value: Json<'a>) -> Self {
        let text = value.text();
        let bytes = text.as_bytes();
        let mut nodes: Vec<Node> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let mut at = 0;
        // The text is valid JSON: commas, colons and white space carry no more information here.
        while at < bytes.len() {
            let start = at;
            match bytes[at] {
                b'{' | b'[' => {
                    open.push(nodes.len());
                    at += 1;
                }
                b'}' | b']' => {
                    at += 1;
                    if let Some(node) = open.pop() {
                        let after = nodes.len();
                        nodes[node].end = at;
                        nodes[node].after = after;
                    }
                    continue;
                }
                b' ' | b'\t' | b'\n' | b'\r' | b',' | b':' => {
                    at += 1;
                    continue;
                }
                b'"' => at = content_end(bytes, at + 1).0 + 1,
                _ => {
                    while at < bytes.len()
                        && !matches!(bytes[at], b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r')
                    {
                        at += 1;
                    }
                }
            }
            nodes.push(Node { start, end: at, after: nodes.len() + 1 });
        }
        Self { text, nodes }
    }

    /// The value at `node`.
    #[must_use]
    pub fn value(&self, node: usize) -> Json<'a> {
        Json::scanned(self.nodes.get(node).map_or("null", |node| &self.text[node.start..node.end]))
    }

    /// The sort of value at `node`.
    #[must_use]
    pub fn kind(&self, node: usize) -> JsonKind {
        self.value(node).kind()
    }

    /// The items of the array at `node`, in order.
    pub fn items(&self, node: usize) -> impl Iterator<Item = usize> {
        let end = self.nodes.get(node).map_or(0, |node| node.after);
        let mut at = node + 1;
        std::iter::from_fn(move || {
            let item = at;
            at = self.nodes.get(item)?.after;
            (item < end).then_some(item)
        })
    }

    /// The members of the object at `node`, ordered by name; members of one name keep their file order.
    #[must_use]
    pub fn sorted_members(&self, node: usize) -> Vec<(JsonString<'a>, usize)> {
        let children: Vec<usize> = self.items(node).collect();
        let mut members: Vec<(JsonString<'a>, usize)> = children
            .chunks_exact(2)
            .map(|pair| (JsonString::quoted(self.value(pair[0]).text()), pair[1]))
            .collect();
        members.sort_by(|a, b| order(a.0, b.0));
        members
    }

    /// Bytes that are equal where the values are: they tell many values apart without comparing each with each.
    #[must_use]
    pub fn normal_form(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut waiting = vec![Some(0)];
        while let Some(step) = waiting.pop() {
            let Some(node) = step else {
                out.push(b'.');
                continue;
            };
            let value = self.value(node);
            match value.kind() {
                JsonKind::Array => {
                    out.push(b'[');
                    let items: Vec<usize> = self.items(node).collect();
                    waiting.push(None);
                    waiting.extend(items.into_iter().rev().map(Some));
                }
                JsonKind::Object => {
                    out.push(b'{');
                    waiting.push(None);
                    // The node before a value is its name.
                    let members = self.sorted_members(node).into_iter().rev();
                    waiting.extend(members.flat_map(|(_, value)| [Some(value), Some(value - 1)]));
                }
                JsonKind::Number => write_number(value.text(), &mut out),
                JsonKind::String => {
                    let text = JsonString::quoted(value.text()).decode();
                    out.push(b'"');
                    out.extend_from_slice(&text.len().to_le_bytes());
                    out.extend_from_slice(&text);
                }
                JsonKind::Null | JsonKind::Bool => out.extend(value.text().bytes().take(1)),
            }
        }
        out
    }

    /// Whether both values are equal; see [`Json::same`].
    #[must_use]
    pub fn same(&self, other: &Tree<'_>) -> bool {
        let mut pairs = vec![(0, 0)];
        while let Some((a, b)) = pairs.pop() {
            let (left, right) = (self.value(a), other.value(b));
            match (left.kind(), right.kind()) {
                (JsonKind::Number, JsonKind::Number) if same_number(left.text(), right.text()) => {}
                (JsonKind::String, JsonKind::String) if left.as_text() == right.as_text() => {}
                (JsonKind::Null, JsonKind::Null) => {}
                (JsonKind::Bool, JsonKind::Bool) if left.text() == right.text() => {}
                // Containers are never compared as text here: at each of many levels that would be quadratic.
                (JsonKind::Array, JsonKind::Array) => {
                    let (left, right): (Vec<_>, Vec<_>) = (self.items(a).collect(), other.items(b).collect());
                    if left.len() != right.len() {
                        return false;
                    }
                    pairs.extend(left.into_iter().zip(right));
                }
                (JsonKind::Object, JsonKind::Object) => {
                    let (left, right) = (self.sorted_members(a), other.sorted_members(b));
                    if left.len() != right.len() || left.iter().zip(&right).any(|(a, b)| a.0 != b.0) {
                        return false;
                    }
                    pairs.extend(left.into_iter().zip(right).map(|(a, b)| (a.1, b.1)));
                }
                _ => return false,
            }
        }
        true
    }
}

/// Member names in the order of their decoded bytes.
pub(crate) fn order(a: JsonString<'_>, b: JsonString<'_>) -> Ordering {
    a.decode().cmp(&b.decode())
}

#[cfg(test)]
mod tests {
    use super::super::Json;
    use super::Tree;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(Into::into),
            any::<i64>().prop_map(Into::into),
            ".{0,6}".prop_map(Into::into),
        ];
        leaf.prop_recursive(4, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Into::into),
                prop::collection::hash_map(".{0,4}", inner, 0..5)
                    .prop_map(|map| serde_json::Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn equality_agrees_with_serde_json(a in any_json(), b in any_json()) {
            let (left, right) = (a.to_string(), serde_json::to_string_pretty(&b).unwrap());
            let pretty = serde_json::to_string_pretty(&a).unwrap();
            prop_assert_eq!(Json::parse(&left).unwrap().same(Json::parse(&right).unwrap()), a == b);
            prop_assert!(Json::parse(&left).unwrap().same(Json::parse(&pretty).unwrap()));
            let form = |text: &str| Tree::new(Json::parse(text).unwrap()).normal_form();
            prop_assert_eq!(form(&left) == form(&right), a == b);
            prop_assert_eq!(form(&left), form(&pretty));
        }

        #[test]
        fn the_layout_holds_every_part(value in any_json()) {
            let text = serde_json::to_string_pretty(&value).unwrap();
            let tree = Tree::new(Json::parse(&text).unwrap());
            if let Some(object) = value.as_object() {
                prop_assert_eq!(tree.sorted_members(0).len(), object.len());
                for (name, node) in tree.sorted_members(0) {
                    let expected = &object[&*name.to_str().unwrap()];
                    let parsed: serde_json::Value = serde_json::from_str(tree.value(node).text()).unwrap();
                    prop_assert_eq!(&parsed, expected);
                }
            }
        }
    }
}
