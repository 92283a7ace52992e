//! A sequence diagram as plain data, and each row as a sentence. Every string may be a stranger's.

use super::line_text::{seconds, took};
use super::source::Source;
use crate::plain::{counted, cut};
use rules::RuleVerdict;
use std::fmt::Write as _;
use transcript::meaning::EventKind;

/// A picture of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diagram {
    /// The name of the recording.
    pub(crate) title: String,
    /// What a person should know of the whole, in a few words each: the format, how many messages.
    pub(crate) about: Vec<String>,
    /// Who takes part, from left to right.
    pub(crate) participants: Vec<Participant>,
    /// What happens, from top to bottom.
    pub(crate) rows: Vec<Row>,
    /// What has no place in a row, such as the reason why the session ends here.
    pub(crate) foot: Vec<Annotation>,
}

/// Somebody who takes part: a name in a word or two, and what else is known, such as the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Participant {
    pub(crate) name: String,
    pub(crate) about: String,
}

impl Participant {
    /// One of whom only the name is known.
    pub(crate) fn named(name: &str) -> Self {
        Self { name: name.to_owned(), about: String::new() }
    }
}

/// One thing that happens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) content: RowContent,
    /// When, in milliseconds since the picture begins.
    pub(crate) time: Option<i64>,
    /// The band that it belongs to: the number that the note has which opened it.
    pub(crate) band: Option<u64>,
    /// What was found wrong with it.
    pub(crate) annotations: Vec<Annotation>,
    /// What the recording holds of it, where that is kept.
    pub(crate) source: Option<Box<Source>>,
}

impl Row {
    /// The number of the band that it opens, if it does.
    pub(crate) fn opens(&self) -> Option<u64> {
        if let RowContent::Note(note) = &self.content { note.opens } else { None }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RowContent {
    /// A message.
    Arrow(Box<Arrow>),
    /// Something else than a message.
    Note(Note),
    /// Rows that are not shown.
    Fold(Fold),
}

/// A message from one participant to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrow {
    /// Its number among the messages of the session, from 0: the index of its event.
    pub(crate) number: u64,
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) kind: EventKind,
    /// The tool or the method; of an answer, that of its request.
    pub(crate) name: String,
    /// Its correlation id, if it has one.
    pub(crate) id: Option<String>,
    /// Arguments, params, result or error as JSON, cut to what a person reads.
    pub(crate) detail: String,
    /// Of an answer: how many milliseconds its request waited.
    pub(crate) took: Option<i64>,
    /// Of an answer: the number of its request.
    pub(crate) answers: Option<u64>,
    /// How it travelled, in a few words; empty where there is nothing to say.
    pub(crate) via: String,
    /// What is out of the ordinary.
    pub(crate) flags: Vec<Flag>,
}

impl Arrow {
    /// A message of which nothing else is known.
    pub(crate) fn new(number: u64, from: usize, to: usize, kind: EventKind) -> Self {
        let (name, detail, via) = (String::new(), String::new(), String::new());
        let (id, took, answers, flags) = (None, None, None, Vec::new());
        Self { number, from, to, kind, name, id, detail, took, answers, via, flags }
    }
}

impl From<Arrow> for Row {
    fn from(arrow: Arrow) -> Self {
        RowContent::Arrow(Box::new(arrow)).into()
    }
}

impl From<RowContent> for Row {
    fn from(content: RowContent) -> Self {
        Self { content, time: None, band: None, annotations: Vec::new(), source: None }
    }
}

/// The kind of a message in words.
pub(crate) fn kind_name(kind: EventKind) -> &'static str {
    if kind == EventKind::ToolCall { "tool call" } else { kind.name() }
}

/// Whether a message of this kind answers something.
pub(crate) fn is_answer(kind: EventKind) -> bool {
    matches!(kind, EventKind::Result | EventKind::Error)
}

/// What is out of the ordinary about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flag {
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
    pub(crate) fn name(self) -> &'static str {
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Annotation {
    pub(crate) severity: Severity,
    /// What to look it up by: a rule's id, or a word such as "rejected".
    pub(crate) name: String,
    /// What is wrong, in a sentence.
    pub(crate) text: String,
}

/// How much something weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Severity {
    /// It is wrong.
    Error,
    /// It is worth a look.
    Warning,
    /// It is worth knowing.
    Note,
}

impl Severity {
    /// That of a rule's verdict at a place where it was broken.
    pub(crate) fn of_verdict(verdict: RuleVerdict) -> Self {
        match verdict {
            RuleVerdict::Fail => Self::Error,
            RuleVerdict::Warn => Self::Warning,
            _ => Self::Note,
        }
    }

