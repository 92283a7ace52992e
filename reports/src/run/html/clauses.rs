//! The clauses of the reading contract as a page: what each says, where it comes from, and the cases that show it.

use super::cases::Filter;
use super::labels::{in_lines, named, plain};
use super::renderer::{HtmlRenderer, PageLocation};
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
        "source": clause.source.lines().collect::<Vec<_>>(), "open": clause.open,
        "right": [in_lines(clause.right.text), plain(clause.right.reading)],
        "wrong": [in_lines(clause.wrong.text), plain(clause.wrong.reading)],
        "cases": cases.iter().map(case).collect::<Vec<_>>(),
    })
}
