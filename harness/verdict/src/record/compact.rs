//! A record small enough to publish: a letter a verdict. Titles, reasons and clauses are the suite's, which has them.

use super::{CaseNote, CaseResult, Compact, Known, Record, cited};
use crate::verdict::{Judgement, Verdict};
use std::collections::{BTreeMap, BTreeSet};

/// The letter of each verdict.
const LETTERS: [(Verdict, char); 9] = [
    (Verdict::Pass, '.'),
    (Verdict::Skip, 's'),
    (Verdict::ExpectedFail, 'x'),
    (Verdict::UnexpectedPass, 'X'),
    (Verdict::Fail, 'F'),
    (Verdict::Crash, 'C'),
    (Verdict::Timeout, 'T'),
    (Verdict::Garbled, 'G'),
    (Verdict::Unstable, 'U'),
];

/// The letter of a format in which a case was not planned. At the end of a case's letters there is none.
const UNPLANNED: char = '-';

/// What a message begins with in place of its format's name.
const FORMAT: &str = "{format}";

impl Record {
    /// The same run with a letter a verdict, and of its failures only the first difference or the message.
    pub fn compact(&self) -> Self {
        let formats = formats(&self.results);
        let mut compact = Compact {
            verdicts: BTreeMap::new(),
            known: Vec::new(),
            skipped: skipped(&self.results),
            remarks: remarks(&self.results),
            silent_losses: self.results.iter().filter(|it| it.silent_loss).map(name).collect(),
            formats,
        };
        for result in &self.results {
            let letters = compact.verdicts.entry(result.case.clone());
            let letters = letters.or_insert_with(|| UNPLANNED.to_string().repeat(compact.formats.len()));
            let letter = LETTERS.iter().find(|(verdict, _)| *verdict == result.verdict);
            let at = compact.formats.iter().position(|format| *format == result.format);
            if let Some((at, (_, letter))) = at.zip(letter) {
                letters.replace_range(at..=at, letter.encode_utf8(&mut [0; 4]));
            }
            let Some(reason) = result.known.clone() else { continue };
            let name = name(result);
            match compact.known.iter_mut().find(|known| known.reason == reason) {
                Some(known) => known.results.push(name),
                None => compact.known.push(Known { reason, results: vec![name] }),
            }
        }
        for letters in compact.verdicts.values_mut() {
            letters.truncate(letters.trim_end_matches(UNPLANNED).len());
        }
        let failures = self.results.iter().filter(|result| result.verdict.is_failure());
        let bare = |result: &CaseResult| CaseResult {
            file: None,
            bytes: None,
            clauses: Vec::new(),
            whole: None,
            place: None,
            stderr: None,
            ..result.clone()
        };
        Self {
            cases: BTreeMap::new(),
            clauses: BTreeMap::new(),
            results: failures.map(bare).collect(),
            compact: Some(compact),
            ..self.clone()
        }
    }

    /// The full form of a compact record; any other record stays as it is. `describe` says what the suite knows of a
    /// case: its note and its clauses.
    ///
    /// # Errors
    /// A sentence, where a case has more letters than there are formats, or letters of no verdict.
    pub fn expand(
        &mut self,
        describe: impl Fn(&str) -> Option<(CaseNote, Vec<String>)>,
    ) -> Result<(), String> {
        let Some(Compact { formats, verdicts, known, skipped, remarks, silent_losses }) = self.compact.take()
        else {
            return Ok(());
        };
        let mut failures: BTreeMap<String, CaseResult> =
            std::mem::take(&mut self.results).into_iter().map(|result| (name(&result), result)).collect();
        let why = |name: &str| {
            skipped.iter().find(|(_, names)| names.iter().any(|it| it == name)).map(|(why, _)| why)
        };
        let said = |name: &String| {
            remarks.iter().find(|(_, names)| names.contains(name)).map(|(remark, _)| remark.clone())
        };
        for (case, letters) in verdicts {
            if letters.chars().count() > formats.len() {
                return Err(format!(
                    "{case}: {letters:?} has more letters than the {} formats",
                    formats.len()
                ));
            }
            let (note, clauses) = describe(&case).unwrap_or((CaseNote::new("", ""), Vec::new()));
            for (format, letter) in
                formats.iter().zip(letters.chars()).filter(|(_, letter)| *letter != UNPLANNED)
            {
                let verdict = LETTERS.iter().find(|(_, known)| *known == letter);
                let (verdict, _) =
                    verdict.ok_or_else(|| format!("{case}: no verdict has the letter {letter:?}"))?;
                let mut plain = CaseResult::new(&case, format, &clauses, Judgement::plain(*verdict, None));
                let name = name(&plain);
                if *verdict == Verdict::Skip {
                    let why = why(&name).or_else(|| why(&format!("*/{format}")));
                    plain.message = why.map(|why| match why.strip_prefix(FORMAT) {
                        Some(rest) => format!("{format}{rest}"),
                        None => why.clone(),
                    });
                }
                plain.remark = said(&name);
                plain.silent_loss = silent_losses.contains(&name);
                let failure =
                    failures.remove(&name).map(|failure| CaseResult { clauses: clauses.clone(), ..failure });
                let reason = known.iter().find(|known| known.results.contains(&name));
                self.results.push(CaseResult {
                    known: reason.map(|known| known.reason.clone()),
                    ..failure.unwrap_or(plain)
                });
            }
            self.cases.insert(case, note);
        }
        self.clauses = cited(&self.results, self.implementation.dialect.as_deref());
        Ok(())
    }
}

