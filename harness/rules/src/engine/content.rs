//! Embedded resources, resource contents, URIs and base64: what tools, prompts, resources and sampling share.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;
use transcript::json::{Json, JsonKind};

/// The resource that a block of content embeds.
pub(crate) fn embedded(block: Json<'_>) -> Option<Json<'_>> {
    // Most blocks have no such member.
    let resource = block.member("resource").filter(|resource| resource.kind() == JsonKind::Object)?;
    block.member("type")?.as_text()?.is("resource").then_some(resource)
}

/// What a resource holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ContentsKind {
    Text,
    Blob,
    Both,
    Neither,
}

/// Whether a resource holds text or bytes. A member of another kind than string counts as none.
pub(crate) fn contents(resource: Json<'_>) -> ContentsKind {
    let has = |name| resource.member(name).is_some_and(|value| value.kind() == JsonKind::String);
    match (has("text"), has("blob")) {
        (true, true) => ContentsKind::Both,
        (true, false) => ContentsKind::Text,
        (false, true) => ContentsKind::Blob,
        (false, false) => ContentsKind::Neither,
    }
}

/// Longer names are not remembered by anyone who remembers names, in bytes.
pub(crate) const LONGEST_NAME: usize = 1_024;

/// The same, where nobody keeps it.
pub(crate) fn str_of(value: Json<'_>) -> Option<Cow<'_, str>> {
    value.as_text()?.to_str()
}

/// A string's content.
pub(crate) fn text_of(value: Json<'_>) -> Option<Box<str>> {
    Some(value.as_text()?.to_str()?.into())
}

/// A string without what no Unicode text can hold.
pub(crate) fn string_of(value: Json<'_>) -> Option<String> {
    value.as_text()?.to_str().map(Into::into)
}

/// The bytes of a text in base64 (RFC 4648, section 4), which has all of its padding or none.
pub(crate) fn base64(text: &str) -> Option<Vec<u8>> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    let cut = text.ends_with('=') && !text.len().is_multiple_of(4);
    ENGINE.decode(text).ok().filter(|_| !cut)
}

/// What is wrong with base64: nothing, a detail that most decoders pass over, or all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Base64 {
    Good,
    Loose(&'static str),
    Bad(String),
}

/// Reads base64 (RFC 4648, section 4).
pub(crate) fn read_base64(text: &str) -> Base64 {
    let (mut digits, mut padding, mut blank, mut url) = (0_usize, 0_usize, false, false);
    for char in text.chars() {
        match char {
            'A'..='Z' | 'a'..='z' | '0'..='9' | '+' | '/' if padding == 0 => digits += 1,
            '-' | '_' if padding == 0 => (digits, url) = (digits + 1, true),
            '=' => padding += 1,
            '\n' | '\r' | ' ' | '\t' => blank = true,
            other => return Base64::Bad(format!("{other:?} is not a base64 digit")),
        }
    }
    if digits % 4 == 1 || padding > 2 {
        return Base64::Bad("base64 cannot have its length".to_owned());
    }
    match (digits + padding).is_multiple_of(4) {
        _ if url => Base64::Loose("it has the digits of the form for URLs, which strict decoders refuse"),
        _ if blank => Base64::Loose("it has white space, which strict decoders refuse"),
        false => Base64::Loose("its padding is missing, without which strict decoders refuse it"),
        true => Base64::Good,
    }
}

/// What is wrong with a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Uri {
    Good,
    /// It has characters that would have to be escaped, and is understood all the same.
    Loose(&'static str),
    Bad(&'static str),
}

/// Reads a URI (RFC 3986): a scheme, and behind it only characters that may stand there.
pub(crate) fn uri(text: &str) -> Uri {
    let Some((scheme, rest)) = text.split_once(':') else { return Uri::Bad("it has no scheme") };
    let starts = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    if !starts || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte)) {
        return Uri::Bad("the part before its first colon is not a scheme");
    }
    if rest.chars().any(|char| char == ' ' || char.is_ascii_control()) {
        return Uri::Bad("it has white space or control characters");
    }
    if !rest.is_ascii() {
        return Uri::Loose("it has characters beyond ASCII that are not escaped");
    }
    let bytes = rest.as_bytes();
    let escaped = (0..bytes.len())
        .filter(|at| bytes[*at] == b'%')
        .all(|at| bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)));
    if !escaped {
        return Uri::Loose("it has a `%` that does not begin an escape");
    }
    if rest.contains(['"', '<', '>', '\\', '^', '`', '{', '|', '}']) {
        return Uri::Loose("it has characters that must be escaped in a URI");
    }
    Uri::Good
}

#[cfg(test)]
mod tests {
    use super::{Base64, Uri, base64, read_base64, uri};

    #[test]
    fn base64_is_decoded_with_all_its_padding_or_none() {
        for (text, bytes) in [
            ("", &b""[..]),
            ("Zg==", b"f"),
            ("Zm8=", b"fo"),
            ("Zm9v", b"foo"),
            ("Zm9vYg", b"foob"),
            ("Zh", b"f"),
        ] {
            assert_eq!(base64(text).as_deref(), Some(bytes), "{text}");
        }
        assert_eq!(base64("SGVsbG8sIOS4lueVjA==").as_deref(), Some("Hello, 世界".as_bytes()));
        for wrong in ["A", "Zg=", "Zg===", "Z g=", "Zm9v=", "-_-_", "=Zg="] {
            assert_eq!(base64(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn base64_is_strict_loose_or_bad() {
        for good in ["", "aGk=", "aGkh", "+/+/", "AA=="] {
            assert_eq!(read_base64(good), Base64::Good, "{good}");
        }
        for loose in ["aGk", "aG\nkh", "-_-_"] {
            assert!(matches!(read_base64(loose), Base64::Loose(_)), "{loose}");
        }
        for bad in ["data:image/png;base64,aGk=", "a", "aGk=a", "====", "é"] {
            assert!(matches!(read_base64(bad), Base64::Bad(_)), "{bad}");
        }
    }

    #[test]
    fn a_uri_has_a_scheme_and_escapes() {
        for good in ["file:///a/b", "a+b.c-1:x", "urn:x:%20", "http://[::1]:80/?q#f", "ui://w"] {
            assert_eq!(uri(good), Uri::Good, "{good}");
        }
        for loose in ["file:///ü", "x:%2", "c:\\a", "x://{id}"] {
            assert!(matches!(uri(loose), Uri::Loose(_)), "{loose}");
        }
        for bad in ["", "a/b", "/a:b", "1a:b", "file:///a b"] {
            assert!(matches!(uri(bad), Uri::Bad(_)), "{bad}");
        }
    }
}
