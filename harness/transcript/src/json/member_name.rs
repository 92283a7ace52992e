//! Names of members as a bit each, by which most questions for a member that is not there are answered.

use super::value::MemberIndex;

/// In the length of a name: something in it is escaped, so that it may be any name.
pub(super) const ESCAPED: u32 = 1 << 31;

/// One of 31 bits for a name of this length that begins with this byte, in whatever case. Most questions are about a member that
/// is not there, and most of them are answered by this bit. A name with escapes may be any name.
#[inline]
pub(super) fn bit(first: Option<&u8>, length: u32) -> u32 {
    match first {
        _ if length == 0 => 1,
        Some(_) if length >= ESCAPED => u32::MAX,
        first => {
            let letter = u32::from(first.copied().unwrap_or_default() | 0x20);
            1 << ((letter ^ length.wrapping_mul(11)) % 31)
        }
    }
}

/// The name of a member that is asked for at run time, again and again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberName {
    pub(super) text: &'static str,
    /// See [`bit`].
    pub(super) bit: u32,
}

impl MemberName {
    /// The name that reads so.
    #[must_use]
    pub fn new(text: &'static str) -> Self {
        let length = u32::try_from(text.len()).unwrap_or(ESCAPED);
        Self { text, bit: bit(text.as_bytes().first(), length) }
    }

    /// How it reads.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.text
    }
}

impl MemberIndex {
    /// Whether a value may have a member of this name: what is not an object has none.
    #[inline]
    pub(super) fn may_name(&self, name: &str) -> bool {
        let length = u32::try_from(name.len()).unwrap_or(ESCAPED);
        self.names & bit(name.as_bytes().first(), length) != 0
    }
}
