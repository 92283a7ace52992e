//! One member of the table, for rules that judge its value by themselves.

use super::judge::{Fault, Judge, by_each};
use super::owners::Path;
use super::{Member, Shape, members};
use crate::revision::Revision;
use std::sync::OnceLock;
use transcript::json::Json;

/// A member of what the table has under a name.
pub(crate) struct Typed {
    of: &'static str,
    name: &'static str,
    /// One for each span of revisions, once somebody has asked.
    rows: OnceLock<Vec<&'static Member>>,
}

impl Typed {
    /// The member `name` of what stands under `of`.
    pub(crate) const fn new(of: &'static str, name: &'static str) -> Self {
        Self { of, name, rows: OnceLock::new() }
    }

    /// Its name.
    pub(crate) fn name(&self) -> &'static str {
        self.name
    }

    /// The first fault of a value as this member; what a list holds is asked for item by item.
    pub(crate) fn fault<'v>(&self, value: Json<'v>, revision: Option<Revision>) -> Option<Box<Fault<'v>>> {
        let rows = self.rows.get_or_init(|| {
            let rows: Vec<_> = members(self.of).iter().filter(|row| row.name.text() == self.name).collect();
            debug_assert!(!rows.is_empty(), "the table has no {} in {}", self.name, self.of);
            rows
        });
        by_each(rows.iter().copied(), revision, |row, by| {
            let path = Path::Member(&Path::Top, self.name);
            match &row.shape {
                Shape::List(items) => Judge::by(by).whole(items, value, &Path::Item(&path)),
                shape => Judge::by(by).whole(shape, value, &path),
            }
        })
    }
}
