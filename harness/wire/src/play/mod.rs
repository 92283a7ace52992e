//! A scripted peer: plays one side of a recorded session, and tells where the other side departs from it.
//!
//! Knows: how the parts stand to each other. What is to be said and heard is pure (`script`, `playing`, `mismatch`); a
//! transport carries it (`stdio`, `http`), in the ways that a peer may take (`variant`), and notes what really passed
//! (`journal`). Refuses to know: the command line, and how a person is told.
//!
//! Every wait has an end: nothing may be silent for longer than [`Plan::patience`] while something is awaited. Memory: the
//! session, and what a transport says of itself.

pub mod http;
pub mod journal;
mod mismatch;
mod pipe;
mod playing;
mod script;
mod stdio;
#[cfg(test)]
mod testing;
mod variant;

pub use mismatch::{Kind, Mismatch};
pub use playing::{Heard, Order, Playing, Said};
pub use script::{Script, Step, on_one_line};
pub use stdio::{as_client, as_server};
pub use variant::Variants;

use journal::{Journal, What};
use std::time::Duration;
use transcript::diff::DiffOptions;

/// A message of up to this size is held; of a session whose messages are longer, twice the longest one.
pub const HELD: usize = 64 << 20;

/// What is to be played, and how.
#[derive(Debug, Clone, Copy)]
pub struct Plan<'p> {
    /// The session, and the side that is played.
    pub script: &'p Script,
    /// What may differ.
    pub rules: &'p DiffOptions,
    /// How long a wait may be.
    pub patience: Duration,
    /// The ways to take.
    pub variants: &'p Variants,
    /// Where to note what passes.
    pub journal: &'p Journal,
    /// Who hears of mismatches as they are seen.
    pub tell: &'p dyn Tell,
}

/// Someone who hears of what happens at once.
pub trait Tell: std::fmt::Debug {
    /// The other side departs from the session.
    fn mismatch(&self, mismatch: &Mismatch);
    /// Something that is worth knowing, and no mismatch.
    fn note(&self, text: &str);
}

/// What came of a play.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Played {
    /// How many messages were said.
    pub said: u64,
    /// How many messages of the session were heard, as they stand there or not.
    pub heard: u64,
    /// How often the other side departed from it.
    pub mismatches: u64,
}

/// Why nothing was played.
#[derive(Debug)]
pub enum StartError {
    /// This process cannot play it: a sentence.
    Here(String),
    /// The program at the other side cannot be run: a sentence.
    Command(String),
}

impl Plan<'_> {
    /// Messages up to this size are held.
    fn longest(&self) -> usize {
        HELD.max(2 * self.script.longest())
    }

    /// Says and notes a mismatch, and counts it.
    fn depart(&self, played: &mut Played, mismatch: &Mismatch) {
        played.mismatches += 1;
        self.journal.note(|| {
            let at = mismatch.step.map_or_else(String::new, |step| format!(" (message {step})"));
            What::Mismatch { text: mismatch.headline() + &at }
        });
        self.tell.mismatch(mismatch);
    }

    /// Notes the end.
    fn over(&self, played: Played) -> Played {
        let Played { said, heard, mismatches } = played;
        self.journal.note(|| What::Over { said, heard, mismatches });
        played
    }

    /// The patience in words.
    fn waited(&self) -> String {
        let seconds = self.patience.as_secs_f64();
        format!("{seconds} second{}", if seconds == 1.0 { "" } else { "s" })
    }
}
