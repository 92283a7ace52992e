//! Ids and progress tokens as something that can be compared: with their type, since `1` is not `"1"`.

use smallvec::SmallVec;
use transcript::call_ids::{CallIds, counted};
use transcript::json::Json;
use transcript::message::Id;

/// Most ids and tokens are short.
type Spelling = SmallVec<[u8; 24]>;

/// An id or a token with its type.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypedId {
    /// A number that is spelled as a counter spells it, as nearly all are.
    Count(u64),
    /// The text of any other number.
    Number(Spelling),
    /// A string's code points.
    Text(Spelling),
}

impl TypedId {
    /// The id of a message; none where it has none, or null.
    pub(crate) fn of_message(id: Id<'_>) -> Option<Self> {
        match id {
            Id::Missing | Id::Null => None,
            Id::Text(text) => Some(Self::Text(Spelling::from_slice(&text.decode()))),
            Id::Number(number) => Some(Self::number(number)),
        }
    }

    /// What an id or a token is that stands elsewhere; none where it is neither a string nor a number.
    pub(crate) fn of(value: Json<'_>) -> Option<Self> {
        Self::of_message(match (value.as_text(), value.as_number()) {
            (Some(text), _) => Id::Text(text),
            (_, Some(number)) => Id::Number(number),
            _ => return None,
        })
    }

    /// The same id as the other type: `"1"` for `1`.
    pub(super) fn retyped(&self) -> Self {
        match self {
            Self::Count(number) => Self::Text(Spelling::from_slice(number.to_string().as_bytes())),
            Self::Number(spelling) => Self::Text(spelling.clone()),
            Self::Text(spelling) => match std::str::from_utf8(spelling) {
                Ok(text) => Self::number(text),
                Err(_) => Self::Number(spelling.clone()),
            },
        }
    }

    fn number(text: &str) -> Self {
        counted(text.as_bytes())
            .map_or_else(|| Self::Number(Spelling::from_slice(text.as_bytes())), Self::Count)
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
            TypedId::Number(spelling) => self.numbers.insert(spelling),
            TypedId::Text(spelling) => self.texts.insert(spelling),
        }
    }

    /// Whether an id was added.
    pub(crate) fn has(&self, id: &TypedId) -> bool {
        match id {
            TypedId::Count(number) => self.numbers.has_count(*number),
            TypedId::Number(spelling) => self.numbers.has(spelling),
            TypedId::Text(spelling) => self.texts.has(spelling),
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
        TypedId::of(Json::parse(text).unwrap()).unwrap()
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
        assert!(TypedId::of(Json::parse("null").unwrap()).is_none());
    }
}
