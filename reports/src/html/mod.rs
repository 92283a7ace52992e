//! Records as one HTML page that opens from disk: no network, readable without its script.
//!
//! Knows: the template, and how a page keeps a stranger's text from becoming markup. Refuses to know: what is in a
//! page; that is the module `view`.
//!
//! Every text is escaped because the template's name ends in `.html`; the policy in the page lets no script and no
//! style run but our own, by their digests.

mod view;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use judge::change::Change;
use judge::record::{Line, Record};
use sha2::{Digest as _, Sha256};
use tera::{Context, Tera};
use view::Page;

const TEMPLATE: &str = include_str!("../../templates/report.html");
const STYLE: &str = include_str!("../../templates/style.css");
const SCRIPT: &str = include_str!("../../templates/script.js");

/// What a page is made of.
pub struct Content<'c> {
    /// At least one record; several line up as columns.
    pub records: &'c [Record],
    /// What changed since another run, where there is one.
    pub changes: &'c [Change],
    /// The command that runs a line of a record alone.
    pub alone: &'c dyn Fn(&Record, &Line) -> String,
}

/// The page.
///
/// # Errors
/// Where the template cannot be rendered.
pub fn render(content: &Content<'_>) -> Result<String, tera::Error> {
    let mut tera = Tera::new();
    tera.add_raw_template("report.html", TEMPLATE)?;
    let mut context = Context::new();
    context.insert("page", &Page::of(content));
    context.insert("style", STYLE);
    context.insert("script", SCRIPT);
    context.insert("style_hash", &digest(STYLE));
    context.insert("script_hash", &digest(SCRIPT));
    tera.render("report.html", &context)
}

/// A digest as a content security policy spells it.
pub(crate) fn digest(text: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    STANDARD.encode(digest)
}

#[cfg(test)]
mod tests {
    use super::{Content, render};
    use crate::small::record;
    use judge::record::{Record, Whole};
    use judge::verdict::Verdict;

    fn page(records: &[Record]) -> String {
        let alone = |_: &Record, line: &judge::record::Line| format!("run {}/{}", line.case, line.format);
        let changes = match records {
            [old, new] => judge::change::changes(old, new),
            _ => Vec::new(),
        };
        render(&Content { records, changes: &changes, alone: &alone }).unwrap()
    }

    #[test]
    fn a_page_has_every_case_every_failure_and_its_command() {
        let page = page(&[record(&[Verdict::Pass, Verdict::Fail, Verdict::Skip])]);
        assert_eq!(page.matches("<tr data-topic=\"ids\"").count(), 3);
        assert_eq!(page.matches("<article ").count(), 1);
        for part in ["run ids/1/x", "<a class=\"bad\" href=\"#", "Mind the null.", "id=\"clause-ID-NULL\""] {
            assert!(page.contains(part), "{part} is missing");
        }
        assert!(!page.contains("http://") && !page.contains("https://"), "a page asks for nothing");
    }

    #[test]
    fn every_link_inside_leads_somewhere() {
        let page = page(&[record(&Verdict::ALL)]);
        let targets: Vec<&str> =
            page.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert!(targets.len() > 5);
        for target in targets {
            assert_eq!(page.matches(&format!(" id=\"{target}\"")).count(), 1, "{target}");
        }
    }

    #[test]
    fn a_strangers_text_is_text() {
        const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"x' \
                               \u{202e}\u{2028}\u{1b}{{ page }}{% raw %}<!--";
        let mut hostile = record(&[Verdict::Fail, Verdict::Skip]);
        hostile.implementation.name = HOSTILE.into();
        hostile.implementation.version = HOSTILE.into();
        for line in &mut hostile.results {
            line.message = Some(HOSTILE.into());
            line.stderr = Some(HOSTILE.into());
            line.file = Some(HOSTILE.into());
            line.whole = Some(Whole { expected: HOSTILE.into(), actual: HOSTILE.repeat(20_000) });
            if let Some(note) = hostile.cases.get_mut(&line.case) {
                note.title = HOSTILE.into();
                note.reason = HOSTILE.into();
                note.transcripts.insert("x".into(), HOSTILE.into());
            }
        }
        let plain = page(&[record(&[Verdict::Fail, Verdict::Skip])]);
        let page = page(&[hostile]);
        for tag in ["<script", "<img", "<!--", "onerror=alert(1)>\""] {
            assert_eq!(page.matches(tag).count(), plain.matches(tag).count(), "{tag}");
        }
        assert!(!page.contains("\" onload=\"") && !page.contains(['\u{202e}', '\u{2028}', '\u{1b}']));
        assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("{{ page }}"));
    }

    #[test]
    fn implementations_line_up_as_columns() {
        let mut second = record(&[Verdict::Pass, Verdict::Crash]);
        second.implementation.name = "j".into();
        let page = page(&[record(&[Verdict::Fail, Verdict::Pass]), second]);
        assert!(page.contains("<th scope=\"col\">i 2</th><th scope=\"col\">j 2</th>"));
        assert!(page.contains("regression") && page.contains("improvement"));
        assert_eq!(page.matches("<article ").count(), 2);
    }
}
