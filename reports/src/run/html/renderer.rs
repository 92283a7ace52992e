//! The renderer: templates, and how a page keeps a stranger's text from becoming markup.
//!
//! Every text is escaped because each template's name ends in `.html`; the policy in the page lets no script and no
//! style run but our own, by their digests.

use crate::encoding::digest;
use crate::plain::plain;
use serde::Serialize;
use tera::{Context, Kwargs, State, Tera};

/// Templates, each by what the others call it.
macro_rules! templates {
    ($($name:literal)+) => { &[$(($name, include_str!(concat!("../../../templates/", $name)))),+] };
}

const TEMPLATES: &[(&str, &str)] = templates! {
    "base.html" "filter.html" "bars.html" "parts.html" "standing.html" "heat.html" "heat-table.html"
    "cases.html" "case-table.html" "transcript.html" "trend.html" "failure.html" "run.html" "overview.html"
    "changes.html" "clauses.html" "rules.html" "formats.html" "stats.html" "findings.html" "official.html"
};
const STYLE: &str =
    concat!(include_str!("../../../templates/style.css"), include_str!("../../../templates/picture.css"));
const SCRIPT: &str = include_str!("../../../templates/script.js");

/// A page of a site, as the others link to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Link {
    /// What it is called.
    pub title: String,
    /// Its path from the site's folder.
    pub href: String,
}

impl Link {
    /// A link.
    pub fn new(title: &str, href: &str) -> Self {
        Self { title: plain(title), href: href.to_owned() }
    }
}

/// Where a page is in its site. By default it has no other pages around it.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct PageLocation<'p> {
    /// All pages of the site.
    pub pages: &'p [Link],
    /// The one that this is.
    pub here: &'p str,
    /// The way from this page's folder to the site's: nothing, or `../`.
    pub root: &'p str,
}

/// Renders pages.
#[derive(Debug)]
pub struct HtmlRenderer {
    tera: Tera,
    /// The version of the program, for the foot of each page.
    version: String,
}

impl HtmlRenderer {
    /// A renderer of this version of the program.
    ///
    /// # Errors
    /// Where a template cannot be understood.
    pub fn new(version: &str) -> Result<Self, tera::Error> {
        let mut tera = Tera::new();
        tera.register_filter("code", code);
        tera.add_raw_templates(TEMPLATES.iter().copied())?;
        Ok(Self { tera, version: version.to_owned() })
    }

    /// Fills a template.
    pub(crate) fn render(
        &self,
        template: &str,
        place: PageLocation<'_>,
        title: &str,
        page: &impl Serialize,
    ) -> Result<String, tera::Error> {
        let mut context = Context::new();
        context.insert("page", page);
        context.insert("title", title);
        context.insert("place", &place);
        context.insert("version", &self.version);
        context.insert("style", STYLE);
        context.insert("script", SCRIPT);
        context.insert("style_hash", &digest(STYLE));
        context.insert("script_hash", &digest(SCRIPT));
        self.tera.render(template, &context)
    }
}

/// The HTML of a text, with what is between backticks as code.
fn code(text: &str, _: Kwargs, _: &State<'_>) -> tera::Value {
    let last = text.matches('`').count();
    let mut html = Vec::new();
    for (index, part) in text.split('`').enumerate() {
        // A backtick without a second one is itself.
        let (open, close) = match index % 2 {
            1 if index < last => ("<code>", "</code>"),
            1 => ("`", ""),
            _ => ("", ""),
        };
        html.extend_from_slice(open.as_bytes());
        // Memory takes every write.
        let _ = tera::escape_html(part, &mut html);
        html.extend_from_slice(close.as_bytes());
    }
    tera::Value::safe_string(&String::from_utf8_lossy(&html))
}
