//! A sequence diagram as plain data, and each row as a sentence. Every string may be a stranger's.

use super::line_text::{cut, seconds, took};
use super::source::Source;
use crate::plain::counted;
use serde::Serialize;
use std::fmt::Write as _;

/// A picture of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// What is drawn: the name of the recording.
    pub title: String,
    /// What a person should know of the whole, in a few words each: the format, how many messages.
    pub about: Vec<String>,
    /// Who takes part, from left to right.
    pub participants: Vec<Participant>,
    /// What happens, from top to bottom.
    pub rows: Vec<Row>,
    /// What has no place in a row, such as the reason why the session ends here.
    pub foot: Vec<Annotation>,
}

/// Somebody who takes part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Participant {
    /// In a word or two.
    pub name: String,
    /// What else is known, such as the command line.
    pub about: String,
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Row {
    /// A message.
    Arrow(Box<Arrow>),
    /// Something that is no message.
    Note(Note),
    /// Rows that are not shown.
    Fold(Fold),
}

impl Row {
    /// What the recording holds of it, where that is kept.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        match self {
            Self::Arrow(arrow) => arrow.source.as_deref(),
            Self::Note(note) => note.source.as_deref(),
            Self::Fold(_) => None,
        }
    }
}

/// A message from one participant to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// Its number among the messages of the session, from 0: the index of its event.
    pub number: u64,
    /// The participant that it comes from.
    pub from: usize,
    /// The participant that it goes to.
    pub to: usize,
    /// What it is.
    pub kind: MessageKind,
    /// The tool or the method; of an answer, that of its request.
    pub name: String,
    /// Its correlation id, if it has one.
    pub id: Option<String>,
    /// Arguments, params, result or error as JSON, cut to what a person reads.
    pub detail: String,
    /// When, in milliseconds since the picture begins.
    pub time: Option<i64>,
    /// Of an answer: how many milliseconds its request waited.
    pub took: Option<i64>,
    /// Of an answer: the number of its request.
    pub answers: Option<u64>,
    /// How it travelled, in a few words; empty where there is nothing to say.
    pub via: String,
    /// What is out of the ordinary.
    pub flags: Vec<Flag>,
    /// What was found wrong with it.
    pub annotations: Vec<Annotation>,
    /// The band that it belongs to: the number of the note that opened it.
    pub band: Option<u64>,
    /// What the recording holds of it, where that is kept.
    pub source: Option<Box<Source>>,
}

/// The sorts of messages, by the words of the normal form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// `tools/call`.
    ToolCall,
    /// Any other request.
    Request,
    /// A message that nobody answers.
    Notification,
    /// An answer.
    Result,
    /// An answer that something went wrong.
    Error,
}

impl MessageKind {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ToolCall => "tool call",
            Self::Request => "request",
            Self::Notification => "notification",
            Self::Result => "result",
            Self::Error => "error",
        }
    }

    /// Whether it answers something.
    #[must_use]
    pub fn answers(self) -> bool {
        matches!(self, Self::Result | Self::Error)
    }
}

/// What is out of the ordinary about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flag {
    /// A request that nobody answered.
    Unanswered,
    /// An answer that nothing asked for.
    Orphan,
    /// An event that was delivered before.
    Redelivered,
    /// The first event in which two readings differ.
    Differs,
}

impl Flag {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Unanswered => "never answered",
            Self::Orphan => "orphan",
            Self::Redelivered => "delivered again",
            Self::Differs => "differs here",
        }
    }

    pub(super) fn severity(self) -> Severity {
        match self {
            Self::Unanswered | Self::Differs => Severity::Error,
            Self::Orphan | Self::Redelivered => Severity::Warning,
        }
    }
}

/// Something that was found, where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Annotation {
    /// How much it weighs.
    pub severity: Severity,
    /// What to look it up by: a rule's id, or a word such as "rejected".
    pub name: String,
    /// What is wrong, in a sentence.
    pub text: String,
}

/// How much something weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// It is wrong.
    Error,
    /// It is worth a look.
    Warning,
    /// It is worth knowing.
    Note,
}

impl Severity {
    /// In words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }

    /// The class that styles it.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Error => "bad",
            Self::Warning => "odd",
            Self::Note => "calm",
        }
    }

    /// Told apart without colours.
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Error => "✗",
            Self::Warning => "!",
            Self::Note => "·",
        }
    }
}

/// Something that is no message: an HTTP exchange, a stream's event without one, a process that ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// In a few words.
    pub text: String,
    /// When, in milliseconds since the picture begins.
    pub time: Option<i64>,
    /// How much it weighs.
    pub severity: Severity,
    /// It opens a band with this number: the rows of that band which follow belong to it.
    pub opens: Option<u64>,
    /// The band that it belongs to.
    pub band: Option<u64>,
    /// What was found wrong with it.
    pub annotations: Vec<Annotation>,
    /// What the recording holds of it, where that is kept.
    pub source: Option<Box<Source>>,
}

