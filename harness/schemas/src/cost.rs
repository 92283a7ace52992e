//! How much work a JSON Schema may make, reported before it is compiled.
//!
//! Which keywords hold schemas, which of them apply to the same value, and what references repeat. So a schema out of a
//! stranger's recording can neither hang the judge nor exhaust its stack.

use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a pattern costs that is matched in one pass, in subschemas.
const PATTERN: u64 = 500;

/// So often a pattern may go back, where it is not matched in one pass: each time it may take all of them.
pub(crate) const MOST_BACKTRACKING: usize = 10_000;

const ONE: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "not",
    "if",
    "then",
    "else",
    "contentSchema",
];
const LIST: [&str; 5] = ["allOf", "anyOf", "oneOf", "prefixItems", "items"];
const BY_NAME: [&str; 6] =
    ["properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"];
/// Those that apply to the value that the schema itself applies to.
const SAME_VALUE: [&str; 9] =
    ["not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"];
const NEVER_APPLIED: [&str; 2] = ["$defs", "definitions"];

/// How the reason begins why a schema with an anchor has no known cost; behind it stands the anchor.
pub(crate) const BY_ANCHOR: &str = "the schema refers to itself by the anchor ";

/// What is known of a schema's cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cost {
    /// How many subschemas a value can meet at most, references followed, each as often as it is referred to.
    pub(crate) subschemas: u64,
    /// How many steps patterns may go back for each part of a value.
    pub(crate) backtracking: u64,
    /// How many references it has, where some of them lead back to where they stand; else 0.
    pub(crate) circular: u64,
}

impl Cost {
    /// The cost of a schema, or why it has none that could be known.
    pub(crate) fn new(schema: &Value) -> Result<Self, String> {
        let mut walk =
            Walk { root: schema, known: BTreeMap::new(), open: vec![""], refs: 0, circular: false };
        let Sum { subschemas, backtracking } = walk.cost(schema)?;
        walk.no_endless_loop()?;
        Ok(Self { subschemas, backtracking, circular: if walk.circular { walk.refs } else { 0 } })
    }

    /// The most steps that holding a value to the schema can take, where the value has this many parts and levels.
    pub(crate) fn steps(self, parts: u64, levels: u32) -> u64 {
        let repeated = if self.circular == 0 { 1 } else { self.circular.max(2).saturating_pow(levels) };
        self.subschemas.saturating_add(self.backtracking).saturating_mul(parts).saturating_mul(repeated)
    }
}

/// What is added up of the parts of a schema, as [`Cost`] has it.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    subschemas: u64,
    backtracking: u64,
}

impl Sum {
    const ONE: Self = Self { subschemas: 1, backtracking: 0 };

    fn add(&mut self, other: Self) {
        self.subschemas = self.subschemas.saturating_add(other.subschemas);
        self.backtracking = self.backtracking.saturating_add(other.backtracking);
    }
}

struct Walk<'s> {
    root: &'s Value,
    /// The cost of what was referred to.
    known: BTreeMap<&'s str, Sum>,
    open: Vec<&'s str>,
    refs: u64,
    circular: bool,
}

impl<'s> Walk<'s> {
    fn cost(&mut self, schema: &'s Value) -> Result<Sum, String> {
        let Value::Object(members) = schema else { return Ok(Sum::ONE) };
        if let Some(word) = ["$dynamicRef", "$recursiveRef"].iter().find(|word| members.contains_key(**word))
        {
            return Err(format!("the schema uses `{word}`, which is not followed"));
        }
        let mut sum = Sum { subschemas: 1 + members.len() as u64, backtracking: 0 };
        for (name, value) in members {
            match (name.as_str(), value) {
                ("enum", Value::Array(values)) => sum.subschemas += values.len() as u64,
                ("pattern", Value::String(pattern)) => sum.add(price(pattern)),
                ("patternProperties", Value::Object(patterns)) => {
                    patterns.keys().for_each(|pattern| sum.add(price(pattern)));
                }
                _ => {}
            }
        }
        for (_, part) in parts(members, |name| !NEVER_APPLIED.contains(&name)) {
            sum.add(self.cost(part)?);
        }
        if let Some(pointer) = reference(members)? {
            self.refs += 1;
            sum.add(self.referred(pointer)?);
        }
        Ok(sum)
    }

