//! Base64 (RFC 4648, section 4), to compare what it stands for.
//!
//! Refuses to know: the URL-safe alphabet, and white space.

/// The bytes that a text stands for; none where it is no Base64. Padding may be missing.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    if padding > 2 || padding > 0 && !text.len().is_multiple_of(4) || body.len() % 4 == 1 {
        return None;
    }
    let mut out = Vec::with_capacity(body.len() * 3 / 4);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in body.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count).to_be_bytes()[3]);
            bits &= (1 << count) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn text_stands_for_bytes() {
        for (text, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm9v", b"foo"), ("Zm9vYg", b"foob")]
        {
            assert_eq!(base64(text).as_deref(), Some(bytes), "{text}");
        }
        assert_eq!(base64("SGVsbG8sIOS4lueVjA==").as_deref(), Some("Hello, 世界".as_bytes()));
        for wrong in ["A", "Zg=", "Zg===", "Z g=", "Zm9v=", "-_-_", "=Zg="] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
    }
}
