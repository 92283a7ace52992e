//! Digests for content security policies.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// A digest as a content security policy spells it.
pub(crate) fn digest(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    STANDARD.encode(digest)
}
