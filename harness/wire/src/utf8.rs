//! UTF-8 that comes in parts.

/// What is known of the parts so far.
#[derive(Debug, Default)]
pub(crate) struct Utf8 {
    /// The beginning of a character whose end has not come.
    begun: Vec<u8>,
    invalid: bool,
}

impl Utf8 {
    /// Whether all that came is text, with its last character complete.
    pub(crate) fn is_text(&self) -> bool {
        !self.invalid && self.begun.is_empty()
    }

    pub(crate) fn feed(&mut self, mut part: &[u8]) {
        // A character has at most four bytes, so few bytes finish the one that was begun.
        while !self.invalid && !self.begun.is_empty() {
            let [first, rest @ ..] = part else { return };
            self.begun.push(*first);
            part = rest;
            match std::str::from_utf8(&self.begun) {
                Ok(_) => self.begun.clear(),
                Err(error) => self.invalid = error.error_len().is_some(),
            }
        }
        if let Err(error) = std::str::from_utf8(part) {
            self.invalid |= error.error_len().is_some();
            self.begun.extend_from_slice(&part[error.valid_up_to()..]);
            self.begun.truncate(4);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Utf8;

    #[test]
    fn text_is_text_however_it_is_cut() {
        for (bytes, text) in [
            ("aé😀".as_bytes(), true),
            (b"", true),
            (b"a\xff", false),
            (b"\xf0\x9f", false),
            (b"\xf0\x9fx", false),
            (b"\xffabcdef", false),
        ] {
            for size in [1, 2, 3, 7] {
                let mut utf8 = Utf8::default();
                bytes.chunks(size).for_each(|part| utf8.feed(part));
                assert_eq!(utf8.is_text(), text, "{bytes:?} by {size}");
            }
        }
    }
}
