//! Removes secrets from heads: header values, cookies, members of a query.

use crate::record::{MARKER, Redaction};
use std::borrow::Cow;

/// The value of a header as the archive may have it.
pub(super) fn header<'v>(redaction: &Redaction, name: &str, value: &'v str) -> Cow<'v, str> {
    if !redaction.is_asked() {
        return Cow::Borrowed(value);
    }
    if redaction.names(name.as_bytes()) {
        return Cow::Borrowed(MARKER);
    }
    let is = |other: &str| name.eq_ignore_ascii_case(other);
    let named = if is("cookie") || is("set-cookie") {
        pairs(redaction, value, ';')
    } else if is("location") || is("referer") || is("content-location") {
        url(redaction, value)
    } else {
        value.to_owned()
    };
    Cow::Owned(text(redaction, &named))
}

/// A URL as the archive may have it.
pub(super) fn url(redaction: &Redaction, url: &str) -> String {
    let (before, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let named = match before.split_once('?') {
        Some((path, query)) => format!("{path}?{}{fragment}", pairs(redaction, query, '&')),
        None => url.to_owned(),
    };
    text(redaction, &named)
}

/// Pairs of names and values with this between them, such as a query's.
pub(super) fn pairs(redaction: &Redaction, text: &str, between: char) -> String {
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if redaction.names(&decoded(name.trim())) => format!("{name}={MARKER}"),
        _ => pair.to_owned(),
    };
    text.split(between).map(pair).collect::<Vec<_>>().join(&between.to_string())
}

/// A text without the parts that are to be taken out.
pub(super) fn text(redaction: &Redaction, text: &str) -> String {
    String::from_utf8_lossy(&redaction.text(text.as_bytes())).into_owned()
}

/// A name without its percent signs.
fn decoded(name: &str) -> Vec<u8> {
    let bytes = name.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let digits = bytes.get(at + 1..at + 3).and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(value) if byte == b'%' => {
                out.push(value);
                at += 3;
            }
            _ => {
                out.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{header, url};
    use crate::record::Redaction;

    fn redaction() -> Redaction {
        let names = ["Authorization", "token", "session"].map(str::to_owned);
        Redaction::of(&names, &["sk-[0-9]+".to_owned()]).unwrap()
    }

    #[test]
    fn headers_and_cookies_go_by_name_and_texts_by_pattern() {
        for (name, value, expected) in [
            ("authorization", "Bearer abc", "[REDACTED]"),
            ("x-key", "a sk-12 b", "a [REDACTED] b"),
            ("Cookie", "a=1; session=abc=; b=token", "a=1; session=[REDACTED]; b=token"),
            ("set-cookie", "session=abc; Path=/; HttpOnly", "session=[REDACTED]; Path=/; HttpOnly"),
            ("location", "/cb?token=abc&state=1", "/cb?token=[REDACTED]&state=1"),
            ("mcp-session-id", "session", "session"),
        ] {
            assert_eq!(header(&redaction(), name, value), expected, "{name}");
            assert_eq!(header(&Redaction::default(), name, value), value, "{name}");
        }
    }

    #[test]
    fn members_of_a_query_go_by_name_however_they_are_spelled() {
        for (given, expected) in [
            ("http://h/m?a=1&token=abc&token", "http://h/m?a=1&token=[REDACTED]&token"),
            ("http://h/m?t%6fken=abc#token=x", "http://h/m?t%6fken=[REDACTED]#token=x"),
            ("http://h/sk-7?%zz=1%", "http://h/[REDACTED]?%zz=1%"),
            ("/messages", "/messages"),
        ] {
            assert_eq!(url(&redaction(), given), expected);
        }
    }
}
