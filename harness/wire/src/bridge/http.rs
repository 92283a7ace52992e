//! What a client asks over Streamable HTTP, and how it is answered.

use super::body::EventBody;
use super::conversation::{Refused, is};
use super::server::{NotTaken, Server};
use super::streams::{Answer, LISTENING};
use super::{Bridge, NoSession, SESSIONS};
use crate::net::{accepts, answer};
use crate::play::http::{EVENTS, JSON, LAST_EVENT, SESSION, VERSION};
use crate::play::{HELD, id_text, internal_error, messages};
use http_body_util::{BodyExt as _, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes};
use hyper::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use tokio::time::timeout;
use transcript::message::Message;
use transcript::revision::Revision;

/// An answer: one message or sentence, or a stream.
pub(crate) type Reply = Either<Full<Bytes>, EventBody>;

/// The path at which the server is reached.
pub(crate) const PATH: &str = "/mcp";

/// Why a request is refused, with the status that says so.
struct Refusal(StatusCode, String);

fn refuse<T>(status: StatusCode, why: &str) -> Result<T, Refusal> {
    Err(Refusal(status, why.to_owned()))
}

/// What a client's messages got.
enum Answered {
    /// They ask for nothing.
    Accepted,
    /// One message.
    Message(String),
    /// A stream of this number.
    Stream(u64),
}

