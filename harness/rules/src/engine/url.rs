//! URLs as far as rules look at them: their origin, their path and their query (RFC 3986).

use formats::url;

/// Where a URL's server is: scheme, host and port, with the scheme's port where none is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: String,
    /// In lower case, without brackets.
    host: String,
    port: String,
}

impl Origin {
    /// That of an absolute URL, or of an `Origin` header; none for `null` and anything else.
    pub(crate) fn new(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let authority = rest.split(['/', '?', '#']).next()?;
        let authority = authority.rsplit('@').next()?.to_ascii_lowercase();
        let (host, port) = match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, port)) => (host.to_owned(), port.strip_prefix(':').unwrap_or_default().to_owned()),
            None => match authority.rsplit_once(':') {
                Some((host, port)) => (host.to_owned(), port.to_owned()),
                None => (authority.clone(), String::new()),
            },
        };
        let port = match (&*port, &*scheme) {
            ("", "https") => "443".to_owned(),
            ("", _) => "80".to_owned(),
            _ => port,
        };
        (!host.is_empty()).then_some(Self { scheme, host, port })
    }

    /// Whether it is this very machine.
    pub(crate) fn is_loopback(&self) -> bool {
        self.host == "localhost"
            || self.host.ends_with(".localhost")
            || self.host == "::1"
            || self.host.strip_prefix("127.").is_some_and(|rest| rest.split('.').count() == 3)
    }
}

/// Whether what is sent to an address stays between its ends: over https, or on this machine. Addresses of apps, which have a
/// scheme of their own, stay on it too.
pub(crate) fn is_private(url: &str) -> bool {
    let http = url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    !http || Origin::new(url).is_some_and(|origin| origin.is_loopback())
}

/// The host of an absolute URL with its port, as it is written.
pub(crate) fn host(url: &str) -> &str {
    url.split('/').nth(2).unwrap_or_default()
}

/// The URL that the `endpoint` event of a stream at `base` names, with its backslashes turned as clients turn them (WHATWG URL).
pub(super) fn announced(base: &str, data: &str) -> String {
    let path = bare_url(data);
    match data.trim_start().starts_with(['{', '"']) {
        true => url::announced(base, data),
        false => url::announced(base, &(path.replace('\\', "/") + &data[path.len()..])),
    }
}

/// A URL without its query and fragment.
pub(crate) fn bare_url(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// A URL without its query and fragment, and without slashes at its end.
pub(crate) fn address(url: &str) -> &str {
    bare_url(url).trim_end_matches('/')
}

/// The value of a parameter in a URL's query, or in the text of a form, as it is written.
pub(crate) fn parameter<'u>(query: &'u str, name: &str) -> Option<&'u str> {
    query.split('&').find_map(|pair| match pair.split_once('=') {
        Some((key, value)) => (key == name).then_some(value),
        None => (pair == name).then_some(""),
    })
}

/// A parameter's value without its percents (RFC 3986, section 2.1); what spells no byte stays as it is.
pub(crate) fn percent_decoded(value: &str) -> String {
    let mut pieces = value.split('%');
    let mut bytes = pieces.next().unwrap_or_default().as_bytes().to_vec();
    for piece in pieces {
        match piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => bytes.extend([byte].iter().chain(&piece.as_bytes()[2..])),
            None => bytes.extend(b"%".iter().chain(piece.as_bytes())),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The query of a URL; empty where it has none.
pub(crate) fn query(url: &str) -> &str {
    let url = url.split('#').next().unwrap_or_default();
    url.split_once('?').map_or("", |(_, query)| query)
}

#[cfg(test)]
mod tests {
    use super::{Origin, parameter, query};

    #[test]
    fn an_origin_has_the_port_of_its_scheme() {
        assert_eq!(Origin::new("HTTPS://A/x"), Origin::new("https://a:443"));
        assert_ne!(Origin::new("http://a"), Origin::new("https://a"));
        assert_eq!(Origin::new("null"), None);
        let near = |url| Origin::new(url).is_some_and(|origin| origin.is_loopback());
        assert!(near("http://127.0.0.1:9/x") && near("http://[::1]:9") && near("http://localhost"));
        assert!(!near("http://127.evil.example") && !near("http://localhost.evil.example"));
    }

    #[test]
    fn parameters_are_those_of_the_query() {
        assert_eq!(parameter(query("http://a/?x=1&access_token=b#y=2"), "access_token"), Some("b"));
        assert_eq!(parameter(query("http://a/access_token=1"), "access_token"), None);
        assert_eq!(parameter("y&x", "x"), Some(""));
    }
}
