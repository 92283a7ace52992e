//! The capture formats as a page: what each can carry.
//!
//! Knows: the table. Refuses to know: the formats; the caller hands over what their code says of them.

use super::labels::named;
use super::renderer::{HtmlRenderer, PageLocation};
use serde::Serialize;

/// A capture format.
#[derive(Debug, Clone, Serialize)]
pub struct Format {
    /// Its name.
    pub name: String,
    /// Other names that are understood.
    pub aliases: Vec<String>,
    /// The name of such a file in a case directory.
    pub file: String,
    /// What it is, in a few words.
    pub about: String,
    /// What to know before such files are compared or converted; empty where there is nothing.
    pub caveat: String,
    /// What it carries: in each format the same questions in the same order, each with its answer.
    pub carries: Vec<(String, bool)>,
    /// How many cases of the suite have a transcript in it.
    pub cases: usize,
}

#[derive(Debug, Serialize)]
struct Page<'p> {
    formats: Vec<(String, &'p Format)>,
    rows: Vec<(&'p str, Vec<bool>)>,
}

impl HtmlRenderer {
    /// The page of the formats.
    ///
    /// # Errors
    /// Where the template cannot be rendered.
    pub fn formats(&self, formats: &[Format], place: PageLocation<'_>) -> Result<String, tera::Error> {
        let first = formats.first().map(|format| format.carries.as_slice()).unwrap_or_default();
        let answers = |number: usize| {
            let answer = |format: &Format| format.carries.get(number).is_some_and(|(_, carried)| *carried);
            formats.iter().map(answer).collect()
        };
        let page = Page {
            formats: formats.iter().map(|format| (named("format", &format.name), format)).collect(),
            rows: first.iter().enumerate().map(|(number, (what, _))| (&**what, answers(number))).collect(),
        };
        self.render("formats.html", place, "What each capture format can carry", &page)
    }
}
