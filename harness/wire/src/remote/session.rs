//! A session with a server over HTTP: what is asked, and what comes back. The client's end is lines that come, and lines that go, with
//! a thread for each way.

use super::caller::{AHEAD, CLOSED, Caller, FLOODED, METADATA, Outcome, Stream, described, named_metadata};
use crate::Notify;
use crate::http::{EVENTS, HELD, JSON, SseEvent, is_stream, media_type, text as header};
use crate::lock;
use crate::messages::{
    about, answered_id, id_text, internal_error, is, messages, on_one_line, protocol_version,
};
use crate::stdio::{Inbox, PipeEvent, listen};
use hyper::body::Incoming;
use hyper::header::{HeaderValue, LOCATION};
use hyper::{Method, Response, StatusCode};
use std::fs::File;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use transcript::message::Message;
use verdict::plain::cut;

/// How long a server may take to open a session, or to accept what asks for nothing; what comes later waits for it.
pub(super) const ACCEPTANCE: Duration = Duration::from_secs(60);

/// What is said where it takes longer.
const NO_ANSWER: &str = "the server has not answered for 60 s";

/// What is said of a request that was open when the session ended.
pub(crate) const GONE: &str = "the session ended before the server answered";

/// How long answers are waited for when the client says no more.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How long the answer may come on a stream once it has come elsewhere.
const BESIDE: Duration = Duration::from_millis(500);

/// How much of an event is repeated, in characters.
pub(super) const SHOWN: usize = 60;

/// How many lines may wait, each way.
pub(super) const WAITING: usize = 16;

/// A session.
pub(super) struct Session {
    pub(super) caller: Caller,
    /// Where messages go. Where nobody reads any more, nobody is missed either.
    pub(super) writer: Sender<String>,
    pub(super) notify: Arc<dyn Notify>,
    pub(super) over: mpsc::Sender<Outcome>,
    /// The ids of requests that wait for their answers, verbatim.
    pub(super) open: watch::Sender<Vec<String>>,
    /// How long a client waits for an answer that goes on in another session where the server ends one.
    pub(super) patience: Option<Duration>,
    pub(super) renewing: tokio::sync::Mutex<()>,
    /// Lines and bodies that are not messages.
    pub(super) noise: AtomicU64,
}

