//! What the tests of several transports need.

use super::{Plan, Script, Variants};
use crate::Notify;
use crate::journal::Journal;
use formats::{Input, ReadOptions, Session};
use mcp_concord_suite::{Root, Suite};
use std::sync::Mutex;
use std::time::Duration;
use transcript::diff::DiffOptions;

/// Keeps what it is told.
#[derive(Debug, Default)]
struct Told(Mutex<Vec<String>>);

impl Told {
    fn all(self) -> Vec<String> {
        self.0.into_inner().unwrap()
    }
}

impl Notify for Told {
    fn error(&self, text: &str) {
        self.note(text);
    }

    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }

    fn mismatch(&self, text: &str) {
        self.note(text);
    }
}

/// Plays one side of a session; and what was told meanwhile.
pub(super) fn played<T>(
    script: &Script,
    patience: Duration,
    variants: &Variants,
    play: impl FnOnce(&Plan<'_>) -> T,
) -> (T, Vec<String>) {
    let (rules, journal, tell) = (&DiffOptions::default(), &Journal::default(), Told::default());
    let (name, notify) = ("session", &tell);
    let done = play(&Plan { script, rules, patience, variants, journal, name, notify });
    (done, tell.all())
}

/// Every transcript of the suite that is a session with messages.
pub(super) fn sessions(each: &mut dyn FnMut(&str, &str, &[u8])) {
    let suite = Suite::load(&[Root::Embedded]).unwrap();
    for case in &suite.cases {
        for transcript in &case.transcripts {
            let bytes = transcript.blob.bytes().unwrap();
            let read = Input::new(&mut &*bytes)
                .and_then(|mut input| Session::read(transcript.format, &mut input, ReadOptions::default()));
            if read.is_ok_and(|session| session.messages().next().is_some()) {
                each(&case.name, transcript.format.name, &bytes);
            }
        }
    }
}
