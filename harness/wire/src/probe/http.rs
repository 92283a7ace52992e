//! The steps over HTTP in which the request itself is the point: its method, its headers, a body that is not a message.

use super::client::{capabilities, info};
use super::plan::{Probe, Probed, Silence, Unanswered};
use super::script::{Act, Step};
use super::session::Archive;
use crate::http::{Client, EVENTS, JSON, SESSION, Target, full, media_type, runtime, text};
use crate::{Notify, StartError, interrupt};
use http_body_util::BodyExt as _;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use transcript::revision::Revision;

/// How long a stream is listened to that a GET opens.
const LISTEN: Duration = Duration::from_millis(200);

/// How many bytes of a body are read.
const MOST: usize = 1 << 20;

/// A session of single requests.
struct Exchanges<'p> {
    client: Client,
    to: String,
    patience: Duration,
    /// The values that templates name.
    named: [(&'p str, String); 2],
}

/// Opens a session, and sends what each step says. A server without sessions is asked the same without an id.
pub(super) fn play(
    probe: &Probe,
    target: &Target,
    revision: Revision,
    steps: &[&'static Step],
    notify: &Arc<dyn Notify>,
) -> Result<Probed, StartError> {
    let recording = probe.folder.join("http.har");
    let archive = Archive::start(target, &recording, notify)?;
    let to = format!("{}{}", archive.target.origin(), archive.target.path());
    let mut done =
        Probed { name: "http".to_owned(), recording, revision: Some(revision), ..Probed::default() };
    let (runtime, client) =
        runtime().and_then(|runtime| Ok((runtime, Client::new(None)?))).map_err(StartError::Unusable)?;
    let named = [("$version", revision.name().to_owned()), ("$session", String::new())];
    let mut exchanges = Exchanges { client, to, patience: probe.patience, named };
    runtime.block_on(async {
        if let Err(why) = exchanges.begin(revision).await {
            done.left.extend(steps.iter().map(|step| (step.name, format!("the server {}", why.said()))));
            return;
        }
        for step in steps {
            let Act::Http(method, headers, body) = step.act else { continue };
            let is_of_sessions = step.name.starts_with("session-");
            match exchanges.named[1].1.is_empty() && is_of_sessions {
                true => done.left.push((step.name, "the server hands out no session id".to_owned())),
                false if interrupt::requested() => break,
                false => match exchanges.send(method, headers, body).await {
                    Ok(_) => done.played.push(step.name),
                    Err(why) => {
                        let id = serde_json::Value::Null;
                        done.unanswered.push(Unanswered { step: step.name, method, id, why });
                        // One that is gone is asked no more.
                        break;
                    }
                },
            }
        }
    });
    drop(runtime);
    archive.close();
    Ok(done)
}

impl Exchanges<'_> {
    /// Shakes hands, and keeps the session's id.
    async fn begin(&mut self, revision: Revision) -> Result<(), Silence> {
        let both = [("accept", "application/json, text/event-stream")];
        let params = json!({"protocolVersion": revision.name(), "capabilities": capabilities(revision), "clientInfo": info()});
        let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        self.named[1].1 = self.send("POST", &both, &hello.to_string()).await?.unwrap_or_default();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string();
        let own = [both[0], (SESSION, "$session"), ("mcp-protocol-version", "$version")];
        self.send("POST", &own, &initialized).await.map(drop)
    }

    /// Sends a request, and reads what comes back for a while; the session's id that the answer names.
    async fn send(
        &self,
        method: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Result<Option<String>, Silence> {
        let mut request = Request::new(full(body.to_owned()));
        *request.uri_mut() = self.to.parse().map_err(|_| Silence::Ended)?;
        *request.method_mut() = Method::from_bytes(method.as_bytes()).unwrap_or_default();
        if method == "POST" {
            request.headers_mut().insert("content-type", HeaderValue::from_static(JSON));
        }
        for (name, value) in headers {
            let named = self.named.iter().find(|(name, _)| name == value).map(|(_, value)| value.as_str());
            let value = named.unwrap_or(value);
            // The last of a name holds.
            if let (Ok(name), Ok(value), false) =
                (HeaderName::try_from(*name), HeaderValue::from_str(value), value.is_empty())
            {
                request.headers_mut().insert(name, value);
            }
        }
        let answer = timeout(self.patience, self.client.send(request)).await;
        let answer = answer.map_err(|_| Silence::Timeout)?.map_err(|_| Silence::Ended)?;
        // So the recorder answers where it does not reach the server.
        if answer.status() == StatusCode::BAD_GATEWAY {
            return Err(Silence::Ended);
        }
        let id = text(answer.headers(), SESSION);
        let is_stream = method == "GET" && media_type(answer.headers()) == EVENTS;
        let mut body = answer.into_body();
        let reading = async {
            let mut read = 0;
            while let Some(Ok(frame)) = body.frame().await {
                read += frame.data_ref().map_or(0, |data| data.len());
                if read > MOST {
                    return;
                }
            }
        };
        let _ = timeout(if is_stream { LISTEN } else { self.patience }, reading).await;
        Ok(id)
    }
}
