//! What is to be played, how, and the outcome: how the other side differs from the session, and where the session is in the
//! recording.

use super::script::Script;
use super::variant::Variants;
use crate::http::HELD;
use crate::journal::{Journal, JournalEvent};
use crate::{Notify, interrupt};
use std::borrow::Cow;
use std::time::Duration;
use transcript::diff::{DiffOptions, Difference};
use verdict::plain::{cut, plain};

/// How many mismatches are reported one by one; the rest are counted.
pub const TOLD: u64 = 100;

/// How often waits, and a request to end, are looked at.
pub(super) const TICK: Duration = Duration::from_millis(50);

/// What is to be played, and how.
#[derive(Clone, Copy)]
pub struct Plan<'p> {
    /// The session, and the side that is played.
    pub script: &'p Script,
    /// What may differ.
    pub rules: &'p DiffOptions,
    /// How long a wait may be for what the session has next.
    pub patience: Duration,
    /// The ways to take.
    pub variants: &'p Variants,
    /// Where to note what passes.
    pub journal: &'p Journal,
    /// Answer a request that is not as the session has it with an error that says so, and not as in the session.
    pub refuse: bool,
    /// What the recording is called in messages.
    pub name: &'p str,
    /// Where mismatches are reported as they are seen.
    pub notify: &'p dyn Notify,
}

/// The outcome of a play.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Played {
    /// How many messages were sent.
    pub sent: u64,
    /// How many messages of the session were received, equal to them or not.
    pub received: u64,
    /// How often the other side departed from it.
    pub mismatches: u64,
    /// How many of these were only counted.
    pub untold: u64,
}

impl Plan<'_> {
    /// Messages up to this size are held: [`HELD`], and twice the longest one of the session where that is more.
    pub(super) fn longest(&self) -> usize {
        HELD.max(2 * self.script.longest())
    }

    /// Counts a mismatch, and says and notes it where it is one of the first.
    pub(super) fn report(&self, played: &mut Played, mismatch: &Mismatch) {
        // What an interrupt caused is not the other side's doing.
        if interrupt::requested() {
            return;
        }
        played.mismatches += 1;
        // What ends the play is reported in any case.
        if played.mismatches > TOLD && !matches!(mismatch.kind, MismatchKind::Missing(..)) {
            played.untold += 1;
            return;
        }
        self.journal.note(|| {
            let at = mismatch.step.map_or_else(String::new, |step| format!(" (message {step})"));
            JournalEvent::Mismatch { text: mismatch.headline() + &at }
        });
        self.notify.mismatch(&mismatch.describe(self.script, self.name));
    }

    /// Notes the end.
    pub(super) fn over(&self, played: Played) -> Played {
        let Played { sent, received, mismatches, untold } = played;
        if untold > 0 {
            self.notify.note(&format!("{untold} more mismatches are counted and not shown"));
        }
        self.journal.note(|| JournalEvent::Over { sent, received, mismatches });
        played
    }

    /// The patience in words.
    pub(super) fn waited(&self) -> String {
        let seconds = self.patience.as_secs_f64();
        format!("{seconds} second{}", if seconds == 1.0 { "" } else { "s" })
    }
}

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
        if let Some((step, entry)) = self.step.and_then(|step| Some((step, script.entry(step)?))) {
            let location = entry.location;
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
