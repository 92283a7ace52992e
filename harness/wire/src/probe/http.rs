//! The steps over HTTP in which the request itself is the point: its method, its headers, a body that is not a message; or streams.

use super::client::{capabilities, info, meta};
use super::plan::{Probe, Probed, Silence, Unanswered};
use super::reading;
use super::script::{Act, BOTH, OWN, Step, Streams, VERSION};
use super::session::Archive;
use crate::http::{
    Client, EVENTS, EventReader, JSON, LAST_EVENT, SESSION, SseEvent, Target, collect, endpoint_path, full,
    is_stream, runtime, text,
};
use crate::record::now;
use crate::{Notify, StartError, interrupt};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde_json::{Value, json};
use std::cell::Cell;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::time::{sleep, timeout};
use transcript::revision::Revision;

/// How long a stream is listened to that a GET opens.
const LISTEN: Duration = Duration::from_millis(100);

/// How many bytes of a body are read.
pub(super) const MOST: usize = 1 << 20;

const LISTENS: (&str, &str) = ("accept", EVENTS);
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A session of single requests.
pub(super) struct Exchanges<'p> {
    client: Client,
    origin: String,
    pub(super) path: &'p str,
    revision: Revision,
    patience: Duration,
    /// The session's id, as it came.
    session: Option<HeaderValue>,
    /// The ids of all sessions.
    ids: Vec<String>,
    /// The first resource that is listed, where there are no sessions.
    resource: String,
    /// How many bodies were sent: a session's ids differ.
    sent: Cell<u32>,
}

/// Why a step was not played.
type Left = Option<&'static str>;

/// Opens a session, and sends what each step says. A server without sessions is asked the same without an id.
pub(super) fn play(
    probe: &Probe,
    target: &Target,
    revision: Revision,
    steps: &[&'static Step<Act>],
    notify: &Arc<dyn Notify>,
) -> Result<Probed, StartError> {
    let name = if revision.has_handshake() { "http".to_owned() } else { format!("http-{revision}") };
    let recording = probe.folder.join(format!("{name}.har"));
    let archive = Archive::start(target, &recording, notify)?;
    let mut done = Probed { name, recording, revision: Some(revision), ..Probed::default() };
    let (runtime, mut exchanges) = exchanges(&archive.target, revision, probe.patience)?;
    runtime.block_on(async {
        // What opens the session is done for each step.
        done.begun.extend(steps.first().map(|step| (now(), step.name)));
        let begun = async {
            match revision.has_handshake() {
                true => exchanges.begin().await.map(|status| !status.is_success()),
                false => exchanges.discover().await.map(|()| false),
            }
        };
        let is_legacy = unless_interrupted(begun).await.unwrap_or(Err(Silence::Interrupted));
        let is_legacy = match is_legacy {
            Ok(is_legacy) => is_legacy,
            Err(why) => {
                done.left.extend(steps.iter().map(|step| (step.name, format!("the server {}", why.said()))));
                return;
            }
        };
        for step in
            steps.iter().filter(|step| matches!(step.act, Act::Streams(Streams::Legacy, ..)) == is_legacy)
        {
            if interrupt::requested() {
                break;
            }
            // A recording has milliseconds: what two exchanges within one show has no order.
            sleep(Duration::from_millis(2)).await;
            done.begun.push((now(), step.name));
            let listens = matches!(step.act, Act::Streams(Streams::Beside(_) | Streams::Resumed, ..));
            let lacks = match step.name {
                _ if listens && !done.unanswered.is_empty() => Some("the server answers no GET"),
                name if name.starts_with("session-") && exchanges.session.is_none() => {
                    Some("the server gives no session id")
                }
                name if name.starts_with("name-") && exchanges.resource.is_empty() => {
                    Some("the server lists no resources")
                }
                _ => None,
            };
            let played = match lacks {
                Some(_) => Some(Ok(lacks)),
                None => unless_interrupted(exchanges.act(&step.act)).await,
            };
            let Some(played) = played else { break };
            match played {
                Ok(None) => done.played.push(step.name),
                Ok(Some(why)) => done.left.push((step.name, why.to_owned())),
                Err(why) => {
                    let (id, method, behind) = (Value::Null, step.act.method(), None);
                    done.unanswered.push(Unanswered { step: step.name, method, behind, id, why });
                    // One that is gone is asked no more; one that waits for what it has to say may still answer what is posted.
                    if (method, why) != ("GET", Silence::Timeout) {
                        break;
                    }
                }
            }
        }
    });
    drop(runtime);
    done.ids = exchanges.ids;
    archive.close()?;
    Ok(done)
}

/// What a session of single requests needs.
pub(super) fn exchanges(
    target: &Target,
    revision: Revision,
    patience: Duration,
) -> Result<(Runtime, Exchanges<'_>), StartError> {
    let (runtime, client) = runtime()
        .and_then(|runtime| Ok((runtime, Client::new(target, None)?)))
        .map_err(StartError::Unusable)?;
    let (origin, path) = (target.origin(), target.path());
    let (session, resource, ids, sent) = (None, String::new(), Vec::new(), Cell::default());
    Ok((runtime, Exchanges { client, origin, path, revision, patience, session, ids, resource, sent }))
}

/// What comes of this, unless the probe is interrupted before.
pub(super) async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    while !interrupt::requested() {
        if let Ok(done) = timeout(LISTEN, work.as_mut()).await {
            return Some(done);
        }
    }
    None
}

