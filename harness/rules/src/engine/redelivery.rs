//! Which messages came a second time because a client asked for them again, and so are not a fault of the server.
//!
//! A stream that was resumed by `Last-Event-ID`, and an event whose id was seen before. Memory: that of
//! [`RecentTexts`].

use super::context::RuleContext;
use super::recent_texts::RecentTexts;
use transcript::session::header;

/// Remembers the events of a session.
#[derive(Debug, Default)]
pub(crate) struct Redelivery {
    ids: RecentTexts,
}

impl Redelivery {
    /// Whether what is at hand may have been delivered before. Takes note of it.
    pub(crate) fn again(&mut self, at: &RuleContext<'_>) -> bool {
        let headers = at.exchange.map(|exchange| &exchange.request_headers);
        let headers = headers.or(at.entry.context.map(|context| &context.headers));
        let resumed = headers.is_some_and(|headers| header(headers, "Last-Event-ID").is_some());
        let id = at.event_id().filter(|id| !id.is_empty());
        id.is_some_and(|id| self.ids.again(id)) || resumed
    }
}
