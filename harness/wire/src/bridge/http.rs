//! What a client asks over Streamable HTTP, and how it is answered.

use super::conversation::NotTaken;
use super::server::ClientHandle;
use super::streams::{Answer, LISTENING, NextEvent};
use super::{Bridge, NoSession, SESSIONS, SILENCE};
use crate::http::{
    Body, EVENTS, HELD, JSON, LAST_EVENT, PolledPart, SESSION, Unread, VERSION, accepts, answer, boxed,
    collect, full, insert, media_type, spell, text,
};
use crate::messages::{id_text, internal_error, is, messages};
use hyper::body::{Body as HttpBody, Bytes, Frame};
use hyper::header::{ALLOW, CACHE_CONTROL, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, ready};
use tokio::time::timeout;
use transcript::message::Message;
use transcript::revision::Revision;

/// The path at which the server is reached.
pub(crate) const PATH: &str = "/mcp";

/// When the client of a stream that breaks off may come back.
const RETRY: &str = "retry: 300\n";

/// Why a request is refused, with the status that says so.
struct Refusal(StatusCode, String);

type Answered = Result<Response<Body>, Refusal>;

fn refuse<T>(status: StatusCode, why: &str) -> Result<T, Refusal> {
    Err(Refusal(status, why.to_owned()))
}

/// A session that ends unless it is kept: the answer to `initialize` may be an error, or reach nobody.
struct Begun<'b> {
    bridge: &'b Bridge,
    id: String,
    kept: bool,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        if !self.kept {
            self.bridge.end(&self.id);
        }
    }
}

