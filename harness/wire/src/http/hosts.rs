//! The hosts and origins that a listener serves.

use hyper::Uri;
use hyper::header::{HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::uri::Authority;
use std::net::{IpAddr, SocketAddr};

/// The hosts and origins that a listener serves.
///
/// A page of any site can have its own name resolved to this machine (DNS rebinding), and then its browser lets it talk to
/// whatever listens here. Such a request still names the page's host in `Host`, and in `Origin` where it has one.
#[derive(Debug, Clone, Default)]
pub struct AllowedHosts {
    /// Whether only this machine can connect, so that no other name is right.
    loopback: bool,
    also: Vec<String>,
}

impl AllowedHosts {
    /// Those of a listener at `address`: on loopback, this machine's names and the hosts `also`; otherwise any.
    #[must_use]
    pub fn new(address: SocketAddr, also: &[String]) -> Self {
        let also = also.iter().filter_map(|host| host_of(host)).collect();
        Self { loopback: address.ip().to_canonical().is_loopback(), also }
    }

    /// Why a request is refused, as in "names the host evil.example"; none where it is served.
    pub(crate) fn refusal(&self, target: &Uri, headers: &HeaderMap) -> Option<String> {
        if !self.loopback {
            return None;
        }
        let hosts = texts(headers, HOST);
        let [host] = &hosts[..] else {
            return Some(if hosts.is_empty() { "names no host" } else { "names several hosts" }.to_owned());
        };
        // A request to a proxy names the host in its target, too, and there it counts (RFC 9112, section 3.2.2).
        let named = target.authority().map(Authority::as_str);
        if let Some(foreign) = [Some(&**host), named].into_iter().flatten().find(|host| !self.allows(host)) {
            return Some(format!("names the host {foreign}"));
        }
        self.foreign_origin(headers, None)
    }

    /// The same for a server, which refuses pages of other hosts wherever it listens (Streamable HTTP, security warning).
    pub(crate) fn refusal_of_server(&self, target: &Uri, headers: &HeaderMap) -> Option<String> {
        let asked = texts(headers, HOST).into_iter().next();
        self.refusal(target, headers)
            .or_else(|| self.foreign_origin(headers, asked.filter(|_| !self.loopback)))
    }

    /// An origin of neither this machine nor an allowed host nor `own`; `null` is of no host.
    fn foreign_origin(&self, headers: &HeaderMap, own: Option<String>) -> Option<String> {
        let authority = |origin: &str| origin.split_once("://").map(|(_, authority)| authority.to_owned());
        let known = |host: &String| self.allows(host) || own.as_ref() == Some(host);
        let mut origins = texts(headers, ORIGIN).into_iter();
        let foreign = origins.find(|origin| !authority(origin).is_some_and(|host| known(&host)));
        foreign.map(|origin| format!("comes from the origin {origin}"))
    }

    /// Whether a host, with or without a port, is this machine or one of those allowed besides.
    fn allows(&self, authority: &str) -> bool {
        let Some(host) = host_of(authority) else { return false };
        let is_local = |address: IpAddr| address.to_canonical().is_loopback();
        host == "localhost" || host.parse().is_ok_and(is_local) || self.also.contains(&host)
    }
}

fn texts(headers: &HeaderMap, name: HeaderName) -> Vec<String> {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    headers.get_all(name).iter().map(text).collect()
}

/// The host of an authority in lower case, without its port and the brackets of IPv6; none where it has none.
fn host_of(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok()?;
    let host = authority.host().trim_matches(['[', ']']).to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::AllowedHosts;
    use hyper::Uri;
    use hyper::header::{HeaderMap, HeaderName, HeaderValue};

    /// Why a listener refuses a request with this target and these headers; as a server, or as a proxy.
    fn refusal(at: &str, is_server: bool, target: &str, headers: &[(&'static str, &str)]) -> String {
        let hosts = AllowedHosts::new(at.parse().unwrap(), &["Dev.example:9".to_owned()]);
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        let target: Uri = target.parse().unwrap();
        let refused = match is_server {
            true => hosts.refusal_of_server(&target, &map),
            false => hosts.refusal(&target, &map),
        };
        refused.unwrap_or_default()
    }

    const HERE: &str = "127.0.0.1:8080";

    #[test]
    fn on_loopback_only_this_machine_and_allowed_hosts_are_served() {
        let own =
            "localhost LocalHost:8080 127.0.0.1:8080 127.8.9.1 [::1]:8080 [::1] dev.example dev.example:8080";
        for host in own.split(' ') {
            let origin = format!("http://{host}");
            assert_eq!(refusal(HERE, false, "/mcp", &[("host", host), ("origin", &origin)]), "", "{host}");
        }
        let foreign = "evil.example localhost.evil.example 127.0.0.1.evil.example:80 192.168.1.2  :80 notlocalhost \
                       evil.example:localhost user@localhost.evil [::2]:1";
        for host in foreign.split(' ') {
            assert_eq!(refusal(HERE, false, "/mcp", &[("host", host)]), format!("names the host {host}"));
            let origin = format!("https://{host}");
            let refused = refusal(HERE, false, "/mcp", &[("host", "localhost"), ("origin", &origin)]);
            assert_eq!(refused, format!("comes from the origin {origin}"));
        }
        let evil = "comes from the origin http://evil.example";
        for (target, headers, refused) in [
            ("/mcp", &[][..], "names no host"),
            ("/mcp", &[("host", "localhost"), ("host", "localhost")], "names several hosts"),
            ("/mcp", &[("host", "localhost"), ("origin", "null")], "comes from the origin null"),
            (
                "/mcp",
                &[("host", "[::1]"), ("origin", "http://[::1]"), ("origin", "http://evil.example")],
                evil,
            ),
            ("http://evil.example/mcp", &[("host", "localhost")], "names the host evil.example"),
        ] {
            assert_eq!(refusal(HERE, false, target, headers), refused);
        }
    }

    #[test]
    fn a_listener_that_others_reach_does_not_know_its_names() {
        let own = [("host", "any.example:1"), ("origin", "http://any.example:1")];
        let evil = [own[0], own[1], ("origin", "http://evil.example")];
        let refused =
            |is_server, headers: &[(&'static str, &str)]| refusal("0.0.0.0:8080", is_server, "/mcp", headers);
        assert_eq!(refused(false, &evil), "");
        assert_eq!(refused(true, &own), "", "a page of the host that is asked");
        assert_eq!(refused(true, &evil), "comes from the origin http://evil.example");
    }
}
