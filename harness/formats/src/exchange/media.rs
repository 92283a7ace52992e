//! Media types, and the bodies that are handed on as text.

use super::body::bare;
use std::borrow::Cow;
use transcript::json::Json;
use transcript::session::{Headers, header};

pub(crate) const JSON: &str = "application/json";
pub(crate) const STREAM: &str = "text/event-stream";

/// The media type of a body: what the header says, else what the exporter says.
pub(crate) fn media_type(headers: &Headers<'_>, mime: Option<Cow<'_, str>>) -> String {
    let said = header(headers, "content-type").filter(|value| !value.trim().is_empty());
    let said = said.or(mime.as_deref()).unwrap_or_default();
    let bare = bare(said);
    // Chromium's word for "no content type".
    if bare == "x-unknown" { String::new() } else { bare }
}

pub(crate) const FORM: &str = "application/x-www-form-urlencoded";

/// A request's body that is handed on as text, if it is short: a form, or the JSON by which an OAuth client registers.
pub(crate) fn form<'a>(media_type: &str, text: Json<'a>) -> Option<Cow<'a, str>> {
    let registers = || text.as_text().is_some_and(|text| text.raw().contains("redirect_uris"));
    (media_type == FORM || media_type == JSON && registers()).then(|| short(text))?
}

/// Longer forms and documents are not handed on.
const SHORT: usize = 64 << 10;

/// A body that is handed on as text, if it is short.
pub(crate) fn short(text: Json<'_>) -> Option<Cow<'_, str>> {
    text.as_text().filter(|text| text.raw().len() <= SHORT)?.to_str()
}

/// An answer's body that is not a message, if it is short: a document in which a server describes itself, or the words in
/// which it refuses what was posted.
pub(crate) fn document<'a>(
    exchange: (&str, &str, Option<u16>),
    text: Option<Json<'a>>,
) -> Option<Cow<'a, str>> {
    let text = short(text?).filter(|text| !text.contains("\"jsonrpc\""))?;
    let is_handed_on = match exchange {
        ("GET", JSON, _) => text.trim_start().starts_with('{'),
        ("GET", "text/plain", _) => text.len() < 1024,
        ("POST", _, Some(400..)) => text.len() < 1024,
        _ => false,
    };
    is_handed_on.then_some(text)
}

/// Whether a body of this media type is looked at: JSON, and what nobody named.
pub(crate) fn may_be_json(media_type: &str) -> bool {
    matches!(media_type, JSON | "")
}
