//! What `check` found, by the place that it was found at.
//!
//! Knows: that an entry is told by its file and the byte that it begins at. Memory: what the judge keeps, which is
//! bounded for each rule.

use judge::check::{Judged, Verdict};
use reports::diagram::{Mark, Tone};
use std::collections::BTreeMap;

/// So many findings stand beside one row, and at the foot; more are counted.
const MOST: usize = 4;
const MOST_AT_FOOT: usize = 12;

/// Findings that wait for their rows.
#[derive(Debug, Default)]
pub struct Findings {
    waiting: BTreeMap<(usize, u64), Vec<Mark>>,
    /// Errors, warnings and notes.
    counts: [u64; 3],
    judged: bool,
}

impl Findings {
    /// Adds what was found in a file.
    pub fn add(&mut self, file: usize, judged: &Judged) {
        self.judged = true;
        for outcome in &judged.outcomes {
            for count in &outcome.counts {
                self.counts[count.level as usize] += count.times;
            }
            for finding in &outcome.findings {
                let tone = match finding.verdict {
                    Verdict::Fail => Tone::Bad,
                    Verdict::Warn => Tone::Odd,
                    _ => Tone::Calm,
                };
                let mark = Mark {
                    tone,
                    name: outcome.rule.id.to_owned(),
                    text: format!("{}: {}", finding.party, finding.message),
                };
                self.waiting.entry((file, finding.place.offset)).or_default().push(mark);
            }
        }
    }

    /// What was found at a place, the worst first.
    pub(super) fn take(&mut self, file: usize, offset: u64) -> Vec<Mark> {
        let mut marks = self.waiting.remove(&(file, offset)).unwrap_or_default();
        short(&mut marks, MOST);
        marks
    }

    /// What was found where no row is. Where the drawing ends before the file does, that is said of all at once.
    pub(super) fn rest(&mut self, cut_short: bool) -> Vec<Mark> {
        let mut marks: Vec<Mark> = std::mem::take(&mut self.waiting).into_values().flatten().collect();
        if cut_short && !marks.is_empty() {
            let text = "`mcp-concord check` shows what was found where the drawing has ended".to_owned();
            return vec![Mark { tone: Tone::Calm, name: format!("{} more findings", marks.len()), text }];
        }
        short(&mut marks, MOST_AT_FOOT);
        marks
    }

    /// How much was found, in words; none where nothing was judged.
    pub(super) fn totals(&self) -> Option<String> {
        let [errors, warnings, notes] = self.counts;
        let count = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        self.judged.then(|| match self.counts {
            [0, 0, 0] => "check finds nothing".to_owned(),
            _ => format!(
                "check finds {}, {}, {}",
                count(errors, "error"),
                count(warnings, "warning"),
                count(notes, "note")
            ),
        })
    }
}

/// The worst of them, and how many more there are.
fn short(marks: &mut Vec<Mark>, most: usize) {
    marks.sort_by_key(|mark| mark.tone as u8);
    if marks.len() > most + 1 {
        let more = marks.len() - most;
        let tone = marks[most].tone;
        marks.truncate(most);
        let text = "`mcp-concord check` shows them".to_owned();
        marks.push(Mark { tone, name: format!("{more} more findings"), text });
    }
}
