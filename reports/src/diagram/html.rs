//! A session as one HTML page that opens from disk: the picture, what was found, and every row in a sentence.
//!
//! The template, and that the page runs no script and no style but its own, by its digest.

use super::canvas::STYLE;
use super::line_text::cut;
use super::model::{Annotation, DETAIL, Diagram, NAME, Row};
use super::svg::{SvgOptions, svg};
use crate::digest::digest;
use serde::Serialize;
use tera::{Context, Tera};

const TEMPLATE: &str = include_str!("../../templates/show.html");
const PAGE: &str = include_str!("../../templates/style.css");

#[derive(Debug, Serialize)]
struct Page {
    title: String,
    overview: String,
    svg: String,
    findings: Vec<Finding>,
    rows: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Finding {
    class: &'static str,
    sign: &'static str,
    level: &'static str,
    name: String,
    text: String,
    /// The row that it is about, by its place in the list.
    row: Option<usize>,
}

/// The page.
///
/// # Errors
/// Where a template cannot be rendered.
pub fn html(diagram: &Diagram) -> Result<String, tera::Error> {
    let mut findings: Vec<Finding> =
        diagram.foot.iter().map(|annotation| finding(annotation, None)).collect();
    for (row, at) in diagram.rows.iter().zip(1..) {
        let annotations: &[Annotation] = match row {
            Row::Arrow(arrow) => &arrow.annotations,
            Row::Note(note) => &note.annotations,
            Row::Fold(_) => &[],
        };
        findings.extend(annotations.iter().map(|annotation| finding(annotation, Some(at))));
    }
    let page = Page {
        title: cut(&diagram.title, 200),
        overview: diagram.overview(),
        svg: svg(diagram, SvgOptions { standalone: false, ..SvgOptions::default() })?,
        findings,
        rows: diagram.rows.iter().map(|row| diagram.sentence(row)).collect(),
    };
    // The name of a recording is a path, and may be longer than a telephone is wide.
    let style = format!("{PAGE}{STYLE}h1 {{ overflow-wrap: anywhere; }}\n");
    let mut tera = Tera::new();
    tera.add_raw_template("show.html", TEMPLATE)?;
    let mut context = Context::new();
    context.insert("page", &page);
    context.insert("style_hash", &digest(&style));
    context.insert("style", &style);
    context.insert("version", env!("CARGO_PKG_VERSION"));
    tera.render("show.html", &context)
}

fn finding(annotation: &Annotation, row: Option<usize>) -> Finding {
    Finding {
        class: match annotation.severity {
            super::model::Severity::Error => "bad",
            super::model::Severity::Warning => "known",
            super::model::Severity::Note => "faint",
        },
        sign: annotation.severity.sign(),
        level: annotation.severity.name(),
        name: cut(&annotation.name, NAME),
        text: cut(&annotation.text, DETAIL),
        row,
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{diagram, hostile};
    use super::html;

    #[test]
    fn a_page_has_the_picture_the_findings_and_every_row_in_words() {
        let drawn = diagram();
        let page = html(&drawn).unwrap();
        assert_eq!(
            (page.matches("<svg").count(), page.matches("<li id=\"row-").count()),
            (1, drawn.rows.len())
        );
        assert!(page.contains("<a href=\"#row-4\">") && page.contains("rejected: invalid-id"));
        assert!(page.contains("Message 2 at 1:05.000, client to server: tool call echo"));
        for asked in ["http://", "https://", "<script", " style=", "url("] {
            assert!(!page.contains(asked), "{asked}");
        }
    }

    #[test]
    fn the_policy_names_the_style_by_its_digest() {
        let page = html(&diagram()).unwrap();
        let (_, rest) = page.split_once("<style>").unwrap();
        let (style, rest) = rest.split_once("</style>").unwrap();
        assert!(!rest.contains("<style"));
        assert!(
            page.contains(&format!(
                "default-src 'none'; style-src 'sha256-{}'",
                crate::digest::digest(style)
            ))
        );
    }

    #[test]
    fn a_strangers_text_is_text() {
        let page = html(&hostile()).unwrap();
        let calm = html(&diagram()).unwrap();
        for tag in ["<script", "<img", "<!--", "<svg", "<style", "</li>"] {
            assert_eq!(page.matches(tag).count(), calm.matches(tag).count(), "{tag}");
        }
        assert!(
            !page.contains("\" onload=\"")
                && !page.contains(['\u{202e}', '\u{2028}', '\u{1b}', '\0', '\u{ffff}'])
        );
        assert!(page.contains("&lt;script&gt;") && page.contains("{{ picture }}") && page.len() < 120_000);
    }
}
