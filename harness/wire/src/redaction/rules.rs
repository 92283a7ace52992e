//! What is to be taken out: members by name, parts of texts by pattern; and what stands in its place.

use super::ledger::{Ledger, MARKER, Rule, marker_length};
use super::presets::Preset;
use regex::bytes::Regex;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

/// What is to be taken out.
#[derive(Debug, Default, Clone)]
pub struct Redaction {
    names: Vec<(String, Regex)>,
    texts: Vec<(String, Regex)>,
    ledger: Option<Arc<Mutex<Ledger>>>,
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
        let name = |name: &String| Ok((format!("`{name}`"), compiled(&whole(name), name)?));
        let text = |text: &String| Ok((format!("/{text}/"), compiled(text, text)?));
        Ok(Self {
            names: names.iter().map(name).collect::<Result<_, String>>()?,
            texts: texts.iter().map(text).collect::<Result<_, String>>()?,
            ledger: None,
        })
    }

    /// What this preset has, besides.
    ///
    /// # Errors
    /// A sentence on what cannot be used.
    pub fn with_preset(mut self, preset: &Preset) -> Result<Self, String> {
        let own = |list: &mut dyn Iterator<Item = &str>| list.map(str::to_owned).collect::<Vec<_>>();
        let names = own(&mut preset.names.iter().copied());
        let texts = own(&mut preset.texts.iter().map(|(_, text)| *text));
        let Self { names, texts, .. } = Self::of(&names, &texts)?;
        self.names.extend(names);
        self.texts
            .extend(preset.texts.iter().zip(texts).map(|((kind, _), (_, text))| ((*kind).to_owned(), text)));
        Ok(self)
    }

    /// The same, with a number behind each marker: the same for the same value, and others for others. The numbers go on
    /// behind those that `text` has. [`Redaction::taken`] counts.
    #[must_use]
    pub fn numbered(mut self, text: &str) -> Self {
        self.ledger = Some(Arc::new(Mutex::new(Ledger::behind(text))));
        self
    }

    /// What was taken out so far, by kind: how often, and how many values; nothing where it is not numbered.
    #[must_use]
    pub fn taken(&self) -> Vec<(String, u64, u64)> {
        let Some(ledger) = &self.ledger else { return Vec::new() };
        let ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
        ledger.taken().map(|(rule, times, values)| (self.kind(rule), times, values)).collect()
    }

    /// Counts what the patterns match in a text as it stands, whatever it is part of.
    pub fn count_in(&self, text: &str) {
        self.patterns(text.as_bytes());
    }

    fn kind(&self, rule: Rule) -> String {
        match rule {
            Rule::Name(number) => self.names.get(number).map_or_else(String::new, |(name, _)| name.clone()),
            Rule::Text(number) => self.texts.get(number).map_or_else(String::new, |(text, _)| text.clone()),
            Rule::Password => "user and password of a URL".to_owned(),
            Rule::Encoded => "encoded text".to_owned(),
            Rule::Unknown => "what could not be looked into".to_owned(),
        }
    }

    /// What stands in place of this value.
    pub(super) fn mark(&self, rule: Rule, value: &[u8]) -> Vec<u8> {
        match &self.ledger {
            None => MARKER.as_bytes().to_vec(),
            Some(ledger) => ledger.lock().unwrap_or_else(PoisonError::into_inner).mark(rule, value),
        }
    }

    /// The same without numbers, to see whether something would be taken out.
    pub(super) fn unnumbered(&self) -> Self {
        Self { ledger: None, ..self.clone() }
    }

    /// Whether anything is to be taken out at all.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        !self.names.is_empty() || !self.texts.is_empty()
    }

    /// Why a member of this name is to be taken out, if it is.
    pub(super) fn names(&self, name: &[u8]) -> Option<Rule> {
        self.names.iter().position(|(_, pattern)| pattern.is_match(name)).map(Rule::Name)
    }

    /// A text without the parts that match a pattern. A marker that stands there already is no part of the text: it stays
    /// one marker, so that a second time changes nothing.
    pub(super) fn patterns<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut text = Cow::Borrowed(text);
        for (number, (_, pattern)) in self.texts.iter().enumerate() {
            if let Some(changed) = self.replaced(number, pattern, &text) {
                text = Cow::Owned(changed);
            }
        }
        text
    }

    fn replaced(&self, number: usize, pattern: &Regex, text: &[u8]) -> Option<Vec<u8>> {
        let mut markers = None;
        let (mut out, mut copied, mut passed) = (Vec::new(), 0, 0);
        for found in pattern.find_iter(text) {
            let markers = markers.get_or_insert_with(|| markers_of(text));
            passed += markers[passed..].iter().take_while(|marker| marker.end <= found.start()).count();
            let touched = markers[passed..].iter().take_while(|marker| marker.start < found.end());
            let (start, end) = touched.clone().fold((found.start(), found.end()), |(start, end), marker| {
                (start.min(marker.start), end.max(marker.end))
            });
            let inside =
                touched.clone().count() == 1 && touched.clone().all(|marker| *marker == (start..end));
            if inside || end <= copied {
                continue;
            }
            let start = start.max(copied);
            out.extend_from_slice(&text[copied..start]);
            out.extend(self.mark(Rule::Text(number), &text[start..end]));
            copied = end;
        }
        (copied > 0).then(|| [&out, &text[copied..]].concat())
    }
}

/// Where markers are, with their numbers.
fn markers_of(text: &[u8]) -> Vec<Range<usize>> {
    let end = |at: usize| at + marker_length(&text[at..]).unwrap_or_default();
    memchr::memmem::find_iter(text, MARKER).map(|at| at..end(at)).collect()
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
