//! The way down through a text: JSON in it, values that it gives to names, and texts that it holds encoded.

use super::assignments;
use super::encodings::{SHORTEST, decodings, percent_decoded, percent_encoded, unescaped};
use super::json;
use super::ledger::Rule;
use super::rules::Redaction;
use crate::http::SESSION;
use std::borrow::Cow;
use transcript::json::Json;

/// How many texts within each other are looked into: JSON in Base64 in a query is three. JSON that lies deeper is withheld.
pub(super) const LAYERS: usize = 6;

impl Redaction {
    /// The JSON text without what is to be taken out; none where it stays as it is, or is not JSON.
    pub fn message(&self, text: &str) -> Option<String> {
        let layer = self.layer()?;
        String::from_utf8(json::rewrite((text, false), self, |value| layer.text(value))?).ok()
    }

    /// The same of a text that is known to be a message.
    pub(super) fn known_message(&self, text: &str) -> Option<String> {
        let layer = self.layer()?;
        String::from_utf8(json::rewrite((text, true), self, |value| layer.text(value))?).ok()
    }

    /// Any other text without what is to be taken out.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let new = self.layer().and_then(|layer| layer.text(text.as_bytes()));
        new.map_or(Cow::Borrowed(text), |new| String::from_utf8_lossy(&new).into_owned().into())
    }

    /// The value of a header of this name without what is to be taken out.
    pub fn header<'v>(&self, name: &str, value: &'v str) -> Cow<'v, str> {
        if let Some(rule) = self.names(name.as_bytes()) {
            // A header that came twice may be one, with a comma between its values: of sessions each is an id.
            let values: Vec<&str> = match name.eq_ignore_ascii_case(SESSION) {
                true => value.split(", ").collect(),
                false => vec![value],
            };
            let marks: Vec<String> = values.into_iter().map(|value| self.marked(rule, value)).collect();
            return Cow::Owned(marks.join(", "));
        }
        if !self.is_asked() || !["cookie", "set-cookie"].iter().any(|it| name.eq_ignore_ascii_case(it)) {
            return self.text(value);
        }
        let cookie = |cookie: &str| {
            let named =
                cookie.split_once('=').and_then(|(name, value)| Some((name, value, self.rule_of(name)?)));
            match named {
                Some((name, value, rule)) => format!("{name}={}", self.marked(rule, value)),
                None => self.text(cookie).into_owned(),
            }
        };
        Cow::Owned(value.split(';').map(cookie).collect::<Vec<_>>().join(";"))
    }

    /// The outermost layer, where anything is to be taken out.
    fn layer(&self) -> Option<Layer<'_>> {
        self.is_asked().then_some(Layer { redaction: self, left: LAYERS })
    }

    /// Why the value of a name in a text goes.
    pub(super) fn rule_of(&self, name: &str) -> Option<Rule> {
        assignments::rule_of(name.as_bytes(), &|name| self.names(name))
    }

    /// What replaces this value.
    pub(super) fn marked(&self, rule: Rule, value: &str) -> String {
        String::from_utf8_lossy(&self.mark(rule, value.as_bytes())).into_owned()
    }
}

/// A text within others, of which `left` more may be looked into.
struct Layer<'r> {
    redaction: &'r Redaction,
    left: usize,
}

