//! The client of a probe: it asks, waits for answers, and answers what the server asks meanwhile.
//!
//! Memory: what the inbox holds, and the answer in hand. A server that writes more than [`FLOOD`] bytes is not listened to any more.

use super::plan::{RECORDER, Silence, is_refused};
use super::reading;
use crate::interrupt;
use crate::journal::Journal;
use crate::remote::{FLOODED, GONE};
use crate::stdio::{Inbox, PipeEvent, Writer, listen};
use serde_json::{Map, Value, json};
use std::fs::File;
use std::mem::take;
use std::sync::Arc;
use std::time::{Duration, Instant};
use transcript::revision::Revision;

/// How much of the other side is listened to in a session.
pub(super) const FLOOD: u64 = 64 << 20;

/// How often a wait looks whether it was interrupted.
const TICK: Duration = Duration::from_millis(100);

/// How long a message may stand in the inbox before it is seen to be there.
const GLANCE: Duration = Duration::from_millis(10);

/// How long the answer may still come once one has come to no request of this client.
const ASTRAY: Duration = Duration::from_millis(300);

/// How much is held of a message that takes more than one line.
const UNFINISHED: usize = 1 << 20;

/// Where a message names the task that it belongs to.
const RELATED: &str = "io.modelcontextprotocol/related-task";

/// What came of a request.
#[derive(Debug)]
pub(super) enum Answer {
    Result(Value),
    /// An error, with its message.
    Error(String),
    /// None came.
    None(Silence),
}

/// One end of a session.
#[derive(Default)]
pub(super) struct Client {
    /// None once it says no more: the server's input is closed.
    pub(super) writer: Option<Writer>,
    pub(super) inbox: Arc<Inbox>,
    /// How long each answer is waited for.
    pub(super) patience: Duration,
    /// The number of the last request.
    last: u64,
    /// How much was heard, in bytes.
    pub(super) heard: u64,
    /// Why the server is not listened to any more.
    pub(super) over: Option<Silence>,
    /// The revision whose requests stand by themselves, where it is spoken.
    pub(super) modern: bool,
    /// What the server has asked for.
    pub(super) asked: Vec<String>,
    /// The ids of requests that were not answered yet, whatever else is waited for.
    pub(super) beside: Vec<Value>,
    /// A subscription is open, and ends with the session.
    pub(super) subscribed: bool,
    /// The step that is played.
    pub(super) step: &'static str,
    /// The ids of requests, and the steps that asked them.
    pub(super) named: Vec<(Value, &'static str)>,
    /// What was sent that asks for nothing, a text or the method of a notification, since a request was answered.
    pub(super) behind: Option<&'static str>,
    /// The server was still there when the last request was sent.
    pub(super) is_heard: bool,
    /// A request was answered under an id that is none, or by what is not a message on one line.
    pub(super) astray: bool,
    /// Lines that are not messages, and may be one together.
    unfinished: Vec<u8>,
}

impl Client {
    pub(super) fn new(to: File, from: File, patience: Duration) -> Self {
        let inbox = Arc::new(Inbox::default());
        let writer = Some(Writer::plain(to, &inbox));
        let longest = usize::try_from(FLOOD).unwrap_or(usize::MAX);
        listen(from, Duration::ZERO, longest, Journal::default(), &inbox);
        Self { writer, inbox, patience, step: "handshake", is_heard: true, ..Self::default() }
    }

    /// Whether a request of [`Self::beside`] may still be answered.
    pub(super) fn is_open(&self, id: &Value) -> bool {
        self.over.is_none() && self.beside.contains(id)
    }

    /// The params of a request with what each one has to say of itself in a revision without handshake.
    pub(super) fn params(&self, params: Value) -> Value {
        let mut params = match params {
            Value::Object(params) => params,
            _ => Map::new(),
        };
        if self.modern {
            let own = params.entry("_meta").or_insert_with(|| json!({}));
            if let (Some(own), Value::Object(meta)) = (own.as_object_mut(), meta()) {
                own.extend(meta);
            }
        }
        Value::Object(params)
    }

    /// Looks whether the server still answers anything; where it does not, it is not asked again.
    pub(super) fn is_there(&mut self) {
        let id = self.request("ping", Value::Null);
        if matches!(self.answer(&id), Answer::None(why) if why != Silence::Astray) {
            self.give_up();
        }
    }

    /// Does not ask the server any more.
    pub(super) fn give_up(&mut self) {
        self.over.get_or_insert(Silence::Timeout);
    }

    /// Sends a request, and gives its id.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = json!(self.last);
        self.request_as(&id, method, params);
        id
    }

    /// Sends a request under this id.
    pub(super) fn request_as(&mut self, id: &Value, method: &str, params: Value) {
        self.named.push((id.clone(), self.step));
        self.is_heard = self.over.is_none();
        self.send(&message(Some(id), method, self.params(params)));
    }

