//! A baseline: the failures of an importer that are known, each with the reason why it is let pass.
//!
//! Knows: which readings an entry names, which kind of failure it excuses, and when it has gone stale. Refuses to
//! know: where the file lies, and whether a reason is a good one. An entry that excuses nothing fails the run, so
//! that a baseline never rots.

use crate::record::{Line, Reason, Record};
use crate::slip::Slip;
use crate::verdict::Verdict;
use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toml::Spanned;
use transcript::diff::Pattern;

/// What stands for a reason until a person gives one. It is none.
pub const PLACEHOLDER: &str = "TODO: say in a sentence why this is known and let pass";

/// The known failures of one importer.
#[derive(Debug, Default)]
pub struct Baseline {
    entries: Vec<Known>,
}

/// One entry.
#[derive(Debug)]
struct Known {
    /// Its line in the file.
    line: usize,
    case: GlobMatcher,
    format: Option<GlobMatcher>,
    kind: Verdict,
    at: Option<Pattern>,
    silent_loss: bool,
    reason: Reason,
}

/// The file as it is spelled. What is required is optional here, so that all that is missing can be listed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    known: Vec<Spanned<Spelled>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Spelled {
    case: Option<String>,
    format: Option<String>,
    kind: Option<String>,
    at: Option<String>,
    #[serde(default)]
    silent_loss: bool,
    reason: Option<String>,
    issue: Option<String>,
}

/// The failures that can be known.
const KINDS: [Verdict; 5] =
    [Verdict::Fail, Verdict::Crash, Verdict::Timeout, Verdict::Garbled, Verdict::Unstable];

impl Baseline {
    /// Reads the text of a baseline. Where it is to be added to, entries may still wait for their reasons.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(text: &str, reasons_may_wait: bool) -> Result<Self, Vec<Slip>> {
        let line = |at: usize| text.get(..at).map(|before| before.matches('\n').count() + 1);
        let file: File = toml::from_str(text).map_err(|error| {
            let message = error.message().replace('\n', " ");
            vec![Slip { line: error.span().and_then(|span| line(span.start)), message }]
        })?;
        let (mut entries, mut slips) = (Vec::new(), Vec::new());
        for entry in file.known {
            let line = line(entry.span().start);
            match Known::of(entry.into_inner(), line.unwrap_or_default(), reasons_may_wait) {
                Ok(known) => entries.push(known),
                Err(messages) => {
                    slips.extend(messages.into_iter().map(|message| Slip { line, message }));
                }
            }
        }
        if slips.is_empty() { Ok(Self { entries }) } else { Err(slips) }
    }

    /// The entries that name none of these readings, each a case and a format.
    #[must_use]
    pub fn unmatched<'r>(&self, readings: impl Iterator<Item = (&'r str, &'r str)> + Clone) -> Vec<Slip> {
        let nothing = |known: &&Known| !readings.clone().any(|(case, format)| known.names(case, format));
        let slip = |known: &Known| {
            let format = match &known.format {
                Some(format) => format!(" in the format `{}`", format.glob().glob()),
                None => String::new(),
            };
            let message = format!("no case of the suite is `{}`{format}", known.case.glob().glob());
            Slip { line: Some(known.line), message }
        };
        self.entries.iter().filter(nothing).map(slip).collect()
    }

    /// Turns known failures into expected ones, and passes that are listed as failures into unexpected ones. Gives
    /// the entries that excused nothing and that no unexpected pass tells of: where `whole` says that everything was
    /// run, all of them; otherwise those alone that name something of the run.
    pub fn apply(&self, record: &mut Record, whole: bool) -> Vec<Slip> {
        // What became of each entry: it excused something, it was told of, or nothing yet.
        let mut told = vec![false; self.entries.len()];
        let mut named = vec![false; self.entries.len()];
        for line in &mut record.results {
            let naming: Vec<usize> = (0..self.entries.len())
                .filter(|index| self.entries[*index].names(&line.case, &line.format))
                .collect();
            naming.iter().for_each(|index| named[*index] = true);
            match line.verdict {
                Verdict::Pass => {
                    if let Some(first) = naming.first() {
                        naming.iter().for_each(|index| told[*index] = true);
                        line.verdict = Verdict::UnexpectedPass;
                        line.message = Some(self.entries[*first].outlived());
                    }
                }
                verdict if KINDS.contains(&verdict) => {
                    match naming.iter().find(|index| self.entries[**index].excuses(line)) {
                        Some(index) => {
                            told[*index] = true;
                            line.verdict = Verdict::ExpectedFail;
                            line.known = Some(self.entries[*index].reason.clone());
                        }
                        None => self.say_other_kind(&naming, line),
                    }
                }
                _ => {}
            }
        }
        record.recount();
        let stale = |(index, known): (usize, &Known)| {
            (!told[index] && (whole || named[index])).then(|| known.stale(named[index]))
        };
        self.entries.iter().enumerate().filter_map(stale).collect()
    }

    /// A failure of another kind is a new failure, and says so.
    fn say_other_kind(&self, naming: &[usize], line: &mut Line) {
        let Some(known) = naming.first().map(|index| &self.entries[*index]) else { return };
        let note = format!("the baseline knows {} (its line {})", known.kind_in_words(), known.line);
        line.message = Some(match line.message.take() {
            Some(message) => format!("{message}; {note}"),
            None => note,
        });
    }
}

