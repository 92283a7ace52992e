//! Removes secrets from a message.
//!
//! Members are redacted by name, parts of strings by pattern. The envelope (`jsonrpc`, `id`, `method`), ids by which
//! messages refer to each other, and JSON Schemas are never touched. What is left is valid JSON, and an object or an
//! array stays one.

use regex::bytes::Regex;
use std::borrow::Cow;
use transcript::json::{Json, write_string};

/// What stands in place of what was taken out.
pub const MARKER: &str = "[REDACTED]";

/// Members of the envelope, at the top of a message.
const ENVELOPE: &[&str] = &["jsonrpc", "id", "method"];

/// Members that hold ids which other messages repeat, and schemas, wherever they stand.
const UNTOUCHED: &[&str] =
    &["requestId", "progressToken", "taskId", "inputSchema", "outputSchema", "requestedSchema"];

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

    /// The message without what is to be taken out; none where it stays as it is.
    #[must_use]
    pub fn message(&self, text: &str) -> Option<String> {
        if !self.is_asked() {
            return None;
        }
        let mut out = Vec::with_capacity(text.len());
        let changed = JsonRedactor { redaction: self, bytes: text.as_bytes(), at: 0, out: &mut out }.run();
        changed.then(|| String::from_utf8(out).ok()).flatten()
    }

    /// A command line without what is to be taken out: `--NAME=…`, `NAME=…`, the word after `--NAME`, and parts of words.
    #[must_use]
    pub fn command(&self, words: &[String]) -> Vec<String> {
        let mut named = false;
        let redacted = words.iter().map(|word| {
            let taken = std::mem::replace(&mut named, false) && !word.starts_with('-');
            let (name, value) =
                word.split_once('=').map_or((&**word, None), |(name, value)| (name, Some(value)));
            let hit = self.names(name.trim_start_matches('-').as_bytes());
            named = hit && value.is_none() && name.starts_with('-');
            match value {
                _ if taken => MARKER.to_owned(),
                Some(_) if hit => format!("{name}={MARKER}"),
                _ => String::from_utf8_lossy(&self.text(word.as_bytes())).into_owned(),
            }
        });
        redacted.collect()
    }

    /// Whether a member of this name is to be taken out.
    pub(crate) fn names(&self, name: &[u8]) -> bool {
        self.names.iter().any(|pattern| pattern.is_match(name))
    }

    /// A text without the parts that are to be taken out.
    pub(crate) fn text<'t>(&self, text: &'t [u8]) -> Cow<'t, [u8]> {
        let mut text = Cow::Borrowed(text);
        for pattern in &self.texts {
            if let Cow::Owned(changed) = pattern.replace_all(&text, regex::bytes::NoExpand(MARKER.as_bytes()))
            {
                text = Cow::Owned(changed);
            }
        }
        text
    }
}

/// A walk over the tokens of valid JSON.
struct JsonRedactor<'w> {
    redaction: &'w Redaction,
    bytes: &'w [u8],
    at: usize,
    out: &'w mut Vec<u8>,
}

/// An object or a list that is open.
#[derive(Clone, Copy)]
struct Frame {
    object: bool,
    /// Stands under a name that is to be taken out.
    taken: bool,
    /// Stands under a name that is never touched.
    kept: bool,
}

impl<'w> JsonRedactor<'w> {
    fn run(mut self) -> bool {
        let mut changed = false;
        let mut open: Vec<Frame> = Vec::new();
        // What holds for the next value, by the name before it.
        let mut next = Frame { object: false, taken: false, kept: false };
        let mut key_expected = false;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'{' | b'[' => {
                    let frame = Frame { object: byte == b'{', ..next };
                    (key_expected, next) = (frame.object, frame);
                    open.push(frame);
                    self.copy(1);
                }
                b'}' | b']' => {
                    open.pop();
                    key_expected = false;
                    self.copy(1);
                }
                b',' => {
                    next = open.last().copied().unwrap_or(next);
                    key_expected = next.object;
                    self.copy(1);
                }
                b'"' if key_expected => {
                    let above = open.last().copied().unwrap_or(next);
                    let token = self.string();
                    let name = decoded(token);
                    let plain = std::str::from_utf8(&name).unwrap_or_default();
                    // At the top of a message, or of one in a batch.
                    let top = matches!(*open.as_slice(), [_] | [Frame { object: false, .. }, _]);
                    next.kept = above.kept || UNTOUCHED.contains(&plain) || top && ENVELOPE.contains(&plain);
                    next.taken = above.taken || self.redaction.names(&name);
                    key_expected = false;
                    self.copy(token.len());
                }
                b'"' => {
                    let token = self.string();
                    let value = decoded(token);
                    let new = match (next.kept, next.taken) {
                        (true, _) => Cow::Borrowed(&*value),
                        (_, true) => Cow::Borrowed(MARKER.as_bytes()),
                        _ => self.redaction.text(&value),
                    };
                    if *new == *value {
                        self.copy(token.len());
                    } else {
                        changed = true;
                        write_string(&new, self.out);
                        self.at += token.len();
                    }
                }
                b'-' | b'0'..=b'9' => {
                    let rest = &self.bytes[self.at..];
                    let ends = |byte: &u8| !matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9');
                    let length = rest.iter().position(ends).unwrap_or(rest.len());
                    if next.taken && !next.kept {
                        changed = true;
                        write_string(MARKER.as_bytes(), self.out);
                        self.at += length;
                    } else {
                        self.copy(length);
                    }
                }
                _ => self.copy(1),
            }
        }
        changed
    }

    fn copy(&mut self, length: usize) {
        let end = (self.at + length).min(self.bytes.len());
        self.out.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
    }

    /// The string that begins here, with its quotes.
    fn string(&self) -> &'w [u8] {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let mut end = 1;
        while let Some(found) = memchr::memchr2(b'"', b'\\', rest.get(end..).unwrap_or_default()) {
            end += found;
            if rest[end] == b'"' {
                return &rest[..=end];
            }
            end += 2;
        }
        rest
    }
}

