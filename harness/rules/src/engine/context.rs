//! One step of a session as a rule sees it: the entry, who said it, by which revision, and what it answers.

use super::facts::Facts;
use super::location::{FindingLocation, SourceLocation};
use super::pending_requests::{PendingRequest, PendingRequests};
use crate::revision::Revision;
use std::borrow::Cow;
use transcript::json::Json;
use transcript::message::{Id, Message, MessageClass};
use transcript::session::{Entry, Exchange, Side};

/// One step of a session.
#[derive(Debug)]
pub(crate) struct RuleContext<'m> {
    /// What the recording holds. At the end of it: nothing, at the place of the last entry.
    pub(crate) entry: &'m Entry<'m>,
    /// What the session has shown so far, this step included.
    pub(crate) facts: &'m Facts,
    /// The requests that are open. The one that this step answers is no longer, the one that it makes already is.
    pub(crate) pending: &'m PendingRequests,
    /// The revision by which this step is judged; none where nothing has shown it.
    pub(crate) revision: Option<Revision>,
    /// Who is speaking, as the recording says or the method tells.
    pub(crate) side: Option<Side>,
    /// The message, where it is one.
    pub(crate) message: Option<SeenMessage<'m>>,
    /// The HTTP exchange that it belongs to.
    pub(crate) exchange: Option<&'m Exchange<'static>>,
}

impl RuleContext<'_> {
    /// The same step without its message, by another revision: that of the session which it turned out to be of.
    pub(crate) fn by(&self, revision: Option<Revision>) -> RuleContext<'_> {
        RuleContext {
            entry: self.entry,
            facts: self.facts,
            pending: self.pending,
            revision,
            side: None,
            message: None,
            exchange: self.exchange,
        }
    }

    /// The place of the step.
    pub(crate) fn location(&self) -> FindingLocation {
        FindingLocation::of(&self.entry.location, self.text())
    }

    /// The same for later, where nobody may ask for it.
    pub(crate) fn source_location(&self) -> SourceLocation {
        SourceLocation::of(&self.entry.location, self.text())
    }

    /// The text that stands there: the message, or what is none.
    pub(crate) fn text(&self) -> &str {
        use transcript::session::Content;
        match (&self.message, &self.entry.content) {
            (Some(message), _) => message.raw.text(),
            (_, Content::Noise(noise)) => &noise.text,
            (_, Content::TraceStart(line) | Content::TraceEnd(line)) => line.text(),
            (_, Content::Exchange(exchange)) => &exchange.url,
            _ => self.entry.sse.as_ref().and_then(|sse| sse.data.as_deref()).unwrap_or_default(),
        }
    }
}

/// A message, and what it is to the session.
#[derive(Debug, Clone)]
pub(crate) struct SeenMessage<'m> {
    pub(crate) raw: Message<'m>,
    pub(crate) kind: MessageKind,
    /// The method of a request or notification.
    pub(crate) method: Option<Cow<'m, str>>,
    /// The `_meta` of its params. It is asked for at every step, and params are long.
    pub(super) meta: Option<Json<'m>>,
    /// What a response answers.
    pub(crate) response_match: ResponseMatch<'m>,
    /// Which item of a batch it was.
    pub(crate) item: Option<usize>,
}

/// The sorts of messages. A call with `"id": null` is a request with a bad id, and no notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageKind {
    Request,
    Notification,
    Result,
    Error,
}

impl MessageKind {
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
pub(crate) enum ResponseMatch<'m> {
    /// It is no response.
    No,
    /// The oldest open request of the other side with this id, type and all.
    To(&'m PendingRequest),
    /// An open request whose id is the same but for its type, such as `1` and `"1"`.
    Mistyped(&'m PendingRequest),
    /// A request that was answered before.
    Again,
    /// Nothing that was asked, or nothing that can be told: its id is null or missing.
    Nothing,
    /// The recording does not say who spoke, and both sides have asked with this id.
    Unclear,
    /// Nothing that is remembered, and not all is: the ledger is full.
    Untold,
}

impl<'m> SeenMessage<'m> {
    /// The request that a response answers.
    pub(crate) fn request(&self) -> Option<&'m PendingRequest> {
        match self.response_match {
            ResponseMatch::To(request) | ResponseMatch::Mistyped(request) => Some(request),
            _ => None,
        }
    }

    /// Whether it is a request or notification with this method.
    pub(crate) fn calls(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// The `result` of a response to a request with this method.
    pub(crate) fn result_of(&self, method: &str) -> Option<Json<'m>> {
        (self.kind == MessageKind::Result && self.request()?.method() == method)
            .then(|| self.raw.outcome())
            .flatten()
    }

    /// The `error` of a response to a request with this method.
    pub(crate) fn error_of(&self, method: &str) -> Option<Json<'m>> {
        (self.kind == MessageKind::Error && self.request()?.method() == method)
            .then(|| self.raw.outcome())
            .flatten()
    }

    /// The `error` of a response, whatever was asked.
    pub(crate) fn error(&self) -> Option<Json<'m>> {
        (self.kind == MessageKind::Error).then(|| self.raw.outcome()).flatten()
    }

    /// The error's code, where it is an integer that fits.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.error()?.member("code")?.as_number()?.parse().ok()
    }

    /// A member of `params` of a request or notification.
    pub(crate) fn param(&self, name: &str) -> Option<Json<'m>> {
        self.raw.params()?.member(name)
    }

    /// A member of `params._meta` of a request or notification.
    pub(crate) fn meta(&self, name: &str) -> Option<Json<'m>> {
        self.meta?.member(name)
    }
}