impl Known {
    fn of(spelled: Spelled, line: usize, reason_may_wait: bool) -> Result<Self, Vec<String>> {
        let Spelled { case, format, kind, at, silent_loss, reason, issue } = spelled;
        let mut slips = Vec::new();
        let mut fault = |message: String| slips.push(message);
        let case = match case.as_deref().map(glob) {
            Some(Ok(glob)) => Some(glob),
            Some(Err(why)) => {
                fault(format!("`case`: {why}"));
                None
            }
            None => {
                fault(
                    "`case` is missing: name a case, or several by a glob, such as case = \"ids/*\"".into(),
                );
                None
            }
        };
        let format = format.as_deref().map(glob).transpose().map_err(|why| fault(format!("`format`: {why}")));
        let kinds = || KINDS.map(Verdict::name).join(", ");
        let found = KINDS.into_iter().find(|verdict| Some(verdict.name()) == kind.as_deref());
        match &kind {
            Some(kind) if found.is_none() => fault(format!("`kind` is `{kind}`; there are {}", kinds())),
            None => fault(format!("`kind` is missing: say how it fails ({})", kinds())),
            Some(_) => {}
        }
        let at = at.as_deref().map(Pattern::parse).transpose().map_err(|why| fault(format!("`at`: {why}")));
        let reason = reason.unwrap_or_default();
        if !reason_may_wait && (reason.trim().is_empty() || reason == PLACEHOLDER) {
            fault("has no reason: say in a sentence why the failure is known and let pass".into());
        }
        if issue
            .as_deref()
            .is_some_and(|issue| !issue.starts_with("https://") && !issue.starts_with("http://"))
        {
            fault("`issue` is no link: it begins with https://".into());
        }
        if let (Some(kind), true) =
            (found.filter(|kind| *kind != Verdict::Fail), silent_loss || at != Ok(None))
        {
            fault(format!("`at` and `silent-loss` say how an answer is wrong; a {} is none", kind.name()));
        }
        match (case, format, found, at) {
            (Some(case), Ok(format), Some(kind), Ok(at)) if slips.is_empty() => {
                let reason = Reason { reason, issue };
                Ok(Self { line, case, format, kind, at, silent_loss, reason })
            }
            _ => Err(slips),
        }
    }

    fn names(&self, case: &str, format: &str) -> bool {
        self.case.is_match(case) && self.format.as_ref().is_none_or(|glob| glob.is_match(format))
    }

    /// Whether the failure is of the kind that is known. A silent loss is excused by name alone.
    fn excuses(&self, line: &Line) -> bool {
        let at = line.difference.as_ref().map(|difference| difference.at.as_str());
        self.kind == line.verdict
            && self.silent_loss == line.silent_loss
            && self.at.as_ref().is_none_or(|pattern| at.is_some_and(|at| pattern.is_match(at)))
    }

    fn kind_in_words(&self) -> String {
        let mut words = format!("a `{}`", self.kind.name());
        if self.silent_loss {
            words.push_str(" with a silent loss");
        }
        if self.at.is_some() {
            words.push_str(" elsewhere");
        }
        words
    }

    fn outlived(&self) -> String {
        format!(
            "the baseline lists it as {} (its line {}): take it out there",
            self.kind_in_words(),
            self.line
        )
    }

    fn stale(&self, named: bool) -> Slip {
        let case = self.case.glob().glob();
        let message = match named {
            true => {
                format!("nothing that `{case}` names failed in this way, so the entry is stale: remove it")
            }
            false => format!("`{case}` names nothing that was run, so the entry is stale: remove it"),
        };
        Slip { line: Some(self.line), message }
    }
}

