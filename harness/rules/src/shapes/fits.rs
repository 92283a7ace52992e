//! Whether a value is what the table says, reported without looking for what is wrong: nearly every value is.

use super::{Name, Shape};
use crate::revision::Revision;
use transcript::json::{Json, JsonKind};

/// Whether a value fits a shape in a revision, but for the members at its top that are `left` to others.
pub(super) fn fits(shape: &Shape, value: Json<'_>, revision: Revision, left: &[&str]) -> bool {
    let fits = |shape: &Shape, value: Json<'_>| fits(shape, value, revision, &[]);
    match (shape, value.kind()) {
        (Shape::Any, _)
        | (Shape::Text, JsonKind::String)
        | (Shape::Bool, JsonKind::Bool)
        | (Shape::Null, JsonKind::Null)
        | (Shape::Object, JsonKind::Object) => true,
        (Shape::Number { whole, least, most }, JsonKind::Number) => {
            let is_plain = || value.text().bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            if least.is_none() && most.is_none() && (!*whole || is_plain()) {
                return true;
            }
            let number = value.text().parse::<f64>().unwrap_or_default();
            !(*whole && number.fract() != 0.0
                || least.is_some_and(|least| number < least)
                || most.is_some_and(|most| number > most))
        }
        (Shape::Word(words), JsonKind::String) => is_one_of(value, words),
        (Shape::Named(name), JsonKind::Object) => has_members(name, value, revision, left),
        (Shape::List(shape), JsonKind::Array) => value.items().all(|item| fits(shape, item)),
        (Shape::Map(shape), JsonKind::Object) => {
            matches!(**shape, Shape::Any) || value.members().all(|(_, part)| fits(shape, part))
        }
        (Shape::OneOf(shapes), _) => shapes.iter().any(|shape| fits(shape, value)),
        _ => false,
    }
}

fn has_members(name: &Name, value: Json<'_>, revision: Revision, left: &[&str]) -> bool {
    name.rows(revision).all.iter().all(|row| match value.member_named(row.name) {
        Some(part) => left.contains(&row.name.text()) || fits(&row.shape, part, revision, &[]),
        None => !row.needed,
    })
}

pub(super) fn is_one_of(value: Json<'_>, words: &[&str]) -> bool {
    value.as_text().is_some_and(|text| words.iter().any(|word| text.is(word)))
}
