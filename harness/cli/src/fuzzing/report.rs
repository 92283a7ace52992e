//! Findings in words and on disk. A finding that cannot be saved is printed with every file of its case, so that nothing is
//! lost.

use super::campaign::{Finding, Tally};
use super::signature::{Kind, Ruling};
use crate::case_draft::{CaseHeader, is_free, save, twin};
use crate::terminal::{Verbosity, plain};
use mcp_concord_suite::GeneratedCase;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use verdict::answer::Level;
use verdict::expectation::Expectation;
use verdict::plain::counted;
use verdict::record::{CaseNote, CaseResult, Implementation, Record, Suite, kept};
use verdict::text;

/// How many names are tried for a finding before it is reported as one that cannot be saved.
const NAMES: u32 = 1_000;

/// Reports findings, with the commands that rerun them.
pub(crate) struct Reporter<'t> {
    pub out: &'t Path,
    pub seed: u64,
    /// Name and version of each importer.
    pub importers: Vec<(String, String)>,
    /// Where the sessions' meaning is from.
    pub source: &'t str,
    /// The command that runs these cases: flags and all, without a filter.
    pub run: &'t dyn Fn(Ruling) -> String,
    /// The command that fuzzes with this importer and seed, without numbers.
    pub fuzz: &'t str,
    pub colour: bool,
}

/// A finding after an attempt to save it.
pub(crate) struct SavedFinding {
    pub text: String,
    pub name: String,
    pub error: Option<(PathBuf, io::Error)>,
}

