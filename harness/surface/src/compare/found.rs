//! What a comparison has found so far, and the places of which it is said.

use crate::change::{Change, Class, KindOfChange};
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};

#[derive(Default)]
pub(super) struct Found {
    pub(super) changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

/// A place of which something is reported.
pub(super) struct Place<'p> {
    pub(super) subject: &'p str,
    pub(super) pointer: &'p str,
    pub(super) values: [Option<Json<'p>>; 2],
}

impl Found {
    pub(super) fn report(
        &mut self,
        class: Class,
        kind: &KindOfChange,
        place: &Place<'_>,
        what: impl Into<String>,
        why: &'static str,
    ) {
        let [before, after] = place.values.map(|value| value.map(|value| value.text().to_owned()));
        let (subject, pointer) = (place.subject.to_owned(), place.pointer.to_owned());
        self.changes.push(Change {
            class,
            kind: kind.id,
            subject,
            pointer,
            what: what.into(),
            why,
            before,
            after,
        });
    }

    /// Reports a value that a person should look at, where it changed.
    pub(super) fn review(&mut self, kind: &KindOfChange, place: &Place<'_>, name: &str, why: &'static str) {
        let words = match place.values {
            [Some(old), Some(new)] if old.same(new) => return,
            [None, None] => return,
            [Some(_), Some(_)] => "changed",
            [None, Some(_)] => "was added",
            [Some(_), None] => "was taken away",
        };
        self.report(Class::Review, kind, place, format!("{name} {words}"), why);
    }
}

pub(super) const TOLD: &str = "a model reads this: a change can change what it does, and can be an attack";

pub(super) const UNTOLD: &str = "what it means for clients cannot be told";

/// The members of both objects by name, with their values on either side.
pub(super) fn pairs<'a>(
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

pub(super) fn bool_of(value: Json<'_>) -> Option<bool> {
    (value.kind() == JsonKind::Bool).then(|| value.text() == "true")
}
