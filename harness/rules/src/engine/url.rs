//! URLs as far as rules look at them: their origin, their path, and what a reference means beside one (RFC 3986).

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

/// What a reference means in a document at `base`, without its fragment (RFC 3986, section 5.2).
pub(crate) fn resolve(base: &str, reference: &str) -> String {
    let reference = reference.split('#').next().unwrap_or_default();
    if is_absolute(reference) {
        return reference.to_owned();
    }
    let (scheme, rest) = base.split_once("://").unwrap_or(("http", base));
    if let Some(elsewhere) = reference.strip_prefix("//") {
        return format!("{scheme}://{elsewhere}");
    }
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, tail) = rest.split_at(end);
    let path = bare_url(tail);
    let whole = match reference.chars().next() {
        None => format!(
            "{path}{}",
            tail.get(path.len()..).and_then(|rest| rest.split('#').next()).unwrap_or_default()
        ),
        Some('?') => format!("{path}{reference}"),
        Some('/') => without_dots(reference),
        Some(_) => {
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            without_dots(&format!("{folder}/{reference}"))
        }
    };
    let slash = if whole.starts_with('/') { "" } else { "/" };
    format!("{scheme}://{authority}{slash}{whole}")
}

/// Whether a reference begins with a scheme.
fn is_absolute(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// A path whose `.` and `..` are taken out; the query behind it stays as it is.
fn without_dots(text: &str) -> String {
    let path = bare_url(text);
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path.split('/').skip(1).peekable();
    while let Some(segment) = segments.next() {
        let last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            _ => kept.push(segment),
        }
    }
    format!("/{}{}", kept.join("/"), &text[path.len()..])
}

#[cfg(test)]
mod tests {
    use super::{Origin, parameter, query, resolve};

    #[test]
    fn references_mean_what_rfc_3986_says() {
        let base = "http://a:81/b/c/sse?x=1";
        for (reference, meant) in [
            ("/messages?s=1", "http://a:81/messages?s=1"),
            ("messages", "http://a:81/b/c/messages"),
            ("../m", "http://a:81/b/m"),
            ("../../../m/.", "http://a:81/m/"),
            ("?s=1", "http://a:81/b/c/sse?s=1"),
            ("//other/m", "http://other/m"),
            ("https://other/m#f", "https://other/m"),
            ("", "http://a:81/b/c/sse?x=1"),
            ("m?u=/../x", "http://a:81/b/c/m?u=/../x"),
        ] {
            assert_eq!(resolve(base, reference), meant, "{reference}");
        }
        assert_eq!(resolve("http://a", "m"), "http://a/m");
    }

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
