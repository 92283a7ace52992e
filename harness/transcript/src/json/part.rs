//! A value taken apart once, so that asking for its members again and again walks over no text.
//!
//! Memory: 24 bytes for each value inside; a value with more than [`MAX_INDEXED`] of them is left as it is, and its
//! members are looked for in its text.

use super::member_name::{ESCAPED, MemberName, bit};
use super::scan::{Scanner, SyntaxError, Watch};
use super::string::JsonString;
use super::value::{Json, JsonKind, MemberIndex};
use super::word;
use std::ops::Range;

/// A value of more parts is not taken apart.
pub const MAX_INDEXED: usize = 400_000;

/// The names of more members are not compared with each other here.
const MOST_COMPARED: usize = 24;

/// Beside the bits of names: two members of the object have the same bit, so that they may have the same name.
const ALIKE: u32 = 1 << 31;

/// In the place of a length of the whole: no object in it has two members of one name.
const ALL_DIFFER: u32 = 1;

/// No container is open.
const NONE: u32 = u32::MAX;

/// In the place of how long a list of parts may grow: it would have grown longer.
const FULL: usize = 0;

/// Takes apart `text`, which is one JSON value without white space around it, into `parts`. Whatever is in there is
/// thrown away; it stays empty where the value is too large.
pub fn index_members(text: &str, parts: &mut Vec<MemberIndex>) {
    // What is not JSON has no parts.
    parts.clear();
    let _ = index_value(text, &mut Scanner::new(text), parts);
}

/// Moves `scanner`, which runs over `text`, past one value, and takes it apart on the way, as [`index_members`] does. Its
/// parts come behind what is in `parts`, and nothing does where it is too large.
///
/// # Errors
/// Where the text is not a value.
pub(crate) fn index_value<'a>(
    text: &'a str,
    scanner: &mut Scanner<'a>,
    parts: &mut Vec<MemberIndex>,
) -> Result<(), SyntaxError> {
    let first = parts.len();
    let mut indexer = Indexer {
        bytes: text.as_bytes(),
        base: scanner.at(),
        first,
        parts,
        most: if text.len() < ESCAPED as usize { first + MAX_INDEXED } else { FULL },
        top: NONE,
        names: 0,
        name: 0,
        length: 0,
        differ: true,
    };
    let whole = scanner.watched(&mut indexer);
    let Indexer { differ, most, .. } = indexer;
    if most == FULL || whole.is_err() {
        parts.truncate(first);
    }
    // The whole has no name.
    if let Some(whole) = parts.get_mut(first) {
        whole.length = if differ { ALL_DIFFER } else { 0 };
    }
    whole
}

/// Takes a value apart while a scanner moves past it.
struct Indexer<'t, 'p> {
    bytes: &'t [u8],
    /// Where the value begins.
    base: usize,
    /// Where its parts begin. Containers are numbered from there, and while one is open, its count is the number of the one
    /// around it.
    first: usize,
    parts: &'p mut Vec<MemberIndex>,
    /// So long they may grow.
    most: usize,
    /// The container that began last and is open, and the names in it so far. Those of a container around it are kept in its part
    /// meanwhile.
    top: u32,
    names: u32,
    /// The last name.
    name: u32,
    length: u32,
    /// In no object a name stands twice, as far as was seen.
    differ: bool,
}

impl Indexer<'_, '_> {
    #[inline]
    fn place(&self, at: usize) -> u32 {
        // A longer text is not taken apart.
        (at - self.base) as u32
    }

    /// The container that is open, as a part.
    #[inline]
    fn around(&mut self) -> Option<&mut MemberIndex> {
        // Around the outermost there is none, and its number is past what 32 bits can add to.
        (self.top != NONE).then(|| self.parts.get_mut(self.first + self.top as usize))?
    }

    #[inline]
    fn push(&mut self, start: usize, end: usize, count: u32) {
        if self.parts.len() >= self.most {
            self.most = FULL;
            return;
        }
        // What is in no object keeps a name that nobody asks for.
        let (name, length) = (self.name, self.length);
        let (start, end) = (self.place(start), self.place(end));
        self.parts.push(MemberIndex { start, end, name, length, count, names: 0 });
    }
}

