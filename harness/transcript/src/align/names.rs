//! Which ids of two sessions stand for each other.

use super::event::OwnedEvent;
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
}
