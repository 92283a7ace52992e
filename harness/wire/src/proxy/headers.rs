//! Which headers belong to one connection and end here (RFC 9110, 7.6.1). MCP's own pass as they are.

use hyper::header::{
    ACCEPT_ENCODING, CONNECTION, HOST, HeaderMap, HeaderName, HeaderValue, TE, TRAILER, TRANSFER_ENCODING,
    UPGRADE,
};

/// Removes the headers of the connection on which the message came.
pub(super) fn forwarded(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(CONNECTION)
        .iter()
        // By bytes: one that no name may have makes no other name less of one.
        .flat_map(|value| value.as_bytes().split(|&byte| byte == b','))
        .filter_map(|name| HeaderName::from_bytes(name.trim_ascii()).ok())
        .collect();
    let hops = [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];
    let others = ["keep-alive", "proxy-connection"].map(HeaderName::from_static);
    let ends_here = |name: &HeaderName| [&named[..], &hops, &others].iter().any(|names| names.contains(name));
    // Taking one out of the map would change the order of the others.
    let passing = headers.iter().filter(|(name, _)| !ends_here(name));
    *headers = passing.map(|(name, value)| (name.clone(), value.clone())).collect();
}

/// Makes a client's headers those of a request to the server, which has its own `Host`, and asks for no coding that the
/// archive could not undo.
pub(super) fn to_server(headers: &mut HeaderMap) {
    forwarded(headers);
    *headers = headers
        .iter()
        .filter(|(name, _)| **name != HOST)
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
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

#[cfg(test)]
mod tests {
    use super::{forwarded, to_server};
    use crate::net::header_list;
    use hyper::header::{HeaderMap, HeaderName, HeaderValue};

    fn map(headers: &[(&str, &str)]) -> HeaderMap {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_bytes(value.as_bytes()).unwrap())
        };
        headers.iter().map(pair).collect()
    }

    #[test]
    fn what_belongs_to_the_connection_ends_here() {
        let mut headers = map(&[
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("connection", "ö, x-other-hop"),
            ("x-other-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("transfer-encoding", "chunked"),
            ("mcp-session-id", "s"),
            ("content-length", "2"),
        ]);
        forwarded(&mut headers);
        let names: Vec<_> = header_list(&headers).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["mcp-session-id", "content-length"]);
    }

    #[test]
    fn codings_that_could_not_be_undone_are_not_asked_for() {
        for (sent, left) in
            [("gzip, deflate, br;q=0.5", "gzip"), ("br", "identity"), ("identity", "identity")]
        {
            let mut headers = map(&[("host", "localhost"), ("accept-encoding", sent)]);
            to_server(&mut headers);
            assert_eq!(header_list(&headers), [("accept-encoding".to_owned(), left.to_owned())]);
        }
        let mut none = map(&[("accept", "text/event-stream")]);
        to_server(&mut none);
        assert_eq!(header_list(&none).len(), 1);
    }
}
