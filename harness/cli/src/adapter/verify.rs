//! The smoke test of a program before the suite: does it answer, reject, say unsupported, survive, stop?
//!
//! Knows: a handful of questions that every adapter must live through. Refuses to know: the suite; whether its
//! answers are right is not asked here.

use super::long_lived::Adapter;
use super::one_shot::OneShot;
use super::program::Program;
use super::transcripts::Transcripts;
use formats::{Format, Input, ReadOptions, Session};
use std::io;
use suite::importer::Importer;
use verdict::answer::{Answer, FailureKind, Level};

/// One question, and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    /// What was tried.
    pub what: String,
    /// What came of it, or what to change.
    pub outcome: Result<String, String>,
}

/// A session that every importer reads: a call and its answer.
const GOOD: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"add","arguments":{"a":1}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":"a","result":{"content":[]}}"#,
    "\n"
);

/// The beginning of a document of any format, and the whole of none.
const CUT: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/ca";

/// The good session as a transcript of `format`; empty where it cannot be written, which a test rules out.
pub(super) fn good(format: &Format) -> Vec<u8> {
    let mut out = Vec::new();
    let mut reader = GOOD.as_bytes();
    if let (Some(jsonrpc), Ok(mut input)) = (formats::find("jsonrpc"), Input::new(&mut reader))
        && let Ok(session) = Session::read(jsonrpc, &mut input, ReadOptions::default())
        && (format.write)(&session, &mut out).is_err()
    {
        out.clear();
    }
    out
}

/// Which program is tried.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Tried<'p> {
    /// A long-lived adapter.
    Adapter(&'p Adapter),
    /// A one-shot command.
    OneShot(&'p OneShot),
}

impl<'p> From<&'p Adapter> for Tried<'p> {
    fn from(adapter: &'p Adapter) -> Self {
        Self::Adapter(adapter)
    }
}

impl<'p> From<&'p OneShot> for Tried<'p> {
    fn from(once: &'p OneShot) -> Self {
        Self::OneShot(once)
    }
}

/// Tries a program that has started.
///
/// # Errors
/// Where no transcript can be laid out for it.
pub(crate) fn verify<'p>(tried: impl Into<Tried<'p>>) -> io::Result<Vec<Check>> {
    let tried = tried.into();
    let (program, importer): (&dyn Program, &dyn Importer) = match tried {
        Tried::Adapter(adapter) => (adapter, adapter),
        Tried::OneShot(once) => (once, once),
    };
    let named: Vec<String> = match tried {
        Tried::Adapter(adapter) => adapter.formats().to_vec(),
        Tried::OneShot(_) => formats::FORMATS.iter().map(|format| format.name.to_owned()).collect(),
    };
    let mut trial = Trial { program, transcripts: Transcripts::new()?, checks: Vec::new() };
    let level = match importer.level() {
        Level::Events => "events",
        Level::Calls => "calls",
    };
    let about =
        format!("{} {}, level {level}, reads {}", importer.name(), importer.version(), named.join(", "));
    trial.note("it starts", Ok(about));
    for name in &named {
        let Some(format) = formats::find(name) else { continue };
        trial.ask(&format!("it reads {name}"), name, &good(format), |answer| match answer {
            Answer::Meaning(_) | Answer::Calls(_) => Ok(answer.in_words()),
            // A one-shot command names no formats, so it may not know this one.
            Answer::Unsupported { why } if matches!(tried, Tried::OneShot(_)) => {
                Ok(format!("unsupported: {why}"))
            }
            other => Err(format!("{}, where a call and its answer stand", words(other))),
        })?;
    }
    if let Some(name) = named.first() {
        trial.ask("it rejects a transcript that breaks off", name, CUT, |answer| match answer {
            Answer::Rejection { .. } | Answer::Unsupported { .. } => Ok(words(answer)),
            other => Err(format!("{}, where the first line breaks off", words(other))),
        })?;
        let garbage: Vec<u8> = (0..=255).cycle().take(4096).collect();
        trial.ask("it survives bytes that are nothing", name, &garbage, |answer| match answer {
            Answer::Rejection { .. } | Answer::Unsupported { .. } => Ok(words(answer)),
            other => Err(format!("{}, where no transcript stands", words(other))),
        })?;
        trial.unreadable(name);
        trial.ask("it goes on after all that", name, &good_of(name), |answer| match answer {
            Answer::Broken { .. } => Err(words(answer)),
            _ => Ok(answer.in_words()),
        })?;
    }
    trial.ask(
        "it says so where it does not know a format",
        UNKNOWN,
        GOOD.as_bytes(),
        |answer| match answer {
            Answer::Unsupported { .. } => Ok(words(answer)),
            other => Err(format!("{}, when it was asked for the format `{UNKNOWN}`", words(other))),
        },
    )?;
    if let Tried::Adapter(adapter) = tried {
        let stopped = adapter.stop();
        trial.note("it stops when it is told to", stopped.map_or(Ok("it ended".to_owned()), Err));
    }
    Ok(trial.checks)
}

