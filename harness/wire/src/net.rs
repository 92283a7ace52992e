//! What a proxy and a player need of sockets and HTTP.

use hyper::header::{HeaderMap, HeaderValue};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use std::error::Error;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// Listens at `address`, for a runtime to accept connections.
///
/// # Errors
/// A sentence.
pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, String> {
    let bound = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{address} is in use by another program; port 0 takes one that is free")
        }
        _ => format!("cannot listen at {address}: {error}"),
    })
}

/// Two threads that serve connections.
///
/// # Errors
/// A sentence.
pub(crate) fn runtime() -> Result<Runtime, String> {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| format!("cannot start a thread: {error}"))
}

/// Connects over HTTP/1.1, with TLS by the system's certificates where the URL asks for it.
///
/// # Errors
/// A sentence.
pub(crate) fn connector(timeout: Option<Duration>) -> Result<HttpsConnector<HttpConnector>, String> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(timeout);
    let builder = HttpsConnectorBuilder::new()
        .with_native_roots()
        .map_err(|error| format!("cannot read the system's certificates: {error}"))?;
    Ok(builder.https_or_http().enable_http1().wrap_connector(http))
}

/// An error with its causes, from the outermost to the innermost.
pub(crate) fn error_chain(error: &dyn Error) -> String {
    let mut out = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !out.ends_with(&text) {
            out.push_str(": ");
            out.push_str(&text);
        }
        cause = error.source();
    }
    out
}

/// Every header in the order of the map; a value that is not UTF-8 is read as Latin-1.
pub(crate) fn header_list(headers: &HeaderMap) -> Vec<(String, String)> {
    let text = |value: &HeaderValue| match std::str::from_utf8(value.as_bytes()) {
        Ok(text) => text.to_owned(),
        Err(_) => value.as_bytes().iter().map(|&byte| char::from(byte)).collect(),
    };
    headers.iter().map(|(name, value)| (name.as_str().to_owned(), text(value))).collect()
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
