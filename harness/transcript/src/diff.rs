//! The first difference between two JSON values, with its pointer.
//!
//! Walks without recursion.

use crate::json::{Json, JsonKind, JsonString, Tree, same_number};

/// What may differ.
#[derive(Debug, Clone, Default)]
pub struct DiffOptions {
    /// Places that are left out on both sides.
    pub ignore: Vec<PointerPattern>,
    /// A redaction marker: a string that holds it equals any value (clause RPL-REDACT).
    pub redacted: Option<String>,
}

/// A JSON pointer in which a `*` stands for any one member or item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PointerPattern(Vec<String>);

impl PointerPattern {
    /// Reads a pointer such as `/result/content/*/text`.
    ///
    /// # Errors
    /// A sentence where the text is not a JSON pointer.
    pub fn parse(text: &str) -> Result<Self, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return Err(format!(
                "`{text}` is not a JSON pointer: it must begin with a slash, as in /result/content/*/text"
            ));
        };
        if rest.split('~').skip(1).any(|behind| !behind.starts_with(['0', '1'])) {
            return Err(format!(
                "`{text}` is not a JSON pointer: a `~` in a name is written ~0, and a slash ~1"
            ));
        }
        Ok(Self(rest.split('/').map(|part| part.replace("~1", "/").replace("~0", "~")).collect()))
    }

    /// For a pointer into a message, the same place of a tool call in the normal form, where that has another name:
    /// `/params/arguments/time` is `/arguments/time` there, and `/params/name` is `/tool`.
    #[must_use]
    pub fn in_tool_call(&self) -> Option<Self> {
        match &self.0[..] {
            [params, rest @ ..] if params == "params" => match rest {
                [name, ..] if name == "arguments" => Some(Self(rest.to_vec())),
                [name] if name == "name" => Some(Self(vec!["tool".to_owned()])),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it stands for the place of this JSON pointer.
    #[must_use]
    pub fn is_match(&self, pointer: &str) -> bool {
        Self::parse(pointer).is_ok_and(|place| self.matches(&place.0))
    }

    pub(crate) fn matches(&self, path: &[String]) -> bool {
        self.0.len() == path.len() && self.0.iter().zip(path).all(|(want, part)| want == "*" || want == part)
    }
}

/// What a comparison found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The first difference; none where the values are equal under the rules.
    pub difference: Option<Difference>,
    /// Pointers to other differences behind it, up to [`MOST_OTHERS`].
    pub others: Vec<String>,
    /// How many values were taken as equal because one of them was redacted.
    pub redacted: usize,
    /// How many places were left out. Like values, they are counted up to the first difference.
    pub ignored: usize,
}

/// The most differences that are listed behind the first.
pub const MOST_OTHERS: usize = 100;

impl Comparison {
    /// Takes in what was found behind this.
    pub(crate) fn add(&mut self, next: Self) {
        if self.difference.is_none() {
            let (redacted, ignored) = (self.redacted + next.redacted, self.ignored + next.ignored);
            *self = Self { redacted, ignored, ..next };
            return;
        }
        self.others
            .extend(next.difference.map(|difference| difference.pointer).into_iter().chain(next.others));
        self.others.truncate(MOST_OTHERS);
    }
}

/// Where two values part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// JSON pointer (RFC 6901) to the place.
    pub pointer: String,
    /// The text of the left value there; none where it has nothing there.
    pub left: Option<String>,
    /// The text of the right value there.
    pub right: Option<String>,
}

/// Compares two values and finds the first difference, in the left value's order; what only the right value has
/// comes after.
#[must_use]
pub fn first(left: Json<'_>, right: Json<'_>, rules: &DiffOptions) -> Comparison {
    first_below(Vec::new(), left, right, rules)
}

