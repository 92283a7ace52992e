//! Which dialect a schema is in, and when neither yes nor no can be said honestly. Memory: compiled schemas of
//! [`MOST_KEPT`] bytes of text and [`MOST_KEPT_SUBSCHEMAS`] subschemas. Work: schemas up to [`LONGEST`] bytes and
//! [`MOST_SUBSCHEMAS`] subschemas, [`MOST_STEPS`] steps a value, and [`MOST_WORK`] a recording for each family that holds
//! values to schemas; once they are spent, the result says so.

use crate::cost::{BY_ANCHOR, Cost, MOST_BACKTRACKING};
use foldhash::fast::FixedState;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Draft, PatternOptions, ValidationError, Validator};
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;
use transcript::json::{Json, JsonKind};

/// Longer schemas are not judged, in bytes.
const LONGEST: usize = 256 << 10;

/// Schemas that a value could meet more often in are not judged.
const MOST_SUBSCHEMAS: u64 = 100_000;

/// The most bytes of schemas that are kept compiled, and the most subschemas; then the cache begins anew.
const MOST_KEPT: usize = 1 << 20;
const MOST_KEPT_SUBSCHEMAS: u64 = 3 * MOST_SUBSCHEMAS;

/// Compiling a subschema counts as this many steps.
const COMPILING: u64 = 1_000;

/// Values that would take more steps are not judged.
const MOST_STEPS: u64 = 20_000_000;

/// After this many steps in one recording no more values are judged.
const MOST_WORK: u64 = 200_000_000;

const SPENT: &str = "200,000,000 steps of checking values against schemas; later values are not checked";

/// A pattern that needs more bytes is not matched.
const MOST_PATTERN: usize = 256 << 10;

/// The names of fewer members are compared one by one.
const FEW: usize = 8;

/// Longer descriptions of what is wrong are cut, in characters.
const SHOWN: usize = 120;

/// What came of holding a value to a schema.
#[derive(Debug, PartialEq, Eq)]
pub enum Fit {
    /// It fits.
    Fits,
    /// It does not: what is wrong, and the JSON pointer to it in the value.
    Unfit(String, String),
    /// It cannot be known: why.
    Unsure(String),
}

/// What a schema is worth by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Validity {
    /// It is a schema of its dialect.
    Valid,
    /// It is none: what is wrong, and the JSON pointer to it in the schema.
    Invalid(String, String),
    /// It cannot be known: why.
    Unsure(String),
}

/// Schemas, compiled once.
#[derive(Default)]
pub struct Schemas {
    kept: HashMap<Box<str>, Rc<Compiled>, FixedState>,
    bytes: usize,
    subschemas: u64,
    work: u64,
    spent: bool,
}

struct Compiled {
    validity: Validity,
    ready: Option<(Validator, Cost)>,
}

impl Schemas {
    /// Whether a schema is one.
    pub fn validity(&mut self, schema: Json<'_>) -> Validity {
        self.compiled(schema).validity.clone()
    }

    /// Holds a value to a schema.
    pub fn fit(&mut self, schema: Json<'_>, value: Json<'_>) -> Fit {
        let compiled = self.compiled(schema);
        let Some((validator, cost)) = &compiled.ready else {
            return Fit::Unsure(match &compiled.validity {
                Validity::Unsure(why) => why.clone(),
                _ => "the schema is not valid".to_owned(),
            });
        };
        let Some(plain) = plain(value) else {
            return Fit::Unsure("the value is too deep, or has text that is not Unicode".to_owned());
        };
        let size = match Size::new(value) {
            Ok(size) => size,
            Err(why) => return Fit::Unsure(why.to_owned()),
        };
        let steps = cost.steps(size.parts, size.levels);
        if steps > MOST_STEPS || !self.spend(steps) {
            return Fit::Unsure("checking the value against its schema would take too long".to_owned());
        }
        match validator.validate(&plain) {
            Ok(()) => Fit::Fits,
            Err(error) => match error.kind() {
                ValidationErrorKind::BacktrackLimitExceeded { .. }
                | ValidationErrorKind::RegexEngineFailure { .. } => {
                    Fit::Unsure("a pattern of the schema takes too long to match".to_owned())
                }
                _ => Fit::Unfit(described(&error), error.instance_path().to_string()),
            },
        }
    }

