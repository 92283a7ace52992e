//! Plays the steps of the script in one session, and notes which were played, which were not and why, and what was not answered.

use super::client::{Answer, Client, capabilities, info};
use super::plan::{Probe, Probed, RECORDER, Refusal, Silence, Unanswered};
use super::script::{Act, Step};
use crate::messages::messages;
use crate::record::{Server, now};
use crate::remote::{BROKEN, CLOSED, TORN};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::mem::take;
use std::thread;
use std::time::{Duration, Instant};
use transcript::revision::Revision;

/// How many resources are read, prompts got, tools called, and pages of a listing asked for.
pub(super) const MOST: usize = 50;

/// How long a server may still say something that it should not.
pub(super) const AFTERWARDS: Duration = Duration::from_millis(200);

/// One session as it is played.
pub(super) struct Player<'p> {
    pub(super) client: Client,
    pub(super) probe: &'p Probe,
    /// What the server declared.
    declared: Value,
    /// What it listed, by the name of the list.
    pub(super) listed: BTreeMap<&'static str, Vec<Value>>,
    pub(super) done: Probed,
    /// It may be answered with an error.
    pub(super) may_fail: bool,
    /// The calls that are under way beside other steps.
    pub(super) pending: Vec<Pending>,
    /// Something was sent behind which something may come that should not.
    pub(super) suspects: bool,
    /// How long the client waits before it says that it is initialized. What comes then is read later, an end too.
    pub(super) pause: Duration,
    /// `server/discover` has a result. A server with a handshake may end on any other first message.
    pub(super) discovered: bool,
}

/// What the recorder says of an answer that nothing refused, and that cannot come any more.
fn lost(why: &str) -> Option<Silence> {
    match why.strip_prefix(RECORDER)? {
        why if why.starts_with(BROKEN) => Some(Silence::Broken),
        why if why == CLOSED || why.starts_with(TORN) => Some(Silence::Closed),
        _ => None,
    }
}

/// A call that is not answered yet.
pub(super) struct Pending {
    pub(super) step: &'static str,
    pub(super) tool: String,
    pub(super) id: Value,
    pub(super) may_fail: bool,
    pub(super) since: Instant,
}

impl<'p> Player<'p> {
    pub(super) fn new(client: Client, probe: &'p Probe, done: Probed) -> Self {
        Self {
            client,
            probe,
            declared: json!({}),
            listed: BTreeMap::new(),
            done,
            may_fail: false,
            pending: Vec::new(),
            suspects: false,
            pause: Duration::ZERO,
            discovered: false,
        }
    }

    /// Opens the session by a handshake that asks for a version. Whether there is one now.
    pub(super) fn shake_hands(&mut self, version: &str, revision: Revision) -> bool {
        let params =
            json!({"protocolVersion": version, "capabilities": capabilities(revision), "clientInfo": info()});
        let Some(result) = self.ask("initialize", params) else { return false };
        self.declared = result["capabilities"].clone();
        let version = if result.is_object() { &result["protocolVersion"] } else { &result };
        self.done.revision = result["protocolVersion"].as_str().and_then(Revision::named);
        self.done.unknown = self.done.revision.is_none().then(|| version.to_string());
        thread::sleep(self.pause);
        self.client.notify("notifications/initialized", Value::Null);
        self.done.revision.is_some()
    }

