//! What a family of rules is to the engine: its rules, what triggers it, and the state it keeps.

use super::context::RuleContext;
use super::http_exchange::HttpExchange;
use super::message::{MessageKind, SeenMessage};
use super::recording_info::RecordingKind;
use crate::rule::Rule;
use transcript::rejection::Rejection;

/// Rules that are watched for together.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its rules.
    pub rules: &'static [&'static Rule],
    /// What wakes its watch.
    pub(crate) triggers: &'static [Trigger],
    /// Begins to watch a session.
    pub(crate) visitor: fn() -> Box<dyn RuleVisitor>,
}

/// What a family listens to. Its watch is informed of nothing else, so that a message wakes a few families and not all; the
/// end of a recording it is informed of always. A response has the method of the request that it answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Trigger {
    /// Whatever a recording holds.
    All,
    /// Everything that recordings of such a kind hold.
    Recordings(fn(RecordingKind) -> bool),
    /// Every message.
    Messages,
    /// The messages of these sorts, whatever their method.
    Kinds(&'static [MessageKind]),
    /// The messages of these sorts that have one of these methods.
    Methods(&'static [MessageKind], &'static [&'static str]),
    /// Results that may ask for input, by a `resultType`, and requests that bring it, as `inputResponses`.
    InputRequests,
    /// Whatever is not a message: what opens and closes a trace, noise, control events.
    NonMessages,
    /// Whatever belongs to an HTTP exchange.
    HttpExchanges,
    /// Entries of an envelope that have a context of their own.
    Contexts,
    /// Events of SSE streams.
    SseEvents,
}

/// Watches a recording for the rules of a family, or one session of it by [`per_session`].
///
/// Whether a rule applies to the revision, and whether the recording carries what it needs, is none of a watch's
/// business: the [`RuleContext`] sees to it.
pub(crate) trait RuleVisitor {
    /// Something that the recording holds, in its order.
    fn visit(&mut self, at: &RuleContext<'_>) {
        if let Some(message) = at.message {
            self.message(message, at);
        }
    }

    /// A message, for a watch that looks at nothing else.
    fn message(&mut self, _message: &SeenMessage<'_>, _at: &RuleContext<'_>) {}

    /// An HTTP exchange of which nothing more will come; only for a family that [`Trigger::HttpExchanges`] triggers. `at`
    /// is a step at its place.
    fn exchange(&mut self, _exchange: &HttpExchange, _at: &RuleContext<'_>) {}

    /// Nothing more comes of what is watched: `at` is the end of the recording, or the step that begins another session.
    fn over(&mut self, _at: &RuleContext<'_>) {}

    /// The recording is over: `at` has no message, and `rejection` says why it could not be read to its end.
    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        self.over(at);
    }
}

/// Watches for the rules of a family by one message at a time, and remembers nothing.
pub(crate) struct OnMessage(pub(crate) fn(&SeenMessage<'_>, &RuleContext<'_>));

impl RuleVisitor for OnMessage {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.0(message, at);
    }
}

/// The same by whatever a recording holds.
pub(crate) struct OnStep(pub(crate) fn(&RuleContext<'_>));

impl RuleVisitor for OnStep {
    fn visit(&mut self, at: &RuleContext<'_>) {
        self.0(at);
    }
}

/// Begins to watch each session of a recording anew.
pub(crate) fn per_session<V: RuleVisitor + Default + 'static>() -> Box<dyn RuleVisitor> {
    Box::new(PerSession { session: 0, visitor: V::default() })
}

struct PerSession<V> {
    session: u64,
    visitor: V,
}

impl<V: RuleVisitor + Default> RuleVisitor for PerSession<V> {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if self.session != at.facts.session {
            self.visitor.over(at);
            *self = Self { session: at.facts.session, visitor: V::default() };
        }
        self.visitor.visit(at);
    }

    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        self.visitor.exchange(exchange, at);
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>) {
        self.visitor.finish(at, rejection);
    }
}