    /// The limit that was reached, in words, if it was.
    pub fn spent(&self) -> Option<&'static str> {
        self.spent.then_some(SPENT)
    }

    /// Whether there is work left for this many steps. What is too much by itself takes nothing from the others.
    fn spend(&mut self, steps: u64) -> bool {
        let left = MOST_WORK - self.work;
        self.spent |= steps > left;
        self.work += if self.spent { 0 } else { steps };
        !self.spent
    }

    fn compiled(&mut self, schema: Json<'_>) -> Rc<Compiled> {
        if let Some(compiled) = self.kept.get(schema.text()) {
            return Rc::clone(compiled);
        }
        if self.spent {
            let why = "the schemas of the session would take too long to check".to_owned();
            return Rc::new(Compiled { validity: Validity::Unsure(why), ready: None });
        }
        let compiled = Rc::new(compile(schema));
        let size = schema.text().len();
        let subschemas = compiled.ready.as_ref().map_or(size as u64 / 16, |(_, cost)| cost.subschemas);
        self.spend(subschemas.saturating_mul(COMPILING));
        if size <= LONGEST {
            if self.bytes + size > MOST_KEPT || self.subschemas + subschemas > MOST_KEPT_SUBSCHEMAS {
                self.kept.clear();
                (self.bytes, self.subschemas) = (0, 0);
            }
            self.bytes += size;
            self.subschemas += subschemas;
            self.kept.insert(schema.text().into(), Rc::clone(&compiled));
        }
        compiled
    }
}

fn compile(schema: Json<'_>) -> Compiled {
    let unsure = |why: &str| Compiled { validity: Validity::Unsure(why.to_owned()), ready: None };
    if schema.text().len() > LONGEST {
        return unsure("the schema is longer than 256 KiB");
    }
    let Some(value) = plain(schema) else {
        return unsure("the schema is too deep, or has text that is not Unicode");
    };
    let Some(dialect) = dialect(&value) else { return unsure("the schema's dialect is not supported") };
    let cost = match Cost::new(&value) {
        Ok(cost) if cost.subschemas > MOST_SUBSCHEMAS => {
            return unsure("the schema is too large once its references are followed");
        }
        Ok(cost) => cost,
        Err(why) => match why.strip_prefix(BY_ANCHOR).and_then(|why| why.split('`').nth(1)) {
            Some(anchor) if !may_define(schema.text(), anchor) => {
                let wrong = format!("Pointer '{anchor}' is not an anchor of the schema");
                return Compiled { validity: Validity::Invalid(wrong, String::new()), ready: None };
            }
            _ => return unsure(&why),
        },
    };
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_BACKTRACKING).size_limit(MOST_PATTERN);
    let built = jsonschema::options()
        .with_draft(dialect)
        .should_validate_formats(false)
        .with_pattern_options(patterns)
        .build(&value);
    match built {
        Ok(validator) => Compiled { validity: Validity::Valid, ready: Some((validator, cost)) },
        // Whether a pattern is one depends on whose regular expressions are meant.
        Err(error) if matches!(error.kind(), ValidationErrorKind::Format { .. }) => {
            unsure("the schema has a pattern that is not supported")
        }
        Err(error) => {
            let wrong = described(&error);
            Compiled { validity: Validity::Invalid(wrong, error.instance_path().to_string()), ready: None }
        }
    }
}

/// Whether something in a schema may be an anchor of this name: older dialects define them by an `$id` or `id`.
fn may_define(schema: &str, anchor: &str) -> bool {
    schema.contains(&format!("\"{anchor}\""))
        || ["\"$id\"", "\"id\"", "\\u"].iter().any(|word| schema.contains(word))
}

/// The dialect that a schema names; 2020-12 where it names none, but for the one thing that only older ones had.
fn dialect(schema: &Value) -> Option<Draft> {
    let Some(named) = schema.get("$schema") else { return Some(Draft::Draft202012) };
    let name = named.as_str()?.trim_end_matches('#');
    let name = name.strip_prefix("https://").or_else(|| name.strip_prefix("http://"))?;
    match name.strip_prefix("json-schema.org/")? {
        "draft-04/schema" => Some(Draft::Draft4),
        "draft-06/schema" => Some(Draft::Draft6),
        "draft-07/schema" => Some(Draft::Draft7),
        "draft/2019-09/schema" => Some(Draft::Draft201909),
        "draft/2020-12/schema" => Some(Draft::Draft202012),
        _ => None,
    }
}