    /// Sends a text as it is.
    pub(super) fn raw(&mut self, text: &'static str) {
        self.behind = Some(text);
        let said = serde_json::from_str::<Value>(text).unwrap_or_default();
        let said = if let Value::Array(messages) = said { messages } else { vec![said] };
        self.named.extend(said.into_iter().map(|mut message| (message["id"].take(), self.step)));
        self.send(text);
    }

    /// Sends a notification.
    pub(super) fn notify(&mut self, method: &'static str, params: Value) {
        self.behind = Some(method);
        self.send(&message(None, method, params));
    }

    /// Sends a request and its cancellation at once, so that no answer comes between them; and gives its id.
    pub(super) fn cancelled(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = json!(self.last);
        self.named.push((id.clone(), self.step));
        let request = message(Some(&id), method, self.params(params));
        let why = json!({"requestId": id, "reason": "mcp-concord"});
        self.behind = Some("notifications/cancelled");
        self.send(&format!("{request}\n{}", message(None, "notifications/cancelled", why)));
        id
    }

    /// Sends a line.
    pub(super) fn send(&mut self, text: &str) {
        if let Some(writer) = &self.writer {
            writer.write(format!("{text}\n").into_bytes());
        }
    }

    /// Waits for the answer to the request of this id.
    pub(super) fn answer(&mut self, id: &Value) -> Answer {
        self.answer_within(self.patience, id)
    }

    /// The same, for this time.
    pub(super) fn answer_within(&mut self, patience: Duration, id: &Value) -> Answer {
        let answer = self.wait(Instant::now() + patience, Some(id));
        answer.unwrap_or_else(|| Answer::None(self.over.unwrap_or(Silence::Timeout)))
    }

    /// Listens for a while.
    pub(super) fn listen(&mut self, time: Duration) {
        self.wait(Instant::now() + time, None);
    }

    /// The same, up to the first message; that, if it is the answer to the request of this id.
    pub(super) fn listen_for_one(&mut self, time: Duration, id: Option<&Value>) -> Option<Answer> {
        let (until, heard) = (Instant::now() + time, self.heard);
        while self.heard == heard && self.over.is_none() && Instant::now() < until {
            if let Some(answer) = self.wait(Instant::now() + GLANCE, id) {
                return Some(answer);
            }
        }
        None
    }

