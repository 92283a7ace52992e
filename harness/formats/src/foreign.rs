//! Files that are not recordings, or not yet: what they are by their beginning, and what to do with them. And messages of JSON-RPC
//! that are not of MCP.

mod kinds;
#[cfg(test)]
mod tests;

use crate::excerpt::floor;
use crate::head::{Head, LOOKED_AT};
use std::borrow::Cow;
use transcript::json::{Json, JsonKind, Scanner};
use transcript::message::Message;

/// What a file is whose beginning is not UTF-8: `text` is what stands before the first byte that is not, `rest` the bytes from it
/// on.
pub(crate) fn not_text(text: &str, rest: &[u8]) -> Option<&'static str> {
    let bytes: Vec<u8> = text.bytes().chain(rest.iter().copied()).take(LONGEST_SIGN).collect();
    kinds::of(&bytes, "", &Head::default())
}

/// What a file is that begins with this text and is not a recording, and what to do with it.
#[must_use]
pub fn foreign(text: &str) -> Option<&'static str> {
    let text = &text[..floor(text, LOOKED_AT.min(text.len()))];
    let encoded_twice = is_json_in_a_string(text).then_some(ENCODED_TWICE);
    encoded_twice.or_else(|| kinds::of(text.as_bytes(), text, &Head::new(text)))
}

/// What a JSON document is that is not a recording, by the members that it has, or that the first item of a list has.
pub(crate) fn of_a_document(head: &Head) -> Option<&'static str> {
    kinds::of(&[], "", head)
}

/// The protocol that a call is of, where that is another one with methods of the same names.
#[must_use]
pub fn other_protocol(message: &Message<'_>) -> Option<&'static str> {
    const LSP: &str = "the Language Server Protocol";
    let param = |name: &str| message.params()?.member(name);
    let has = |name: &str| param(name).is_some();
    match &*message.method()?.to_str()? {
        "initialize" if param("protocolVersion").is_some_and(|it| it.kind() == JsonKind::String) => None,
        "initialize" if has("processId") || has("rootUri") => Some(LSP),
        method if method.starts_with("textDocument/") => Some(LSP),
        "initialize" if has("clientCapabilities") => Some("the Agent Client Protocol"),
        "message/send" | "message/stream" if param("message")?.member("parts").is_some() => Some("A2A"),
        _ => None,
    }
}

/// The version that a call of revision 2026-07-28 names.
pub(crate) fn named_version<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    let meta = message.params()?.member("_meta")?;
    meta.member("io.modelcontextprotocol/protocolVersion")?.as_text()?.to_str()
}

/// What the calls of a recording are of.
#[derive(Debug, Default)]
pub(crate) struct Protocols {
    /// One was of MCP.
    mcp: bool,
    other: Option<&'static str>,
    first: Option<String>,
}

impl Protocols {
    /// Takes a call in; whether it may be of MCP: it is of no other protocol, and its method is named as MCP names its own.
    pub(crate) fn take(&mut self, message: &Message<'_>) -> bool {
        let Some(method) = message.method().and_then(|method| method.to_str()) else { return false };
        let begins = method == "initialize";
        if begins || !self.mcp && self.other.is_none() {
            self.other = other_protocol(message);
        }
        let ours = self.other.is_none() && (begins || method == "ping" || method.contains('/'))
            || named_version(message).is_some();
        self.mcp |= ours;
        self.first.get_or_insert_with(|| method.chars().take(80).collect());
        ours
    }

    /// What there is instead, where no call is of MCP: in a sentence without its full stop.
    pub(crate) fn instead(self) -> Option<String> {
        let first = self.first.filter(|_| !self.mcp)?;
        Some(match self.other {
            Some(other) => format!("no message is of MCP: they are of {other}"),
            None => format!("no message is of MCP: they are of JSON-RPC, and the first method is `{first}`"),
        })
    }
}

/// Enough for every sign in bytes.
const LONGEST_SIGN: usize = 16;

/// Whether this begins with one JSON string whose text is a JSON object or list, or lines of them; as far as it is looked at.
fn is_json_in_a_string(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    let start = scanner.at();
    if scanner.peek() != Some(b'"') {
        return false;
    }
    let (string, is_cut) = match scanner.value() {
        Ok(()) => (text[start..scanner.at()].to_owned(), false),
        Err(fault) if fault.ended && text.len() + 4 > LOOKED_AT => (closed(&text[start..]), true),
        Err(_) => return false,
    };
    let string = Json::parse(&string).ok().and_then(Json::as_text);
    let Some(content) = string.and_then(|string| string.to_str()) else { return false };
    let mut inner = Scanner::new(&content);
    inner.space();
    match inner.peek() {
        Some(b'{' | b'[') => {}
        // Encoded once more.
        Some(b'"') => return !is_cut && is_json_in_a_string(&content),
        _ => return false,
    }
    match inner.value() {
        Ok(()) => {
            let rest = content[inner.at()..].trim_start_matches([' ', '\t', '\r']);
            rest.is_empty() || rest.starts_with('\n')
        }
        Err(fault) => fault.ended && is_cut,
    }
}

/// The beginning of a JSON string as a whole one: without an escape, or a pair of them, that is cut.
fn closed(begin: &str) -> String {
    let ends = (0..12).map(|cut| floor(begin, begin.len().saturating_sub(cut)));
    let strings = ends.map(|end| format!("{}\"", &begin[..end]));
    let is_text = |string: &String| {
        Json::parse(string).ok().and_then(Json::as_text).is_some_and(|string| string.to_str().is_some())
    };
    strings.into_iter().find(is_text).unwrap_or_default()
}

const ENCODED_TWICE: &str = "it is one JSON string that holds a JSON document, so the document was encoded twice; decode it once \
                             with `jq -r . FILE > NEW`";
