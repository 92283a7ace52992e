//! JSON whose members keep their order. Absent ones are left out.

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use std::borrow::Cow;

/// A JSON value, made to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OrderedValue<'s> {
    Absent,
    Flag(bool),
    Count(u64),
    Integer(i64),
    Text(Cow<'s, str>),
    List(Vec<OrderedValue<'s>>),
    Object(Vec<(&'static str, OrderedValue<'s>)>),
}

/// An object without members.
pub(crate) fn object<'s>() -> OrderedValue<'s> {
    OrderedValue::Object(Vec::new())
}

impl<'s> OrderedValue<'s> {
    /// A list of these, absent where there are none.
    pub(crate) fn some_of(items: impl Iterator<Item = Self>) -> Self {
        let items: Vec<Self> = items.collect();
        if items.is_empty() { Self::Absent } else { Self::List(items) }
    }

    /// The object with one more member, unless that is absent.
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Self>) -> Self {
        if let (Self::Object(members), value) = (&mut self, value.into())
            && value != Self::Absent
        {
            members.push((name, value));
        }
        self
    }
}

impl Serialize for OrderedValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Absent => serializer.serialize_unit(),
            Self::Flag(flag) => flag.serialize(serializer),
            Self::Count(count) => count.serialize(serializer),
            Self::Integer(integer) => integer.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
            Self::List(items) => items.serialize(serializer),
            Self::Object(members) => {
                let mut map = serializer.serialize_map(Some(members.len()))?;
                members.iter().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
                map.end()
            }
        }
    }
}

impl<'s, V: Into<OrderedValue<'s>>> From<Option<V>> for OrderedValue<'s> {
    fn from(value: Option<V>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

impl<'s, V: Into<OrderedValue<'s>>> From<Vec<V>> for OrderedValue<'s> {
    fn from(items: Vec<V>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }
}

impl<'s> From<&'s str> for OrderedValue<'s> {
    fn from(text: &'s str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for OrderedValue<'_> {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}

impl<'s> From<&'s String> for OrderedValue<'s> {
    fn from(text: &'s String) -> Self {
        Self::Text(text.into())
    }
}

impl From<bool> for OrderedValue<'_> {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<u64> for OrderedValue<'_> {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<usize> for OrderedValue<'_> {
    fn from(count: usize) -> Self {
        Self::Count(count as u64)
    }
}

impl From<i64> for OrderedValue<'_> {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}