fn name(result: &CaseResult) -> String {
    format!("{}/{}", result.case, result.format)
}

/// What is to be said of passes.
fn remarks(results: &[CaseResult]) -> BTreeMap<String, Vec<String>> {
    let mut remarks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for result in results {
        if let Some(remark) = &result.remark {
            remarks.entry(remark.clone()).or_default().push(name(result));
        }
    }
    remarks
}

/// The messages of skipped results, without the name of a format that they begin with, each with those that have it; the most frequent of a format is that of `*/format`.
fn skipped(results: &[CaseResult]) -> BTreeMap<String, Vec<String>> {
    let mut found: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    for result in results.iter().filter(|result| result.verdict == Verdict::Skip) {
        let messages = found.entry(&result.format).or_default();
        let message = result.message.as_deref().unwrap_or_default();
        let rest = message.strip_prefix(&*result.format);
        let message = rest.map_or_else(|| message.to_owned(), |rest| format!("{FORMAT}{rest}"));
        messages.entry(message).or_default().push(name(result));
    }
    let mut skipped: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (format, messages) in found {
        let most = messages.values().map(Vec::len).max().unwrap_or_default();
        let mut usual = true;
        for (message, names) in messages {
            let names = if names.len() == most && std::mem::take(&mut usual) {
                vec![format!("*/{format}")]
            } else {
                names
            };
            skipped.entry(message).or_default().extend(names);
        }
    }
    skipped
}

/// The formats of all results, those of one case in its order wherever cases agree on one.
fn formats(results: &[CaseResult]) -> Vec<String> {
    let (mut formats, mut seen): (Vec<String>, BTreeSet<&str>) = (Vec::new(), BTreeSet::new());
    for case in results.chunk_by(|a, b| a.case == b.case) {
        // Of what cases of its own have, most cases have nothing: it goes to the end.
        let mut at = if case.iter().any(|it| seen.contains(&*it.format)) { 0 } else { formats.len() };
        for result in case {
            if seen.insert(&result.format) {
                formats.insert(at, result.format.clone());
            }
            let place = formats.iter().position(|format| *format == result.format);
            at = at.max(place.map_or(0, |place| place + 1));
        }
    }
    formats
}

#[cfg(test)]
mod tests {
    use crate::record::{CaseNote, CaseResult, Reason, Record};
    use crate::verdict::{Judgement, Verdict};

    fn record() -> Record {
        let clauses = ["ID-NULL".to_owned()];
        let result = |case, format, verdict| {
            let message = match verdict {
                Verdict::Crash => Some("exit code 1".to_owned()),
                Verdict::Skip => Some(format!("{format} cannot carry {case}")),
                _ => None,
            };
            CaseResult::new(case, format, &clauses, Judgement::plain(verdict, message))
        };
        let known = Reason { reason: "Why.".into(), issue: None };
        let results = vec![
            result("a/b", "har", Verdict::Pass),
            CaseResult {
                known: Some(known),
                silent_loss: true,
                ..result("a/c", "jsonrpc", Verdict::ExpectedFail)
            },
            result("a/c", "har", Verdict::Skip),
            result("a/d", "jsonrpc", Verdict::Crash),
            result("a/d", "har", Verdict::Skip),
            result("a/e", "jsonrpc", Verdict::Pass),
        ];
        crate::testing::record(results)
    }

    #[test]
    fn a_record_survives_its_compact_form() {
        let full = record();
        let text = serde_json::to_string_pretty(&full.compact()).unwrap();
        for line in [
            r#""a/b": "-.""#,
            r#""a/c": "xs""#,
            r#""a/d": "Cs""#,
            r#""a/e": ".""#,
            r#""*/har""#,
            r#""{format} cannot carry a/c""#,
            r#""a/c/jsonrpc""#,
            "exit code 1",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
        let mut again: Record = serde_json::from_str(&text).unwrap();
        again.expand(|_| Some((CaseNote::new("One", "Mind it."), vec!["ID-NULL".to_owned()]))).unwrap();
        let text = |record: &Record| serde_json::to_string_pretty(record).unwrap();
        assert_eq!(text(&again), text(&full));
        again.expand(|_| None).unwrap();
        assert_eq!(text(&again), text(&full), "a full record stays as it is");
    }

    #[test]
    fn a_case_that_the_suite_no_longer_has_keeps_its_verdicts() {
        let mut compact = record().compact();
        compact.expand(|_| None).unwrap();
        let verdicts = |record: &Record| record.results.iter().map(|it| it.verdict).collect::<Vec<_>>();
        assert_eq!((verdicts(&compact), compact.clauses.len()), (verdicts(&record()), 0));
    }

    #[test]
    fn letters_that_say_nothing_are_refused() {
        for (letters, why) in [("...", "has more letters"), (".?", "the letter '?'")] {
            let mut record = record().compact();
            if let Some(compact) = &mut record.compact {
                compact.verdicts.insert("a/b".to_owned(), letters.to_owned());
            }
            assert!(record.expand(|_| None).is_err_and(|found| found.contains(why)), "{letters}");
        }
    }
}
