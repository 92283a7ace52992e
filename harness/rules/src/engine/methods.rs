//! The methods of the specification: who may send each, as what, and in which revisions.

use crate::revision::{Revision, Span};
use foldhash::fast::FixedState;
use std::collections::HashMap;
use std::sync::LazyLock;
use transcript::session::Side;

/// Who may send a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    /// Only the client.
    Client,
    /// Only the server.
    Server,
    /// Either.
    Both,
}

impl Direction {
    /// The one side that may send it.
    pub(crate) fn only(self) -> Option<Side> {
        match self {
            Self::Client => Some(Side::Client),
            Self::Server => Some(Side::Server),
            Self::Both => None,
        }
    }
}

/// A method as one span of revisions has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) direction: Direction,
    /// It asks for an answer; else it is a notification.
    pub(crate) request: bool,
    pub(crate) span: Span,
}

const fn asks(name: &'static str, direction: Direction, span: Span) -> Known {
    Known { name, direction, request: true, span }
}

const fn tells(name: &'static str, direction: Direction, span: Span) -> Known {
    Known { name, direction, request: false, span }
}

use Direction::{Both, Client, Server};

const LATER: Span = Span::between(Revision::V2025_06_18, Revision::V2025_11_25);
const TASKS: Span = Span::only(Revision::V2025_11_25);

/// Every method, those that changed hands once for each span.
const METHODS: &[Known] = &[
    asks("initialize", Client, Span::SESSIONS),
    asks("ping", Both, Span::SESSIONS),
    asks("server/discover", Client, Span::MODERN),
    asks("subscriptions/listen", Client, Span::MODERN),
    asks("tools/list", Client, Span::ALL),
    asks("tools/call", Client, Span::ALL),
    asks("resources/list", Client, Span::ALL),
    asks("resources/templates/list", Client, Span::ALL),
    asks("resources/read", Client, Span::ALL),
    asks("resources/subscribe", Client, Span::SESSIONS),
    asks("resources/unsubscribe", Client, Span::SESSIONS),
    asks("prompts/list", Client, Span::ALL),
    asks("prompts/get", Client, Span::ALL),
    asks("completion/complete", Client, Span::ALL),
    asks("logging/setLevel", Client, Span::SESSIONS),
    asks("sampling/createMessage", Server, Span::SESSIONS),
    asks("roots/list", Server, Span::SESSIONS),
    asks("elicitation/create", Server, LATER),
    asks("tasks/get", Both, TASKS),
    asks("tasks/result", Both, TASKS),
    asks("tasks/list", Both, TASKS),
    asks("tasks/cancel", Both, TASKS),
    tells("notifications/initialized", Client, Span::SESSIONS),
    tells("notifications/roots/list_changed", Client, Span::SESSIONS),
    tells("notifications/cancelled", Both, Span::ALL),
    tells("notifications/progress", Both, Span::SESSIONS),
    tells("notifications/progress", Server, Span::MODERN),
    tells("notifications/message", Server, Span::ALL),
    tells("notifications/tools/list_changed", Server, Span::ALL),
    tells("notifications/prompts/list_changed", Server, Span::ALL),
    tells("notifications/resources/list_changed", Server, Span::ALL),
    tells("notifications/resources/updated", Server, Span::ALL),
    tells("notifications/elicitation/complete", Server, TASKS),
    tells("notifications/tasks/status", Both, TASKS),
    tells("notifications/subscriptions/acknowledged", Server, Span::MODERN),
];

/// A method of the specification.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Method {
    pub(crate) name: &'static str,
    /// Its number among all of them, from 0.
    pub(super) number: usize,
    /// What is said of it, one for each span of revisions.
    pub(crate) spans: &'static [Known],
}

impl Method {
    /// The method of this name, if any revision has it.
    pub(crate) fn find(name: &str) -> Option<&'static Self> {
        BY_NAME.get(name)
    }

    /// Whether the revision has it; where none is known, whether any has.
    pub(crate) fn is_of(&self, revision: Option<Revision>) -> bool {
        revision.is_none_or(|revision| self.spans.iter().any(|known| known.span.has(revision)))
    }

    /// How many there are.
    pub(super) fn count() -> usize {
        BY_NAME.len()
    }
}

/// What the specification says of a method: one for each span of revisions, none where it does not know it.
pub(super) fn known(name: &str) -> impl Iterator<Item = &'static Known> + Clone {
    Method::find(name).map_or(&[][..], |method| method.spans).iter()
}

/// The methods by name. Rows of one that changed hands stand together.
static BY_NAME: LazyLock<HashMap<&str, Method, FixedState>> = LazyLock::new(|| {
    let spans = METHODS.chunk_by(|one, other| one.name == other.name);
    let named = |(number, spans): (usize, &'static [Known])| {
        let name = spans[0].name;
        (name, Method { name, number, spans })
    };
    spans.enumerate().map(named).collect()
});

/// The side that sends this method in every revision that has it, if it is one.
pub fn usual_sender(name: &str) -> Option<Side> {
    let mut sides = known(name).map(|method| method.direction.only());
    let first = sides.next()??;
    sides.all(|side| side == Some(first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{METHODS, known, usual_sender};
    use transcript::session::Side;

    #[test]
    fn spans_of_one_method_do_not_overlap_and_names_tell_requests_from_notifications() {
        for (index, one) in METHODS.iter().enumerate() {
            assert_eq!(one.request, !one.name.starts_with("notifications/"), "{}", one.name);
            for other in METHODS[index + 1..].iter().filter(|other| other.name == one.name) {
                assert!(!one.span.has(other.span.first) && !other.span.has(one.span.first), "{}", one.name);
            }
        }
    }

    #[test]
    fn a_method_that_either_may_send_tells_no_side() {
        assert_eq!(usual_sender("tools/call"), Some(Side::Client));
        assert_eq!(usual_sender("roots/list"), Some(Side::Server));
        assert_eq!(usual_sender("ping"), None);
        assert_eq!(usual_sender("notifications/progress"), None);
        assert_eq!(usual_sender("x/y"), None);
        assert_eq!(known("notifications/progress").count(), 2);
    }
}