/// Rows that are left out: how many, and of what sorts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fold {
    /// The numbers of the first and the last message, where there is a message.
    pub span: Option<(u64, u64)>,
    /// How many calls and requests.
    pub requests: u64,
    /// How many results and errors.
    pub answers: u64,
    /// How many notifications.
    pub notifications: u64,
    /// How many notes.
    pub notes: u64,
    /// How many of all these are out of the ordinary, and would be shown if there was room.
    pub odd: u64,
}

impl Fold {
    /// How many messages.
    #[must_use]
    pub fn messages(&self) -> u64 {
        self.requests + self.answers + self.notifications
    }

    /// This fold and the one that follows it, as one.
    pub fn join(&mut self, next: &Self) {
        self.span = match (self.span, next.span) {
            (Some((from, end)), Some((start, to))) => Some((from.min(start), to.max(end))),
            (one, other) => one.or(other),
        };
        self.requests += next.requests;
        self.answers += next.answers;
        self.notifications += next.notifications;
        self.notes += next.notes;
        self.odd += next.odd;
    }

    /// In words.
    #[must_use]
    pub fn words(&self) -> String {
        let mut parts = Vec::new();
        for (count, one) in [
            (self.requests, "request"),
            (self.answers, "answer"),
            (self.notifications, "notification"),
            (self.notes, "note"),
        ] {
            if count > 0 {
                parts.push(counted(count, one));
            }
        }
        if self.odd > 0 {
            parts.push(format!("{} of these out of the ordinary", self.odd));
        }
        match self.span {
            Some((from, to)) if from == to => format!("message {from} folded: {}", parts.join(", ")),
            Some((from, to)) => format!(
                "{} folded, {from} to {to}: {}",
                counted(self.messages(), "message"),
                parts.join(", ")
            ),
            None => format!("folded: {}", parts.join(", ")),
        }
    }
}

impl Diagram {
    /// The picture in a sentence, for whoever cannot see it.
    #[must_use]
    pub fn overview(&self) -> String {
        let participants: Vec<String> =
            self.participants.iter().map(|participant| cut(&participant.name, NAME)).collect();
        let about: Vec<String> = self.about.iter().map(|about| cut(about, NAME)).collect();
        let mut out = format!("Sequence diagram between {}", participants.join(" and "));
        if !about.is_empty() {
            let _ = write!(out, ": {}", about.join(", "));
        }
        out.push('.');
        out
    }

    /// A row in a sentence.
    #[must_use]
    pub fn sentence(&self, row: &Row) -> String {
        match row {
            Row::Arrow(arrow) => self.sentence_of(arrow),
            Row::Note(note) => {
                let mut out = note.time.map(|time| format!("{}: ", seconds(time))).unwrap_or_default();
                out.push_str(&cut(&note.text, DETAIL));
                out.push('.');
                told(&note.annotations, &mut out);
                out
            }
            Row::Fold(fold) => format!("{}.", fold.words()),
        }
    }

    fn sentence_of(&self, arrow: &Arrow) -> String {
        let participant = |participant: usize| {
            self.participants
                .get(participant)
                .map(|participant| cut(&participant.name, NAME))
                .unwrap_or_default()
        };
        let mut out = format!("Message {}", arrow.number);
        if let Some(time) = arrow.time {
            let _ = write!(out, " at {}", seconds(time));
        }
        let _ =
            write!(out, ", {} to {}: {}", participant(arrow.from), participant(arrow.to), arrow.kind.name());
        if !arrow.name.is_empty() {
            let of = if arrow.kind.answers() { " of" } else { "" };
            let _ = write!(out, "{of} {}", cut(&arrow.name, NAME));
        }
        if let Some(id) = &arrow.id {
            let _ = write!(out, ", id {}", cut(id, NAME));
        }
        if let Some(answers) = arrow.answers {
            let _ = write!(out, ", answers message {answers}");
        }
        if let Some(time) = arrow.took {
            let _ = write!(out, " after {}", took(time));
        }
        if !arrow.via.is_empty() {
            let _ = write!(out, ", {}", cut(&arrow.via, NAME));
        }
        for flag in &arrow.flags {
            let _ = write!(out, ", {}", flag.name());
        }
        if !arrow.detail.is_empty() {
            let _ = write!(out, ": {}", cut(&arrow.detail, DETAIL));
        }
        out.push('.');
        told(&arrow.annotations, &mut out);
        out
    }
}

/// Names and ids longer than this are cut, in characters.
pub(super) const NAME: usize = 80;

/// Other texts longer than this are cut, in characters.
pub(super) const DETAIL: usize = 400;

fn told(annotations: &[Annotation], out: &mut String) {
    for annotation in annotations {
        let _ = write!(
            out,
            " {} {}: {}.",
            annotation.severity.name(),
            cut(&annotation.name, NAME),
            cut(&annotation.text, DETAIL)
        );
    }
}
