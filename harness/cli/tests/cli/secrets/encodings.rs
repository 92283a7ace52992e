//! How a secret may be spelled where it stands.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;

/// One more encoding is one more row.
pub(crate) struct Encoding {
    pub(crate) name: &'static str,
    pub(crate) encode: fn(&str) -> String,
    /// Whether it may only stand in the texts of messages.
    pub(crate) messages_only: bool,
    /// Why a pattern does not find it, as it is documented.
    pub(crate) hidden: Option<&'static str>,
}

const fn row(name: &'static str, encode: fn(&str) -> String) -> Encoding {
    Encoding { name, encode, messages_only: false, hidden: None }
}

pub(crate) const ENCODINGS: &[Encoding] = &[
    row("plain", str::to_owned),
    row("percent", |secret| secret.bytes().map(|byte| format!("%{byte:02x}")).collect()),
    row("Base64", |secret| STANDARD.encode(secret)),
    row("Base64 for URLs", |secret| URL_SAFE_NO_PAD.encode(secret)),
    row("hexadecimal", |secret| secret.bytes().map(|byte| format!("{byte:02x}")).collect()),
    row("Base64, percent", |secret| STANDARD.encode(format!("{secret}!")).replace('=', "%3D")),
    Encoding {
        messages_only: true,
        ..row("JSON escapes", |secret| secret.bytes().map(|byte| format!("\\u{byte:04X}")).collect())
    },
    Encoding {
        hidden: Some("a text in a text is not decompressed"),
        ..row("gzip in Base64", |secret| {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
            gzip.write_all(secret.repeat(3).as_bytes()).unwrap();
            URL_SAFE_NO_PAD.encode(gzip.finish().unwrap())
        })
    },
    Encoding {
        messages_only: true,
        hidden: Some("HTML is not decoded"),
        ..row("HTML", |secret| secret.bytes().map(|byte| format!("&#{byte};")).collect())
    },
];
