//! Whether a line that is too long to be held is a message: while it passes, what resembles one is seen, and then it is read again
//! to see whether it is JSON. Memory: a byte for each level of nesting.

use crate::utf8::Utf8;
use serde::de::IgnoredAny;
use std::io::{BufReader, Read};

/// The longest name that can make an object a message.
const LONGEST_NAME: usize = 7;

/// What is known so far, as far as the line is JSON.
#[derive(Debug, Default)]
pub(super) struct LongLine {
    /// How many objects and lists are open.
    depth: usize,
    in_text: bool,
    /// The last byte was a backslash in a text.
    after_escape: bool,
    /// The beginning of the last text.
    name: Vec<u8>,
    /// The outermost object has a member that makes it a message.
    resembles: bool,
    utf8: Utf8,
}

impl LongLine {
    /// Whether all that went by is UTF-8.
    pub(super) fn is_text(&self) -> bool {
        self.utf8.is_text()
    }

    /// Whether all that went by, which can be read `again`, is one object that resembles a message.
    pub(super) fn is_message(&self, again: impl Read) -> bool {
        let is_json = || serde_json::from_reader::<_, IgnoredAny>(BufReader::new(again)).is_ok();
        self.resembles && self.is_text() && is_json()
    }

    pub(super) fn feed(&mut self, mut bytes: &[u8]) {
        self.utf8.feed(bytes);
        while let [byte, rest @ ..] = bytes {
            bytes = rest;
            match byte {
                _ if std::mem::take(&mut self.after_escape) => {}
                b'"' => {
                    self.in_text = !self.in_text;
                    if self.in_text {
                        self.name.clear();
                    }
                }
                byte if self.in_text => {
                    self.after_escape = *byte == b'\\';
                    if self.name.len() <= LONGEST_NAME {
                        self.name.push(*byte);
                    } else if !self.after_escape {
                        // Most of a long line is the inside of a text.
                        bytes = &rest[memchr::memchr2(b'"', b'\\', rest).unwrap_or(rest.len())..];
                    }
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b':' if self.depth == 1 => {
                    let names: [&[u8]; 4] = [b"jsonrpc", b"method", b"result", b"error"];
                    self.resembles |= names.contains(&&*self.name);
                }
                _ => {}
            }
        }
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
        long.is_message(bytes)
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
        texts.extend(include_str!("long_lines.txt").lines().map(|line| line.as_bytes().to_vec()));
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
