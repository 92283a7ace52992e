//! Where any text gives a value to a name: `name=value` of URLs, forms, cookies, parameters of headers and environments,
//! `name: value` of headers and settings, and the password of a URL.
//!
//! Where it is in doubt how far a value goes, it goes further: to the end of the line behind a colon or the word for a
//! way to authenticate, to the next blank behind an equals sign. Names within the text are not looked for in other words:
//! `the token is abc` gives nothing to anybody.

use super::encodings::{percent_decoded, unescaped};
use super::ledger::{LONGEST, MARKER, Rule, marker_length};
use std::ops::Range;

/// Words before credentials in the value of a header.
const SCHEMES: &[&str] =
    &["apikey", "basic", "bearer", "digest", "dpop", "hawk", "hoba", "negotiate", "token"];

/// The values that go, in order and apart from each other.
pub(super) fn values(text: &[u8], names: &dyn Fn(&[u8]) -> Option<Rule>) -> Vec<(Range<usize>, Rule)> {
    let mut signs = memchr::memchr2_iter(b'=', b':', text).peekable();
    if signs.peek().is_none() {
        return Vec::new();
    }
    let mut found = passwords(text);
    let (mut end, mut line) = (0, 0);
    for at in signs {
        if at < end {
            continue;
        }
        let name = name_before(&text[end..at]);
        let Some(rule) = rule_of(name, names) else { continue };
        let value = value_behind(text, at, &mut line);
        if counts(name) && is_number(&text[value.clone()]) {
            continue;
        }
        end = value.end;
        if !value.is_empty() {
            found.push((value, rule));
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found.dedup_by(|(next, _), (last, _)| {
        let touch = next.start <= last.end;
        if touch {
            last.end = last.end.max(next.end);
        }
        touch
    });
    found
}

/// Whether a number under this name is how many tokens there are, and none of them.
pub(super) fn counts(name: &[u8]) -> bool {
    name.len().checked_sub(6).is_some_and(|at| name[at..].eq_ignore_ascii_case(b"tokens"))
}

/// Whether the first word of a value is a number, and too short for a secret.
fn is_number(value: &[u8]) -> bool {
    let word = value.split(u8::is_ascii_whitespace).next().unwrap_or_default();
    (1..=12).contains(&word.len())
        && word.iter().all(|byte| byte.is_ascii_digit() || b".,;/})]".contains(byte))
}

/// Why the value of a name goes, as a text has the name: by itself, or as the last step of `a.b` or `a[b]`.
pub(super) fn rule_of(name: &[u8], names: &dyn Fn(&[u8]) -> Option<Rule>) -> Option<Rule> {
    let name = percent_decoded(name, true);
    // In half of a JSON text a name may have JSON's escapes.
    let name = unescaped(&name).map_or(name, Into::into);
    let name = name.trim_ascii();
    let bare = &name[name.iter().position(|byte| !b"-$".contains(byte)).unwrap_or(name.len())..];
    let bare = bare.strip_suffix(b"]").unwrap_or(bare);
    let step = bare.rsplit(|byte| b".[".contains(byte)).next().unwrap_or(bare);
    let behind = |count: usize| name.strip_prefix(b"\\").and_then(|_| name.get(count..)).unwrap_or_default();
    [name, bare, step, behind(1), behind(2)].into_iter().filter(|name| !name.is_empty()).find_map(names)
}

/// The name at the end of this text, without the quotes or brackets that close it.
fn name_before(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_end();
    let closing = |byte: &u8| b"\"'`\\]".contains(byte);
    let text = &text[..text.len() - text.iter().rev().take_while(|byte| closing(byte)).count()];
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-_.%+$\\".contains(byte);
    let (before, name) = text.split_at(text.len() - text.iter().rev().take_while(|byte| part(byte)).count());
    // Half of a word whose other half was taken out is not a name, as it was none the first time.
    if name.first().is_some_and(u8::is_ascii_alphanumeric) && ends_in_marker(before) {
        return &[];
    }
    // JSON's escape of a character may be part of a name; any other backslash begins one, or a sign such as a line's end.
    let begins = memchr::memchr_iter(b'\\', name).rfind(|at| name.get(at + 1) != Some(&b'u'));
    &name[begins.unwrap_or_default()..]
}

fn ends_in_marker(text: &[u8]) -> bool {
    let text = &text[text.len().saturating_sub(LONGEST)..];
    let last = memchr::memmem::rfind(text, MARKER.as_bytes());
    last.is_some_and(|at| marker_length(&text[at..]) == Some(text.len() - at))
}

/// Where the value behind the sign at `at` is. The end of a line stays in `line`, since many signs may stand on a long one.
fn value_behind(text: &[u8], at: usize, line: &mut usize) -> Range<usize> {
    let skip =
        |from: usize, set: &[u8]| from + text[from..].iter().take_while(|byte| set.contains(byte)).count();
    let mut start = skip(skip(at, b"=:>"), b" \t");
    if let Some(lines) = block(text, start).filter(|_| text[at] == b':') {
        return lines;
    }
    // A value may begin on the next line, if that is indented or one word.
    let broken = skip(start, b"\r\n");
    if broken > start && (skip(broken, b" \t") > broken || is_word(&text[broken..])) {
        start = skip(broken, b" \t");
    }
    let rest = &text[start..];
    if *line < start {
        *line = start + memchr::memchr2(b'\r', b'\n', rest).unwrap_or(rest.len());
    }
    let line = *line - start;
    let scheme = SCHEMES.iter().any(|scheme| {
        let (word, behind) = rest.split_at_checked(scheme.len()).unwrap_or_default();
        word.eq_ignore_ascii_case(scheme.as_bytes()) && behind.first().is_none_or(u8::is_ascii_whitespace)
    });
    // Of JSON that other text surrounds, or that is cut off: a value, or what took its place before.
    let is_named = matches!(text[..at].trim_ascii_end().last(), Some(b'"' | b'\''));
    let ends =
        |end: &usize| rest.get(*end).is_none_or(|byte| byte.is_ascii_whitespace() || b",}]".contains(byte));
    let whole = marker_length(rest).or_else(|| in_quotes(rest)).filter(|end| is_named && ends(end));
    let length = match rest.first() {
        _ if whole.is_some() => whole.unwrap_or_default(),
        Some(b'"' | b'\'' | b'`') => quoted(rest),
        _ if text[at] == b':' || scheme => line,
        _ => quoted(&rest[..line]),
    };
    // What separates this value from the next is none of it.
    let value = rest[..length].trim_ascii_end();
    let followed = length < rest.len() || value.len() < length;
    let value = value.strip_suffix(b";").or(value.strip_suffix(b",")).filter(|_| followed).unwrap_or(value);
    start..start + value.len()
}

/// The lines of a YAML block whose sign is here: those behind it that are indented, without what surrounds them.
fn block(text: &[u8], start: usize) -> Option<Range<usize>> {
    let rest = &text[start..];
    rest.first().filter(|sign| b"|>".contains(sign))?;
    let sign = 1 + rest[1..].iter().take_while(|byte| b"+-123456789".contains(byte)).count();
    let sign = sign + usize::from(rest.get(sign) == Some(&b'\r'));
    let mut end = sign;
    while let Some([b'\n', b' ' | b'\t' | b'\r' | b'\n', ..]) = rest.get(end..) {
        end += 1 + memchr::memchr(b'\n', &rest[end + 1..]).unwrap_or(rest.len() - end - 1);
    }
    let lines = &rest[sign..end];
    let value = lines.trim_ascii();
    let begin = start + sign + (lines.len() - lines.trim_ascii_start().len());
    (!value.is_empty()).then_some(begin..begin + value.len())
}

/// Whether the first line is one word that gives nothing to a name.
fn is_word(text: &[u8]) -> bool {
    let line = &text[..memchr::memchr2(b'\r', b'\n', text).unwrap_or(text.len())];
    !line.is_empty() && !line.iter().any(|byte| byte.is_ascii_whitespace() || b":=".contains(byte))
}

/// How long a text in quotes is that begins here.
fn in_quotes(text: &[u8]) -> Option<usize> {
    let quote = *text.first().filter(|byte| b"\"'".contains(byte))?;
    let mut at = 1;
    while *text.get(at)? != quote {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    Some(at + 1)
}

/// How far a word goes, with the blanks in its quotes: up to a blank, or what gives a value to another name.
fn quoted(text: &[u8]) -> usize {
    let mut quote = None;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'"' | b'\'' | b'`' if quote.is_none() && (at == 0 || quote_opens(text[at - 1])) => {
                quote = Some(byte)
            }
            _ if quote == Some(byte) => quote = None,
            b'&' | b'#' if quote.is_none() && begins_assignment(&text[at + 1..]) => return at,
            _ if quote.is_none() && byte.is_ascii_whitespace() => return at,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// A quote in the middle of a word, such as an apostrophe, opens nothing.
fn quote_opens(before: u8) -> bool {
    !before.is_ascii_alphanumeric()
}

fn begins_assignment(text: &[u8]) -> bool {
    let part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.%+[]".contains(byte);
    let length = text.iter().take_while(|byte| part(byte)).count();
    length > 0 && matches!(text.get(length), Some(b'='))
}

/// Users and passwords in URLs.
fn passwords(text: &[u8]) -> Vec<(Range<usize>, Rule)> {
    let mut found = Vec::new();
    // In a text that holds JSON the slashes may be escaped.
    for begin in ["://", ":\\/\\/"] {
        for at in memchr::memmem::find_iter(text, begin) {
            let start = at + begin.len();
            let rest = &text[start..];
            let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'<>\\".contains(byte);
            let authority = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
            let length = memchr::memrchr(b'@', authority).or_else(|| raw_password(rest, authority, begin));
            if let Some(length) = length.filter(|length| *length > 0) {
                found.push((start..start + length, Rule::Password));
            }
        }
    }
    found
}

/// How long user and password are where the password has a sign that should have been encoded, so that what looks like the
/// authority ends within it: up to the last `@` of the word, or before the next URL. A port is not a password.
fn raw_password(rest: &[u8], authority: &[u8], begin: &str) -> Option<usize> {
    let colon = memchr::memchr(b':', authority).filter(|_| !authority.starts_with(b"["))?;
    authority[colon + 1..].iter().find(|byte| !byte.is_ascii_digit())?;
    // To the next URL first: of many in one word, each is looked through once.
    let word = &rest[..memchr::memmem::find(rest, begin.as_bytes()).unwrap_or(rest.len())];
    let word = &word[..word.iter().position(u8::is_ascii_whitespace).unwrap_or(word.len())];
    memchr::memrchr(b'@', word)
}
