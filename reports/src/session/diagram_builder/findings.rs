//! What `check` found, by the place that it was found at.
//!
//! An entry is known by its file and the byte at which it begins. Memory: what the judge keeps, which is bounded for each
//! rule.

use crate::plain::counted;
use crate::session::diagram::model::{Annotation, Severity};
use rules::CheckResult;
use std::collections::BTreeMap;

/// How many findings are listed beside one row, and at the foot; more are counted.
const MOST: usize = 4;
const MOST_AT_FOOT: usize = 12;

/// Findings that wait for their rows.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    waiting: BTreeMap<(usize, u64), Vec<Annotation>>,
    /// Errors, warnings and notes.
    counts: [u64; 3],
    judged: bool,
}

impl Findings {
    /// Adds what was found in a file.
    pub(crate) fn add(&mut self, file: usize, judged: &CheckResult) {
        self.judged = true;
        for outcome in &judged.outcomes {
            for count in &outcome.counts {
                self.counts[count.level as usize] += count.times;
            }
            for finding in &outcome.findings {
                let annotation = Annotation {
                    severity: Severity::of_verdict(finding.verdict),
                    name: outcome.rule.id.to_owned(),
                    text: format!("{}: {}", finding.party, finding.message),
                };
                self.waiting.entry((file, finding.location.offset)).or_default().push(annotation);
            }
        }
    }

    /// What was found at a place, the worst first.
    pub(super) fn take(&mut self, file: usize, offset: u64) -> Vec<Annotation> {
        let mut annotations = self.waiting.remove(&(file, offset)).unwrap_or_default();
        short(&mut annotations, MOST);
        annotations
    }

    /// What was found where the reader gave up is what the reader says. The entry begins at or before the fault.
    pub(super) fn drop(&mut self, file: usize, fault: u64) {
        let entry = self.waiting.range((file, 0)..=(file, fault)).next_back().map(|(place, _)| *place);
        entry.and_then(|place| self.waiting.remove(&place));
    }

    /// What was found where no row is. Where the drawing ends before the file does, that is said of all at once.
    pub(super) fn rest(&mut self, cut_short: bool) -> Vec<Annotation> {
        let mut annotations: Vec<Annotation> =
            std::mem::take(&mut self.waiting).into_values().flatten().collect();
        if cut_short && !annotations.is_empty() {
            let text = "`mcp-concord check` shows what was found where the drawing has ended".to_owned();
            return vec![Annotation { severity: Severity::Note, name: more(annotations.len()), text }];
        }
        short(&mut annotations, MOST_AT_FOOT);
        annotations
    }

    /// How much was found, in words; none where nothing was judged.
    pub(super) fn totals(&self) -> Option<String> {
        let counts =
            self.counts.into_iter().zip(["error", "warning", "note"]).filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, word)| counted(count, word)).collect();
        self.judged.then(|| match counts.as_slice() {
            [] => "check finds nothing".to_owned(),
            counts => format!("check finds {}", counts.join(", ")),
        })
    }
}

/// The worst of them, those of one rule as one, and how many more there are.
fn short(annotations: &mut Vec<Annotation>, most: usize) {
    annotations.sort_by(|a, b| (a.severity, &a.name).cmp(&(b.severity, &b.name)));
    let mut merged: Vec<(Annotation, usize)> = Vec::new();
    for annotation in annotations.drain(..) {
        match merged.last_mut() {
            Some((last, times)) if last.name == annotation.name && last.severity == annotation.severity => {
                *times += 1
            }
            _ => merged.push((annotation, 1)),
        }
    }
    let rest: usize = merged.iter().skip(most).map(|(_, times)| times).sum();
    let severity = merged.get(most).map(|(annotation, _)| annotation.severity);
    annotations.extend(merged.into_iter().take(most).map(|(mut annotation, times)| {
        if times > 1 {
            annotation.text.push_str(&format!(" (and {} more like this)", times - 1));
        }
        annotation
    }));
    if let Some(severity) = severity {
        annotations.push(Annotation {
            severity,
            name: more(rest),
            text: "`mcp-concord check` shows them".to_owned(),
        });
    }
}

fn more(count: usize) -> String {
    format!("{count} more finding{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::{MOST, short};
    use crate::session::diagram::model::{Annotation, Severity};

    #[test]
    fn the_worst_stand_first_and_all_are_counted() {
        let annotation =
            |severity, name: &str| Annotation { severity, name: name.to_owned(), text: "t".to_owned() };
        let mut annotations = vec![
            annotation(Severity::Note, "a"),
            annotation(Severity::Error, "z"),
            annotation(Severity::Error, "z"),
            annotation(Severity::Warning, "b"),
        ];
        short(&mut annotations, MOST);
        let listed: Vec<(&str, &str)> = annotations
            .iter()
            .map(|annotation| (annotation.name.as_str(), annotation.text.as_str()))
            .collect();
        assert_eq!(listed, [("z", "t (and 1 more like this)"), ("b", "t"), ("a", "t")]);
        let mut many: Vec<Annotation> =
            (0..9).map(|at| annotation(Severity::Warning, &format!("r{at}"))).collect();
        short(&mut many, MOST);
        assert_eq!((many.len(), many[MOST].name.as_str()), (MOST + 1, "5 more findings"));
    }
}
