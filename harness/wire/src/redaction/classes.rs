//! What bytes may be part of, so that one look at a text shows what need not be looked for in it.

use std::borrow::Cow;

/// What a byte may be part of: a sum of the following.
pub(super) type Class = u8;

/// A sign that gives a value to a name.
pub(super) const SIGN: Class = 1;

/// The sign of URLs' encoding.
pub(super) const PERCENT: Class = 2;

/// The sign of JSON's escapes.
pub(super) const BACKSLASH: Class = 4;

/// A part of a text that has a meaning by itself: all but blanks and what surrounds values.
pub(super) const PIECE: Class = 8;

/// What Base64 of either alphabet and hexadecimal are written with.
pub(super) const LETTER: Class = 16;

/// The same without signs.
pub(super) const DIGIT: Class = 32;

const CLASSES: [Class; 256] = {
    let (mut all, mut byte) = ([0; 256], 0_u8);
    loop {
        all[byte as usize] = match byte {
            b'=' => SIGN,
            b'&' | b'"' | b'\'' | b'<' | b'>' | b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => 0,
            b':' => PIECE | SIGN,
            b'%' => PIECE | PERCENT,
            b'\\' => PIECE | BACKSLASH,
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => PIECE | LETTER | DIGIT,
            b'+' | b'/' | b'-' | b'_' => PIECE | LETTER,
            _ => PIECE,
        };
        if byte == u8::MAX {
            break all;
        }
        byte += 1;
    }
};

fn class(byte: u8) -> Class {
    CLASSES[usize::from(byte)]
}

/// What a text has at all.
pub(super) struct TextTraits {
    classes: Class,
    /// The longest run of letters.
    pub(super) run: usize,
}

impl TextTraits {
    pub(super) fn in_text(text: &[u8]) -> Self {
        let (mut classes, mut run, mut longest) = (0, 0, 0);
        for class in text.iter().map(|byte| class(*byte)) {
            classes |= class;
            run = if class & LETTER == 0 { 0 } else { run + 1 };
            longest = run.max(longest);
        }
        Self { classes, run: longest }
    }

    pub(super) fn has(&self, class: Class) -> bool {
        self.classes & class != 0
    }
}

/// Puts what `new` says in place of the runs of bytes of a class.
pub(super) fn replace_runs(text: &mut Cow<'_, [u8]>, of: Class, new: impl Fn(&[u8]) -> Option<Vec<u8>>) {
    let bytes: &[u8] = text;
    let (mut out, mut copied, mut at) = (Vec::new(), 0, 0);
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = rest.iter().position(|byte| class(*byte) & of == 0).unwrap_or(rest.len());
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
