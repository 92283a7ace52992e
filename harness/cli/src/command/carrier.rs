//! What the library answers, carried to the standard output, and what it remarks to the terminal.

use super::context::{CommandContext, Failure};
use crate::exit;
use crate::terminal::Terminal;
use app::{Cause, Command, Error, Outcome, Output, Recording, Remark};
use std::io::Write;

/// Where an answer goes.
pub(super) struct Carrier<'o> {
    out: Box<dyn Write + 'o>,
    terminal: Terminal,
}

impl<'o> Carrier<'o> {
    /// The answer goes to `out`.
    pub(super) fn new(out: impl Write + 'o, context: CommandContext) -> Self {
        Self { out: Box::new(out), terminal: context.terminal }
    }

    /// Ends the answer: the exit code.
    pub(super) fn finish(mut self, outcome: Outcome) -> Result<u8, Failure> {
        self.out.flush()?;
        Ok(if outcome == Outcome::Well { exit::WELL } else { exit::FAILED })
    }
}

impl Output for Carrier<'_> {
    fn bytes(&mut self) -> &mut dyn Write {
        &mut *self.out
    }

    fn remark(&mut self, remark: Remark<'_>) {
        match remark {
            Remark::Note(note) => self.terminal.note(note),
            Remark::Detail(detail) => self.terminal.detail(detail),
            Remark::Rejected(name, rejection) => self.terminal.rejection(name, rejection),
            Remark::Error(error) => match &error.cause {
                Cause::Rejected(rejection) => {
                    self.terminal.rejection(error.name.as_deref().unwrap_or_default(), rejection);
                }
                _ => self.terminal.error(&sentence(error)),
            },
        }
    }
}

/// Runs a command of the library, whose answer goes to `out`.
pub(super) fn carry(
    command: &dyn Command,
    recordings: &mut [Recording<'_>],
    out: impl Write,
    context: CommandContext,
) -> Result<u8, Failure> {
    let mut carrier = Carrier::new(out, context);
    let outcome = command.answer(recordings, &mut carrier)?;
    carrier.finish(outcome)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.cause {
            Cause::Rejected(rejection) => Self::Rejected(error.name.unwrap_or_default(), rejection),
            Cause::Output(error) => error.into(),
            Cause::Interrupted => Self::OutputClosed,
            _ => Self::Unusable(sentence(&error)),
        }
    }
}

/// Why nothing can be answered, in the words of a command line.
pub(super) fn sentence(error: &Error) -> String {
    let name = error.name.as_deref().unwrap_or_default();
    match &error.cause {
        Cause::Unreadable(error) => format!("{name} cannot be read: {error}"),
        // No format helps an empty file.
        Cause::UnknownFormat(why) if why == formats::EMPTY => {
            format!("{name} is empty: nothing was recorded in it")
        }
        Cause::UnknownFormat(why) => format!(
            "the format of {name} cannot be detected: {why}; name it with --format ({})",
            formats::names()
        ),
        Cause::Foreign(what) => format!("{name} is not a recording: {what}"),
        Cause::BadOption(option, why) => format!("--{}: {why}", option.replace('_', "-")),
        Cause::OtherRevision(why, Some(required)) => format!("{why}; name it with --spec {required}"),
        Cause::NothingWhole => {
            format!("nothing in {name} can be saved: it ends before its first item begins")
        }
        _ => error.message(),
    }
}
