//! From recordings to a picture.
//!
//! Knows: how entries become rows, which rows are folded, how several traces are merged by time, and where findings
//! belong. Refuses to know: how a picture looks (that is [`crate::diagram`]), and files.
//!
//! Memory: what `sheet::Sheet` says, which does not grow with the length of a session; beside it a name for each of
//! up to `MOST_OPEN` open requests, and what the reader and the contract need.

mod findings;
mod merge;
mod piece;
mod sheet;

pub use findings::Findings;
pub use merge::{Reader, merge};
pub use piece::{Pen, Piece};

use crate::diagram::{Arrow, Diagram, Flag, Lane, Mark, Note, Row, Tone};
use piece::{Message, What};
use sheet::Sheet;
use std::collections::BTreeMap;
use transcript::rejection::Rejection;
use transcript::session::Side;

/// So many open requests are remembered by name; an answer to another one has none.
const MOST_OPEN: usize = 10_000;

/// Which rows are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// The beginning, the end, and what is out of the ordinary.
    Folded,
    /// The messages from one number to another, and nothing else.
    Range(u64, u64),
    /// Everything.
    All,
}

/// A picture in the making.
pub struct Drawing {
    sheet: Sheet,
    findings: Findings,
    lanes: Vec<Lane>,
    open: BTreeMap<(usize, u64), Asked>,
    messages: u64,
    unnamed: u64,
    orphans: u64,
    again: u64,
    dropped: u64,
    start: Option<i64>,
    foot: Vec<Mark>,
}

/// An open request.
struct Asked {
    row: u64,
    number: u64,
    name: String,
    side: Side,
    time: Option<i64>,
    /// It is shown for a reason, and so its answer is shown with it.
    odd: bool,
}

impl Drawing {
    /// Begins a picture of so many servers.
    #[must_use]
    pub fn new(servers: &[String], shown: Shown, findings: Findings) -> Self {
        let lane = |name: &str| Lane { name: name.to_owned(), about: String::new() };
        let mut lanes = vec![lane("client")];
        match servers {
            [_] => lanes.push(lane("server")),
            several => lanes.extend(several.iter().map(|name| lane(name))),
        }
        Self {
            sheet: Sheet::new(shown),
            findings,
            lanes,
            open: BTreeMap::new(),
            messages: 0,
            unnamed: 0,
            orphans: 0,
            again: 0,
            dropped: 0,
            start: None,
            foot: Vec::new(),
        }
    }

    /// Takes the next piece.
    pub fn take(&mut self, piece: Piece) {
        let Piece { file, offset, time, exchange, what } = piece;
        self.start = self.start.or(time);
        let time = time.zip(self.start).map(|(time, start)| time.saturating_sub(start));
        let marks = self.findings.take(file, offset);
        match what {
            What::Message(message) => self.message(file, time, exchange, *message, marks),
            What::Silent if marks.is_empty() => {}
            What::Silent => {
                self.note(Note { marks, ..note("the transport's context".to_owned(), time) }, exchange)
            }
            What::Exchange(text, tone) => {
                self.note(Note { tone, opens: exchange, marks, ..note(text, time) }, None);
            }
            What::Note(text, tone) => self.note(Note { tone, marks, ..note(text, time) }, exchange),
            What::Dropped(text) => {
                self.dropped += 1;
                self.note(Note { tone: Tone::Odd, marks, ..note(text, time) }, exchange);
            }
            What::Opened { label, command } => {
                // Several servers are told apart by their labels, unless two have the same.
                let tells = self.lanes.len() > 2
                    && !label.is_empty()
                    && self.lanes.iter().all(|lane| lane.name != label);
                if let Some(lane) = self.lanes.get_mut(file + 1) {
                    if tells {
                        lane.name.clone_from(&label);
                    }
                    lane.about.clone_from(&command);
                }
                let of = if label.is_empty() { label } else { format!(" of {label}") };
                self.note(Note { marks, ..note(format!("the trace{of} begins: {command}"), time) }, None);
            }
        }
    }

    fn note(&mut self, note: Note, band: Option<u64>) {
        let odd = note.tone != Tone::Calm || note.marks.iter().any(|mark| mark.tone != Tone::Calm);
        self.sheet.put(Row::Note(Note { band, ..note }), odd);
    }

    fn message(
        &mut self,
        file: usize,
        time: Option<i64>,
        band: Option<u64>,
        said: Message,
        marks: Vec<Mark>,
    ) {
        let Message { index, sort, id, name, detail, side, guess, answers, via, again } = said;
        let number = self.messages;
        self.messages += 1;
        let asked = answers.and_then(|index| self.open.remove(&(file, index)));
        let side = side.or(asked.as_ref().map(|asked| asked.side.other())).unwrap_or(guess);
        let server = (file + 1).min(self.lanes.len() - 1);
        let (from, to) = match side {
            Side::Client => (0, server),
            Side::Server => (server, 0),
        };
        let mut flags = Vec::new();
        if again {
            self.again += 1;
            flags.push(Flag::Redelivered);
        }
        if sort.answers() && answers.is_none() {
            self.orphans += 1;
            flags.push(Flag::Orphan);
        }
        let wrong = marks.iter().any(|mark| mark.tone != Tone::Calm);
        let odd = !flags.is_empty() || wrong || sort == crate::diagram::Sort::Error;
        let waits = !sort.answers() && id.is_some();
        let arrow = Arrow {
            number,
            from,
            to,
            sort,
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
            marks,
            band,
        };
        if let Some(asked) = &asked {
            self.sheet.answered(asked.row, odd);
        }
        let kept = odd || asked.is_some_and(|asked| asked.odd);
        let row = self.sheet.put(Row::Arrow(Box::new(arrow)), kept);
        if waits {
            if self.open.len() < MOST_OPEN {
                self.sheet.waits(row);
                self.open.insert((file, index), Asked { row, number, name, side, time, odd });
            } else {
                self.unnamed += 1;
            }
        }
    }

    /// The recording is no session from here on.
    pub fn rejected(&mut self, file: usize, name: &str, rejection: &Rejection) {
        let place = &rejection.position;
        let several = self.lanes.len() > 2;
        self.findings.drop(file, place.offset);
        let of = if several { format!("{name}, ") } else { String::new() };
        let pointer = if place.pointer.is_empty() { String::new() } else { format!(", {}", place.pointer) };
        self.foot.push(Mark {
            tone: Tone::Bad,
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
        fact(self.dropped, "body dropped by the exporter", "bodies dropped by the exporter");
        fact(folded, "message folded (--all shows it)", "messages folded (--all shows them)");
        if self.messages == 0 {
            facts.push("no messages".to_owned());
        }
        facts.extend(self.findings.totals());
        Diagram { title: title.to_owned(), about: facts, lanes: self.lanes, rows, foot: self.foot }
    }
}

fn note(text: String, time: Option<i64>) -> Note {
    Note { text, time, tone: Tone::Calm, opens: None, band: None, marks: Vec::new() }
}
