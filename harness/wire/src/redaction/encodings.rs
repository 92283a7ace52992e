//! Encodings of a text within another: percent signs, Base64 and hexadecimal digits.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::borrow::Cow;
use std::io::Write as _;

/// Shorter runs are words rather than encoded secrets.
pub(super) const SHORTEST: usize = 8;

/// How much of a long run is decoded to see whether it is text at all: whole groups of Base64.
const TRIED: usize = 64;

const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// A text without its percent signs; a plus sign means a blank in forms and queries.
pub(super) fn percent_decoded(text: &[u8], plus: bool) -> Cow<'_, [u8]> {
    if memchr::memchr2(b'%', if plus { b'+' } else { b'%' }, text).is_none() {
        return Cow::Borrowed(text);
    }
    let plain = |byte| if plus && byte == b'+' { b' ' } else { byte };
    Cow::Owned(decoded(text, b"%", 2, plain, |value, out| out.extend_from_slice(value)))
}

/// A text in which `put` decodes the escapes of this beginning and number of hexadecimal digits, and `plain` any other byte.
fn decoded(
    text: &[u8],
    begin: &[u8],
    digits: usize,
    plain: impl Fn(u8) -> u8,
    put: impl Fn(&[u8], &mut Vec<u8>),
) -> Vec<u8> {
    let (mut out, mut at) = (Vec::with_capacity(text.len()), 0);
    while let Some(&byte) = text.get(at) {
        let rest = if byte == begin[0] { text[at..].strip_prefix(begin) } else { None };
        match rest.and_then(|rest| hex(rest.get(..digits)?)) {
            Some(value) => {
                put(&value, &mut out);
                at += begin.len() + digits;
            }
            None => {
                out.push(plain(byte));
                at += 1;
            }
        }
    }
    out
}

/// A text with percent signs for all but what needs none: plain characters, the brackets of a marker, and whatever had
/// none in the text as it `was`.
pub(super) fn percent_encoded(text: &[u8], was: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    for &byte in text {
        if byte.is_ascii_alphanumeric() || b"-._~[]".contains(&byte) || byte != b'%' && was.contains(&byte) {
            out.push(byte);
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A text without the escapes of JSON for characters, where it has any: half of a JSON text is none that could be read.
pub(super) fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    memchr::memmem::find(text, b"\\u")?;
    Some(decoded(
        text,
        b"\\u",
        4,
        |byte| byte,
        |code, out| {
            let code = code.iter().fold(0, |code, byte| code << 8 | u32::from(*byte));
            let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
        },
    ))
}

/// What a run of letters and digits denotes, where it is Base64 of either alphabet, or hexadecimal, for a readable text.
pub(super) fn decodings(run: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    let run = run.trim_ascii_end();
    let cut = run.len() > SHORTEST;
    // Most words denote nothing, which their first letters show.
    let head = run.first_chunk::<SHORTEST>();
    let is_base64 = |head: &[u8; SHORTEST]| {
        let mut text = [0; SHORTEST];
        let length = BASE64.decode_slice(head.map(standard), &mut text);
        length.is_ok_and(|length| is_readable(&text[..length], cut))
    };
    let base64 = head.filter(|head| is_base64(head)).and_then(|_| text_of(base64, run));
    let is_hex = |head: &&[u8; SHORTEST]| head.iter().all(u8::is_ascii_hexdigit);
    let hex = head.filter(is_hex).and_then(|_| text_of(hex, run));
    base64.into_iter().chain(hex)
}

/// What a run denotes in an encoding, where that is a readable text.
fn text_of(decode: fn(&[u8]) -> Option<Vec<u8>>, run: &[u8]) -> Option<Vec<u8>> {
    let tried = &run[..run.len().min(TRIED)];
    decode(tried).filter(|text| is_readable(text, tried.len() < run.len()))?;
    decode(run).filter(|text| is_readable(text, false))
}

/// A letter of either alphabet of Base64 as the usual one has it.
fn standard(letter: u8) -> u8 {
    match letter {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    }
}

fn base64(run: &[u8]) -> Option<Vec<u8>> {
    BASE64.decode(run.iter().copied().map(standard).collect::<Vec<u8>>()).ok()
}

fn hex(run: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = run.chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
        _ => None,
    });
    pairs.collect()
}

/// Whether it is text without control characters; the last character may be `cut`.
fn is_readable(text: &[u8], cut: bool) -> bool {
    let valid = match std::str::from_utf8(text) {
        Ok(_) => text.len(),
        Err(error) if cut && error.error_len().is_none() => error.valid_up_to(),
        Err(_) => return false,
    };
    text[..valid].iter().all(|byte| *byte >= 0x20 && *byte != 0x7f || matches!(byte, b'\t' | b'\n' | b'\r'))
}
