//! A mutant: an importer with one mistake, as a deviation of the built-in reader.

use crate::outcome::Outcome;
use crate::policy::{CONTRACT, Policy};
use crate::reading::Reading;
use formats::Format;
use mcp_concord_suite::importer::Importer;
use std::cell::Cell;
use std::fmt;
use verdict::answer::Answer;

/// An importer with one mistake.
#[derive(Debug)]
pub struct Mutant {
    /// Its family and name, such as `ids/trimmed`.
    pub name: &'static str,
    /// The clauses of the reading contract that it breaks.
    pub breaks: &'static [&'static str],
    /// What the importer does, as the rest of a sentence that begins with "It".
    pub does: &'static str,
    /// The mistake.
    pub mutation: Mutation,
    /// It spoils nearly every reading: a case that kills nothing else shows little.
    pub trivial: bool,
}

/// A mistake, and the formats in which the importer makes it.
#[derive(Debug)]
pub struct Mutation {
    change: Change,
    only: Option<&'static str>,
    except: &'static [&'static str],
}

/// Another text or other bytes for those of a transcript.
type Edit<T> = Box<dyn Fn(&Format, &T) -> Option<<T as ToOwned>::Owned> + Send + Sync>;

/// Another answer.
type AnswerOf = Box<dyn Fn(&Original<'_>) -> Option<Answer> + Send + Sync>;

/// Where the mistake is made.
pub enum Change {
    /// A transcript is read as if it had another text; nothing: as it is.
    Text(Edit<str>),
    /// The same for its bytes.
    Bytes(Edit<[u8]>),
    /// What was read is changed before the contract sees it.
    Reading(Box<dyn Fn(&mut Reading) + Send + Sync>),
    /// The contract decides otherwise.
    Policy(Policy),
    /// The contract decides otherwise about challenges, and only about them.
    Challenges(Policy),
    /// The meaning is changed.
    Outcome(Box<dyn Fn(&mut Outcome) + Send + Sync>),
    /// The meaning is changed every other time.
    EveryOtherTime(Box<dyn Fn(&mut Outcome) + Send + Sync>),
    /// The answer is another one; nothing: the original one.
    Answer(AnswerOf),
}

impl fmt::Debug for Change {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Text(_) => "Text",
            Self::Bytes(_) => "Bytes",
            Self::Reading(_) => "Reading",
            Self::Policy(_) => "Policy",
            Self::Challenges(_) => "Challenges",
            Self::Outcome(_) => "Outcome",
            Self::EveryOtherTime(_) => "EveryOtherTime",
            Self::Answer(_) => "Answer",
        })
    }
}

impl From<Change> for Mutation {
    fn from(change: Change) -> Self {
        Self { change, only: None, except: &[] }
    }
}

impl Mutation {
    /// The same mistake, made only in the format of this name.
    #[must_use]
    pub fn only(self, format: &'static str) -> Self {
        Self { only: Some(format), ..self }
    }

    /// The same mistake, made in every format but these.
    #[must_use]
    pub fn except(self, formats: &'static [&'static str]) -> Self {
        Self { except: formats, ..self }
    }

    /// Whether the mistake can show in this transcript at all; spares the work where it plainly cannot.
    fn applies(&self, original: &Original<'_>) -> bool {
        let name = original.format.name;
        let here = self.only.is_none_or(|only| only == name) && !self.except.contains(&name);
        here && match self.change {
            Change::Challenges(_) => original.reading.contexts().next().is_some(),
            Change::Outcome(_) | Change::EveryOtherTime(_) => original.meaning().is_some(),
            _ => true,
        }
    }
}

/// A transcript as the original reader reads it, for any number of mutants to be tried on.
#[derive(Debug)]
pub struct Original<'t> {
    /// The format in which it is read.
    pub format: &'static Format,
    /// Its bytes.
    pub bytes: &'t [u8],
    /// What the reader found.
    pub reading: Reading,
    answer: Answer,
}

impl<'t> Original<'t> {
    /// Reads a transcript.
    #[must_use]
    pub fn read(format: &'static Format, bytes: &'t [u8]) -> Self {
        let reading = Reading::of(format, bytes);
        let answer = CONTRACT.answer(&reading, |_| {});
        Self { format, bytes, reading, answer }
    }

    /// The original answer.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// The transcript as text, where it is UTF-8.
    #[must_use]
    pub fn text(&self) -> Option<&'t str> {
        std::str::from_utf8(self.bytes).ok()
    }

    /// The original meaning, where there is one.
    #[must_use]
    pub fn meaning(&self) -> Option<&str> {
        match &self.answer {
            Answer::Meaning(meaning) => Some(meaning.text()),
            _ => None,
        }
    }

    fn reread(&self, bytes: &[u8]) -> Answer {
        CONTRACT.answer(&Reading::of(self.format, bytes), |_| {})
    }
}

impl Mutant {
    /// A mutant with its name, the clauses that it breaks, what it does and how.
    #[must_use]
    pub fn new(
        name: &'static str,
        breaks: &'static [&'static str],
        does: &'static str,
        mutation: Mutation,
    ) -> Self {
        Self { name, breaks, does, mutation, trivial: false }
    }

    /// What the mutant answers; nothing where it answers what the original reader does.
    #[must_use]
    pub fn answer(&self, original: &Original<'_>) -> Option<Answer> {
        // By thread, so that what a mutant answers does not depend on the other threads.
        thread_local! {
            static AGAIN: Cell<bool> = const { Cell::new(false) };
        }
        if !self.mutation.applies(original) {
            return None;
        }
        let answer = match &self.mutation.change {
            Change::Text(edit) => original.reread(edit(original.format, original.text()?)?.as_bytes()),
            Change::Bytes(edit) => original.reread(&edit(original.format, original.bytes)?),
            Change::Reading(edit) => {
                let mut reading = original.reading.clone();
                edit(&mut reading);
                CONTRACT.answer(&reading, |_| {})
            }
            Change::Policy(policy) | Change::Challenges(policy) => policy.answer(&original.reading, |_| {}),
            Change::Outcome(edit) => CONTRACT.answer(&original.reading, edit),
            Change::EveryOtherTime(edit) => {
                AGAIN.replace(!AGAIN.get()).then(|| CONTRACT.answer(&original.reading, edit))?
            }
            Change::Answer(answer) => answer(original)?,
        };
        (answer != original.answer).then_some(answer)
    }

    /// What the mutant answers when it is asked twice (clause SRV-SAME).
    #[must_use]
    pub fn answer_twice(&self, original: &Original<'_>) -> Option<Answer> {
        let first = self.answer(original);
        if !matches!(self.mutation.change, Change::EveryOtherTime(_)) {
            return first;
        }
        let whole = |answer: Option<Answer>| answer.unwrap_or_else(|| original.answer.clone());
        let answer = whole(first).confirmed_by(&whole(self.answer(original)));
        (answer != original.answer).then_some(answer)
    }
}

impl Importer for Mutant {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn reads(&self, format: &str) -> bool {
        formats::find(format).is_some()
    }

    fn read(&self, format: &str, transcript: &[u8]) -> Answer {
        let Some(format) = formats::find(format) else {
            return Answer::Unsupported { why: format!("there is no format {format}") };
        };
        let original = Original::read(format, transcript);
        self.answer(&original).unwrap_or(original.answer)
    }
}
