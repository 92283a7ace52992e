//! A page that somebody else made, to stand in a site beside those of this program.

use super::context::Failure;
use super::small_file;
use std::path::Path;

/// A page as it was made, and how the others link to it.
pub(super) struct OwnPage {
    /// The name of its file, which is its address in the site.
    pub(super) name: String,
    pub(super) title: String,
    /// The whole of it.
    pub(super) text: String,
}

impl OwnPage {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let shown = path.display();
        let unusable = |why: &str| Failure::Unusable(format!("{shown} {why}"));
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if !(name.ends_with(".html") && name.chars().all(plain)) {
            let why = "cannot be a page of a site: its name must consist of letters, digits, `-`, `_` and `.`, and end with .html";
            return Err(unusable(why));
        }
        let text =
            small_file::written(path).map_err(|error| unusable(&format!("cannot be read: {error}")))?;
        let title = title(&text).ok_or_else(|| unusable("has no <title>, by which the site links to it"))?;
        Ok(Self { name, title, text })
    }
}

/// The title of a page as it is read, without the white space around it.
fn title(page: &str) -> Option<String> {
    // Lower case has as many bytes in ASCII, so places in one are places in the other.
    let lower = page.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower[open..].find('>')? + 1;
    let end = start + lower[start..].find("</title")?;
    let raw = page[start..end].trim();
    let characters = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&amp;", "&")];
    let read = characters.iter().fold(raw.to_owned(), |text, (from, to)| text.replace(from, to));
    (!read.is_empty()).then_some(read)
}
