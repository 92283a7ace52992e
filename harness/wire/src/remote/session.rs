//! A session with a server over HTTP: what is asked, and what comes back.

use super::caller::{Caller, described, media_type};
use super::lines::Writer;
use super::outcome::Outcome;
use super::stream::{Event, Position, Stream, whole};
use crate::Notify;
use crate::play::http::{EVENTS, JSON};
use crate::play::{id_text, internal_error, messages, on_one_line};
use crate::proxy::Target;
use crate::stdio::PipeEvent;
use hyper::body::Incoming;
use hyper::header::HeaderValue;
use hyper::{Method, Response, StatusCode};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use transcript::message::Message;

/// So long may a server take to open a session, or to accept what asks for nothing; what comes later waits for it.
const ACCEPTANCE: Duration = Duration::from_secs(60);

/// What is said where it takes longer.
const NO_ANSWER: &str = "the server has not answered for 60 s";

/// So long are answers waited for when the client says no more.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// A session.
pub(super) struct Session {
    caller: Caller,
    writer: Writer,
    notify: Arc<dyn Notify>,
    over: Sender<Outcome>,
    /// The id of `initialize`, until it is answered.
    hello: Mutex<Option<String>>,
    /// The ids of requests that wait for their answers, as they stand there.
    open: watch::Sender<Vec<String>>,
    /// Lines and bodies that are not messages.
    noise: AtomicU64,
}

impl Session {
    pub(super) fn new(
        target: &Target,
        connector: HttpsConnector<HttpConnector>,
        writer: Writer,
        notify: Arc<dyn Notify>,
        over: Sender<Outcome>,
    ) -> Self {
        Self {
            caller: Caller::new(target, connector),
            writer,
            notify,
            over,
            hello: Mutex::default(),
            open: watch::Sender::default(),
            noise: AtomicU64::new(0),
        }
    }

    /// Takes the client's lines to their end, and waits a while for what it asked last.
    pub(super) async fn converse(self: &Arc<Self>, mut lines: Receiver<PipeEvent>) -> Outcome {
        while let Some(came) = lines.recv().await {
            match came {
                PipeEvent::Line(line, _) => self.take(&line).await,
                PipeEvent::TooLong(bytes) => {
                    self.notify.error(&format!("a message of {bytes} bytes is too long, and was not sent"));
                }
                PipeEvent::End(_) => break,
                _ => {}
            }
        }
        let mut open = self.open.subscribe();
        let _ = timeout(LAST_ANSWERS, open.wait_for(Vec::is_empty)).await;
        self.caller.state().fate.unwrap_or(Outcome::Closed)
    }

    /// Ends the session at the server, and tells what was not passed on.
    pub(super) async fn leave(&self) {
        match self.noise.load(Ordering::Relaxed) {
            0 => {}
            count => {
                let what = "lines and bodies that are not messages were not passed on";
                self.notify.error(&format!("{what}: {count}"));
            }
        }
        if self.caller.state().id.is_some() {
            // A server need not allow it.
            let _ = self.caller.send(Method::DELETE, "*/*", None, None).await;
        }
    }

    /// Takes a line of the client. What has to be there first is waited for.
    async fn take(self: &Arc<Self>, line: &[u8]) {
        let text = std::str::from_utf8(line).unwrap_or_default().trim_ascii().to_owned();
        let Ok(said) = messages(&text) else {
            let is_blank = line.trim_ascii().is_empty();
            self.noise.fetch_add(u64::from(!is_blank), Ordering::Relaxed);
            return;
        };
        let asks = |said: &&Message<'_>| said.method().is_some();
        let ids: Vec<String> =
            said.iter().filter(asks).filter_map(|said| id_text(*said)).map(ToOwned::to_owned).collect();
        let is = |name: &str| said.iter().any(|said| said.method().is_some_and(|method| method.is(name)));
        let (hello, initialized) = (is("initialize"), is("notifications/initialized"));
        if ids.is_empty() {
            match timeout(ACCEPTANCE, self.request(&text, &ids)).await {
                Ok(true) if initialized => self.listen(),
                Ok(_) => {}
                Err(_) => self.not_taken(&ids, NO_ANSWER).await,
            }
            return;
        }
        self.open.send_modify(|open| open.extend(ids.iter().cloned()));
        if !hello {
            let session = Arc::clone(self);
            tokio::spawn(async move { session.request(&text, &ids).await });
            return;
        }
        *self.hello() = ids.first().cloned();
        let answered = async {
            self.request(&text, &ids).await;
            // Over HTTP+SSE the answer is elsewhere.
            let _ = self.open.subscribe().wait_for(|open| !ids.iter().any(|id| open.contains(id))).await;
        };
        if timeout(ACCEPTANCE, answered).await.is_err() {
            self.not_taken(&ids, NO_ANSWER).await;
        }
    }

