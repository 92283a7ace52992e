//! What `check` found in recordings, as a page: each finding where it stands, in the order of the recording.
//!
//! The lines that `check --output json` prints, whoever kept them.

use super::cases::{Choice, Filter};
use super::labels::{WIDTH, cut, named, plain};
use super::renderer::{HtmlRenderer, PageLocation};
use rules::rule::Rule;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A line of `check --output json`.
#[derive(Debug, Clone, Deserialize)]
pub struct Finding {
    /// The rule's id.
    pub rule: String,
    /// What came of it.
    pub verdict: Verdict,
    /// How much it binds.
    pub level: String,
    /// Who is at fault.
    pub party: String,
    /// The recording.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// JSON pointer into the document or the line.
    pub pointer: Option<String>,
    /// JSON pointer into the text at that place.
    pub within: Option<String>,
    /// What is wrong, or what would decide it.
    pub message: String,
    /// The page of the document that was broken, in the recording's revision.
    pub link: Option<String>,
    /// What stands there.
    pub snippet: Option<String>,
    /// The other message that matters.
    pub other: Option<Other>,
    /// So many more like this are not listed.
    #[serde(default)]
    pub more: u64,
}

/// Another message that matters to a finding.
#[derive(Debug, Clone, Deserialize)]
pub struct Other {
    /// What it is.
    pub what: String,
    /// Its line, from 1.
    pub line: u64,
    /// What stands there.
    pub snippet: String,
}

/// What came of a rule at a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Broken, and it binds.
    Fail,
    /// Broken, and it is advice.
    Warn,
    /// Worth knowing.
    Info,
    /// The recording does not tell.
    Inconclusive,
    /// Kept.
    Pass,
    /// Nothing called for it.
    NotApplicable,
}

impl Verdict {
    /// Name, tone and digit of those that a page lists one by one.
    fn shown(self) -> Option<(&'static str, &'static str, char)> {
        match self {
            Self::Fail => Some(("error", "bad", '0')),
            Self::Warn => Some(("warning", "known", '1')),
            Self::Info => Some(("note", "faint", '2')),
            Self::Inconclusive | Self::Pass | Self::NotApplicable => None,
        }
    }
}

#[derive(Debug, Serialize)]
struct Page {
    files: Vec<File>,
    filter: Filter,
}

#[derive(Debug, Default, Serialize)]
struct File {
    name: String,
    errors: u64,
    warnings: u64,
    notes: u64,
    kept: usize,
    findings: Vec<Shown>,
    unsure: Vec<(String, String, String)>,
}

#[derive(Debug, Serialize)]
struct Shown {
    #[serde(skip)]
    at: (u64, String),
    word: &'static str,
    tone: &'static str,
    code: char,
    rule: String,
    href: Option<String>,
    title: Option<&'static str>,
    fix: Option<&'static str>,
    source: Option<&'static str>,
    link: Option<String>,
    level: String,
    party: String,
    line: Option<u64>,
    pointer: String,
    message: String,
    snippet: Option<String>,
    other: Option<(String, u64, String)>,
    more: u64,
}

impl HtmlRenderer {
    /// The page of what was found in recordings.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn findings(&self, findings: &[Finding], place: PageLocation<'_>) -> Result<String, tera::Error> {
        let mut files: Vec<File> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in findings {
            let number = *known.entry(&finding.file).or_insert_with(|| {
                files.push(File { name: plain(&finding.file), ..File::default() });
                files.len() - 1
            });
            if let Some(file) = files.get_mut(number) {
                file.take(finding);
            }
        }
        for file in &mut files {
            file.findings.sort_by(|a, b| a.at.cmp(&b.at));
        }
        let all = || files.iter().flat_map(|file| &file.findings);
        let verdicts = [Verdict::Fail, Verdict::Warn, Verdict::Info];
        let verdicts = verdicts.into_iter().filter_map(Verdict::shown);
        let there = verdicts.filter(|(_, _, code)| all().any(|it| it.code == *code));
        let filter = Filter {
            topics: files.iter().map(|file| file.name.clone()).collect(),
            clauses: all().map(|finding| finding.rule.clone()).collect(),
            verdicts: there.map(|(name, _, code)| Choice { name, code: code.to_string() }).collect(),
            ..Filter::of("findings")
        };
        let page = Page { files, filter };
        self.render("findings.html", place, "What check found in recordings", &page)
    }
}

impl File {
    fn take(&mut self, finding: &Finding) {
        let times = 1 + finding.more;
        match finding.verdict {
            Verdict::Fail => self.errors += times,
            Verdict::Warn => self.warnings += times,
            Verdict::Info => self.notes += times,
            Verdict::Pass => self.kept += 1,
            Verdict::Inconclusive => {
                let rule = rules::find(&finding.rule).map_or("", |rule| rule.title);
                self.unsure.push((plain(&finding.rule), rule.to_owned(), cut(&finding.message, WIDTH)));
            }
            Verdict::NotApplicable => {}
        }
        if let Some((word, tone, code)) = finding.verdict.shown() {
            self.findings.push(shown(finding, word, tone, code));
        }
    }
}

/// The page that a finding leads to. Whoever wrote the findings may have written anything there, so it is one of the rule's own.
fn document(rule: &Rule, finding: &Finding) -> Option<String> {
    let own = finding.link.clone().filter(|link| rule.links().contains(link));
    own.or_else(|| rule.link(None))
}

fn shown(finding: &Finding, word: &'static str, tone: &'static str, code: char) -> Shown {
    let rule = rules::find(&finding.rule);
    let pointer = finding.pointer.clone().unwrap_or_default();
    let within = finding.within.as_ref().map(|within| format!(" (in the text: {within})"));
    let other = |other: &Other| (plain(&other.what), other.line, cut(&other.snippet, WIDTH));
    Shown {
        at: (finding.line.unwrap_or_default(), pointer.clone()),
        word,
        tone,
        code,
        rule: plain(&finding.rule),
        href: rule.map(|rule| format!("rules.html#{}", named("rule", rule.id))),
        title: rule.map(|rule| rule.title),
        fix: rule.map(|rule| rule.fix),
        source: rule.map(|rule| rule.source),
        link: rule.and_then(|rule| document(rule, finding)),
        level: plain(&finding.level),
        party: plain(&finding.party),
        line: finding.line.filter(|line| *line > 0),
        pointer: plain(&(pointer + &within.unwrap_or_default())),
        message: cut(&finding.message, WIDTH),
        snippet: finding.snippet.as_ref().map(|snippet| cut(snippet, WIDTH)),
        other: finding.other.as_ref().map(other),
        more: finding.more,
    }
}
