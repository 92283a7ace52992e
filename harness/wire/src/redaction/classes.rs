//! What bytes may be part of, and the runs of those that are alike.

use std::borrow::Cow;

/// Whether a byte may be part of something.
pub(super) type Class = fn(u8) -> bool;

/// A part of a text that has a meaning by itself: all but blanks and what surrounds values.
pub(super) fn is_piece(byte: u8) -> bool {
    !matches!(byte, b'=' | b'&' | b'"' | b'\'' | b'<' | b'>') && !byte.is_ascii_whitespace()
}

/// What Base64 of either alphabet and hexadecimal are written with.
pub(super) fn is_letter(byte: u8) -> bool {
    is_digit(byte) || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// The same without signs.
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

/// Puts what `new` says in place of the runs of bytes of a class.
pub(super) fn replace_runs(text: &mut Cow<'_, [u8]>, class: Class, new: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    let bytes: &[u8] = text;
    let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = rest.iter().position(|byte| !class(*byte)).unwrap_or(rest.len());
        if let Some(new) = (length > 0).then(|| new(&rest[..length])).flatten() {
            out.extend_from_slice(&bytes[copied..at]);
            out.extend(new);
            copied = at + length;
        }
        at += length.max(1);
    }
    if copied > 0 {
        out.extend_from_slice(&bytes[copied..]);
        *text = Cow::Owned(out);
    }
}
