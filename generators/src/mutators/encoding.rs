//! Files whose bytes are not text, or not exactly one document: other encodings, padding, nothing, and too much.

use crate::mutator::Apply;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use formats::Format;
use transcript::rejection::Code;

mutators! {
    "file-utf-16" ["SRV-BYTES"] "The file is written in UTF-16, with its mark."
        => Relation::Rejects(Code::InvalidUtf8), Apply::Bytes(utf_16);
    "bytes-ill-formed" ["SRV-BYTES"] "A string ends in bytes that only look like UTF-8: overlong, half of a pair, beyond the last character, cut."
        => Relation::Rejects(Code::InvalidUtf8), Apply::Bytes(ill_formed);
    "file-padded" ["SRV-BYTES"] "NUL bytes end the file."
        => Relation::Rejects(Code::InvalidJson), Apply::Bytes(|_, bytes, rng| {
            bytes.extend(std::iter::repeat_n(0, 1 + rng.below(4)));
            true
        });
    "file-empty" ["SRV-BYTES"] "The file of a document is empty, or nothing but white space."
        => Relation::Rejects(Code::Truncated), Apply::Bytes(|format, bytes, rng| {
            if format.is_lines() {
                return false;
            }
            *bytes = rng.pick(&["", "\n", " \n\t\r\n"]).copied().unwrap_or_default().as_bytes().to_vec();
            true
        });
    "file-more" ["SRV-BYTES"] "Something follows the document."
        => Relation::Rejects(Code::InvalidJson), Apply::Bytes(|format, bytes, rng| {
            let more = rng.pick(&["]", "}", "{}", "null", ",", "x"]).copied().unwrap_or("]");
            bytes.extend_from_slice(if format.is_lines() { b"" } else { more.as_bytes() });
            !format.is_lines()
        });
    "file-wrong-bracket" ["SRV-BYTES"] "The last bracket of the file is of the other kind."
        => Relation::Rejects(Code::InvalidJson), Apply::Bytes(|_, bytes, _| {
            let last = bytes.iter().rposition(|byte| matches!(byte, b']' | b'}'));
            let Some(byte) = last.and_then(|at| bytes.get_mut(at)) else { return false };
            *byte = if *byte == b']' { b'}' } else { b']' };
            true
        });
    "file-brackets" ["SRV-DEPTH" "SRV-BYTES"] "The file is nothing but opening brackets, which a reader may refuse and must not die of."
        => Relation::Open(Reading::Free), Apply::Bytes(|_, bytes, rng| {
            let bracket = rng.pick(&["[", "{\"a\":"]).copied().unwrap_or("[");
            *bytes = bracket.repeat(40 + rng.below(4000)).into_bytes();
            true
        });
}

fn utf_16(_: &'static Format, bytes: &mut Vec<u8>, rng: &mut Rng) -> bool {
    let (Ok(text), little) = (std::str::from_utf8(bytes), rng.one_in(2)) else { return false };
    let unit = |unit: u16| if little { unit.to_le_bytes() } else { unit.to_be_bytes() };
    *bytes = std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(unit).collect();
    true
}

/// At the end of the value of a member, which every format has.
fn ill_formed(_: &'static Format, bytes: &mut Vec<u8>, rng: &mut Rng) -> bool {
    const FORMS: &[&[u8]] = &[
        b"\xc0\xaf",
        b"\xe0\x80\xaf",
        b"\xc1\xbf",
        b"\xed\xa0\x80",
        b"\xed\xa0\xbd\xed\xb8\x80",
        b"\xf4\x90\x80\x80",
        b"\xf0\x9f\x98",
    ];
    let ends = |pair: &(usize, &[u8])| pair.1[0].is_ascii_alphanumeric() && pair.1[1] == b'"';
    let ends: Vec<usize> = bytes.windows(2).enumerate().filter(ends).map(|(at, _)| at + 1).collect();
    let (Some(&at), Some(&form)) = (rng.pick(&ends), rng.pick(FORMS)) else { return false };
    bytes.splice(at..at, form.iter().copied());
    true
}
