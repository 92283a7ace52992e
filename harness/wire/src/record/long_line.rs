//! Whether a line that is too long to be held is a message, found out while it passes: JSON (RFC 8259) and the names of
//! a message's members. Memory: a bit for each level of nesting.

use crate::utf8::Utf8;

/// The longest name that can make an object a message.
const LONGEST_NAME: usize = 7;

/// What is known so far.
#[derive(Debug, Default)]
pub(super) struct LongLine {
    state: ScanState,
    /// The levels that are open: whether each is an object.
    open: Vec<u8>,
    depth: usize,
    /// The name of the member of the outermost object that is being read.
    name: Vec<u8>,
    in_name: bool,
    is_object: bool,
    resembles: bool,
    utf8: Utf8,
    begun: bool,
}

/// What the last byte left behind, and so what may come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum ScanState {
    #[default]
    Value,
    /// A value, or the end of an empty list.
    FirstItem,
    Name,
    /// A name, or the end of an empty object.
    FirstName,
    Colon,
    /// A comma or an end; nothing, at the outside.
    After,
    Text,
    Escape,
    /// How many hexadecimal digits of an escape are left.
    Hex(u8),
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
    /// The rest of a word.
    Word(&'static [u8]),
    Invalid,
}

impl LongLine {
    /// Whether all that went by is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.utf8.is_text()
    }

    /// Whether all that went by is one object that resembles a message.
    pub(super) fn is_message(&self) -> bool {
        let whole = self.depth == 0 && self.state == ScanState::After;
        whole && self.is_object && self.resembles && self.is_text()
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.utf8.feed(bytes);
        let mut at = 0;
        while at < bytes.len() && self.state != ScanState::Invalid {
            if self.state == ScanState::Text && !self.in_name {
                // Most of a long line is the inside of a text.
                let rest = &bytes[at..];
                at += rest
                    .iter()
                    .position(|&byte| byte < 0x20 || matches!(byte, b'"' | b'\\'))
                    .unwrap_or(rest.len());
                let Some(&byte) = bytes.get(at) else { return };
                self.byte(byte);
            } else {
                self.byte(bytes[at]);
            }
            at += 1;
        }
    }

    fn byte(&mut self, byte: u8) {
        use ScanState::{After, Colon, Escape, FirstItem, FirstName, Hex, Name, Text, Value, Word};
        use ScanState::{Exponent, Fraction, Minus, Point, Power, Sign, Whole, Zero};
        if self.in_name && self.depth == 1 && self.name.len() <= LONGEST_NAME {
            self.name.push(byte);
        }
        self.state = match (self.state, byte) {
            (Text, b'"') if self.in_name => self.end_name(),
            (Text, b'"') => After,
            (Text, b'\\') => Escape,
            (Text, 0x20..) => Text,
            (Escape, b'u') => Hex(4),
            (Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Text,
            (Hex(left), byte) if byte.is_ascii_hexdigit() => {
                if left > 1 {
                    Hex(left - 1)
                } else {
                    Text
                }
            }
            (Minus, b'0') => Zero,
            (Minus, b'1'..=b'9') | (Whole, b'0'..=b'9') => Whole,
            (Zero | Whole, b'.') => Point,
            (Point | Fraction, b'0'..=b'9') => Fraction,
            (Zero | Whole | Fraction, b'e' | b'E') => Exponent,
            (Exponent, b'+' | b'-') => Sign,
            (Exponent | Sign | Power, b'0'..=b'9') => Power,
            (Word([expected]), _) if *expected == byte => After,
            (Word([expected, rest @ ..]), _) if *expected == byte => Word(rest),
            (Zero | Whole | Fraction | Power | After, b' ' | b'\t' | b'\r' | b'\n') => After,
            (Value | FirstItem | Name | FirstName | Colon, b' ' | b'\t' | b'\r' | b'\n') => self.state,
            (Zero | Whole | Fraction | Power | After, b',') if self.depth > 0 => {
                if self.in_object() {
                    Name
                } else {
                    Value
                }
            }
            (Zero | Whole | Fraction | Power | After, b'}' | b']') => self.close(byte),
            (FirstName, b'}') | (FirstItem, b']') => self.close(byte),
            (Name | FirstName, b'"') => {
                self.name.clear();
                self.in_name = true;
                Text
            }
            (Colon, b':') => Value,
            (Value | FirstItem, byte) => self.value(byte),
            _ => ScanState::Invalid,
        };
    }

    fn value(&mut self, byte: u8) -> ScanState {
        if !std::mem::replace(&mut self.begun, true) {
            self.is_object = byte == b'{';
        }
        match byte {
            b'{' | b'[' => {
                let (at, bit) = (self.depth / 8, 1 << (self.depth % 8));
                if at == self.open.len() {
                    self.open.push(0);
                }
                let object = byte == b'{';
                self.open[at] = if object { self.open[at] | bit } else { self.open[at] & !bit };
                self.depth += 1;
                if object { ScanState::FirstName } else { ScanState::FirstItem }
            }
            b'"' => ScanState::Text,
            b'-' => ScanState::Minus,
            b'0' => ScanState::Zero,
            b'1'..=b'9' => ScanState::Whole,
            b't' => ScanState::Word(b"rue"),
            b'f' => ScanState::Word(b"alse"),
            b'n' => ScanState::Word(b"ull"),
            _ => ScanState::Invalid,
        }
    }

    fn end_name(&mut self) -> ScanState {
        self.in_name = false;
        let names: [&[u8]; 4] = [b"jsonrpc\"", b"method\"", b"result\"", b"error\""];
        self.resembles |= self.depth == 1 && names.contains(&&*self.name);
        ScanState::Colon
    }

    fn close(&mut self, byte: u8) -> ScanState {
        if self.depth == 0 || self.in_object() != (byte == b'}') {
            return ScanState::Invalid;
        }
        self.depth -= 1;
        ScanState::After
    }

    fn in_object(&self) -> bool {
        let innermost = self.depth.saturating_sub(1);
        self.open.get(innermost / 8).is_some_and(|bits| bits & 1 << (innermost % 8) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::LongLine;
    use proptest::prelude::*;
    use transcript::json::{Json, JsonKind};
    use transcript::message::resembles_message;

    fn judged(bytes: &[u8], chunk: usize) -> bool {
        let mut long = LongLine::default();
        bytes.chunks(chunk).for_each(|chunk| long.feed(chunk));
        long.is_message()
    }

    fn expected(bytes: &[u8]) -> bool {
        let value = std::str::from_utf8(bytes).ok().and_then(|text| Json::parse(text).ok());
        value.is_some_and(|value| value.kind() == JsonKind::Object && resembles_message(value))
    }

    #[test]
    fn the_reader_of_lines_that_are_held_agrees() {
        let message = r#" {"id":[1,-0.5e+7,"\u00e9\\é",{}],"jsonrpc":"2.0","a":{"b":[[],{"c":null}]}} "#;
        let mut texts: Vec<Vec<u8>> =
            (0..=message.len()).map(|cut| message.as_bytes()[..cut].to_vec()).collect();
        let others = concat!(
            r#"[];{};42;{"a":{"jsonrpc":1}};{"jsonrpc":1,};{"method":01};{"result":[1 2]};{"error":tru};"#,
            r#"{"error":true}};{"error":[};{"error":-};{"error":1.};{"error" 1};{"jsonrpcs":1};{"result":1}x;"#,
            "{\"method\":\"\t\"};",
            r#"{"method":"\x"};[{"method":1}];"#
        );
        for text in others.split(';') {
            texts.push(text.into());
        }
        texts.push(b"{\"method\":\"\xff\"}".to_vec());
        texts.push(b"{\"method\":\"\xc3\"}".to_vec());
        let deep = [vec![b'['; 100_000], vec![b']'; 100_000]].concat();
        texts.push([b"{\"method\":", &deep[..], b"}"].concat());
        texts.push([b"{\"method\":", &deep[1..], b"}"].concat());
        assert!(texts.iter().filter(|text| expected(text)).count() >= 3);
        for text in texts {
            for chunk in [1, 2, 3, 7, 1 << 20] {
                assert_eq!(
                    judged(&text, chunk),
                    expected(&text),
                    "{} by {chunk}",
                    String::from_utf8_lossy(&text)
                );
            }
        }
    }

    proptest! {
        #[test]
        fn and_on_any_text(
            inside in "(\"jsonrpc\"|\"\\PC\"|[\\[\\]{}:, 0-9eE.+-]|true|null|\"[\\\\u0-9a-f]{0,6}\"){0,12}",
            chunk in 1usize..9,
        ) {
            let text = format!("{{\"jsonrpc\":{inside}}}");
            prop_assert_eq!(judged(text.as_bytes(), chunk), expected(text.as_bytes()), "{}", text);
        }
    }
}
