//! What a comparison has found so far, and the places of which it is said.

use crate::change::{Change, Class, Comparison, KindOfChange};
use crate::schema::Budget;
use transcript::json::{Json, JsonKind};

pub(super) struct Found {
    /// The work that is left for comparing, and the bytes of values that may still be kept.
    pub(super) work: Budget,
    kept: Budget,
    changes: Vec<Change>,
    pub(super) notes: Vec<String>,
}

/// A place of which something is reported.
pub(super) struct Place<'p> {
    pub(super) subject: &'p str,
    pub(super) pointer: &'p str,
    pub(super) values: [Option<Json<'p>>; 2],
}

impl Found {
    /// For comparing this many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        let [work, kept] = [Budget::new(bytes), Budget::new(bytes)];
        Self { work, kept, changes: Vec::new(), notes: Vec::new() }
    }

    /// All that was found, the gravest first, with a word of what was left undone.
    pub(super) fn finish(mut self) -> Comparison {
        if self.work.is_spent() {
            self.notes
                .push("comparing the schemas would take too much work, and was not finished".to_owned());
        }
        if self.kept.is_spent() {
            self.notes.push("the values of some changes are too large to show, and are left out".to_owned());
        }
        // The order within a class is that in which they were found.
        self.changes.sort_by_key(|change| change.class);
        Comparison { changes: self.changes, notes: self.notes }
    }

    pub(super) fn report(
        &mut self,
        class: Class,
        kind: &KindOfChange,
        place: &Place<'_>,
        what: impl Into<String>,
        why: &'static str,
    ) {
        let mut keep = |value: Json<'_>| self.kept.take(value.text().len()).then(|| value.text().to_owned());
        let [before, after] = place.values.map(|value| keep(value?));
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
            [Some(_), None] => "was removed",
        };
        self.report(Class::Review, kind, place, format!("{name} {words}"), why);
    }
}

pub(super) const TOLD: &str = "a model reads this: a change can change what it does, and can be an attack";

pub(super) const UNTOLD: &str = "what it means for clients is unknown";

pub(super) fn bool_of(value: Json<'_>) -> Option<bool> {
    (value.kind() == JsonKind::Bool).then(|| value.text() == "true")
}
