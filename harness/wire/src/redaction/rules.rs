//! What is to be taken out: members by name, parts of texts by pattern.

use regex::bytes::Regex;
use std::borrow::Cow;

/// What stands in place of what was taken out.
pub const MARKER: &str = "[REDACTED]";

/// What is to be taken out.
#[derive(Debug, Default, Clone)]
pub struct Redaction {
    names: Vec<Regex>,
    texts: Vec<Regex>,
}

impl Redaction {
    /// Names of members, in any case, where `*` stands for anything; and regular expressions for parts of texts.
    ///
    /// # Errors
    /// A sentence on what cannot be used.
    pub fn of(names: &[String], texts: &[String]) -> Result<Self, String> {
        let whole = |name: &String| {
            let pattern = name.split('*').map(regex::escape).collect::<Vec<_>>().join(".*");
            format!("(?is)^(?:{pattern})$")
        };
        let compiled = |pattern: &str, given: &str| match Regex::new(pattern) {
            Ok(regex) if regex.is_match(b"") => {
                Err(format!("`{given}` matches the empty text, and so every text"))
            }
            Ok(regex) => Ok(regex),
            Err(error) => Err(format!("`{given}` is not a regular expression: {error}")),
        };
        Ok(Self {
            names: names.iter().map(|name| compiled(&whole(name), name)).collect::<Result<_, _>>()?,
            texts: texts.iter().map(|text| compiled(text, text)).collect::<Result<_, _>>()?,
        })
    }

    /// Whether anything is to be taken out at all.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        !self.names.is_empty() || !self.texts.is_empty()
    }

    /// Whether a member of this name is to be taken out.
    pub(super) fn names(&self, name: &[u8]) -> bool {
        self.names.iter().any(|pattern| pattern.is_match(name))
    }

    /// A text without the parts that match a pattern. A marker that stands there already is no part of the text: it stays
    /// one marker, so that a second time changes nothing.
    pub(super) fn patterns<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut text = Cow::Borrowed(text);
        for pattern in &self.texts {
            if let Some(changed) = replaced(pattern, &text) {
                text = Cow::Owned(changed);
            }
        }
        text
    }
}

fn replaced(pattern: &Regex, text: &[u8]) -> Option<Vec<u8>> {
    let markers: Vec<_> = memchr::memmem::find_iter(text, MARKER).map(|at| at..at + MARKER.len()).collect();
    let (mut out, mut copied, mut passed) = (Vec::new(), 0, 0);
    for found in pattern.find_iter(text) {
        passed += markers[passed..].iter().take_while(|marker| marker.end <= found.start()).count();
        let touched = markers[passed..].iter().take_while(|marker| marker.start < found.end());
        let (start, end) = touched.clone().fold((found.start(), found.end()), |(start, end), marker| {
            (start.min(marker.start), end.max(marker.end))
        });
        let inside = touched.count() == 1 && end - start == MARKER.len();
        if inside || end <= copied {
            continue;
        }
        out.extend_from_slice(&text[copied..start.max(copied)]);
        out.extend_from_slice(MARKER.as_bytes());
        copied = end;
    }
    (copied > 0).then(|| [&out, &text[copied..]].concat())
}

#[cfg(test)]
mod tests {
    use super::Redaction;

    #[test]
    fn what_fits_everything_or_nothing_is_refused() {
        let refused = |names: &[&str], texts: &[&str]| {
            let own = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
            Redaction::of(&own(names), &own(texts)).unwrap_err()
        };
        assert!(refused(&["*"], &[]).contains("every text"));
        assert!(refused(&[], &["a*"]).contains("every text"));
        assert!(refused(&[], &["("]).contains("not a regular expression"));
    }

    #[test]
    fn a_marker_stays_one_marker() {
        let patterns = ["[A-Z]+", r"x\S*", "[0-9]+"].map(str::to_owned);
        let all = Redaction::of(&[], &patterns).unwrap();
        for (text, expected) in [
            ("a ABC b", "a [REDACTED] b"),
            ("[REDACTED]", "[REDACTED]"),
            ("x[REDACTED]y z", "[REDACTED] z"),
            ("1[REDACTED]2", "[REDACTED][REDACTED][REDACTED]"),
            ("xAy5", "[REDACTED]"),
        ] {
            let once = all.patterns(text.as_bytes()).into_owned();
            assert_eq!(String::from_utf8_lossy(&once), expected, "{text}");
            assert_eq!(all.patterns(&once), once, "{text}");
        }
    }
}
