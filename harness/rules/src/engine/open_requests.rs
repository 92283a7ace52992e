//! The open requests of one id, of which the oldest is answered first.

use super::pending_requests::PendingRequest;
use std::collections::VecDeque;

/// The exchange that an answer came in, and a number of its session, as far as they are known.
pub(super) type Came = (Option<u64>, Option<usize>);

/// The open requests of one id. Two are rare; fifty thousand cost no more each.
#[derive(Debug)]
pub(super) struct OpenRequests {
    pub(super) first: Box<PendingRequest>,
    pub(super) rest: VecDeque<Box<PendingRequest>>,
}

impl OpenRequests {
    /// Takes out the one that was made in the same exchange, else in the same session, else the oldest; and what is left.
    pub(super) fn take(mut self, (exchange, session): Came) -> (Box<PendingRequest>, Option<Self>) {
        let rank = |one: &PendingRequest| {
            let (same_exchange, same_session) = (one.exchange == exchange, one.session == session);
            2 * u8::from(exchange.is_some() && same_exchange) + u8::from(session.is_some() && same_session)
        };
        let best = (0..self.rest.len()).rev().max_by_key(|place| rank(&self.rest[*place]));
        let better = best.filter(|best| rank(&self.rest[*best]) > rank(&self.first));
        if let Some(request) = better.and_then(|place| self.rest.remove(place)) {
            return (request, Some(self));
        }
        match self.rest.pop_front() {
            Some(next) => (std::mem::replace(&mut self.first, next), Some(self)),
            None => (self.first, None),
        }
    }
}
