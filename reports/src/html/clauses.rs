//! The clauses of the reading contract as a page: what each says, where it comes from, and the cases that show it.
//!
//! Knows: what is shown of a clause. Refuses to know: which clauses there are; the caller hands them over.

use super::labels::{in_lines, named, plain};
use super::matrix::Filter;
use super::renderer::{HtmlRenderer, PageLocation};
use serde::Serialize;

/// A clause of the reading contract.
#[derive(Debug, Clone, Serialize)]
pub struct Clause {
    /// The id.
    pub id: String,
    /// The family that it is listed under.
    pub family: String,
    /// A line that fits in a list.
    pub title: String,
    /// What it asks.
    pub rule: String,
    /// Why.
    pub why: String,
    /// The documents and headings that it follows.
    pub source: Vec<String>,
    /// An importer may choose.
    pub open: bool,
    /// A transcript text that is read rightly, and how.
    pub right: [String; 2],
    /// One that is read wrongly, and how.
    pub wrong: [String; 2],
    /// The cases that show it.
    pub cases: Vec<Case>,
}

/// A case, as lists name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Case {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
}

#[derive(Debug, Serialize)]
struct Page {
    /// By family, each clause with its anchor.
    families: Vec<(String, Vec<(String, Clause)>)>,
    /// The pages with a matrix that can be filtered by a clause.
    matrix: bool,
    count: usize,
    filter: Filter,
}

impl HtmlRenderer {
    /// The page of the clauses; `matrix` says whether the first page has a matrix to lead to.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn clauses(
        &self,
        clauses: &[Clause],
        matrix: bool,
        place: PageLocation<'_>,
    ) -> Result<String, tera::Error> {
        let families = clauses.chunk_by(|a, b| a.family == b.family).filter_map(|family| {
            let shown = family.iter().map(|clause| (named("clause", &clause.id), shown(clause)));
            Some((plain(&family.first()?.family), shown.collect()))
        });
        let filter = Filter {
            topics: clauses.iter().map(|clause| plain(&clause.family)).collect(),
            ..Filter::of("clauses")
        };
        let page = Page { families: families.collect(), matrix, count: clauses.len(), filter };
        self.render("clauses.html", place, "The clauses of the reading contract", &page)
    }
}

/// A clause without a sign in it that a page would obey.
fn shown(clause: &Clause) -> Clause {
    let example = |[text, reading]: &[String; 2]| [in_lines(text), plain(reading)];
    let case = |case: &Case| Case { name: plain(&case.name), title: plain(&case.title) };
    Clause {
        id: plain(&clause.id),
        family: plain(&clause.family),
        title: plain(&clause.title),
        rule: plain(&clause.rule),
        why: plain(&clause.why),
        source: clause.source.iter().map(|source| plain(source)).collect(),
        open: clause.open,
        right: example(&clause.right),
        wrong: example(&clause.wrong),
        cases: clause.cases.iter().map(case).collect(),
    }
}
