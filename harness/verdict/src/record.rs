//! The record of a run: what every report is rendered from.

mod case_result;
mod compact;
mod extent;

use crate::answer::Level;
use crate::verdict::Verdict;
use case_result::is_default;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use transcript::dialect;

pub use case_result::{BothSides, CaseResult, Difference, Place, Reason, kept};

/// The version of this shape.
pub const SCHEMA: u32 = 1;

/// The version of the reading contract that is judged by.
pub const CONTRACT: &str = "1";

/// A whole run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// What was run.
    pub suite: Suite,
    /// What it was run against.
    pub implementation: Implementation,
    /// What kind of program that is; an importer where a record says nothing.
    #[serde(default, skip_serializing_if = "is_default")]
    pub subject: Subject,
    /// The command that runs the whole of it again; none where no command line ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The day when it was run, as `2026-11-27`, where somebody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The last day on which it is to be believed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// That day is over. It stands in no file, since it is a matter of today.
    #[serde(skip)]
    pub expired: bool,
    /// The part of the suite that this is, where it is not the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardPart>,
    /// How many readings were planned, but for those that an interrupt left; the totals add up to it, or the run is not a run.
    pub planned: u64,
    /// How many more were planned, and have no verdict since the run ended before its end.
    #[serde(default, skip_serializing_if = "is_default")]
    pub interrupted: u64,
    /// The number of failures with which the run ended, where it did; `interrupted` then counts what that left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_failures: Option<u64>,
    /// How many came to each verdict; a verdict that no reading came to is left out.
    pub totals: BTreeMap<Verdict, u64>,
    /// The cases of the plan by name.
    pub cases: BTreeMap<String, CaseNote>,
    /// The clauses that these cases cite, by id, with their titles.
    pub clauses: BTreeMap<String, String>,
    /// The verdicts of a compact record, whose results are only its failures; see [`Record::expand`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact: Option<Compact>,
    /// Every reading, in the order of the plan.
    pub results: Vec<CaseResult>,
}

/// What kind of program was judged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// An importer: each result is what it made of one case in one format.
    #[default]
    Importer,
    /// A recorder: each result is one dimension of a session that was played through it.
    Recorder,
}

/// Which suite.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Suite {
    /// The version of the program that brought it.
    pub version: String,
    /// `sha256:` and the digest over all its cases, whether or not they were selected.
    pub digest: String,
    /// [`CONTRACT`].
    pub contract: String,
    /// What its cases were generated from; none where they were written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

impl Suite {
    /// A suite that was written, not generated, judged by this version of the contract.
    pub fn new(version: &str, digest: &str) -> Self {
        let (version, digest) = (version.to_owned(), digest.to_owned());
        Self { version, digest, contract: CONTRACT.to_owned(), seed: None }
    }
}

/// One of several parts of a suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ShardPart {
    /// Which, from 1.
    pub part: u64,
    /// Of how many.
    pub of: u64,
}

/// Which importer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Implementation {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it can show.
    pub level: Level,
    /// The dialect that it was judged in; none where that is the contract itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<String>,
    /// `sha256:` and the digest of its files, where somebody named them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Implementation {
    /// An importer that was judged by the contract itself.
    pub fn new(name: &str, version: &str, level: Level) -> Self {
        Self { name: name.to_owned(), version: version.to_owned(), level, dialect: None, digest: None }
    }

    /// The same, judged in the dialect of this name.
    #[must_use]
    pub fn in_dialect(self, name: &str) -> Self {
        Self { dialect: Some(name.to_owned()).filter(|name| name != dialect::DEFAULT), ..self }
    }

    /// Whether it is the same program, in whatever version, judged in the same dialect.
    pub fn is_of(&self, other: &Self) -> bool {
        self.name == other.name && self.dialect == other.dialect
    }

    /// `name version`, with the dialect where it is not the contract itself: what a report calls the run.
    pub fn title(&self) -> String {
        let dialect = self.dialect.as_ref().map(|name| format!(", dialect {name}")).unwrap_or_default();
        format!("{} {}{dialect}", self.name, self.version)
    }
}

/// What a case says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseNote {
    /// Its title.
    pub title: String,
    /// Its words for the person whose importer fails it.
    pub reason: String,
    /// Its transcripts by format, where a reading of it fell short; cut where they are long.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub transcripts: BTreeMap<String, String>,
    /// The lines of these transcripts that matter to what fell short, from 1, by format.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub lines: BTreeMap<String, Vec<u64>>,
}

impl CaseNote {
    /// A case that no reading fell short of yet.
    pub fn new(title: &str, reason: &str) -> Self {
        Self { title: title.to_owned(), reason: reason.to_owned(), ..Self::default() }
    }
}

/// The verdicts of a record whose results hold only the failures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Compact {
    /// The formats, in the order of the letters.
    pub formats: Vec<String>,
    /// The cases, each with a letter a format: `.` pass, `s` skip, `x` expected-fail, `X` unexpected-pass, `F` fail, `C`
    /// crash, `T` timeout, `G` garbled, `U` unstable, `-` not planned, as are the formats behind the last letter.
    pub verdicts: BTreeMap<String, String>,
    /// The reasons of a baseline, each with the failures that it lets pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<Known>,
    /// Why results were skipped, each with the results: `case/format`, or `*/format` for the others of a format. `{format}` at
    /// the beginning stands for its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, Vec<String>>,
    /// What is to be said of passes, each with the results as `case/format`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub remarks: BTreeMap<String, Vec<String>>,
    /// The results that lost a message in silence, known failures among them, each as `case/format`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent_losses: Vec<String>,
}

/// A reason of a baseline and the failures that it lets pass.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Known {
    /// The reason.
    #[serde(flatten)]
    pub reason: Reason,
    /// The failures, each as `case/format`.
    pub results: Vec<String>,
}

impl Record {
    /// What is counted, and of what: results of cases, or dimensions of sessions where a recorder was judged.
    pub fn counts(&self) -> (&'static str, &'static str) {
        match self.subject {
            Subject::Importer => ("result", "case"),
            Subject::Recorder => ("dimension", "session"),
        }
    }

    /// A record of these results. The totals are counted here, so that they add up to the plan.
    pub fn new(
        suite: Suite,
        implementation: Implementation,
        cases: BTreeMap<String, CaseNote>,
        results: Vec<CaseResult>,
    ) -> Self {
        let planned = results.len() as u64;
        let clauses = cited(&results, implementation.dialect.as_deref());
        let mut record = Self {
            schema: SCHEMA,
            suite,
            implementation,
            subject: Subject::default(),
            command: None,
            date: None,
            expires: None,
            expired: false,
            shard: None,
            planned,
            interrupted: 0,
            max_failures: None,
            totals: BTreeMap::new(),
            cases,
            clauses,
            compact: None,
            results,
        };
        record.recount();
        record
    }

    /// Counts the verdicts again, after some were changed.
    pub fn recount(&mut self) {
        self.totals.clear();
        for line in &self.results {
            *self.totals.entry(line.verdict).or_default() += 1;
        }
    }
}

/// The clauses that results cite, with their titles.
fn cited(results: &[CaseResult], dialect: Option<&str>) -> BTreeMap<String, String> {
    let dialect = dialect.and_then(|name| dialect::find(name).ok()).unwrap_or(&dialect::ALL[0]);
    let title = |id: &str| dialect.clause(id).map_or("", |clause| clause.title).to_owned();
    results.iter().flat_map(|result| &result.clauses).map(|id| (id.clone(), title(id))).collect()
}

#[cfg(test)]
mod tests;
