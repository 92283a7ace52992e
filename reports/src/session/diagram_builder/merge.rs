//! Several traces of one session, put together by time.
//!
//! The lines of one trace keep their order whatever their times say, and of two at the same time the one of the earlier
//! file comes first. Memory: a few pieces of each trace; each is read in a thread of its own, and waits there until its
//! turn comes.

use super::entry_summary::EntrySummary;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// How many pieces of a trace are read ahead.
const AHEAD: usize = 64;

/// Reads one trace: gets the sender for its pieces, and should stop where that is closed.
pub(crate) type Reader<'r, T> = Box<dyn FnOnce(SyncSender<EntrySummary>) -> T + Send + 'r>;

/// Runs each reader in a thread of its own, hands their pieces to `take` in the order of time, and returns what came
/// of each reader; none of one that panicked.
pub(crate) fn merge<T: Send>(
    readers: Vec<Reader<'_, T>>,
    mut take: impl FnMut(EntrySummary),
) -> Vec<Option<T>> {
    thread::scope(|scope| {
        let mut ends = Vec::new();
        let mut lines: Vec<Trace> = Vec::new();
        for reader in readers {
            let (sender, pieces) = sync_channel(AHEAD);
            ends.push(scope.spawn(move || reader(sender)));
            lines.push(Trace { pieces, next: None, time: i64::MIN });
        }
        for line in &mut lines {
            line.advance();
        }
        while let Some(line) =
            lines.iter_mut().filter(|line| line.next.is_some()).min_by_key(|line| line.time)
        {
            if let Some(piece) = line.next.take() {
                take(piece);
            }
            line.advance();
        }
        ends.into_iter().map(|end| end.join().ok()).collect()
    })
}

struct Trace {
    pieces: Receiver<EntrySummary>,
    next: Option<EntrySummary>,
    /// When the next piece is, and never before the one that came last.
    time: i64,
}

impl Trace {
    fn advance(&mut self) {
        self.next = self.pieces.recv().ok();
        if let Some(time) = self.next.as_ref().and_then(|piece| piece.row.time) {
            self.time = self.time.max(time);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry_summary::{EntryKind, EntrySummary};
    use super::{Reader, merge};
    use crate::session::diagram::model::{Fold, Row, RowContent};

    fn reader(file: usize, times: &'static [Option<i64>]) -> Reader<'static, usize> {
        Box::new(move |sender| {
            for (offset, time) in (0..).zip(times) {
                let row = Row { time: *time, ..RowContent::Fold(Fold::default()).into() };
                let piece = EntrySummary { file, offset, exchange: None, kind: EntryKind::Silent, row };
                sender.send(piece).unwrap();
            }
            times.len()
        })
    }

    #[test]
    fn pieces_come_by_time_and_those_of_one_trace_in_their_order() {
        let readers = vec![
            reader(0, &[Some(10), Some(5), None, Some(30)]),
            reader(1, &[None, Some(10), Some(20), Some(40)]),
            reader(2, &[]),
        ];
        let mut order = Vec::new();
        let ends = merge(readers, |piece| order.push((piece.file, piece.offset)));
        assert_eq!(order, [(1, 0), (0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (0, 3), (1, 3)]);
        assert_eq!(ends, [Some(4), Some(4), Some(0)]);
    }
}
