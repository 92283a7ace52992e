//! The part of a text that a person is shown around a place.

use transcript::rejection::Excerpt;

/// How much of a long line is shown on each side of its place, in bytes.
pub(crate) const SHOWN: usize = 100;

/// The line around byte `at` of `text`, no longer than fits on a screen. `hangs`: the text begins inside a line.
#[must_use]
pub(crate) fn excerpt(text: &str, at: usize, hangs: bool) -> Excerpt {
    let at = floor(text, at.min(text.len()));
    let line_start = memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |found| found + 1);
    let line_end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |found| at + found);
    let start = floor(text, at.saturating_sub(SHOWN)).max(line_start);
    let end = floor(text, (at + SHOWN).min(text.len())).min(line_end);
    // A line end is not part of the line, but the place may be behind a carriage return that ends none.
    let length = text[start..end].trim_end_matches('\r').len().max(at - start);
    Excerpt {
        text: text[start..start + length].to_owned(),
        at: at - start,
        cut_before: start > line_start || hangs && line_start == 0,
        cut_after: end < line_end,
    }
}

/// The beginning of a text that may be long.
pub(crate) fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The nearest place at or before `at` where a character begins.
#[must_use]
pub(crate) fn floor(text: &str, at: usize) -> usize {
    (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default()
}
