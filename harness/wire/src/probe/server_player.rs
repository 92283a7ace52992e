//! Plays the server of a probe on the standard streams, and notes what was seen of each step.
//!
//! A step that sends something is played while a request of the client waits for its answer: over HTTP there is a stream then, and
//! no client leaves before. Memory: what the inbox holds, and the requests that wait, of which there are at most [`WAITING`].

mod modern;

use super::client::FLOOD;
use super::reading;
use super::script::{Part, Step};
use super::server_offer::Offer;
use super::server_script::{SERVER_SCRIPT, ServerAct, read_seen};
use crate::journal::Journal;
use crate::stdio::{HELD, Inbox, PipeEvent, Writer, listen, standard_streams};
use crate::{StartError, interrupt};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use transcript::revision::Revision;

/// How many requests of the client wait; one more is refused.
const WAITING: usize = 100;

/// How often waits are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How much later than usual an answer comes that is late.
const LATE: Duration = Duration::from_millis(600);

/// How long after a line of its own a ping is sent.
const APART: Duration = Duration::from_millis(100);

/// How long a call waits to be cancelled.
const UNCANCELLED: Duration = Duration::from_secs(2);

/// How many messages may be written that the client has not taken.
const UNREAD: usize = 10_000;

/// Plays a part until the client closes its end. An answer is waited for so long; a line for each step that was seen goes to `seen`.
///
/// # Errors
/// Where the standard streams, or that file, cannot be used.
pub fn as_server(part: Part, patience: Duration, seen: Option<&Path>) -> Result<(), StartError> {
    let unusable = |error: io::Error| StartError::Unusable(format!("--seen cannot be used: {error}"));
    let before = seen.map(read_seen).transpose().map_err(unusable)?.unwrap_or_default();
    let seen = seen.map(|path| File::options().append(true).create(true).open(path)).transpose();
    let seen = seen.map_err(unusable)?;
    let (from, to) = standard_streams()?;
    let inbox = Arc::new(Inbox::default());
    listen(from, Duration::ZERO, HELD, Journal::default(), &inbox);
    let writer = Some(Writer::plain(to, &inbox));
    let offer = Offer::new(part);
    let is_left =
        |step: &&Step<ServerAct>| step.part == part && before.iter().all(|seen| seen.step != step.name);
    let left = SERVER_SCRIPT.iter().filter(is_left).collect();
    let is_back = part == Part::Over && !before.is_empty();
    let mut player = Player { patience, offer, writer, seen, left, is_back, ..Player::default() };
    player.serve(&inbox);
    Ok(())
}

/// A request of the client that waits for its answer.
#[derive(Debug)]
struct Held {
    id: Value,
    method: String,
    params: Value,
    /// When it is answered, and the step for which it waits until then.
    until: Option<(Instant, &'static Step<ServerAct>)>,
}

/// A request of the server that waits for its answer.
#[derive(Debug)]
struct Open {
    id: Value,
    step: &'static Step<ServerAct>,
    since: Instant,
}

#[derive(Default)]
struct Player {
    patience: Duration,
    offer: Offer,
    /// None once the session is over.
    writer: Option<Writer>,
    /// How many messages were written and not taken.
    unread: usize,
    seen: Option<File>,
    declared: Value,
    /// The client has said that it is initialized.
    ready: bool,
    /// It did not answer a request.
    deaf: bool,
    /// While a request was open, an answer to none came.
    is_strayed: bool,
    /// The step of that request, until the client says something else.
    silent: Option<&'static Step<ServerAct>>,
    /// The session before was forgotten.
    is_back: bool,
    /// The step whose request the client has to answer when it tries again.
    input: Option<&'static Step<ServerAct>>,
    /// What is not played yet.
    left: Vec<&'static Step<ServerAct>>,
    held: VecDeque<Held>,
    open: Option<Open>,
    /// The number of the last request.
    last: u64,
}

impl Player {
    fn serve(&mut self, inbox: &Inbox) {
        let mut heard = 0;
        // What goes on without end would fill the disk with its recording.
        while heard + inbox.begun() <= FLOOD {
            match inbox.next(TICK) {
                Some(PipeEvent::Line(line, _)) => {
                    heard += line.len() as u64 + 1;
                    self.line(&line);
                }
                Some(PipeEvent::TooLong(bytes)) => heard += bytes,
                Some(PipeEvent::Taken) => self.unread -= 1,
                Some(PipeEvent::End(_) | PipeEvent::Refused(_) | PipeEvent::Closed) => return,
                _ => {}
            }
            if interrupt::requested() || self.unread > UNREAD {
                return;
            }
            self.go_on();
        }
    }

    fn line(&mut self, line: &[u8]) {
        match reading::read(line) {
            Some(Value::Array(messages)) => messages.into_iter().for_each(|message| self.hear(message)),
            Some(message) => self.hear(message),
            None => self.refuse(&Value::Null, -32700, "this is not JSON"),
        }
    }

