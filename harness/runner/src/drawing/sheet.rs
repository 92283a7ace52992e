//! Which rows of a session are shown, decided while they come.
//!
//! Knows: the beginning is shown, and the end, and what is out of the ordinary with the request or the answer that
//! belongs to it; what lies between is folded and counted. Refuses to know: what a row says.
//!
//! Memory: [`HEAD`] + [`TAIL`] + [`ODD`] rows, up to [`WAITING`] requests whose answer is awaited, and the folds
//! between them; a row is a kilobyte or two. With everything shown, every row.

use super::Shown;
use reports::diagram::{Flag, Fold, Row};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// So many rows are shown from the beginning.
pub(super) const HEAD: u64 = 40;
/// So many are shown from the end.
pub(super) const TAIL: usize = 20;
/// So many between them, where they are out of the ordinary.
pub(super) const ODD: usize = 240;
/// So many requests beyond the beginning are held until it is known whether they are answered.
pub(super) const WAITING: usize = 1_000;
/// Fewer rows than this are not worth a fold.
const WORTH: usize = 4;

#[derive(Debug)]
pub(super) struct Sheet {
    shown: Shown,
    slots: BTreeMap<u64, Slot>,
    next: u64,
    /// The latest rows, and whether each is out of the ordinary.
    tail: VecDeque<(u64, bool)>,
    /// Rows of requests that are open.
    open: BTreeSet<u64>,
    /// Those of them that stand neither at the beginning nor at the end.
    waiting: BTreeSet<u64>,
    room: usize,
    /// The last message is in the range that is shown.
    inside: bool,
    /// The last note, how it reads without its count, and how often it stood there.
    note: Option<(u64, String, u64)>,
}

#[derive(Debug)]
enum Slot {
    Row(Row),
    /// What is folded; and the rows themselves, as long as they are few.
    Folded(Fold, Vec<(u64, Row)>),
}

impl Sheet {
    pub(super) fn new(shown: Shown) -> Self {
        Self {
            shown,
            slots: BTreeMap::new(),
            next: 0,
            tail: VecDeque::new(),
            open: BTreeSet::new(),
            waiting: BTreeSet::new(),
            room: ODD,
            inside: matches!(shown, Shown::Range(0, _)),
            note: None,
        }
    }

    /// Adds a row and returns what to call it.
    pub(super) fn put(&mut self, row: Row, odd: bool) -> u64 {
        if self.is_like_the_last(&row) {
            return self.next - 1;
        }
        let at = self.next;
        self.next += 1;
        self.note = match &row {
            Row::Note(note) if note.opens.is_none() && note.marks.is_empty() => {
                Some((at, note.text.clone(), 1))
            }
            _ => None,
        };
        let number = match &row {
            Row::Arrow(arrow) => Some(arrow.number),
            _ => None,
        };
        self.slots.insert(at, Slot::Row(row));
        match self.shown {
            Shown::All => {}
            Shown::Range(from, to) => {
                // What is no message stands with the message before it.
                self.inside = number.map_or(self.inside, |number| (from..=to).contains(&number));
                if !self.inside {
                    self.fold(at);
                }
            }
            Shown::Folded => {
                self.tail.push_back((at, odd));
                if self.tail.len() > TAIL
                    && let Some((at, odd)) = self.tail.pop_front()
                {
                    self.settle(at, odd);
                }
            }
        }
        at
    }

    /// The row is a request that waits for an answer.
    pub(super) fn waits(&mut self, row: u64) {
        self.open.insert(row);
    }

    /// The request of this row was answered; where the answer is out of the ordinary, both are shown.
    pub(super) fn answered(&mut self, row: u64, odd: bool) {
        self.open.remove(&row);
        if self.waiting.remove(&row) {
            self.settle(row, odd);
        } else if odd && let Some((_, kept)) = self.tail.iter_mut().find(|(at, _)| *at == row) {
            *kept = true;
        }
    }