/// As [`first`], for values that stand at `path` in what the rules' pointers and the result count from.
#[must_use]
pub fn first_below(path: Vec<String>, left: Json<'_>, right: Json<'_>, rules: &DiffOptions) -> Comparison {
    let mut found = Comparison::default();
    if left.text() == right.text() {
        return found;
    }
    let walk = Walk { left: Tree::new(left), right: Tree::new(right), rules };
    let mut path = path;
    // A stack of pairs still to be compared, the next one last, each with how much of the path stands above it.
    let mut waiting = vec![Pair { above: path.len(), part: None, left: Some(0), right: Some(0) }];
    while let Some(Pair { above, part, left, right }) = waiting.pop() {
        path.truncate(above);
        path.extend(part);
        if rules.ignore.iter().any(|pattern| pattern.matches(&path)) {
            found.ignored += usize::from(found.difference.is_none());
            continue;
        }
        match walk.step(left, right, path.len()) {
            Step::Same => {}
            Step::Redacted => found.redacted += usize::from(found.difference.is_none()),
            Step::Below(pairs) => waiting.extend(pairs.into_iter().rev()),
            Step::Different if found.others.len() == MOST_OTHERS => return found,
            Step::Different if found.difference.is_some() => found.others.push(pointer(&path)),
            Step::Different => {
                let text = |tree: &Tree<'_>, node: Option<usize>| {
                    node.map(|node| tree.value(node).text().to_owned())
                };
                let (left, right) = (text(&walk.left, left), text(&walk.right, right));
                found.difference = Some(Difference { pointer: pointer(&path), left, right });
            }
        }
    }
    found
}

/// A path as a JSON pointer.
#[must_use]
pub fn pointer(path: &[String]) -> String {
    path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect()
}

struct Walk<'a, 'b, 'r> {
    left: Tree<'a>,
    right: Tree<'b>,
    rules: &'r DiffOptions,
}

struct Pair {
    above: usize,
    part: Option<String>,
    left: Option<usize>,
    right: Option<usize>,
}

enum Step {
    Same,
    Redacted,
    Different,
    Below(Vec<Pair>),
}

impl Walk<'_, '_, '_> {
    fn step(&self, left: Option<usize>, right: Option<usize>, above: usize) -> Step {
        if let Some(marker) = &self.rules.redacted {
            let hides = |tree: &Tree<'_>, node: Option<usize>| {
                let text = node.and_then(|node| tree.value(node).as_text());
                text.is_some_and(|text| memchr::memmem::find(&text.decode(), marker.as_bytes()).is_some())
            };
            let same = |a: Json<'_>, b: Json<'_>| a.text() == b.text();
            if (hides(&self.left, left) || hides(&self.right, right))
                && !matches!((left, right), (Some(a), Some(b)) if same(self.left.value(a), self.right.value(b)))
            {
                return Step::Redacted;
            }
        }
        let (Some(a), Some(b)) = (left, right) else { return Step::Different };
        let (left, right) = (self.left.value(a), self.right.value(b));
        let same = match (left.kind(), right.kind()) {
            (JsonKind::Array, JsonKind::Array) => return Step::Below(self.items(a, b, above)),
            (JsonKind::Object, JsonKind::Object) => return Step::Below(self.members(a, b, above)),
            (JsonKind::Number, JsonKind::Number) => same_number(left.text(), right.text()),
            (JsonKind::String, JsonKind::String) => left.as_text() == right.as_text(),
            _ => left.text() == right.text(),
        };
        if same { Step::Same } else { Step::Different }
    }

    fn items(&self, a: usize, b: usize, above: usize) -> Vec<Pair> {
        let (mut left, mut right) = (self.left.items(a), self.right.items(b));
        let pair = |index: usize| {
            let (left, right) = (left.next(), right.next());
            (left.is_some() || right.is_some()).then(|| Pair {
                above,
                part: Some(index.to_string()),
                left,
                right,
            })
        };
        (0..).map_while(pair).collect()
    }

    /// Members by name; of members that share a name, the first with the first, the second with the second.
    fn members(&self, a: usize, b: usize, above: usize) -> Vec<Pair> {
        let (left, right) = (self.left.sorted_members(a), self.right.sorted_members(b));
        let mut pairs = Vec::with_capacity(left.len());
        let (mut i, mut j) = (0, 0);
        let part = |name: JsonString<'_>| Some(String::from_utf8_lossy(&name.decode()).into_owned());
        while i < left.len() || j < right.len() {
            let order = match (left.get(i), right.get(j)) {
                (Some(a), Some(b)) => a.0.decode().cmp(&b.0.decode()),
                (Some(_), None) => std::cmp::Ordering::Less,
                _ => std::cmp::Ordering::Greater,
            };
            let (a, b) = (left.get(i).filter(|_| order.is_le()), right.get(j).filter(|_| order.is_ge()));
            i += usize::from(a.is_some());
            j += usize::from(b.is_some());
            if let Some(&(name, _)) = a.or(b) {
                pairs.push(Pair { above, part: part(name), left: a.map(|a| a.1), right: b.map(|b| b.1) });
            }
        }
        // File order reads better than name order: the left value's, then what only the right value has.
        pairs.sort_by_key(|pair| (pair.left.is_none(), pair.left.or(pair.right)));
        pairs
    }
}

