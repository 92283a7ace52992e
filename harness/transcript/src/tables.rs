//! Reads the tables of prose that a crate embeds while that crate is compiled: they cost no start, and one that is
//! spelled wrong does not build.
//!
//! They are TOML, of which only this is understood: headers, comments on lines of their own, and keys with a string or
//! `true`. No escape is undone but that of a line break: a text with a quote or a backslash is written within `'` or
//! `'''`, and a long one within `"""`, with a backslash at the end of each line that goes on in the next.

/// What comes next in a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// A header, without its brackets and quotes.
    Header(&'static str),
    /// A key and its value.
    Field(&'static str, &'static str),
}

/// The next item of a text, and what stands behind it.
///
/// # Panics
///
/// Where the text is not what the head of this file says; the compiler shows that as an error.
#[must_use]
pub const fn next(mut text: &'static str) -> Option<(Item, &'static str)> {
    loop {
        match text.as_bytes() {
            [] => return None,
            [b'\n', ..] => text = text.split_at(1).1,
            [b'#', ..] => text = split(text, "\n").1,
            [b'[', b'"', ..] => {
                let (header, rest) = split(text.split_at(2).1, "\"]\n");
                return Some((Item::Header(header), rest));
            }
            _ => {
                let (key, rest) = split(text, " = ");
                let (value, rest) = value(rest);
                return Some((Item::Field(key, value), rest));
            }
        }
    }
}

/// A text with the lines that go on in the next joined to it. What that saves is empty lines at the end.
#[must_use]
pub const fn joined<const LENGTH: usize>(text: &str) -> [u8; LENGTH] {
    let (mut rest, mut out, mut end) = (text.as_bytes(), [b'\n'; LENGTH], 0);
    while let [byte, more @ ..] = rest {
        rest = more;
        if let (b'\\', [b'\n', next @ ..]) = (*byte, more) {
            rest = next.trim_ascii_start();
        } else {
            out[end] = *byte;
            end += 1;
        }
    }
    out
}

/// How many headers a text has.
#[must_use]
pub const fn headers(mut text: &'static str) -> usize {
    let mut count = 0;
    while let Some((item, rest)) = next(text) {
        if matches!(item, Item::Header(_)) {
            count += 1;
        }
        text = rest;
    }
    count
}

/// Whether two texts are the same.
#[must_use]
pub const fn same(one: &str, other: &str) -> bool {
    one.len() == other.len() && starts_with(one.as_bytes(), other.as_bytes())
}

/// A value, and the lines behind it.
const fn value(text: &'static str) -> (&'static str, &'static str) {
    let quote = match text.as_bytes() {
        [b'\'', b'\'', b'\'', ..] => "'''",
        [b'\'', ..] => "'",
        [b'"', b'"', b'"', ..] => "\"\"\"",
        [b'"', ..] => "\"",
        _ => return split(text, "\n"),
    };
    let (value, rest) = split(text.split_at(quote.len()).1, quote);
    assert!(quote.as_bytes()[0] != b'"' || !has(value, b'\\'), "a text with a backslash is written within '");
    // The line break behind ''' is not part of the text.
    let value = if starts_with(value.as_bytes(), b"\n") { value.split_at(1).1 } else { value };
    (value, split(rest, "\n").1)
}

/// What stands before a mark, and what behind it.
///
/// # Panics
///
/// Where there is none.
#[must_use]
pub const fn split(text: &'static str, mark: &str) -> (&'static str, &'static str) {
    let mut bytes = text.as_bytes();
    while !starts_with(bytes, mark.as_bytes()) {
        assert!(!bytes.is_empty(), "a key, a quote or a line of a table has no end");
        bytes = bytes.split_at(1).1;
    }
    let (before, rest) = text.split_at(text.len() - bytes.len());
    (before, rest.split_at(mark.len()).1)
}

const fn starts_with(mut text: &[u8], mut start: &[u8]) -> bool {
    while let [first, more @ ..] = start {
        let [byte, rest @ ..] = text else { return false };
        if *byte != *first {
            return false;
        }
        (text, start) = (rest, more);
    }
    true
}

const fn has(text: &str, wanted: u8) -> bool {
    let mut bytes = text.as_bytes();
    while let [byte, rest @ ..] = bytes {
        if *byte == wanted {
            return true;
        }
        bytes = rest;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Of both.\nkind = \"a\"\n\n[\"one\"]\nopen = true\nsaid = 'it says \"no\"'\n\n[\"two\"]\nlines = '''\n1 'x'\n2'''\n";

    #[test]
    fn a_table_is_read_in_its_order() {
        let mut rest = TEXT;
        let items = std::iter::from_fn(|| {
            let (item, behind) = next(rest)?;
            rest = behind;
            Some(item)
        });
        let fields = [Item::Field("open", "true"), Item::Field("said", "it says \"no\"")];
        let [first, second] = [Item::Header("one"), Item::Header("two")];
        let expected = [Item::Field("kind", "a"), first, fields[0], fields[1], second];
        assert_eq!(items.collect::<Vec<_>>(), [&expected[..], &[Item::Field("lines", "1 'x'\n2")]].concat());
        assert_eq!(headers(TEXT), 2);
    }

    #[test]
    fn a_long_text_goes_on_in_the_next_line() {
        const LONG: &str = "why = \"\"\"\\\n  One \\\n  two.\"\"\"\nopen = true\n";
        const JOINED: [u8; LONG.len()] = joined(LONG);
        let Some((item, rest)) = next(std::str::from_utf8(&JOINED).unwrap()) else { panic!() };
        assert_eq!((item, rest.trim_end()), (Item::Field("why", "One two."), "open = true"));
    }

    #[test]
    fn what_is_spelled_otherwise_is_refused() {
        for text in ["said = \"no end\n", "said = \"a \\ b\"\n", "said\n", "[\"one]\n"] {
            assert!(std::panic::catch_unwind(|| next(text)).is_err(), "{text}");
        }
    }
}