/// What is wrong, on one line and cut where it is long, without the value itself.
fn described(error: &ValidationError<'_>) -> String {
    let text = error.masked_with("it").to_string();
    let mut rest = text.chars();
    let mut out: String =
        rest.by_ref().take(SHOWN).map(|char| if char.is_control() { ' ' } else { char }).collect();
    if rest.next().is_some() {
        out.push('…');
    }
    out
}

fn plain(value: Json<'_>) -> Option<Value> {
    serde_json::from_str(value.text()).ok()
}

/// How large a value is. None where it has what its reading into numbers and maps would change: the second of two
/// members of one name, and digits that no double has.
struct Size {
    parts: u64,
    levels: u32,
}

impl Size {
    /// The value has been read before, so that it is not too deep to be walked.
    fn new(value: Json<'_>) -> Result<Self, &'static str> {
        let mut size = Self { parts: 1 + value.text().len() as u64 / 16, levels: 0 };
        size.walk(value, 1)?;
        Ok(size)
    }

    fn walk(&mut self, value: Json<'_>, level: u32) -> Result<(), &'static str> {
        self.parts += 1;
        self.levels = self.levels.max(level);
        match value.kind() {
            JsonKind::Number if !value.as_number().is_some_and(exact) => {
                return Err("the value has a number with more digits than can be compared");
            }
            JsonKind::Object => {
                let mut names = BTreeSet::new();
                for (count, (name, part)) in value.members().enumerate() {
                    let again = match count {
                        0..FEW => value.members().take(count).any(|(before, _)| before == name),
                        _ => {
                            if count == FEW {
                                names.extend(value.members().take(count).map(|(before, _)| before.decode()));
                            }
                            !names.insert(name.decode())
                        }
                    };
                    if again {
                        return Err("the value has two members of one name");
                    }
                    self.walk(part, level + 1)?;
                }
            }
            JsonKind::Array => {
                for part in value.items() {
                    self.walk(part, level + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a number is the same once it is read as an integer of 64 bits or a double.
fn exact(number: &str) -> bool {
    if !number.contains(['.', 'e', 'E']) {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    let mantissa = number.split(['e', 'E']).next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).skip_while(|digit| *digit == b'0').count();
    digits <= 17 && number.parse::<f64>().is_ok_and(f64::is_finite)
}

/// The part of a value that a JSON pointer leads to; the value itself where it leads nowhere.
pub fn part<'v>(value: Json<'v>, pointer: &str) -> Json<'v> {
    let mut here = value;
    for token in pointer.split('/').skip(1) {
        let name = token.replace("~1", "/").replace("~0", "~");
        let next = match here.kind() {
            JsonKind::Array => name.parse().ok().and_then(|index| here.items().nth(index)),
            _ => here.member(&name),
        };
        let Some(next) = next else { break };
        here = next;
    }
    here
}

#[cfg(test)]
mod tests {
    use super::{Fit, Schemas, Validity, part};
    use transcript::json::Json;

    fn fit(schema: &str, value: &str) -> Fit {
        Schemas::default().fit(Json::parse(schema).unwrap(), Json::parse(value).unwrap())
    }

    fn validity(schema: &str) -> Validity {
        Schemas::default().validity(Json::parse(schema).unwrap())
    }

    #[test]
    fn a_value_is_held_to_its_schema_and_the_place_is_told() {
        let schema =
            r#"{"type":"object","properties":{"a/b":{"items":{"type":"integer"}}},"required":["a/b"]}"#;
        assert_eq!(fit(schema, r#"{"a/b":[1,2.0]}"#), Fit::Fits);
        let value = Json::parse(r#"{"a/b":[1,"2"]}"#).unwrap();
        let Fit::Unfit(wrong, at) = fit(schema, value.text()) else { panic!("it fits") };
        assert_eq!((wrong.as_str(), at.as_str()), ("it is not of type \"integer\"", "/a~1b/1"));
        assert_eq!(part(value, &at).text(), "\"2\"");
        assert!(matches!(fit(schema, "{}"), Fit::Unfit(wrong, at) if wrong.contains("a/b") && at.is_empty()));
    }

    #[test]
    fn what_is_not_known_is_not_said() {
        for (schema, value) in [
            (r#"{"type":"integer"}"#, "12345678901234567890123"),
            (r#"{"type":"number"}"#, "1e400"),
            (r#"{"type":"object"}"#, r#"{"a":1,"\u0061":2}"#),
            ("{}", r#"{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"d":10}"#),
            ("{}", r#"{"a":0,"b":1,"c":2,"d":3,"e":4,"f":5,"g":6,"h":7,"i":8,"j":9,"i":10}"#),
            (r#"{"type":"string"}"#, r#""\ud83d""#),
            (r#"{"$ref":"https://example.com/a.json"}"#, "{}"),
            (r#"{"$ref":"file:///etc/hostname"}"#, "{}"),
            (r##"{"$ref":"#"}"##, "{}"),
            (r#"{"$schema":"https://example.com/mine","type":"string"}"#, "1"),
            (r#"{"pattern":"^(?=a)(a|a)*\\1b$"}"#, r#""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac""#),
            (r#"{"pattern":"(a{1000}){1000}"}"#, r#""a""#),
            (r##"{"properties":{"x":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}"##, &nested(60)),
        ] {
            assert!(matches!(fit(schema, value), Fit::Unsure(_)), "{schema} {value}");
        }
        assert!(matches!(fit("{}", &format!("{}{}", "[".repeat(500), "]".repeat(500))), Fit::Unsure(_)));
        let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(300_000));
        assert!(matches!(validity(&long), Validity::Unsure(_)));
    }

    /// Work is counted, and so is reported before it is done.
    #[test]
    fn one_budget_holds_for_all_values_of_a_recording_and_says_when_it_is_spent() {
        let mut schemas = Schemas::default();
        let schema = Json::parse(r#"{"items":{"pattern":"^(a?)(b?)(c?)\\3$"}}"#).unwrap();
        let value = format!("[{}]", vec![r#""aaaaaaaa""#; 200].join(","));
        let value = Json::parse(&value).unwrap();
        let fits = (0..1_000).take_while(|_| !matches!(schemas.fit(schema, value), Fit::Unsure(_))).count();
        assert!((10..100).contains(&fits), "{fits} values were held to a costly schema");
        assert!(schemas.spent().is_some_and(|limit| limit.contains("200,000,000")));
        assert!(matches!(schemas.fit(Json::parse("{}").unwrap(), value), Fit::Unsure(_)));
        // What is too much by itself is not judged, and takes nothing from the rest.
        let mut schemas = Schemas::default();
        let huge = format!("[{}]", vec![r#""aaaaaaaa""#; 5_000].join(","));
        assert!(matches!(schemas.fit(schema, Json::parse(&huge).unwrap()), Fit::Unsure(_)));
        assert_eq!((schemas.spent(), schemas.fit(schema, Json::parse("[]").unwrap())), (None, Fit::Fits));
    }

    fn nested(levels: usize) -> String {
        format!("{}1{}", r#"{"x":"#.repeat(levels), "}".repeat(levels))
    }

    #[test]
    fn schemas_are_held_to_their_own_dialect() {
        assert_eq!(validity(r#"{"type":"object"}"#), Validity::Valid);
        assert_eq!(validity(r#"{"pattern":"^(?!a)b"}"#), Validity::Valid);
        assert!(matches!(validity(r#"{"type":"objekt"}"#), Validity::Invalid(_, at) if at == "/type"));
        assert!(matches!(validity(r##"{"$ref":"#/$defs/none"}"##), Validity::Invalid(..)));
        assert!(matches!(validity(r##"{"$ref":"#none"}"##), Validity::Invalid(..)));
        let anchored = r##"{"$ref":"#a","$defs":{"x":{"$anchor":"a"}}}"##;
        assert!(matches!(validity(anchored), Validity::Unsure(_)));
        assert!(matches!(validity(r#"{"items":[{}]}"#), Validity::Invalid(..)));
        let older = r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{}]}"#;
        assert_eq!(validity(older), Validity::Valid);
    }
}