#[cfg(test)]
mod tests {
    use super::{DiffOptions, Difference, PointerPattern, first};
    use crate::json::Json;

    fn compare(
        left: &str,
        right: &str,
        rules: &DiffOptions,
    ) -> Option<(String, Option<String>, Option<String>)> {
        let (left, right) = (Json::parse(left).unwrap(), Json::parse(right).unwrap());
        let Difference { pointer, left, right } = first(left, right, rules).difference?;
        Some((pointer, left, right))
    }

    fn at(left: &str, right: &str) -> Option<String> {
        let found = compare(left, right, &DiffOptions::default());
        let turned = compare(right, left, &DiffOptions::default());
        assert_eq!(found.is_some(), turned.is_some(), "{left} {right}");
        assert_eq!(found.is_none(), Json::parse(left).unwrap().same(Json::parse(right).unwrap()));
        found.map(|found| found.0)
    }

    #[test]
    fn the_first_difference_has_its_pointer() {
        assert_eq!(at(r#"{"a":[1,{"b/~":2}]}"#, r#"{"a":[1.0,{"b/~":3}]}"#).as_deref(), Some("/a/1/b~1~0"));
        assert_eq!(at("[1,2]", "[1,2,3]").as_deref(), Some("/2"));
        assert_eq!(at(r#"{"z":1,"a":2}"#, r#"{"a":3,"z":4}"#).as_deref(), Some("/z"));
        assert_eq!(at(r#"{"a":1}"#, r#"{"a":1,"b":null}"#).as_deref(), Some("/b"));
        assert_eq!(at(r#"{"a":1,"a":2}"#, r#"{"a":1,"a":3}"#).as_deref(), Some("/a"));
        assert_eq!(at("null", "[]").as_deref(), Some(""));
        assert_eq!(at(r#"{"a":{"b":1,"c":[]}}"#, r#"{ "a":{"c":[ ],"b":1e0}}"#), None);
    }

    #[test]
    fn a_pointer_into_a_message_has_its_place_in_a_tool_call() {
        for (message, normal) in [
            ("/params/arguments/time", Some("/arguments/time")),
            ("/params/arguments", Some("/arguments")),
            ("/params/name", Some("/tool")),
            ("/params/_meta", None),
            ("/arguments/time", None),
        ] {
            let found = PointerPattern::parse(message).unwrap().in_tool_call();
            assert_eq!(found, normal.map(|text| PointerPattern::parse(text).unwrap()), "{message}");
        }
    }

    #[test]
    fn what_is_ignored_or_redacted_is_counted() {
        let rules = DiffOptions {
            ignore: vec![PointerPattern::parse("/content/*/text").unwrap()],
            redacted: Some("[REDACTED]".into()),
        };
        let left =
            Json::parse(r#"{"content":[{"text":"a"},{"text":"b"}],"key":"x [REDACTED]","n":1}"#).unwrap();
        let right = Json::parse(r#"{"content":[{"text":"c"},{}],"key":{"any":1},"n":1.0}"#).unwrap();
        let found = first(left, right, &rules);
        assert_eq!((found.difference, found.ignored, found.redacted), (None, 2, 1));
        assert!(first(left, right, &DiffOptions::default()).difference.is_some());
        assert!(PointerPattern::parse("/a~0~1").is_ok());
        assert!(["result", "/a~2", "/a~"].iter().all(|text| PointerPattern::parse(text).is_err()));
    }
}
