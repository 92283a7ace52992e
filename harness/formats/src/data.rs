//! What the data of an SSE event carries, whichever format wrote the event down.

use std::borrow::Cow;
use transcript::json::{Json, JsonKind, JsonString};
use transcript::message::{Message, Refusal, resembles_message};
use transcript::rejection::Code;

/// What a data text carries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Carried<'a> {
    /// A message.
    Message(Message<'a>),
    /// Nothing that anybody could take for one.
    Nothing,
}

/// Reads the data of an event named `message`.
///
/// # Errors
/// Where the text begins like an object and is not JSON, or holds a message that is at fault, in an array, or in a
/// string of its own. The place counts from the beginning of `text`.
pub(crate) fn carried(text: &str) -> Result<Carried<'_>, Refusal> {
    // Nearly every text is a message, and then one pass is all it takes.
    let refused = match Message::parse(text) {
        Ok(message) => return Ok(Carried::Message(message)),
        Err(refusal) => refusal,
    };
    let start = text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len();
    let value = match (text.as_bytes().get(start), Json::parse(text)) {
        (Some(b'{'), Err(fault)) => {
            let cause = Refusal::from(fault);
            let message = format!("the data begins like a message, but {}", cause.message);
            return Err(Refusal::new(Code::BrokenData, cause.at, message));
        }
        (_, Err(_)) => return Ok(Carried::Nothing),
        (_, Ok(value)) => value,
    };
    match value.kind() {
        JsonKind::Object if resembles_message(value) => Err(refused),
        JsonKind::Array if holds_messages(value) => {
            let message = "the data is an array of messages, not one message".to_owned();
            Err(Refusal { clause: "SSE-DATA-ARRAY", ..Refusal::new(Code::Batch, start, message) })
        }
        JsonKind::String if is_nested(value) => {
            let message =
                "the data is a JSON string that holds a message: it was serialised twice".to_owned();
            Err(Refusal::new(Code::NestedData, start, message))
        }
        _ => Ok(Carried::Nothing),
    }
}

/// Whether an array has an item that somebody could take for a message.
#[must_use]
pub(crate) fn holds_messages(array: Json<'_>) -> bool {
    array.items().any(resembles_message)
}

/// A string's content as text in which JSON may stand. A lone surrogate cannot stand in such text by itself; it
/// becomes the escape that denotes it there (clause SRV-TWICE).
#[must_use]
pub(crate) fn content(string: JsonString<'_>) -> Cow<'_, str> {
    match string.decode() {
        Cow::Borrowed(_) => Cow::Borrowed(string.raw()),
        Cow::Owned(bytes) => {
            Cow::Owned(String::from_utf8(bytes).unwrap_or_else(|error| escaped(error.as_bytes())))
        }
    }
}

fn is_nested(value: Json<'_>) -> bool {
    let Some(string) = value.as_text() else { return false };
    Json::parse(&content(string)).is_ok_and(resembles_message)
}

/// Where in a string's raw text each byte of its [`content`] stands. Asked in rising order it walks the text once.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    raw: &'a [u8],
    /// A place in the raw text, and the same place in the content.
    here: (usize, usize),
}

impl<'a> Places<'a> {
    /// The places of a string.
    pub(crate) fn new(string: JsonString<'a>) -> Self {
        Self { raw: string.raw().as_bytes(), here: (0, 0) }
    }

    /// The place in the raw text of byte `at` of the content.
    pub(crate) fn raw(&mut self, at: usize) -> usize {
        if at < self.here.1 {
            self.here = (0, 0);
        }
        let (mut raw, mut content) = self.here;
        while content < at && raw < self.raw.len() {
            let (taken, made) = match self.raw[raw] {
                b'\\' => escape(&self.raw[raw..]),
                _ => (1, 1),
            };
            if content + made > at {
                break;
            }
            raw += taken;
            content += made;
        }
        self.here = (raw, content);
        raw
    }
}

/// How long the escape at the beginning of `raw` is, and how long what it denotes is in the content.
fn escape(raw: &[u8]) -> (usize, usize) {
    let unit = |at: usize| match raw.get(at..at + 6) {
        Some([b'\\', b'u', digits @ ..]) => u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok(),
        _ => None,
    };
    match (unit(0), unit(6)) {
        (None, _) => (2, 1),
        (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, 4),
        // A lone surrogate stays the escape that it is.
        (Some(unit), _) => (6, char::from_u32(unit).map_or(6, char::len_utf8)),
    }
}

