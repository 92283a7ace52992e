//! The headers of MCP over HTTP, and those that end where a message is forwarded (RFC 9110, 7.6.1).

use hyper::Response;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};

/// The header of a session's id.
pub(crate) const SESSION: &str = "mcp-session-id";

/// The header of the revision that was agreed on.
pub(crate) const VERSION: &str = "mcp-protocol-version";

/// The header of a client that comes back to a stream.
pub(crate) const LAST_EVENT: &str = "last-event-id";

/// The type of a stream of events.
pub(crate) const EVENTS: &str = "text/event-stream";

/// The type of a message.
pub(crate) const JSON: &str = "application/json";

/// The text of a header, the first of several.
pub(crate) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).map(text_of)
}

/// The text of a value; one that is not UTF-8 is read as Latin-1.
fn text_of(value: &HeaderValue) -> String {
    match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Sets a header, where there is a value that one may have.
pub(crate) fn insert(headers: &mut HeaderMap, name: &'static str, value: Option<&str>) {
    if let Some(value) = value.and_then(|value| HeaderValue::from_bytes(value.as_bytes()).ok()) {
        headers.insert(HeaderName::from_static(name), value);
    }
}

/// The media type of a body in lower case, without parameters; empty where it has none.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let media = text(headers, CONTENT_TYPE.as_str()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether an answer is a stream of events.
pub(crate) fn is_stream<B>(answer: &Response<B>) -> bool {
    answer.status().is_success() && media_type(answer.headers()) == EVENTS
}

/// Whether a request accepts this media type.
pub(crate) fn accepts(headers: &HeaderMap, media: &str) -> bool {
    let listed = |value: &HeaderValue| {
        let text = String::from_utf8_lossy(value.as_bytes()).to_lowercase();
        text.split(',').any(|item| {
            let item = item.split(';').next().unwrap_or_default().trim();
            item == media
                || item == "*/*"
                || media.split_once('/').is_some_and(|(kind, _)| item == format!("{kind}/*"))
        })
    };
    headers.get_all(ACCEPT).iter().any(listed)
}

/// The value of a header, the first of several.
pub(crate) fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| &**value)
}

/// Every header in the order of the map.
pub(crate) fn header_list(headers: &HeaderMap) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text_of(value))).collect()
}

/// Removes the headers of the connection on which the message came.
pub(crate) fn without_connection(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        // By bytes: one that no name may have makes no other name less of one.
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    let hops = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let others = ["keep-alive", "proxy-connection"].map(HeaderName::from_static);
    keep(headers, |name| ![&named[..], &hops, &others].iter().any(|names| names.contains(name)));
}

/// Makes a client's headers those of a request to the server, which has its own `Host`, and asks for no coding that the
/// archive could not undo.
pub(crate) fn to_server(headers: &mut HeaderMap) {
    without_connection(headers);
    keep(headers, |name| *name != HOST);
    let known = |coding: &str| {
        let name = coding.split(';').next().unwrap_or_default().trim();
        name.eq_ignore_ascii_case("gzip") || name.eq_ignore_ascii_case("identity")
    };
    let codings: Vec<String> = headers
        .get_all(ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter(|coding| known(coding))
        .map(|coding| coding.trim().to_owned())
        .collect();
    if headers.contains_key(ACCEPT_ENCODING) {
        let value = if codings.is_empty() { "identity".to_owned() } else { codings.join(", ") };
        let value = HeaderValue::try_from(value).unwrap_or(HeaderValue::from_static("identity"));
        headers.insert(ACCEPT_ENCODING, value);
    }
}

/// Keeps these headers. Taking one out of the map would change the order of the others.
fn keep(headers: &mut HeaderMap, is_kept: impl Fn(&HeaderName) -> bool) {
    let kept = headers.iter().filter(|(name, _)| is_kept(name));
    *headers = kept.map(|(name, value)| (name.clone(), value.clone())).collect();
}

#[cfg(test)]
mod tests {
    use super::header_list;
    use hyper::header::{HeaderMap, HeaderName, HeaderValue};

    #[test]
    fn bytes_that_are_not_text_are_not_lost() {
        let mut headers = HeaderMap::new();
        headers.insert(HeaderName::from_static("x"), HeaderValue::from_bytes(b"a\xff").unwrap());
        assert_eq!(header_list(&headers), [("x".to_owned(), "a\u{ff}".to_owned())]);
    }
}
