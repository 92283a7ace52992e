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

macro_rules! values {
    ($($type:ty: $value:ident => $made:expr;)+) => {$(
        impl<'s> From<$type> for OrderedValue<'s> {
            fn from($value: $type) -> Self {
                $made
            }
        }
    )+};
}

values! {
    &'s str: text => Self::Text(text.into());
    &'s String: text => Self::Text(text.into());
    String: text => Self::Text(text.into());
    bool: flag => Self::Flag(flag);
    u64: count => Self::Count(count);
    usize: count => Self::Count(count as u64);
    i64: integer => Self::Integer(integer);
}
