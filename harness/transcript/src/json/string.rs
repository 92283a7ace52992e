//! JSON strings, compared and decoded by code points.
//!
//! Decoded text is WTF-8: UTF-8 in which a lone surrogate has its three-byte form.

use super::word;
use std::borrow::Cow;

/// In texts of at least this many bytes `memchr` finds a byte sooner than a plain loop does.
const LONG: usize = 64;

/// A JSON string by the text between its quotes, escapes untouched.
#[derive(Debug, Clone, Copy)]
pub struct JsonString<'a>(&'a str);

impl<'a> JsonString<'a> {
    /// From valid JSON text with its quotes.
    #[inline]
    pub(crate) fn quoted(text: &'a str) -> Self {
        Self(text.get(1..text.len().saturating_sub(1)).unwrap_or_default())
    }

    /// From the valid JSON text between the quotes.
    #[inline]
    pub(super) fn bare(text: &'a str) -> Self {
        Self(text)
    }

    /// The text between the quotes, as written.
    #[must_use]
    #[inline]
    pub fn raw(self) -> &'a str {
        self.0
    }

    /// Whether the string denotes `plain`.
    #[must_use]
    #[inline]
    pub fn is(self, plain: &str) -> bool {
        self.0 == plain && !plain.contains('\\')
            || self.0.len() > plain.len() && self.is_escaped() && *self.decode() == *plain.as_bytes()
    }

    /// The string's code points as WTF-8; borrowed where nothing is escaped.
    #[must_use]
    #[inline]
    pub fn decode(self) -> Cow<'a, [u8]> {
        match self.first_escape() {
            None => Cow::Borrowed(self.0.as_bytes()),
            Some(first) => Cow::Owned(unescape(self.0.as_bytes(), first)),
        }
    }

    #[inline]
    fn first_escape(self) -> Option<usize> {
        let text = self.0.as_bytes();
        if text.len() < LONG { word::find(b'\\', text) } else { memchr::memchr(b'\\', text) }
    }

    /// Whether something in it is escaped, so that it may read otherwise than it is spelled.
    #[inline]
    pub(crate) fn is_escaped(self) -> bool {
        self.first_escape().is_some()
    }

    /// The string as UTF-8, where it has no lone surrogate.
    #[must_use]
    #[inline]
    pub fn to_str(self) -> Option<Cow<'a, str>> {
        match self.decode() {
            Cow::Borrowed(_) => Some(Cow::Borrowed(self.0)),
            Cow::Owned(bytes) => String::from_utf8(bytes).ok().map(Cow::Owned),
        }
    }
}

impl PartialEq for JsonString<'_> {
    fn eq(&self, other: &Self) -> bool {
        let escaped = || self.is_escaped() || other.is_escaped();
        self.0 == other.0 || escaped() && self.decode() == other.decode()
    }
}

impl Eq for JsonString<'_> {}

/// The string of valid JSON `text` whose first quote stands at `at`. It takes two bytes more there than its raw text has.
#[must_use]
#[inline]
pub fn string_at(text: &str, at: usize) -> JsonString<'_> {
    JsonString(text.get(at + 1..content_end(text.as_bytes(), at + 1).0).unwrap_or_default())
}

/// Where the string of valid JSON ends whose content begins at `at`, and whether something in it is escaped. Eight bytes at a
/// time.
#[inline]
pub(super) fn content_end(bytes: &[u8], mut at: usize) -> (usize, bool) {
    let mut escaped = false;
    loop {
        while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
            let word = u64::from_le_bytes(*chunk);
            let found = word::equal(word, b'"') | word::equal(word, b'\\');
            if found != 0 {
                at += found.trailing_zeros() as usize / 8;
                break;
            }
            at += 8;
        }
        match bytes.get(at) {
            Some(b'\\') => {
                escaped = true;
                at += 2;
            }
            Some(b'"') | None => return (at.min(bytes.len()), escaped),
            Some(_) => at += 1,
        }
    }
}

/// Writes WTF-8 `text` as a JSON string with its quotes: what must be escaped is, nothing else, and a lone
/// surrogate goes out as the escape it came in as.
pub fn write_string(text: &[u8], out: &mut Vec<u8>) {
    out.push(b'"');
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(plain(rest));
        out.extend_from_slice(plain);
        let Some((&byte, behind)) = special.split_first() else { break };
        rest = behind;
        match (byte, behind) {
            (b'"' | b'\\', _) => out.extend_from_slice(&[b'\\', byte]),
            (b'\n', _) => out.extend_from_slice(b"\\n"),
            (b'\r', _) => out.extend_from_slice(b"\\r"),
            (b'\t', _) => out.extend_from_slice(b"\\t"),
            (0xed, [second @ 0xa0..=0xbf, third, behind @ ..]) => {
                rest = behind;
                write_unit(0xd000 | (u16::from(*second) & 0x3f) << 6 | u16::from(*third) & 0x3f, out);
            }
            (0xed, _) => out.push(byte),
            _ => write_unit(u16::from(byte), out),
        }
    }
    out.push(b'"');
}

