//! Exchanges for tests.

use super::events::{ProxyEvent, RequestHead, ResponseHead, Side};
use serde_json::Value;

fn headers(content_type: &str) -> Vec<(String, String)> {
    let own = ("Content-Type".to_owned(), content_type.to_owned());
    [own].into_iter().filter(|(_, media_type)| !media_type.is_empty()).collect()
}

/// A request whose body has this type.
pub(super) fn asked(content_type: &str) -> RequestHead {
    let (method, url, version) = ("POST".into(), "http://h/m?a=1&b".into(), "HTTP/1.1".into());
    RequestHead { connection: 7, method, url, version, headers: headers(content_type) }
}

/// A response whose body has this type.
pub(super) fn answered(content_type: &str) -> ProxyEvent {
    let (reason, version, headers) = ("OK".to_owned(), "HTTP/1.1".to_owned(), headers(content_type));
    ProxyEvent::Response(Box::new(ResponseHead { status: 200, reason, version, headers }))
}

/// A part of the response.
pub(super) fn said(text: &str) -> ProxyEvent {
    ProxyEvent::Part(Side::Response, text.as_bytes().to_vec())
}

/// What each exchange of an archive says, by its start; none where the archive is not whole.
pub(super) fn texts(file: &[u8]) -> Option<Vec<(String, String)>> {
    let har: Value = serde_json::from_slice(file).ok()?;
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = har["log"]["entries"].as_array().unwrap().iter();
    let mut found: Vec<_> = entries
        .map(|entry| (word(&entry["startedDateTime"]), word(&entry["response"]["content"]["text"])))
        .collect();
    found.sort();
    Some(found)
}