fn glob(text: &str) -> Result<GlobMatcher, String> {
    let glob = GlobBuilder::new(text).literal_separator(false).build();
    glob.map(|glob| glob.compile_matcher()).map_err(|error| error.to_string())
}

/// Entries for the failures of `record` that no entry excuses, as text to be appended to a baseline; empty where
/// there are none. Each waits for a person's reason.
#[must_use]
pub fn entries(record: &Record) -> String {
    let kind = |line: &Line| KINDS.contains(&line.verdict).then_some((line.verdict, line.silent_loss));
    let mut cases: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in record.results.iter().filter(|line| line.verdict != Verdict::Skip) {
        cases.entry(&line.case).or_default().push(line);
    }
    let mut out = String::new();
    for (case, lines) in cases {
        let first = kind(lines[0]);
        let together = lines.len() > 1 && first.is_some() && lines.iter().all(|line| kind(line) == first);
        let named = if together { &lines[..1] } else { &lines[..] };
        for line in named {
            let Some((verdict, silent_loss)) = kind(line) else { continue };
            let _ = write!(out, "\n[[known]]\ncase = {}\n", quoted(&globset::escape(case)));
            if !together {
                let _ = writeln!(out, "format = {}", quoted(&line.format));
            }
            let _ = writeln!(out, "kind = {}", quoted(verdict.name()));
            if silent_loss {
                out.push_str("silent-loss = true\n");
            }
            let _ = writeln!(out, "reason = {}", quoted(PLACEHOLDER));
        }
    }
    out
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::{Baseline, PLACEHOLDER, entries};
    use crate::answer::Level;
    use crate::record::{Implementation, Line, Record, Suite};
    use crate::verdict::{Judgement, Verdict};
    use transcript::diff::Difference;

    fn record(lines: &[(&str, &str, Verdict)]) -> Record {
        let line = |(case, format, verdict): &(&str, &str, Verdict)| {
            let mut judgement = Judgement::plain(*verdict, None);
            if *verdict == Verdict::Fail {
                let pointer = "/events/3/answers".into();
                judgement.difference = Some(Difference { pointer, left: None, right: None });
            }
            Line::new(case, format, &[], judgement)
        };
        let suite = Suite::new("1", "sha256:0");
        let implementation = Implementation { name: "i".into(), version: "2".into(), level: Level::Events };
        Record::new(suite, implementation, [].into(), lines.iter().map(line).collect())
    }

    fn entry(keys: &str) -> String {
        format!("[[known]]\nreason = \"It is old.\"\n{keys}\n")
    }

    /// The verdicts after a baseline of these entries, and what is stale.
    fn applied(text: &str, lines: &[(&str, &str, Verdict)]) -> (Vec<Verdict>, Vec<String>) {
        let mut record = record(lines);
        let baseline = Baseline::read(text, false).unwrap();
        let stale = baseline.apply(&mut record, true);
        assert_eq!(record.totals.values().sum::<u64>(), record.planned);
        let verdicts = record.results.iter().map(|line| line.verdict).collect();
        (verdicts, stale.into_iter().map(|slip| slip.message).collect())
    }

    const FAIL: (&str, &str, Verdict) = ("ids/a", "har", Verdict::Fail);

    #[test]
    fn a_known_failure_is_expected_and_keeps_its_reason() {
        let text = entry("case = \"ids/*\"\nformat = \"h*\"\nkind = \"fail\"\nissue = \"https://x/1\"");
        let mut found = record(&[FAIL, ("ids/a", "inspector", Verdict::Fail)]);
        assert_eq!(Baseline::read(&text, false).unwrap().apply(&mut found, true), []);
        let known = found.results[0].known.as_ref().unwrap();
        assert_eq!((known.reason.as_str(), known.issue.as_deref()), ("It is old.", Some("https://x/1")));
        let verdicts: Vec<_> = found.results.iter().map(|line| line.verdict).collect();
        assert_eq!(verdicts, [Verdict::ExpectedFail, Verdict::Fail]);
    }

    #[test]
    fn another_kind_is_a_new_failure() {
        for (keys, excused) in [
            ("kind = \"fail\"", true),
            ("kind = \"fail\"\nat = \"/events/*/answers\"", true),
            ("kind = \"fail\"\nat = \"/events/*/id\"", false),
            ("kind = \"fail\"\nsilent-loss = true", false),
            ("kind = \"crash\"", false),
        ] {
            let (verdicts, stale) = applied(&entry(&format!("case = \"ids/a\"\n{keys}")), &[FAIL]);
            let expected = if excused { Verdict::ExpectedFail } else { Verdict::Fail };
            assert_eq!((verdicts, stale.is_empty()), (vec![expected], excused), "{keys}");
        }
        let mut lost = record(&[FAIL]);
        lost.results[0].silent_loss = true;
        let plain = Baseline::read(&entry("case = \"ids/a\"\nkind = \"fail\""), false).unwrap();
        plain.apply(&mut lost, true);
        assert_eq!(lost.results[0].verdict, Verdict::Fail, "a silent loss is excused by name alone");
    }

    #[test]
    fn what_passes_or_is_not_run_goes_stale() {
        let text = entry("case = \"ids/*\"\nkind = \"fail\"");
        let (verdicts, stale) = applied(&text, &[FAIL, ("ids/b", "har", Verdict::Pass)]);
        assert_eq!(verdicts, [Verdict::ExpectedFail, Verdict::UnexpectedPass]);
        assert_eq!(stale, [""; 0], "the unexpected pass tells it");
        let (verdicts, stale) = applied(&text, &[("ids/b", "har", Verdict::Skip)]);
        assert_eq!((verdicts, stale.len()), (vec![Verdict::Skip], 1));
        let (_, stale) = applied(&text, &[("order/a", "har", Verdict::Pass)]);
        assert!(stale[0].contains("names nothing that was run"), "{stale:?}");
        let part = Baseline::read(&text, false).unwrap();
        assert_eq!(part.apply(&mut record(&[("order/a", "har", Verdict::Pass)]), false), []);
    }

    #[test]
    fn an_entry_that_names_no_case_is_found_before_the_run() {
        let text = entry("case = \"ids/*\"\nkind = \"fail\"")
            + &entry("case = \"ids/a\"\nformat = \"pcap\"\nkind = \"fail\"");
        let baseline = Baseline::read(&text, false).unwrap();
        let slips = baseline.unmatched([("ids/a", "har")].into_iter());
        assert_eq!(slips.len(), 1);
        assert_eq!(slips[0].line, Some(5));
        assert!(slips[0].message.contains("`ids/a` in the format `pcap`"), "{slips:?}");
    }

    #[test]
    fn each_slip_is_told_with_its_line() {
        let good = "case = \"a\"\nkind = \"fail\"\nreason = \"b\"";
        for (from, to, part) in [
            ("case", "caes", "caes"),
            ("case = \"a\"\n", "", "`case` is missing"),
            ("\"a\"", "\"[\"", "`case`: "),
            ("kind = \"fail\"\n", "", "`kind` is missing"),
            ("\"fail\"", "\"failure\"", "`kind` is `failure`; there are fail, crash"),
            ("\"fail\"", "\"skip\"", "`kind` is `skip`"),
            ("\"fail\"", "\"crash\"\nsilent-loss = true", "a crash is none"),
            ("reason = \"b\"", "", "no reason"),
            ("\"b\"", "\"  \"", "no reason"),
            ("\"b\"", &format!("\"{PLACEHOLDER}\""), "no reason"),
            ("kind", "at = \"events\"\nkind", "`at`: "),
            ("kind", "issue = \"7\"\nkind", "`issue` is no link"),
            ("= \"a\"", "\"a\"", ""),
        ] {
            let text = format!("# known\n\n[[known]]\n{}\n", good.replacen(from, to, 1));
            let slips = Baseline::read(&text, false).unwrap_err();
            assert!(slips[0].message.contains(part), "{part} is missing: {slips:?}");
            assert!(slips[0].line.is_some_and(|line| line >= 3), "{slips:?}");
        }
        assert!(Baseline::read("[[konwn]]\ncase = \"a\"", false).unwrap_err()[0].message.contains("konwn"));
        assert!(Baseline::read("", false).is_ok());
    }

    #[test]
    fn written_entries_excuse_what_they_were_written_for_once_they_have_reasons() {
        let lines = [
            ("ids/[a]", "har", Verdict::Fail),
            ("ids/[a]", "inspector", Verdict::Fail),
            ("ids/b", "har", Verdict::Crash),
            ("ids/b", "inspector", Verdict::Pass),
            ("ids/c", "har", Verdict::Skip),
        ];
        let text = entries(&record(&lines));
        assert_eq!(text.matches("[[known]]").count(), 2, "{text}");
        assert!(Baseline::read(&text, false).is_err() && Baseline::read(&text, true).is_ok());
        let (verdicts, stale) = applied(&text.replace(PLACEHOLDER, "It is so."), &lines);
        let known = Verdict::ExpectedFail;
        assert_eq!((verdicts, stale), (vec![known, known, known, Verdict::Pass, Verdict::Skip], vec![]));
    }
}
