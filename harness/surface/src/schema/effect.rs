//! What a change of a schema does, and small helpers for reading schemas.

use std::collections::{BTreeMap, BTreeSet};
use transcript::json::{Json, JsonKind};

/// What a change does to the values that a schema accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It may refuse a value that was accepted.
    Narrower,
    /// It may accept a value that was refused.
    Wider,
    /// A property that was refused is described now.
    Admitted,
    /// A property that could hold anything is described now.
    Described,
    /// A property that was described may hold anything now.
    Undescribed,
    /// The same values are accepted, but something else is said of them.
    Annotation,
    /// The schemas do not show it.
    Unknown,
}

/// A change at one place of a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departure {
    /// What it does.
    pub effect: Effect,
    /// Where: a JSON pointer from the schema's root.
    pub pointer: String,
    /// What changed, in a few words.
    pub what: String,
}

impl Departure {
    pub(super) fn new(effect: Effect, pointer: impl Into<String>, what: impl Into<String>) -> Self {
        Self { effect, pointer: pointer.into(), what: what.into() }
    }
}

/// The schemas `true`, `false` and `{}`; none for any other.
pub(super) fn truth(schema: Json<'_>) -> Option<bool> {
    match schema.kind() {
        JsonKind::Bool => Some(schema.text() == "true"),
        JsonKind::Object if schema.members().next().is_none() => Some(true),
        _ => None,
    }
}

/// The strings of an array.
pub(super) fn strings(array: Option<Json<'_>>) -> BTreeSet<String> {
    let items = array.into_iter().flat_map(Json::items);
    items.filter_map(|item| Some(String::from_utf8_lossy(&item.as_text()?.decode()).into_owned())).collect()
}

/// A name as a token of a JSON pointer (RFC 6901).
pub(crate) fn token(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// The members of both objects by name, with their values on either side.
pub(crate) fn pairs<'a>(
    sides: [Option<Json<'a>>; 2],
) -> impl Iterator<Item = (String, [Option<Json<'a>>; 2])> {
    let mut all: BTreeMap<String, [Option<Json<'a>>; 2]> = BTreeMap::new();
    for (side, object) in sides.into_iter().enumerate() {
        for (name, value) in object.into_iter().flat_map(Json::members) {
            let name = String::from_utf8_lossy(&name.decode()).into_owned();
            all.entry(name).or_default()[side].get_or_insert(value);
        }
    }
    all.into_iter()
}
