//! How a value is held to the table, and where in it the fault stands.
//!
//! Depth is bounded by the table, in which nothing holds itself.

use super::fits::{fits, is_one_of};
use super::owners::{Path, is_owned, left_whole};
use super::{Member, Part, Rows, Shape, entry};
use crate::engine::shown;
use crate::revision::Revision;
use transcript::json::{Json, JsonKind};

/// What is wrong, in a sentence without its full stop, and the value that has it.
#[derive(Debug)]
pub(crate) struct Fault<'v> {
    pub(crate) wrong: String,
    pub(crate) place: Json<'v>,
}

/// How many members of an object were as they must be, before the fault if there is one: of several shapes that an object
/// may have, the one that fits furthest is the one that was meant.
type Fit<'v> = Result<(), (usize, Fault<'v>)>;

/// The most faults of a message that are reported, each in a pass of its own.
pub(crate) const MOST_FAULTS: usize = 10;

/// The faults of a message's part that are left to the rule of the shapes, up to [`MOST_FAULTS`], in the order of the table.
/// Where the revision is not known, the first of them: of the others nobody can tell whether every revision refuses them.
pub(crate) fn faults<'v>(
    part: Part,
    method: &str,
    value: Json<'v>,
    revision: Option<Revision>,
) -> Vec<Fault<'v>> {
    let mut faults: Vec<Fault<'v>> = Vec::new();
    let most = if revision.is_some() { MOST_FAULTS } else { 1 };
    while faults.len() < most {
        let reported: Vec<_> = faults.iter().map(|fault| (address(fault.place), &*fault.wrong)).collect();
        let next = by_each(entry(method, part).iter(), revision, |row, by| {
            let left = row.left.for_revision(by, || left_whole(part, method, by));
            Judge { revision: by, place: Some((part, method)), left, reported: &reported }.whole(
                &row.shape,
                value,
                &Path::Top,
            )
        });
        let Some(next) = next else { break };
        faults.push(*next);
    }
    faults
}

/// Where a value stands in memory, which tells equal values of one message apart.
fn address(value: Json<'_>) -> usize {
    value.text().as_ptr().addr()
}

/// What is wrong by the revision; where none is known, what every revision that has it refuses.
pub(super) fn by_each<'v>(
    rows: impl Iterator<Item = &'static Member>,
    revision: Option<Revision>,
    judge: impl Fn(&'static Member, Revision) -> Option<Box<Fault<'v>>>,
) -> Option<Box<Fault<'v>>> {
    let mut found = None;
    for row in rows {
        for by in Revision::ALL.into_iter().filter(|by| row.span.has(*by)) {
            if revision.is_none_or(|revision| revision == by) {
                let fault = judge(row, by)?;
                found.get_or_insert(fault);
            }
        }
    }
    found
}

/// What is wrong where there are no params at all, if that is not left to another rule.
pub(crate) fn without_params(method: &str, revision: Option<Revision>) -> Option<String> {
    let mut needed = None;
    for row in entry(method, Part::Params) {
        for by in Revision::ALL.into_iter().filter(|by| row.span.has(*by)) {
            if revision.is_some_and(|revision| revision != by) {
                continue;
            }
            // Where they may be of several shapes, they are an elicitation's, which has a rule of its own.
            let Shape::Named(name) = &row.shape else { return None };
            let members = name.rows(by).all.iter().filter(|member| member.needed);
            let is_left = |member: &&&Member| {
                !is_owned(Part::Params, method, &Path::Missing(&Path::Top, member.name.text()), by)
            };
            let first = members.clone().find(is_left);
            if !row.needed || first.is_none() && members.count() > 0 {
                return None;
            }
            needed =
                Some(first.map_or(String::new(), |member| format!(", and needs `{}`", member.name.text())));
        }
    }
    needed.map(|needed| format!("`{method}` has no params{needed}"))
}

pub(super) struct Judge<'j> {
    revision: Revision,
    /// What is judged, where places that have a rule of their own are left to it.
    place: Option<(Part, &'j str)>,
    /// The members at the top that are left to them with all that is inside.
    left: &'j [&'static str],
    /// Faults that were reported before: where they stand, and what is wrong. They count as none, so that what stands behind them
    /// is found.
    reported: &'j [(usize, &'j str)],
}

