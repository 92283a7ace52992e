//! What a value holds, by a walk over its text or by its index.

use super::part;
use super::scan::{Scanner, SyntaxError};
use super::string::JsonString;
use super::tree::Tree;
use super::value::{Json, JsonKind};

/// A value of fewer bytes is walked over at once.
const SHORT: usize = 48;

impl<'a> Json<'a> {
    /// Takes `text` as one JSON value, with white space allowed around it.
    ///
    /// # Errors
    /// A [`SyntaxError`] with its byte place in `text` where the text is not exactly one value.
    pub fn parse(text: &'a str) -> Result<Self, SyntaxError> {
        let mut scanner = Scanner::new(text);
        scanner.space();
        let start = scanner.at();
        scanner.value()?;
        let end = scanner.at();
        scanner.end()?;
        Ok(Self::scanned(&text[start..end]))
    }

    /// The members of an object in file order, twice-named ones twice; nothing for any other value.
    #[inline]
    pub fn members(self) -> impl Iterator<Item = (JsonString<'a>, Json<'a>)> {
        let mut inside = part::inside(if self.kind() == JsonKind::Object { self.parts } else { &[] });
        let mut scanner = Scanner::new(self.text);
        let mut more =
            self.parts.is_empty() && self.kind() == JsonKind::Object && scanner.open(b'}').unwrap_or(false);
        std::iter::from_fn(move || {
            if let Some(parts) = inside.next() {
                return Some((self.name_of(parts), self.value_of(parts)));
            }
            if !more {
                return None;
            }
            let key = scanner.key().ok()?;
            let value = scanner.take().ok()?;
            more = scanner.more(b'}').unwrap_or(false);
            Some((key, value))
        })
    }

    /// The first member with this name.
    #[must_use]
    #[inline]
    pub fn member(self, name: &str) -> Option<Json<'a>> {
        match self.parts.first() {
            Some(whole) => whole.may_name(name).then(|| self.member_apart(name))?,
            None => self.member_in_text(name),
        }
    }

    fn member_in_text(self, name: &str) -> Option<Json<'a>> {
        if !self.may_name(name) {
            return None;
        }
        self.members().find(|(key, _)| key.is(name)).map(|(_, value)| value)
    }

    /// Whether a member may have this name, reported without taking the value apart. Most questions for a member are
    /// about one that is not there, and a search for bytes is many times as fast as a walk over members.
    fn may_name(self, name: &str) -> bool {
        let text = self.text.as_bytes();
        let found = |part: &[u8]| memchr::memmem::find(text, part).is_some();
        text.len() < SHORT
            || found(name.as_bytes())
            // Any character may stand there as an escape of its number, a slash behind a backslash, and what has
            // to be escaped in some other way.
            || found(b"\\u")
            || name.contains('/') && found(b"\\/")
            || name.contains(|char: char| char.is_control() || matches!(char, '"' | '\\'))
    }

    /// The items of an array in order; nothing for any other value.
    #[inline]
    pub fn items(self) -> impl Iterator<Item = Json<'a>> {
        let mut inside = part::inside(if self.kind() == JsonKind::Array { self.parts } else { &[] });
        let mut scanner = Scanner::new(self.text);
        let mut more =
            self.parts.is_empty() && self.kind() == JsonKind::Array && scanner.open(b']').unwrap_or(false);
        std::iter::from_fn(move || {
            if let Some(parts) = inside.next() {
                return Some(self.value_of(parts));
            }
            if !more {
                return None;
            }
            let value = scanner.take().ok()?;
            more = scanner.more(b']').unwrap_or(false);
            Some(value)
        })
    }

    /// Whether two values are equal: bytes first, and by value only where the bytes differ (clauses EQ-ARGS,
    /// EQ-OUTCOME). Members in any order, numbers by the decimal they denote, strings by code points; members
    /// of one name must agree in their order among themselves.
    #[must_use]
    pub fn same(self, other: Json<'_>) -> bool {
        self.text == other.text || Tree::new(self).same(&Tree::new(other))
    }
}

