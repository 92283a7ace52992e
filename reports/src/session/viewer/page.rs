//! The page: one file that opens from disk, runs no script and no style but its own, by their digests, and asks nothing of
//! any network. Without its script it says so, and shows a short session in words.

use super::model::Model;
use crate::encoding::digest;
use crate::plain;
use crate::session::diagram::Diagram;
use rules::record::CheckedFile;
use serde::Serialize;
use tera::{Context, Tera};

const TEMPLATE: &str = include_str!("../../../templates/viewer/page.html");
const STYLE: &str = concat!(
    include_str!("../../../templates/viewer/style.css"),
    include_str!("../../../templates/viewer/narrow.css")
);
const SCRIPT: &str = concat!(
    include_str!("../../../templates/viewer/session.js"),
    include_str!("../../../templates/viewer/details.js"),
    include_str!("../../../templates/viewer/timeline.js"),
    include_str!("../../../templates/viewer/list.js"),
    include_str!("../../../templates/viewer/viewer.js"),
);

/// Where the model goes. No text of the page has a `<` of its own.
const MODEL: &str = "<!-- model -->";
/// How many rows are in words, for a browser that runs no script.
const WORDS: usize = 500;

#[derive(Debug, Serialize)]
struct Words {
    title: String,
    overview: String,
    findings: Vec<String>,
    rows: Vec<String>,
    more: usize,
}

/// The page of a session, drawn with its sources, and of what came of judging each of its recordings, in their order.
///
/// # Errors
/// Where the template cannot be rendered.
pub fn page(diagram: &Diagram, judged: &[CheckedFile]) -> Result<String, tera::Error> {
    let model = Model::new(diagram, judged).embedded().map_err(tera::Error::message)?;
    let found = judged.iter().flat_map(|file| &file.lines).filter(|line| line.is_finding());
    let rejected = diagram.foot.iter().map(|it| format!("{}: {}", it.name, it.text));
    let words = Words {
        title: plain::cut(&diagram.title, 200),
        overview: diagram.overview(),
        findings: rejected
            .chain(found.map(|line| {
                format!("{} {}, by {}: {}", line.level.name(), line.rule, line.party, line.message)
            }))
            .take(WORDS)
            .map(|text| plain::cut(&text, 400))
            .collect(),
        rows: diagram.rows.iter().take(WORDS).map(|row| diagram.sentence(row)).collect(),
        more: diagram.rows.len().saturating_sub(WORDS),
    };
    let mut tera = Tera::new();
    tera.add_raw_template("page.html", TEMPLATE)?;
    let mut context = Context::new();
    context.insert("page", &words);
    context.insert("version", env!("CARGO_PKG_VERSION"));
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("style_hash", &digest(STYLE));
    context.insert("script_hash", &digest(SCRIPT));
    let mut page = tera.render("page.html", &context)?;
    match page.find(MODEL) {
        Some(at) => page.replace_range(at..at + MODEL.len(), &model),
        None => return Err(tera::Error::message("the page has no place for the session")),
    }
    Ok(page)
}

#[cfg(test)]
mod tests;
