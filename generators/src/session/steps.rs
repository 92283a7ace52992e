//! The steps of a session as choices, and the messages that come of them.

use crate::values::Value;
use arbitrary::Arbitrary;
use transcript::session::Side;

/// What a step of a session says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Arbitrary)]
pub enum Act {
    /// A request other than a tool call.
    Ask,
    /// A tool call.
    Call,
    /// A result for a request that is open; one for nothing where none is.
    Answer,
    /// An error for such a request.
    Fail,
    /// A notification, or what an id of null makes one.
    Notify,
    /// A result with an id that may or may not be open: early, late, for the other side, or for nobody.
    Stray,
    /// Something that carries no message: an event, an empty body.
    Aside,
}

/// One step of a session, by the choices that make it.
#[derive(Debug, Clone, Arbitrary)]
pub struct PlanStep {
    /// What it says.
    pub act: Act,
    /// The client sends it; an answer comes from the side that was asked.
    pub client: bool,
    /// Which id, or which of the open requests.
    pub id: u8,
    /// Which method.
    pub method: u8,
    /// The params, arguments, result or data; none where they are left out.
    pub value: Option<Value>,
    /// How it is laid out: order of members, more members, white space.
    pub layout: u8,
    /// When, in ticks since the beginning; times may stand still, run backwards and be missing.
    pub time: Option<u8>,
    /// How it travels.
    pub slot: u8,
}

/// A message, with its meaning.
#[derive(Debug, Clone)]
pub struct KnownMessage {
    /// Which of the plan's steps it is.
    pub step: usize,
    /// Its text.
    pub text: String,
    /// Who sent it.
    pub side: Side,
    /// Which message it answers.
    pub answers: Option<usize>,
    /// Its event in the normal form.
    pub event: String,
    /// The pointer to the step's value in the event; none where the event does not show it.
    pub value_at: Option<&'static str>,
}
