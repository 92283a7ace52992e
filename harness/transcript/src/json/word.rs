//! Eight bytes at a time: where the next one is that a string's reader or writer has to look at.
//!
//! Each function sets the high bit of the bytes that it looks for. A byte above such a one may be marked by the borrow of the
//! subtraction, so only the lowest mark of a word is to be used; so it is of several words that are joined by `or`.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;

/// Quotes, backslashes and control characters.
#[inline]
pub(super) fn special(word: u64) -> u64 {
    let control = word.wrapping_sub(ONES * 0x20) & !word & HIGH;
    equal(word, b'"') | equal(word, b'\\') | control
}

/// Bytes that are this one.
#[inline]
pub(super) fn equal(word: u64, byte: u8) -> u64 {
    let zero = word ^ (ONES * u64::from(byte));
    zero.wrapping_sub(ONES) & !zero & HIGH
}

/// Whether two texts of one length are the same. Meant for short ones, such as names: no call, and no loop over bytes.
#[inline]
pub(super) fn same(one: &[u8], other: &[u8]) -> bool {
    if let (Some(one_first), Some(other_first)) = (one.first_chunk::<8>(), other.first_chunk::<8>()) {
        return one_first == other_first
            && (one.len() <= 16 && one.last_chunk::<8>() == other.last_chunk::<8>() || one == other);
    }
    if let (Some(one_first), Some(other_first)) = (one.first_chunk::<4>(), other.first_chunk::<4>()) {
        return one_first == other_first && one.last_chunk::<4>() == other.last_chunk::<4>();
    }
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one == other)
}

/// Where this byte first stands. Meant for short texts: in long ones `memchr` is faster.
#[inline]
pub(super) fn find(byte: u8, text: &[u8]) -> Option<usize> {
    let (words, rest) = text.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let found = equal(u64::from_le_bytes(*word), byte);
        if found != 0 {
            return Some(8 * index + found.trailing_zeros() as usize / 8);
        }
    }
    let before = text.len() - rest.len();
    rest.iter().position(|it| *it == byte).map(|at| before + at)
}