/// How many bytes stand before the next one that may have to be escaped.
fn plain(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let special = word::special(word) | word::equal(word, 0xed);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\' | 0xed);
    at + bytes[at..].iter().position(special).unwrap_or(bytes.len() - at)
}

fn write_unit(unit: u16, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |shift: u32| DIGITS[usize::from(unit >> shift & 0xf)];
    out.extend_from_slice(&[b'\\', b'u', digit(12), digit(8), digit(4), digit(0)]);
}

fn unescape(raw: &[u8], first: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    let mut next = Some(first);
    while let Some(at) = next {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let taken = match *rest {
            [_, b'u', a, b, c, d, ..] => {
                let high = hex([a, b, c, d]);
                match *rest.get(6..).unwrap_or_default() {
                    [b'\\', b'u', a, b, c, d, ..]
                        if (0xd800..0xdc00).contains(&high)
                            && (0xdc00..0xe000).contains(&hex([a, b, c, d])) =>
                    {
                        push_code_point(
                            0x10000 + ((high - 0xd800) << 10) + (hex([a, b, c, d]) - 0xdc00),
                            &mut out,
                        );
                        12
                    }
                    _ => {
                        push_code_point(high, &mut out);
                        6
                    }
                }
            }
            [_, letter, ..] => {
                out.push(match letter {
                    b'n' => b'\n',
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'b' => 8,
                    b'f' => 12,
                    other => other,
                });
                2
            }
            _ => rest.len(),
        };
        rest = &rest[taken..];
        next = memchr::memchr(b'\\', rest);
    }
    out.extend_from_slice(rest);
    out
}

fn hex(digits: [u8; 4]) -> u32 {
    digits.iter().fold(0, |value, &digit| value << 4 | char::from(digit).to_digit(16).unwrap_or_default())
}

fn push_code_point(code: u32, out: &mut Vec<u8>) {
    if let Some(char) = char::from_u32(code) {
        out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        // Only a lone surrogate is not a `char` here: WTF-8 gives it the three-byte form.
        let tail = |shift: u32| 0x80 | u8::try_from(code >> shift & 0x3f).unwrap_or_default();
        out.extend_from_slice(&[0xe0 | u8::try_from(code >> 12).unwrap_or_default(), tail(6), tail(0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Json;
    use super::{string_at, write_string};
    use proptest::prelude::*;

    fn decoded(text: &str) -> Vec<u8> {
        Json::parse(text).unwrap().as_text().unwrap().decode().into_owned()
    }

    fn written(text: &[u8]) -> String {
        let mut out = Vec::new();
        write_string(text, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn escapes_denote_code_points() {
        assert_eq!(decoded(r#""\"\\\/\b\f\n\r\t\u0041""#), b"\"\\/\x08\x0c\n\r\tA");
        assert_eq!(decoded(r#""\ud83d\ude00""#), "😀".as_bytes());
        assert_eq!(decoded(r#""\ud83d""#), [0xed, 0xa0, 0xbd]);
        assert_eq!(decoded(r#""\ud83dx\ude00""#), [0xed, 0xa0, 0xbd, b'x', 0xed, 0xb8, 0x80]);
        assert_eq!(decoded(r#""\ud83d\u0041""#), [0xed, 0xa0, 0xbd, b'A']);
    }

    #[test]
    fn a_lone_surrogate_goes_out_as_it_came_in() {
        assert_eq!(written(&decoded(r#""a\ud83d\u0000\n""#)), r#""a\ud83d\u0000\n""#);
        assert_eq!(written("\u{d7ff}ퟻ".as_bytes()), "\"\u{d7ff}ퟻ\"");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(content in any::<String>()) {
            prop_assert_eq!(decoded(&written(content.as_bytes())), content.as_bytes());
            prop_assert_eq!(serde_json::from_str::<String>(&written(content.as_bytes())).unwrap(), &*content);
            let raw = written(content.as_bytes());
            let around = format!("[{raw},{raw}]");
            prop_assert_eq!(string_at(&around, 1).raw(), &raw[1..raw.len() - 1]);
            prop_assert_eq!(string_at(&around, raw.len() + 2).raw(), &raw[1..raw.len() - 1]);
        }
    }
}
