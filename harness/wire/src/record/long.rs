//! Whether a line too long to be held is a message, told while it goes by.
//!
//! Knows: the grammar of JSON (RFC 8259), UTF-8, and the names of a message's members. Refuses to know: what the values
//! say. Memory: a bit for each level of nesting.

/// The longest name that can make an object a message.
const LONGEST_NAME: usize = 7;

/// What is known so far.
#[derive(Debug)]
pub(super) struct Long {
    state: State,
    /// The levels that are open: whether each is an object.
    open: Vec<u8>,
    depth: usize,
    /// The name of the member of the outermost object that is being read.
    name: Vec<u8>,
    in_name: bool,
    is_object: bool,
    resembles: bool,
    /// The beginning of a character that is not complete.
    character: Vec<u8>,
    utf8: bool,
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
    Text(InText),
    Number(Digits),
    Word(&'static [u8]),
    Broken,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum InText {
    Plain,
    Escape,
    Hex(u8),
}

/// Where in a number the last byte stood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Digits {
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
    Exponent,
    Sign,
    Power,
}

impl Long {
    pub(super) fn new() -> Self {
        Self {
            state: State::Value(false),
            open: Vec::new(),
            depth: 0,
            name: Vec::new(),
            in_name: false,
            is_object: false,
            resembles: false,
            character: Vec::new(),
            utf8: true,
            begun: false,
        }
    }

    /// Whether all that went by is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.utf8 && self.character.is_empty()
    }

    /// Whether all that went by is one object that resembles a message.
    pub(super) fn is_message(&self) -> bool {
        let whole = self.depth == 0 && self.state == State::After;
        whole && self.is_object && self.resembles && self.is_text()
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        self.check_utf8(bytes);
        let mut at = 0;
        while at < bytes.len() && self.state != State::Broken {
            if self.state == State::Text(InText::Plain) && !self.in_name {
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
            State::Text(inside) => self.text(inside, byte),
            State::Number(digits) => match next_digits(digits, byte) {
                Some(digits) => State::Number(digits),
                None if matches!(digits, Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power) => {
                    self.after(byte)
                }
                None => State::Broken,
            },
            State::Word(rest) => match rest {
                [expected] if *expected == byte => State::After,
                [expected, rest @ ..] if *expected == byte => State::Word(rest),
                _ => State::Broken,
            },
            state if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') => state,
            State::Value(may_end) => self.value(may_end, byte),
            State::Name(true) if byte == b'}' => self.close(byte),
            State::Name(_) if byte == b'"' => {
                self.name.clear();
                self.in_name = true;
                State::Text(InText::Plain)
            }
            State::Colon if byte == b':' => State::Value(false),
            State::After => self.after(byte),
            _ => State::Broken,
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
            b'"' => State::Text(InText::Plain),
            b'-' => State::Number(Digits::Minus),
            b'0' => State::Number(Digits::Zero),
            b'1'..=b'9' => State::Number(Digits::Whole),
            b't' => State::Word(b"rue"),
            b'f' => State::Word(b"alse"),
            b'n' => State::Word(b"ull"),
            _ => State::Broken,
        }
    }

    fn text(&mut self, inside: InText, byte: u8) -> State {
        if self.in_name && self.depth == 1 && self.name.len() <= LONGEST_NAME {
            self.name.push(byte);
        }
        match (inside, byte) {
            (InText::Plain, b'"') if self.in_name => {
                self.in_name = false;
                let names: [&[u8]; 4] = [b"jsonrpc\"", b"method\"", b"result\"", b"error\""];
                self.resembles |= self.depth == 1 && names.contains(&&*self.name);
                State::Colon
            }
            (InText::Plain, b'"') => State::After,
            (InText::Plain, b'\\') => State::Text(InText::Escape),
            (InText::Plain, 0..0x20) => State::Broken,
            (InText::Plain, _) => State::Text(InText::Plain),
            (InText::Escape, b'u') => State::Text(InText::Hex(4)),
            (InText::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                State::Text(InText::Plain)
            }
            (InText::Hex(1), byte) if byte.is_ascii_hexdigit() => State::Text(InText::Plain),
            (InText::Hex(left), byte) if byte.is_ascii_hexdigit() => State::Text(InText::Hex(left - 1)),
            _ => State::Broken,
        }
    }

    /// A value has ended before `byte`.
    fn after(&mut self, byte: u8) -> State {
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => State::After,
            b',' if self.depth > 0 && self.in_object() => State::Name(false),
            b',' if self.depth > 0 => State::Value(false),
            b'}' | b']' => self.close(byte),
            _ => State::Broken,
        }
    }

    fn close(&mut self, byte: u8) -> State {
        if self.depth == 0 || self.in_object() != (byte == b'}') {
            return State::Broken;
        }
        self.depth -= 1;
        State::After
    }

    fn in_object(&self) -> bool {
        let innermost = self.depth.saturating_sub(1);
        self.open.get(innermost / 8).is_some_and(|bits| bits & 1 << (innermost % 8) != 0)
    }

    fn check_utf8(&mut self, bytes: &[u8]) {
        let mut bytes = bytes;
        // A character is at most four bytes long, so few bytes finish the one that was begun.
        while !self.character.is_empty() && self.utf8 {
            let [first, rest @ ..] = bytes else { return };
            self.character.push(*first);
            bytes = rest;
            match std::str::from_utf8(&self.character) {
                Ok(_) => self.character.clear(),
                Err(error) => self.utf8 = error.error_len().is_none(),
            }
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => {}
            Err(error) if error.error_len().is_none() => {
                self.character.extend_from_slice(&bytes[error.valid_up_to()..]);
            }
            Err(_) => self.utf8 = false,
        }
    }
}

fn next_digits(digits: Digits, byte: u8) -> Option<Digits> {
    Some(match (digits, byte) {
        (Digits::Minus, b'0') => Digits::Zero,
        (Digits::Minus, b'1'..=b'9') | (Digits::Whole, b'0'..=b'9') => Digits::Whole,
        (Digits::Zero | Digits::Whole, b'.') => Digits::Point,
        (Digits::Point | Digits::Fraction, b'0'..=b'9') => Digits::Fraction,
        (Digits::Zero | Digits::Whole | Digits::Fraction, b'e' | b'E') => Digits::Exponent,
        (Digits::Exponent, b'+' | b'-') => Digits::Sign,
        (Digits::Exponent | Digits::Sign | Digits::Power, b'0'..=b'9') => Digits::Power,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::Long;
    use proptest::prelude::*;
    use transcript::json::{Json, JsonKind};
    use transcript::message::resembles_message;

    fn told(bytes: &[u8], chunk: usize) -> bool {
        let mut long = Long::new();
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