    /// Asks which revisions without handshake the server speaks. Whether it speaks one that is known.
    pub(super) fn discover(&mut self) -> bool {
        self.client.modern = true;
        let Some(result) = self.ask("server/discover", Value::Null) else {
            return self.serves_undiscovered();
        };
        self.discovered = true;
        self.declared = result["capabilities"].clone();
        let named = result["supportedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.done.revision = named.filter_map(Revision::named).filter(|one| !one.has_handshake()).max();
        self.done.revision.is_some()
    }

    /// Whether a server that refuses that serves the revision all the same.
    fn serves_undiscovered(&mut self) -> bool {
        if self.done.turned_away.is_empty() || self.client.over.is_some() {
            return false;
        }
        let is_served =
            self.ask("tools/list", Value::Null).is_some_and(|result| result["resultType"].is_string());
        self.done.revision = is_served.then_some(Revision::V2026_07_28);
        self.declared = json!({"tools": {}});
        is_served
    }

    /// Plays steps, as long as the server is there.
    pub(super) fn play(&mut self, steps: impl Iterator<Item = &'static Step<Act>>) {
        for step in steps {
            if let Some(why) = self.client.over {
                self.done.left.push((step.name, format!("the server {}", why.said())));
                continue;
            }
            if !self.declares(step.needs) {
                let says = if step.needs.starts_with('!') { "declares" } else { "does not declare" };
                let needs =
                    step.needs.trim_start_matches(['!', '/']).replace("|/", "` or `").replace('/', ".");
                self.done.left.push((step.name, format!("the server {says} `{needs}`")));
                continue;
            }
            self.client.step = step.name;
            self.done.begun.push((now(), step.name));
            match self.act(&step.act) {
                Ok(()) => self.done.played.push(step.name),
                Err(why) => {
                    self.done.untold.extend(Some(step).filter(|step| step.is_only()));
                    self.done.left.push((step.name, why.to_owned()));
                }
            }
        }
        for call in take(&mut self.pending) {
            self.finish(call);
        }
        if take(&mut self.suspects) && self.client.over.is_none() {
            self.client.listen(AFTERWARDS);
            self.look();
        }
    }

    pub(super) fn declares(&self, needs: &str) -> bool {
        let is_declared =
            |pointer| self.declared.pointer(pointer).is_some_and(|found| *found != json!(false));
        let lacks = needs.strip_prefix('!');
        lacks.map_or_else(|| needs.is_empty() || needs.split('|').any(is_declared), |it| !is_declared(it))
    }

    fn act(&mut self, act: &'static Act) -> Result<(), &'static str> {
        self.may_fail = matches!(act, Act::Try(..) | Act::MisuseTools);
        match act {
            Act::Ask(method, params) | Act::Try(method, params) | Act::AskLast(method, params) => {
                let params = self.filled(params)?;
                self.ask(method, params);
                self.suspects |= matches!(act, Act::AskLast(..));
            }
            Act::AskAs(id, method) => {
                let id: Value = serde_json::from_str(id).unwrap_or_default();
                self.client.request_as(&id, method, Value::Null);
                self.heard(method, None, id);
            }
            Act::Tell(method, params) => {
                let params = self.filled(params)?;
                self.client.notify(method, params);
                self.suspects = true;
                match self.probe.server {
                    // Only its moment says what a message is for.
                    Server::Command(_) => self.settle(),
                    Server::Http(_) => self.look(),
                };
            }
            Act::Raw(text) if matches!(self.probe.server, Server::Http(_)) && messages(text).is_err() => {
                return Err("a session over HTTP sends only messages");
            }
            Act::Raw(text) => {
                self.client.raw(text);
                if !self.settle() {
                    // What is not answered from here on has the same cause.
                    self.client.give_up();
                }
            }
            Act::Subscribe => self.subscribe()?,
            Act::List(method, name) => self.list(method, name),
            Act::ReadResources => {
                let uris = self
                    .texts("resources", "uri")
                    .ok_or(self.lacking("resources", "the server lists no resources"))?;
                for uri in uris.into_iter().take(MOST) {
                    self.ask("resources/read", json!({"uri": uri}));
                }
            }
            Act::GetPrompts => self.get_prompts()?,
            Act::CallTools => self.call_tools()?,
            Act::MisuseTools => self.misuse_tools()?,
            Act::CallTasks => self.call_tasks()?,
            Act::Cancel if !self.may_cancel() => {
                return Err("over HTTP a call is cancelled by closing its stream, not by a notification");
            }
            Act::Cancel => self.cancel()?,
            // These have a session of their own.
            Act::Http(..) | Act::Streams(..) => {}
        }
        Ok(())
    }

    /// Whether a notification cancels a call here.
    pub(super) fn may_cancel(&self) -> bool {
        !self.client.modern || matches!(self.probe.server, Server::Command(_))
    }

    /// Asks, and notes where no answer comes.
    pub(super) fn ask(&mut self, method: &'static str, params: Value) -> Option<Value> {
        let of = ["name", "uri"].iter().find_map(|member| params[*member].as_str()).map(str::to_owned);
        let id = self.client.request(method, params);
        self.heard(method, of, id)
    }

    fn heard(&mut self, method: &'static str, of: Option<String>, id: Value) -> Option<Value> {
        let answer = self.client.answer(&id);
        self.took(method, of, id, answer)
    }

    /// What came of a request for something.
    pub(super) fn took(
        &mut self,
        method: &'static str,
        of: Option<String>,
        id: Value,
        answer: Answer,
    ) -> Option<Value> {
        match answer {
            Answer::Result(result) => Some(result),
            Answer::Error(why) if method == "initialize" && lost(&why).is_none() => {
                self.done.refused = Some(why);
                None
            }
            Answer::Error(why) => {
                let step = self.client.step;
                self.refused(Refusal { step, method, of, why }, self.may_fail);
                None
            }
            Answer::None(Silence::Astray) => None,
            Answer::None(mut why) => {
                if why == Silence::Timeout && method != "ping" && !self.client.modern {
                    // Slow, or not there any more.
                    self.client.beside.push(id.clone());
                    self.client.is_there();
                    if method == "initialize" && !self.client.beside.contains(&id) {
                        let time = self.client.patience.as_secs_f64();
                        self.done.refused = Some(format!(
                            "{RECORDER}`initialize` was answered, but not within {time} s; a longer --timeout lets the server begin"
                        ));
                        return None;
                    }
                    self.client.beside.retain(|open| *open != id);
                    if self.client.over == Some(Silence::Ended) {
                        why = Silence::Fallen;
                    }
                }
                let (method, behind) = match self.client.behind {
                    // The server had ended before the request was sent.
                    Some(sent) if why == Silence::Ended && !self.client.is_heard => (sent, None),
                    behind => (method, behind),
                };
                if why != Silence::Interrupted {
                    let step = self.client.step;
                    self.done.unanswered.push(Unanswered { step, method, behind, id, why });
                }
                None
            }
        }
    }

    /// Notes what was refused, by the server or over HTTP.
    pub(super) fn refused(&mut self, refusal: Refusal, may_fail: bool) {
        if let Some(why) = lost(&refusal.why) {
            let Refusal { step, method, .. } = refusal;
            // What breaks off all its answers does so for one reason.
            if self.done.unanswered.iter().all(|it| it.why != why) {
                self.done.unanswered.push(Unanswered { step, method, behind: None, id: Value::Null, why });
            }
            return;
        }
        let unsaid = refusal.why.strip_prefix(RECORDER).map(str::to_owned);
        if !may_fail || unsaid.is_some() {
            let why = unsaid.unwrap_or(refusal.why);
            self.done.turned_away.push(Refusal { why, ..refusal });
        }
    }

    /// Waits a little for what should not come, over HTTP up to the first message, and looks whether the server still answers.
    fn settle(&mut self) -> bool {
        match self.probe.server {
            Server::Command(_) => self.client.listen(AFTERWARDS),
            Server::Http(_) => {
                self.client.listen_for_one(AFTERWARDS, None);
            }
        }
        self.look()
    }

    /// Looks whether the server still answers.
    pub(super) fn look(&mut self) -> bool {
        let unanswered = self.done.unanswered.len();
        self.ask(self.anything(), Value::Null);
        self.done.unanswered.len() == unanswered
    }

    /// A request that each server answers.
    pub(super) fn anything(&self) -> &'static str {
        if self.client.modern { "tools/list" } else { "ping" }
    }

    pub(super) fn list(&mut self, method: &'static str, name: &'static str) {
        let (mut cursor, mut seen) = (Value::Null, Vec::new());
        for _ in 0..MOST {
            let params = if cursor.is_null() { Value::Null } else { json!({"cursor": cursor}) };
            let Some(mut result) = self.ask(method, params) else { return };
            // To index a value that is not an object by a name, so that it can be changed, panics.
            if let Some(items) = result.get_mut(name).and_then(Value::as_array_mut) {
                self.listed.entry(name).or_default().append(items);
            }
            cursor = result.get_mut("nextCursor").map(Value::take).unwrap_or_default();
            if !cursor.is_string() || seen.contains(&cursor) {
                return;
            }
            seen.push(cursor.clone());
        }
        self.done.endless.push(method);
    }

    fn get_prompts(&mut self) -> Result<(), &'static str> {
        let prompts = self.listed.get("prompts").filter(|prompts| !prompts.is_empty()).cloned();
        for prompt in
            prompts.ok_or(self.lacking("prompts", "the server lists no prompts"))?.into_iter().take(MOST)
        {
            let arguments = prompt["arguments"].as_array().into_iter().flatten();
            let required = arguments.filter(|argument| argument["required"] == json!(true));
            let named = required.filter_map(|argument| argument["name"].as_str());
            let arguments: serde_json::Map<_, _> =
                named.map(|name| (name.to_owned(), json!("concord"))).collect();
            self.ask("prompts/get", json!({"name": prompt["name"], "arguments": arguments}));
        }
        Ok(())
    }

