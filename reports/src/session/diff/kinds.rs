//! What differs, by kind.

use std::collections::BTreeMap;
use std::io::{self, Write};
use transcript::align::{Mismatch, OwnedEvent};
use transcript::meaning::EventKind;
use verdict::plain::{cut, plain};

/// How many kinds are counted apart, and how many of them shown.
const KINDS: usize = 1000;
const SHOWN: usize = 20;

/// How many events of each kind differ, are only in A, and are only in B.
#[derive(Debug, Default)]
pub struct Kinds(BTreeMap<String, [u64; 3]>);

impl Kinds {
    /// Counts one more event.
    pub fn count(&mut self, mismatch: &Mismatch<'_>) {
        let (event, column) = match mismatch {
            Mismatch::Differs(left, ..) => (left, 0),
            Mismatch::OnlyLeft(left) => (left, 1),
            Mismatch::OnlyRight(right) => (right, 2),
        };
        let mut kind = kind(event);
        if self.0.len() >= KINDS && !self.0.contains_key(&kind) {
            kind = "other".to_owned();
        }
        self.0.entry(kind).or_default()[column] += 1;
    }

    /// The kinds with their counts, the most frequent one first.
    #[must_use]
    pub fn sorted(&self) -> Vec<(&str, [u64; 3])> {
        let mut kinds: Vec<_> = self.0.iter().map(|(kind, counts)| (kind.as_str(), *counts)).collect();
        kinds.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().sum::<u64>()));
        kinds
    }

    /// A line for each kind, the most frequent one first.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let kinds = self.sorted();
        for (kind, counts) in kinds.iter().take(SHOWN) {
            let words = ["differ", "only in A", "only in B"];
            let counts = counts.iter().zip(words).filter(|(count, _)| **count > 0);
            let counts: Vec<String> = counts.map(|(count, words)| format!("{count} {words}")).collect();
            writeln!(out, "  {}: {}", plain(kind), counts.join(", "))?;
        }
        match kinds.len().checked_sub(SHOWN) {
            Some(more @ 1..) => writeln!(out, "  {more} more kinds"),
            _ => Ok(()),
        }
    }
}

/// The kind of an event, with the method or the tool that it names.
fn kind(event: &OwnedEvent) -> String {
    let message = event.message();
    let name = match event.kind {
        EventKind::ToolCall => message.name().and_then(|name| name.as_text()),
        _ => message.method(),
    };
    let name = name.map(|name| cut(&String::from_utf8_lossy(&name.decode()), 60));
    [Some(event.kind.name().to_owned()), name].into_iter().flatten().collect::<Vec<_>>().join(" ")
}
