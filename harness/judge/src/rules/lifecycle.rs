//! Beginning of a session.

use super::{Family, Watch};
use crate::check::{Found, Moment};

pub(super) const FAMILY: Family =
    Family { name: "lifecycle", title: "Beginning of a session", rules: &[], watch: || Box::new(Watching) };

struct Watching;

impl Watch for Watching {
    fn see(&mut self, _at: &Moment<'_>, _found: &mut Found) {}
}