    /// Sends a text, and answers the requests in it with errors where the server does not; whether it was taken.
    async fn request(self: &Arc<Self>, text: &str, ids: &[String]) -> bool {
        let Err(why) = self.exchange(text, ids).await else { return true };
        self.not_taken(ids, &why).await;
        false
    }

    /// A text was not taken. Where nothing ever was, the session is over.
    async fn not_taken(&self, ids: &[String], why: &str) {
        if !self.caller.state().reached {
            self.end(Outcome::Unreachable, ids, why, why).await;
        } else if ids.is_empty() {
            self.notify.error(&format!("a message was not taken: {why}"));
        } else {
            self.fail(ids, why).await;
        }
    }

    /// Posts a text, and takes what comes back for the requests in it.
    async fn exchange(self: &Arc<Self>, text: &str, ids: &[String]) -> Result<(), String> {
        let answer = self.caller.send(Method::POST, &format!("{JSON}, {EVENTS}"), None, Some(text)).await?;
        if !answer.status().is_success() {
            return self.refused(answer, text, ids).await;
        }
        let is_legacy = self.caller.learn(answer.headers());
        if is_legacy || ids.is_empty() {
            return Ok(());
        }
        let media = media_type(&answer);
        if media == EVENTS {
            self.follow(answer.into_body(), ids).await?;
        } else if media == JSON {
            let body = whole(answer.into_body()).await?;
            self.pass(&body).await;
        }
        match self.is_open(ids) {
            true if media == EVENTS || media == JSON => Err("the server did not answer".to_owned()),
            true => Err(format!("the answer is {media:?}, and neither JSON nor a stream of events")),
            false => Ok(()),
        }
    }

    /// What becomes of a message that the server refused.
    async fn refused(
        self: &Arc<Self>,
        answer: Response<Incoming>,
        text: &str,
        ids: &[String],
    ) -> Result<(), String> {
        let status = answer.status();
        let older = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
        let is_hello = self.hello().as_ref().is_some_and(|hello| ids.contains(hello));
        let (has_session, is_legacy) = {
            let state = self.caller.state();
            (state.id.is_some(), state.endpoint.is_some())
        };
        let body = whole(answer.into_body()).await.unwrap_or_default();
        let why = described(status, &body);
        if is_hello && !is_legacy && older.contains(&status) && self.begin_legacy().await {
            return Box::pin(self.exchange(text, ids)).await;
        }
        if has_session && status == StatusCode::NOT_FOUND {
            let told = format!("{} does not know the session any more: {why}", self.caller.origin);
            self.end(Outcome::Lost, ids, &why, &told).await;
            return Ok(());
        }
        // A server may say in a message of its own why it refuses a request.
        if Message::parse(&body).is_ok_and(|message| message.method().is_none()) && !ids.is_empty() {
            self.pass(&body).await;
        }
        if ids.is_empty() || self.is_open(ids) { Err(why) } else { Ok(()) }
    }

    /// Opens the stream of HTTP+SSE, whose first event says where messages go; whether there is one.
    async fn begin_legacy(self: &Arc<Self>) -> bool {
        let Ok(answer) = self.caller.send(Method::GET, EVENTS, None, None).await else { return false };
        if !answer.status().is_success() || media_type(&answer) != EVENTS {
            return false;
        }
        let mut position = Position::default();
        let mut stream = Stream::new(answer.into_body(), &mut position);
        let mut events = loop {
            match stream.next(&mut position).await {
                Ok(Some(events)) if events.is_empty() => {}
                Ok(Some(events)) => break events.into_iter(),
                _ => return false,
            }
        };
        let Some(endpoint) = events.next().filter(|event| event.name == "endpoint") else { return false };
        if !self.caller.go_to(&endpoint.data) {
            return false;
        }
        let session = Arc::clone(self);
        tokio::spawn(async move {
            session.pass_all(events.collect()).await;
            let why = loop {
                match stream.next(&mut position).await {
                    Ok(Some(events)) => session.pass_all(events).await,
                    Ok(None) => break "the server closed its stream".to_owned(),
                    Err(why) => break why,
                }
            };
            let open = session.open.borrow().clone();
            let told = format!("{}: {why}", session.caller.origin);
            session.end(Outcome::Lost, &open, &why, &told).await;
        });
        true
    }

