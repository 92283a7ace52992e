//! The requests of a session: where they go, and their headers.

use super::outcome::Outcome;
use crate::net::error_chain;
use crate::play::http::{JSON, LAST_EVENT, SESSION, VERSION};
use crate::proxy::Target;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// So much of what a server says to an error is repeated.
const QUOTED: usize = 200;

/// Who sends the requests of a session.
pub(super) struct Caller {
    client: Client<HttpsConnector<HttpConnector>, Full<Bytes>>,
    pub(super) origin: String,
    target: String,
    state: Mutex<State>,
}

/// What requests have to say.
#[derive(Default)]
pub(super) struct State {
    /// The session's id.
    pub(super) id: Option<HeaderValue>,
    /// The revision that was agreed on.
    pub(super) version: Option<HeaderValue>,
    /// Where messages go over HTTP+SSE.
    pub(super) endpoint: Option<String>,
    /// The server has answered something.
    pub(super) reached: bool,
    /// How the session ended, where the client did not end it.
    pub(super) fate: Option<Outcome>,
}

impl Caller {
    pub(super) fn new(target: &Target, connector: HttpsConnector<HttpConnector>) -> Self {
        let origin = target.origin();
        Self {
            client: Client::builder(TokioExecutor::new()).build(connector),
            target: format!("{origin}{}", target.path()),
            origin,
            state: Mutex::default(),
        }
    }

    /// Keeps the session's id where an answer gives it; whether the session is one of HTTP+SSE.
    pub(super) fn learn(&self, headers: &HeaderMap) -> bool {
        let mut state = self.state();
        state.id = headers.get(SESSION).cloned().or(state.id.take());
        state.endpoint.is_some()
    }

    /// Has messages go to an endpoint; whether it is at the same server, since whoever names another one may want what is
    /// sent there.
    pub(super) fn go_to(&self, endpoint: &str) -> bool {
        let here = match endpoint.strip_prefix(&self.origin) {
            Some(path) => path,
            None => endpoint,
        };
        let is_path = here.starts_with('/') && !here.starts_with("//");
        if is_path {
            self.state().endpoint = Some(format!("{}{here}", self.origin));
        }
        is_path
    }

    /// Sends a request with the headers of the session.
    pub(super) async fn send(
        &self,
        method: Method,
        accept: &str,
        last_event: Option<&str>,
        body: Option<&str>,
    ) -> Result<Response<Incoming>, String> {
        let request = self.request_of(method, accept, last_event, body)?;
        let answer = self.client.request(request).await;
        let answer =
            answer.map_err(|error| format!("{} cannot be reached: {}", self.origin, error_chain(&error)))?;
        self.state().reached = true;
        Ok(answer)
    }

    fn request_of(
        &self,
        method: Method,
        accept: &str,
        last_event: Option<&str>,
        body: Option<&str>,
    ) -> Result<Request<Full<Bytes>>, String> {
        let state = self.state();
        let to = state.endpoint.as_ref().filter(|_| body.is_some()).unwrap_or(&self.target);
        let uri: Uri = to.parse().map_err(|_| "the server's endpoint is not a URL".to_owned())?;
        let mut request = Request::new(Full::new(Bytes::from(body.unwrap_or_default().to_owned())));
        (*request.method_mut(), *request.uri_mut()) = (method, uri);
        let value = |text: &str| HeaderValue::from_str(text).ok();
        let media = body.map(|_| HeaderValue::from_static(JSON));
        for (name, value) in [
            (ACCEPT, value(accept)),
            (CONTENT_TYPE, media),
            (HeaderName::from_static(SESSION), state.id.clone()),
            (HeaderName::from_static(VERSION), state.version.clone()),
            (HeaderName::from_static(LAST_EVENT), last_event.and_then(value)),
        ] {
            if let Some(value) = value {
                request.headers_mut().insert(name, value);
            }
        }
        Ok(request)
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The media type of an answer, without parameters.
pub(super) fn media_type(answer: &Response<Incoming>) -> String {
    let media = answer.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A status, and the beginning of what the server says to it.
pub(super) fn described(status: StatusCode, body: &str) -> String {
    let said: String = body.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(QUOTED).collect();
    if said.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {said}") }
}
