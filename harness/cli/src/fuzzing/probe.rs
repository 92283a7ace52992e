//! Asking one importer, or two, about a draft of a case: judged as `run` judges the case, or compared with each other.

use super::signature::{Kind, Ruling, Signature};
use crate::case_draft::{CaseDraft, UNWRITTEN};
use formats::Format;
use mcp_concord_suite::importer::{Importer, ReadPair};
use mcp_concord_suite::run::{PlannedCase, judge_case, readings};
use mcp_concord_suite::{Case, Format as CaptureFormat, Reading, Rejection, Root, Suite};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use transcript::dialect::Dialect;
use verdict::answer::{Answer, Level};
use verdict::consistency::{self, FormatAnswer};
use verdict::record::CaseResult;
use verdict::verdict::{Question, Verdict};

/// The importer, or the two importers, that are asked.
#[derive(Clone, Copy)]
pub(crate) struct Probe<'i> {
    first: &'i dyn Importer,
    second: Option<&'i dyn Importer>,
    dialect: &'static Dialect,
    /// Only these formats; every one where there are none.
    formats: &'i [&'static Format],
}

/// A failure, or a disagreement.
#[derive(Debug, Clone)]
pub(crate) struct Observation {
    pub signature: Signature,
    /// The failing results, of the first importer or of both; none where the contract is open.
    pub lines: Vec<(Ruling, CaseResult)>,
    /// Where two were asked: what each answered, in words.
    pub words: Option<[String; 2]>,
}

#[derive(Debug, Default)]
pub(crate) struct ProbeResult {
    /// The failures, in the order of the formats.
    pub shown: Vec<Observation>,
    /// How many transcripts were read.
    pub readings: u64,
    /// How many were not: the importer does not read the format, or says that it does not read such a thing.
    pub skipped: u64,
    /// How many formats could not carry the session.
    pub uncarried: u64,
    /// Whether nobody knows what the session means in the dialect that is spoken.
    pub unjudged: bool,
}

impl<'i> Probe<'i> {
    /// Asks one importer, or holds one against another, both in one dialect and these formats, or in all of them.
    pub(crate) fn new(
        first: &'i dyn Importer,
        second: Option<&'i dyn Importer>,
        dialect: &'static Dialect,
        formats: &'i [&'static Format],
    ) -> Self {
        Self { first, second, dialect, formats }
    }

    /// Who is asked, in the order in which they are.
    pub(crate) fn importers(&self) -> impl Iterator<Item = &'i dyn Importer> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// Asks about every transcript of a draft.
    pub(crate) fn ask(&self, draft: &CaseDraft) -> Result<ProbeResult, String> {
        let uncarried =
            draft.files.iter().filter(|(format, file)| file.is_err() && self.takes(format)).count();
        let mut result = ProbeResult { uncarried: uncarried as u64, ..ProbeResult::default() };
        let made = draft.case(&UNWRITTEN);
        let name = made.0.clone();
        let case = match Suite::load_one(&Root::Generated(vec![made]), &name) {
            Ok(Some(case)) => case.in_dialect(self.dialect),
            Ok(None) => return Err("the variant is not found again".to_owned()),
            Err(problems) => {
                let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
                return Err(format!("the variant is not a case: {}", problems.join("; ")));
            }
        };
        result.unjudged = case.unjudged.is_some();
        if case.transcripts.is_empty() || result.unjudged {
            return Ok(result);
        }
        match self.second {
            None => {
                for line in self.lines(&case, self.first)? {
                    result.count(&line);
                    if line.verdict.is_failure() {
                        let signature =
                            Signature { format: format(&line), kind: Kind::new(&line), right: None };
                        result.shown.push(Observation {
                            signature,
                            lines: vec![(Ruling::First, line)],
                            words: None,
                        });
                    }
                }
            }
            Some(second) => self.compare(&case, second, &mut result)?,
        }
        // What cannot be carried is planned and skipped as well.
        result.skipped = result.skipped.saturating_sub(result.uncarried);
        Ok(result)
    }

    fn compare(&self, case: &Case, second: &dyn Importer, result: &mut ProbeResult) -> Result<(), String> {
        let [one, two] = [self.first, second].map(KeepingImporter::new);
        let level = match (self.first.level(), second.level()) {
            (Level::Events, Level::Events) => Level::Events,
            _ => Level::Calls,
        };
        let others = self.lines(case, &two)?;
        for line in self.lines(case, &one)? {
            result.count(&line);
            let name = format(&line);
            let (Some(other), Some(first), Some(second)) =
                (others.iter().find(|other| other.format == line.format), one.answer(name), two.answer(name))
            else {
                continue;
            };
            let question = Question { level, challenge: true, redacted: case.redacted.as_deref() };
            if agree(name, question, &first, &second) {
                continue;
            }
            let right = match (line.verdict.is_failure(), other.verdict.is_failure()) {
                (false, true) => Ruling::First,
                (true, false) => Ruling::Second,
                (true, true) => Ruling::Neither,
                (false, false) => Ruling::Open,
            };
            let wrong: Vec<(Ruling, CaseResult)> = [(Ruling::First, &line), (Ruling::Second, other)]
                .into_iter()
                .filter(|(_, line)| line.verdict.is_failure())
                .map(|(who, line)| (who, line.clone()))
                .collect();
            let kind = match wrong.first() {
                Some((_, line)) => Kind::new(line),
                None => Kind {
                    verdict: Verdict::Pass,
                    at: String::new(),
                    change: format!("{} beside {}", sort(&first), sort(&second)),
                    silent_loss: false,
                },
            };
            let words = Some([first.in_words(), second.in_words()]);
            let signature = Signature { format: name, kind, right: Some(right) };
            result.shown.push(Observation { signature, lines: wrong, words });
        }
        Ok(())
    }

    /// The results for the formats that the case has and that are asked about.
    fn lines(&self, case: &Case, importer: &dyn Importer) -> Result<Vec<CaseResult>, String> {
        let mut readings = readings(case, importer);
        readings.retain(|reading| self.takes(reading.format));
        judge_case(&PlannedCase { case, readings }, importer).map_err(|error| error.to_string())
    }

    fn takes(&self, format: &Format) -> bool {
        self.formats.is_empty() || self.formats.iter().any(|wanted| wanted.name == format.name)
    }
}

