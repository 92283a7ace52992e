//! References inside one document.

use super::keywords::is_annotation;
use super::{Comparison, Resolved};
use std::collections::HashMap;
use transcript::json::{Json, JsonString};

/// The most references that may follow one another.
const HOPS: usize = 16;

impl<'a> Comparison<'a, '_> {
    /// Follows `$ref`, and an `allOf` of one schema, as long as nothing beside them says something of the values.
    pub(super) fn resolve(&mut self, schema: Json<'a>, root: Json<'a>) -> Resolved<'a> {
        let mut schema = schema;
        for _ in 0..HOPS {
            let target = match (schema.member("$ref"), only(schema, "allOf")) {
                (Some(reference), _) => {
                    if !lone(schema, "$ref") {
                        return Resolved::Elsewhere;
                    }
                    reference.as_text().and_then(|text| self.find(&text.to_str()?, root))
                }
                (None, Some(one)) if lone(schema, "allOf") => Some(one),
                _ => return Resolved::Schema(schema),
            };
            match target {
                Some(found) => schema = found,
                None => return Resolved::Elsewhere,
            }
        }
        Resolved::Elsewhere
    }

    /// What a reference within the document names.
    fn find(&mut self, reference: &str, root: Json<'a>) -> Option<Json<'a>> {
        let pointer = reference.strip_prefix('#')?;
        if pointer.is_empty() {
            return Some(root);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(root, |at, part| self.part(at, &unescaped(part)?))
    }

    /// A member by its name, or an item by its number. Each value is taken apart once.
    pub(super) fn part(&mut self, of: Json<'a>, name: &str) -> Option<Json<'a>> {
        let budget = &mut self.budget;
        let parts = self.parts.entry(of.text().as_ptr()).or_insert_with(|| {
            budget.take(of.text().len());
            let items = of.items().enumerate().map(|(number, item)| (number.to_string(), item));
            let name = |name: JsonString<'_>| String::from_utf8_lossy(&name.decode()).into_owned();
            let mut parts: HashMap<_, _> = items.collect();
            for (key, value) in of.members() {
                // Of members of one name the first counts.
                parts.entry(name(key)).or_insert(value);
            }
            parts
        });
        parts.get(name).copied()
    }
}

/// The only item of such a member.
pub(super) fn only<'a>(schema: Json<'a>, name: &str) -> Option<Json<'a>> {
    let mut items = schema.member(name)?.items();
    items.next().filter(|_| items.next().is_none())
}

/// Whether nothing beside this member says anything of the values.
pub(super) fn lone(schema: Json<'_>, name: &str) -> bool {
    let silent = |key: &str| key == name || is_annotation(key);
    schema.members().all(|(key, _)| key.to_str().is_some_and(|key| silent(&key)))
}

/// A token of a pointer in a URI fragment (RFC 6901, section 6).
fn unescaped(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        (rest, _) = match byte {
            b'%' => {
                let digits = std::str::from_utf8(after.get(..2)?).ok()?;
                (&after[2..], bytes.push(u8::from_str_radix(digits, 16).ok()?))
            }
            _ => (after, bytes.push(byte)),
        };
    }
    Some(String::from_utf8(bytes).ok()?.replace("~1", "/").replace("~0", "~"))
}
