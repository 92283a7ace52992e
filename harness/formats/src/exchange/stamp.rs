//! What the entries of an exchange have in common.

use super::invented::Invented;
use transcript::session::{Carrier, Content, Entry, Location, Side, Sse};

/// What every entry of one side of an exchange has in common.
#[derive(Clone, Copy)]
pub(super) struct Stamp {
    pub(super) time: Option<i64>,
    pub(super) side: Option<Side>,
    pub(super) carrier: Carrier,
    pub(super) exchange: u64,
    /// What a converter made up of their exchange.
    pub(super) invented: Invented,
}

impl Stamp {
    pub(super) fn on<'c>(self, content: Content<'c>, location: Location) -> Entry<'c> {
        let Self { time, side, carrier, exchange, invented } = self;
        let carrier = if invented.is_bare() { Carrier::Line } else { carrier };
        let exchange = invented.what().is_none().then_some(exchange);
        Entry { time, side, carrier, exchange, ..Entry::new(location, content) }
    }

    /// The fields of an event, unless the stream was made up.
    pub(super) fn shown(self, sse: Sse<'_>) -> Option<Sse<'_>> {
        (!self.invented.is_bare()).then_some(sse)
    }
}
