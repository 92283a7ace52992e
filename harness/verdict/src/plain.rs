//! Text for a terminal: a stranger's, without power over it, and counts in words.

use std::fmt::Write as _;
use std::io::{self, Write};

/// Text cut to about `width` characters, with a mark where it goes on.
pub fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", plain(&text[..end])),
        None => plain(text),
    }
}

/// A stranger's text on one line: control characters, bidirectional overrides, invisible marks and commands to the runner of a
/// workflow are spelled out instead of obeyed.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    // `::error::…` at a line's start is obeyed too, and a text may come to stand there.
    if text.trim_start().strip_prefix("::").is_some_and(|rest| rest.contains("::")) {
        out.push_str("\\u{3a}");
        chars = text.trim_start()[1..].chars();
    }
    while let Some(char) = chars.next() {
        match char {
            '\t' | '\n' => out.push(' '),
            // The runner of GitHub's workflows obeys `##[error]` anywhere in a line.
            '#' if chars.as_str().starts_with("#[") => out.push_str("\\u{23}"),
            char if is_obeyed(char) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out
}

/// A count with its noun.
pub fn counted(count: impl TryInto<u64>, one: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    match count {
        1 => format!("1 {one}"),
        _ if one.ends_with('s') || one.ends_with("ch") => format!("{count} {one}es"),
        _ => format!("{count} {one}s"),
    }
}

/// A word for a shell.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Whether a terminal may obey a character, or show another text than stands there.
pub fn is_obeyed(char: char) -> bool {
    let is_mark = matches!(
        char,
        '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{fffe}'
            | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}'
    );
    is_mark || char.is_control()
}

/// Data on its way to a terminal: JSON, XML, a transcript. What the terminal might obey is escaped as in JSON, where it can
/// only stand in a string, so JSON keeps its value; newlines and tabs pass.
///
/// Memory: an unfinished character.
#[derive(Debug)]
pub struct Escaping<W: Write> {
    out: W,
    unfinished: Vec<u8>,
}

impl<W: Write> Escaping<W> {
    /// Nothing was written so far.
    pub fn new(out: W) -> Self {
        Self { out, unfinished: Vec::new() }
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        let mut from = 0;
        for (at, char) in text.char_indices() {
            if char != '\n' && char != '\t' && is_obeyed(char) {
                self.out.write_all(&text.as_bytes()[from..at])?;
                from = at + char.len_utf8();
                for unit in char.encode_utf16(&mut [0; 2]) {
                    write!(self.out, "\\u{unit:04x}")?;
                }
            }
        }
        self.out.write_all(&text.as_bytes()[from..])
    }
}

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = std::mem::take(&mut self.unfinished);
        all.extend_from_slice(bytes);
        let mut rest = &all[..];
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => {
                    self.text(text)?;
                    return Ok(bytes.len());
                }
                Err(error) => {
                    let (good, bad) = rest.split_at(error.valid_up_to());
                    self.text(std::str::from_utf8(good).unwrap_or_default())?;
                    let Some(length) = error.error_len() else {
                        self.unfinished = bad.to_vec();
                        return Ok(bytes.len());
                    };
                    self.text("\u{fffd}")?;
                    rest = &bad[length..];
                }
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::{Escaping, cut, plain};
    use std::io::Write as _;

    #[test]
    fn hostile_text_is_spelled_out() {
        assert_eq!(plain("a\u{1b}[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c d");
        assert_eq!(plain("\n::error::a"), "\\u{3a}:error::a");
        assert_eq!(plain("::1 and a::b"), "\\u{3a}:1 and a::b");
        assert_eq!(plain("::1"), "::1");
        assert_eq!(plain("a##[error]b"), "a\\u{23}#[error]b");
        assert_eq!(plain("\u{61c}\u{2060}\u{ffff}\u{e0041}"), "\\u{61c}\\u{2060}\\u{ffff}\\u{e0041}");
        assert_eq!(cut("abcdef", 3), "abc…");
    }

    #[test]
    fn data_for_a_terminal_keeps_its_value_as_json() {
        let value = "a\u{7f}b\u{9b}31m\u{202e}c\u{e0041}é\u{10ffff}";
        let json = format!("{{\n\t\"k\": \"{value}\"\n}}\n");
        let expected = "{\n\t\"k\": \"a\\u007fb\\u009b31m\\u202ec\\udb40\\udc41é\u{10ffff}\"\n}\n";
        for at_once in [1, 2, 3, 1000] {
            let mut out = Escaping::new(Vec::new());
            for part in json.as_bytes().chunks(at_once) {
                out.write_all(part).unwrap();
            }
            assert_eq!(String::from_utf8(out.out).unwrap(), expected, "{at_once}");
        }
        let mut out = Escaping::new(Vec::new());
        out.write_all(b"a\x9bb\x1b[c\r\n").unwrap();
        assert_eq!(String::from_utf8(out.out).unwrap(), "a\u{fffd}b\\u001b[c\\u000d\n");
    }
}
