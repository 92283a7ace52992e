//! The endpoint that a stream of HTTP+SSE announces, as the URL that its client then posts to.

use transcript::json::Json;

/// The URL that `data` means on a stream that was opened at `base`. Some write an object with a `uri`.
pub(crate) fn announced(base: &str, data: &str) -> String {
    let data = data.trim();
    let wrapped = Json::parse(data).ok().and_then(|object| object.member("uri")?.as_text()?.to_str());
    resolve(base, wrapped.as_deref().unwrap_or(data))
}

fn resolve(base: &str, reference: &str) -> String {
    if reference.contains("://") {
        return reference.to_owned();
    }
    let host = base.find("://").map_or(0, |scheme| scheme + 3);
    let path = base[host..].find(['/', '?', '#']).map_or(base.len(), |path| host + path);
    if reference.starts_with('/') {
        return format!("{}{reference}", &base[..path]);
    }
    let end = base[path..].find(['?', '#']).map_or(base.len(), |end| path + end);
    if reference.starts_with('?') {
        return format!("{}{reference}", &base[..end]);
    }
    let folder = base[path..end].rfind('/').map_or("/", |slash| &base[path..=path + slash]);
    format!("{}{folder}{reference}", &base[..path])
}

#[cfg(test)]
mod tests {
    use super::announced;

    #[test]
    fn references_are_resolved() {
        for (base, data, url) in [
            ("http://a:1/sse", "/message?s=1", "http://a:1/message?s=1"),
            ("http://a/x/sse?q=/", "message", "http://a/x/message"),
            ("http://a/x/sse?q", "?s=1", "http://a/x/sse?s=1"),
            ("http://a", "message", "http://a/message"),
            ("http://a/sse", "https://b/m", "https://b/m"),
            ("http://a/sse", r#"{"uri":"/messages"}"#, "http://a/messages"),
            ("", " /m ", "/m"),
        ] {
            assert_eq!(announced(base, data), url, "{base} {data}");
        }
    }
}