    /// In words.
    pub(crate) fn name(self) -> &'static str {
        ["error", "warning", "note"][self as usize]
    }

    /// The class that styles it.
    pub(super) fn class(self) -> &'static str {
        ["bad", "odd", "calm"][self as usize]
    }

    /// A sign that distinguishes it without colours.
    pub(super) fn sign(self) -> &'static str {
        ["✗", "!", "·"][self as usize]
    }
}

/// Something else than a message: an HTTP exchange, a stream's event without one, a process that ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    /// In a few words.
    pub(crate) text: String,
    pub(crate) severity: Severity,
    /// It opens a band with this number: the rows of that band which follow belong to it.
    pub(crate) opens: Option<u64>,
}

/// Rows that are left out: how many, and of what kinds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Fold {
    /// The numbers of the first and the last message, where there is a message.
    pub(crate) span: Option<(u64, u64)>,
    /// How many calls and requests.
    pub(crate) requests: u64,
    /// How many results and errors.
    pub(crate) answers: u64,
    pub(crate) notifications: u64,
    pub(crate) notes: u64,
    /// How many of all these are out of the ordinary, and would be shown if there was room.
    pub(crate) odd: u64,
}

impl Fold {
    /// A row that is not shown.
    pub(crate) fn new(row: &Row, odd: bool) -> Self {
        let mut fold = Self { odd: u64::from(odd), ..Self::default() };
        match &row.content {
            RowContent::Arrow(arrow) => {
                fold.span = Some((arrow.number, arrow.number));
                *match arrow.kind {
                    EventKind::ToolCall | EventKind::Request => &mut fold.requests,
                    EventKind::Notification => &mut fold.notifications,
                    EventKind::Result | EventKind::Error => &mut fold.answers,
                } = 1;
            }
            _ => fold.notes = 1,
        }
        fold
    }

    /// How many messages.
    pub(crate) fn messages(&self) -> u64 {
        self.requests + self.answers + self.notifications
    }

    /// This fold and the one that follows it, as one.
    pub(crate) fn join(&mut self, next: &Self) {
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
    pub(crate) fn words(&self) -> String {
        let counts = [
            (self.requests, "request"),
            (self.answers, "answer"),
            (self.notifications, "notification"),
            (self.notes, "note"),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        let mut parts: Vec<String> = counts.map(|(count, one)| counted(count, one)).collect();
        if self.odd > 0 {
            parts.push(format!("{} of these out of the ordinary", self.odd));
        }
        let parts = parts.join(", ");
        match self.span {
            Some((from, to)) if from == to => format!("message {from} folded: {parts}"),
            Some((from, to)) => {
                format!("{} folded, {from} to {to}: {parts}", counted(self.messages(), "message"))
            }
            None => format!("folded: {parts}"),
        }
    }
}

impl Diagram {
    /// The picture in a sentence, for those who cannot see it.
    pub(crate) fn overview(&self) -> String {
        let participants: Vec<String> = self.participants.iter().map(|it| cut(&it.name, NAME)).collect();
        let about: Vec<String> = self.about.iter().map(|about| cut(about, NAME)).collect();
        let about = if about.is_empty() { String::new() } else { format!(": {}", about.join(", ")) };
        format!("Sequence diagram between {}{about}.", participants.join(" and "))
    }

    /// A row in a sentence.
    pub(crate) fn sentence(&self, row: &Row) -> String {
        let mut out = match &row.content {
            RowContent::Arrow(arrow) => self.sentence_of(arrow, row.time),
            RowContent::Note(note) => {
                let time = row.time.map(|time| format!("{}: ", seconds(time))).unwrap_or_default();
                format!("{time}{}.", cut(&note.text, DETAIL))
            }
            RowContent::Fold(fold) => format!("{}.", fold.words()),
        };
        for Annotation { severity, name, text } in &row.annotations {
            let _ = write!(out, " {} {}: {}.", severity.name(), cut(name, NAME), cut(text, DETAIL));
        }
        out
    }

    fn sentence_of(&self, arrow: &Arrow, time: Option<i64>) -> String {
        let name = |at: usize| self.participants.get(at).map(|it| cut(&it.name, NAME)).unwrap_or_default();
        let mut out = format!("Message {}", arrow.number);
        if let Some(time) = time {
            let _ = write!(out, " at {}", seconds(time));
        }
        let _ = write!(out, ", {} to {}: {}", name(arrow.from), name(arrow.to), kind_name(arrow.kind));
        if !arrow.name.is_empty() {
            let of = if is_answer(arrow.kind) { " of" } else { "" };
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
        out + "."
    }
}

/// Names and ids longer than this are cut, in characters.
const NAME: usize = 80;

/// Other texts longer than this are cut, in characters.
pub(super) const DETAIL: usize = 400;