impl Bridge {
    /// Answers a request.
    pub(crate) async fn serve(self: &Arc<Self>, request: Request<Body>) -> Response<Body> {
        let (head, body) = request.into_parts();
        if head.uri.path() != PATH {
            return sentence(StatusCode::NOT_FOUND, &format!("the server is at {PATH}"));
        }
        let answered = match head.method {
            Method::POST => self.post(&head.headers, body).await,
            Method::GET => self.get(&head.headers),
            Method::DELETE => self.session(&head.headers).map(|(id, ..)| {
                self.end(&id);
                Response::new(full(""))
            }),
            _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "only POST, GET and DELETE are served here"),
        };
        answered.unwrap_or_else(|Refusal(status, why)| {
            if head.method == Method::POST && status == StatusCode::NOT_FOUND {
                self.strayed.fetch_add(1, Ordering::SeqCst);
            }
            sentence(status, &why)
        })
    }

    async fn post(self: &Arc<Self>, headers: &HeaderMap, body: Body) -> Answered {
        let accepted = accepts(headers, JSON) && accepts(headers, EVENTS);
        if !(accepted || self.conduct.is_lenient) {
            return refuse(
                StatusCode::NOT_ACCEPTABLE,
                &format!("the header Accept has to list {JSON} and {EVENTS}"),
            );
        }
        if media_type(headers) != JSON {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &format!("the body has to be {JSON}"));
        }
        let body = match collect(body, HELD).await {
            Ok(body) => body,
            Err(Unread::TooLong) => {
                let why = format!("a message has at most {} MiB", HELD >> 20);
                return refuse(StatusCode::PAYLOAD_TOO_LARGE, &why);
            }
            Err(Unread::Broken(why)) => {
                return refuse(StatusCode::BAD_REQUEST, &format!("the body broke off: {why}"));
            }
        };
        let no_message =
            |why: &str| Refusal(StatusCode::BAD_REQUEST, format!("the body is not a message: {why}"));
        let text = std::str::from_utf8(&body).map_err(|_| no_message("it is not UTF-8"))?;
        let said = messages(text).map_err(|why| no_message(&why))?;
        match &said[..] {
            [hello] if is(*hello, "initialize") && !headers.contains_key(SESSION) => {
                self.initialize(headers, *hello).await
            }
            [_, _, ..] if said.iter().any(|said| is(*said, "initialize")) => {
                Err(no_message("`initialize` is not part of a batch"))
            }
            _ => self.pass_on(headers, &said).await,
        }
    }

    async fn initialize(self: &Arc<Self>, headers: &HeaderMap, hello: Message<'_>) -> Answered {
        known_version(headers, None)?;
        let id = match self.begin() {
            Ok(id) => id,
            Err(NoSession::Full) => {
                let why = format!("{SESSIONS} sessions are open, and none is idle");
                return refuse(StatusCode::SERVICE_UNAVAILABLE, &why);
            }
            Err(NoSession::NotStarted(why)) => {
                self.notify.error(&why);
                return Ok(message(failure(hello, &why)));
            }
        };
        let mut begun = Begun { bridge: self, id, kept: false };
        let Some(client) = self.find(&begun.id) else {
            return Ok(message(failure(hello, "the server ended")));
        };
        let answer = self.ask(&client, &[hello]).await?;
        begun.kept = match &answer {
            Some(Answer::Message(text)) => {
                Message::parse(text).is_ok_and(|it| it.json().member("error").is_none())
            }
            Some(Answer::Gone) => false,
            _ => true,
        };
        let mut answer = self.response(answer, client)?;
        insert(answer.headers_mut(), SESSION, Some(&*begun.id).filter(|_| begun.kept));
        Ok(answer)
    }

    async fn pass_on(&self, headers: &HeaderMap, said: &[Message<'_>]) -> Answered {
        let (_, client) = self.session(headers)?;
        let batches = Revision::V2025_03_26.name();
        if said.len() > 1 && client.version().is_some_and(|version| version != batches) {
            return refuse(StatusCode::BAD_REQUEST, "batches are of revision 2025-03-26 only");
        }
        self.response(self.ask(&client, said).await?, client)
    }

    /// The response to messages that got this answer; none where they ask for nothing.
    fn response(&self, answered: Option<Answer>, client: ClientHandle) -> Answered {
        match answered {
            None => Ok(answer(StatusCode::ACCEPTED, None, full(""))),
            Some(Answer::Message(text)) => Ok(message(text)),
            Some(Answer::Stream(stream)) => events(client, stream, None, self.conduct.breaks),
            Some(Answer::Gone) => refuse(StatusCode::NOT_FOUND, "the session has ended"),
        }
    }

    /// Passes messages on, and waits for what answers them.
    async fn ask(&self, client: &ClientHandle, said: &[Message<'_>]) -> Result<Option<Answer>, Refusal> {
        let stream = match client.ask(said) {
            Ok(Some(stream)) => stream,
            Ok(None) => return Ok(None),
            Err(why) => return not_taken(&why, said).map(Some),
        };
        let answer = poll_fn(|context| {
            client.with(|it| it.poll_answer(stream, context)).unwrap_or(Poll::Ready(Answer::Gone))
        });
        Ok(Some(timeout(SILENCE, answer).await.unwrap_or(Answer::Stream(stream))))
    }

    /// A stream: of what belongs to no request, or of what follows an event.
    fn get(&self, headers: &HeaderMap) -> Answered {
        if !(accepts(headers, EVENTS) || self.conduct.is_lenient) {
            return refuse(StatusCode::NOT_ACCEPTABLE, &format!("the header Accept has to list {EVENTS}"));
        }
        let (_, client) = self.session(headers)?;
        let Some(id) = text(headers, LAST_EVENT) else {
            return events(client, LISTENING, None, false);
        };
        let number = |text: &str| text.parse::<u64>().ok();
        let last = id.split_once('-');
        match last.and_then(|(stream, event)| number(stream).zip(number(event))) {
            Some((stream, event)) => {
                self.resumed.store(true, Ordering::SeqCst);
                events(client, stream, Some(event), false)
            }
            None => refuse(StatusCode::BAD_REQUEST, NO_EVENT),
        }
    }

    /// The session that a request names: its id, and which client of which server it is.
    fn session(&self, headers: &HeaderMap) -> Result<(String, ClientHandle), Refusal> {
        let Some(id) = text(headers, SESSION) else {
            known_version(headers, None)?;
            return refuse(StatusCode::BAD_REQUEST, "the request has no Mcp-Session-Id: initialize first");
        };
        let Some(client) = self.find(&id) else {
            return refuse(StatusCode::NOT_FOUND, NO_SESSION);
        };
        known_version(headers, client.version().as_deref())?;
        Ok((id, client))
    }
}

const NO_SESSION: &str = "this session is over, or never existed: initialize again";

const NO_EVENT: &str = "there is no such event, or what follows it is no longer kept";

/// That the revision that a request names is published, and can be spoken over stdio in sessions, or is that of the session.
fn known_version(headers: &HeaderMap, own: Option<&str>) -> Result<(), Refusal> {
    let Some(named) = text(headers, VERSION) else { return Ok(()) };
    let has_sessions = |revision: Revision| revision <= Revision::V2025_11_25;
    if own == Some(&named) || Revision::named(&named).is_some_and(has_sessions) {
        return Ok(());
    }
    refuse(StatusCode::BAD_REQUEST, "MCP-Protocol-Version names a revision that is not supported here")
}

fn not_taken(why: &NotTaken, said: &[Message<'_>]) -> Result<Answer, Refusal> {
    match why {
        NotTaken::SameId => refuse(StatusCode::BAD_REQUEST, "a request with this id is open"),
        NotTaken::TooMany => refuse(StatusCode::SERVICE_UNAVAILABLE, "too many requests are open"),
        NotTaken::Full => refuse(StatusCode::SERVICE_UNAVAILABLE, "the server does not read what it is sent"),
        NotTaken::Over => {
            // A client that begins again has a new server, unless it is this one that it begins with.
            match said.iter().find(|said| said.method().is_some_and(|method| method.is("initialize"))) {
                Some(begins) => Ok(Answer::Message(failure(*begins, "the server accepts no more messages"))),
                None => refuse(StatusCode::NOT_FOUND, NO_SESSION),
            }
        }
    }
}

/// A stream of events, from its beginning, or from behind an event.
fn events(client: ClientHandle, stream: u64, behind: Option<u64>, breaks: bool) -> Answered {
    let Some(reader) = client.with(|streams| streams.attach(stream, behind)).flatten() else {
        return refuse(StatusCode::BAD_REQUEST, NO_EVENT);
    };
    // Clients of older revisions take an event without data for a message.
    let newest = Revision::V2025_11_25.name();
    let primed = behind.is_none() && client.version().is_some_and(|version| version.as_str() >= newest);
    let breaks = breaks && primed;
    let body = boxed(EventBody { client, stream, reader, primed, breaks, broken: false });
    let mut answer = answer(StatusCode::OK, Some(EVENTS), body);
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(answer)
}

/// An error as the answer to a request that the server does not answer.
fn failure(asked: Message<'_>, why: &str) -> String {
    internal_error(id_text(asked).unwrap_or("null"), &format!("mcp-concord record: {why}"))
}

fn message(text: String) -> Response<Body> {
    answer(StatusCode::OK, Some(JSON), full(text))
}

fn sentence(status: StatusCode, why: &str) -> Response<Body> {
    let body = full(format!("mcp-concord record: {why}\n"));
    let mut answer = answer(status, Some("text/plain; charset=utf-8"), body);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
    }
    answer
}

/// The body of a stream of events, read from what is kept for a client.
struct EventBody {
    client: ClientHandle,
    stream: u64,
    reader: u64,
    /// It begins with an event of no data, so that a client can resume it before anything was said.
    primed: bool,
    /// It ends behind its first message, and says when its client may come back.
    breaks: bool,
    broken: bool,
}

impl HttpBody for EventBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledPart<io::Error> {
        let is_first = std::mem::take(&mut self.primed);
        let next = match is_first {
            true => NextEvent::Event(0, String::new()),
            false if self.broken => NextEvent::End,
            false => ready!(self.client.poll_next(self.stream, self.reader, context)),
        };
        Poll::Ready(match next {
            NextEvent::Event(number, text) => {
                let id = format!("{}-{number}", self.stream);
                self.broken = self.breaks && !is_first;
                let wait = if self.breaks && is_first { RETRY } else { "" };
                let event = spell(None, Some(&id), &text);
                Some(Ok(Frame::data([wait.as_bytes(), &event].concat().into())))
            }
            NextEvent::End => None,
            NextEvent::Cut => Some(Err(io::Error::other("what follows on this stream is no longer kept"))),
        })
    }
}

impl Drop for EventBody {
    fn drop(&mut self) {
        self.client.detach(self.stream, self.reader);
    }
}
