//! The capture formats as a page: what each can carry.

use super::labels::named;
use super::renderer::{HtmlRenderer, PageLocation};
use formats::{Capabilities, FORMATS, Format};
use serde_json::{Value, json};
use std::collections::BTreeMap;

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
