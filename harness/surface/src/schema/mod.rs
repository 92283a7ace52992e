//! JSON Schemas, compared by what they accept.
//!
//! Where a comparison reports neither [`Effect::Narrower`] nor [`Effect::Unknown`], the new schema accepts every value that
//! the old one accepted; the same holds for [`Effect::Wider`] the other way round. A test holds both against a validator.
//! Properties that come or go, and are not required, have effects of their own, which say neither.

mod bounds;
mod branches;
mod budget;
mod effect;
mod forms;
mod keywords;
mod resolve;

use bounds::bounds;
pub use budget::Budget;
pub use effect::{Departure, Effect};
pub(crate) use effect::{pairs, token};
use effect::{strings, truth};
use keywords::{is_annotation, is_compared, values};
use std::cell::OnceCell;
use std::collections::HashMap;
use transcript::json::{Json, JsonKind, OwnedJson};

/// Schemas inside one another up to this depth are compared; what is deeper cannot be known.
const DEPTH: usize = 64;

/// Departures of one pair of schemas up to this number are listed; a last one says that there are more.
const DEPARTURES: usize = 1000;

/// What a pair of schemas costs beside its text.
const LEAST_WORK: usize = 64;

/// What is said where the budget is spent.
const SPENT: &str = "the comparison would take too much work, and was not finished";

/// How the new schema departs from the old one.
pub fn compare(old: Json<'_>, new: Json<'_>) -> Vec<Departure> {
    compare_within(old, new, &mut Budget::new(old.text().len() + new.text().len()))
}

/// The same, where it is one of several comparisons that share a budget.
pub fn compare_within(old: Json<'_>, new: Json<'_>, budget: &mut Budget) -> Vec<Departure> {
    let (under, found, parts) = (Vec::new(), Vec::new(), HashMap::new());
    let mut comparison = Comparison { old, new, same: OnceCell::new(), under, found, parts, budget };
    comparison.pair(old, new, "", 0);
    comparison.found
}

/// The same where both describe objects only, as arguments and structured content are by the protocol: a root that names no type
/// describes the objects that the other one does.
pub(crate) fn compare_of_objects(old: Json<'_>, new: Json<'_>, budget: &mut Budget) -> Vec<Departure> {
    let named = |schema: Json<'_>| schema.member("type").is_some();
    let bare = |schema: Json<'_>| schema.kind() == JsonKind::Object && schema.member("$ref").is_none();
    let of_objects = |schema: Json<'_>, other: Json<'_>| match named(other) && !named(schema) && bare(schema)
    {
        false => OwnedJson::unindexed(schema),
        true => {
            let rest = schema.text().trim_start_matches('{').trim_start();
            let comma = if rest.starts_with('}') { "" } else { "," };
            OwnedJson::written(format!("{{\"type\":\"object\"{comma}{rest}"))
        }
    };
    compare_within(of_objects(old, new).json(), of_objects(new, old).json(), budget)
}

struct Comparison<'a, 'b> {
    /// The roots, against which references are resolved.
    old: Json<'a>,
    new: Json<'a>,
    /// Whether they are equal, once that was asked.
    same: OnceCell<bool>,
    /// The pairs that are being compared, by where their texts begin: schemas may contain themselves.
    under: Vec<(*const u8, *const u8)>,
    found: Vec<Departure>,
    /// What was taken apart, by where its text begins.
    parts: HashMap<*const u8, HashMap<String, Json<'a>>>,
    budget: &'b mut Budget,
}

/// What a schema is once its references are followed.
enum Resolved<'a> {
    /// A schema without a reference at its top.
    Schema(Json<'a>),
    /// The reference leads out of the document or in a circle, or has neighbours that say something of the values.
    Elsewhere,
}