impl Exchanges<'_> {
    /// Shakes hands, and keeps the session's id; the status of the answer.
    async fn begin(&mut self) -> Result<StatusCode, Silence> {
        self.session = None;
        let answer = self.open("POST", self.path, &[BOTH], &self.hello()).await?;
        self.session = answer.headers().get(SESSION).filter(|id| !id.is_empty()).cloned();
        self.ids.extend(self.session.as_ref().and_then(|_| text(answer.headers(), SESSION)));
        let status = answer.status();
        Stream::new(answer).answer(self.patience).await;
        if status.is_success() {
            self.send("POST", &[BOTH, OWN, VERSION], INITIALIZED).await?;
        }
        Ok(status)
    }

    /// Asks what the server speaks, and for the first resource that it lists.
    async fn discover(&mut self) -> Result<(), Silence> {
        for method in ["server/discover", "resources/list"] {
            let asks = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": {"_meta": meta()}});
            let headers = [BOTH, VERSION, ("mcp-method", method)];
            let answer = self.open("POST", self.path, &headers, &asks.to_string()).await?;
            let said = match is_stream(&answer) {
                // It need not end with the answer.
                true => {
                    Stream::new(answer).answer(self.patience).await.into_iter().map(|it| it.data).collect()
                }
                false => {
                    let read = timeout(self.patience, collect(answer.into_body(), MOST)).await;
                    read.into_iter().flatten().collect::<Vec<_>>()
                }
            };
            let mut said = said.iter().filter_map(|text| reading::read(text));
            let uri = said.find_map(|it| it["result"]["resources"][0]["uri"].as_str().map(str::to_owned));
            self.resource = uri.unwrap_or_default();
        }
        Ok(())
    }

    fn hello(&self) -> String {
        let revision = self.revision;
        let params = json!({"protocolVersion": revision.name(), "capabilities": capabilities(revision), "clientInfo": info()});
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).to_string()
    }

    async fn act(&mut self, act: &'static Act) -> Result<Left, Silence> {
        match act {
            Act::Http(method, headers, body) => {
                self.send(method, headers, body).await?;
            }
            Act::Streams(Streams::Beside(count), headers, body) => {
                let mut streams = Vec::new();
                for _ in 0..*count {
                    let answer = self.open("GET", self.path, &[LISTENS, OWN, VERSION], "").await?;
                    if !is_stream(&answer) {
                        Stream::new(answer).answer(self.patience).await;
                        return Ok(Some("the server does not offer as many streams"));
                    }
                    streams.push(Stream::new(answer));
                }
                self.send("POST", headers, body).await?;
                for mut stream in streams {
                    stream.events(LISTEN, |_| false).await;
                }
            }
            Act::Streams(Streams::Resumed, headers, body) => {
                // Another stream, whose events are not those of the one that is resumed.
                self.send("POST", headers, &body.replace("resumed", "other")).await?;
                let answer = self.open("POST", self.path, headers, body).await?;
                let has_events = is_stream(&answer);
                // Any other body is read to its end, too: what it lacks would be the server's.
                let events = Stream::new(answer).answer(self.patience).await;
                if !has_events {
                    return Ok(Some("the server answers without a stream"));
                }
                let Some(first) = events.into_iter().find_map(|event| event.id) else {
                    return Ok(Some("the events of its streams have no ids"));
                };
                self.send("GET", &[LISTENS, OWN, VERSION, (LAST_EVENT, &first)], "").await?;
            }
            Act::Streams(Streams::Renewed, headers, body) => {
                self.begin().await?;
                self.send("POST", headers, body).await?;
            }
            Act::Streams(Streams::Legacy, headers, body) => return self.legacy(headers, body).await,
            _ => {}
        }
        Ok(None)
    }

    /// A session over HTTP+SSE: messages go where the stream's first event says, and answers come on the stream.
    async fn legacy(&self, headers: &[(&str, &str)], body: &str) -> Result<Left, Silence> {
        let answer = self.open("GET", self.path, &[LISTENS], "").await?;
        if !is_stream(&answer) {
            Stream::new(answer).answer(self.patience).await;
            return Ok(Some("the server offers no stream"));
        }
        let mut stream = Stream::new(answer);
        let is_endpoint = |event: &SseEvent| event.name.as_deref() == Some("endpoint");
        let events = stream.events(self.patience, is_endpoint).await;
        let endpoint = events.into_iter().find(is_endpoint).map(|event| event.data).unwrap_or_default();
        let endpoint = String::from_utf8_lossy(&endpoint);
        let stream_at = format!("{}{}", self.origin, self.path);
        let Some(to) = endpoint_path(&self.origin, &stream_at, &endpoint) else {
            return Ok(Some("the stream names no endpoint of this server"));
        };
        for (headers, body, asks) in
            [(&[][..], &*self.hello(), true), (&[], INITIALIZED, false), (headers, body, true)]
        {
            let answer = self.open("POST", &to, headers, body).await?;
            let is_taken = answer.status().is_success();
            Stream::new(answer).answer(self.patience).await;
            if asks && is_taken && stream.events(self.patience, SseEvent::is_message).await.is_empty() {
                return Err(Silence::Timeout);
            }
        }
        Ok(None)
    }

    /// Sends a request, and reads what comes back: of a stream that a GET opens, what comes in a while.
    async fn send(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Result<(), Silence> {
        let answer = self.open(method, self.path, headers, body).await?;
        let time = if method == "GET" && is_stream(&answer) { LISTEN } else { self.patience };
        Stream::new(answer).answer(time).await;
        Ok(())
    }

    /// A body with what stands for something of this session.
    fn filled(&self, body: &str) -> String {
        let resource = json!(self.resource).to_string();
        self.sent.update(|sent| sent + 1);
        let body = body.replace("$id", &format!("concord-{}", self.sent.get()));
        body.replace("\"$meta\"", &meta().to_string()).replace("\"$resource\"", &resource)
    }

    /// Sends a request; its answer, whose body is still to come.
    pub(super) async fn open(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Response<Incoming>, Silence> {
        let mut request = Request::new(full(self.filled(body)));
        *request.uri_mut() = format!("{}{path}", self.origin).parse().map_err(|_| Silence::Ended)?;
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap_or_default();
        if method == "POST" {
            request.headers_mut().insert("content-type", HeaderValue::from_static(JSON));
        }
        for (name, value) in headers {
            let value = match *value {
                "$session" => self.session.clone(),
                "$version" => HeaderValue::from_str(self.revision.name()).ok(),
                "$resource" => HeaderValue::from_str(&self.resource).ok(),
                value => HeaderValue::from_str(value).ok(),
            };
            // The last of a name holds.
            if let (Ok(name), Some(value)) =
                (HeaderName::try_from(*name), value.filter(|value| !value.is_empty()))
            {
                request.headers_mut().insert(name, value);
            }
        }
        let answer = timeout(self.patience, self.client.send(request)).await;
        let answer = answer.map_err(|_| Silence::Timeout)?.map_err(|_| Silence::Ended)?;
        // So the recorder answers where it does not reach the server.
        if answer.status() == StatusCode::BAD_GATEWAY { Err(Silence::Ended) } else { Ok(answer) }
    }
}

/// A body, read as it comes.
struct Stream {
    body: Incoming,
    reader: EventReader,
}

impl Stream {
    fn new(answer: Response<Incoming>) -> Self {
        Self { body: answer.into_body(), reader: EventReader::new(MOST) }
    }

    /// The events up to one that answers a request, and what comes a moment behind it: the stream may stay open.
    async fn answer(&mut self, time: Duration) -> Vec<SseEvent> {
        let answers = |event: &SseEvent| {
            let said = reading::read(&event.data).unwrap_or_default();
            said.get("method").is_none() && (said.get("result").is_some() || said.get("error").is_some())
        };
        let mut events = self.events(time, answers).await;
        events.extend(self.events(LISTEN, |_| false).await);
        events
    }

    /// The events that come in this time, up to the first that is enough.
    async fn events(&mut self, time: Duration, is_enough: impl Fn(&SseEvent) -> bool) -> Vec<SseEvent> {
        let (mut events, mut read) = (Vec::new(), 0);
        let reading = async {
            while read < MOST
                && let Some(Ok(frame)) = self.body.frame().await
            {
                let data = frame.into_data().unwrap_or_default();
                read += data.len();
                events.extend(self.reader.take(&data).0);
                if events.iter().any(&is_enough) {
                    return;
                }
            }
        };
        let _ = timeout(time, reading).await;
        events
    }
}
