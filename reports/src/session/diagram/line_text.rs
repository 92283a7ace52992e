//! Words of a picture: a stranger's text made harmless and short, and times as a person reads them.

use crate::plain::cut;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// A stranger's text on one line, cut to this many columns; wide characters take two, and what is spelled out counts as it is spelled.
pub(crate) fn fit(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    if width(&text) <= columns {
        return text;
    }
    let (mut out, mut used) = (String::new(), 0);
    for char in text.chars() {
        used += char.width().unwrap_or_default();
        if used + 1 > columns {
            break;
        }
        out.push(char);
    }
    if columns > 0 {
        out.push('…');
    }
    out
}

/// The first characters of a text, with a mark where it goes on.
pub(crate) fn beginning(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// How many columns a text takes.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// A text in lines of this many columns, at most `most` of them; the last is cut where there is more.
pub(super) fn wrap(text: &str, columns: usize, most: usize) -> Vec<String> {
    let text = cut(text, columns * most + columns);
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let mut word = word.to_owned();
        if !line.is_empty() && width(&line) + 1 + width(&word) > columns {
            lines.push(std::mem::take(&mut line));
        }
        while width(&word) > columns {
            let mut used = 0;
            let end = word.char_indices().find(|(_, char)| {
                used += char.width().unwrap_or_default();
                used > columns
            });
            let rest = word.split_off(end.map_or(word.len(), |(at, _)| at.max(1)));
            lines.push(std::mem::replace(&mut word, rest));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = format!("{}…", fit(last, columns.saturating_sub(1)).trim_end_matches('…'));
        }
    }
    lines
}

/// A moment, counted from the beginning.
pub(crate) fn seconds(milliseconds: i64) -> String {
    let sign = if milliseconds < 0 { "-" } else { "" };
    let all = milliseconds.unsigned_abs();
    let (second, rest) = (all / 1000, all % 1000);
    match second {
        0..60 => format!("{sign}{second}.{rest:03} s"),
        60..3600 => format!("{sign}{}:{:02}.{rest:03}", second / 60, second % 60),
        _ => format!("{sign}{}:{:02}:{:02}.{rest:03}", second / 3600, second / 60 % 60, second % 60),
    }
}

/// How long something took.
pub(crate) fn took(milliseconds: i64) -> String {
    match milliseconds {
        -999..1000 => format!("{milliseconds} ms"),
        _ => seconds(milliseconds),
    }
}

#[cfg(test)]
mod tests {
    use super::{fit, seconds, took, width, wrap};

    #[test]
    fn texts_fit_their_columns_whatever_they_hold() {
        assert_eq!(fit("hello", 5), "hello");
        assert_eq!(fit("hello!", 5), "hell…");
        assert_eq!(fit("日本語です", 6), "日本…");
        assert_eq!(fit("a\u{202e}b", 20), "a\\u{202e}b");
        assert_eq!(fit("x", 0), "");
        for columns in 0..12 {
            assert!(width(&fit("\u{1b}日本👩\u{200d}👩\u{0301}", columns)) <= columns, "{columns}");
        }
    }

    #[test]
    fn lines_are_broken_at_words_and_end() {
        assert_eq!(wrap("one two three", 7, 3), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4, 9), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("one two three four", 7, 2), ["one two", "three…"]);
        assert_eq!(wrap(&"語".repeat(9), 4, 2).concat().chars().last(), Some('…'));
    }

    #[test]
    fn times_are_read_at_a_glance() {
        assert_eq!(seconds(0), "0.000 s");
        assert_eq!(seconds(-1_010), "-1.010 s");
        assert_eq!(seconds(61_005), "1:01.005");
        assert_eq!(seconds(3_725_000), "1:02:05.000");
        assert_eq!((took(17), took(1_500), took(i64::MIN)).0, "17 ms");
        assert_eq!(took(1_500), "1.500 s");
    }
}
