//! The one client: connects over HTTP/1.1, with TLS by the system's certificates where a URL asks for it.

use super::body::Body;
use hyper::body::Incoming;
use hyper::{Request, Response};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::error::Error;
use std::time::Duration;

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct Client(legacy::Client<HttpsConnector<HttpConnector>, Body>);

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error with its causes.
    pub(crate) why: String,
    /// There was no connection.
    pub(crate) unreachable: bool,
}

impl Client {
    /// A client that lets a connection take so long to be made, where that is said.
    pub(crate) fn new(connect_timeout: Option<Duration>) -> Result<Self, String> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(connect_timeout);
        let builder = HttpsConnectorBuilder::new()
            .with_native_roots()
            .map_err(|error| format!("cannot read the system's certificates: {error}"))?;
        let connector = builder.https_or_http().enable_http1().wrap_connector(http);
        let mut client = legacy::Client::builder(TokioExecutor::new());
        Ok(Self(client.http1_preserve_header_case(true).build(connector)))
    }

    /// The answer to a request, from its head on.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, Failure> {
        let answer = self.0.request(request).await;
        answer.map_err(|error| Failure { why: error_chain(&error), unreachable: error.is_connect() })
    }
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
