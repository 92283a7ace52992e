//! Whether a line that is too long to be held is a message, found out while it passes: JSON (RFC 8259) and the names of
//! a message's members. Memory: a bit for each level of nesting.

use crate::utf8::Utf8;

/// The longest name that can make an object a message.
const LONGEST_NAME: usize = 7;

/// What is known so far.
#[derive(Debug)]
pub(super) struct LongLine {
    state: State,
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

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// A value must stand here; with `true`, or the end of an empty list.
    Value(bool),
    /// A name must stand here; with `true`, or the end of an empty object.
    Name(bool),
    Colon,
    /// A comma or an end must stand here; nothing, at the outside.
    After,
    String(StringState),
    Number(NumberState),
    Literal(&'static [u8]),
    Invalid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StringState {
    Plain,
    Escape,
    Hex(u8),
}

/// Where in a number the last byte stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberState {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl LongLine {
    pub(super) fn new() -> Self {
        Self {
            state: State::Value(false),
            open: Vec::new(),
            depth: 0,
            name: Vec::new(),
            in_name: false,
            is_object: false,
            resembles: false,
            utf8: Utf8::default(),
            begun: false,
        }
    }

    /// Whether all that went by is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.utf8.is_text()
    }

    /// Whether all that went by is one object that resembles a message.
    pub(super) fn is_message(&self) -> bool {
        let whole = self.depth == 0 && self.state == State::After;
        whole && self.is_object && self.resembles && self.is_text()
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.utf8.feed(bytes);
        let mut at = 0;
        while at < bytes.len() && self.state != State::Invalid {
            if self.state == State::String(StringState::Plain) && !self.in_name {
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
        self.state = match self.state {
            State::String(inside) => self.string(inside, byte),
            State::Number(digits) => match next_digits(digits, byte) {
                Some(digits) => State::Number(digits),
                None if matches!(
                    digits,
                    NumberState::Zero | NumberState::Whole | NumberState::Fraction | NumberState::Power
                ) =>
                {
                    self.after(byte)
                }
                None => State::Invalid,
            },
            State::Literal(rest) => match rest {
                [expected] if *expected == byte => State::After,
                [expected, rest @ ..] if *expected == byte => State::Literal(rest),
                _ => State::Invalid,
            },
            state if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') => state,
            State::Value(may_end) => self.value(may_end, byte),
            State::Name(true) if byte == b'}' => self.close(byte),
            State::Name(_) if byte == b'"' => {
                self.name.clear();
                self.in_name = true;
                State::String(StringState::Plain)
            }
            State::Colon if byte == b':' => State::Value(false),
            State::After => self.after(byte),
            _ => State::Invalid,
        };
    }

    fn value(&mut self, may_end: bool, byte: u8) -> State {
        if !std::mem::replace(&mut self.begun, true) {
            self.is_object = byte == b'{';
        }
        match byte {
            b'{' | b'[' => {
                let (at, bit) = (self.depth / 8, 1 << (self.depth % 8));
                if at == self.open.len() {
                    self.open.push(0);
                }
                if byte == b'{' {
                    self.open[at] |= bit
                } else {
                    self.open[at] &= !bit
                }
                self.depth += 1;
                if byte == b'{' { State::Name(true) } else { State::Value(true) }
            }
            b']' if may_end => self.close(byte),
            b'"' => State::String(StringState::Plain),
            b'-' => State::Number(NumberState::Minus),
            b'0' => State::Number(NumberState::Zero),
            b'1'..=b'9' => State::Number(NumberState::Whole),
            b't' => State::Literal(b"rue"),
            b'f' => State::Literal(b"alse"),
            b'n' => State::Literal(b"ull"),
            _ => State::Invalid,
        }
    }

    fn string(&mut self, inside: StringState, byte: u8) -> State {
        if self.in_name && self.depth == 1 && self.name.len() <= LONGEST_NAME {
            self.name.push(byte);
        }
        match (inside, byte) {
            (StringState::Plain, b'"') if self.in_name => {
                self.in_name = false;
                let names: [&[u8]; 4] = [b"jsonrpc\"", b"method\"", b"result\"", b"error\""];
                self.resembles |= self.depth == 1 && names.contains(&&*self.name);
                State::Colon
            }
            (StringState::Plain, b'"') => State::After,
            (StringState::Plain, b'\\') => State::String(StringState::Escape),
            (StringState::Plain, 0..0x20) => State::Invalid,
            (StringState::Plain, _) => State::String(StringState::Plain),
            (StringState::Escape, b'u') => State::String(StringState::Hex(4)),
            (StringState::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                State::String(StringState::Plain)
            }
            (StringState::Hex(1), byte) if byte.is_ascii_hexdigit() => State::String(StringState::Plain),
            (StringState::Hex(left), byte) if byte.is_ascii_hexdigit() => {
                State::String(StringState::Hex(left - 1))
            }
            _ => State::Invalid,
        }
    }

    /// A value has ended before `byte`.
    fn after(&mut self, byte: u8) -> State {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => State::After,
            b',' if self.depth > 0 && self.in_object() => State::Name(false),
            b',' if self.depth > 0 => State::Value(false),
            b'}' | b']' => self.close(byte),
            _ => State::Invalid,
        }
    }

    fn close(&mut self, byte: u8) -> State {
        if self.depth == 0 || self.in_object() != (byte == b'}') {
            return State::Invalid;
        }
        self.depth -= 1;
        State::After
    }

    fn in_object(&self) -> bool {
        let innermost = self.depth.saturating_sub(1);
        self.open.get(innermost / 8).is_some_and(|bits| bits & 1 << (innermost % 8) != 0)
    }
}

fn next_digits(digits: NumberState, byte: u8) -> Option<NumberState> {
    Some(match (digits, byte) {
        (NumberState::Minus, b'0') => NumberState::Zero,
        (NumberState::Minus, b'1'..=b'9') | (NumberState::Whole, b'0'..=b'9') => NumberState::Whole,
        (NumberState::Zero | NumberState::Whole, b'.') => NumberState::Point,
        (NumberState::Point | NumberState::Fraction, b'0'..=b'9') => NumberState::Fraction,
        (NumberState::Zero | NumberState::Whole | NumberState::Fraction, b'e' | b'E') => {
            NumberState::Exponent
        }
        (NumberState::Exponent, b'+' | b'-') => NumberState::Sign,
        (NumberState::Exponent | NumberState::Sign | NumberState::Power, b'0'..=b'9') => NumberState::Power,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::LongLine;
    use proptest::prelude::*;
    use transcript::json::{Json, JsonKind};
    use transcript::message::resembles_message;

    fn told(bytes: &[u8], chunk: usize) -> bool {
        let mut long = LongLine::new();
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
        for text in [
            "[]",
            "{}",
            "42",
            r#"{"a":{"jsonrpc":1}}"#,
            r#"{"jsonrpc":1,}"#,
            r#"{"method":01}"#,
            r#"{"result":[1 2]}"#,
            r#"{"error":tru}"#,
            r#"{"error":true}}"#,
            r#"{"error":[}"#,
            r#"{"error":-}"#,
            r#"{"error":1.}"#,
            r#"{"error" 1}"#,
            r#"{"jsonrpcs":1}"#,
            r#"{"result":1}x"#,
            "{\"method\":\"\t\"}",
            r#"{"method":"\x"}"#,
            r#"[{"method":1}]"#,
            "",
        ] {
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
                    told(&text, chunk),
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
            prop_assert_eq!(told(text.as_bytes(), chunk), expected(text.as_bytes()), "{}", text);
        }
    }
}