impl Judge<'_> {
    /// By a revision, with no place left to anybody.
    pub(super) fn by(revision: Revision) -> Self {
        Judge { revision, place: None, left: &[], reported: &[] }
    }

    /// What is wrong with a value, which is looked for only where something is.
    pub(super) fn whole<'v>(
        &self,
        shape: &Shape,
        value: Json<'v>,
        path: &Path<'_>,
    ) -> Option<Box<Fault<'v>>> {
        let fits = fits(shape, value, self.revision, self.left);
        debug_assert!(
            !fits || self.value(shape, value, path).is_ok(),
            "{} fits, and has a fault",
            value.text()
        );
        if fits {
            return None;
        }
        let (_, fault) = self.value(shape, value, path).err()?;
        Some(Box::new(fault))
    }

    fn wrong<'v>(&self, path: &Path<'_>, value: Json<'v>, wrong: impl FnOnce() -> String) -> Fit<'v> {
        match self.place {
            Some((part, method)) if is_owned(part, method, path, self.revision) => Ok(()),
            _ => self.untold(0, Fault { wrong: wrong(), place: value }),
        }
    }

    fn untold<'v>(&self, fitting: usize, fault: Fault<'v>) -> Fit<'v> {
        match self.reported.contains(&(address(fault.place), &*fault.wrong)) {
            true => Ok(()),
            false => Err((fitting, fault)),
        }
    }

    fn missing<'v>(&self, path: &Path<'_>, name: &str, value: Json<'v>) -> Fit<'v> {
        self.wrong(&Path::Missing(path, name), value, || format!("`{name}` is missing"))
    }

    fn value<'v>(&self, shape: &Shape, value: Json<'v>, path: &Path<'_>) -> Fit<'v> {
        match (shape, value.kind()) {
            (Shape::Map(shape), JsonKind::Object) if !matches!(**shape, Shape::Any) => {
                for (name, part) in value.members() {
                    let name = name.decode();
                    self.value(shape, part, &Path::Key(path, &String::from_utf8_lossy(&name)))?;
                }
                Ok(())
            }
            (Shape::Any, _)
            | (Shape::Text, JsonKind::String)
            | (Shape::Bool, JsonKind::Bool)
            | (Shape::Null, JsonKind::Null)
            | (Shape::Object | Shape::Map(_), JsonKind::Object) => Ok(()),
            (Shape::Number { whole, least, most }, JsonKind::Number) => {
                self.number(value, *whole, (*least, *most), path)
            }
            (Shape::Word(words), JsonKind::String) if is_one_of(value, words) => Ok(()),
            (Shape::Named(name), JsonKind::Object) => self.object(name.rows(self.revision), value, path),
            (Shape::List(shape), JsonKind::Array) => {
                value.items().try_for_each(|item| self.value(shape, item, &Path::Item(path)))
            }
            (Shape::OneOf(shapes), _) => self.one_of(shapes, value, path),
            _ => self.unfit(std::slice::from_ref(shape), value, path),
        }
    }

    fn object<'v>(&self, rows: &Rows, value: Json<'v>, path: &Path<'_>) -> Fit<'v> {
        for (fitting, row) in rows.all.iter().enumerate() {
            let fit = match value.member(row.name.text()) {
                Some(_) if matches!(path, Path::Top) && self.left.contains(&row.name.text()) => Ok(()),
                Some(part) => self.value(&row.shape, part, &Path::Member(path, row.name.text())),
                None if row.needed => self.missing(path, row.name.text(), value),
                None => Ok(()),
            };
            fit.map_err(|(_, fault)| (fitting, fault))?;
        }
        Ok(())
    }

    /// One of several shapes. Objects tell by a word, such as that of `type`, which of them they mean to be.
    fn one_of<'v>(&self, shapes: &[Shape], value: Json<'v>, path: &Path<'_>) -> Fit<'v> {
        let kind = value.kind();
        let (mut tag, mut meant) = (None, false);
        let mut faults: Vec<(usize, &Shape, Fault<'v>)> = Vec::new();
        // Which of them is meant does not depend on whose the places in it are.
        let all = Judge { place: None, ..*self };
        let mut tags = Tags { value, last: None };
        for shape in shapes {
            match shape {
                Shape::Named(name) if kind == JsonKind::Object => {
                    let rows = &name.rows(self.revision).tags;
                    if let Some(other) = other_word(rows, &mut tags) {
                        // A word that is there says more than one that is missing.
                        if tag.is_none_or(|tag| value.member(tag).is_none() && value.member(other).is_some())
                        {
                            tag = Some(other);
                        }
                        continue;
                    }
                    meant |= rows.iter().any(|row| tags.word(row.name.text()).is_some());
                }
                _ if !is_kind(shape, kind) => continue,
                _ => {}
            }
            match all.value(shape, value, path) {
                Ok(()) => return Ok(()),
                Err((fitting, fault)) => faults.push((fitting, shape, fault)),
            }
        }
        let best = faults.iter().map(|(fitting, ..)| *fitting).max();
        // A word that is none of theirs says more than what is missing for one that has no word.
        let Some(best) = best.filter(|_| meant || tag.is_none_or(|tag| value.member(tag).is_none())) else {
            return match tag {
                Some(name) => self.tag(name, shapes, value, path),
                None => self.unfit(shapes, value, path),
            };
        };
        faults.retain(|(fitting, ..)| *fitting == best);
        let Some((_, shape, _)) = faults.first() else { return Ok(()) };
        let (fitting, fault) = match self.value(shape, value, path) {
            Err(fit) => fit,
            Ok(()) => return Ok(()),
        };
        let missing = |fault: &Fault<'v>| {
            let name = fault.wrong.strip_suffix(" is missing").filter(|_| fault.place.text() == value.text());
            name.map(str::to_owned)
        };
        let names: Option<Vec<String>> = faults.iter().map(|(.., fault)| missing(fault)).collect();
        let Some(mut names) = names.filter(|_| missing(&fault).is_some()) else {
            return Err((fitting, fault));
        };
        names.dedup();
        self.untold(fitting, Fault { wrong: format!("{} is missing", names.join(" or ")), ..fault })
    }

    /// The word that tells one of these from the others is missing, or is none of theirs.
    fn tag<'v>(&self, name: &str, shapes: &[Shape], value: Json<'v>, path: &Path<'_>) -> Fit<'v> {
        let Some(part) = value.member(name) else { return self.missing(path, name, value) };
        self.wrong(&Path::Member(path, name), part, || {
            let rows = shapes.iter().filter_map(|shape| match shape {
                Shape::Named(name) => Some(&name.rows(self.revision).tags),
                _ => None,
            });
            let of = |row: &&&Member| row.name.text() == name;
            let mut all: Vec<&str> =
                rows.flatten().filter(of).flat_map(|row| words(&row.shape)).copied().collect();
            all.sort_unstable();
            all.dedup();
            format!("`{name}` is {}, and {}", shown(part), not_one_of(&all))
        })
    }

    fn unfit<'v>(&self, shapes: &[Shape], value: Json<'v>, path: &Path<'_>) -> Fit<'v> {
        self.wrong(path, value, || {
            let all: Vec<&str> = shapes.iter().flat_map(words).copied().collect();
            if !all.is_empty() && value.kind() == JsonKind::String {
                return format!("{} is {}, and {}", path.label(), shown(value), not_one_of(&all));
            }
            let mut names: Vec<&str> = shapes.iter().map(noun).collect();
            names.dedup();
            let last = names.pop().unwrap_or_default();
            let names =
                if names.is_empty() { last.to_owned() } else { format!("{} or {last}", names.join(", ")) };
            format!("{} is {}, not {names}", path.label(), value.kind().name())
        })
    }

    fn number<'v>(
        &self,
        value: Json<'v>,
        whole: bool,
        (least, most): (Option<f64>, Option<f64>),
        path: &Path<'_>,
    ) -> Fit<'v> {
        let number = value.text().parse::<f64>().unwrap_or_default();
        if whole && number.fract() != 0.0 {
            return self
                .wrong(path, value, || format!("{} is {}, not an integer", path.label(), shown(value)));
        }
        if let Some(least) = least.filter(|least| number < *least) {
            return self
                .wrong(path, value, || format!("{} is {}, less than {least}", path.label(), shown(value)));
        }
        if let Some(most) = most.filter(|most| number > *most) {
            return self
                .wrong(path, value, || format!("{} is {}, more than {most}", path.label(), shown(value)));
        }
        Ok(())
    }
}