    /// Nobody answered the request of this row.
    pub(super) fn unanswered(&mut self, row: u64) {
        self.open.remove(&row);
        let flag = |row: &mut Row| {
            if let Row::Arrow(arrow) = row {
                arrow.flags.insert(0, Flag::Unanswered);
            }
        };
        match self.slots.range_mut(..=row).next_back() {
            Some((at, Slot::Row(found))) if *at == row => flag(found),
            // A fold of few rows is opened at the end, and they are shown as they are.
            Some((_, Slot::Folded(_, few))) => {
                few.iter_mut().filter(|(at, _)| *at == row).for_each(|(_, found)| flag(found));
            }
            _ => {}
        }
        if self.waiting.remove(&row) {
            self.settle(row, true);
        }
    }

    /// The rows in order, and how many messages are folded.
    pub(super) fn finish(mut self) -> (Vec<Row>, u64) {
        for row in std::mem::take(&mut self.waiting) {
            self.settle(row, true);
        }
        let mut folded = 0;
        let mut rows = Vec::new();
        for slot in self.slots.into_values() {
            match slot {
                Slot::Row(row) => rows.push(row),
                Slot::Folded(_, few) if !few.is_empty() && matches!(self.shown, Shown::Folded) => {
                    rows.extend(few.into_iter().map(|(_, row)| row));
                }
                Slot::Folded(fold, _) => {
                    folded += fold.messages();
                    rows.push(Row::Fold(fold));
                }
            }
        }
        (rows, folded)
    }

    /// Whether a note says what the last one said; it is counted there then.
    fn is_like_the_last(&mut self, row: &Row) -> bool {
        let (Row::Note(new), Some((at, text, count))) = (row, &mut self.note) else { return false };
        if new.text != *text || new.opens.is_some() || !new.marks.is_empty() {
            return false;
        }
        match self.slots.get_mut(at) {
            Some(Slot::Row(Row::Note(note))) if note.band == new.band => {
                *count += 1;
                note.text = format!("{text} (×{count})");
                true
            }
            _ => false,
        }
    }

    /// Decides on a row that is at the end no longer.
    fn settle(&mut self, row: u64, odd: bool) {
        if row < HEAD {
            return;
        }
        if odd && self.room > 0 {
            self.room -= 1;
        } else if self.open.contains(&row) && self.waiting.len() < WAITING {
            self.waiting.insert(row);
        } else {
            self.fold(row);
        }
    }

    /// Folds a row, together with the folds beside it.
    fn fold(&mut self, at: u64) {
        let Some(Slot::Row(row)) = self.slots.remove(&at) else { return };
        let mut fold = match &row {
            Row::Arrow(arrow) => Fold::of(arrow),
            _ => Fold { notes: 1, ..Fold::default() },
        };
        let mut rows = vec![(at, row)];
        let mut start = at;
        let before =
            self.slots.range(..at).next_back().map(|(key, slot)| (*key, matches!(slot, Slot::Folded(..))));
        if let Some((key, true)) = before
            && let Some(Slot::Folded(mut joined, few)) = self.slots.remove(&key)
        {
            joined.join(&fold);
            fold = joined;
            rows = few_of(few, rows);
            start = key;
        }
        let after = self.slots.range(at..).next().map(|(key, slot)| (*key, matches!(slot, Slot::Folded(..))));
        if let Some((key, true)) = after
            && let Some(Slot::Folded(next, few)) = self.slots.remove(&key)
        {
            fold.join(&next);
            rows = few_of(rows, few);
        }
        self.slots.insert(start, Slot::Folded(fold, rows));
    }
}

/// Rows of two folds, as long as they are few; an empty list stands for many.
fn few_of(mut one: Vec<(u64, Row)>, other: Vec<(u64, Row)>) -> Vec<(u64, Row)> {
    if one.is_empty() || other.is_empty() || one.len() + other.len() >= WORTH {
        return Vec::new();
    }
    one.extend(other);
    one
}
