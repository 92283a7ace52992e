//! What a site refers to, a page each: the clauses of the reading contract with the cases that show each, the rules of `check` with
//! the cases that break and keep each, and the capture formats with what each can carry.

use super::cases::Filter;
use super::labels::{in_lines, named, plain};
use super::renderer::{HtmlRenderer, PageLocation};
use formats::{Capabilities, FORMATS, Format};
use rules::rule::{Level, Rule};
use rules::{FAMILIES, Family};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use transcript::clauses::{self, Clause};

/// A case, as lists name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
}

impl HtmlRenderer {
    /// The page of the clauses. `cases` are those that show each clause, by its id; `matrix` says whether the first page has a
    /// matrix to lead to.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn clauses(
        &self,
        cases: &BTreeMap<&str, Vec<Case>>,
        matrix: bool,
        place: PageLocation<'_>,
    ) -> Result<String, tera::Error> {
        let all: Vec<&Clause> = clauses::all().collect();
        let shown = |clause: &&Clause| {
            let cases = cases.get(clause.id).map(Vec::as_slice).unwrap_or_default();
            (named("clause", clause.id), shown(clause, cases))
        };
        let families = all.chunk_by(|a, b| a.family == b.family).filter_map(|family| {
            Some((family.first()?.family, family.iter().map(shown).collect::<Vec<_>>()))
        });
        let topics = all.iter().map(|clause| clause.family.to_owned()).collect();
        let page = json!({
            "families": families.collect::<Vec<_>>(),
            "matrix": matrix,
            "count": all.len(),
            "filter": Filter { what: "clauses", topics, ..Filter::default() },
        });
        self.render("clauses.html", place, "The clauses of the reading contract", &page)
    }
}

fn shown(clause: &Clause, cases: &[Case]) -> Value {
    let case = |case: &Case| Case { name: plain(&case.name), title: plain(&case.title) };
    json!({
        "id": clause.id, "family": clause.family, "title": clause.title, "rule": clause.rule, "why": clause.why,
        "source": clause.source, "open": clause.open,
        "right": [in_lines(clause.right.text), plain(clause.right.reading)],
        "wrong": [in_lines(clause.wrong.text), plain(clause.wrong.reading)],
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
    })
}

/// The cases that show rules, by the rule's id.
#[derive(Debug, Clone, Default)]
pub struct RuleCases {
    /// Those that break it.
    pub breaks: BTreeMap<String, Vec<Case>>,
    /// Those that keep it.
    pub keeps: BTreeMap<String, Vec<Case>>,
}

/// How much rules bind, with the digit for the filter.
const LEVELS: [(Level, char); 3] = [(Level::Must, '0'), (Level::Should, '1'), (Level::Info, '2')];

impl HtmlRenderer {
    /// The page of the rules.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn rules(&self, cases: &RuleCases, place: PageLocation<'_>) -> Result<String, tera::Error> {
        let families = FAMILIES.iter().filter(|family| !family.rules.is_empty());
        let families: Vec<_> = families.collect();
        let filter = Filter {
            what: "rules",
            topics: families.iter().map(|family| plain(family.title)).collect(),
            verdicts: LEVELS.map(|(level, code)| (level.name(), code.to_string())).into(),
            ..Filter::default()
        };
        let family = |family: &&Family| {
            let rules: Vec<Value> = family.rules.iter().map(|rule| shown_rule(rule, cases)).collect();
            json!({ "name": family.name, "title": family.title, "rules": rules })
        };
        let count: usize = families.iter().map(|family| family.rules.len()).sum();
        let families: Vec<Value> = families.iter().map(family).collect();
        let page = json!({ "count": count, "families": families, "filter": filter });
        self.render("rules.html", place, "The rules of check", &page)
    }
}

fn shown_rule(rule: &Rule, cases: &RuleCases) -> Value {
    let mut level = rule.level.name().to_owned();
    if let Some((since, raised)) = rule.raised {
        level.push_str(&format!(", {} from {since} on", raised.name()));
    }
    let of = |by: &BTreeMap<String, Vec<Case>>| by.get(rule.id).cloned().unwrap_or_default();
    json!({
        "id": rule.id,
        "anchor": named("rule", rule.id),
        "level": level,
        "code": LEVELS.iter().find(|(level, _)| *level == rule.level).map_or('-', |(_, code)| *code),
        "party": rule.party.name(), "span": rule.span.to_string(),
        "title": rule.title, "why": rule.why, "fix": rule.fix, "source": rule.source, "link": rule.link(None),
        "contested": rule.contested,
        "needs": rule.needs.iter().map(|need| need.lack()).collect::<Vec<_>>(),
        "breaks": of(&cases.breaks), "keeps": of(&cases.keeps),
    })
}

impl HtmlRenderer {
    /// The page of the formats; `cases` says how many cases of the suite have a transcript in each, by its name.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn formats(
        &self,
        cases: &BTreeMap<&str, usize>,
        place: PageLocation<'_>,
    ) -> Result<String, tera::Error> {
        let format = |format: &&Format| {
            let Format { name, aliases, file, about, caveat, .. } = format;
            let cases = cases.get(name).copied().unwrap_or_default();
            let shown = json!({
                "name": name, "aliases": aliases, "file": file, "about": about, "caveat": caveat, "cases": cases,
            });
            (named("format", name), shown)
        };
        let formats: Vec<(String, Value)> = FORMATS.iter().map(format).collect();
        let carried: Vec<_> = FORMATS.iter().map(|format| carried(format.carries)).collect();
        let row = |at: usize, what: &str| {
            (what.to_owned(), carried.iter().map(|row| row[at].1).collect::<Vec<_>>())
        };
        let rows: Vec<_> = carried[0].iter().enumerate().map(|(at, (what, _))| row(at, what)).collect();
        let page = json!({ "formats": formats, "rows": rows });
        self.render("formats.html", place, "What each capture format can carry", &page)
    }
}

/// What a format carries, in words.
fn carried(carries: Capabilities) -> [(&'static str, bool); 12] {
    let Capabilities {
        direction,
        times,
        times_beside_calls,
        times_before_1970,
        http,
        repeats,
        exchanges,
        sizes,
        sse,
        process,
        numbering,
        challenge,
    } = carries;
    [
        ("who sent each message", direction),
        ("when it was sent", times),
        ("when the handshake and the server's notifications were sent", times && times_beside_calls),
        ("when, before 1970", times && times_before_1970),
        ("HTTP methods, statuses and headers", http),
        ("several headers of one name apart from each other", repeats),
        ("whole HTTP exchanges: which answer came to which request, with its URL", exchanges),
        ("the size of a body, also where a part of it is missing", sizes),
        ("SSE event names and ids", sse),
        ("the server's command line and exit code", process),
        ("what the recorder says that it lost or cut", numbering),
        ("a 401's challenge, and so the summary of K2-A", challenge),
    ]
}