    fn hear(&mut self, mut message: Value) {
        let method = message["method"].as_str().map(str::to_owned);
        let id = message.get("id").cloned().filter(|id| !id.is_null());
        let params = message.get_mut("params").map(Value::take).unwrap_or_default();
        if let Some(method) = &method {
            self.see(method, &params);
        }
        // A client that says something else is there, and could have answered.
        if let Some(step) = self.silent.take() {
            let text =
                format!("no answer came for {} s, and the client went on", self.patience.as_secs_f64());
            self.note(step, '!', &text);
        }
        match (method.as_deref(), id) {
            (Some(method), Some(id)) if !self.is_spoken(method, &params) => self.unsupported(&id, &params),
            (Some("subscriptions/listen"), Some(id)) if self.offer.modern => self.subscribed(&id, &params),
            (Some("initialize"), Some(id)) => self.initialize(&id, &params),
            (Some("ping"), Some(id)) => self.answer(&id, "ping", &params),
            (Some(_), Some(id)) if self.held.len() >= WAITING => {
                self.refuse(&id, -32603, "too many requests wait for their answers");
            }
            (Some(method), Some(id)) => {
                self.held.push_back(Held { id, method: method.to_owned(), params, until: None });
            }
            (Some("notifications/initialized"), None) => self.ready = true,
            (Some("notifications/cancelled"), None) => self.cancelled(&params["requestId"]),
            (None, Some(id)) => self.answered(&id, &message),
            _ => {}
        }
    }

    /// Leaves out the steps that are not for this client.
    fn meet(&mut self, declared: Value, revision: Revision) {
        self.declared = declared;
        for step in std::mem::take(&mut self.left) {
            match self.lacks(step, revision) {
                None => self.left.push(step),
                Some(why) => self.note(step, '-', &why),
            }
        }
    }

    fn initialize(&mut self, id: &Value, params: &Value) {
        let known = params["protocolVersion"].as_str().and_then(Revision::named);
        let revision = known.filter(|one| one.has_handshake()).unwrap_or(Revision::V2025_11_25);
        self.meet(params["capabilities"].clone(), revision);
        let result = self.offer.hello(revision);
        self.reply(id, "result", result);
        if std::mem::take(&mut self.is_back) {
            let step = SERVER_SCRIPT.iter().find(|step| matches!(step.act, ServerAct::Leave));
            step.into_iter().for_each(|step| self.note(step, '+', "the client began a new session"));
        }
    }

    /// Why a step is not for this client.
    fn lacks(&self, step: &Step<ServerAct>, revision: Revision) -> Option<String> {
        let [since, _] = step.revisions;
        if revision < since {
            return Some(format!("it needs {since} or later, and the client speaks {revision}"));
        }
        step.needs.split_whitespace().find_map(|need| {
            let pointer = need.trim_start_matches('!');
            let name = pointer.trim_start_matches('/').replace('/', ".");
            match (self.declared.pointer(pointer).is_some(), need.starts_with('!')) {
                (false, false) => Some(format!("the client does not declare `{name}`")),
                (true, true) => Some(format!("the client declares `{name}`")),
                _ => None,
            }
        })
    }

    /// Notes the steps that wait for what the client just did.
    fn see(&mut self, method: &str, params: &Value) {
        let is_page = params["cursor"].is_string();
        while let Some(at) = self.left.iter().position(|step| match step.act {
            ServerAct::Await(awaited) => awaited == method,
            ServerAct::AwaitPage => is_page,
            _ => false,
        }) {
            let step = self.left.remove(at);
            self.note(step, '+', "");
        }
    }

    fn cancelled(&mut self, id: &Value) {
        let Some(at) = self.held.iter().position(|held| held.id == *id) else { return };
        match &mut self.held[at].until {
            Some((until, step)) if matches!(step.act, ServerAct::Late) => {
                let step = *step;
                *until = Instant::now() + LATE / 2;
                self.note(step, '+', "the client cancelled the call, and was answered after that");
            }
            _ => drop(self.held.remove(at)),
        }
    }

    fn answered(&mut self, id: &Value, message: &Value) {
        self.is_strayed = self.open.is_some();
        let Some(open) = self.open.take_if(|open| open.id == *id) else { return };
        self.is_strayed = false;
        let came = match (message.get("result"), message["error"]["code"].as_i64()) {
            (Some(_), _) => "a result".to_owned(),
            (None, Some(code)) => format!("the error {code}"),
            (None, None) => "neither a result nor an error".to_owned(),
        };
        let what = if matches!(open.step.act, ServerAct::Raw(_)) { "a ping after it " } else { "it " };
        self.note(open.step, '+', &format!("{what}was answered with {came}"));
    }

    /// Plays what is due, and answers what waits.
    fn go_on(&mut self) {
        if let Some(open) = self.open.take_if(|open| open.since.elapsed() > self.patience) {
            if std::mem::take(&mut self.is_strayed) {
                return self.note(open.step, '+', "an answer came under another id");
            }
            self.note(open.step, '-', "nothing came, not even an answer");
            self.deaf = true;
            self.silent = Some(open.step);
        }
        while self.open.is_none() && self.writer.is_some() {
            let Some(held) = self.held.front() else { return };
            match held.until {
                Some((until, _)) if Instant::now() < until => return,
                Some((_, step)) if matches!(step.act, ServerAct::Late) => self.answer_held(),
                _ => match self.next_step(held).filter(|_| held.until.is_none()) {
                    Some(step) => self.act(step),
                    None => self.answer_held(),
                },
            }
        }
    }

