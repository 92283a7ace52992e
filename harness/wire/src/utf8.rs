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

    pub(crate) fn feed(&mut self, part: &[u8]) {
        let joined = (!self.begun.is_empty()).then(|| [&self.begun, part].concat());
        let bytes = joined.as_deref().unwrap_or(part);
        if let Err(error) = std::str::from_utf8(bytes) {
            self.invalid |= error.error_len().is_some();
            self.begun = if self.invalid { Vec::new() } else { bytes[error.valid_up_to()..].to_vec() };
        } else {
            self.begun.clear();
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
