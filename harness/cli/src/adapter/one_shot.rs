//! A one-shot command as an importer: one process for each answer.
//!
//! Nothing is agreed beforehand, so its level and its formats are seen from its answers to transcripts of our own, and its
//! version is unknown.

use super::command::Command;
use super::long_lived::read_pair;
use super::process::{Output, Process};
use super::program::{BrokenAnswer, Limits, NotRun, Program, Reply};
use super::sample::good;
use super::transcripts::Transcripts;
use crate::exit;
use mcp_concord_suite::importer::{Importer, ReadPair};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};
use transcript::dialect::Dialect;
use verdict::answer::{Answer, FailureKind, Level};
use verdict::protocol;

/// The exit code of a rejection.
const REJECTED: i32 = exit::REJECTED as i32;

/// A one-shot command.
#[derive(Debug)]
pub(crate) struct OneShot {
    command: Command,
    limits: Limits,
    level: Level,
    dialect: &'static Dialect,
    transcripts: Transcripts,
    /// Whether it is held to the codes of this program.
    pub(crate) strict: bool,
    /// The formats of which it said that it does not read them.
    unread: BTreeSet<&'static str>,
}

impl OneShot {
    /// Takes `command`, and tries it on a transcript of each format, which shows its level and what it does not read.
    pub(crate) fn start(command: Command, limits: Limits, dialect: &'static Dialect) -> Result<Self, NotRun> {
        let transcripts =
            Transcripts::new().map_err(|error| NotRun(format!("there is no temporary folder: {error}")))?;
        let (level, strict, unread) = (Level::Events, false, BTreeSet::new());
        let mut once = Self { command, limits, level, dialect, transcripts, strict, unread };
        let mut answered = false;
        for format in formats::written() {
            let Ok(file) = once.transcripts.lay_out(&good(format)) else { continue };
            match once.asked(format.name, file.path())?.answer {
                Answer::Unsupported { .. } => {
                    once.unread.insert(format.name);
                }
                // The first answer shows the level; it is to be the same in all formats.
                Answer::Calls(_) if !answered => (once.level, answered) = (Level::Calls, true),
                Answer::Meaning(_) => answered = true,
                _ => {}
            }
        }
        Ok(once)
    }

    /// Runs the command on a file.
    fn asked(&self, format: &str, file: &Path) -> Result<Reply, NotRun> {
        let since = Instant::now();
        let mut process =
            Process::start(&self.command, self.command.filled(file, format), self.limits, Output::Whole)?;
        let all = process.all();
        let (took, peak) = (since.elapsed(), process.peak());
        let said = process.end_and_stderr();
        let answer = all.and_then(|(output, status)| match status.code() {
            Some(0) if output.trim_ascii().is_empty() => {
                Err(BrokenAnswer::new(FailureKind::Garbled, "printed nothing, exit 0"))
            }
            Some(0) => {
                protocol::answer(&output, None).map_err(|why| BrokenAnswer::new(FailureKind::Garbled, why))
            }
            Some(REJECTED) => rejection(&output, &said),
            _ => {
                let why = format!("{status}; 0 is an answer, and {REJECTED} is a rejection");
                Err(BrokenAnswer::new(FailureKind::Crash, why))
            }
        });
        Ok(Reply { answer: answer.unwrap_or_else(Answer::from), said, took, peak })
    }
}

/// The answer that exit code 65 means: the rejection on stdout, or else the last words of stdout or stderr.
fn rejection(output: &[u8], said: &str) -> Result<Answer, BrokenAnswer> {
    match protocol::answer(output, None) {
        Ok(rejection @ Answer::Rejection { .. }) => Ok(rejection),
        Ok(other) => {
            let message = format!("it exited with {REJECTED}, a rejection, and printed {}", other.in_words());
            Err(BrokenAnswer::new(FailureKind::Garbled, message))
        }
        Err(_) => {
            let words = protocol::shown(output);
            let words =
                if words.trim().is_empty() { said.lines().last().unwrap_or_default() } else { &words };
            Ok(Answer::Rejection { code: None, message: words.to_owned() })
        }
    }
}

impl Importer for OneShot {
    fn name(&self) -> &str {
        self.command.name()
    }

    fn version(&self) -> &'static str {
        "unknown"
    }

    fn level(&self) -> Level {
        self.level
    }

    fn dialect(&self) -> &str {
        self.dialect.name
    }

    fn strict_codes(&self) -> bool {
        self.strict
    }

    fn reads(&self, format: &str) -> bool {
        formats::find(format).is_some_and(|format| !self.unread.contains(format.name))
    }

    fn read(&self, format: &str, transcript: &[u8]) -> Answer {
        self.read_twice(format, transcript).answers[0].clone()
    }

    fn read_twice(&self, format: &str, transcript: &[u8]) -> ReadPair {
        let file = match self.transcripts.lay_out(transcript) {
            Ok(file) => file,
            Err(error) => return ReadPair::nothing(&format!("no file can be laid out for it: {error}")),
        };
        let heard = [self.about(format, file.path()), self.about(format, file.path())];
        read_pair(&file, heard)
    }
}

impl Program for OneShot {
    fn formats(&self) -> Option<&[String]> {
        None
    }

    fn ask(&self, format: &str, file: &Path) -> Reply {
        self.asked(format, file).unwrap_or_else(|NotRun(why)| Reply {
            answer: BrokenAnswer::new(FailureKind::Crash, why).into(),
            said: String::new(),
            took: Duration::ZERO,
            peak: None,
        })
    }

    fn restart(&self) {}
}
