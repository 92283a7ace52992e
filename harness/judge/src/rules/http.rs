//! Streamable HTTP with sessions: messages and answers.

use super::{Family, Watch};
use crate::check::{Found, Moment};

pub(super) const FAMILY: Family = Family {
    name: "http",
    title: "Streamable HTTP with sessions: messages and answers",
    rules: &[],
    watch: || Box::new(Watching),
};

struct Watching;

impl Watch for Watching {
    fn see(&mut self, _at: &Moment<'_>, _found: &mut Found) {}
}