impl Answered {
    fn response(self, server: &Arc<Server>, client: u64) -> Result<Response<Reply>, Refusal> {
        match self {
            Self::Accepted => Ok(answer(StatusCode::ACCEPTED, None, Either::Left(Full::default()))),
            Self::Message(text) => Ok(message(text)),
            Self::Stream(stream) => events(server, client, stream, None),
        }
    }
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
    pub(crate) async fn serve<B>(self: &Arc<Self>, request: Request<B>) -> Response<Reply>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (head, body) = request.into_parts();
        if head.uri.path() != PATH {
            return sentence(StatusCode::NOT_FOUND, &format!("the server is at {PATH}"));
        }
        let answered = match head.method {
            Method::POST => self.post(&head.headers, body).await,
            Method::GET => self.get(&head.headers),
            Method::DELETE => self.session(&head.headers).map(|(id, ..)| {
                self.end(&id);
                Response::new(Either::Left(Full::default()))
            }),
            _ => refuse(StatusCode::METHOD_NOT_ALLOWED, "a POST, a GET or a DELETE belongs here"),
        };
        answered.unwrap_or_else(|Refusal(status, why)| sentence(status, &why))
    }

    async fn post<B>(self: &Arc<Self>, headers: &HeaderMap, body: B) -> Result<Response<Reply>, Refusal>
    where
        B: Body<Data = Bytes>,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        if !(accepts(headers, JSON) && accepts(headers, EVENTS)) {
            return refuse(
                StatusCode::NOT_ACCEPTABLE,
                &format!("the header Accept has to list {JSON} and {EVENTS}"),
            );
        }
        if !is_json(headers) {
            return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &format!("the body has to be {JSON}"));
        }
        let body = whole(body).await?;
        let no_message =
            |why: &str| Refusal(StatusCode::BAD_REQUEST, format!("the body is not a message: {why}"));
        let text = std::str::from_utf8(&body).map_err(|_| no_message("it is not UTF-8"))?;
        let said = messages(text).map_err(|why| no_message(&why))?;
        let hello = said.iter().any(|said| is(*said, "initialize"));
        match &said[..] {
            [hello] if is(*hello, "initialize") && !headers.contains_key(SESSION) => {
                self.initialize(headers, *hello).await
            }
            [_] => self.pass_on(headers, &said).await,
            _ if hello => Err(no_message("`initialize` is not part of a batch")),
            _ => self.pass_on(headers, &said).await,
        }
    }

    async fn initialize(
        self: &Arc<Self>,
        headers: &HeaderMap,
        hello: Message<'_>,
    ) -> Result<Response<Reply>, Refusal> {
        known_version(headers, None)?;
        let id = match self.begin() {
            Ok(id) => id,
            Err(NoSession::Full) => {
                let why = format!("{SESSIONS} sessions are open, and all are at work");
                return refuse(StatusCode::SERVICE_UNAVAILABLE, &why);
            }
            Err(NoSession::NotStarted(why)) => {
                self.notify.error(&why);
                return Ok(message(failure(hello, &why)));
            }
        };
        let mut begun = Begun { bridge: self, id, kept: false };
        let Some((server, client)) = self.find(&begun.id) else {
            return Ok(message(failure(hello, "the server ended")));
        };
        let answer = self.ask(&server, client, &[hello]).await?;
        begun.kept = match &answer {
            Answered::Message(text) => {
                Message::parse(text).is_ok_and(|it| it.json().member("error").is_none())
            }
            _ => true,
        };
        let mut answer = answer.response(&server, client)?;
        if let Some(id) = HeaderValue::from_str(&begun.id).ok().filter(|_| begun.kept) {
            answer.headers_mut().insert(HeaderName::from_static(SESSION), id);
        }
        Ok(answer)
    }

    async fn pass_on(&self, headers: &HeaderMap, said: &[Message<'_>]) -> Result<Response<Reply>, Refusal> {
        let (_, server, client) = self.session(headers)?;
        let batches = Revision::V2025_03_26.name();
        if said.len() > 1 && server.version(client).is_some_and(|version| version != batches) {
            return refuse(StatusCode::BAD_REQUEST, "batches are of revision 2025-03-26 only");
        }
        self.ask(&server, client, said).await?.response(&server, client)
    }

    /// Passes messages on, and waits for what answers them.
    async fn ask(
        &self,
        server: &Arc<Server>,
        client: u64,
        said: &[Message<'_>],
    ) -> Result<Answered, Refusal> {
        let stream = match server.ask(client, said) {
            Ok(Some(stream)) => stream,
            Ok(None) => return Ok(Answered::Accepted),
            Err(why) => return not_taken(&why, said),
        };
        let answer = poll_fn(|context| server.poll_answer(client, stream, context));
        match timeout(self.silence, answer).await.unwrap_or(Answer::Stream) {
            Answer::Message(text) => Ok(Answered::Message(text)),
            Answer::Stream => Ok(Answered::Stream(stream)),
            Answer::Gone => refuse(StatusCode::NOT_FOUND, "the session has ended"),
        }
    }

    /// A stream: of what belongs to no request, or of what follows an event.
    fn get(&self, headers: &HeaderMap) -> Result<Response<Reply>, Refusal> {
        if !accepts(headers, EVENTS) {
            return refuse(StatusCode::NOT_ACCEPTABLE, &format!("the header Accept has to list {EVENTS}"));
        }
        let (_, server, client) = self.session(headers)?;
        let Some(id) = headers.get(LAST_EVENT) else {
            return events(&server, client, LISTENING, None);
        };
        let number = |text: &str| text.parse::<u64>().ok();
        let last = id.to_str().ok().and_then(|id| id.split_once('-'));
        match last.and_then(|(stream, event)| number(stream).zip(number(event))) {
            Some((stream, event)) => events(&server, client, stream, Some(event)),
            None => refuse(StatusCode::BAD_REQUEST, NO_EVENT),
        }
    }

    /// The session that a request names: its id, its server, and which of its clients it is.
    fn session(&self, headers: &HeaderMap) -> Result<(String, Arc<Server>, u64), Refusal> {
        let named = headers.get(SESSION).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
        let Some(id) = named else {
            known_version(headers, None)?;
            return refuse(StatusCode::BAD_REQUEST, "the request has no Mcp-Session-Id: initialize first");
        };
        let Some((server, client)) = self.find(&id) else {
            return refuse(StatusCode::NOT_FOUND, "this session is over, or never was: initialize again");
        };
        known_version(headers, server.version(client).as_deref())?;
        Ok((id, server, client))
    }
}

const NO_EVENT: &str = "there is no such event, or what follows it is not kept any more";

/// That the revision that a request names is published, and can be spoken over stdio in sessions, or is that of the session.
fn known_version(headers: &HeaderMap, own: Option<&str>) -> Result<(), Refusal> {
    let Some(named) = headers.get(VERSION) else { return Ok(()) };
    let named = String::from_utf8_lossy(named.as_bytes());
    let has_sessions = |revision: Revision| revision <= Revision::V2025_11_25;
    if own == Some(&*named) || Revision::named(&named).is_some_and(has_sessions) {
        return Ok(());
    }
    refuse(StatusCode::BAD_REQUEST, "MCP-Protocol-Version names no revision that is spoken here")
}

fn is_json(headers: &HeaderMap) -> bool {
    let media = headers.get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    media.split(';').next().is_some_and(|media| media.trim().eq_ignore_ascii_case(JSON))
}

/// The body of a request, which is held.
async fn whole<B>(body: B) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes>,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    match Limited::new(body, HELD).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => {
            refuse(StatusCode::PAYLOAD_TOO_LARGE, &format!("a message has at most {} MiB", HELD >> 20))
        }
        Err(error) => refuse(StatusCode::BAD_REQUEST, &format!("the body broke off: {error}")),
    }
}