impl<'a> Comparison<'a, '_> {
    fn report(&mut self, effect: Effect, pointer: &str, what: impl Into<String>) {
        match self.found.len() {
            few if few < DEPARTURES => self.found.push(Departure::new(effect, pointer, what)),
            DEPARTURES => {
                let more = format!("more than {DEPARTURES} changes; the others are not listed");
                self.found.push(Departure::new(Effect::Unknown, "", more));
            }
            _ => {}
        }
    }

    /// Compares two schemas that stand at one place.
    fn pair(&mut self, old: Json<'a>, new: Json<'a>, at: &str, depth: usize) {
        let (old, new) = match (self.resolve(old, self.old), self.resolve(new, self.new)) {
            (Resolved::Schema(old), Resolved::Schema(new)) => (old, new),
            // A reference to another document is the same schema where all that is said is the same.
            _ if self.same_roots() && old.same(new) => return,
            _ => {
                let what = "a `$ref` leads out of the schema, in a circle, or has neighbours";
                return self.report(Effect::Unknown, at, what);
            }
        };
        let key = (old.text().as_ptr(), new.text().as_ptr());
        if self.under.contains(&key) {
            return;
        }
        if depth > DEPTH {
            let what = format!("schemas are nested more than {DEPTH} deep");
            return self.report(Effect::Unknown, at, what);
        }
        if !self.budget.take(LEAST_WORK + old.text().len() + new.text().len()) {
            return self.report(Effect::Unknown, at, SPENT);
        }
        self.under.push(key);
        let behind = self.found.len();
        self.resolved(old, new, at, depth + 1);
        self.refute([old, new], behind, depth);
        self.under.pop();
    }

    fn resolved(&mut self, old: Json<'a>, new: Json<'a>, at: &str, depth: usize) {
        match (truth(old), truth(new)) {
            (Some(old), Some(new)) if old == new => {}
            (Some(true), Some(false)) => self.report(Effect::Narrower, at, "no longer accepts anything"),
            (Some(false), Some(true)) => self.report(Effect::Wider, at, "accepts anything now"),
            (Some(false), None) => self.report(Effect::Wider, at, "accepted nothing"),
            (None, Some(false)) => self.report(Effect::Narrower, at, "no longer accepts anything"),
            (Some(true), None) => self.report(Effect::Narrower, at, "accepted anything"),
            (None, Some(true)) => self.report(Effect::Wider, at, "accepts anything now"),
            _ if old.kind() == JsonKind::Object && new.kind() == JsonKind::Object => {
                self.objects(old, new, at, depth);
            }
            _ => self.report(Effect::Unknown, at, "is not a schema"),
        }
    }

    fn objects(&mut self, old: Json<'a>, new: Json<'a>, at: &str, depth: usize) {
        self.annotations(old, new, at);
        if self.branches([old, new], at, depth) {
            return;
        }
        for (effect, what) in values(old, new).into_iter().chain(bounds(old, new)) {
            self.report(effect, at, what);
        }
        self.required(old, new, at);
        self.properties(old, new, at, depth);
        self.items(old, new, at, depth);
    }

    /// What says nothing of the values, and keywords that nobody here understands.
    fn annotations(&mut self, old: Json<'a>, new: Json<'a>, at: &str) {
        for (name, values) in pairs([Some(old), Some(new)]).filter(|(name, _)| !is_compared(name)) {
            let said = is_annotation(&name);
            let effect = if said { Effect::Annotation } else { Effect::Unknown };
            let words = match values {
                [Some(old), Some(new)] if said && old.same(new) || self.unchanged(old, new) => continue,
                [Some(old), Some(new)] if old.same(new) => "refers to a schema that may have changed",
                [Some(_), Some(_)] => "changed",
                [None, _] => "was added",
                [_, None] => "was removed",
            };
            let doubt = if said { "" } else { "; what that accepts is unknown" };
            self.report(effect, &format!("{at}/{}", token(&name)), format!("`{name}` {words}{doubt}"));
        }
    }

    /// Whether two values that are not looked into say the same: what they refer to counts, too.
    fn unchanged(&self, old: Json<'a>, new: Json<'a>) -> bool {
        old.same(new) && self.is_whole(old)
    }

    /// Whether the text of a schema says all of it: it refers to nothing, or to what is the same on both sides.
    fn is_whole(&self, schema: Json<'a>) -> bool {
        let refers = |it: &&str| schema.text().contains(*it);
        !["$ref", "$dynamicRef", "$recursiveRef", "\\u"].iter().any(refers) || self.same_roots()
    }

    fn same_roots(&self) -> bool {
        *self.same.get_or_init(|| self.old.same(self.new))
    }

    fn required(&mut self, old: Json<'a>, new: Json<'a>, at: &str) {
        let [before, after] = [old, new].map(|schema| strings(schema.member("required")));
        let at = format!("{at}/required");
        for name in after.difference(&before) {
            self.report(Effect::Narrower, &at, format!("`{name}` is required now"));
        }
        for name in before.difference(&after) {
            self.report(Effect::Wider, &at, format!("`{name}` is no longer required"));
        }
    }

    fn properties(&mut self, old: Json<'a>, new: Json<'a>, at: &str, depth: usize) {
        let [listed_before, listed_after] = [old, new].map(|schema| schema.member("properties"));
        let named = |listed: Option<Json<'a>>| listed.into_iter().flat_map(Json::members);
        let other = |schema: Json<'a>| schema.member("additionalProperties");
        let [rest_before, rest_after] = [old, new].map(other);
        for (name, after) in named(listed_after) {
            let name = String::from_utf8_lossy(&name.decode()).into_owned();
            let place = format!("{at}/properties/{}", token(&name));
            match (listed_before.and_then(|all| self.part(all, &name)), rest_before) {
                (Some(before), _) => self.pair(before, after, &place, depth),
                (None, Some(rest)) if truth(rest) == Some(false) => {
                    self.report(Effect::Admitted, &place, format!("`{name}` is accepted now"));
                }
                (None, Some(rest)) if truth(rest).is_none() => self.pair(rest, after, &place, depth),
                (None, _) => self.report(Effect::Described, &place, format!("`{name}` is described now")),
            }
        }
        for (name, before) in named(listed_before) {
            let name = String::from_utf8_lossy(&name.decode()).into_owned();
            if listed_after.is_some_and(|all| self.part(all, &name).is_some()) {
                continue;
            }
            let place = format!("{at}/properties/{}", token(&name));
            match rest_after {
                Some(rest) if truth(rest) == Some(false) => {
                    self.report(Effect::Narrower, &place, format!("`{name}` is no longer accepted"));
                }
                Some(rest) if truth(rest).is_none() => self.pair(before, rest, &place, depth),
                _ => self.report(Effect::Undescribed, &place, format!("`{name}` is no longer described")),
            }
        }
        let at = format!("{at}/additionalProperties");
        match (rest_before, rest_after) {
            (None, None) => {}
            (Some(before), Some(after)) => self.pair(before, after, &at, depth),
            (Some(before), None) if truth(before) != Some(true) => {
                self.report(Effect::Wider, &at, "properties that are not listed may hold anything now");
            }
            (None, Some(after)) if truth(after) == Some(false) => {
                self.report(Effect::Narrower, &at, "properties that are not listed are refused now");
            }
            (None, Some(after)) if truth(after).is_none() => {
                self.report(Effect::Narrower, &at, "properties that are not listed could hold anything");
            }
            _ => {}
        }
    }

    fn items(&mut self, old: Json<'a>, new: Json<'a>, at: &str, depth: usize) {
        let place = format!("{at}/items");
        match (old.member("items"), new.member("items")) {
            // Before 2020-12 an array stood here.
            (Some(before), Some(after))
                if before.kind() == JsonKind::Array && self.unchanged(before, after) => {}
            (Some(before), Some(after)) if [before, after].iter().any(|it| it.kind() == JsonKind::Array) => {
                self.report(Effect::Unknown, &place, "`items` changed, and is a list of schemas");
            }
            (Some(before), Some(after)) => self.pair(before, after, &place, depth),
            (None, Some(after)) if truth(after) != Some(true) => {
                self.report(Effect::Narrower, &place, "items could be anything");
            }
            (Some(before), None) if truth(before) != Some(true) => {
                self.report(Effect::Wider, &place, "items may be anything now");
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests;
