//! From recordings to a picture.
//!
//! How entries become rows, which rows are folded, how several traces are merged by time, and where findings belong.
//!
//! Memory: what `folded_rows::FoldedRows` says, which does not grow with the length of a session; beside it a name for each of
//! up to `MOST_OPEN` open requests, and what the reader and the contract need. Where what entries hold is kept, `MOST_KEPT`
//! bytes of that too, unless everything is shown.

mod entry_summary;
mod findings;
mod folded_rows;
mod merge;
mod whole_entry;

pub use entry_summary::{EntrySummarizer, EntrySummary};
pub use findings::Findings;
pub use folded_rows::RowSelection;
pub use merge::{Reader, merge};

use crate::diagram::{Annotation, Arrow, Diagram, Flag, Note, Participant, Row, Severity, Source};
use entry_summary::{Message, What};
use folded_rows::FoldedRows;
use std::collections::BTreeMap;
use transcript::rejection::Rejection;
use transcript::session::Side;

/// So many open requests are remembered by name; an answer to another one has none.
const MOST_OPEN: usize = 10_000;

/// So much of what the shown entries hold is kept, in bytes; of the others it is said how much they hold.
const MOST_KEPT: u64 = 64 << 20;

/// A picture in the making.
pub struct DiagramBuilder {
    sheet: FoldedRows,
    findings: Findings,
    participants: Vec<Participant>,
    open: BTreeMap<(usize, u64), PendingRequest>,
    messages: u64,
    unnamed: u64,
    orphans: u64,
    again: u64,
    dropped: u64,
    start: Option<i64>,
    shown: RowSelection,
    /// How much may still be kept of what entries hold, and of how many it was left out.
    room: u64,
    emptied: u64,
    foot: Vec<Annotation>,
}

/// An open request.
struct PendingRequest {
    row: u64,
    number: u64,
    name: String,
    side: Side,
    time: Option<i64>,
    /// It is shown for a reason, and so its answer is shown with it.
    odd: bool,
}

impl DiagramBuilder {
    /// Begins a picture of so many servers.
    #[must_use]
    pub fn new(servers: &[String], shown: RowSelection, findings: Findings) -> Self {
        let participant = |name: &str| Participant { name: name.to_owned(), about: String::new() };
        let mut participants = vec![participant("client")];
        match servers {
            [_] => participants.push(participant("server")),
            several => participants.extend(several.iter().map(|name| participant(name))),
        }
        Self {
            sheet: FoldedRows::new(shown),
            findings,
            participants,
            open: BTreeMap::new(),
            messages: 0,
            unnamed: 0,
            orphans: 0,
            again: 0,
            dropped: 0,
            start: None,
            shown,
            room: MOST_KEPT,
            emptied: 0,
            foot: Vec::new(),
        }
    }

    /// Takes the next piece.
    pub fn take(&mut self, piece: EntrySummary) {
        let EntrySummary { file, offset, time, exchange, what, source } = piece;
        let source = source.map(|source| self.within(source));
        self.start = self.start.or(time);
        let time = time.zip(self.start).map(|(time, start)| time.saturating_sub(start));
        let annotations = self.findings.take(file, offset);
        match what {
            What::Message(message) => self.message(file, exchange, *message, time, (annotations, source)),
            What::Silent(_) if annotations.is_empty() && source.is_none() => {}
            What::Silent(text) => {
                self.note(Note { annotations, source, ..note(text.to_owned(), time) }, exchange);
            }
            What::Exchange(text, severity) => {
                self.note(Note { severity, opens: exchange, annotations, source, ..note(text, time) }, None);
            }
            What::Note(text, severity) => {
                self.note(Note { severity, annotations, source, ..note(text, time) }, exchange);
            }
            What::Dropped(text) => {
                self.dropped += 1;
                let severity = Severity::Warning;
                self.note(Note { severity, annotations, source, ..note(text, time) }, exchange);
            }
            What::Opened { label, command } => {
                // Several servers are told apart by their labels, unless two have the same.
                let tells = self.participants.len() > 2
                    && !label.is_empty()
                    && self.participants.iter().all(|participant| participant.name != label);
                if let Some(participant) = self.participants.get_mut(file + 1) {
                    if tells {
                        participant.name.clone_from(&label);
                    }
                    participant.about.clone_from(&command);
                }
                // Where there is one server, its command says enough.
                let of = match self.participants.len() > 2 && !label.is_empty() {
                    true => format!(" of {label}"),
                    false => String::new(),
                };
                let text = format!("recording{of} starts: {command}");
                self.note(Note { annotations, source, ..note(text, time) }, None);
            }
        }
    }

    /// What an entry holds, as far as there is room for it. What is not shown takes none.
    fn within(&mut self, mut source: Box<Source>) -> Box<Source> {
        match self.shown {
            RowSelection::All => {}
            RowSelection::Range(from, to) if !(from..=to).contains(&self.messages) => source.empty(),
            _ => match self.room.checked_sub(source.size()) {
                Some(room) => self.room = room,
                None => {
                    source.empty();
                    self.emptied += 1;
                }
            },
        }
        source
    }

