//! Where requests are forwarded to: the origin of the server, and its path for `/`.

use hyper::Uri;
use hyper::http::uri::{Authority, PathAndQuery, Scheme};

/// A server's address.
#[derive(Debug, Clone)]
pub struct Target {
    scheme: Scheme,
    authority: Authority,
    path: Option<PathAndQuery>,
}

impl Target {
    /// Reads `http://host:port` or `https://host/path`.
    ///
    /// # Errors
    /// A sentence where it is something else.
    pub fn parse(text: &str) -> Result<Self, String> {
        let usage = || format!("`{text}` is not a server's URL: write http://HOST:PORT/PATH, or https");
        let parts = text.parse::<Uri>().map_err(|_| usage())?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return Err(usage()) };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(usage());
        }
        if authority.as_str().contains('@') {
            return Err(format!(
                "`{text}` holds a name and a password; let the client send them in a header"
            ));
        }
        let path = parts.path_and_query.filter(|path| path.as_str() != "/");
        Ok(Self { scheme, authority, path })
    }

    /// `http://host:port`, as it would begin an absolute URL.
    #[must_use]
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// The path of the server, for whoever tells a client where to connect.
    #[must_use]
    pub fn path(&self) -> &str {
        self.path.as_ref().map_or("/", PathAndQuery::as_str)
    }

    /// Where a request for `path` goes: `/` stands for the path of the server, and every other one for itself, since a
    /// session has more than one (`/.well-known/…`, the messages of HTTP+SSE).
    pub(super) fn of(&self, path: Option<&PathAndQuery>) -> Option<Uri> {
        let path = match (path, &self.path) {
            (Some(path), own) if path.as_str() != "/" || own.is_none() => path.clone(),
            (_, Some(own)) => own.clone(),
            (_, None) => PathAndQuery::from_static("/"),
        };
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(path).build().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn a_slash_stands_for_the_path_of_the_server() {
        let target = Target::parse("http://127.0.0.1:3001/mcp").unwrap();
        let of = |path: &str| target.of(Some(&path.parse().unwrap())).unwrap().to_string();
        assert_eq!(of("/"), "http://127.0.0.1:3001/mcp");
        assert_eq!(of("/messages?id=1"), "http://127.0.0.1:3001/messages?id=1");
        assert_eq!(of("/?id=1"), "http://127.0.0.1:3001/?id=1");
        assert_eq!((target.origin().as_str(), target.path()), ("http://127.0.0.1:3001", "/mcp"));
        let root = Target::parse("https://example.org").unwrap();
        assert_eq!(root.of(Some(&"/".parse().unwrap())).unwrap(), "https://example.org/");
    }

    #[test]
    fn what_is_no_server_is_told() {
        for text in ["", "example.org", "ftp://example.org", "http://", "http://a b", "/mcp"] {
            assert!(Target::parse(text).unwrap_err().contains("not a server's URL"), "{text}");
        }
        assert!(Target::parse("http://me:secret@example.org").unwrap_err().contains("password"));
    }
}