    /// Listens to what belongs to no request, as far as the server offers that.
    fn listen(self: &Arc<Self>) {
        if self.caller.state().endpoint.is_some() {
            return;
        }
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let answer = session.caller.send(Method::GET, EVENTS, None, None).await;
            let ended = match answer {
                Ok(answer) if answer.status().is_success() && media_type(&answer) == EVENTS => {
                    session.follow(answer.into_body(), &[]).await
                }
                // Most servers have nothing to say of their own.
                Ok(answer) if answer.status() == StatusCode::METHOD_NOT_ALLOWED => Ok(()),
                Ok(answer) => Err(described(answer.status(), "")),
                Err(why) => Err(why),
            };
            if let Err(why) = ended {
                session.notify.note(&format!("what belongs to no request is not heard any more: {why}"));
            }
        });
    }

    /// Reads a stream until what it answers is answered, and resumes it where it ends before that; without `ids`, for ever.
    async fn follow(&self, body: Incoming, ids: &[String]) -> Result<(), String> {
        let mut position = Position::default();
        let mut stream = Stream::new(body, &mut position);
        loop {
            let ended = match stream.next(&mut position).await {
                Ok(Some(events)) => {
                    self.pass_all(events).await;
                    continue;
                }
                Ok(None) => "the server closed the stream before it answered".to_owned(),
                Err(why) => why,
            };
            stream.close(&mut position);
            if !ids.is_empty() && !self.is_open(ids) {
                return Ok(());
            }
            if !position.may_try() || !ids.is_empty() && position.last.is_none() {
                return Err(ended);
            }
            sleep(position.retry).await;
            let answer = self.caller.send(Method::GET, EVENTS, position.last.as_deref(), None).await?;
            if !answer.status().is_success() || media_type(&answer) != EVENTS {
                return Err(format!("{ended}; it cannot be resumed: {}", described(answer.status(), "")));
            }
            stream = Stream::new(answer.into_body(), &mut position);
        }
    }

    async fn pass_all(&self, events: Vec<Event>) {
        for event in events {
            if event.name.is_empty() || event.name == "message" {
                self.pass(&event.data).await;
            }
        }
    }

    /// Passes what the server says on to the client.
    async fn pass(&self, text: &str) {
        let Ok(said) = messages(text) else {
            self.noise.fetch_add(1, Ordering::Relaxed);
            return;
        };
        for message in said.iter().filter(|said| said.method().is_none()) {
            self.answered(*message);
        }
        self.writer.write(on_one_line(text.trim_ascii()).into_owned()).await;
    }

    fn answered(&self, message: Message<'_>) {
        let Some(id) = id_text(message) else { return };
        if self.hello().take_if(|hello| hello == id).is_some() {
            let version = message.json().member("result").and_then(|result| result.member("protocolVersion"));
            let version = version.and_then(|version| version.as_text()?.to_str().map(|it| it.into_owned()));
            self.caller.state().version = version.and_then(|version| HeaderValue::from_str(&version).ok());
        }
        self.no_longer_open(id);
    }

    /// Answers what is still open when the session ends.
    pub(super) async fn give_up(&self) {
        let open = self.open.borrow().clone();
        self.fail(&open, "the session ended before the server answered").await;
    }

    /// Answers requests that the server does not answer with errors.
    async fn fail(&self, ids: &[String], why: &str) {
        for id in ids {
            if self.no_longer_open(id) {
                self.writer.write(internal_error(id, &format!("mcp-concord record: {why}"))).await;
            }
        }
    }

    /// Takes a request for answered; whether it was not before.
    fn no_longer_open(&self, id: &str) -> bool {
        self.open.send_if_modified(|open| {
            let before = open.len();
            open.retain(|other| other != id);
            open.len() < before
        })
    }

    fn is_open(&self, ids: &[String]) -> bool {
        let open = self.open.borrow();
        ids.iter().any(|id| open.contains(id))
    }

    /// The session is over, and there is nothing to end at the server. Whoever reads the error may close its end at once.
    async fn end(&self, outcome: Outcome, ids: &[String], why: &str, told: &str) {
        {
            let mut state = self.caller.state();
            (state.id, state.fate) = (None, Some(outcome));
        }
        self.notify.error(told);
        self.fail(ids, why).await;
        let _ = self.over.send(outcome);
    }

    fn hello(&self) -> MutexGuard<'_, Option<String>> {
        self.hello.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