impl Reporter<'_> {
    /// Saves a finding and describes it.
    pub(crate) fn save(&self, finding: &Finding, index: usize) -> SavedFinding {
        let (name, cases) = self.cases(finding);
        let failed = cases
            .iter()
            .find_map(|case| save(self.out, case).err().map(|error| (self.out.join(&case.0), error)));
        let mut text = self.head(finding, index);
        text.push_str(&self.body(finding, &name));
        self.commands(finding, &name, failed.is_none(), &mut text);
        if failed.is_some() {
            for case in &cases {
                in_full(case, &mut text);
            }
        }
        SavedFinding { text, name, error: failed }
    }

    /// The case of a finding and its valid counterpart, under a name that is free.
    fn cases(&self, finding: &Finding) -> (String, Vec<GeneratedCase>) {
        let base = format!("seed-{}-{}-{}", self.seed, finding.number, finding.signature.format);
        let mut name = base.clone();
        let mut cases = self.named(finding, &name);
        for count in 2..NAMES {
            if cases.iter().all(|case| is_free(self.out, case)) {
                break;
            }
            name = format!("{base}-{count}");
            cases = self.named(finding, &name);
        }
        (name, cases)
    }

    fn named(&self, finding: &Finding, name: &str) -> Vec<GeneratedCase> {
        let draft = &finding.shrunk.draft;
        let title = format!("Found by fuzzing: {} ({name})", finding.signature);
        let reason = self.reason(finding);
        let origin = self.origin(finding);
        let about = CaseHeader { name, title: &title, reason: &reason, origin: &origin };
        let mut cases = vec![draft.case(&about)];
        if let (Expectation::Rejection(_), Some(without)) = (&draft.expectation, &finding.shrunk.twin) {
            let twin = twin(name);
            let title = format!("The session of {name} without its fault");
            let origin = format!("{origin}; without its fault");
            let reason = "It is read, since nothing is wrong with it.";
            cases.push(without.case(&CaseHeader { name: &twin, title: &title, reason, origin: &origin }));
        }
        cases
    }

    fn reason(&self, finding: &Finding) -> String {
        let mut parts = Vec::new();
        let sentences = finding.shrunk.draft.sentences();
        if !sentences.is_empty() {
            parts.push(sentences);
        }
        parts.push(match finding.shrunk.draft.expectation {
            Expectation::Meaning(_) => "The meaning is known from how the session was made.".to_owned(),
            Expectation::Rejection(_) => "It must be rejected, by construction.".to_owned(),
            Expectation::Either(Some(_)) => "It may be rejected; if it is read, it reads as this.".to_owned(),
            Expectation::Either(None) => "It may be read or rejected, in every format alike.".to_owned(),
        });
        if !finding.shrunk.steady {
            parts.push("The failure did not show up every time it was asked for.".to_owned());
        }
        parts.join(" ")
    }

    fn origin(&self, finding: &Finding) -> String {
        let draft = &finding.shrunk.draft;
        let trail = if draft.trail.is_empty() { "no change".to_owned() } else { draft.trail.join(", ") };
        let names: Vec<String> =
            self.importers.iter().map(|(name, version)| plain(&format!("{name} {version}"))).collect();
        format!(
            "found by fuzzing {}: seed {}, number {}, mcp-concord {}, trail: {trail}; {}, and shrunk from {} to {}",
            names.join(" against "),
            self.seed,
            finding.number,
            env!("CARGO_PKG_VERSION"),
            self.source,
            counted(finding.shrunk.messages.0, "message"),
            left(finding.shrunk.messages.1),
        )
    }

    fn head(&self, finding: &Finding, index: usize) -> String {
        let mut text = format!("finding {}: {}\n", index + 1, finding.signature);
        let Some(right) = finding.signature.right else { return text };
        let name = |which: usize| self.importers.get(which).map_or("", |(name, _)| name.as_str());
        let _ = match right {
            Ruling::First => {
                writeln!(text, "  the contract sides with {} against {}", plain(name(0)), plain(name(1)))
            }
            Ruling::Second => {
                writeln!(text, "  the contract sides with {} against {}", plain(name(1)), plain(name(0)))
            }
            Ruling::Neither => writeln!(text, "  the contract sides with neither of the two"),
            Ruling::Open => writeln!(text, "  the contract leaves open what they disagree on"),
        };
        let words = finding.shrunk.shown.first().and_then(|shown| shown.words.as_ref());
        for (which, words) in words.into_iter().flatten().enumerate() {
            let _ = writeln!(text, "  {}: {}", plain(name(which)), plain(words));
        }
        text
    }

    /// Each failing result, as `run` shows it.
    fn body(&self, finding: &Finding, name: &str) -> String {
        let Some(shown) = finding.shrunk.shown.first() else { return String::new() };
        let draft = &finding.shrunk.draft;
        let mut lines = shown.lines.clone();
        for (_, line) in &mut lines {
            line.case = name.to_owned();
            line.clauses = draft.clauses.iter().map(|&clause| clause.to_owned()).collect();
        }
        let all: Vec<CaseResult> = lines.iter().map(|(_, line)| line.clone()).collect();
        let mut note = CaseNote::new(&finding.signature.to_string(), &self.reason(finding));
        for (format, file) in &draft.files {
            let text = file.as_ref().map(|bytes| kept(&String::from_utf8_lossy(bytes)));
            note.transcripts.extend(text.ok().map(|text| (format.name.to_owned(), text)));
        }
        let suite = Suite::new("", "");
        let implementation = Implementation::new("", "", Level::Events);
        let record = Record::new(suite, implementation, BTreeMap::from([(name.to_owned(), note)]), all);
        let file = |line: &CaseResult| {
            let file = formats::find(&line.format)?.file;
            Some(self.out.join(name).join(file).display().to_string())
        };
        let mut text = String::new();
        for (who, line) in &lines {
            let open = matches!(draft.expectation, Expectation::Either(_));
            let what = if open { name.to_owned() } else { format!("{name}/{}", line.format) };
            let rerun = |_: &CaseResult| format!("{} --filter '{what}'", (self.run)(*who));
            let options = text::Options {
                colour: self.colour,
                volume: text::Verbosity::Normal,
                file: &file,
                rerun: &rerun,
            };
            text.push_str(&text::failure(&record, line, &options));
        }
        if lines.is_empty() {
            let _ = writeln!(text, "  = file: {}", plain(&self.out.join(name).display().to_string()));
            for clause in &draft.clauses {
                let title = transcript::clauses::find(clause).map_or("", |clause| clause.title);
                let _ = writeln!(text, "  = clause: {clause}: {title}");
            }
        }
        text
    }

    fn commands(&self, finding: &Finding, name: &str, saved: bool, text: &mut String) {
        let shrunk = &finding.shrunk;
        let _ = writeln!(text, "  = repeat: {} --first {} --runs 1", self.fuzz, finding.number);
        let _ = writeln!(
            text,
            "  = shrunk: from {} to {} in {}{}",
            counted(shrunk.messages.0, "message"),
            left(shrunk.messages.1),
            counted(shrunk.attempts, "attempt"),
            if shrunk.steady { "" } else { "; it did not show up again when it was asked for again" },
        );
        let others: Vec<&str> = shrunk
            .same(&finding.signature)
            .map(|signature| signature.format)
            .filter(|format| *format != finding.signature.format)
            .collect();
        if !others.is_empty() {
            let _ = writeln!(text, "  = also in: {}", others.join(", "));
        }
        if !saved {
            let _ = writeln!(text, "  = unsaved: the files of {} follow", plain(name));
        }
    }

    /// The end of a run: the counts.
    pub(crate) fn summary(&self, tally: &Tally, names: &[String], verbosity: Verbosity) -> String {
        let mut text = String::new();
        if tally.interrupted {
            text.push_str("interrupted; ");
        }
        let _ = write!(text, "{} of seed {}", counted(tally.runs, "run"), self.seed);
        if verbosity > Verbosity::Quiet {
            let _ = write!(text, ", {}", counted(tally.readings, "reading"));
        }
        let failures: u64 = tally.seen.values().map(|(_, count)| count).sum();
        let what = if self.importers.len() == 1 { "failure" } else { "disagreement" };
        let _ = match tally.findings {
            0 => writeln!(text, ": nothing found"),
            findings => writeln!(text, ": {} in {}", counted(findings, "finding"), counted(failures, what)),
        };
        for (index, name) in names.iter().enumerate() {
            // By kind, with the formats in which it showed.
            let mut kinds: BTreeMap<&Kind, Vec<(&str, u64)>> = BTreeMap::new();
            for (signature, (_, count)) in tally.seen.iter().filter(|(_, seen)| seen.0 == index && seen.1 > 0)
            {
                kinds.entry(&signature.kind).or_default().push((signature.format, *count));
            }
            for (kind, formats) in kinds {
                let all: u64 = formats.iter().map(|(_, count)| count).sum();
                let formats: Vec<_> = formats.iter().map(|(name, count)| format!("{name} {count}")).collect();
                let _ = writeln!(text, "  {all:>5}  {name}: {kind} ({})", formats.join(", "));
            }
        }
        if verbosity > Verbosity::Quiet {
            if tally.known > 0 {
                let _ = writeln!(
                    text,
                    "  {:>5}  known: failures of kinds that the baseline lets pass",
                    tally.known
                );
            }
            for (count, why) in [
                (tally.uncarried, "a format could not carry the variant"),
                (tally.skipped, "the importer does not read it"),
                (tally.unjudged, "its meaning in the dialect is not known by construction"),
                (tally.none, "the session had too little to change"),
            ] {
                if count > 0 {
                    let _ = writeln!(text, "  {count:>5}  left out: {why}");
                }
            }
        }
        text
    }
}

/// Every file of a case, so that it can be put together by hand.
fn in_full((name, files): &GeneratedCase, text: &mut String) {
    for (file, bytes) in files {
        let printable = |text: &&str| text.chars().all(|char| char == '\n' || !char.is_control());
        match std::str::from_utf8(bytes).ok().filter(printable) {
            Some(plain) => {
                let _ = writeln!(text, "--- {name}/{file}\n{plain}");
            }
            None => {
                let _ = writeln!(
                    text,
                    "--- {name}/{file}, with escapes as in a C string\n{}",
                    bytes.escape_ascii()
                );
            }
        }
    }
    let _ = writeln!(text, "---");
}

/// What shrinking left of a session: what goes wrong may need no message.
fn left(messages: usize) -> String {
    if messages == 0 { "a file without messages".to_owned() } else { counted(messages, "message") }
}
