//! The way down through a text: JSON in it, values that it gives to names, and texts that stand in it encoded.

use super::assignments;
use super::classes::{BACKSLASH, DIGIT, Found, LETTER, PERCENT, PIECE, SIGN, replace_runs};
use super::encodings::{SHORTEST, decodings, percent_decoded, percent_encoded, unescaped};
use super::json::{self, Policy};
use super::ledger::Rule;
use super::rules::Redaction;
use std::borrow::Cow;
use transcript::json::Json;

/// So many texts within each other are looked into: JSON in Base64 in a query is three. JSON that lies deeper is withheld.
const LAYERS: usize = 6;

impl Redaction {
    /// The JSON text without what is to be taken out; none where it stays as it is, or is no JSON.
    #[must_use]
    pub fn message(&self, text: &str) -> Option<String> {
        let new = self.is_asked().then(|| json::rewrite(text, &Layer { redaction: self, left: LAYERS }))?;
        String::from_utf8(new?).ok()
    }

    /// The same of a text that is known to be a message.
    pub(super) fn known_message(&self, text: &str) -> Option<String> {
        let layer = Layer { redaction: self, left: LAYERS };
        let new = self.is_asked().then(|| json::rewrite_valid(text, true, &layer))?;
        String::from_utf8(new?).ok()
    }

    /// Any other text without what is to be taken out.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let new = self.is_asked().then(|| Layer { redaction: self, left: LAYERS }.text(text.as_bytes()));
        new.flatten().map_or(Cow::Borrowed(text), |new| String::from_utf8_lossy(&new).into_owned().into())
    }

    /// The value of a header of this name without what is to be taken out.
    #[must_use]
    pub fn header<'v>(&self, name: &str, value: &'v str) -> Cow<'v, str> {
        if let Some(rule) = self.names(name.as_bytes()) {
            return Cow::Owned(self.marked(rule, value));
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

    /// Why the value of a name goes, as the name stands in a text.
    pub(super) fn rule_of(&self, name: &str) -> Option<Rule> {
        assignments::rule_of(name.as_bytes(), &|name| self.names(name))
    }

    /// What stands in place of this value.
    pub(super) fn marked(&self, rule: Rule, value: &str) -> String {
        String::from_utf8_lossy(&self.mark(rule, value.as_bytes())).into_owned()
    }
}

/// A text within so many others.
struct Layer<'r> {
    redaction: &'r Redaction,
    left: usize,
}

