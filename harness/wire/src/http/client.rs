//! The one client: connects over HTTP/1.1, with TLS by the system's certificates where a URL asks for it. And one document,
//! fetched by it: what a URL leads to, over redirects, within a deadline and a length.

use super::body::{Body, Unread, collect, full};
use super::headers::text;
use super::server::runtime;
use super::target::Target;
use hyper::body::Incoming;
use hyper::http::uri::Scheme;
use hyper::{Request, Response, StatusCode, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::error::Error;
use std::time::Duration;

/// How long a document may take in all.
const DEADLINE: Duration = Duration::from_secs(60);
/// The longest document.
const LONGEST: usize = 64 << 20;
/// How many headers an answer may have. Most clients bound only their bytes.
const MOST_HEADERS: usize = 1000;
/// How many redirects are followed to it.
const REDIRECTS: usize = 5;

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    plain: Box<Sender>,
    secure: Box<Sender>,
}

type Sender = legacy::Client<HttpsConnector<HttpConnector>, Body>;

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
        client.http1_max_headers(MOST_HEADERS);
        let secure = Box::new(client.http1_preserve_header_case(true).build(connector.clone()));
        // A server may close an idle connection at any time (RFC 9112, section 9.5), and what is on its way then must not be sent
        // again. A new connection costs next to nothing without TLS.
        Ok(Self { plain: Box::new(client.pool_max_idle_per_host(0).build(connector)), secure })
    }

    /// The answer to a request, from its head on.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, Failure> {
        let is_secure = request.uri().scheme() == Some(&Scheme::HTTPS);
        let answer = if is_secure { &self.secure } else { &self.plain }.request(request).await;
        answer.map_err(|error| {
            let mut why = error_chain(&error);
            if why.ends_with("message head is too large") {
                why = format!(
                    "the head of its answer has more than {MOST_HEADERS} headers, or more than 400 KiB"
                );
            }
            Failure { why, unreachable: error.is_connect() }
        })
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

/// The document at a URL.
///
/// # Errors
/// A sentence that says why there is none, without the URL.
pub fn fetch(url: &str) -> Result<Vec<u8>, String> {
    let client = Client::new(Some(DEADLINE))?;
    runtime()?.block_on(async {
        tokio::time::timeout(DEADLINE, follow(&client, url))
            .await
            .unwrap_or_else(|_| Err(format!("it took longer than {} seconds", DEADLINE.as_secs())))
    })
}

async fn follow(client: &Client, url: &str) -> Result<Vec<u8>, String> {
    let mut target = Target::parse(url)?;
    for _ in 0..=REDIRECTS {
        let uri = target.uri(None).ok_or("this is not a URL")?;
        let request = Request::get(uri).body(full("")).map_err(|error| error.to_string())?;
        let answer = client.send(request).await.map_err(|failure| failure.why)?;
        match answer.status() {
            StatusCode::OK => {
                return collect(answer.into_body(), LONGEST).await.map_err(|why| match why {
                    Unread::TooLong => "it has more than 64 MiB".to_owned(),
                    Unread::Broken(why) => format!("it broke off: {why}"),
                });
            }
            status if status.is_redirection() => {
                let to = text(answer.headers(), "location").unwrap_or_default();
                let next = if to.starts_with('/') { target.origin() + &to } else { to };
                if target.origin().starts_with("https:") && next.starts_with("http:") {
                    return Err("it redirects from https to http".to_owned());
                }
                if next.parse::<Uri>().is_err() || next.is_empty() {
                    return Err(format!("it answers with {status}, a redirect without an address"));
                }
                target = Target::parse(&next)?;
            }
            status => return Err(format!("it answers with {status}")),
        }
    }
    Err(format!("it redirects more than {REDIRECTS} times"))
}
