//! Programs and libraries that read transcripts and can be judged.
//!
//! What an importer is asked, and how it is asked so that neither a panic nor a whim goes unnoticed.

use crate::reading::{self, Format, Reading, Rejection};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use verdict::answer::{Answer, FailureKind, Level};

/// A program or library that reads transcripts. Several threads may ask at once.
pub trait Importer: Send + Sync {
    /// Its name, as it should stand in reports.
    fn name(&self) -> &str;

    /// Its version.
    fn version(&self) -> &str;

    /// How much of a session it can show.
    fn level(&self) -> Level {
        Level::Events
    }

    /// The dialect of the contract that it reads in, such as `typed-ids`: what some clauses ask is replaced there.
    fn dialect(&self) -> &str {
        transcript::dialect::DEFAULT
    }

    /// Whether it reads this capture format at all. What it does not read is skipped, counted and shown.
    fn reads(&self, format: Format) -> bool;

    /// Reads a transcript, given as the bytes of the whole file.
    ///
    /// # Errors
    /// Why it is not a session.
    fn read(&self, format: Format, transcript: &[u8]) -> Result<Reading, Rejection>;

    /// The same as an answer, for importers that have others than readings and rejections: [`Answer::Unsupported`], or
    /// [`Answer::Broken`] where a program behind the importer fails.
    fn answer(&self, format: Format, transcript: &[u8]) -> Answer {
        reading::answer(self.read(format, transcript))
    }

    /// Reads it twice: on this thread, where the importer is not a process. A panic is a crash.
    fn read_twice(&self, format: Format, transcript: &[u8]) -> ReadPair {
        let read = || caught(|| self.answer(format, transcript));
        ReadPair { answers: [read(), read()], said: String::new() }
    }

    /// Whether it finds out which transport and revision a recording shows, as `identify` does.
    fn identifies(&self) -> bool {
        false
    }

    /// Tells it, of the bytes of a whole file whose format nobody names.
    fn identify(&self, _recording: &[u8]) -> Answer {
        Answer::Unsupported { why: unidentified(self.name()) }
    }

    /// Tells it twice, as [`Self::read_twice`].
    fn identify_twice(&self, recording: &[u8]) -> ReadPair {
        let identify = || caught(|| self.identify(recording));
        ReadPair { answers: [identify(), identify()], said: String::new() }
    }

    /// Whether its rejections are held to this project's codes: one that names another fault fails. Otherwise that is a
    /// remark beside the pass.
    fn strict_codes(&self) -> bool {
        false
    }

    /// Ends what the importer keeps running; a sentence where it did not end when asked to.
    fn stop(&self) -> Option<String> {
        None
    }
}

/// Why somebody is not asked what a recording shows.
pub(crate) fn unidentified(name: &str) -> String {
    format!("{name} does not answer `identify`")
}

/// What came of asking twice about one transcript.
#[derive(Debug, Clone)]
pub struct ReadPair {
    /// The answers.
    pub answers: [Answer; 2],
    /// The end of what a program wrote to its standard error meanwhile.
    pub said: String,
}

impl ReadPair {
    /// Nothing was heard, since nothing could be asked.
    #[must_use]
    pub fn nothing(why: &str) -> Self {
        let answer = || Answer::Broken { how: FailureKind::Crash, message: why.to_owned() };
        Self { answers: [answer(), answer()], said: String::new() }
    }

    /// The one answer that both are: two different answers are none (clause SRV-SAME).
    #[must_use]
    pub fn answer(self) -> Answer {
        let [first, second] = self.answers;
        first.confirmed_by(&second)
    }
}

/// How deep the stack of an asking thread is. The threads of a test harness have 2 MiB, which is not enough for a
/// reader that recurses over deep JSON; what is not used takes up only address space.
pub const STACK: usize = 64 << 20;

fn caught(read: impl FnOnce() -> Answer) -> Answer {
    quieten();
    PANIC.set(Some(String::new()));
    let answer = catch_unwind(AssertUnwindSafe(read));
    let seen = PANIC.take().unwrap_or_default();
    answer.unwrap_or(Answer::Broken { how: FailureKind::Crash, message: seen })
}

thread_local! {
    /// What the panic of an importer said; none where this thread is not asking one.
    static PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// An importer's panic belongs into its verdict, not on the terminal. Every other panic is shown as before.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let asking = PANIC.with_borrow_mut(|seen| {
                let asking = seen.is_some();
                if asking {
                    let place =
                        panic.location().map(|place| format!(" at {}:{}", place.file(), place.line()));
                    let message = panic.payload_as_str().unwrap_or("no message");
                    *seen = Some(format!("panicked{}: {message}", place.unwrap_or_default()));
                }
                asking
            });
            if !asking {
                before(panic);
            }
        }));
    });
}

#[cfg(test)]
mod tests {
    use super::{Format, Importer};
    use crate::testing::Double;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use verdict::answer::{Answer, FailureKind};

    #[test]
    fn a_panic_is_a_crash_that_says_what_it_said() {
        let panicking = Double::new("test", |_, _| panic!("no such {}", "thing"));
        let answer = panicking.read_twice(Format::JSONRPC, b"").answer();
        let Answer::Broken { how: FailureKind::Crash, message } = answer else { panic!("{answer:?}") };
        assert!(message.contains("no such thing") && message.contains("importer.rs"), "{message}");
    }

    #[test]
    fn an_importer_that_changes_its_mind_is_unstable() {
        let count = AtomicUsize::new(0);
        let whimsical = Double::new("test", |_, _| match count.fetch_add(1, Ordering::Relaxed) {
            0 => Answer::Meaning(verdict::meaning::Meaning::parse("{\"events\": []}").unwrap()),
            _ => Answer::Rejection { code: None, message: "no".into() },
        });
        let answer = whimsical.read_twice(Format::JSONRPC, b"").answer();
        assert!(matches!(answer, Answer::Broken { how: FailureKind::Unstable, .. }), "{answer:?}");
        assert_eq!(count.into_inner(), 2);
    }
}