    /// The next step that can be played while such a request waits.
    fn next_step(&self, held: &Held) -> Option<&'static Step<ServerAct>> {
        let method = &*held.method;
        let may_ask = ["tools/call", "prompts/get", "resources/read"].contains(&method);
        let is_again = held.params["inputResponses"].is_object();
        let is_due = |step: &&&'static Step<ServerAct>| match step.act {
            ServerAct::Await(_) | ServerAct::AwaitPage => false,
            ServerAct::Ask(..) | ServerAct::AskAs(..) | ServerAct::Raw(_) => !self.deaf,
            ServerAct::Slow | ServerAct::Late => method == "tools/call",
            ServerAct::Input(..) => may_ask && !is_again,
            ServerAct::Refuse => !method.ends_with("/list") && method != "server/discover",
            ServerAct::Break | ServerAct::Leave => true,
        };
        self.left.iter().find(is_due).copied().filter(|_| self.ready)
    }

    fn act(&mut self, step: &'static Step<ServerAct>) {
        self.left.retain(|other| other.name != step.name);
        match step.act {
            ServerAct::Await(_) | ServerAct::AwaitPage => {}
            ServerAct::Ask(method, params) => {
                self.last += 1;
                let id = json!(self.last);
                self.ask(step, id, method, params);
            }
            ServerAct::AskAs(id, method) => {
                self.ask(step, serde_json::from_str(id).unwrap_or_default(), method, "{}");
            }
            ServerAct::Raw(text) => {
                self.write(text.to_owned());
                // What answers it, and should not, comes before the ping.
                thread::sleep(APART);
                self.last += 1;
                self.ask(step, json!(self.last), "ping", "{}");
            }
            ServerAct::Slow => {
                let token = self.held.front().map(|held| held.params["_meta"]["progressToken"].clone());
                for progress in token.iter().filter(|token| !token.is_null()).flat_map(|_| [1, 2]) {
                    let params = json!({"progressToken": token, "progress": progress, "total": 3});
                    self.tell("notifications/progress", &params);
                }
                self.wait(step, LATE);
                self.note(step, '+', "a call was answered late");
            }
            ServerAct::Late => self.wait(step, UNCANCELLED),
            ServerAct::Break => {
                self.tell(
                    "notifications/message",
                    &json!({"level": "info", "data": "The stream breaks off."}),
                );
                self.wait(step, LATE);
                self.note(step, '+', "the client resumed the stream that broke off");
            }
            ServerAct::Input(method, params) => self.ask_for_input(step, method, params),
            ServerAct::Refuse => {
                let Some(held) = self.held.pop_front() else { return };
                self.refuse(&held.id, -32603, "mcp-concord answers this one with an error");
                self.note(step, '+', &format!("{} was answered with an error", held.method));
            }
            ServerAct::Leave => {
                self.answer_held();
                self.note(step, '-', "the client sent no further request");
                // What is written is written to its end.
                self.writer = None;
            }
        }
    }

    fn ask(&mut self, step: &'static Step<ServerAct>, id: Value, method: &str, params: &str) {
        let params: Value = serde_json::from_str(params).unwrap_or_default();
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string());
        self.open = Some(Open { id, step, since: Instant::now() });
    }

    fn tell(&mut self, method: &str, params: &Value) {
        self.write(json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
    }

    fn wait(&mut self, step: &'static Step<ServerAct>, time: Duration) {
        if let Some(held) = self.held.front_mut() {
            held.until = Some((Instant::now() + time, step));
        }
    }

    fn answer_held(&mut self) {
        if let Some(held) = self.held.pop_front() {
            self.answer(&held.id, &held.method, &held.params);
        }
    }

    /// Answers a request with what the server has to offer.
    fn answer(&mut self, id: &Value, method: &str, params: &Value) {
        match self.offer.answer(method, params) {
            Ok(result) => self.reply(id, "result", result),
            Err((code, why)) => self.refuse(id, code, &why),
        }
    }

    fn refuse(&mut self, id: &Value, code: i64, why: &str) {
        self.reply(id, "error", json!({"code": code, "message": why}));
    }

    fn reply(&mut self, id: &Value, member: &str, value: Value) {
        self.write(json!({"jsonrpc": "2.0", "id": id, member: value}).to_string());
    }

    fn write(&mut self, text: String) {
        if let Some(writer) = &self.writer {
            self.unread += 1;
            writer.write((text + "\n").into_bytes());
        }
    }

    fn note(&mut self, step: &Step<ServerAct>, state: char, text: &str) {
        if let Some(file) = &mut self.seen {
            // Who reads it finds the step not reached.
            let _ = writeln!(file, "{}\t{state}\t{text}", step.name);
        }
    }
}