    fn note(&mut self, note: Note, band: Option<u64>) {
        let odd = note.severity != Severity::Note
            || note.annotations.iter().any(|annotation| annotation.severity != Severity::Note);
        self.sheet.put(Row::Note(Note { band, ..note }), odd);
    }

    fn message(
        &mut self,
        file: usize,
        band: Option<u64>,
        said: Message,
        time: Option<i64>,
        (annotations, source): (Vec<Annotation>, Option<Box<Source>>),
    ) {
        let Message { index, kind, id, name, detail, side, guess, answers, via, again } = said;
        let number = self.messages;
        self.messages += 1;
        let asked = answers.and_then(|index| self.open.remove(&(file, index)));
        let side = side.or(asked.as_ref().map(|asked| asked.side.other())).unwrap_or(guess);
        let server = (file + 1).min(self.participants.len() - 1);
        let (from, to) = match side {
            Side::Client => (0, server),
            Side::Server => (server, 0),
        };
        let mut flags = Vec::new();
        if again {
            self.again += 1;
            flags.push(Flag::Redelivered);
        }
        if kind.answers() && answers.is_none() {
            self.orphans += 1;
            flags.push(Flag::Orphan);
        }
        let wrong = annotations.iter().any(|annotation| annotation.severity != Severity::Note);
        let odd = !flags.is_empty() || wrong || kind == crate::diagram::MessageKind::Error;
        let waits = !kind.answers() && id.is_some();
        let arrow = Arrow {
            number,
            from,
            to,
            kind,
            name: asked.as_ref().map_or_else(|| name.clone(), |asked| asked.name.clone()),
            id,
            detail,
            time,
            // An archive knows when an exchange ended and not when a message came, so that an answer may seem early.
            took: time
                .zip(asked.as_ref().and_then(|asked| asked.time))
                .map(|(now, then)| now.saturating_sub(then))
                .filter(|took| *took >= 0),
            answers: asked.as_ref().map(|asked| asked.number),
            via,
            flags,
            annotations,
            band,
            source,
        };
        if let Some(asked) = &asked {
            self.sheet.answered(asked.row, odd);
        }
        let kept = odd || asked.is_some_and(|asked| asked.odd);
        let row = self.sheet.put(Row::Arrow(Box::new(arrow)), kept);
        if waits {
            if self.open.len() < MOST_OPEN {
                self.sheet.waits(row);
                self.open.insert((file, index), PendingRequest { row, number, name, side, time, odd });
            } else {
                self.unnamed += 1;
            }
        }
    }

    /// The recording is no session from here on.
    pub fn rejected(&mut self, file: usize, name: &str, rejection: &Rejection) {
        let place = &rejection.position;
        let several = self.participants.len() > 2;
        self.findings.drop(file, place.offset);
        let of = if several { format!("{name}, ") } else { String::new() };
        let pointer = if place.pointer.is_empty() { String::new() } else { format!(", {}", place.pointer) };
        self.foot.push(Annotation {
            severity: Severity::Error,
            name: format!("rejected: {}", rejection.code.name()),
            text: format!(
                "{}, by {} ({of}line {}, column {}{pointer}). What was said before it is drawn; none of it is a \
                 session.",
                rejection.message, rejection.clause, place.line, place.column
            ),
        });
    }

    /// The picture. `formats` and what else is known of the whole stand under its title.
    #[must_use]
    pub fn finish(mut self, title: &str, about: Vec<String>) -> Diagram {
        let open = self.open.len() as u64;
        let cut_short = !self.foot.is_empty();
        // Whether a request would have been answered behind the place of a rejection, nobody knows.
        if !cut_short {
            for asked in self.open.values() {
                self.sheet.unanswered(asked.row);
            }
        }
        self.foot.extend(self.findings.rest(cut_short));
        let (rows, folded) = self.sheet.finish();
        let mut facts = about;
        let mut fact = |count: u64, one: &str, several: &str| {
            if count > 0 {
                facts.push(format!("{count} {}", if count == 1 { one } else { several }));
            }
        };
        fact(self.messages, "message", "messages");
        let never = if cut_short { "open where it ends" } else { "never answered" };
        fact(open, never, never);
        fact(self.unnamed, "request too many to follow", "requests too many to follow");
        fact(self.orphans, "orphan", "orphans");
        fact(self.again, "delivered again", "delivered again");
        fact(self.dropped, "body missing", "bodies missing");
        fact(
            self.emptied,
            "entry without its text, for which there is no room (--from or --all shows it)",
            "entries without their texts, for which there is no room (--from or --all shows them)",
        );
        fact(folded, "message folded (--all shows it)", "messages folded (--all shows them)");
        if self.messages == 0 {
            facts.push("no messages".to_owned());
        }
        facts.extend(self.findings.totals());
        Diagram {
            title: title.to_owned(),
            about: facts,
            participants: self.participants,
            rows,
            foot: self.foot,
        }
    }
}

fn note(text: String, time: Option<i64>) -> Note {
    Note {
        text,
        time,
        severity: Severity::Note,
        opens: None,
        band: None,
        annotations: Vec::new(),
        source: None,
    }
}
