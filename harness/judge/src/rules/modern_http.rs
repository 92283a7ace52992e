//! Streamable HTTP of 2026-07-28.

use super::{Family, Watch};
use crate::check::{Found, Moment};

pub(super) const FAMILY: Family = Family {
    name: "modern-http",
    title: "Streamable HTTP of 2026-07-28",
    rules: &[],
    watch: || Box::new(Watching),
};

struct Watching;

impl Watch for Watching {
    fn see(&mut self, _at: &Moment<'_>, _found: &mut Found) {}
}
