//! JSON values as they are and as somebody who means harm would choose them.
//!
//! The spellings on which readers part (numbers that no float holds, escapes, lone surrogates, line separators, members
//! named twice, depth) and how to write a value with and without white space. A value is a small tree of choices, so
//! that a failing one shrinks to the choice that matters.

use arbitrary::Arbitrary;

/// Numbers by their spelling. The plain ones come first, since shrinking ends there.
pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2.5",
    "9007199254740993",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "-0",
    "-0.0",
    "1.0",
    "1e0",
    "1E+2",
    "1e-400",
    "1e400",
    "0.1000000000000000055511151231257827",
];

/// Strings by their spelling, with their quotes.
pub const TEXTS: &[&str] = &[
    r#""a""#,
    r#""""#,
    r#""null""#,
    r#""é""#,
    "\"e\u{301}\"",
    r#""\u00e9""#,
    r#""😀""#,
    r#""\ud83d\ude00""#,
    r#""\uD83D""#,
    r#""\ude00\ud83d""#,
    "\"\u{2028}\u{2029}\u{85}\"",
    r#""\u2028""#,
    r#""\u0000\b\f\n\r\t\"\\\/""#,
    "\"\u{feff}\u{7f}\"",
    "\"\u{d7ff}\u{e000}\u{10ffff}\"",
    r#""{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}""#,
    r#""data: x\n\nevent: y\r\n\r\n""#,
    r#"" :,[]{}//# ""#,
    r#""[REDACTED]""#,
];

/// Member names by their spelling; two of them denote the same name.
pub const NAMES: &[&str] = &[
    r#""a""#,
    r#""b""#,
    r#""""#,
    r#""\u0061""#,
    r#""id""#,
    r#""jsonrpc""#,
    r#""method""#,
    r#""result""#,
    r#""name""#,
    r#""arguments""#,
    r#""__proto__""#,
    r#""raw""#,
    r#""é~/ ""#,
];

const WORDS: &[&str] = &["null", "true", "false"];

/// What replaces an altered value. No table here has it.
pub const ALTERED: &str = r#""altered""#;

/// A value by the choices that make it.
#[derive(Debug, Clone, Arbitrary)]
pub enum Value {
    /// One of null, true and false.
    Word(u8),
    /// One of [`NUMBERS`].
    Number(u8),
    /// One of [`TEXTS`].
    Text(u8),
    /// An array.
    Array(Vec<Value>),
    /// An object, by one of [`NAMES`] for each member.
    Object(Vec<(u8, Value)>),
    /// Nothing but levels, arrays and objects in turn.
    Deep(u8),
    /// The one value that is nowhere else.
    #[arbitrary(skip)]
    Altered,
}

/// One of a table's spellings.
pub fn pick<'t>(table: &[&'t str], choice: u8) -> &'t str {
    table.get(usize::from(choice) % table.len().max(1)).copied().unwrap_or("null")
}

impl Value {
    /// The value's text; `loose` puts white space wherever it is allowed.
    pub fn spell(&self, loose: bool) -> String {
        let space = if loose { " \t" } else { "" };
        match self {
            Self::Word(choice) => pick(WORDS, *choice).to_owned(),
            Self::Number(choice) => pick(NUMBERS, *choice).to_owned(),
            Self::Text(choice) => pick(TEXTS, *choice).to_owned(),
            Self::Altered => ALTERED.to_owned(),
            Self::Array(items) => {
                let items: Vec<_> = items.iter().map(|item| item.spell(loose)).collect();
                format!("[{space}{}{space}]", items.join(&format!("{space},{space}")))
            }
            Self::Object(members) => object(
                members.iter().map(|(name, value)| (pick(NAMES, *name), value.spell(loose))).collect(),
                loose,
            ),
            Self::Deep(levels) => {
                let pairs = usize::from(*levels) / 2;
                format!("{}0{}", r#"[{"d":"#.repeat(pairs), "}]".repeat(pairs))
            }
        }
    }

    /// Replaces one value in the tree, and returns the names and indices that lead to it.
    pub fn alter(&mut self, choice: usize) -> Vec<String> {
        match self {
            Self::Array(items) if !items.is_empty() => {
                let (index, rest) = (choice % items.len(), choice / items.len());
                let mut path = vec![index.to_string()];
                path.extend(items[index].alter(rest));
                path
            }
            Self::Object(members) if !members.is_empty() => {
                let (index, rest) = (choice % members.len(), choice / members.len());
                let (name, value) = &mut members[index];
                let mut path = vec![plain_name(*name).to_owned()];
                path.extend(value.alter(rest));
                path
            }
            other => {
                *other = Self::Altered;
                Vec::new()
            }
        }
    }
}

/// The name that a choice denotes.
fn plain_name(choice: u8) -> &'static str {
    match pick(NAMES, choice) {
        r#""\u0061""# => "a",
        quoted => quoted.trim_matches('"'),
    }
}

/// An object of members that are spelled already.
pub fn object(members: Vec<(&str, String)>, loose: bool) -> String {
    let space = if loose { " \t" } else { "" };
    let members: Vec<_> =
        members.iter().map(|(name, value)| format!("{name}{space}:{space}{value}")).collect();
    format!("{{{space}{}{space}}}", members.join(&format!("{space},{space}")))
}

#[cfg(test)]
mod tests {
    use super::{ALTERED, NAMES, NUMBERS, TEXTS};
    use serde_json::value::RawValue;

    #[test]
    fn every_spelling_is_json_of_its_kind() {
        for (table, first) in [(NUMBERS, "-0123456789"), (TEXTS, "\""), (NAMES, "\"")] {
            for text in table {
                assert!(serde_json::from_str::<&RawValue>(text).is_ok(), "{text}");
                assert!(text.starts_with(|letter| first.contains(letter)), "{text}");
                assert!(!text.contains(ALTERED.trim_matches('"')));
            }
        }
    }
}
