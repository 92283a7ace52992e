//! Which members the messages of each revision have: the table that `scripts/shapes.py` derives from the published schemas.
//!
//! How the table is written, and what stands in it for a method.

mod fits;
mod judge;
mod owners;
mod typed;

pub(crate) use judge::{Fault, faults, without_params};
pub(crate) use typed::Typed;

use crate::revision::{Revision, Span};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};
use transcript::json::MemberName;

/// What a value must be.
#[derive(Debug, PartialEq)]
enum Shape {
    Any,
    Text,
    Bool,
    Null,
    Object,
    Number {
        whole: bool,
        least: Option<f64>,
        most: Option<f64>,
    },
    /// One of these words.
    Word(Vec<&'static str>),
    List(Box<Shape>),
    /// An object whose members are all of one sort.
    Map(Box<Shape>),
    /// What the table says under this name.
    Named(Box<Name>),
    /// One of these.
    OneOf(Vec<Shape>),
}

/// A name in the table, with what stands under it.
#[derive(Debug, PartialEq)]
struct Name(&'static str, ByRevision<Rows>);

impl Name {
    fn rows(&self, revision: Revision) -> &Rows {
        self.1.for_revision(revision, || {
            let all: Vec<_> = members(self.0).iter().filter(|row| row.span.has(revision)).collect();
            // An optional choice, such as `format`, distinguishes nothing.
            let is_tag =
                |row: &&Member| matches!(&row.shape, Shape::Word(words) if row.needed || words.len() == 1);
            let tags = all.iter().copied().filter(is_tag).collect();
            Rows { all, tags }
        })
    }
}

/// The members that something has in one revision.
#[derive(Debug, Default, PartialEq)]
struct Rows {
    all: Vec<&'static Member>,
    /// Those that hold one word of a few, by which objects are distinguished.
    tags: Vec<&'static Member>,
}

/// A member of an object; others may be there, too.
#[derive(Debug, PartialEq)]
struct Member {
    name: MemberName,
    needed: bool,
    span: Span,
    shape: Shape,
    /// Where it is a method's: which members of its shape are left to other rules with all that is inside of them.
    left: ByRevision<Vec<&'static str>>,
}

/// By revision, once somebody has asked: messages ask for the same few things again and again.
#[derive(Debug, Default, PartialEq)]
struct ByRevision<T>([OnceLock<T>; Revision::ALL.len()]);

impl<T> ByRevision<T> {
    fn for_revision(&self, revision: Revision, ask: impl FnOnce() -> T) -> &T {
        self.0[revision as usize].get_or_init(ask)
    }
}

/// The params of a method, or its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    Params,
    Result,
}

/// Members by the name of what has them.
type Members = HashMap<&'static str, Vec<Member>, FixedState>;

#[derive(Debug, Default)]
struct Table {
    named: Members,
    /// By method, one for each span of revisions.
    params: Members,
    results: Members,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| read(include_str!("shapes.txt")));

/// The members of what has this name.
fn members(name: &str) -> &'static [Member] {
    TABLE.named.get(name).map_or(&[], Vec::as_slice)
}

/// What the table says of a method's params or result, a row for each span of revisions.
fn entry(method: &str, part: Part) -> &'static [Member] {
    let table = if part == Part::Params { &TABLE.params } else { &TABLE.results };
    table.get(method).map_or(&[], Vec::as_slice)
}

fn read(text: &'static str) -> Table {
    let mut table = Table::default();
    let mut name = "";
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some(row) = line.strip_prefix("  ") else {
            name = line;
            continue;
        };
        let (rows, name) = match (row.starts_with('='), name.strip_suffix('>'), name.strip_suffix('<')) {
            (true, Some(method), _) => (&mut table.params, method),
            (true, _, Some(method)) => (&mut table.results, method),
            _ => (&mut table.named, name),
        };
        rows.entry(name).or_default().extend(row_of(row));
    }
    table
}

/// A row such as `name! 1-3 string`. One that is not well spelled is none, which a test would notice.
fn row_of(row: &'static str) -> Option<Member> {
    let mut words = row.split(' ');
    let (name, span, shape) = (words.next()?, words.next()?, words.next()?);
    let (first, last) = span.split_once('-').unwrap_or((span, span));
    let revision = |number: &str| Revision::ALL.get(number.parse::<usize>().ok()?.checked_sub(1)?).copied();
    let (name, needed) = name.strip_suffix('!').map_or((name, false), |name| (name, true));
    let span = Span::between(revision(first)?, revision(last)?);
    Some(Member {
        name: MemberName::new(name),
        needed,
        span,
        shape: shape_of(shape)?,
        left: ByRevision::default(),
    })
}