    fn referred(&mut self, pointer: &'s str) -> Result<Sum, String> {
        if let Some(cost) = self.known.get(pointer) {
            return Ok(*cost);
        }
        if self.open.contains(&pointer) {
            self.circular = true;
            return Ok(Sum::ONE);
        }
        // What is not there is found when the schema is compiled.
        let Some(target) = target(self.root, pointer) else { return Ok(Sum::ONE) };
        if self.open.len() >= 64 {
            return Err("the references of the schema lead more than 64 levels deep".to_owned());
        }
        self.open.push(pointer);
        let cost = self.cost(target)?;
        self.open.pop();
        self.known.insert(pointer, cost);
        Ok(cost)
    }

    /// No reference leads back to itself without a step into the value.
    fn no_endless_loop(&self) -> Result<(), String> {
        let mut done: Vec<&str> = Vec::new();
        for start in std::iter::once("").chain(self.known.keys().copied()) {
            let mut path = Vec::new();
            self.follow(start, &mut path, &mut done)?;
        }
        Ok(())
    }

    fn follow(&self, at: &'s str, path: &mut Vec<&'s str>, done: &mut Vec<&'s str>) -> Result<(), String> {
        if path.contains(&at) {
            return Err("the schema refers to itself without end".to_owned());
        }
        if done.contains(&at) {
            return Ok(());
        }
        let Some(schema) = target(self.root, at) else { return Ok(()) };
        path.push(at);
        let mut next = Vec::new();
        same_value_references(schema, &mut next)?;
        for pointer in next {
            self.follow(pointer, path, done)?;
        }
        path.pop();
        done.push(at);
        Ok(())
    }
}

fn same_value_references<'s>(schema: &'s Value, into: &mut Vec<&'s str>) -> Result<(), String> {
    let Value::Object(members) = schema else { return Ok(()) };
    into.extend(reference(members)?);
    for (_, part) in parts(members, |name| SAME_VALUE.contains(&name)) {
        same_value_references(part, into)?;
    }
    Ok(())
}

/// The schemas that stand directly in a schema, with the keyword that holds them.
fn parts(
    members: &Map<String, Value>,
    wanted: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (&str, &Value)> {
    members.iter().filter(move |(name, _)| wanted(name)).flat_map(|(name, value)| {
        let name = name.as_str();
        let report: Vec<&Value> = match value {
            Value::Object(map) if BY_NAME.contains(&name) => map.values().collect(),
            Value::Array(list) if LIST.contains(&name) => list.iter().collect(),
            Value::Object(_) if ONE.contains(&name) => vec![value],
            _ => Vec::new(),
        };
        report.into_iter().map(move |part| (name, part))
    })
}

/// The pointer that `$ref` has, without its `#`.
fn reference(members: &Map<String, Value>) -> Result<Option<&str>, String> {
    let Some(Value::String(reference)) = members.get("$ref") else { return Ok(None) };
    match reference.strip_prefix('#') {
        Some(pointer) if pointer.is_empty() || pointer.starts_with('/') => Ok(Some(pointer)),
        Some(anchor) => Err(format!("{BY_ANCHOR}`{anchor}`, and anchors are not followed")),
        None => Err("the schema refers to something outside of itself, which is never fetched".to_owned()),
    }
}

fn target<'s>(root: &'s Value, pointer: &str) -> Option<&'s Value> {
    root.pointer(pointer).or_else(|| root.pointer(&unescaped(pointer)))
}

/// A pointer in a URI may have its characters escaped once more.
fn unescaped(pointer: &str) -> String {
    pointer
        .replace("%24", "$")
        .replace("%20", " ")
        .replace("%7B", "{")
        .replace("%7D", "}")
        .replace("%25", "%")
}

