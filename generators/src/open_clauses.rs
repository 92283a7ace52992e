//! What a session itself leaves open, whatever is done to it afterwards.
//!
//! The clauses that leave a reading to the importer, by what a message looks like.

use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::session_builder::SessionBuilder;
use formats::OwnedContent;
use transcript::json::{Json, JsonKind};

impl SessionBuilder {
    /// What the session itself leaves open, and the clauses that do.
    pub fn open_clauses(&mut self) -> (Relation, Vec<&'static str>) {
        let (mut relation, mut clauses) = (Relation::Same, Vec::new());
        let mut open = |reading: Reading, clause: &'static str| {
            relation = relation.then(Relation::Open(reading)).unwrap_or(relation);
            if !clauses.contains(&clause) {
                clauses.push(clause);
            }
        };
        for entry in &mut self.entries {
            let Some(message) = &mut entry.message else {
                if matches!(entry.owned.what, OwnedContent::Empty | OwnedContent::Exchange(_)) {
                    open(Reading::Known, "ENV-NULL");
                }
                continue;
            };
            let number = message.text.get("id").and_then(Node::spelled).unwrap_or("0");
            if !number.starts_with('"') && number != "null" && !is_plain_integer(number) {
                open(Reading::Free, "ID-NUMBER-FORM");
            }
            let named =
                message.meaning.get("tool").and_then(Node::spelled).is_some_and(|name| name.starts_with('"'));
            if message.is("tool_call") && !named {
                open(Reading::Free, "TOOL-NAMELESS");
            }
            message.text.walk(&mut |node| {
                if is_deep(node) {
                    open(Reading::Free, "SRV-DEPTH");
                } else if is_torn(node) {
                    open(Reading::Free, "SRV-TWICE");
                }
                true
            });
        }
        (relation, clauses)
    }
}

fn is_plain_integer(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    number != "-0" && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a value goes deeper than a tree of ours.
fn is_deep(node: &Node) -> bool {
    node.spelled().is_some_and(|spelled| spelled.starts_with(['[', '{']))
}

/// Whether a value is one that SRV-TWICE leaves open: a member named twice, a lone surrogate.
fn is_torn(node: &Node) -> bool {
    let lone = |spelled: &str| {
        let value = Json::parse(spelled).ok().filter(|value| value.kind() == JsonKind::String);
        spelled.contains("\\u") && value.and_then(Json::as_text).is_some_and(|text| text.to_str().is_none())
    };
    match node {
        Node::Leaf(spelled) => lone(spelled),
        Node::Object(members) => (0..members.len()).any(|at| {
            let key = &members[at].0;
            lone(key) || members[..at].iter().any(|(other, _)| same_name(other, key))
        }),
        _ => false,
    }
}

/// Whether two spelled names are one.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    let content = |key: &str| Some(Json::parse(key).ok()?.as_text()?.decode().into_owned());
    a == b || (a.contains('\\') || b.contains('\\')) && content(a) == content(b)
}