impl Session {
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
        lock(&self.caller.state).fate.unwrap_or(Outcome::Closed)
    }

    /// Ends the session at the server, and reports what was not passed on.
    pub(super) async fn leave(&self) {
        let noise = self.noise.load(Ordering::Relaxed);
        if noise > 0 {
            let what = "lines and bodies not passed on, since they are not messages";
            self.notify.error(&format!("{what}: {noise}"));
        }
        if lock(&self.caller.state).id.is_some() {
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
        let [hello, initialized] =
            ["initialize", "notifications/initialized"].map(|name| said.iter().any(|said| is(*said, name)));
        for cancelled in said.iter().filter_map(|said| about(*said, "notifications/cancelled", "requestId")) {
            // Nobody waits for it any more. It has a connection of its own, and is to be there first.
            self.no_longer_open(cancelled.text());
            sleep(AHEAD).await;
        }
        if ids.is_empty() {
            match timeout(ACCEPTANCE, self.request(&text, &ids)).await {
                Ok(true) if initialized => self.listen(),
                Ok(_) => {}
                Err(_) => self.not_taken(&ids, NO_ANSWER).await,
            }
            return;
        }
        self.open.send_modify(|open| open.extend(ids.iter().cloned()));
        if hello {
            let mut state = lock(&self.caller.state);
            state.hello = ids.first().cloned();
            state.opening = self.patience.map(|_| text.clone());
        }
        let (session, asked) = (Arc::clone(self), ids.clone());
        let asking = tokio::spawn(async move { session.request(&text, &asked).await });
        // Over HTTP+SSE the answer is elsewhere, and its stream may stay open behind it.
        let mut open = self.open.subscribe();
        let answered = open.wait_for(|open| !ids.iter().any(|id| open.contains(id)));
        if hello && timeout(ACCEPTANCE, answered).await.is_err() {
            asking.abort();
            self.not_taken(&ids, NO_ANSWER).await;
        }
    }

    /// Sends a text, and answers the requests in it with errors where the server does not; whether it was taken.
    async fn request(self: &Arc<Self>, text: &str, ids: &[String]) -> bool {
        let Err(why) = self.exchange(text, ids, self.patience.is_some()).await else { return true };
        self.not_taken(ids, &why).await;
        false
    }

    /// A text was not taken. Where nothing ever was, the session is over.
    async fn not_taken(&self, ids: &[String], why: &str) {
        if !lock(&self.caller.state).reached {
            self.end(Outcome::Unreachable, ids, why, why).await;
        } else if ids.is_empty() {
            self.notify.error(&format!("a message was not accepted: {why}"));
        } else {
            self.fail(ids, why).await;
        }
    }

    /// Posts a text, and takes what comes back for the requests in it. With `again` it is posted once more in the session that follows one
    /// that is over.
    async fn exchange(self: &Arc<Self>, text: &str, ids: &[String], again: bool) -> Result<(), String> {
        let sent = lock(&self.caller.state).id.clone();
        let answer = self.caller.send(Method::POST, &format!("{JSON}, {EVENTS}"), None, Some(text)).await?;
        if !answer.status().is_success() {
            return self.refused(answer, text, ids, sent, again).await;
        }
        let is_legacy = self.caller.learn(answer.headers(), ids);
        let media = media_type(answer.headers());
        if is_legacy && media == JSON && !ids.is_empty() {
            let body = self.caller.whole(answer.into_body()).await?;
            let answers = Message::parse(&body)
                .is_ok_and(|it| id_text(it).is_some_and(|id| ids.iter().any(|it| it == id)));
            // It may come on the stream as well.
            sleep(BESIDE).await;
            return match answers && self.is_open(ids) {
                true => {
                    Err("the answer came in the body of the POST's answer, and belongs on the stream"
                        .to_owned())
                }
                false => Ok(()),
            };
        }
        if is_legacy || ids.is_empty() || media != EVENTS && media != JSON {
            return self.unread(answer, ids).await;
        }
        match media == EVENTS {
            true => self.follow(answer.into_body(), ids).await?,
            false => self.pass(&self.caller.whole(answer.into_body()).await?).await,
        }
        if self.is_open(ids) { Err("the server did not answer".to_owned()) } else { Ok(()) }
    }

    /// What becomes of a message that the server refused.
    async fn refused(
        self: &Arc<Self>,
        answer: Response<Incoming>,
        text: &str,
        ids: &[String],
        sent: Option<HeaderValue>,
        again: bool,
    ) -> Result<(), String> {
        let status = answer.status();
        let older = [StatusCode::BAD_REQUEST, StatusCode::NOT_FOUND, StatusCode::METHOD_NOT_ALLOWED];
        let (is_hello, has_session, is_legacy) = {
            let state = lock(&self.caller.state);
            let is_hello = state.hello.as_ref().is_some_and(|hello| ids.contains(hello));
            (is_hello, sent.is_some(), state.endpoint.is_some())
        };
        let elsewhere = header(answer.headers(), LOCATION.as_str()).filter(|_| status.is_redirection());
        let metadata = Some(status).filter(|status| *status == StatusCode::UNAUTHORIZED);
        let metadata = metadata.and_then(|_| named_metadata(answer.headers()));
        let body = self.caller.whole(answer.into_body()).await.unwrap_or_default();
        let mut why = described(status, &body);
        if let Some(elsewhere) = elsewhere {
            why.push_str(&format!(", to {elsewhere}"));
        }
        if let Some(at) = metadata {
            why.push_str(METADATA);
            why.push_str(&at);
        }
        if is_hello && !is_legacy && older.contains(&status) {
            match self.begin_legacy().await {
                Ok(true) => return Box::pin(self.exchange(text, ids, again)).await,
                Ok(false) => {}
                Err(fault) => why = format!("{fault}; the POST was answered with {why}"),
            }
        }
        if has_session && status == StatusCode::NOT_FOUND && self.renew(sent).await {
            return if again { Box::pin(self.exchange(text, ids, false)).await } else { Err(why) };
        }
        if has_session && status == StatusCode::NOT_FOUND {
            let report = format!("{} no longer knows the session: {why}", self.caller.origin);
            self.end(Outcome::Lost, ids, &why, &report).await;
            return Ok(());
        }
        // A server may say in a message of its own why it refuses a request.
        if Message::parse(&body).is_ok_and(|message| message.method().is_none()) && !ids.is_empty() {
            self.pass(&body).await;
        }
        if ids.is_empty() || self.is_open(ids) { Err(why) } else { Ok(()) }
    }

    /// Passes on what comes on a stream; why it ended.
    pub(super) async fn pass_on(&self, at_end: &str, stream: &mut Stream) -> String {
        loop {
            match stream.next(&self.caller, at_end).await {
                Ok(events) => self.pass_all(&events).await,
                Err(why) => return why,
            }
        }
    }

    /// Listens to what belongs to no request, as far as the server offers that.
    fn listen(self: &Arc<Self>) {
        if lock(&self.caller.state).endpoint.is_some() {
            return;
        }
        let session = Arc::clone(self);
        tokio::spawn(async move {
            let answer = session.caller.send(Method::GET, EVENTS, None, None).await;
            let ended = match answer {
                Ok(answer) if is_stream(&answer) => session.follow(answer.into_body(), &[]).await,
                // Most servers have nothing to say of their own.
                Ok(answer) if answer.status() == StatusCode::METHOD_NOT_ALLOWED => Ok(()),
                Ok(answer) => Err(described(answer.status(), "")),
                Err(why) => Err(why),
            };
            if let Err(why) = ended {
                session.notify.note(&format!("messages that belong to no request no longer arrive: {why}"));
            }
        });
    }

    /// Reads a stream until what it answers is answered, and resumes it where it ends before that; without `ids`, for ever.
    pub(super) async fn follow(&self, body: Incoming, ids: &[String]) -> Result<(), String> {
        let mut stream = Stream::new(body);
        loop {
            let ended = self.pass_on(CLOSED, &mut stream).await;
            if !ids.is_empty() && !self.is_open(ids) {
                return Ok(());
            }
            if ended == FLOODED || !stream.may_try() || !ids.is_empty() && stream.last.is_none() {
                return Err(ended);
            }
            sleep(stream.retry).await;
            let answer = self.caller.send(Method::GET, EVENTS, stream.last.as_deref(), None).await?;
            if !is_stream(&answer) {
                return Err(format!("{ended}; it cannot be resumed: {}", described(answer.status(), "")));
            }
            stream.resume(answer.into_body());
        }
    }

    pub(super) async fn pass_all(&self, events: &[SseEvent]) {
        for event in events {
            let data = String::from_utf8_lossy(&event.data);
            if event.is_message() {
                self.pass(&data).await;
            } else if let Ok(message) = Message::parse(&data)
                && message.method().is_none()
                && let Some(id) = id_text(message)
            {
                let name = cut(event.name.as_deref().unwrap_or_default(), SHOWN);
                let why =
                    format!("the answer came in an event named `{name}`, and messages come in `message`");
                self.fail(&[id.to_owned()], &why).await;
            }
        }
    }

    /// Passes what the server says on to the client.
    pub(super) async fn pass(&self, text: &str) {
        match (messages(text), self.patience.and_then(|_| answered_id(text))) {
            (Ok(said), _) => {
                said.iter().filter(|said| said.method().is_none()).for_each(|said| self.answered(*said));
            }
            // The client of a probe takes it, whatever is wrong with it.
            (Err(_), Some(id)) => _ = self.no_longer_open(id),
            (Err(_), None) => {
                self.noise.fetch_add(1, Ordering::Relaxed);
                return;
            }
        }
        let _ = self.writer.send(on_one_line(text.trim_ascii()).into_owned()).await;
    }

    fn answered(&self, message: Message<'_>) {
        let Some(id) = id_text(message) else { return };
        let mut state = lock(&self.caller.state);
        if state.hello.take_if(|hello| hello == id).is_some() {
            state.version = message.json().member("result").and_then(protocol_version);
        }
        drop(state);
        self.no_longer_open(id);
    }

    /// Answers what is still open when the session ends.
    pub(super) async fn give_up(&self) {
        let open = self.open.borrow().clone();
        self.fail(&open, GONE).await;
    }

    /// Answers requests that the server does not answer with errors.
    async fn fail(&self, ids: &[String], why: &str) {
        for id in ids {
            if self.no_longer_open(id) {
                let _ = self.writer.send(internal_error(id, &format!("mcp-concord record: {why}"))).await;
            }
        }
    }

    /// Takes a request for answered; whether it was not before.
    pub(super) fn no_longer_open(&self, id: &str) -> bool {
        self.open.send_if_modified(|open| {
            let before = open.len();
            open.retain(|other| other != id);
            open.len() < before
        })
    }

    pub(super) fn is_open(&self, ids: &[String]) -> bool {
        let open = self.open.borrow();
        ids.iter().any(|id| open.contains(id))
    }

    /// The session is over, and there is nothing to end at the server. The client that reads the error may close its end at once.
    pub(super) async fn end(&self, outcome: Outcome, ids: &[String], why: &str, report: &str) {
        {
            let mut state = lock(&self.caller.state);
            (state.id, state.fate) = (None, Some(outcome));
        }
        self.notify.error(report);
        self.fail(ids, why).await;
        let _ = self.over.send(outcome);
    }
}

/// What the client says, to its end.
pub(super) fn read(from: File) -> Receiver<PipeEvent> {
    let inbox = Arc::new(Inbox::default());
    listen(from, Duration::ZERO, HELD, Default::default(), &inbox);
    let (sender, lines) = channel(WAITING);
    inbox.hand_on(move |came| sender.blocking_send(came).is_ok());
    lines
}

/// Where messages go, each of which waits for those before it, and the thread that ends when the last who sends is gone and all is
/// written.
pub(super) fn write(mut to: File) -> (Sender<String>, JoinHandle<()>) {
    let (sender, mut lines) = channel::<String>(WAITING);
    let writing = thread::spawn(move || {
        while let Some(mut line) = lines.blocking_recv() {
            line.push('\n');
            // A client that reads no more is gone; its end of input follows.
            if to.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    });
    (sender, writing)
}