/// The words by which an object may tell what it means to be. Most ask for the same one.
struct Tags<'v> {
    value: Json<'v>,
    last: Option<(&'static str, Option<Json<'v>>)>,
}

impl<'v> Tags<'v> {
    fn word(&mut self, name: &'static str) -> Option<Json<'v>> {
        match self.last {
            Some((last, word)) if last == name => word,
            _ => self.last.insert((name, self.value.member(name))).1,
        }
    }
}

/// The member whose word says that an object is none of these.
fn other_word(rows: &[&'static Member], tags: &mut Tags<'_>) -> Option<&'static str> {
    let other = |row: &&&Member| match tags.word(row.name.text()) {
        None => row.needed,
        Some(part) => !is_one_of(part, words(&row.shape)),
    };
    rows.iter().find(other).map(|row| row.name.text())
}

/// Whether a shape is one of values of this kind.
fn is_kind(shape: &Shape, kind: JsonKind) -> bool {
    match shape {
        Shape::Any => true,
        Shape::Text | Shape::Word(_) => kind == JsonKind::String,
        Shape::Bool => kind == JsonKind::Bool,
        Shape::Null => kind == JsonKind::Null,
        Shape::Number { .. } => kind == JsonKind::Number,
        Shape::List(_) => kind == JsonKind::Array,
        Shape::Object | Shape::Map(_) | Shape::Named(_) => kind == JsonKind::Object,
        Shape::OneOf(shapes) => shapes.iter().any(|shape| is_kind(shape, kind)),
    }
}

fn words(shape: &Shape) -> &[&'static str] {
    if let Shape::Word(words) = shape { words } else { &[] }
}

fn not_one_of(words: &[&str]) -> String {
    if let [word] = words { format!("not {word}") } else { format!("none of {}", words.join(", ")) }
}

fn noun(shape: &Shape) -> &'static str {
    match shape {
        Shape::Text | Shape::Word(_) => JsonKind::String.name(),
        Shape::Bool => JsonKind::Bool.name(),
        Shape::Null => JsonKind::Null.name(),
        Shape::Number { whole: true, .. } => "an integer",
        Shape::Number { .. } => JsonKind::Number.name(),
        Shape::List(_) => JsonKind::Array.name(),
        _ => JsonKind::Object.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST_FAULTS, faults};
    use crate::revision::Revision;
    use crate::shapes::Part;
    use transcript::json::Json;