/// What a string with its quotes denotes.
fn decoded(token: &[u8]) -> Cow<'_, [u8]> {
    let text = std::str::from_utf8(token).ok().and_then(|token| Json::parse(token).ok());
    text.and_then(Json::as_text).map_or(Cow::Borrowed(token), |text| text.decode())
}

#[cfg(test)]
mod tests {
    use super::Redaction;
    use proptest::prelude::*;
    use transcript::json::Json;

    fn redaction(names: &[&str], texts: &[&str]) -> Redaction {
        let own = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
        Redaction::of(&own(names), &own(texts)).unwrap()
    }

    #[test]
    fn what_is_named_goes_and_nothing_else() {
        let token = redaction(&["Token", "x-*"], &[r"Bearer \S+"]);
        for (text, expected) in [
            (r#"{"params":{"token":"a","tokens":"b"}}"#, r#"{"params":{"token":"[REDACTED]","tokens":"b"}}"#),
            (
                r#"{"result":{"TOKEN":{"a":["b", 7,null,true,{}]},"n":1.0}}"#,
                r#"{"result":{"TOKEN":{"a":["[REDACTED]", "[REDACTED]",null,true,{}]},"n":1.0}}"#,
            ),
            (r#"{"x-key":"\u0022","y":"x"}"#, r#"{"x-key":"[REDACTED]","y":"x"}"#),
            (r#"{"t\u006fken":-1e5,"a":2}"#, r#"{"t\u006fken":"[REDACTED]","a":2}"#),
            (
                r#"{"h":"Authorization: Bearer abc\" def","e":1e400}"#,
                r#"{"h":"Authorization: [REDACTED] def","e":1e400}"#,
            ),
            (r#"[{"token":"a"},"Bearer b"]"#, r#"[{"token":"[REDACTED]"},"[REDACTED]"]"#),
        ] {
            assert_eq!(token.message(text).as_deref(), Some(expected), "{text}");
        }
        assert_eq!(token.message(r#"{"to":"ken"}"#), None);
        assert_eq!(Redaction::default().message(r#"{"token":1}"#), None);
    }

    #[test]
    fn the_envelope_ids_and_schemas_are_never_touched() {
        let all =
            redaction(&["id", "method", "params", "result", "*token*", "requestId", "type"], &["[a-z]+"]);
        let text = concat!(
            r#"{"jsonrpc":"2.0","id":"abc","method":"abc","params":{"_meta":{"progressToken":"abc"},"requestId":7,"#,
            r#""id":"abc","inputSchema":{"type":"object","properties":{"token":{"type":"string"}}},"taskId":"t"}}"#
        );
        let expected = text.replace(r#"7,"id":"abc""#, r#"7,"id":"[REDACTED]""#);
        assert_eq!(all.message(text), Some(expected));
    }

    #[test]
    fn a_command_line_has_secrets_too() {
        let words = ["npx", "--token", "abc", "--token=abc", "TOKEN=abc", "--tokens", "abc", "sk-12"]
            .map(str::to_owned);
        let expected = [
            "npx",
            "--token",
            "[REDACTED]",
            "--token=[REDACTED]",
            "TOKEN=[REDACTED]",
            "--tokens",
            "abc",
            "[REDACTED]",
        ];
        assert_eq!(redaction(&["token"], &["sk-[0-9]+"]).command(&words), expected);
    }

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

    proptest! {
        #[test]
        fn json_stays_json(key in "[a-c\"\\\\]{0,3}", text in "\\PC{0,8}", number in any::<f64>()) {
            let number = if number.is_finite() { number } else { 0.0 };
            let value = serde_json::json!({ "params": { &key: [&text, number, { &text: &key }], "d": &text } });
            let text = value.to_string();
            let new = redaction(&["a*", "b"], &["[a-m0-9]+"]).message(&text);
            prop_assert!(new.is_none_or(|new| Json::parse(&new).is_ok()), "{}", text);
        }
    }
}
