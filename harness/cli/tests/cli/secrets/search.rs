//! A search of all files, in every encoding in which a secret may have come out.

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::fs;
use std::path::Path;

/// Every file, in every way to read it: its name, and its bytes without the backslashes of JSON.
pub(crate) struct Search(Vec<(String, Vec<u8>)>);

impl Search {
    pub(crate) fn new(folder: &Path) -> Self {
        let mut views = Vec::new();
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes: Vec<u8> = fs::read(&path).unwrap().into_iter().filter(|byte| *byte != b'\\').collect();
            views.push((format!("{name}, as Base64"), base64(&bytes)));
            let percent = percent(&bytes);
            views.push((format!("{name}, as Base64 behind percent signs"), base64(&percent)));
            views.push((format!("{name}, as hexadecimal"), hexadecimal(&bytes)));
            views.push((format!("{name}, behind percent signs"), percent));
            views.push((name, bytes));
        }
        Self(views)
    }

    /// Where the secret is, or its encoding, or half of that.
    pub(crate) fn find(&self, secret: &str, encoded: &str) -> Option<&str> {
        let encoded: String = encoded.chars().filter(|char| *char != '\\').collect();
        let (one, two) = encoded.split_at(encoded.len() / 2);
        let holds = |bytes: &[u8]| {
            [secret, one, two].iter().any(|needle| memchr::memmem::find(bytes, needle.as_bytes()).is_some())
        };
        self.0.iter().find(|(_, bytes)| holds(bytes)).map(|(name, _)| &**name)
    }
}

fn percent(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let [first, others @ ..] = rest {
        let digits = others.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let value = digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%');
        out.push(value.unwrap_or(*first));
        rest = if value.is_some() { &others[2..] } else { others };
    }
    out
}

/// What each run of Base64's letters denotes, each on a line.
fn base64(bytes: &[u8]) -> Vec<u8> {
    let config = GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&base64::alphabet::URL_SAFE, config);
    let runs = bytes.split(|byte| !byte.is_ascii_alphanumeric() && !b"-_".contains(byte));
    runs.flat_map(|run| [engine.decode(run).unwrap_or_default(), b"\n".to_vec()].concat()).collect()
}

fn hexadecimal(bytes: &[u8]) -> Vec<u8> {
    let digit = |byte: u8| u8::try_from(char::from(byte).to_digit(16).unwrap()).unwrap();
    let runs = bytes.split(|byte| !byte.is_ascii_hexdigit());
    let decoded = |run: &[u8]| -> Vec<u8> {
        run.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
    };
    runs.flat_map(|run| [decoded(run), b"\n".to_vec()].concat()).collect()
}
