//! A message as rules see it: its kind, its method, and the request that it answers.

use super::methods::Method;
use super::pending_request::PendingRequest;
use super::response_match::ResponseMatch;
use crate::revision::{Revision, Span};
use std::borrow::Cow;
use transcript::json::Json;
use transcript::message::{Id, Message, MessageClass};
use transcript::session::Noise;

/// A byte order mark.
pub(crate) const MARK: char = '\u{feff}';

pub(crate) const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// A message, and what it is to the session.
#[derive(Debug, Clone)]
pub(crate) struct SeenMessage<'m> {
    pub(crate) raw: Message<'m>,
    pub(crate) kind: MessageKind,
    /// The method of a request or notification.
    pub(crate) method: Option<Cow<'m, str>>,
    /// What the specification says of that method.
    pub(crate) known: Option<&'static Method>,
    /// The `_meta` of its params. It is asked for at every step, and params are long.
    pub(crate) meta: Option<Json<'m>>,
    /// What a response answers.
    pub(crate) response_match: ResponseMatch<&'m PendingRequest>,
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
    /// What answers a request.
    pub(crate) const ANSWERS: &[Self] = &[Self::Result, Self::Error];
    /// A request and what answers it.
    pub(crate) const CALLS: &[Self] = &[Self::Request, Self::Result, Self::Error];

    pub(crate) fn new(message: &Message<'_>) -> Self {
        match (message.class(), message.id()) {
            (MessageClass::Result, _) => Self::Result,
            (MessageClass::Error, _) => Self::Error,
            (MessageClass::Call, Id::Missing) => Self::Notification,
            (MessageClass::Call, _) => Self::Request,
        }
    }
}

impl<'m> SeenMessage<'m> {
    /// The revision without handshake that a request is of: it names its version, or only that revision has its method.
    pub(super) fn shown_revision(&self) -> Option<Revision> {
        match self.meta(META_VERSION) {
            // A version with a handshake is not named there, so that nothing follows from it.
            Some(version) => Revision::new(version).filter(|revision| !revision.has_handshake()),
            None => {
                let known = self.known?;
                known.spans.iter().all(|one| one.span == Span::MODERN).then_some(Revision::V2026_07_28)
            }
        }
    }

    /// A message by itself, before it is known what it answers.
    pub(super) fn new(raw: Message<'m>, item: Option<usize>) -> Self {
        let method: Option<Cow<'_, str>> = raw.method().map(|method| match method.to_str() {
            Some(method) => method,
            None => String::from_utf8_lossy(&method.decode()).into_owned().into(),
        });
        Self {
            kind: MessageKind::new(&raw),
            known: method.as_deref().and_then(Method::find),
            meta: raw.params().and_then(|params| params.member("_meta")),
            method,
            raw,
            response_match: ResponseMatch::NotAResponse,
            item,
        }
    }

    /// The request that a response answers.
    pub(crate) fn request(&self) -> Option<&'m PendingRequest> {
        self.response_match.request().copied()
    }

    /// Whether it is a request or notification with this method.
    pub(crate) fn calls(&self, method: &str) -> bool {
        self.method.as_deref() == Some(method)
    }

    /// Whether a session may begin with it.
    pub(super) fn begins_session(&self) -> bool {
        self.calls("initialize") || self.calls("server/discover") || self.meta(META_VERSION).is_some()
    }

    /// The request that a response answers, where it has this method.
    pub(crate) fn request_for(&self, method: &str) -> Option<&'m PendingRequest> {
        self.request().filter(|request| request.method() == method)
    }

    /// The `result` of a response to a request with this method.
    pub(crate) fn result_of(&self, method: &str) -> Option<Json<'m>> {
        (self.kind == MessageKind::Result && self.request()?.method() == method)
            .then(|| self.raw.outcome())
            .flatten()
    }

    /// Whether this is a result without the `resultType` that every result of the newest revision has.
    pub(crate) fn is_older_result(&self) -> bool {
        let has = |result: Json<'_>| result.member("resultType").is_some();
        self.kind == MessageKind::Result && !self.raw.outcome().is_some_and(has)
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

/// The message behind a byte order mark, which is its sender's fault and no reason not to judge it.
pub(crate) fn behind_mark<'n>(noise: &'n Noise<'_>) -> Option<Message<'n>> {
    Message::parse(noise.text.strip_prefix(MARK)?).ok()
}
