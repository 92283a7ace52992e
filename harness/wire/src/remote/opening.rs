//! Sessions that do not begin with the answer to a POST: over HTTP+SSE, and after one that the server has ended.

use super::caller::{Outcome, Stream, described};
use super::session::{ACCEPTANCE, SHOWN, Session};
use crate::http::{EVENTS, JSON, SseEvent, is_stream, media_type};
use crate::lock;
use crate::messages::{id_text, messages, protocol_version};
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use transcript::message::Message;
use verdict::plain::cut;

impl Session {
    /// Opens the stream of HTTP+SSE, which says where messages go; whether there is one, or why it is of no use.
    pub(super) async fn begin_legacy(self: &Arc<Self>) -> Result<bool, String> {
        let Ok(answer) = self.caller.send(Method::GET, EVENTS, None, None).await else { return Ok(false) };
        let status = answer.status();
        if status.is_server_error() {
            let said = self.caller.whole(answer.into_body()).await.unwrap_or_default();
            let why = described(status, &said);
            return Err(format!("the GET that opens a stream of HTTP+SSE is answered with {why}"));
        }
        if !is_stream(&answer) {
            return Ok(false);
        }
        let mut stream = Stream::new(answer.into_body());
        // The client is to learn why before it gives up.
        let time = self.patience.map_or(ACCEPTANCE, |patience| patience / 2);
        let events = timeout(time, self.to_endpoint(&mut stream)).await;
        let events =
            events.unwrap_or_else(|_| Err(format!("no `endpoint` event came in {} s", time.as_secs_f32())));
        let events =
            events.map_err(|why| format!("the stream of HTTP+SSE does not say where to post: {why}"))?;
        let session = Arc::clone(self);
        tokio::spawn(async move {
            session.pass_all(&events).await;
            let why = session.pass_on("the server closed its stream", &mut stream).await;
            let open = session.open.borrow().clone();
            session.end(Outcome::Lost, &open, &why, &format!("{}: {why}", session.caller.origin)).await;
        });
        Ok(true)
    }

    /// Reads a stream up to the event that says where messages go; the events beside that.
    async fn to_endpoint(&self, stream: &mut Stream) -> Result<Vec<SseEvent>, String> {
        let mut before = Vec::new();
        loop {
            for event in stream.next(&self.caller, "it ended without an `endpoint` event").await? {
                let (name, data) = (event.name.as_deref(), String::from_utf8_lossy(&event.data));
                if name == Some("endpoint") && !self.caller.go_to(&data) {
                    let said = cut(&data, SHOWN);
                    return Err(format!(
                        "its `endpoint` event has `{said}`, which is not a path of this server"
                    ));
                }
                if name != Some("endpoint") && (data.starts_with('/') || data.starts_with("http")) {
                    let (name, said) = (cut(name.unwrap_or("message"), SHOWN), cut(&data, SHOWN));
                    return Err(format!(
                        "`{said}` comes in an event named `{name}`, and not in one named `endpoint`"
                    ));
                }
                before.push(event);
            }
            if lock(&self.caller.state).endpoint.is_some() {
                return Ok(before);
            }
        }
    }

    /// Takes an answer that is not read here, or not by its client; why not, where a request is still open.
    pub(super) async fn unread(&self, answer: Response<Incoming>, ids: &[String]) -> Result<(), String> {
        let media = media_type(answer.headers());
        // Who leaves before the body ends cuts off what a server says here and should not.
        let body = timeout(Duration::from_secs(1), self.caller.whole(answer.into_body())).await;
        let mut state = lock(&self.caller.state);
        if state.endpoint.is_some() || !self.is_open(ids) {
            return Ok(());
        }
        // A session that begins so has a version, too.
        let said = body.ok().and_then(Result::ok).unwrap_or_default();
        let chosen = Message::parse(&said).ok().and_then(|it| protocol_version(it.json().member("result")?));
        state.version = state.version.take().or(chosen);
        Err(match &*media {
            "" => "the answer has no Content-Type".to_owned(),
            _ => format!("the answer is {media:?}, neither JSON nor a stream of events"),
        })
    }

    /// Opens a session after the one of this id, which the server has ended, unless another request has; whether there is one.
    pub(super) async fn renew(self: &Arc<Self>, ended: Option<HeaderValue>) -> bool {
        let _one = self.renewing.lock().await;
        let (opening, id) = {
            let mut state = lock(&self.caller.state);
            let Some(opening) = state.opening.clone() else { return false };
            if state.id != ended {
                return true;
            }
            let ids = messages(&opening).ok().and_then(|said| id_text(*said.first()?).map(str::to_owned));
            (state.id, state.version, state.hello) = (None, None, ids.clone());
            (opening, ids)
        };
        let accept = format!("{JSON}, {EVENTS}");
        let answer = self.caller.send(Method::POST, &accept, None, Some(&opening)).await;
        let Ok(answer) = answer else { return false };
        let is_stream = is_stream(&answer);
        let is_open = answer.status().is_success();
        self.caller.learn(answer.headers(), id.as_slice());
        self.open.send_modify(|open| open.extend(id.clone()));
        let session = Arc::clone(self);
        tokio::spawn(async move {
            match is_stream {
                true => drop(session.follow(answer.into_body(), id.as_slice()).await),
                false => {
                    session.pass(&session.caller.whole(answer.into_body()).await.unwrap_or_default()).await
                }
            }
            id.iter().for_each(|id| _ = session.no_longer_open(id));
        });
        let mut open = self.open.subscribe();
        let first = lock(&self.caller.state).hello.clone();
        let answered = open.wait_for(|open| first.as_ref().is_none_or(|id| !open.contains(id)));
        let _ = timeout(ACCEPTANCE, answered).await;
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        is_open && self.caller.send(Method::POST, &accept, None, Some(initialized)).await.is_ok()
    }
}