/// WTF-8 as UTF-8, with an escape for each lone surrogate. Behind an odd backslash an escape would change what it
/// denotes; there a replacement character keeps the text as wrong as it was.
fn escaped(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 8);
    let mut rest = bytes;
    while let Err(error) = std::str::from_utf8(rest) {
        let (good, bad) = rest.split_at(error.valid_up_to());
        out.push_str(&String::from_utf8_lossy(good));
        let odd = out.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 1;
        match *bad {
            [0xed, second, third, ..] if !odd => {
                let unit = 0xd000 | (u32::from(second) & 0x3f) << 6 | u32::from(third) & 0x3f;
                out.push_str(&format!("\\u{unit:04x}"));
            }
            _ => out.push(char::REPLACEMENT_CHARACTER),
        }
        rest = bad.get(3..).unwrap_or_default();
    }
    out.push_str(&String::from_utf8_lossy(rest));
    out
}

#[cfg(test)]
mod tests {
    use super::{Carried, Places, carried, content};
    use proptest::prelude::*;
    use transcript::json::Json;
    use transcript::rejection::Code;

    fn read(text: &str) -> Result<Option<&str>, (Code, &'static str, usize)> {
        match carried(text) {
            Ok(Carried::Message(message)) => Ok(Some(message.text())),
            Ok(Carried::Nothing) => Ok(None),
            Err(refusal) => Err((refusal.code, refusal.clause, refusal.at)),
        }
    }

    #[test]
    fn one_message_is_carried_and_plain_text_is_passed() {
        let message = r#"{"jsonrpc":"2.0","method":"ping"}"#;
        assert_eq!(read(message), Ok(Some(message)));
        assert_eq!(read(&format!(" \n{message}\t\r")), Ok(Some(message)));
        for text in [
            "",
            " ",
            "ping",
            "/messages?id=1",
            "[DONE]",
            "[",
            "42",
            "\"ping\"",
            "{}",
            r#"{"id":1}"#,
            "[{},[]]",
            "\u{feff}{",
        ] {
            assert_eq!(read(text), Ok(None), "{text}");
        }
    }

    #[test]
    fn a_message_gone_wrong_is_refused_with_its_place() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","#, (Code::BrokenData, "SSE-DATA-BROKEN", 17)),
            (" {} x", (Code::BrokenData, "SSE-DATA-BROKEN", 4)),
            (r#" [1,{"method":"a"}]"#, (Code::Batch, "SSE-DATA-ARRAY", 1)),
            (r#" "{\"method\":\"a\"}""#, (Code::NestedData, "SSE-DATA-NESTED", 1)),
            (r#" {"result":1}"#, (Code::InvalidVersion, "JRP-VERSION", 1)),
            (r#" {"jsonrpc":"2.0","id":[],"method":"a"}"#, (Code::InvalidId, "ID-REJECT", 23)),
            (r#"{"jsonrpc":"2.0"}"#, (Code::NotAMessage, "JRP-SHAPE", 0)),
        ] {
            assert_eq!(read(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn a_lone_surrogate_of_the_outer_string_becomes_one_of_the_inner() {
        let outer = Json::parse(r#""{\"a\":\"\ud83dx\ude00\"}""#).unwrap().as_text().unwrap();
        assert_eq!(content(outer), r#"{"a":"\ud83dx\ude00"}"#);
        let plain = Json::parse(r#""a\u0000\ud83d\ude00""#).unwrap().as_text().unwrap();
        assert_eq!(content(plain), "a\0😀");
        let odd = Json::parse(r#""\"\\\ud83d\"""#).unwrap().as_text().unwrap();
        assert!(Json::parse(&content(odd)).is_err());
    }

    #[test]
    fn places_lead_back_to_the_raw_text() {
        let outer = Json::parse(r#""a\n\u00e9\ud83d\ude00\ud83d\"z""#).unwrap().as_text().unwrap();
        let content = content(outer);
        let mut places = Places::new(outer);
        for (found, raw) in [("a", 0), ("\n", 1), ("é", 3), ("😀", 9), ("\\ud83d", 21), ("\"", 27), ("z", 29)]
        {
            assert_eq!(places.raw(content.find(found).unwrap()), raw, "{found}");
        }
        assert_eq!(places.raw(content.len()), outer.raw().len());
        assert_eq!(places.raw(0), 0);
    }

    proptest! {
        #[test]
        fn what_stands_behind_a_place_is_the_rest_of_the_content(text in any::<String>(), at in any::<prop::sample::Index>()) {
            let quoted = serde_json::to_string(&text).unwrap();
            let string = Json::parse(&quoted).unwrap().as_text().unwrap();
            let at = crate::excerpt::floor(&text, at.index(text.len() + 1));
            let rest = format!("\"{}\"", &string.raw()[Places::new(string).raw(at)..]);
            prop_assert_eq!(content(Json::parse(&rest).unwrap().as_text().unwrap()), &text[at..]);
        }
    }
}
