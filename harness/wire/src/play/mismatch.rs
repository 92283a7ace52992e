//! How the other side differs from the session, and where the session is in the recording.

use super::script::Script;
use std::borrow::Cow;
use transcript::diff::Difference;
use transcript::session::Location;
use verdict::plain::{cut, plain};

/// One mismatch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// What it is.
    pub(super) kind: MismatchKind,
    /// The message of the session that it is about.
    pub(super) step: Option<usize>,
    /// What arrived, as far as it is known.
    pub(super) came: Option<String>,
}

/// The kinds of mismatches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum MismatchKind {
    /// The message that came for one of the session says something else.
    Different(Difference),
    /// A message that the session does not have, or not once more.
    Unexpected,
    /// A message of the session that came while another one was awaited, which should have come before.
    OutOfOrder,
    /// A message of the session did not come, in these words; how many behind it were not awaited any more.
    Missing(String, usize),
    /// Something that is not a message, and why.
    NoMessage(String),
    /// Several messages in one array, which the session has one by one.
    Batch,
    /// A message of this number of bytes, which is more than is held.
    TooLong(u64),
    /// What was not done, or not done right, beside messages: a header, a status, an end.
    Protocol(String),
}

/// How the text of [`MismatchKind::Missing`] begins.
pub(crate) const MISSING: &str = "a message is missing";

/// How many characters of a message or a value are shown.
const SHOWN: usize = 160;

impl Mismatch {
    /// A mismatch that is about no message of the session.
    pub(super) fn new(kind: MismatchKind, came: Option<String>) -> Self {
        Self { kind, step: None, came }
    }

    /// A mismatch beside messages.
    pub(super) fn protocol(text: impl Into<String>) -> Self {
        Self::new(MismatchKind::Protocol(text.into()), None)
    }

    /// Where the message of the session is.
    pub(super) fn location(&self, script: &Script) -> Option<Location> {
        Some(script.entry(self.step?)?.location)
    }

    /// What it is, in a sentence without its full stop.
    pub(super) fn headline(&self) -> String {
        match &self.kind {
            MismatchKind::Different(difference) => {
                let value = |value: &Option<String>| {
                    value.as_deref().map_or(Cow::Borrowed("nothing"), |value| Cow::Owned(cut(value, 60)))
                };
                format!(
                    "the message differs at {}: expected {}, got {}",
                    if difference.pointer.is_empty() { "/" } else { &difference.pointer },
                    value(&difference.left),
                    value(&difference.right)
                )
            }
            MismatchKind::Unexpected => "unexpected message: the session does not have it here".to_owned(),
            MismatchKind::OutOfOrder => "a message came early: one before it is still awaited".to_owned(),
            MismatchKind::Missing(why, 0) => format!("{MISSING}: {why}"),
            MismatchKind::Missing(why, more) => {
                let later = if *more == 1 { "message is" } else { "messages are" };
                format!("{MISSING}: {why}; {more} later {later} no longer awaited")
            }
            MismatchKind::NoMessage(why) => format!("not a message: {why}"),
            MismatchKind::Batch => {
                "several messages in one array, but the session has them separately".to_owned()
            }
            MismatchKind::TooLong(bytes) => {
                format!("skipped a message of {bytes} bytes, which is too large to hold")
            }
            MismatchKind::Protocol(text) => text.clone(),
        }
    }

    /// All of it, in up to four lines: the sentence, the place, what was expected, what arrived.
    pub(super) fn describe(&self, script: &Script, file: &str) -> String {
        let mut text = format!("mismatch: {}", plain(&self.headline()));
        if let Some((step, location)) = self.step.zip(self.location(script)) {
            let pointer = location.pointer();
            let at = if pointer.is_empty() { String::new() } else { format!(" {pointer}") };
            text.push_str(&format!(
                "\n --> {}:{}{} (message {step})",
                plain(file),
                location.line,
                plain(&at)
            ));
            let expected = script.message(step).map(|message| cut(message.text(), SHOWN)).unwrap_or_default();
            text.push_str(&format!("\n  expected {expected}"));
        }
        if let Some(came) = &self.came {
            text.push_str(&format!("\n  got      {}", cut(came, SHOWN)));
        }
        text
    }
}
