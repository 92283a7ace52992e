//! Text from a stranger's transcript or program, without power over the terminal it is shown on.

use std::fmt::Write as _;

/// Text cut to about `width` characters, with a mark where it goes on.
#[must_use]
pub fn cut(text: &str, width: usize) -> String {
    match text.char_indices().nth(width) {
        Some((end, _)) => format!("{}…", plain(&text[..end])),
        None => plain(text),
    }
}

/// A stranger's text on one line: control characters, bidirectional overrides and invisible marks are spelled out
/// instead of obeyed.
#[must_use]
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\t' | '\n' => out.push(' '),
            '\u{61c}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{fffe}'
            | '\u{ffff}'
            | '\u{e0000}'..='\u{e007f}' => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
            char if char.is_control() => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(char));
            }
            char => out.push(char),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{cut, plain};

    #[test]
    fn hostile_text_is_spelled_out() {
        assert_eq!(plain("a\u{1b}[31mb\u{202e}c\nd"), "a\\u{1b}[31mb\\u{202e}c d");
        assert_eq!(plain("\u{61c}\u{2060}\u{ffff}\u{e0041}"), "\\u{61c}\\u{2060}\\u{ffff}\\u{e0041}");
        assert_eq!(cut("abcdef", 3), "abc…");
    }
}