/// Shows each member of the object that `text` is, but for the one whose value is `known`: a part of `text` that was read before,
/// and is stepped over. Most lines of a trace are one long message with little around it.
///
/// # Errors
/// Where the text is not an object; what came before the fault has been shown.
pub fn members_around<'a>(
    text: &'a str,
    known: &str,
    mut take: impl FnMut(JsonString<'a>, Json<'a>),
) -> Result<(), SyntaxError> {
    let known_at = known.as_ptr().addr().checked_sub(text.as_ptr().addr()).filter(|_| !known.is_empty());
    let mut scanner = Scanner::new(text);
    scanner.space();
    if scanner.peek() != Some(b'{') {
        return Err(scanner.fault("an object"));
    }
    let mut more = scanner.open(b'}')?;
    while more {
        let name = scanner.key()?;
        if known_at == Some(scanner.at()) {
            scanner = Scanner::starting(text, scanner.at() + known.len());
        } else {
            take(name, scanner.take()?);
        }
        more = scanner.more(b'}')?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Json;

    fn same(a: &str, b: &str) -> bool {
        Json::parse(a).unwrap().same(Json::parse(b).unwrap())
    }

    #[test]
    fn equality_is_by_value_where_bytes_differ() {
        assert!(same(r#"{"a":1,"b":[2,3]}"#, r#"{ "b" : [2.0, 3e0], "a" : 10e-1 }"#));
        assert!(same(r#""\u0061\ud83d\ude00""#, "\"a😀\""));
        assert!(same(r#"{"\u0061":null}"#, r#"{"a":null}"#));
        for (a, b) in [
            ("9007199254740993", "9007199254740992"),
            (r#""é""#, "\"e\u{301}\""),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
            (r#"{"a":1,"a":1}"#, r#"{"a":1}"#),
            ("[1,2]", "[2,1]"),
            ("[]", "{}"),
            ("null", "false"),
            (r#""1""#, "1"),
            (r#""\ud83d""#, r#""\ud83e""#),
        ] {
            assert!(!same(a, b), "{a} and {b}");
            assert!(same(a, a) && same(b, b));
        }
        assert!(same(r#"{"a":1,"b":0,"a":2}"#, r#"{"b":0,"a":1,"a":2}"#));
    }

    #[test]
    fn members_and_items_keep_what_was_written() {
        let value = Json::parse(r#" {"a" : 1E5 , "a":"x", "":[ true ,{} ]} "#).unwrap();
        let members: Vec<_> = value.members().map(|(key, value)| (key.raw(), value.text())).collect();
        assert_eq!(members, [("a", "1E5"), ("a", "\"x\""), ("", "[ true ,{} ]")]);
        let items: Vec<_> = value.member("").unwrap().items().map(Json::text).collect();
        assert_eq!(items, ["true", "{}"]);
        assert_eq!(Json::parse("{}").unwrap().members().count(), 0);
        assert_eq!(Json::parse("[ ]").unwrap().items().count(), 0);
    }

    #[test]
    fn a_member_is_found_however_its_name_is_spelled() {
        let filler = "x".repeat(super::SHORT);
        for key in ["a/b", "a\\/b", "a\\u002fb", "\\u0061/b"] {
            let text = format!(r#"{{"filler":"{filler}","{key}":1}}"#);
            assert_eq!(Json::parse(&text).unwrap().member("a/b").map(Json::text), Some("1"), "{key}");
        }
        for (key, name) in [("\\u006eame", "name"), ("na\\tme", "na\tme"), ("n", "name"), ("name", "name")] {
            let text = format!(r#"{{"filler":"{filler}","{key}":1}}"#);
            let found = Json::parse(&text).unwrap().member(name);
            assert_eq!(found.is_some(), key != "n", "{key}");
        }
    }

    #[test]
    fn a_million_levels_are_only_a_long_text() {
        let deep = "[".repeat(1_000_000) + &"]".repeat(1_000_000);
        let spaced = "[ ".repeat(1_000_000) + &"]".repeat(1_000_000);
        assert!(same(&deep, &spaced));
    }
}
