//! What the tests of several transports need.

use crate::Notify;
use formats::{Input, ReadOptions, Session};
use std::sync::Mutex;
use suite::{Root, Suite};

/// Keeps what it is told.
#[derive(Debug, Default)]
pub(super) struct Told(Mutex<Vec<String>>);

impl Told {
    pub(super) fn all(self) -> Vec<String> {
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
