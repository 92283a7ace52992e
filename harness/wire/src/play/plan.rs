//! What is to be played, how, and the outcome.

use super::mismatch::{Mismatch, MismatchKind};
use super::script::Script;
use super::variant::Variants;
use crate::http::HELD;
use crate::journal::{Journal, JournalEvent};
use crate::{Notify, interrupt};
use std::time::Duration;
use transcript::diff::DiffOptions;

/// How many mismatches are reported one by one; the rest are counted.
pub const TOLD: u64 = 100;

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
