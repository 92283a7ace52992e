//! Ids and progress tokens as something that can be compared: with their type, since `1` is not `"1"`.

use smallvec::SmallVec;
use transcript::call_ids::{CallIds, counted};
use transcript::json::{Json, JsonKind};
use transcript::message::Id;

/// An id or a token with its type: as small as can be, since it is handed about more than anything else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypedId {
    /// A number that is spelled as a counter spells it, as nearly all are.
    Count(u64),
    Other(Box<Spelled>),
}

/// An id as it is spelled.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Spelled {
    /// The text of any other number.
    Number(Spelling),
    /// A string's code points.
    Text(Spelling),
}

/// Most ids are not longer, a UUID included.
type Spelling = SmallVec<[u8; 36]>;

impl TypedId {
    /// The id of a message; none where it has none, or null.
    pub(crate) fn of_message(id: Id<'_>) -> Option<Self> {
        match id {
            Id::Missing | Id::Null => None,
            Id::Text(text) => Some(Self::text(&text.decode())),
            Id::Number(text) => Some(Self::number(text.as_bytes())),
        }
    }

    /// What an id or a token is that stands elsewhere; none where it is neither a string nor a number.
    pub(crate) fn new(value: Json<'_>) -> Option<Self> {
        match value.kind() {
            JsonKind::Number => Some(Self::number(value.text().as_bytes())),
            JsonKind::String => Some(Self::text(&value.as_text()?.decode())),
            _ => None,
        }
    }

    /// The same id as the other type: `"1"` for `1`.
    pub(super) fn retyped(&self) -> Self {
        match self {
            Self::Count(number) => Self::text(number.to_string().as_bytes()),
            Self::Other(other) => match &**other {
                Spelled::Number(spelling) => Self::text(spelling),
                Spelled::Text(spelling) => Self::number(spelling),
            },
        }
    }

    /// Whether it is a number that is not spelled as an integer.
    pub(crate) fn is_fraction(&self) -> bool {
        let is_part = |byte: &u8| matches!(byte, b'.' | b'e' | b'E');
        matches!(self, Self::Other(other) if matches!(&**other, Spelled::Number(text) if text.iter().any(is_part)))
    }

    #[inline]
    fn number(text: &[u8]) -> Self {
        match counted(text) {
            Some(number) => Self::Count(number),
            None => Self::Other(Box::new(Spelled::Number(Spelling::from_slice(text)))),
        }
    }

    fn text(text: &[u8]) -> Self {
        Self::Other(Box::new(Spelled::Text(Spelling::from_slice(text))))
    }
}

/// Ids that were used.
#[derive(Debug, Default)]
pub(crate) struct UsedIds {
    numbers: CallIds,
    texts: CallIds,
}

impl UsedIds {
    /// Adds an id; false where it was there before.
    pub(crate) fn insert(&mut self, id: &TypedId) -> bool {
        match id {
            TypedId::Count(number) => self.numbers.insert_count(*number),
            TypedId::Other(other) => match &**other {
                Spelled::Number(spelling) => self.numbers.insert(spelling),
                Spelled::Text(spelling) => self.texts.insert(spelling),
            },
        }
    }

    /// Whether an id was added.
    pub(crate) fn has(&self, id: &TypedId) -> bool {
        match id {
            TypedId::Count(number) => self.numbers.has_count(*number),
            TypedId::Other(other) => match &**other {
                Spelled::Number(spelling) => self.numbers.has(spelling),
                Spelled::Text(spelling) => self.texts.has(spelling),
            },
        }
    }

    /// How many things are remembered; see [`CallIds::remembered`].
    pub(crate) fn remembered(&self) -> usize {
        self.numbers.remembered() + self.texts.remembered()
    }
}

#[cfg(test)]
mod tests {
    use super::{TypedId, UsedIds};
    use transcript::json::Json;

    fn id(text: &str) -> TypedId {
        TypedId::new(Json::parse(text).unwrap()).unwrap()
    }

    #[test]
    fn ids_are_the_same_where_type_and_spelling_are() {
        let spelled = ["0", "-0", "1", "1.0", "10", "1e1", "999999999999999999", "1000000000000000000", "1"];
        let mut used = UsedIds::default();
        for (index, text) in spelled.into_iter().enumerate() {
            let (number, string) = (id(text), id(&format!("\"{text}\"")));
            assert_eq!(
                matches!(number, TypedId::Count(_)),
                !text.contains(['-', '.', 'e']) && text.len() < 19
            );
            assert_ne!(number, string);
            assert_eq!((number.retyped(), string.retyped()), (string.clone(), number.clone()), "{text}");
            for id in [number, string] {
                assert_eq!(used.has(&id), index == 8, "{text}");
                assert_eq!(used.insert(&id), index < 8, "{text}");
            }
        }
        assert_eq!(id("\"\\u0031\""), id("\"1\""));
        assert_ne!(id("\"01\"").retyped(), id("1"));
        assert!(TypedId::new(Json::parse("null").unwrap()).is_none());
    }
}
