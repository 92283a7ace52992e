//! One request on its way to the server, and its response on its way back. Parts of bodies are forwarded as they come, in
//! both directions.

use super::events::{End, Event, RequestHead, ResponseHead, Sender, Side};
use super::headers::{forwarded, to_server};
use super::target::Target;
use super::tee::{Endpoint, Tee};
use crate::bridge::{Bridge, Reply};
use crate::net::{AllowedHosts, answer, error_chain, header_list};
use http_body_util::{Either, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The body of a response: the server's, or the proxy's own where there is none.
pub(super) type Answer = Either<Tee<Either<Incoming, Reply>>, Full<Bytes>>;

/// Who answers.
pub(super) enum Upstream {
    /// A server over HTTP, which is the target.
    Http(Box<Client<HttpsConnector<HttpConnector>, Tee<Incoming>>>),
    /// A server over stdio.
    Stdio(Arc<Bridge>),
}

impl Upstream {
    /// The answer to a request.
    ///
    /// # Errors
    /// Why there is none.
    async fn request(
        &self,
        request: Request<Tee<Incoming>>,
    ) -> Result<Response<Either<Incoming, Reply>>, String> {
        match self {
            Self::Http(client) => match client.request(request).await {
                Ok(answer) => Ok(answer.map(Either::Left)),
                Err(error) => Err(error_chain(&error)),
            },
            Self::Stdio(bridge) => Ok(bridge.serve(request).await.map(Either::Right)),
        }
    }
}

/// What forwarding needs.
pub(super) struct Forward {
    pub(super) upstream: Upstream,
    pub(super) target: Target,
    pub(super) hosts: AllowedHosts,
    pub(super) sender: Sender,
    pub(super) next: AtomicU64,
}

impl Forward {
    /// Forwards a request of this connection and returns the response.
    pub(super) async fn forward(&self, connection: u64, request: Request<Incoming>) -> Response<Answer> {
        let exchange = self.next.fetch_add(1, Ordering::Relaxed);
        let (head, body) = request.into_parts();
        let asked = request_head(&self.target, connection, &head);
        self.sender.send(exchange, Event::Request(Box::new(asked)));
        let refusal = match &self.upstream {
            Upstream::Http(_) => self.hosts.refusal(&head.uri, &head.headers),
            Upstream::Stdio(_) => self.hosts.refusal_of_server(&head.uri, &head.headers),
        };
        let head = match outgoing(&self.target, refusal, head) {
            Ok(head) => head,
            Err((status, why)) => return self.give_up(exchange, status, why),
        };
        let wants_stream = head.method == Method::GET;
        let body = Tee::new(body, self.sender.clone(), exchange, Side::Request, None);
        let waiting = Waiting { sender: &self.sender, exchange };
        let came = self.upstream.request(Request::from_parts(head, body)).await;
        // The client is still there.
        std::mem::forget(waiting);
        match came {
            Ok(answer) => self.answer(exchange, wants_stream, answer),
            Err(why) => self.give_up(exchange, StatusCode::BAD_GATEWAY, why),
        }
    }

    fn answer(
        &self,
        exchange: u64,
        wants_stream: bool,
        answer: Response<Either<Incoming, Reply>>,
    ) -> Response<Answer> {
        let (mut head, body) = answer.into_parts();
        self.sender.send(
            exchange,
            Event::Response(Box::new(ResponseHead {
                status: head.status.as_u16(),
                reason: head.status.canonical_reason().unwrap_or_default().to_owned(),
                version: version(head.version).to_owned(),
                headers: header_list(&head.headers),
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
        let body = Tee::new(body, self.sender.clone(), exchange, Side::Response, endpoint);
        head.version = Version::HTTP_11;
        Response::from_parts(head, Either::Left(body))
    }

    /// There is no response: the archive says why, and the proxy tells the client.
    fn give_up(&self, exchange: u64, status: StatusCode, why: String) -> Response<Answer> {
        let answer = own(status, &format!("mcp-concord record: {}: {why}\n", self.target.origin()));
        self.sender.send(exchange, Event::Ended(Side::Request, End::Dropped));
        self.sender.send(exchange, Event::NoResponse(why));
        answer
    }
}

/// Where a request goes; none where it asks for a tunnel, or for what cannot be forwarded.
fn place(target: &Target, head: &Parts) -> Option<Uri> {
    if head.method == Method::CONNECT { None } else { target.of(head.uri.path_and_query()) }
}

/// The head of a request as the archive has it.
pub(super) fn request_head(target: &Target, connection: u64, head: &Parts) -> RequestHead {
    RequestHead {
        connection,
        method: head.method.to_string(),
        url: place(target, head).as_ref().unwrap_or(&head.uri).to_string(),
        version: version(head.version).to_owned(),
        headers: header_list(&head.headers),
    }
}

/// The head of a request on its way to the server.
///
/// # Errors
/// The status and the reason with which it is refused.
pub(super) fn outgoing(
    target: &Target,
    refusal: Option<String>,
    mut head: Parts,
) -> Result<Parts, (StatusCode, String)> {
    if let Some(why) = refusal {
        let why = format!("the request {why}; `record --allow-host` lets it pass");
        return Err((StatusCode::FORBIDDEN, why));
    }
    let Some(uri) = place(target, &head) else {
        let (status, why) = match head.method == Method::CONNECT {
            true => (StatusCode::NOT_IMPLEMENTED, "it asked for a tunnel"),
            false => (StatusCode::BAD_REQUEST, "this path cannot be forwarded"),
        };
        return Err((status, why.to_owned()));
    };
    to_server(&mut head.headers);
    (head.uri, head.version) = (uri, Version::HTTP_11);
    Ok(head)
}

/// A client that waits for a response to begin. It is dropped where the client goes away.
struct Waiting<'f> {
    sender: &'f Sender,
    exchange: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.sender.send(self.exchange, Event::Ended(Side::Request, End::Dropped));
        self.sender.send(self.exchange, Event::Ended(Side::Response, End::Dropped));
    }
}

/// A response of the proxy's own.
fn own(status: StatusCode, text: &str) -> Response<Answer> {
    let body = Either::Right(Full::new(Bytes::from(text.to_owned())));
    answer(status, Some("text/plain; charset=utf-8"), body)
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