    /// Why nothing of a list is there.
    pub(super) fn lacking(&self, list: &'static str, why: &'static str) -> &'static str {
        let is_refused =
            |method: &str| method.split_once('/').is_some_and(|(of, what)| of == list && what == "list");
        match self.done.turned_away.iter().any(|refusal| is_refused(refusal.method)) {
            true => "the server refused to list them",
            false => why,
        }
    }

    pub(super) fn texts(&self, list: &str, member: &str) -> Option<Vec<Value>> {
        let items = self.listed.get(list)?.iter().map(|item| item[member].clone());
        let texts: Vec<Value> = items.filter(Value::is_string).collect();
        (!texts.is_empty()).then_some(texts)
    }

    /// A template with the names that the server listed.
    fn filled(&self, template: &str) -> Result<Value, &'static str> {
        let mut text = template.to_owned();
        let first = |list: &str, wanted: &dyn Fn(&Value) -> bool, member: &str| {
            let found = self.listed.get(list)?.iter().find(|item| wanted(item))?;
            Some(found[member].clone()).filter(Value::is_string)
        };
        let needs = |prompt: &Value| {
            let mut arguments = prompt["arguments"].as_array().into_iter().flatten();
            arguments.any(|argument| argument["required"] == json!(true))
        };
        let takes = |prompt: &Value| prompt["arguments"].as_array().is_some_and(|list| !list.is_empty());
        let argument = || {
            let prompt = self.listed.get("prompts")?.iter().find(|prompt| takes(prompt))?;
            Some(prompt["arguments"][0]["name"].clone()).filter(Value::is_string)
        };
        for (name, found, why) in [
            ("$resource", first("resources", &|_| true, "uri"), "the server lists no resources"),
            ("$needy", first("prompts", &needs, "name"), "no prompt requires an argument"),
            // Who declares completions answers for an unknown prompt too, with -32602.
            ("$completed", first("prompts", &takes, "name").or(Some(json!("concord"))), ""),
            ("$argument", argument().or(Some(json!("concord"))), ""),
        ] {
            let quoted = format!("\"{name}\"");
            if text.contains(&quoted) {
                text = text.replace(&quoted, &found.ok_or(why)?.to_string());
            }
        }
        Ok(serde_json::from_str(&text).unwrap_or_default())
    }
}
