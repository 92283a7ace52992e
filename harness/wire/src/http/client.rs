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
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a document may take in all.
const DEADLINE: Duration = Duration::from_secs(60);
/// The longest document.
const LONGEST: usize = 64 << 20;
/// How many headers an answer may have. Most clients bound only their bytes.
const MOST_HEADERS: usize = 1000;
/// How many redirects are followed to it.
const REDIRECTS: usize = 5;

/// Why no server can be reached over TLS.
const NO_CERTIFICATES: &str = "the system has no certificates by which to verify an https server; SSL_CERT_FILE names a file that has them";

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    http: HttpConnector,
    plain: legacy::Client<HttpConnector, Body>,
    /// Made when a URL first needs it: not every system has certificates, and to read them takes time.
    secure: Arc<OnceLock<Result<Secure, String>>>,
}

type Secure = legacy::Client<HttpsConnector<HttpConnector>, Body>;

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The error with its causes.
    pub(crate) why: String,
    /// There was no connection.
    pub(crate) unreachable: bool,
}

impl Client {
    /// A client for this server, which lets a connection take so long to be made, where that is said.
    pub(crate) fn new(target: &Target, connect_timeout: Option<Duration>) -> Result<Self, String> {
        let mut http = HttpConnector::new();
        http.enforce_http(false);
        http.set_nodelay(true);
        http.set_connect_timeout(connect_timeout);
        // A server may close an idle connection at any time (RFC 9112, section 9.5), and what is on its way then must not be sent
        // again. A new connection costs next to nothing without TLS.
        let plain = builder().pool_max_idle_per_host(0).build(http.clone());
        let client = Self { http, plain, secure: Arc::default() };
        if target.origin().starts_with("https:") {
            client.secure()?;
        }
        Ok(client)
    }

    fn secure(&self) -> Result<&Secure, String> {
        let made = self.secure.get_or_init(|| {
            let roots = HttpsConnectorBuilder::new().with_native_roots().map_err(|_| NO_CERTIFICATES)?;
            Ok(builder().build(roots.https_or_http().enable_http1().wrap_connector(self.http.clone())))
        });
        made.as_ref().map_err(Clone::clone)
    }

    /// The answer to a request, from its head on.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, Failure> {
        let answer = if request.uri().scheme() == Some(&Scheme::HTTPS) {
            self.secure().map_err(|why| Failure { why, unreachable: true })?.request(request).await
        } else {
            self.plain.request(request).await
        };
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

fn builder() -> legacy::Builder {
    let mut builder = legacy::Client::builder(TokioExecutor::new());
    builder.http1_max_headers(MOST_HEADERS).http1_preserve_header_case(true);
    builder
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
    let target = Target::parse(url)?;
    let client = Client::new(&target, Some(DEADLINE))?;
    runtime()?.block_on(async {
        tokio::time::timeout(DEADLINE, follow(&client, target))
            .await
            .unwrap_or_else(|_| Err(format!("it took longer than {} seconds", DEADLINE.as_secs())))
    })
}

async fn follow(client: &Client, mut target: Target) -> Result<Vec<u8>, String> {
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
