//! What a family of rules is to the engine: its rules, what triggers it, and the state it keeps.

use super::context::RuleContext;
use super::http_exchange::HttpExchange;
use super::message::MessageKind;
use super::recording_info::RecordingKind;
use super::report::Report;
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
    pub rules: &'static [Rule],
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

/// Watches one session for the rules of a family.
///
/// Whether a rule applies to the revision, and whether the recording carries what it needs, is none of a watch's
/// business: [`Report`] sees to it.
pub(crate) trait RuleVisitor {
    /// Something that the recording holds, in its order.
    fn visit(&mut self, _at: &RuleContext<'_>, _report: &mut Report) {}

    /// An HTTP exchange of which nothing more will come; only for a family that [`Trigger::HttpExchanges`] triggers. `at`
    /// is a step at its place.
    fn exchange(&mut self, _exchange: &HttpExchange, _at: &RuleContext<'_>, _report: &mut Report) {}

    /// The recording is over: `at` has no message, and `rejection` says why it could not be read to its end.
    fn finish(&mut self, _at: &RuleContext<'_>, _rejection: Option<&Rejection>, _found: &mut Report) {}
}
