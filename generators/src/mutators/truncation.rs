//! Files that break off, and bytes that no text has.

use crate::mutator::Apply;
use crate::relation::Relation;
use crate::rng::Rng;
use formats::Format;
use transcript::rejection::Code;

mutators! {
    "cut-short" ["SRV-BYTES"] "The file breaks off, at any character inside the document or inside the last line."
        => Relation::Rejects(Code::Truncated), Apply::Bytes(cut);
    "cut-entries" ["EQ-COUNT" "EQ-OUTCOME"] "The session breaks off between two messages."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let length = rng.below(builder.entries.len());
            let took = length < builder.entries.len();
            builder.entries.truncate(length);
            // What a challenge showed may be gone with its entry.
            took && builder.discovery.is_none()
        });
    "bytes-no-text" ["SRV-BYTES"] "A string holds a byte that is not UTF-8."
        => Relation::Rejects(Code::InvalidUtf8), Apply::Bytes(no_text);
    "bytes-nul" ["SRV-BYTES" "JRP-LINE"] "A NUL follows a colon, in a string or not."
        => Relation::Rejects(Code::InvalidJson), Apply::Bytes(|_, bytes, rng| {
            // Inside a string it is not JSON either.
            let colons: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at] == b':').collect();
            let Some(&at) = rng.pick(&colons) else { return false };
            bytes.insert(at + 1, 0);
            true
        });
}

fn cut(format: &'static Format, bytes: &mut Vec<u8>, rng: &mut Rng) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let text = text.trim_end();
    // Anywhere before the bracket that ends the document, or the last line.
    let last = if format.is_lines() { text.rfind('\n').map_or(0, |at| at + 1) } else { 0 };
    // A line that is cut before its first character is not there, and a file without lines may be a session.
    let first = last + usize::from(format.is_lines());
    let attempt = first + rng.below(text.len().saturating_sub(first));
    let at = (first..=attempt).rev().find(|&at| text.is_char_boundary(at));
    let Some(at) = at.filter(|&at| at < text.len()) else { return false };
    bytes.truncate(at);
    true
}

/// Before a quote, so at the beginning of a string or at its end.
fn no_text(_: &'static Format, bytes: &mut Vec<u8>, rng: &mut Rng) -> bool {
    let quotes: Vec<_> = (0..bytes.len()).filter(|&at| bytes[at] == b'"').collect();
    let Some(&at) = rng.pick(&quotes) else { return false };
    bytes.insert(at, rng.pick(&[0xff, 0xc0, 0x80, 0xf8]).copied().unwrap_or(0xff));
    true
}