impl ProbeResult {
    fn count(&mut self, line: &CaseResult) {
        match line.verdict {
            Verdict::Skip => self.skipped += 1,
            _ => self.readings += 1,
        }
    }

    /// What shows this signature.
    pub(crate) fn find(self, signature: &Signature) -> Option<Observation> {
        self.shown.into_iter().find(|shown| shown.signature == *signature)
    }
}

fn format(line: &CaseResult) -> &'static str {
    formats::find(&line.format).map_or("", |format| format.name)
}

/// Whether two answers to one question are the same reading, or none of both.
fn agree(format: &str, question: Question<'_>, first: &Answer, second: &Answer) -> bool {
    match (first, second) {
        (Answer::Unsupported { .. }, _) | (_, Answer::Unsupported { .. }) => true,
        (Answer::Broken { how: one, .. }, Answer::Broken { how: two, .. }) => one == two,
        (Answer::Broken { .. }, _) | (_, Answer::Broken { .. }) => false,
        _ => {
            let asked = |answer| FormatAnswer { format, question, answer };
            consistency::judge(&[asked(first), asked(second)]).iter().all(Option::is_none)
        }
    }
}

fn sort(answer: &Answer) -> &'static str {
    match answer {
        Answer::Rejection { .. } => "a rejection",
        _ => "a session",
    }
}

/// An importer whose answers are kept.
struct KeepingImporter<'i> {
    inner: &'i dyn Importer,
    heard: Mutex<BTreeMap<String, Answer>>,
}

impl<'i> KeepingImporter<'i> {
    fn new(inner: &'i dyn Importer) -> Self {
        Self { inner, heard: Mutex::default() }
    }

    fn answer(&self, format: &str) -> Option<Answer> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).get(format).cloned()
    }
}

impl Importer for KeepingImporter<'_> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn version(&self) -> &str {
        self.inner.version()
    }

    fn level(&self) -> Level {
        self.inner.level()
    }

    fn strict_codes(&self) -> bool {
        self.inner.strict_codes()
    }

    fn reads(&self, format: CaptureFormat) -> bool {
        self.inner.reads(format)
    }

    fn read(&self, format: CaptureFormat, transcript: &[u8]) -> Result<Reading, Rejection> {
        self.inner.read(format, transcript)
    }

    fn read_twice(&self, format: CaptureFormat, transcript: &[u8]) -> ReadPair {
        let heard = self.inner.read_twice(format, transcript);
        let mut kept = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(format.name().to_owned(), heard.clone().answer());
        heard
    }
}
