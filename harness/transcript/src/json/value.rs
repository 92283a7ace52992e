//! One value: its text, its kind, and what is inside of it where it was indexed.

use super::string::JsonString;

/// The sorts of JSON values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "JSON's own words")]
pub enum JsonKind {
    Null,
    Bool,
    Number,
    String,
    Array,
    Object,
}

impl JsonKind {
    #[inline]
    pub(super) fn new(first: u8) -> Self {
        match first {
            b'{' => Self::Object,
            b'[' => Self::Array,
            b'"' => Self::String,
            b'n' => Self::Null,
            b't' | b'f' => Self::Bool,
            _ => Self::Number,
        }
    }

    /// The kind with its article, for messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// One value inside of a value that was taken apart, or the value itself, by places in the same text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemberIndex {
    pub(super) start: u32,
    pub(super) end: u32,
    /// Where the name of a member stands, without its quotes.
    pub(super) name: u32,
    /// The name's length in bytes; [`ESCAPED`](super::member_name::ESCAPED) marks one that is not spelled as it reads.
    pub(super) length: u32,
    /// How many parts it is, with all that is inside of it.
    pub(super) count: u32,
    /// The names of its members, a bit for each that [`bit`](super::member_name::bit) gives it.
    pub(super) names: u32,
}

/// One JSON value: exactly the text it has in the input, without surrounding white space. Two are equal where their
/// texts are, byte for byte.
#[derive(Debug, Clone, Copy)]
pub struct Json<'a> {
    pub(super) text: &'a str,
    /// What is inside of it, where somebody took it apart; it begins with the value itself.
    pub(super) parts: &'a [MemberIndex],
}

impl PartialEq for Json<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Json<'_> {}

impl<'a> Json<'a> {
    /// A value that a [`Scanner`] has already walked over.
    #[inline]
    pub(crate) fn scanned(text: &'a str) -> Self {
        Self { text, parts: &[] }
    }

    /// The value's text, byte for byte.
    #[must_use]
    #[inline]
    pub fn text(self) -> &'a str {
        self.text
    }

    /// What sort of value it is, reported by its first byte.
    #[must_use]
    #[inline]
    pub fn kind(self) -> JsonKind {
        JsonKind::new(self.text.as_bytes().first().copied().unwrap_or_default())
    }

    /// The string it is, if it is one.
    #[must_use]
    #[inline]
    pub fn as_text(self) -> Option<JsonString<'a>> {
        (self.kind() == JsonKind::String).then(|| JsonString::quoted(self.text))
    }

    /// The text of the number it is, if it is one.
    #[must_use]
    #[inline]
    pub fn as_number(self) -> Option<&'a str> {
        (self.kind() == JsonKind::Number).then_some(self.text)
    }
}
