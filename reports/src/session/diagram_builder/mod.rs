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

pub(crate) use entry_summary::{EntrySummarizer, EntrySummary};
pub(crate) use findings::Findings;
pub use folded_rows::RowSelection;
pub(crate) use merge::{Reader, merge};

use crate::session::diagram::model::{
    Annotation, Diagram, Flag, Participant, Row, RowContent, Severity, is_answer,
};
use crate::session::diagram::source::Source;
use entry_summary::EntryKind;
use folded_rows::FoldedRows;
use std::collections::BTreeMap;
use transcript::meaning::EventKind;
use transcript::rejection::Rejection;
use transcript::session::Side;

/// How many open requests are remembered by name; an answer to another one has none.
const MOST_OPEN: usize = 10_000;

/// How many bytes of what the shown entries hold are kept; of the others it is said how much they hold.
const MOST_KEPT: u64 = 64 << 20;

/// A picture in the making.
#[derive(Default)]
pub(crate) struct DiagramBuilder {
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
    /// Begins a picture of these servers.
    pub(crate) fn new(servers: &[String], shown: RowSelection, findings: Findings) -> Self {
        let mut participants = vec![Participant::named("client")];
        match servers {
            [_] => participants.push(Participant::named("server")),
            several => participants.extend(several.iter().map(|name| Participant::named(name))),
        }
        let sheet = FoldedRows::new(shown);
        Self { sheet, findings, participants, shown, room: MOST_KEPT, ..Self::default() }
    }

    /// Takes the next piece.
    pub(crate) fn take(&mut self, piece: EntrySummary) {
        let EntrySummary { file, offset, exchange, kind, mut row } = piece;
        row.source = row.source.map(|source| self.within(source));
        self.start = self.start.or(row.time);
        row.time = row.time.zip(self.start).map(|(time, start)| time.saturating_sub(start));
        row.annotations = self.findings.take(file, offset);
        row.band = exchange;
        match (kind, &mut row.content) {
            (EntryKind::Silent, _) if row.annotations.is_empty() && row.source.is_none() => return,
            (EntryKind::Message { index, side, guess, again }, _) => {
                return self.message((file, index), (side, guess), again, row);
            }
            (EntryKind::Exchange, RowContent::Note(note)) => (note.opens, row.band) = (exchange, None),
            (EntryKind::Dropped, _) => self.dropped += 1,
            (EntryKind::Opened(label), RowContent::Note(note)) => {
                note.text = self.opened(file, label, &note.text);
                row.band = None;
            }
            _ => {}
        }
        let severe = matches!(&row.content, RowContent::Note(note) if note.severity != Severity::Note);
        let odd = severe || is_odd(&row.annotations);
        self.sheet.put(row, odd);
    }

    /// A server's trace begins; what to say of that.
    fn opened(&mut self, file: usize, label: String, command: &str) -> String {
        // Where there is one server, its command says enough.
        let of = match self.participants.len() > 2 && !label.is_empty() {
            true => format!(" of {label}"),
            false => String::new(),
        };
        let text = format!("recording{of} starts: {command}");
        // Several servers are known by their labels, unless two have the same.
        let is_name = !of.is_empty() && self.participants.iter().all(|other| other.name != label);
        if let Some(participant) = self.participants.get_mut(file + 1) {
            participant.about = command.to_owned();
            if is_name {
                participant.name = label;
            }
        }
        text
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

    /// Takes a message with its file and the index of its event, and its sender with a guess at that.
    fn message(
        &mut self,
        (file, index): (usize, u64),
        (side, guess): (Option<Side>, Side),
        again: bool,
        mut row: Row,
    ) {
        let RowContent::Arrow(arrow) = &mut row.content else { return };
        let number = self.messages;
        self.messages += 1;
        let asked = arrow.answers.and_then(|index| self.open.remove(&(file, index)));
        let side = side.or(asked.as_ref().map(|asked| asked.side.other())).unwrap_or(guess);
        let server = (file + 1).min(self.participants.len() - 1);
        (arrow.from, arrow.to) = match side {
            Side::Client => (0, server),
            Side::Server => (server, 0),
        };
        if again {
            self.again += 1;
            arrow.flags.push(Flag::Redelivered);
        }
        if is_answer(arrow.kind) && arrow.answers.is_none() {
            self.orphans += 1;
            arrow.flags.push(Flag::Orphan);
        }
        arrow.number = number;
        arrow.answers = asked.as_ref().map(|asked| asked.number);
        let waits = !is_answer(arrow.kind) && arrow.id.is_some();
        let name = arrow.name.clone();
        let odd = !arrow.flags.is_empty() || arrow.kind == EventKind::Error || is_odd(&row.annotations);
        let mut kept = odd;
        if let Some(asked) = asked {
            // An archive knows when an exchange ended and not when a message came, so that an answer may seem early.
            let took = row.time.zip(asked.time).map(|(now, then)| now.saturating_sub(then));
            arrow.took = took.filter(|took| *took >= 0);
            arrow.name = asked.name;
            kept |= asked.odd;
            self.sheet.answered(asked.row, odd);
        }
        let time = row.time;
        let row = self.sheet.put(row, kept);
        if waits {
            if self.open.len() < MOST_OPEN {
                self.sheet.waits(row);
                self.open.insert((file, index), PendingRequest { row, number, name, side, time, odd });
            } else {
                self.unnamed += 1;
            }
        }
    }

    /// The recording was rejected here.
    pub(crate) fn rejected(&mut self, file: usize, name: &str, rejection: &Rejection) {
        let place = &rejection.position;
        let several = self.participants.len() > 2;
        self.findings.drop(file, place.offset);
        let of = if several { format!("{name}, ") } else { String::new() };
        let pointer = if place.pointer.is_empty() { String::new() } else { format!(", {}", place.pointer) };
        self.foot.push(Annotation {
            severity: Severity::Error,
            name: format!("rejected: {}", rejection.code.name()),
            text: format!(
                "{}, by {} ({of}line {}, column {}{pointer}). What came before it is drawn, but is not a \
                 session.",
                rejection.message, rejection.clause, place.line, place.column
            ),
        });
    }

    /// The picture, with what is known of the whole under its title.
    pub(crate) fn finish(mut self, title: &str, about: Vec<String>) -> Diagram {
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
        let [one, several] = match self.shown {
            RowSelection::Range(..) => {
                ["message not drawn (--from, --to)", "messages not drawn (--from, --to)"]
            }
            _ => ["message folded (--all shows it)", "messages folded (--all shows them)"],
        };
        fact(folded, one, several);
        if let RowSelection::Range(from, _) = self.shown
            && self.messages > 0
            && from >= self.messages
        {
            facts.push(format!("--from {from} is after the last message, {}", self.messages - 1));
        }
        if self.messages == 0 {
            facts.push("no messages".to_owned());
        }
        facts.extend(self.findings.totals());
        let Self { participants, foot, .. } = self;
        Diagram { title: title.to_owned(), about: facts, participants, rows, foot }
    }
}

fn is_odd(annotations: &[Annotation]) -> bool {
    annotations.iter().any(|annotation| annotation.severity != Severity::Note)
}
