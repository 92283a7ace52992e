//! What the entries of an exchange have in common.

use transcript::session::{Carrier, Content, Entry, Location, Side};

/// What every entry of one side of an exchange has in common.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub(super) time: Option<i64>,
    pub(super) side: Option<Side>,
    pub(super) carrier: Carrier,
    pub(super) exchange: u64,
}

impl Stamp {
    pub(super) fn on<'c>(self, content: Content<'c>, location: Location) -> Entry<'c> {
        let Self { time, side, carrier, exchange } = self;
        Entry { time, side, carrier, exchange: Some(exchange), ..Entry::new(location, content) }
    }
}
