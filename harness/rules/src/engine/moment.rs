//! One step of a session as a rule sees it: the entry, who said it, by which revision, and what it answers.

use super::facts::Facts;
use super::ledger::{Asked, Ledger};
use super::place::{Mark, Place};
use crate::revision::Revision;
use std::borrow::Cow;
use transcript::json::Json;
use transcript::message::{Id, Message, MessageClass};
use transcript::session::{Entry, Exchange, Side};

/// One step of a session.
#[derive(Debug)]
pub(crate) struct Moment<'m> {
    /// What the recording holds. At the end of it: nothing, at the place of the last entry.
    pub(crate) entry: &'m Entry<'m>,
    /// What the session has shown so far, this step included.
    pub(crate) facts: &'m Facts,
    /// The requests that are open. The one that this step answers is no longer, the one that it makes already is.
    pub(crate) ledger: &'m Ledger,
    /// The revision by which this step is judged; none where nothing has shown it.
    pub(crate) revision: Option<Revision>,
    /// Who is speaking, as the recording says or the method tells.
    pub(crate) side: Option<Side>,
    /// The message, where it is one.
    pub(crate) said: Option<Said<'m>>,
    /// The HTTP exchange that it belongs to.
    pub(crate) exchange: Option<&'m Exchange<'static>>,
}

impl Moment<'_> {
    /// The same step without its message, by another revision: that of the session which it turned out to be of.
    pub(crate) fn by(&self, revision: Option<Revision>) -> Moment<'_> {
        Moment {
            entry: self.entry,
            facts: self.facts,
            ledger: self.ledger,
            revision,
            side: None,
            said: None,
            exchange: self.exchange,
        }
    }

    /// The place of the step.
    pub(crate) fn place(&self) -> Place {
        Place::of(&self.entry.location, self.text())
    }

    /// The same for later, where nobody may ask for it.
    pub(crate) fn mark(&self) -> Mark {
        Mark::of(&self.entry.location, self.text())
    }

    /// The text that stands there: the message, or what is none.
    pub(crate) fn text(&self) -> &str {
        use transcript::session::Content;
        match (&self.said, &self.entry.content) {
            (Some(said), _) => said.message.text(),
            (_, Content::Noise(noise)) => &noise.text,
            (_, Content::TraceStart(line) | Content::TraceEnd(line)) => line.text(),
            (_, Content::Exchange(exchange)) => &exchange.url,
            _ => self.entry.sse.as_ref().and_then(|sse| sse.data.as_deref()).unwrap_or_default(),
        }
    }
}

/// A message, and what it is to the session.
#[derive(Debug, Clone)]
pub(crate) struct Said<'m> {
    pub(crate) message: Message<'m>,
    pub(crate) sort: Sort,
    /// The method of a request or notification.
    pub(crate) method: Option<Cow<'m, str>>,
    /// The `_meta` of its params. It is asked for at every step, and params are long.
    pub(super) meta: Option<Json<'m>>,
    /// What a response answers.
    pub(crate) bound: Bound<'m>,
    /// Which item of a batch it was.
    pub(crate) item: Option<usize>,
}

/// The sorts of messages. A call with `"id": null` is a request with a bad id, and no notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Request,
    Notification,
    Result,
    Error,
}

impl Sort {
    pub(crate) fn of(message: &Message<'_>) -> Self {
        match (message.class(), message.id()) {
            (MessageClass::Result, _) => Self::Result,
            (MessageClass::Error, _) => Self::Error,
            (MessageClass::Call, Id::Missing) => Self::Notification,
            (MessageClass::Call, _) => Self::Request,
        }
    }
}

/// What a message answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound<'m> {
    /// It is no response.
    No,
    /// The oldest open request of the other side with this id, type and all.
    To(&'m Asked),
    /// An open request whose id is the same but for its type, such as `1` and `"1"`.
    Mistyped(&'m Asked),
    /// A request that was answered before.
    Again,
    /// Nothing that was asked, or nothing that can be told: its id is null or missing.
    Nothing,
    /// The recording does not say who spoke, and both sides have asked with this id.
    Unclear,
    /// Nothing that is remembered, and not all is: the ledger is full.
    Untold,
}

impl<'m> Said<'m> {
    /// The request that a response answers.
    pub(crate) fn asked(&self) -> Option<&'m Asked> {
        match self.bound {
            Bound::To(asked) | Bound::Mistyped(asked) => Some(asked),
            _ => None,
        }
    }

    /// Whether it is a request or notification with this method.
    pub(crate) fn calls(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// The `result` of a response to a request with this method.
    pub(crate) fn result_of(&self, method: &str) -> Option<Json<'m>> {
        (self.sort == Sort::Result && self.asked()?.method() == method)
            .then(|| self.message.outcome())
            .flatten()
    }

    /// The `error` of a response to a request with this method.
    pub(crate) fn error_of(&self, method: &str) -> Option<Json<'m>> {
        (self.sort == Sort::Error && self.asked()?.method() == method)
            .then(|| self.message.outcome())
            .flatten()
    }

    /// The `error` of a response, whatever was asked.
    pub(crate) fn error(&self) -> Option<Json<'m>> {
        (self.sort == Sort::Error).then(|| self.message.outcome()).flatten()
    }

    /// The error's code, where it is an integer that fits.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.error()?.member("code")?.as_number()?.parse().ok()
    }

    /// A member of `params` of a request or notification.
    pub(crate) fn param(&self, name: &str) -> Option<Json<'m>> {
        self.message.params()?.member(name)
    }

    /// A member of `params._meta` of a request or notification.
    pub(crate) fn meta(&self, name: &str) -> Option<Json<'m>> {
        self.meta?.member(name)
    }
}
