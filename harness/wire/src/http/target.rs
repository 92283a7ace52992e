//! Where requests are forwarded to: the origin of the server, and its path for `/`.

use hyper::Uri;
use hyper::http::uri::{Authority, PathAndQuery, Scheme};
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs as _};

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
    /// A sentence where it is something else. It does not repeat the text, which may hold a secret.
    pub fn parse(text: &str) -> Result<Self, String> {
        let usage = || "this is not a server's URL: write http://HOST:PORT/PATH, or https".to_owned();
        let parts = text.parse::<Uri>().map_err(|_| usage())?.into_parts();
        let (Some(scheme), Some(authority)) = (parts.scheme, parts.authority) else { return Err(usage()) };
        if scheme != Scheme::HTTP && scheme != Scheme::HTTPS {
            return Err(usage());
        }
        if authority.as_str().contains('@') {
            return Err(
                "the URL contains a user name or password; let the client send them in a header".to_owned()
            );
        }
        let port = authority.as_str().strip_prefix(authority.host()).and_then(|rest| rest.strip_prefix(':'));
        if port.is_some_and(|port| !port.parse::<u16>().is_ok_and(|port| port > 0)) {
            return Err("the URL has no valid port: write one from 1 to 65535".to_owned());
        }
        let path = parts.path_and_query.filter(|path| path.as_str() != "/");
        Ok(Self { scheme, authority, path })
    }

    /// Whether requests that go there come back to the listener at `here`. A name that is not known yet is nobody's.
    pub(crate) fn leads_back_to(&self, here: SocketAddr) -> bool {
        let default = if self.scheme == Scheme::HTTPS { 443 } else { 80 };
        let port = self.authority.port_u16().unwrap_or(default);
        let host = self.authority.host().trim_start_matches('[').trim_end_matches(']');
        let is_mine = |ip: IpAddr| match (ip.is_unspecified(), here.ip().is_unspecified()) {
            // To no address in particular connects to this machine's own.
            (true, _) => here.ip().is_loopback() || here.ip().is_unspecified(),
            // Only this machine's own addresses can be bound.
            (_, true) => TcpListener::bind((ip, 0)).is_ok(),
            _ => ip == here.ip(),
        };
        port == here.port()
            && (host, port)
                .to_socket_addrs()
                .is_ok_and(|mut found| found.any(|at| is_mine(at.ip().to_canonical())))
    }

    /// `http://host:port`, as it would begin an absolute URL.
    pub fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// The path of the server, for what a client is asked to connect to.
    pub fn path(&self) -> &str {
        self.path.as_ref().map_or("/", PathAndQuery::as_str)
    }

    /// Where a request for `path` goes: `/` means the path of the server, and every other one itself, since a
    /// session has more than one (`/.well-known/…`, the messages of HTTP+SSE).
    pub(crate) fn uri(&self, path: Option<&PathAndQuery>) -> Option<Uri> {
        let path = match (path, &self.path) {
            (Some(path), own) if path.as_str() != "/" || own.is_none() => path.clone(),
            (_, Some(own)) => own.clone(),
            (_, None) => PathAndQuery::from_static("/"),
        };
        let uri = Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone());
        uri.path_and_query(path).build().ok()
    }
}

/// The path at a server of this origin that the `endpoint` event of a stream at `base` names, in full or beside `base`; none where it
/// is elsewhere, or no address.
pub(crate) fn endpoint_path(origin: &str, base: &str, said: &str) -> Option<String> {
    // Beside `base`, any text would be an address; these are the ones that servers write by mistake.
    if said.is_empty() || said.starts_with(['{', '"']) || said.contains(char::is_whitespace) {
        return None;
    }
    let to = formats::url::resolve(base, said);
    to.strip_prefix(origin).filter(|path| path.starts_with('/')).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::{Target, endpoint_path};

    #[test]
    fn a_slash_stands_for_the_path_of_the_server() {
        let target = Target::parse("http://127.0.0.1:3001/mcp").unwrap();
        let of = |path: &str| target.uri(Some(&path.parse().unwrap())).unwrap().to_string();
        assert_eq!(of("/"), "http://127.0.0.1:3001/mcp");
        assert_eq!(of("/messages?id=1"), "http://127.0.0.1:3001/messages?id=1");
        assert_eq!(of("/?id=1"), "http://127.0.0.1:3001/?id=1");
        assert_eq!((target.origin().as_str(), target.path()), ("http://127.0.0.1:3001", "/mcp"));
        let root = Target::parse("https://example.org").unwrap();
        assert_eq!(root.uri(Some(&"/".parse().unwrap())).unwrap(), "https://example.org/");
    }

    #[test]
    fn a_listener_does_not_forward_to_itself() {
        let leads = |to: &str, here: &str| Target::parse(to).unwrap().leads_back_to(here.parse().unwrap());
        for (to, here) in [
            ("http://127.0.0.1:8080/mcp", "127.0.0.1:8080"),
            ("http://localhost:8080", "127.0.0.1:8080"),
            ("http://0.0.0.0:8080", "127.0.0.1:8080"),
            ("http://127.0.0.1:8080", "0.0.0.0:8080"),
            ("https://127.0.0.1", "127.0.0.1:443"),
            ("http://[::ffff:127.0.0.1]:80", "127.0.0.1:80"),
        ] {
            assert!(leads(to, here), "{to} at {here}");
        }
        for (to, here) in [
            ("http://127.0.0.1:8081/mcp", "127.0.0.1:8080"),
            ("http://127.0.0.2:8080/mcp", "127.0.0.1:8080"),
            // An address of documentation, which no machine has.
            ("http://192.0.2.1:8080", "0.0.0.0:8080"),
            ("http://127.0.0.1", "127.0.0.1:443"),
        ] {
            assert!(!leads(to, here), "{to} at {here}");
        }
    }

    #[test]
    fn an_endpoint_is_a_path_beside_its_stream() {
        let path = |said| endpoint_path("http://a:1", "http://a:1/b/sse", said);
        for (said, leads_to) in [
            ("/m?s=1", Some("/m?s=1")),
            ("m?s=1", Some("/b/m?s=1")),
            ("../m", Some("/m")),
            ("?s=1", Some("/b/sse?s=1")),
            ("http://a:1/m", Some("/m")),
            ("http://a:12/m", None),
            ("//c/m", None),
            ("", None),
            ("\"/m\"", None),
            ("{\"uri\":\"/m\"}", None),
            ("not here", None),
        ] {
            assert_eq!(path(said).as_deref(), leads_to, "{said}");
        }
    }
}