/// What a pattern costs. What the engine of one pass cannot parse is left to the one that goes back, and so is what it
/// takes for something else: a quantifier that gives nothing back.
fn price(pattern: &str) -> Sum {
    let possessive = ["++", "*+", "?+", "}+"].iter().any(|quantifier| pattern.contains(quantifier));
    let one_pass = !possessive && regex_syntax::parse(pattern).is_ok();
    Sum { subschemas: PATTERN, backtracking: if one_pass { 0 } else { MOST_BACKTRACKING as u64 } }
}

#[cfg(test)]
mod tests {
    use super::{Cost, MOST_BACKTRACKING};
    use serde_json::{Value, json};

    #[test]
    fn what_is_referred_to_counts_each_time() {
        let mut defs = serde_json::Map::new();
        for level in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
            defs.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
        }
        defs.insert("d40".to_owned(), json!({}));
        let cost = Cost::new(&json!({ "$ref": "#/$defs/d0", "$defs": defs })).unwrap();
        assert!(cost.subschemas > 1 << 40 && cost.circular == 0, "{cost:?}");
        assert!(Cost::new(&json!({ "type": "object" })).unwrap().steps(10, 3) < 100);
    }

    #[test]
    fn a_schema_may_refer_to_itself_a_level_deeper_and_no_other_way() {
        let tree = json!({ "properties": { "children": { "items": { "$ref": "#" } } } });
        assert_eq!(Cost::new(&tree).unwrap().circular, 1);
        assert!(Cost::new(&tree).unwrap().steps(1, 100) == u64::MAX);
        for endless in [
            json!({ "$ref": "#" }),
            json!({ "allOf": [{ "anyOf": [{ "$ref": "#" }] }] }),
            json!({ "$ref": "#/$defs/a", "$defs": { "a": {
                "properties": { "x": { "$ref": "#/$defs/b" } }, "allOf": [{ "$ref": "#/$defs/b" }] },
                "b": { "not": { "$ref": "#/$defs/a" } } } }),
        ] {
            assert!(Cost::new(&endless).unwrap_err().contains("without end"), "{endless}");
        }
    }

    #[test]
    fn what_leads_elsewhere_is_not_followed_and_names_are_no_keywords() {
        for elsewhere in ["https://example.com/a.json", "other.json", "#anchor"] {
            assert!(Cost::new(&json!({ "items": { "$ref": elsewhere } })).is_err(), "{elsewhere}");
        }
        let names: Value =
            json!({ "properties": { "$ref": { "type": "string" }, "not": true }, "enum": [1, 2] });
        assert!(Cost::new(&names).is_ok());
    }

    #[test]
    fn a_pattern_that_may_go_back_is_priced_by_how_often_it_may() {
        let steps = |pattern: &str| Cost::new(&json!({ "pattern": pattern })).unwrap().steps(1, 1);
        for one_pass in ["^a+$", "^[a-z]{1,64}(?:-[a-z]+)*$", r"^\d{4}\.\p{L}$", "(a|a)*b"] {
            assert!(steps(one_pass) < 1_000, "{one_pass}");
        }
        let groups = "(a?)".repeat(12);
        let back = [1, 3, 9, 12].map(|number| format!("^{groups}\\{number}$"));
        let around = ["^(?!a)", "^(?<=a)b", r"^(?<n>a)\k<n>", "^(?>a+)b", "^(a|aa)*+b", "^a++b"];
        for back in back.iter().map(String::as_str).chain(around) {
            assert!(steps(back) > MOST_BACKTRACKING as u64, "{back}");
        }
        // One price for each that a value can meet, by whatever road.
        let names =
            json!({ "propertyNames": { "allOf": [{ "pattern": "^(a?)\\1$" }, { "pattern": "(?=b)" }] } });
        assert!(Cost::new(&names).unwrap().steps(50, 1) > 2 * 50 * MOST_BACKTRACKING as u64);
    }
}
