//! How much may come of what is sent compressed. A megabyte of gzip may hold a gigabyte.

/// What is unpacked in any case: 16 MiB,
pub const LEAST: u64 = 16 << 20;

/// and this multiple of its packed size,
const RATIO: u64 = 100;

/// but no more than this: 1 GiB.
const MOST: u64 = 1 << 30;

/// The most that may come of this number of packed bytes.
#[must_use]
pub fn most_of(packed: u64) -> u64 {
    packed.saturating_mul(RATIO).clamp(LEAST, MOST)
}
