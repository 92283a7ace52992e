//! Which rows of a session are shown, decided while they come.
//!
//! The beginning is shown, and the end, and what is out of the ordinary with the request or the answer that belongs to
//! it; what lies between is folded and counted.
//!
//! Memory: [`HEAD`] + [`TAIL`] + [`ODD`] rows, up to [`WAITING`] requests whose answer is awaited, and between two of
//! them a fold or up to three rows that are not worth one; a row is a kilobyte or two. With everything shown, every row.

use crate::session::diagram::model::{Flag, Fold, Row, RowContent};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many rows are shown from the beginning.
pub(super) const HEAD: u64 = 40;
/// How many are shown from the end.
pub(super) const TAIL: usize = 20;
/// How many between them, where they are out of the ordinary.
pub(super) const ODD: usize = 240;
/// How many requests beyond the beginning are held until it is known whether they are answered.
pub(super) const WAITING: usize = 1_000;
/// Fewer rows than this are not worth a fold.
const WORTH: usize = 4;

/// Which rows are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowSelection {
    /// The beginning, the end, and what is out of the ordinary.
    #[default]
    Folded,
    /// The messages from one number to another, and nothing else.
    Range(u64, u64),
    /// Everything.
    All,
}

#[derive(Debug, Default)]
pub(super) struct FoldedRows {
    shown: RowSelection,
    slots: BTreeMap<u64, Stored>,
    next: u64,
    /// The latest rows, and whether each is out of the ordinary.
    tail: VecDeque<(u64, bool)>,
    /// Rows of requests that are open.
    open: BTreeSet<u64>,
    /// Those of them that are neither at the beginning nor at the end.
    waiting: BTreeSet<u64>,
    room: usize,
    /// The last message is in the range that is shown.
    inside: bool,
    /// The last note, how it reads without its count, and how often it stood there.
    note: Option<(u64, String, u64)>,
}

#[derive(Debug)]
enum Stored {
    Row(Row),
    /// What is folded; and the rows themselves, as long as they are few.
    Folded(Fold, Vec<(u64, Row)>),
}

impl FoldedRows {
    pub(super) fn new(shown: RowSelection) -> Self {
        let inside = matches!(shown, RowSelection::Range(0, _));
        Self { shown, room: ODD, inside, ..Self::default() }
    }

