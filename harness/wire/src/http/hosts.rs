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

    #[test]
    fn who_is_served_is_as_written() {
        for row in include_str!("hosts.tsv").lines().filter(|row| !row.starts_with('#')) {
            let [at, who, target, headers, why] = row.split('\t').collect::<Vec<_>>()[..] else {
                panic!("{row}")
            };
            let hosts = AllowedHosts::new(at.parse().unwrap(), &["Dev.example:9".to_owned()]);
            let mut map = HeaderMap::new();
            for (name, value) in headers.split(" | ").filter_map(|header| header.split_once(": ")) {
                map.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_str(value).unwrap());
            }
            let target: Uri = target.parse().unwrap();
            let refused = match who {
                "server" => hosts.refusal_of_server(&target, &map),
                _ => hosts.refusal(&target, &map),
            };
            assert_eq!(refused.as_deref().unwrap_or("served").trim_end(), why, "{row}");
        }
    }
}