impl Policy for Layer<'_> {
    fn names(&self, name: &[u8]) -> Option<Rule> {
        self.redaction.names(name)
    }

    fn mark(&self, rule: Rule, value: &[u8]) -> Vec<u8> {
        self.redaction.mark(rule, value)
    }

    fn string(&self, value: &[u8]) -> Option<Vec<u8>> {
        self.text(value)
    }
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
        let found = Found::in_text(text);
        if found.has(SIGN) {
            let values = assignments::values(text, &|name| self.redaction.names(name));
            if !values.is_empty() {
                let (mut out, mut copied) = (Vec::with_capacity(text.len()), 0);
                for (value, rule) in values {
                    out.extend_from_slice(&text[copied..value.start]);
                    out.extend(self.mark(rule, &text[value.clone()]));
                    copied = value.end;
                }
                out.extend_from_slice(&text[copied..]);
                new = Cow::Owned(out);
            }
        }
        if found.has(PERCENT) {
            replace_runs(&mut new, PIECE, |piece| self.percent(piece));
        }
        if found.has(BACKSLASH) {
            replace_runs(&mut new, PIECE, |piece| self.escaped(piece));
        }
        if found.run >= SHORTEST || matches!(new, Cow::Owned(_)) {
            replace_runs(&mut new, LETTER, |run| self.encoded(run));
        }
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
        let Some(below) = self.below() else { return Some(self.mark(Rule::Unknown, text.as_bytes())) };
        let walked = json::rewrite(text, &below);
        let new = walked.as_deref().unwrap_or(text.as_bytes());
        match self.redaction.patterns(new) {
            Cow::Borrowed(_) => walked,
            Cow::Owned(new) if json_of(&new).is_some() => Some(new),
            Cow::Owned(new) => Some(self.mark(Rule::Encoded, &new)),
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
        self.hides(&plain).then(|| self.mark(Rule::Encoded, piece))
    }

    /// Letters and digits that may be Base64 or hexadecimal, as a whole or between two of the signs of Base64.
    fn encoded(&self, run: &[u8]) -> Option<Vec<u8>> {
        let hides = |run: &[u8]| decodings(run).any(|text| self.hides(&text));
        if hides(run) {
            return Some(self.mark(Rule::Encoded, run));
        }
        let mut new = Cow::Borrowed(run);
        replace_runs(&mut new, DIGIT, |part| {
            (part.len() < run.len() && hides(part)).then(|| self.mark(Rule::Encoded, part))
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

#[cfg(test)]
mod tests {
    use super::{LAYERS, Redaction};
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
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
            // Texts within texts.
            (r#"{"a":"{\"token\": \"b\"}"}"#, r#"{"a":"{\"token\": \"[REDACTED]\"}"}"#),
            (r#"{"a":"\"{\\\"token\\\":1}\""}"#, r#"{"a":"\"{\\\"token\\\":\\\"[REDACTED]\\\"}\""}"#),
            (r#"{"a":"see http://h/?a=1&token=b#c"}"#, r#"{"a":"see http://h/?a=1&token=[REDACTED]"}"#),
            (r#"{"a":"x%3Ftoken%3Db"}"#, r#"{"a":"x%3Ftoken%3D[REDACTED]"}"#),
            (r#"{"a":"{\"b\":\"Bearer\\u0020c"}"#, r#"{"a":"{\"b\":\"[REDACTED]"}"#),
            (r#"{"a":"e30.eyJ0b2tlbiI6ImIifQ.c2ln"}"#, r#"{"a":"e30.[REDACTED].c2ln"}"#),
        ] {
            assert_eq!(token.message(text).as_deref(), Some(expected), "{text}");
            assert_eq!(token.message(expected), token.message(expected).filter(|again| again == expected));
        }
        assert_eq!(token.message(r#"{"to":"ken","id":"x-1","b":"the token"}"#), None);
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
        // What only has the name of an id, a schema or the envelope is none.
        for (text, expected) in [
            (r#"{"id":"abc","a":1}"#, r#"{"id":"[REDACTED]","a":1}"#),
            (r#"{"taskId":{"token":"abc"}}"#, r#"{"taskId":{"token":"[REDACTED]"}}"#),
            (r#"{"inputSchema":"abc"}"#, r#"{"inputSchema":"[REDACTED]"}"#),
        ] {
            assert_eq!(all.message(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn headers_and_cookies_go_by_name_and_texts_by_pattern() {
        let redaction = redaction(&["Authorization", "token", "session"], &["sk-[0-9]+"]);
        for (name, value, expected) in [
            ("authorization", "Bearer abc", "[REDACTED]"),
            ("x-key", "a sk-12 b", "a [REDACTED] b"),
            ("Cookie", "a=1; session=abc=; b=token", "a=1; session=[REDACTED]; b=token"),
            ("set-cookie", "session=a b;Path=/; HttpOnly", "session=[REDACTED];Path=/; HttpOnly"),
            ("location", "/cb?token=abc&state=1", "/cb?token=[REDACTED]&state=1"),
            ("location", "/cb#token=abc", "/cb#token=[REDACTED]"),
            ("refresh", "5; url=/?a=1;token=abc", "5; url=/?a=1;token=[REDACTED]"),
            (
                "www-authenticate",
                "Bearer u=\"http://h?token=abc\", b=1",
                "Bearer u=\"http://h?token=[REDACTED], b=1",
            ),
            ("mcp-session-id", "session", "session"),
        ] {
            assert_eq!(redaction.header(name, value), expected, "{name}");
            assert_eq!(redaction.header(name, expected), expected, "{name}");
            assert_eq!(Redaction::default().header(name, value), value, "{name}");
        }
    }

    #[test]
    fn urls_lose_members_of_their_queries_however_they_are_spelled() {
        let redaction = redaction(&["token"], &["sk-[0-9]+"]);
        for (given, expected) in [
            ("http://h/m?a=1&token=abc&token", "http://h/m?a=1&token=[REDACTED]"),
            ("http://h/m?t%6fken=abc#token=x", "http://h/m?t%6fken=[REDACTED]#token=[REDACTED]"),
            ("http://h/sk-7?%zz=1%", "http://h/[REDACTED]?%zz=1%"),
            ("http://h/sk%2D7/a?b", "http://h/[REDACTED]/a?b"),
            ("/messages", "/messages"),
        ] {
            assert_eq!(redaction.text(given), expected);
        }
    }

    #[test]
    fn json_that_lies_too_deep_is_withheld() {
        let mut text = "{\"token\":\"secret\"}".to_owned();
        for _ in 0..LAYERS + 2 {
            text = serde_json::json!({ "a": text }).to_string();
        }
        let new = redaction(&["token"], &[]).message(&text).unwrap();
        assert!(!new.contains("secret") && new.contains("[REDACTED]"), "{new}");
    }

    proptest! {
        #[test]
        fn json_stays_json_and_a_second_time_changes_nothing(
            key in "[a-c\"\\\\]{0,3}",
            text in "(\\PC|[a-c=:&\"' ]){0,12}",
            number in any::<f64>(),
        ) {
            let number = if number.is_finite() { number } else { 0.0 };
            let inner = serde_json::json!({ &key: &text }).to_string();
            let value = serde_json::json!({ "params": { &key: [&text, number, { &text: &key }], "d": &text, "e": inner } });
            let text = value.to_string();
            let redaction = redaction(&["a*", "b"], &["[a-m0-9]+"]);
            if let Some(new) = redaction.message(&text) {
                prop_assert!(Json::parse(&new).is_ok(), "{}", text);
                prop_assert_eq!(redaction.message(&new).unwrap_or(new.clone()), new);
            }
        }

        #[test]
        fn a_secret_goes_in_every_encoding(before in "[ -~]{0,6}", after in "[ -~]{0,6}", digits in "[0-9]{6,12}") {
            let redaction = redaction(&[], &["sk-[0-9]{6,}"]);
            let secret = format!("{before} sk-{digits} {after}");
            let hex: String = secret.bytes().map(|byte| format!("{byte:02x}")).collect();
            let percent: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
            for text in [secret.clone(), STANDARD.encode(&secret), hex, percent] {
                let shown = redaction.text(&text).into_owned();
                prop_assert!(shown.contains("[REDACTED]"), "{} of {}", shown, secret);
                prop_assert!(!shown.contains(&digits) && !text.contains(&shown));
            }
        }
    }
}
