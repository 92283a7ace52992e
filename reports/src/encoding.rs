//! Texts as policies and URIs spell them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac_sha256::Hash as Sha256;

/// A digest as a content security policy spells it.
pub(crate) fn digest(text: &str) -> String {
    let digest = Sha256::hash(text.as_bytes());
    STANDARD.encode(digest)
}

/// A text as part of a URI: letters, digits and these bytes as they are, and the others as `%` and two digits.
pub(crate) fn percent(text: &str, plain: &[u8]) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || plain.contains(&byte);
    let byte = |byte| if is_plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(byte).collect()
}
