//! What a command answers: bytes, remarks on them, and an outcome.

use crate::error::Error;
use crate::recording::Recording;
use std::io::Write;
use transcript::rejection::Rejection;

/// The options of a command, with its default behind each. The bindings give them as JSON, in which any may be left out.
macro_rules! options {
    ($(#[$about:meta])+ $Options:ident { $($(#[$note:meta])+ $option:ident: $type:ty = $usual:expr,)+ }) => {
        $(#[$about])+
        #[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields, rename_all = "camelCase")]
        pub struct $Options {
            $($(#[$note])+ pub $option: $type,)+
        }

        impl Default for $Options {
            fn default() -> Self {
                Self { $($option: $usual),+ }
            }
        }
    };
}
pub(crate) use options;

/// A command with its options.
pub trait Command {
    /// Answers about recordings.
    ///
    /// # Errors
    /// Why nothing can be answered. What was written until then is not an answer.
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error>;
}

/// Where an answer goes.
pub trait Output {
    /// Takes the bytes of the answer.
    fn bytes(&mut self) -> &mut dyn Write;

    /// Takes what a person should know beside it.
    fn remark(&mut self, remark: Remark<'_>);
}

/// What a person should know of an answer.
#[derive(Debug, Clone, Copy)]
pub enum Remark<'r> {
    /// A sentence without its full stop.
    Note(&'r str),
    /// The same, for those who ask for details.
    Detail(&'r str),
    /// That a recording, of this name, was rejected at some place, and is answered for up to there.
    Rejected(&'r str, &'r Rejection),
    /// That there is another reason why nothing can be answered.
    Error(&'r Error),
}

/// How what was asked about came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Well,
    /// It is not: a recording was rejected, two sessions differ.
    Failed,
}

impl Outcome {
    /// All is well, or not.
    pub(crate) fn well_if(well: bool) -> Self {
        if well { Self::Well } else { Self::Failed }
    }
}

/// An answer in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the command prints to the standard output.
    pub bytes: Vec<u8>,
    /// What a person should know of it, in sentences without their full stop.
    pub notes: Vec<String>,
    /// How it came out.
    pub outcome: Outcome,
}

impl Answer {
    /// The answer as text, which only that of `convert` may not be.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }
}

/// Answers in memory.
///
/// # Errors
/// As [`Command::answer`].
pub fn answer<'a>(
    command: &dyn Command,
    recordings: impl IntoIterator<Item = Recording<'a>>,
) -> Result<Answer, Error> {
    let mut memory = Memory::default();
    let mut recordings: Vec<Recording<'a>> = recordings.into_iter().collect();
    let outcome = command.answer(&mut recordings, &mut memory)?;
    Ok(Answer { bytes: memory.bytes, notes: memory.notes, outcome })
}

/// Bytes and notes.
#[derive(Default)]
struct Memory {
    bytes: Vec<u8>,
    notes: Vec<String>,
}

impl Output for Memory {
    fn bytes(&mut self) -> &mut dyn Write {
        &mut self.bytes
    }

    fn remark(&mut self, remark: Remark<'_>) {
        match remark {
            Remark::Note(note) => self.notes.push(note.to_owned()),
            Remark::Rejected(name, rejection) => self.notes.push(format!("{name}: {rejection}")),
            Remark::Detail(_) | Remark::Error(_) => {}
        }
    }
}
