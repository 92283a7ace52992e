//! The smoke test of a program before the suite: does it answer, reject, say unsupported, survive, stop? Whether its answers
//! are right is not asked here.

use super::importer::Adapter;
use super::program::{Reply, with_stderr};
use super::sample::{GOOD, good};
use super::transcripts::{Transcripts, anonymized};
use mcp_concord_suite::importer::Importer as _;
use std::io;
use transcript::dialect;
use transcript::rejection::Code;
use verdict::answer::{Answer, FailureKind, Level};

/// One question, and how it went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Check {
    pub what: String,
    /// What happened, or what to change.
    pub outcome: Result<String, String>,
}

/// The beginning of a document of any format, and the whole of none.
const CUT: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/ca";

/// Tries a program that has started.
pub(crate) fn verify(importer: &Adapter) -> io::Result<Vec<Check>> {
    // A one-shot command names no formats, so it is asked about all of them.
    let agreed = importer.formats();
    let named = agreed.map_or_else(
        || formats::FORMATS.iter().map(|format| format.name.to_owned()).collect(),
        <[String]>::to_vec,
    );
    let mut trial = Trial { importer, transcripts: Transcripts::new()?, checks: Vec::new() };
    let level = match importer.level() {
        Level::Events => "events",
        Level::Calls => "calls",
    };
    let dialect = match importer.dialect() {
        dialect::DEFAULT => String::new(),
        name => format!(", dialect {name}"),
    };
    let about = format!(
        "{} {}, level {level}{dialect}, reads {}",
        importer.name(),
        importer.version(),
        named.join(", ")
    );
    trial.note("it starts", Ok(about));
    for name in &named {
        let Some(format) = formats::find(name).filter(|format| format.is_written()) else { continue };
        trial.ask(&format!("it reads {name}"), name, &good(format), |answer| match answer {
            Answer::Meaning(meaning) if meaning.count() > 0 => Ok(answer.in_words()),
            Answer::Calls(calls) if calls.count() > 0 => Ok(answer.in_words()),
            Answer::Unsupported { why } if agreed.is_none() => Ok(format!("unsupported: {why}")),
            other => Err(format!("{}, but the file holds a call and its answer", words(other))),
        })?;
    }
    if let Some(name) = named.first() {
        trial.ask("it rejects a transcript that is cut off", name, CUT, |answer| match answer {
            Answer::Rejection { code, .. } => Ok(format!("{}\n{}", words(answer), use_of(code.as_deref()))),
            Answer::Unsupported { .. } => Ok(words(answer)),
            other => Err(format!("{}, although the first line is cut off", words(other))),
        })?;
        let garbage: Vec<u8> = (0..=255).cycle().take(4096).collect();
        trial.ask("it survives random bytes", name, &garbage, |answer| match answer {
            Answer::Rejection { .. } | Answer::Unsupported { .. } => Ok(words(answer)),
            other => Err(format!("{}, but what is not a transcript must be rejected", words(other))),
        })?;
        trial.unreadable(name)?;
        trial.ask("it answers after all that", name, &good_of(name), |answer| match answer {
            Answer::Broken { .. } => Err(words(answer)),
            _ => Ok(answer.in_words()),
        })?;
    }
    trial.ask("it says that it does not know a format", UNKNOWN, GOOD.as_bytes(), |answer| match answer {
        Answer::Unsupported { .. } => Ok(words(answer)),
        other => Err(format!("{}, but it was asked for the format `{UNKNOWN}`", words(other))),
    })?;
    if importer.identifies() {
        let answer = importer.identify(GOOD.as_bytes());
        let outcome = match &answer {
            Answer::Identification(_) => Ok(answer.in_words()),
            other => Err(format!("{}, although it says that it answers `identify`", words(other))),
        };
        trial.note("it identifies a recording", outcome);
    }
    if agreed.is_some() {
        let stopped = importer.stop();
        trial.note("it stops when asked to", stopped.map_or(Ok("it ended".to_owned()), Err));
    }
    Ok(trial.checks)
}

/// A format that does not exist.
const UNKNOWN: &str = "no-such-format";

fn good_of(name: &str) -> Vec<u8> {
    formats::find(name).map(good).unwrap_or_default()
}

struct Trial<'p> {
    importer: &'p Adapter,
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
        let Reply { answer, said, .. } = self.importer.ask(format, file.path());
        let outcome = judge(&answer).map_err(|why| with_stderr(why, &said));
        let anonymized = |text: String| file.anonymized(&text);
        self.note(what, outcome.map(anonymized).map_err(anonymized));
        Ok(())
    }

    /// A file that is not there may end the program: that is not an answer, and it is started again.
    fn unreadable(&mut self, format: &str) -> io::Result<()> {
        let file = self.transcripts.missing()?;
        let Reply { answer, .. } = self.importer.ask(format, &file);
        let outcome = match &answer {
            Answer::Rejection { .. } | Answer::Unsupported { .. } => Ok(words(&answer)),
            Answer::Broken { how: FailureKind::Crash, .. } => {
                Ok(format!("{}; it is started again", words(&answer)))
            }
            other => Err(format!("{}, although there is no file", words(other))),
        };
        let anonymized = |text: String| anonymized(&file, &text);
        self.note("it survives a file that cannot be read", outcome.map(anonymized).map_err(anonymized));
        Ok(())
    }

    fn note(&mut self, what: &str, outcome: Result<String, String>) {
        self.checks.push(Check { what: what.to_owned(), outcome });
    }
}

/// What becomes of the code of a rejection.
fn use_of(code: Option<&str>) -> String {
    match code {
        None => "it names no code, and need not: where a rejection is expected, any passes".to_owned(),
        Some(code) if Code::from_name(code).is_some() => format!(
            "the contract has its code `{code}`; where another code fits, the case passes with a remark, and \
             --strict-codes makes that a failure"
        ),
        Some(code) => format!("the contract does not have its code `{code}`, which is ignored"),
    }
}

fn words(answer: &Answer) -> String {
    let said = match answer {
        Answer::Rejection { message, .. } | Answer::Broken { message, .. } => message,
        Answer::Unsupported { why } => why,
        Answer::Meaning(_) | Answer::Calls(_) | Answer::Identification(_) => return answer.in_words(),
    };
    format!("{}: {said}", answer.in_words())
}

#[cfg(test)]
mod tests {
    use super::{CUT, good};
    use mcp_concord_suite::builtin::Builtin;
    use mcp_concord_suite::importer::Importer as _;
    use verdict::answer::Answer;

    #[test]
    fn the_good_session_is_good_in_every_format_and_the_bad_one_in_none() {
        for format in formats::written() {
            let answer = Builtin::default().answer(format.into(), &good(format));
            assert_eq!(answer.in_words(), "a session of 2 events", "{}", format.name);
            assert!(
                matches!(Builtin::default().answer(format.into(), CUT), Answer::Rejection { .. }),
                "{}",
                format.name
            );
        }
    }
}