    /// Adds a row and returns what to call it.
    pub(super) fn put(&mut self, row: Row, odd: bool) -> u64 {
        if self.is_like_the_last(&row) {
            return self.next - 1;
        }
        let at = self.next;
        self.next += 1;
        let (number, text) = match &row.content {
            RowContent::Arrow(arrow) => (Some(arrow.number), None),
            RowContent::Note(note) => (None, Some(note.text.clone())),
            RowContent::Fold(_) => (None, None),
        };
        let plain = row.opens().is_none() && row.annotations.is_empty() && row.source.is_none();
        self.note = text.filter(|_| plain).map(|text| (at, text, 1));
        self.slots.insert(at, Stored::Row(row));
        match self.shown {
            RowSelection::All => {}
            RowSelection::Range(from, to) => {
                // A note goes with the message before it.
                self.inside = number.map_or(self.inside, |number| (from..=to).contains(&number));
                if !self.inside {
                    self.fold(at, false);
                }
            }
            RowSelection::Folded => {
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
            if let RowContent::Arrow(arrow) = &mut row.content {
                arrow.flags.insert(0, Flag::Unanswered);
            }
        };
        match self.slots.range_mut(..=row).next_back() {
            Some((at, Stored::Row(found))) if *at == row => flag(found),
            // A fold of few rows is opened at the end, and they are shown as they are.
            Some((_, Stored::Folded(_, few))) => {
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
        self.open.clear();
        for row in std::mem::take(&mut self.waiting) {
            self.settle(row, true);
        }
        let mut folded = 0;
        let mut rows = Vec::new();
        for slot in self.slots.into_values() {
            match slot {
                Stored::Row(row) => rows.push(row),
                Stored::Folded(_, few) if !few.is_empty() && matches!(self.shown, RowSelection::Folded) => {
                    rows.extend(few.into_iter().map(|(_, row)| row));
                }
                Stored::Folded(fold, _) => {
                    folded += fold.messages();
                    rows.push(RowContent::Fold(fold).into());
                }
            }
        }
        (rows, folded)
    }

    /// Whether a note says what the last one said; it is counted there then.
    fn is_like_the_last(&mut self, row: &Row) -> bool {
        let (RowContent::Note(new), Some((at, text, count))) = (&row.content, &mut self.note) else {
            return false;
        };
        if new.text != *text || new.opens.is_some() || !row.annotations.is_empty() {
            return false;
        }
        let Some(Stored::Row(before)) = self.slots.get_mut(at) else { return false };
        match &mut before.content {
            RowContent::Note(note) if before.band == row.band => {
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
            self.fold(row, odd);
        }
    }

    /// Folds a row, together with the folds beside it.
    fn fold(&mut self, at: u64, odd: bool) {
        let Some(Stored::Row(row)) = self.slots.remove(&at) else { return };
        let mut fold = Fold::new(&row, odd);
        let mut rows = vec![(at, row)];
        let mut start = at;
        let folded = |(key, slot): (&u64, &Stored)| matches!(slot, Stored::Folded(..)).then_some(*key);
        if let Some(key) = self.slots.range(..at).next_back().and_then(folded)
            && let Some(Stored::Folded(mut joined, few)) = self.slots.remove(&key)
        {
            joined.join(&fold);
            fold = joined;
            rows = few_of(few, rows);
            start = key;
        }
        if let Some(key) = self.slots.range(at..).next().and_then(folded)
            && let Some(Stored::Folded(next, few)) = self.slots.remove(&key)
        {
            fold.join(&next);
            rows = few_of(rows, few);
        }
        self.slots.insert(start, Stored::Folded(fold, rows));
    }
}

/// Rows of two folds, as long as they are few; an empty list means many.
fn few_of(mut one: Vec<(u64, Row)>, other: Vec<(u64, Row)>) -> Vec<(u64, Row)> {
    if one.is_empty() || other.is_empty() || one.len() + other.len() >= WORTH {
        return Vec::new();
    }
    one.extend(other);
    one
}

#[cfg(test)]
mod tests {
    use super::{FoldedRows, HEAD, ODD, RowSelection, TAIL, WAITING, WORTH};
    use crate::session::diagram::model::{Arrow, Flag, Note, Row, RowContent, Severity};
    use transcript::meaning::EventKind;

    fn arrow(number: u64, kind: EventKind) -> Row {
        Arrow::new(number, 0, 1, kind).into()
    }

    fn note(text: &str) -> Row {
        RowContent::Note(Note { text: text.to_owned(), severity: Severity::Note, opens: None }).into()
    }

    /// A sheet in which these many messages came, each of them out of the ordinary or not.
    fn sheet(shown: RowSelection, count: u64, kind: EventKind, odd: impl Fn(u64) -> bool) -> FoldedRows {
        let mut sheet = FoldedRows::new(shown);
        (0..count).for_each(|number| _ = sheet.put(arrow(number, kind), odd(number)));
        sheet
    }

    /// What is shown, in its order: messages by their numbers, with a mark where nobody answered, notes by their words, and a fold
    /// as its first and its last message.
    fn drawn(sheet: FoldedRows) -> String {
        let mut parts: Vec<(u64, u64, String)> = Vec::new();
        for row in sheet.finish().0 {
            match row.content {
                RowContent::Arrow(arrow) if arrow.flags.is_empty() => match parts.last_mut() {
                    Some((_, to, kind)) if kind.is_empty() && *to + 1 == arrow.number => *to += 1,
                    _ => parts.push((arrow.number, arrow.number, String::new())),
                },
                RowContent::Arrow(arrow) => {
                    assert_eq!(arrow.flags, [Flag::Unanswered]);
                    parts.push((arrow.number, arrow.number, "!".to_owned()));
                }
                RowContent::Note(note) => parts.push((0, 0, note.text)),
                RowContent::Fold(fold) => {
                    parts.extend(fold.span.map(|(from, to)| (from, to, "folded".to_owned())));
                }
            }
        }
        let part = |(from, to, kind): (u64, u64, String)| match &*kind {
            "" if from == to => from.to_string(),
            "" => format!("{from} to {to}"),
            "!" => format!("{from}!"),
            "folded" => format!("[{from} to {to}]"),
            _ => kind,
        };
        parts.into_iter().map(part).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn the_beginning_the_end_and_the_odd_are_shown_and_a_fold_of_a_few_rows_is_none() {
        let some = sheet(RowSelection::Folded, 200, EventKind::Notification, |number| number == 100);
        assert_eq!(drawn(some), "0 to 39, [40 to 99], 100, [101 to 179], 180 to 199");
        assert_eq!(drawn(sheet(RowSelection::Folded, 63, EventKind::Result, |_| false)), "0 to 62");
        assert_eq!((HEAD, TAIL, WORTH), (40, 20, 4));
    }

    #[test]
    fn a_request_that_nobody_answered_is_shown_and_one_with_an_odd_answer_too() {
        let mut sheet = FoldedRows::new(RowSelection::Folded);
        for number in 0..200 {
            let row = sheet.put(arrow(number, EventKind::Request), false);
            assert_eq!(row, number);
            sheet.waits(row);
        }
        (0..200).filter(|row| *row != 100).for_each(|row| sheet.answered(row, row == 110));
        sheet.unanswered(100);
        let expected = "0 to 39, [40 to 99], 100!, [101 to 109], 110, [111 to 179], 180 to 199";
        assert_eq!(drawn(sheet), expected);
    }

    #[test]
    fn a_range_is_shown_whole_and_nothing_else() {
        let mut sheet = FoldedRows::new(RowSelection::Range(70, 72));
        for number in 0..200 {
            sheet.put(note(&format!("before {number}")), true);
            sheet.put(arrow(number, EventKind::Error), true);
        }
        assert_eq!(drawn(sheet), "[0 to 69], 70, before 71, 71, before 72, 72, before 73, [73 to 199]");
    }

    #[test]
    fn notes_that_say_the_same_are_counted_as_one() {
        let mut sheet = FoldedRows::new(RowSelection::All);
        for text in ["a", "a", "a", "b"] {
            sheet.put(note(text), false);
        }
        sheet.put(arrow(0, EventKind::Result), false);
        sheet.put(note("b"), false);
        assert_eq!(drawn(sheet), "a (×3), b, 0, b");
    }

    #[test]
    fn what_is_kept_does_not_grow_with_the_session() {
        let mut sheet = FoldedRows::new(RowSelection::Folded);
        let most = HEAD as usize + TAIL + ODD + WAITING;
        for number in 0..100_000 {
            let row = sheet.put(arrow(number, EventKind::Request), number % 3 == 0);
            sheet.waits(row);
            assert!(sheet.slots.len() <= 2 * most + 1, "{number}: {}", sheet.slots.len());
        }
        let (rows, folded) = sheet.finish();
        let drawn = rows.iter().filter(|row| matches!(row.content, RowContent::Arrow(_))).count();
        assert!(drawn <= HEAD as usize + TAIL + (ODD + 1) * WORTH, "{drawn}");
        assert_eq!(drawn as u64 + folded, 100_000);
        let odd = rows
            .iter()
            .filter_map(|row| if let RowContent::Fold(fold) = &row.content { Some(fold.odd) } else { None });
        assert!(odd.sum::<u64>() > 30_000);
    }
}