    /// The faults of a listing of tools, each with the place it stands at.
    fn of_tools(text: &str, revision: Option<Revision>) -> Vec<String> {
        let value = Json::parse(text).unwrap();
        let reported = faults(Part::Result, "tools/list", value, revision);
        reported.iter().map(|fault| format!("{}: {}", fault.place.text(), fault.wrong)).collect()
    }

    #[test]
    fn each_fault_of_a_message_is_told_once_at_its_place() {
        let text = r#"{"tools":[{"inputSchema":{}},{"name":7,"inputSchema":{"type":"object"},"title":true}],"nextCursor":"a"}"#;
        assert_eq!(
            of_tools(text, Some(Revision::V2025_06_18)),
            [
                "{}: `type` is missing",
                r#"{"inputSchema":{}}: `name` is missing"#,
                "7: `name` is a number, not a string",
                "true: `title` is a boolean, not a string",
            ]
        );
        assert_eq!(of_tools(text, None).len(), 1, "nothing shows what every revision refuses");
    }

    #[test]
    fn a_message_that_is_all_wrong_is_told_of_in_part() {
        let text = format!("{{\"tools\":[{}1]}}", "1,".repeat(1_000));
        assert_eq!(of_tools(&text, Some(Revision::V2025_06_18)).len(), MOST_FAULTS);
    }
}