impl Watch for Indexer<'_, '_> {
    #[inline]
    fn name(&mut self, start: usize, end: usize, escaped: bool) {
        self.name = self.place(start);
        self.length = (end - start) as u32 | u32::from(escaped) << ESCAPED.trailing_zeros();
        let bit = bit(self.bytes.get(start), self.length);
        self.names |= bit | u32::from(self.names & bit != 0) << ALIKE.trailing_zeros();
    }

    #[inline]
    fn scalar(&mut self, start: usize, end: usize) {
        self.push(start, end, 1);
    }

    #[inline]
    fn open(&mut self, at: usize) {
        let number = u32::try_from(self.parts.len() - self.first).unwrap_or(NONE);
        self.push(at, at, self.top);
        let names = self.names;
        if let Some(around) = self.around() {
            around.names = names;
        }
        (self.top, self.names) = (number, 0);
    }

    #[inline]
    fn close(&mut self, end: usize) {
        let (number, end) = (self.first + self.top as usize, self.place(end));
        let count = u32::try_from(self.parts.len().saturating_sub(number)).unwrap_or(NONE);
        let Some(part) = self.parts.get_mut(number).filter(|_| self.most != FULL) else { return };
        (part.end, part.names) = (end, self.names);
        self.top = std::mem::replace(&mut part.count, count);
        if part.names & ALIKE != 0 {
            let bytes = self.bytes.get(self.base..).unwrap_or_default();
            self.differ = self.differ && !repeats(bytes, &self.parts[number..]);
        }
        self.names = self.around().map_or(0, |around| around.names);
    }
}

/// What is inside of `text`, for anyone who keeps it no longer than the text.
#[must_use]
pub fn member_index(text: &str) -> Vec<MemberIndex> {
    // Names, numbers and texts of ordinary messages are about as long as this.
    let mut parts = Vec::with_capacity((text.len() / 12).min(1 << 10) + 4);
    index_members(text, &mut parts);
    parts
}

/// Whether two members of an object may have one name. Its parts are the last that were made.
#[inline]
fn repeats(bytes: &[u8], object: &[MemberIndex]) -> bool {
    let name_of = |part: &MemberIndex| bytes.get(part.name as usize..(part.name + part.length) as usize);
    for (index, parts) in inside(object).enumerate() {
        let Some(part) = parts.first().filter(|part| index < MOST_COMPARED && part.length & ESCAPED == 0)
        else {
            return true;
        };
        let same = |before: &[MemberIndex]| {
            before.first().is_some_and(|before| {
                let both = name_of(before).zip(name_of(part));
                before.length == part.length
                    && both.is_none_or(|(one, other)| one.eq_ignore_ascii_case(other))
            })
        };
        if inside(object).take(index).any(same) {
            return true;
        }
    }
    false
}

/// The values directly inside of the one that `parts` begins with, each with what it has inside.
pub(super) fn inside(parts: &[MemberIndex]) -> Inside<'_> {
    let count = parts.first().map_or(0, |part| part.count as usize);
    Inside(parts.get(1..count).unwrap_or_default())
}

pub(super) struct Inside<'p>(&'p [MemberIndex]);

impl<'p> Iterator for Inside<'p> {
    type Item = &'p [MemberIndex];

    #[inline]
    fn next(&mut self) -> Option<&'p [MemberIndex]> {
        let count = self.0.first()?.count as usize;
        let (part, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(part)
    }
}

/// Where a member stands in the text of the whole that was taken apart.
pub(crate) struct MemberPlace<'a> {
    pub(crate) name: JsonString<'a>,
    /// Where its name begins, behind the quote.
    pub(crate) name_at: usize,
    pub(crate) value: Range<usize>,
    /// What is inside of its value.
    pub(crate) parts: &'a [MemberIndex],
    /// Which part of the whole its value is.
    pub(crate) number: u32,
}

impl<'a> Json<'a> {
    /// A value whose text was taken apart into `parts`; where they are empty, it is what it was.
    #[must_use]
    pub fn indexed(text: &'a str, parts: &'a [MemberIndex]) -> Self {
        Self { text, parts }
    }

