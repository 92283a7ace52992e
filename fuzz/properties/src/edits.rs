//! Small damage to a transcript, by the choices that make it.

use arbitrary::Arbitrary;

/// What transcripts contain and chance rarely produces.
const WORDS: &[&[u8]] = &[
    b"\"",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"null",
    b"\n",
    b"\r",
    b"\0",
    b"\xff",
    b"\\ud83d",
    b"\xef\xbb\xbf",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    b"\"id\":1,",
    b"\"method\":\"ping\",",
];

/// One change, at a place that is taken modulo the length.
#[derive(Debug, Clone, Arbitrary)]
pub struct Edit {
    at: u16,
    length: u8,
    change: Change,
}

#[derive(Debug, Clone, Arbitrary)]
enum Change {
    Cut,
    Double,
    /// One of [`WORDS`] in place of what is there.
    Word(u8),
    Byte(u8),
    /// Nothing follows.
    End,
}

/// The bytes after these changes, one after the other.
pub fn edited(mut bytes: Vec<u8>, edits: &[Edit]) -> Vec<u8> {
    for Edit { at, length, change } in edits {
        let at = usize::from(*at) % (bytes.len() + 1);
        let end = (at + usize::from(*length)).min(bytes.len());
        let with = match change {
            Change::Cut => Vec::new(),
            Change::Double => bytes[at..end].repeat(2),
            Change::Word(word) => WORDS[usize::from(*word) % WORDS.len()].to_vec(),
            Change::Byte(byte) => vec![*byte],
            Change::End => {
                bytes.truncate(at);
                continue;
            }
        };
        bytes.splice(at..end, with);
    }
    bytes
}
