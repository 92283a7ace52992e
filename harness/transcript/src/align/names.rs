//! Which ids of two sessions stand for each other.

use super::event::OwnedEvent;
use crate::diff::Difference;
use crate::json::Json;
use crate::session::Side;
use std::collections::HashMap;

/// Whose id it is: known only where both sessions tell.
pub(super) fn requestor(a: &OwnedEvent, b: &OwnedEvent) -> Option<Side> {
    a.requestor().filter(|side| b.requestor() == Some(*side))
}

/// A one-to-one renaming of ids, as far as it is known.
#[derive(Debug, Default)]
pub(super) struct Names {
    to_right: HashMap<(Option<Side>, Vec<u8>), Vec<u8>>,
    to_left: HashMap<(Option<Side>, Vec<u8>), Vec<u8>>,
}

impl Names {
    pub(super) fn agree(&mut self, whose: Option<Side>, left: &[u8], right: &[u8]) -> bool {
        let (from, to) = ((whose, left.to_vec()), (whose, right.to_vec()));
        match (self.to_right.get(&from), self.to_left.get(&to)) {
            (None, None) => {
                self.to_right.insert(from, right.to_vec());
                self.to_left.insert(to, left.to_vec());
                true
            }
            (Some(known), Some(_)) => known == right,
            _ => false,
        }
    }

    /// Whether two notifications differ only in how they name a request, and the request is the same one.
    pub(super) fn renames(&self, found: &Difference, a: &OwnedEvent, b: &OwnedEvent) -> bool {
        let whose = match &*found.pointer {
            "/params/requestId" => requestor(a, b),
            // Many clients take the request's id for a token, and progress comes from the other side.
            "/params/progressToken" => requestor(a, b).map(Side::other),
            _ => return false,
        };
        let id = |text: &Option<String>| {
            let value = Json::parse(text.as_deref()?).ok()?;
            Some(value.as_text().map_or_else(|| value.text().into(), |text| text.decode().into_owned()))
        };
        let (Some(left), Some(right)) = (id(&found.left), id(&found.right)) else { return false };
        self.to_right.get(&(whose, left)) == Some(&right)
    }

    /// The same of a place in them.
    pub(super) fn renames_at(&self, pointer: &str, a: &OwnedEvent, b: &OwnedEvent) -> bool {
        let Some(name) = pointer.strip_prefix("/params/") else { return false };
        let value = |event: &OwnedEvent| {
            let params = event.message().params();
            params.and_then(|params| params.member(name)).map(|value| value.text().to_owned())
        };
        self.renames(&Difference { pointer: pointer.to_owned(), left: value(a), right: value(b) }, a, b)
    }
}