    /// What is inside of it, where it was taken apart.
    #[must_use]
    pub fn index(self) -> &'a [MemberIndex] {
        self.parts
    }

    /// Where the members of an object stand that was taken apart.
    #[inline]
    pub(crate) fn places(self) -> impl Iterator<Item = MemberPlace<'a>> {
        let members = if self.kind() == JsonKind::Object { self.parts } else { &[] };
        let mut next = 1;
        inside(members).filter_map(move |parts| {
            let part = parts.first()?;
            let (number, value) = (next, part.start as usize..part.end as usize);
            next += part.count;
            Some(MemberPlace { name: self.name_of(parts), name_at: part.name as usize, value, parts, number })
        })
    }

    /// A value directly inside.
    #[inline]
    pub(super) fn value_of(self, parts: &'a [MemberIndex]) -> Json<'a> {
        let base = self.parts.first().map_or(0, |part| part.start);
        let text = parts
            .first()
            .and_then(|part| self.text.get((part.start - base) as usize..(part.end - base) as usize));
        Self { text: text.unwrap_or("null"), parts }
    }

    /// The name of a value directly inside.
    #[inline]
    pub(super) fn name_of(self, parts: &[MemberIndex]) -> JsonString<'a> {
        let base = self.parts.first().map_or(0, |part| part.start);
        let raw = parts.first().and_then(|part| {
            let start = (part.name - base) as usize;
            self.text.get(start..start + (part.length & !ESCAPED) as usize)
        });
        JsonString::bare(raw.unwrap_or_default())
    }

    /// The first member of this name, of a value that was taken apart.
    pub(super) fn member_apart(self, name: &str) -> Option<Json<'a>> {
        let whole = self.parts.first()?;
        let (text, wanted) = (self.text.as_bytes(), name.as_bytes());
        let parts = self.parts.get(..whole.count as usize)?;
        let mut at = 1;
        while let Some(part) = parts.get(at) {
            // A name of another length is another one, unless something in it is escaped.
            let is_it = if part.length as usize == wanted.len() {
                let start = (part.name - whole.start) as usize;
                text.get(start..start + wanted.len()).is_some_and(|name| word::same(name, wanted))
            } else {
                part.length & ESCAPED != 0 && self.name_of(&parts[at..]).is(name)
            };
            if is_it {
                return Some(self.value_of(parts.get(at..at + part.count as usize)?));
            }
            at += part.count as usize;
        }
        None
    }

    /// The first member with this name.
    #[must_use]
    #[inline]
    pub fn member_named(self, name: MemberName) -> Option<Json<'a>> {
        match self.parts.first() {
            Some(whole) if whole.names & name.bit == 0 => None,
            Some(_) => self.member_apart(name.text),
            None => self.member(name.text),
        }
    }

    /// Whether some object in it may have two members of one name, in whatever case. That none has is certain; that one
    /// may is said also of names with escapes, of many members, and of a value that was not taken apart as a whole.
    #[must_use]
    pub fn may_have_duplicates(self) -> bool {
        self.parts.first().is_none_or(|part| part.length & ALL_DIFFER == 0 || part.start > 0)
    }

    /// Whether the value, or one at any depth in it, may have a member of this name. That none has is certain; that one may is
    /// said of every value that was not taken apart, and of more names than there are.
    #[must_use]
    pub fn may_hold(self, name: &str) -> bool {
        let count = self.parts.first().map_or(0, |whole| whole.count as usize);
        self.parts
            .get(..count)
            .is_none_or(|parts| parts.is_empty() || parts.iter().any(|part| part.may_name(name)))
    }

    /// What is inside of the part of this number.
    #[inline]
    pub(crate) fn part(self, number: u32) -> &'a [MemberIndex] {
        let parts = self.parts.get(number as usize..).unwrap_or_default();
        let count = parts.first().map_or(0, |part| part.count as usize);
        parts.get(..count).unwrap_or_default()
    }

    /// The value directly inside whose text begins at byte `at` of this one's.
    #[must_use]
    pub fn value_at(self, at: usize) -> Option<Json<'a>> {
        let base = self.parts.first()?.start as usize;
        inside(self.parts)
            .find(|parts| parts.first().is_some_and(|part| part.start as usize == base + at))
            .map(|parts| self.value_of(parts))
    }
}

#[cfg(test)]
mod tests;
