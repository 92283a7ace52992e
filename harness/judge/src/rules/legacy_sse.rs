//! HTTP+SSE of 2024-11-05.

use super::{Family, Watch};
use crate::check::{Found, Moment};

pub(super) const FAMILY: Family =
    Family { name: "legacy-sse", title: "HTTP+SSE of 2024-11-05", rules: &[], watch: || Box::new(Watching) };

struct Watching;

impl Watch for Watching {
    fn see(&mut self, _at: &Moment<'_>, _found: &mut Found) {}
}
