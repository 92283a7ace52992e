//! What a converter had to make up, since the session that it was given does not know it: a member `_made_up` beside it, a
//! list of words.
//!
//! | word | what is made up | where it stands |
//! | --- | --- | --- |
//! | `transport` | everything of HTTP: nothing of it was recorded | an envelope; an exchange |
//! | `label` | the `transport` that an envelope names: the session ran over another | an envelope |
//! | `exchange` | which answer came to which request, and their method and URL | an exchange |
//! | `request`, `response` | the headers; the status and headers | an exchange |
//! | `times` | when anything happened | an exchange; the first line of a trace |
//! | `end` | when it ended | an exchange of a HAR |
//! | `start`, `end` | what the line says of a process | the first or last line of a trace |

use transcript::json::Json;

/// The member.
pub(crate) const MEMBER: &str = "_made_up";

pub(crate) const TRANSPORT: &str = "transport";
pub(crate) const LABEL: &str = "label";
pub(crate) const EXCHANGE: &str = "exchange";
pub(crate) const REQUEST: &str = "request";
pub(crate) const RESPONSE: &str = "response";
pub(crate) const TIMES: &str = "times";
pub(crate) const END: &str = "end";

/// Whether a list has the word.
pub(crate) fn has(list: Option<Json<'_>>, word: &str) -> bool {
    let is_word = |item: Json<'_>| item.as_text().is_some_and(|text| text.is(word));
    list.into_iter().flat_map(Json::items).any(is_word)
}

/// The list as JSON.
pub(crate) fn list(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("[{}]", words.join(", "))
}