/// A format that nobody has heard of.
const UNKNOWN: &str = "no-such-format";

fn good_of(name: &str) -> Vec<u8> {
    formats::find(name).map(good).unwrap_or_default()
}

struct Trial<'p> {
    program: &'p dyn Program,
    transcripts: Transcripts,
    checks: Vec<Check>,
}

impl Trial<'_> {
    fn ask(
        &mut self,
        what: &str,
        format: &str,
        transcript: &[u8],
        judge: impl Fn(&Answer) -> Result<String, String>,
    ) -> io::Result<()> {
        let file = self.transcripts.lay_out(transcript)?;
        let (answer, said) = self.program.about(format, file.path());
        let outcome = judge(&answer).map_err(|why| match said.is_empty() {
            true => why,
            false => format!("{why}\nits standard error ends with:\n{said}"),
        });
        let anonymized = |text: String| file.anonymized(&text);
        self.note(what, outcome.map(anonymized).map_err(anonymized));
        Ok(())
    }

    /// A file that is not there may end the program: that is no answer, and it is started again.
    fn unreadable(&mut self, format: &str) {
        let file = self.transcripts.missing();
        let (answer, _) = self.program.about(format, file.path());
        let outcome = match &answer {
            Answer::Rejection { .. } | Answer::Unsupported { .. } => Ok(words(&answer)),
            Answer::Broken { how: FailureKind::Crash, .. } => {
                Ok(format!("{}; it is started again", words(&answer)))
            }
            other => Err(format!("{}, where no file is", words(other))),
        };
        let anonymized = |text: String| file.anonymized(&text);
        self.note("it lives with a file that cannot be read", outcome.map(anonymized).map_err(anonymized));
    }

    fn note(&mut self, what: &str, outcome: Result<String, String>) {
        self.checks.push(Check { what: what.to_owned(), outcome });
    }
}

fn words(answer: &Answer) -> String {
    let said = match answer {
        Answer::Rejection { message, .. } | Answer::Broken { message, .. } => message,
        Answer::Unsupported { why } => why,
        Answer::Meaning(_) | Answer::Calls(_) => return answer.in_words(),
    };
    format!("{}: {said}", answer.in_words())
}

#[cfg(test)]
mod tests {
    use super::{CUT, good};
    use suite::builtin::Builtin;
    use suite::importer::Importer as _;
    use verdict::answer::Answer;

    #[test]
    fn the_good_session_is_good_in_every_format_and_the_bad_one_in_none() {
        for format in formats::FORMATS {
            let answer = Builtin.read(format.name, &good(format));
            assert_eq!(answer.in_words(), "a reading of 2 events", "{}", format.name);
            assert!(matches!(Builtin.read(format.name, CUT), Answer::Rejection { .. }), "{}", format.name);
        }
    }
}
