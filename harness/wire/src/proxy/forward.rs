//! One request on its way to the server, and its answer on its way back.
//!
//! Knows: what of a head is changed on the way, and what a client is told where no answer can be had. Refuses to know:
//! what the bodies say, and the file. Parts of bodies go on as they come, in both directions.

use super::headers::{asked as asked_headers, forwarded, listed};
use super::queue::{Answered, Asked, End, Side, Teller, What};
use super::target::Target;
use super::tee::{Endpoint, Tee};
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Version};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use std::error::Error;
use std::sync::atomic::{AtomicU64, Ordering};

/// The body of an answer: the server's, or the recorder's own where there is none.
pub(super) type Answer = Either<Tee<Incoming>, Full<Bytes>>;

/// What forwarding needs.
pub(super) struct Forward {
    pub(super) client: Client<HttpsConnector<HttpConnector>, Tee<Incoming>>,
    pub(super) target: Target,
    pub(super) teller: Teller,
    pub(super) next: AtomicU64,
}

impl Forward {
    /// Forwards a request and gives back the answer.
    pub(super) async fn forward(&self, request: Request<Incoming>) -> Response<Answer> {
        let exchange = self.next.fetch_add(1, Ordering::Relaxed);
        let tunnel = request.method() == Method::CONNECT;
        let uri = if tunnel { None } else { self.target.of(request.uri().path_and_query()) };
        let (mut head, body) = request.into_parts();
        self.teller.tell(
            exchange,
            What::Asked(Box::new(Asked {
                method: head.method.to_string(),
                url: uri.as_ref().unwrap_or(&head.uri).to_string(),
                version: version(head.version).to_owned(),
                headers: listed(&head.headers),
            })),
        );
        let Some(uri) = uri else {
            let (status, why) = match tunnel {
                true => (StatusCode::NOT_IMPLEMENTED, "it asked for a tunnel"),
                false => (StatusCode::BAD_REQUEST, "this path cannot be forwarded"),
            };
            return self.give_up(exchange, status, why.to_owned());
        };
        let wants_stream = head.method == Method::GET;
        asked_headers(&mut head.headers);
        (head.uri, head.version) = (uri, Version::HTTP_11);
        let body = Tee::new(body, self.teller.clone(), exchange, Side::Request, None);
        let waiting = Waiting { teller: &self.teller, exchange };
        let came = self.client.request(Request::from_parts(head, body)).await;
        // Whatever came, the client is still there.
        std::mem::forget(waiting);
        match came {
            Ok(answer) => self.answer(exchange, wants_stream, answer),
            Err(error) => self.give_up(exchange, StatusCode::BAD_GATEWAY, reasons(&error)),
        }
    }

    fn answer(&self, exchange: u64, wants_stream: bool, answer: Response<Incoming>) -> Response<Answer> {
        let (mut head, body) = answer.into_parts();
        self.teller.tell(
            exchange,
            What::Answered(Box::new(Answered {
                status: head.status.as_u16(),
                reason: head.status.canonical_reason().unwrap_or_default().to_owned(),
                version: version(head.version).to_owned(),
                headers: listed(&head.headers),
            })),
        );
        forwarded(&mut head.headers);
        let is_stream = |value: &HeaderValue| value.as_bytes().starts_with(b"text/event-stream");
        let endpoint = wants_stream && head.headers.get(CONTENT_TYPE).is_some_and(is_stream);
        if endpoint {
            // The stream may come out shorter: see `Endpoint`.
            head.headers.remove(CONTENT_LENGTH);
        }
        let endpoint = endpoint.then(|| Endpoint::new(self.target.origin()));
        let body = Tee::new(body, self.teller.clone(), exchange, Side::Answer, endpoint);
        head.version = Version::HTTP_11;
        Response::from_parts(head, Either::Left(body))
    }

    /// There is no answer: the archive says why, and so does the recorder to the client.
    fn give_up(&self, exchange: u64, status: StatusCode, why: String) -> Response<Answer> {
        let answer = own(status, &format!("mcp-concord record: {}: {why}\n", self.target.origin()));
        self.teller.tell(exchange, What::Ended(Side::Request, End::Dropped));
        self.teller.tell(exchange, What::Unanswered(why));
        answer
    }
}

/// A client that waits for an answer to begin. If it goes away, nobody asks for this any more, and it is dropped.
struct Waiting<'f> {
    teller: &'f Teller,
    exchange: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.teller.tell(self.exchange, What::Ended(Side::Request, End::Dropped));
        self.teller.tell(self.exchange, What::Ended(Side::Answer, End::Dropped));
    }
}

/// An answer of the recorder's own.
fn own(status: StatusCode, text: &str) -> Response<Answer> {
    let mut answer = Response::new(Either::Right(Full::new(Bytes::from(text.to_owned()))));
    *answer.status_mut() = status;
    answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// An error with its causes, from the outermost to the one that a person can do something about.
pub(crate) fn reasons(error: &dyn Error) -> String {
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

fn version(version: Version) -> &'static str {
    match version {
        Version::HTTP_09 => "HTTP/0.9",
        Version::HTTP_10 => "HTTP/1.0",
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_3 => "HTTP/3",
        _ => "HTTP/1.1",
    }
}
