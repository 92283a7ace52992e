//! One request on its way to the server, and its response on its way back. Parts of bodies are forwarded as they come, in
//! both directions.

use super::endpoint::Relocated;
use super::events::{ProxyEvent, RequestHead, ResponseHead, Sender, Side};
use crate::bridge::Bridge;
use crate::http::{
    AllowedHosts, Body, BoxError, Client, EVENTS, End, Service, Target, Watched, answer, boxed, error_chain,
    full, header_list, media_type, to_server, without_connection,
};
use hyper::body::Incoming;
use hyper::header::CONTENT_LENGTH;
use hyper::http::request::Parts;
use hyper::{Method, Request, Response, StatusCode, Uri, Version};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The exchange of what belongs to none.
const NO_EXCHANGE: u64 = u64::MAX;

/// Who answers.
pub(super) enum Upstream {
    /// A server over HTTP, which is the target.
    Http(Client),
    /// A server over stdio.
    Stdio(Arc<Bridge>),
}

/// What forwarding needs.
pub(super) struct Forward {
    pub(super) upstream: Upstream,
    pub(super) target: Target,
    pub(super) hosts: AllowedHosts,
    pub(super) sender: Sender,
    pub(super) next: AtomicU64,
}

impl Service for Forward {
    async fn answer(&self, connection: u64, request: Request<Incoming>) -> Result<Response<Body>, BoxError> {
        let exchange = self.next.fetch_add(1, Ordering::Relaxed);
        Ok(match self.forward(exchange, connection, request).await {
            Ok(answer) => answer,
            Err((status, why)) => {
                // The archive says why there is no response, and the proxy tells the client.
                let text = format!("mcp-concord record: {}: {why}\n", self.target.origin());
                self.sender.send(exchange, ProxyEvent::Ended(Side::Request, End::Dropped));
                self.sender.send(exchange, ProxyEvent::NoResponse(why));
                answer(status, Some("text/plain; charset=utf-8"), full(text))
            }
        })
    }

    /// An exchange reports a peer that went away; bytes that are not HTTP belong to none.
    async fn disconnected(&self, ended: hyper::Result<()>) {
        if let Some(error) = ended.err().filter(hyper::Error::is_parse) {
            self.sender.send(NO_EXCHANGE, ProxyEvent::NotHttp(error_chain(&error)));
        }
    }
}

impl Forward {
    /// Forwards a request and returns the response.
    /// Fails with the reason, and the status that says so.
    async fn forward(
        &self,
        exchange: u64,
        connection: u64,
        request: Request<Incoming>,
    ) -> Result<Response<Body>, (StatusCode, String)> {
        let (head, body) = request.into_parts();
        let asked = request_head(&self.target, connection, &head);
        self.sender.send(exchange, ProxyEvent::Request(Box::new(asked)));
        let refusal = match &self.upstream {
            Upstream::Http(_) => self.hosts.refusal(&head.uri, &head.headers),
            Upstream::Stdio(_) => self.hosts.refusal_of_server(&head.uri, &head.headers),
        };
        let head = outgoing(&self.target, refusal, head)?;
        let wants_stream = head.method == Method::GET;
        let body = boxed(Watched::new(body, self.sender.watch(exchange, Side::Request)));
        let waiting = AwaitedResponse { sender: &self.sender, exchange };
        let request = Request::from_parts(head, body);
        let answered = match &self.upstream {
            Upstream::Http(client) => client.send(request).await.map(|answer| answer.map(boxed)),
            Upstream::Stdio(bridge) => Ok(bridge.serve(request).await),
        };
        // The client is still there.
        std::mem::forget(waiting);
        let answered = answered.map_err(|failure| (StatusCode::BAD_GATEWAY, failure.why))?;
        Ok(self.returned(exchange, wants_stream, answered))
    }

    fn returned(&self, exchange: u64, wants_stream: bool, answered: Response<Body>) -> Response<Body> {
        let (mut head, body) = answered.into_parts();
        self.sender.send(
            exchange,
            ProxyEvent::Response(Box::new(ResponseHead {
                status: head.status.as_u16(),
                reason: head.status.canonical_reason().unwrap_or_default().to_owned(),
                version: format!("{:?}", head.version),
                headers: header_list(&head.headers),
            })),
        );
        without_connection(&mut head.headers);
        head.version = Version::HTTP_11;
        let body = Watched::new(body, self.sender.watch(exchange, Side::Response));
        if !wants_stream || media_type(&head.headers) != EVENTS {
            return Response::from_parts(head, boxed(body));
        }
        // The stream may come out shorter.
        head.headers.remove(CONTENT_LENGTH);
        Response::from_parts(head, boxed(Relocated::new(body, self.target.origin())))
    }
}

/// Where a request goes; none where it asks for a tunnel, or for what cannot be forwarded.
fn destination(target: &Target, head: &Parts) -> Option<Uri> {
    if head.method == Method::CONNECT { None } else { target.uri(head.uri.path_and_query()) }
}

/// The head of a request as the archive has it.
pub(super) fn request_head(target: &Target, connection: u64, head: &Parts) -> RequestHead {
    RequestHead {
        connection,
        method: head.method.to_string(),
        url: destination(target, head).as_ref().unwrap_or(&head.uri).to_string(),
        version: format!("{:?}", head.version),
        headers: header_list(&head.headers),
    }
}

/// The head of a request on its way to the server.
/// Fails with the status and the reason with which it is refused.
pub(super) fn outgoing(
    target: &Target,
    refusal: Option<String>,
    mut head: Parts,
) -> Result<Parts, (StatusCode, String)> {
    if let Some(why) = refusal {
        let why = format!("the request {why}; allow it with --allow-host");
        return Err((StatusCode::FORBIDDEN, why));
    }
    let Some(uri) = destination(target, &head) else {
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
struct AwaitedResponse<'f> {
    sender: &'f Sender,
    exchange: u64,
}

impl Drop for AwaitedResponse<'_> {
    fn drop(&mut self) {
        for side in [Side::Request, Side::Response] {
            self.sender.send(self.exchange, ProxyEvent::Ended(side, End::Dropped));
        }
    }
}