    fn wait(&mut self, mut until: Instant, id: Option<&Value>) -> Option<Answer> {
        let mut is_astray = false;
        while self.over.is_none() {
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                self.astray |= is_astray;
                self.beside.retain(|open| !is_astray || Some(open) != id);
                return is_astray.then_some(Answer::None(Silence::Astray));
            };
            match self.inbox.next(left.min(TICK)) {
                Some(PipeEvent::Line(line, _)) => {
                    self.heard += line.len() as u64 + 1;
                    match self.hear(&line, id) {
                        // What has come once will come again.
                        Some(Answer::None(_)) if id.is_some() => {
                            is_astray = true;
                            until = until.min(Instant::now() + ASTRAY / if self.astray { 10 } else { 1 });
                        }
                        // No refusal: the recorder says it before the end that comes next.
                        Some(Answer::Error(why)) if over(&why).is_some() => self.over = over(&why),
                        // Over HTTP the status refuses, whatever id the body has.
                        Some(Answer::Error(why)) if is_astray && is_refused(&why) => {
                            self.astray = true;
                            return Some(Answer::Error(why));
                        }
                        Some(Answer::Error(why)) if is_astray && why.starts_with(RECORDER) => {
                            until = Instant::now();
                        }
                        Some(Answer::None(_)) => self.astray = true,
                        None => {}
                        answer => {
                            self.behind = None;
                            return answer;
                        }
                    }
                }
                Some(PipeEvent::TooLong(_)) => self.over = Some(Silence::Flood),
                Some(PipeEvent::End(_)) => self.over = Some(Silence::Ended),
                _ => {}
            }
            if self.heard + self.inbox.begun() > FLOOD {
                self.over = Some(Silence::Flood);
            }
            if interrupt::requested() {
                self.over = Some(Silence::Interrupted);
            }
        }
        None
    }

    /// What a line says, with those before it where they are one message together, or have to be mended to be one.
    fn read(&mut self, line: &[u8]) -> Option<Value> {
        let is_within = line.first().is_some_and(u8::is_ascii_whitespace);
        if !is_within || self.unfinished.is_empty() {
            let said = reading::read(line);
            if let Some(said) = said.filter(|said| said.is_object() || said.is_array()) {
                self.unfinished.clear();
                return Some(said);
            }
        }
        if line.starts_with(b"{") || line.starts_with(b"[") {
            self.unfinished.clear();
        }
        self.unfinished.extend_from_slice(line);
        let is_end = !is_within && matches!(line.trim_ascii_end().last(), Some(b'}' | b']'));
        if !is_end && self.unfinished.len() <= UNFINISHED {
            return None;
        }
        let text = String::from_utf8_lossy(&take(&mut self.unfinished)).into_owned();
        let said = reading::read(text.trim_start_matches('\u{feff}').as_bytes());
        self.astray |= said.is_some();
        said
    }

    /// Hears a line: the answer to `id` if it is that, or one to no request at all. What the server asks is answered.
    fn hear(&mut self, line: &[u8], id: Option<&Value>) -> Option<Answer> {
        let mut found = None;
        let messages = match self.read(line)? {
            Value::Array(messages) => messages,
            message => vec![message],
        };
        for mut message in messages {
            let own = message.get("id").cloned().filter(|id| !id.is_null());
            // One that has a method, too, is the answer all the same, and its method is at fault.
            let is_outcome = message.get("result").or(message.get("error")).is_some();
            let is_answer = is_outcome && own.as_ref().is_some_and(|id| self.has_asked(id));
            match (message.get("method").and_then(Value::as_str).filter(|_| !is_answer), own) {
                (Some(method), Some(asks)) => {
                    let method = method.to_owned();
                    let reply = reply(&asks, &method, &message["params"]["_meta"][RELATED]);
                    self.asked.push(method);
                    self.send(&reply);
                }
                (None, answers) if answers.as_ref().is_none_or(|answers| !self.has_asked(answers)) => {
                    // Half a message has no id to repeat, and a log may be JSON.
                    let is_broken = matches!(message["error"]["code"].as_i64(), Some(-32700 | -32600));
                    let is_answer = message["result"].is_object() || message["error"].is_object();
                    if found.is_none() && is_answer && !(answers.is_none() && is_broken) {
                        found = Some(Answer::None(Silence::Astray));
                    }
                }
                (None, Some(answers)) => {
                    self.beside.retain(|open| !is_same(open, &answers));
                    if !id.is_some_and(|id| is_same(id, &answers)) {
                        continue;
                    }
                    found = Some(match message.get_mut("result").map(Value::take) {
                        Some(result) => Answer::Result(result),
                        None => {
                            let why = message["error"]["message"].as_str();
                            Answer::Error(why.unwrap_or("an error without a message").to_owned())
                        }
                    });
                }
                _ => {}
            }
        }
        found
    }

    /// Whether there was a request of this id.
    fn has_asked(&self, id: &Value) -> bool {
        self.named.iter().any(|(named, _)| is_same(named, id))
    }
}

/// Why the server is not listened to any more, where the recorder says so.
fn over(why: &str) -> Option<Silence> {
    match why.strip_prefix(RECORDER)? {
        GONE => Some(Silence::Ended),
        FLOODED => Some(Silence::Flood),
        _ => None,
    }
}

/// Whether two ids are one: `1.0` is `1`.
fn is_same(id: &Value, other: &Value) -> bool {
    id == other || id.as_f64().is_some_and(|id| Some(id) == other.as_f64())
}

/// A request, or a notification where it has no id, on one line.
fn message(id: Option<&Value>, method: &str, params: Value) -> String {
    let mut message = json!({"jsonrpc": "2.0", "method": method});
    if let Some(id) = id {
        message["id"] = id.clone();
    }
    if params.as_object().is_some_and(|params| !params.is_empty()) {
        message["params"] = params;
    }
    message.to_string()
}

/// Who asks.
pub(super) fn info() -> Value {
    json!({"name": "mcp-concord", "version": env!("CARGO_PKG_VERSION")})
}

/// What a request says of itself in a revision without handshake.
pub(super) fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": Revision::V2026_07_28.name(),
        "io.modelcontextprotocol/clientInfo": info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// What the client declares in the handshake of a revision.
pub(super) fn capabilities(revision: Revision) -> Value {
    let mut declared = json!({"roots": {"listChanged": true}, "sampling": {}});
    if revision >= Revision::V2025_06_18 {
        declared["elicitation"] = json!({});
    }
    declared
}

/// The answer to what a server asks, for a task where there is one.
fn reply(id: &Value, method: &str, task: &Value) -> String {
    let mut result = match method {
        "ping" => json!({}),
        "roots/list" => json!({"roots": [{"uri": "file:///concord", "name": "concord"}]}),
        "elicitation/create" => json!({"action": "decline"}),
        "sampling/createMessage" => json!({
            "role": "assistant",
            "content": {"type": "text", "text": "This is mcp-concord, which has no model."},
            "model": "none",
            "stopReason": "endTurn",
        }),
        _ => {
            let error = json!({"code": -32601, "message": format!("Method not found: {method}")});
            return json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string();
        }
    };
    if task.is_object() {
        result["_meta"] = json!({RELATED: task});
    }
    json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string()
}
