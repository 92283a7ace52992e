//! What `check` found, by the place that it was found at.
//!
//! Knows: that an entry is told by its file and the byte that it begins at. Memory: what the judge keeps, which is
//! bounded for each rule.

use crate::diagram::{Mark, Tone};
use rules::{CheckResult, RuleVerdict};
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
    pub fn add(&mut self, file: usize, judged: &CheckResult) {
        self.judged = true;
        for outcome in &judged.outcomes {
            for count in &outcome.counts {
                self.counts[count.level as usize] += count.times;
            }
            for finding in &outcome.findings {
                let tone = match finding.verdict {
                    RuleVerdict::Fail => Tone::Bad,
                    RuleVerdict::Warn => Tone::Odd,
                    _ => Tone::Calm,
                };
                let mark = Mark {
                    tone,
                    name: outcome.rule.id.to_owned(),
                    text: format!("{}: {}", finding.party, finding.message),
                };
                self.waiting.entry((file, finding.location.offset)).or_default().push(mark);
            }
        }
    }

    /// What was found at a place, the worst first.
    pub(super) fn take(&mut self, file: usize, offset: u64) -> Vec<Mark> {
        let mut marks = self.waiting.remove(&(file, offset)).unwrap_or_default();
        short(&mut marks, MOST);
        marks
    }

    /// What was found where the reader gave up is what the reader says. The entry begins at or before the fault.
    pub(super) fn drop(&mut self, file: usize, fault: u64) {
        let entry = self.waiting.range((file, 0)..=(file, fault)).next_back().map(|(place, _)| *place);
        entry.and_then(|place| self.waiting.remove(&place));
    }

    /// What was found where no row is. Where the drawing ends before the file does, that is said of all at once.
    pub(super) fn rest(&mut self, cut_short: bool) -> Vec<Mark> {
        let mut marks: Vec<Mark> = std::mem::take(&mut self.waiting).into_values().flatten().collect();
        if cut_short && !marks.is_empty() {
            let text = "`mcp-concord check` shows what was found where the drawing has ended".to_owned();
            return vec![Mark { tone: Tone::Calm, name: more(marks.len()), text }];
        }
        short(&mut marks, MOST_AT_FOOT);
        marks
    }

    /// How much was found, in words; none where nothing was judged.
    pub(super) fn totals(&self) -> Option<String> {
        let counts =
            self.counts.into_iter().zip(["error", "warning", "note"]).filter(|(count, _)| *count > 0);
        let told: Vec<String> = counts
            .map(|(count, word)| format!("{count} {word}{}", if count == 1 { "" } else { "s" }))
            .collect();
        self.judged.then(|| match told.as_slice() {
            [] => "check finds nothing".to_owned(),
            told => format!("check finds {}", told.join(", ")),
        })
    }
}

/// The worst of them, those of one rule as one, and how many more there are.
fn short(marks: &mut Vec<Mark>, most: usize) {
    marks.sort_by(|a, b| (a.tone as u8, &a.name).cmp(&(b.tone as u8, &b.name)));
    let mut merged: Vec<(Mark, usize)> = Vec::new();
    for mark in marks.drain(..) {
        match merged.last_mut() {
            Some((last, times)) if last.name == mark.name && last.tone == mark.tone => *times += 1,
            _ => merged.push((mark, 1)),
        }
    }
    let rest: usize = merged.iter().skip(most).map(|(_, times)| times).sum();
    let tone = merged.get(most).map(|(mark, _)| mark.tone);
    marks.extend(merged.into_iter().take(most).map(|(mut mark, times)| {
        if times > 1 {
            mark.text.push_str(&format!(" (and {} more like this)", times - 1));
        }
        mark
    }));
    if let Some(tone) = tone {
        marks.push(Mark { tone, name: more(rest), text: "`mcp-concord check` shows them".to_owned() });
    }
}

fn more(count: usize) -> String {
    format!("{count} more {}", if count == 1 { "finding" } else { "findings" })
}

#[cfg(test)]
mod tests {
    use super::{MOST, short};
    use crate::diagram::{Mark, Tone};

    #[test]
    fn the_worst_stand_first_and_all_are_counted() {
        let mark = |tone, name: &str| Mark { tone, name: name.to_owned(), text: "t".to_owned() };
        let mut marks =
            vec![mark(Tone::Calm, "a"), mark(Tone::Bad, "z"), mark(Tone::Bad, "z"), mark(Tone::Odd, "b")];
        short(&mut marks, MOST);
        let told: Vec<(&str, &str)> =
            marks.iter().map(|mark| (mark.name.as_str(), mark.text.as_str())).collect();
        assert_eq!(told, [("z", "t (and 1 more like this)"), ("b", "t"), ("a", "t")]);
        let mut many: Vec<Mark> = (0..9).map(|at| mark(Tone::Odd, &format!("r{at}"))).collect();
        short(&mut many, MOST);
        assert_eq!((many.len(), many[MOST].name.as_str()), (MOST + 1, "5 more findings"));
    }
}