impl Layer<'_> {
    fn below(&self) -> Option<Self> {
        Some(Self { redaction: self.redaction, left: self.left.checked_sub(1)? })
    }

    /// The text without what is to be taken out; none where it stays as it is.
    fn text(&self, text: &[u8]) -> Option<Vec<u8>> {
        if let Some(inner) = json_of(text) {
            return self.json(inner);
        }
        let mut new = Cow::Borrowed(text);
        let values = assignments::values(text, &|name| self.redaction.names(name));
        if !values.is_empty() {
            let (mut out, mut copied) = (Vec::with_capacity(text.len()), 0);
            for (value, rule) in values {
                out.extend_from_slice(&text[copied..value.start]);
                out.extend(self.redaction.mark(rule, &text[value.clone()]));
                copied = value.end;
            }
            out.extend_from_slice(&text[copied..]);
            new = Cow::Owned(out);
        }
        // Most texts have neither of the signs.
        if memchr::memchr(b'%', text).is_some() {
            replace_runs(&mut new, is_piece, |piece| self.percent(piece));
        }
        // What is withheld as a whole has no name.
        if self.redaction.learns {
            return (*new != *text).then(|| new.into_owned());
        }
        if memchr::memchr(b'\\', text).is_some() {
            replace_runs(&mut new, is_piece, |piece| self.escaped(piece));
        }
        replace_runs(&mut new, is_letter, |run| self.encoded(run));
        if let Cow::Owned(changed) = self.redaction.patterns(&new) {
            new = Cow::Owned(changed);
        }
        (*new != *text).then(|| new.into_owned())
    }

    /// Whether a text that lies in this one has something to be taken out.
    fn hides(&self, text: &[u8]) -> bool {
        let redaction = &self.redaction.unnumbered();
        self.left.checked_sub(1).is_some_and(|left| Layer { redaction, left }.text(text).is_some())
    }

    /// JSON that is the whole of a text. Its own text is one as well.
    fn json(&self, text: &str) -> Option<Vec<u8>> {
        let Some(below) = self.below() else {
            return Some(self.redaction.mark(Rule::Unknown, text.as_bytes()));
        };
        let walked = json::rewrite((text, false), self.redaction, |value| below.text(value));
        let new = walked.as_deref().unwrap_or(text.as_bytes());
        match self.redaction.patterns(new) {
            Cow::Borrowed(_) => walked,
            Cow::Owned(new) if json_of(&new).is_some() => Some(new),
            Cow::Owned(new) => Some(self.redaction.mark(Rule::Encoded, &new)),
        }
    }

    /// Part of a text with percent signs.
    fn percent(&self, piece: &[u8]) -> Option<Vec<u8>> {
        let decoded = memchr::memchr(b'%', piece).map(|_| percent_decoded(piece, false))?;
        let new = self.below()?.text(&decoded).filter(|_| *decoded != *piece)?;
        Some(percent_encoded(&new, piece))
    }

    /// Part of a text with the escapes of JSON, where the whole is none.
    fn escaped(&self, piece: &[u8]) -> Option<Vec<u8>> {
        let plain = unescaped(piece).filter(|plain| *plain != piece)?;
        self.hides(&plain).then(|| self.redaction.mark(Rule::Encoded, piece))
    }

    /// Letters and digits that may be Base64 or hexadecimal, as a whole or between two of the signs of Base64.
    fn encoded(&self, run: &[u8]) -> Option<Vec<u8>> {
        // Most words are no more than that.
        if run.len() < SHORTEST {
            return None;
        }
        let hides = |run: &[u8]| decodings(run).any(|text| self.hides(&text));
        if hides(run) {
            return Some(self.redaction.mark(Rule::Encoded, run));
        }
        let mut new = Cow::Borrowed(run);
        replace_runs(&mut new, is_digit, |part| {
            (part.len() < run.len() && hides(part)).then(|| self.redaction.mark(Rule::Encoded, part))
        });
        matches!(new, Cow::Owned(_)).then(|| new.into_owned())
    }
}

/// The JSON that is the whole of a text: an object, a list, or a text in quotes.
fn json_of(text: &[u8]) -> Option<&str> {
    matches!(text.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')).then_some(())?;
    let text = std::str::from_utf8(text).ok()?;
    Json::parse(text).is_ok().then_some(text)
}

/// A part of a text that has a meaning by itself: all but blanks and what surrounds values.
fn is_piece(byte: u8) -> bool {
    !matches!(byte, b'=' | b'&' | b'"' | b'\'' | b'<' | b'>') && !byte.is_ascii_whitespace()
}

/// What Base64 of either alphabet and hexadecimal are written with.
fn is_letter(byte: u8) -> bool {
    is_digit(byte) || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The same without signs.
fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Puts what `new` says in place of the runs of bytes of a class.
fn replace_runs(text: &mut Cow<'_, [u8]>, class: fn(u8) -> bool, new: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    let bytes: &[u8] = text;
    let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = rest.iter().position(|byte| !class(*byte)).unwrap_or(rest.len());
        if let Some(new) = (length > 0).then(|| new(&rest[..length])).flatten() {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend(new);
            copied = at + length;
        }
        at += length.max(1);
    }
    if copied > 0 {
        out.extend_from_slice(&bytes[copied..]);
        *text = Cow::Owned(out);
    }
}