fn shape_of(text: &'static str) -> Option<Shape> {
    let parts = alternatives(text);
    if let Some(words) = parts.iter().map(|part| part.strip_prefix('\'')).collect() {
        return Some(Shape::Word(words));
    }
    if parts.len() > 1 {
        return parts.into_iter().map(shape_of).collect::<Option<_>>().map(Shape::OneOf);
    }
    let inside = |open, close| text.strip_prefix(open)?.strip_suffix(close);
    if let Some(items) = inside('[', ']') {
        return Some(Shape::List(Box::new(shape_of(items)?)));
    }
    if let Some(members) = inside('{', '}') {
        return Some(Shape::Map(Box::new(shape_of(members)?)));
    }
    if let Some(name) = text.strip_prefix('@') {
        return Some(Shape::Named(Box::new(Name(name, ByRevision::default()))));
    }
    let mut parts = text.split(':');
    let shape = match parts.next()? {
        "any" => Shape::Any,
        "string" => Shape::Text,
        "boolean" => Shape::Bool,
        "null" => Shape::Null,
        "object" => Shape::Object,
        kind @ ("number" | "integer") => {
            let mut bound = || parts.next().and_then(|bound| bound.parse().ok());
            Shape::Number { whole: kind == "integer", least: bound(), most: bound() }
        }
        _ => return None,
    };
    Some(shape)
}

/// The parts between the bars that stand in no bracket.
fn alternatives(text: &'static str) -> Vec<&'static str> {
    let mut depth = 0_i32;
    text.split(|char: char| {
        depth += i32::from("[{".contains(char)) - i32::from("]}".contains(char));
        char == '|' && depth == 0
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::{Member, Shape, TABLE, members, shape_of};
    use crate::engine::Method;
    use crate::revision::Revision;

    fn rows() -> impl Iterator<Item = (&'static str, &'static Vec<Member>)> {
        [&TABLE.named, &TABLE.params, &TABLE.results].into_iter().flatten().map(|(name, rows)| (*name, rows))
    }

    #[test]
    fn every_row_of_the_table_is_read_and_every_name_in_it_is_there() {
        let lines = include_str!("shapes.txt").lines().filter(|line| line.starts_with("  ")).count();
        assert_eq!(rows().map(|(_, rows)| rows.len()).sum::<usize>(), lines);
        fn walk(shape: &Shape, depth: usize) {
            assert!(depth < 20, "{shape:?} holds itself");
            match shape {
                Shape::Named(name) => {
                    assert!(!members(name.0).is_empty(), "nothing is said of {}", name.0);
                    members(name.0).iter().for_each(|row| walk(&row.shape, depth + 1));
                }
                Shape::List(shape) | Shape::Map(shape) => walk(shape, depth),
                Shape::OneOf(shapes) => shapes.iter().for_each(|shape| walk(shape, depth)),
                _ => {}
            }
        }
        rows().flat_map(|(_, rows)| rows).for_each(|row| walk(&row.shape, 0));
    }

    #[test]
    fn no_member_stands_twice_in_one_revision() {
        for (name, rows) in rows() {
            for (index, one) in rows.iter().enumerate() {
                let both = |other: &&Member| {
                    Revision::ALL.iter().any(|revision| one.span.has(*revision) && other.span.has(*revision))
                };
                let twice = rows[index + 1..].iter().filter(|other| other.name == one.name).find(both);
                assert!(twice.is_none(), "{} stands twice in {name}", one.name.text());
            }
        }
    }

    #[test]
    fn the_table_has_the_methods_of_each_revision_and_no_others() {
        for (table, asks) in [(&TABLE.params, false), (&TABLE.results, true)] {
            // What may come in place of a result is under its own name.
            for (method, rows) in table.iter().filter(|(name, _)| !name.ends_with("Result")) {
                for revision in Revision::ALL {
                    let is_known = Method::find(method).is_some_and(|known| {
                        known.spans.iter().any(|known| known.span.has(revision) && known.request >= asks)
                    });
                    assert_eq!(
                        rows.iter().any(|row| row.span.has(revision)),
                        is_known,
                        "{method} in {revision}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_shape_is_read_with_what_is_inside_of_it() {
        let words = Shape::Word(vec!["a", "b/c"]);
        assert_eq!(shape_of("['a|'b/c]"), Some(Shape::List(Box::new(words))));
        assert_eq!(shape_of("{{any}}"), Some(Shape::Map(Box::new(Shape::Map(Box::new(Shape::Any))))));
        let number = Shape::Number { whole: true, least: Some(0.0), most: None };
        assert_eq!(shape_of("integer:0:|null"), Some(Shape::OneOf(vec![number, Shape::Null])));
        assert_eq!(shape_of("strnig"), None);
    }
}
