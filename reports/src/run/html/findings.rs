//! What `check` found in recordings, as a page: the findings in the order of the recording.
//!
//! Made of the lines that `check --output json` prints.

use super::cases::Filter;
use super::labels::{WIDTH, cut, named, plain};
use super::renderer::{HtmlRenderer, PageLocation};
use rules::RuleVerdict;
use rules::record::Totals;
use rules::rule::Rule;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// A line of `check --output json`.
#[derive(Debug, Clone, Deserialize)]
pub struct Finding {
    rule: String,
    verdict: RuleVerdict,
    level: String,
    party: String,
    file: String,
    line: Option<u64>,
    pointer: Option<String>,
    /// JSON pointer into the text at that place.
    within: Option<String>,
    message: String,
    /// The page of the document that was broken, in the recording's revision.
    link: Option<String>,
    snippet: Option<String>,
    other: Option<OtherMessage>,
    /// How many more like this are not listed.
    #[serde(default)]
    more: u64,
}

/// Another message that matters to a finding.
#[derive(Debug, Clone, Deserialize)]
struct OtherMessage {
    what: String,
    line: u64,
    snippet: String,
}

/// Name, tone and digit of the verdicts that a page lists one by one.
const SHOWN: [(RuleVerdict, &str, &str, char); 3] = [
    (RuleVerdict::Fail, "error", "bad", '0'),
    (RuleVerdict::Warn, "warning", "known", '1'),
    (RuleVerdict::Info, "note", "faint", '2'),
];

/// A recording's findings.
#[derive(Debug, Default, Serialize)]
struct FileFindings {
    name: String,
    #[serde(flatten)]
    totals: Totals,
    /// The line and the pointer of each, and what is shown of it.
    #[serde(skip)]
    places: Vec<(u64, String, Value)>,
    /// In the order of the recording.
    findings: Vec<Value>,
    unsure: Vec<(String, &'static str, String)>,
}

impl HtmlRenderer {
    /// The page of what was found in recordings.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn findings(&self, findings: &[Finding], place: PageLocation<'_>) -> Result<String, tera::Error> {
        let mut files: Vec<FileFindings> = Vec::new();
        let mut known: BTreeMap<&str, usize> = BTreeMap::new();
        for finding in findings {
            let number = *known.entry(&finding.file).or_insert_with(|| {
                files.push(FileFindings { name: plain(&finding.file), ..FileFindings::default() });
                files.len() - 1
            });
            if let Some(file) = files.get_mut(number) {
                file.take(finding);
            }
        }
        let mut filter = Filter { what: "findings", ..Filter::default() };
        for file in &mut files {
            file.places.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
            file.findings = std::mem::take(&mut file.places).into_iter().map(|(_, _, shown)| shown).collect();
            filter.topics.insert(file.name.clone());
        }
        filter.clauses =
            findings.iter().filter(|it| it.shown().is_some()).map(|it| plain(&it.rule)).collect();
        let there = SHOWN.iter().filter(|shown| findings.iter().any(|finding| finding.verdict == shown.0));
        filter.verdicts = there.map(|(_, name, _, code)| (*name, code.to_string())).collect();
        let page = json!({ "files": files, "filter": filter });
        self.render("findings.html", place, "What check found in recordings", &page)
    }
}

impl FileFindings {
    fn take(&mut self, finding: &Finding) {
        self.totals.add(finding.verdict, 1 + finding.more);
        if finding.verdict == RuleVerdict::Inconclusive {
            let rule = rules::find(&finding.rule).map_or("", |rule| rule.title);
            self.unsure.push((plain(&finding.rule), rule, cut(&finding.message, WIDTH)));
        }
        if let Some(shown) = finding.shown() {
            let pointer = finding.pointer.clone().unwrap_or_default();
            self.places.push((finding.line.unwrap_or_default(), pointer, shown));
        }
    }
}

/// The page that a finding leads to. The findings may come from anywhere, so it is one of the rule's own.
fn document(rule: &Rule, finding: &Finding) -> Option<String> {
    let own = finding.link.clone().filter(|link| rule.links().contains(link));
    own.or_else(|| rule.link(None))
}

impl Finding {
    /// What a page shows of it; none where it is of a rule that was not broken.
    fn shown(&self) -> Option<Value> {
        let (_, word, tone, code) = SHOWN.iter().find(|shown| shown.0 == self.verdict)?;
        let rule = rules::find(&self.rule);
        let within = self.within.as_ref().map(|within| format!(" (in the text: {within})"));
        let pointer = self.pointer.clone().unwrap_or_default() + &within.unwrap_or_default();
        let other = |other: &OtherMessage| (plain(&other.what), other.line, cut(&other.snippet, WIDTH));
        Some(json!({
            "word": word,
            "tone": tone,
            "code": code,
            "rule": plain(&self.rule),
            "href": rule.map(|rule| format!("rules.html#{}", named("rule", rule.id))),
            "title": rule.map(|rule| rule.title),
            "fix": rule.map(|rule| rule.fix),
            "source": rule.map(|rule| rule.source),
            "link": rule.and_then(|rule| document(rule, self)),
            "level": plain(&self.level),
            "party": plain(&self.party),
            "line": self.line.filter(|line| *line > 0),
            "pointer": plain(&pointer),
            "message": cut(&self.message, WIDTH),
            "snippet": self.snippet.as_ref().map(|snippet| cut(snippet, WIDTH)),
            "other": self.other.as_ref().map(other),
            "more": self.more,
        }))
    }
}