fn not_taken(why: &NotTaken, said: &[Message<'_>]) -> Result<Answered, Refusal> {
    match why {
        NotTaken::Refused(Refused::SameId) => {
            refuse(StatusCode::BAD_REQUEST, "a request with this id is open")
        }
        NotTaken::Refused(Refused::TooMany) => {
            refuse(StatusCode::SERVICE_UNAVAILABLE, "too many requests are open")
        }
        NotTaken::Full => refuse(StatusCode::SERVICE_UNAVAILABLE, "the server does not read what it is sent"),
        NotTaken::Over => {
            let why = "the server takes no more messages";
            let asked = said.iter().find(|said| said.method().is_some() && id_text(**said).is_some());
            match asked {
                Some(asked) => Ok(Answered::Message(failure(*asked, why))),
                None => refuse(StatusCode::BAD_GATEWAY, why),
            }
        }
    }
}

/// A stream of events, from its beginning, or from behind an event.
fn events(
    server: &Arc<Server>,
    client: u64,
    stream: u64,
    behind: Option<u64>,
) -> Result<Response<Reply>, Refusal> {
    let Some(reader) = server.attach(client, stream, behind) else {
        return refuse(StatusCode::BAD_REQUEST, NO_EVENT);
    };
    // Clients of older revisions take an event without data for a message.
    let newest = Revision::V2025_11_25.name();
    let primed = behind.is_none() && server.version(client).is_some_and(|version| version.as_str() >= newest);
    let body = EventBody { server: Arc::clone(server), client, stream, reader, primed };
    let mut answer = answer(StatusCode::OK, Some(EVENTS), Either::Right(body));
    answer.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    Ok(answer)
}

/// An error as the answer to a request that the server does not answer.
fn failure(asked: Message<'_>, why: &str) -> String {
    internal_error(id_text(asked).unwrap_or("null"), &format!("mcp-concord record: {why}"))
}

fn message(text: String) -> Response<Reply> {
    answer(StatusCode::OK, Some(JSON), Either::Left(Full::new(Bytes::from(text))))
}

fn sentence(status: StatusCode, why: &str) -> Response<Reply> {
    let text = format!("mcp-concord record: {why}\n");
    let body = Either::Left(Full::new(Bytes::from(text)));
    let mut answer = answer(status, Some("text/plain; charset=utf-8"), body);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        answer.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, GET, DELETE"));
    }
    answer
}
