//! Plays the steps of the script in one session, and notes which were played, which were not and why, and what was not answered.

use super::arguments::{accepted, refused};
use super::client::{Answer, Client, capabilities, info};
use super::plan::{Calls, Probe, Probed, Silence, Unanswered};
use super::script::{Act, Step};
use crate::record::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use transcript::revision::Revision;

/// How many resources are read, prompts got, tools called, and pages of a listing asked for.
pub(super) const MOST: usize = 50;

/// How long a call of a tool is waited for before it is cancelled.
const CALL: Duration = Duration::from_secs(2);

/// How long the answer to a call that was cancelled is listened for.
const CROSSING: Duration = Duration::from_millis(1_200);

/// How long a server may still say something that it should not.
const AFTERWARDS: Duration = Duration::from_millis(200);

/// One session as it is played.
pub(super) struct Player<'p> {
    pub(super) client: Client,
    probe: &'p Probe,
    /// What the server declared.
    declared: Value,
    /// What it listed, by the name of the list.
    listed: BTreeMap<&'static str, Vec<Value>>,
    pub(super) done: Probed,
    /// The step that is played.
    step: &'static str,
}

impl<'p> Player<'p> {
    pub(super) fn new(client: Client, probe: &'p Probe, done: Probed) -> Self {
        Self { client, probe, declared: json!({}), listed: BTreeMap::new(), done, step: "handshake" }
    }

    /// Opens the session by a handshake that asks for a version. Whether there is one now.
    pub(super) fn shake_hands(&mut self, version: &str, revision: Revision) -> bool {
        let params =
            json!({"protocolVersion": version, "capabilities": capabilities(revision), "clientInfo": info()});
        let Some(result) = self.ask("initialize", params) else { return false };
        self.declared = result["capabilities"].clone();
        self.done.revision = result["protocolVersion"].as_str().and_then(Revision::named);
        self.client.notify("notifications/initialized", Value::Null);
        self.done.revision.is_some()
    }

    /// Asks which revisions without handshake the server speaks. Whether it speaks one that is known.
    pub(super) fn discover(&mut self) -> bool {
        self.client.modern = true;
        let Some(result) = self.ask("server/discover", Value::Null) else { return false };
        self.declared = result["capabilities"].clone();
        let named = result["supportedVersions"].as_array().into_iter().flatten().filter_map(Value::as_str);
        self.done.revision = named.filter_map(Revision::named).filter(|one| !one.has_handshake()).max();
        self.done.revision.is_some()
    }

    /// Plays steps, as long as the server is there.
    pub(super) fn play(&mut self, steps: impl Iterator<Item = &'static Step<Act>>) {
        for step in steps {
            if let Some(why) = self.client.over() {
                self.done.left.push((step.name, format!("the server {}", why.said())));
                continue;
            }
            if !self.declares(step.needs) {
                let needs = step.needs.trim_start_matches('/').replace('/', ".");
                self.done.left.push((step.name, format!("the server does not declare `{needs}`")));
                continue;
            }
            self.step = step.name;
            match self.act(&step.act) {
                Ok(()) => self.done.played.push(step.name),
                Err(why) => self.done.left.push((step.name, why.to_owned())),
            }
        }
    }

    fn declares(&self, needs: &str) -> bool {
        needs.is_empty() || self.declared.pointer(needs).is_some_and(|found| *found != json!(false))
    }

    fn act(&mut self, act: &'static Act) -> Result<(), &'static str> {
        match act {
            Act::Ask(method, params) => {
                let params = self.filled(params)?;
                self.ask(method, params);
            }
            Act::AskLast(method, params) => {
                let params = self.filled(params)?;
                self.ask(method, params);
                self.settle();
            }
            Act::AskAs(id, method) => {
                let id: Value = serde_json::from_str(id).unwrap_or_default();
                self.client.request_as(&id, method, Value::Null);
                self.heard(method, id);
            }
            Act::Tell(method, params) => {
                let params = self.filled(params)?;
                self.client.notify(method, params);
                self.settle();
            }
            Act::Raw(text) => {
                self.client.send(text);
                if !self.settle() {
                    // What is not answered from here on has the same cause.
                    self.client.give_up();
                }
            }
            Act::List(method, name) => self.list(method, name),
            Act::ReadResources => {
                let uris = self.texts("resources", "uri").ok_or("the server lists no resources")?;
                for uri in uris.into_iter().take(MOST) {
                    self.ask("resources/read", json!({"uri": uri}));
                }
            }
            Act::GetPrompts => self.get_prompts()?,
            Act::CallTools => {
                for (tool, arguments) in self.callable()? {
                    let meta = json!({"progressToken": format!("concord-{}", self.done.called.len())});
                    self.call(&tool, json!({"name": tool, "arguments": arguments, "_meta": meta}));
                    self.done.called.push(tool);
                }
            }
            Act::MisuseTools => {
                let tools = self.callable()?;
                let wrong = tools.into_iter().filter_map(|(tool, _)| {
                    let schema = self.listed["tools"].iter().find(|listed| listed["name"] == *tool)?;
                    Some((refused(&schema["inputSchema"])?, tool))
                });
                let wrong: Vec<_> = wrong.collect();
                if wrong.is_empty() {
                    return Err("no tool that may be called requires an argument");
                }
                for (arguments, tool) in wrong {
                    self.call(&tool, json!({"name": tool, "arguments": arguments}));
                }
            }
            Act::Cancel if self.client.modern && matches!(self.probe.server, Server::Http(_)) => {
                return Err("over HTTP a call is cancelled by closing its stream, not by a notification");
            }
            Act::Cancel => {
                let tools = self.callable()?;
                let slow = tools.iter().find(|(tool, _)| self.done.slow.contains(tool)).or(tools.first());
                let (tool, arguments) = slow.cloned().ok_or("no tool may be called")?;
                let params = json!({"name": tool, "arguments": arguments});
                let id = self.client.cancelled("tools/call", params);
                // An answer that comes at once has crossed the cancellation, and no other will come.
                self.client.answer_within(CROSSING, &id);
                self.settle();
            }
            // These have a session of their own.
            Act::Http(..) | Act::Streams(..) => {}
        }
        Ok(())
    }

    /// Asks, and notes where no answer comes.
    fn ask(&mut self, method: &'static str, params: Value) -> Option<Value> {
        let id = self.client.request(method, params);
        self.heard(method, id)
    }

    /// Calls a tool. A slow one is not at fault: the call is cancelled.
    fn call(&mut self, tool: &str, params: Value) {
        let id = self.client.request("tools/call", params);
        let answer = self.client.answer_within(CALL.min(self.probe.patience), &id);
        if matches!(answer, Answer::None(Silence::Timeout)) {
            self.done.slow.push(tool.to_owned());
            self.client.notify(
                "notifications/cancelled",
                json!({"requestId": id, "reason": "the probe takes too long"}),
            );
            self.settle();
        } else if let Answer::None(why) = answer {
            self.done.unanswered.push(Unanswered { step: self.step, method: "tools/call", id, why });
        }
    }

    fn heard(&mut self, method: &'static str, id: Value) -> Option<Value> {
        match self.client.answer(&id) {
            Answer::Result(result) => Some(result),
            Answer::Error(why) => {
                if method == "initialize" {
                    self.done.refused = Some(why);
                }
                None
            }
            Answer::None(why) => {
                if why == Silence::Timeout && method != "ping" && !self.client.modern {
                    // Slow, or not there any more.
                    self.client.is_there();
                }
                if why != Silence::Interrupted {
                    self.done.unanswered.push(Unanswered { step: self.step, method, id, why });
                }
                None
            }
        }
    }

    /// Waits a little for what should not come, and looks whether the server still answers.
    fn settle(&mut self) -> bool {
        self.client.listen(AFTERWARDS);
        let unanswered = self.done.unanswered.len();
        match self.client.modern {
            true => self.ask("tools/list", Value::Null),
            false => self.ask("ping", Value::Null),
        };
        self.done.unanswered.len() == unanswered
    }

    fn list(&mut self, method: &'static str, name: &'static str) {
        let (mut cursor, mut seen) = (Value::Null, Vec::new());
        for _ in 0..MOST {
            let params = if cursor.is_null() { Value::Null } else { json!({"cursor": cursor}) };
            let Some(mut result) = self.ask(method, params) else { return };
            if let Some(items) = result[name].as_array_mut() {
                self.listed.entry(name).or_default().append(items);
            }
            cursor = result["nextCursor"].take();
            if !cursor.is_string() || seen.contains(&cursor) {
                return;
            }
            seen.push(cursor.clone());
        }
    }

    fn get_prompts(&mut self) -> Result<(), &'static str> {
        let prompts = self.listed.get("prompts").filter(|prompts| !prompts.is_empty()).cloned();
        for prompt in prompts.ok_or("the server lists no prompts")?.into_iter().take(MOST) {
            let arguments = prompt["arguments"].as_array().into_iter().flatten();
            let required = arguments.filter(|argument| argument["required"] == json!(true));
            let named = required.filter_map(|argument| argument["name"].as_str());
            let arguments: serde_json::Map<_, _> =
                named.map(|name| (name.to_owned(), json!("concord"))).collect();
            self.ask("prompts/get", json!({"name": prompt["name"], "arguments": arguments}));
        }
        Ok(())
    }

    /// The tools that may be called, with arguments: recorded ones, or the least that the tool's schema accepts.
    fn callable(&mut self) -> Result<Vec<(String, Value)>, &'static str> {
        let tools = self.listed.get("tools").filter(|tools| !tools.is_empty());
        let tools = tools.ok_or("the server lists no tools")?;
        let (mut may, mut not) = (Vec::new(), Vec::new());
        for tool in tools {
            let Some(name) = tool["name"].as_str() else { continue };
            let allowed = match &self.probe.calls {
                Calls::All => true,
                Calls::Named(names) if names.iter().any(|one| one == name) => true,
                _ => tool["annotations"]["readOnlyHint"] == json!(true),
            };
            if !allowed {
                not.push(name.to_owned());
                continue;
            }
            let given = self.probe.given.iter().find(|(tool, _)| tool == name);
            let arguments = given.map_or_else(|| accepted(&tool["inputSchema"]), |(_, given)| given.clone());
            may.push((name.to_owned(), arguments));
        }
        self.done.spared = not;
        may.truncate(MOST);
        if may.is_empty() { Err("no tool is marked as read-only, and --call names none") } else { Ok(may) }
    }

    /// The tools that may be called, as the server lists them, with arguments.
    pub(super) fn listed_tools(&mut self) -> Vec<(Value, Value)> {
        self.list("tools/list", "tools");
        let callable = self.callable().unwrap_or_default();
        let listed = self.listed.get("tools").cloned().unwrap_or_default();
        let tool =
            |(name, arguments)| Some((listed.iter().find(|tool| tool["name"] == name)?.clone(), arguments));
        callable.into_iter().filter_map(tool).collect()
    }

    /// Calls a tool, whatever its arguments are. A slow call is not a fault as long as the server answers a ping.
    pub(super) fn try_call(&mut self, tool: &str, arguments: &Value) {
        self.step = "fuzz";
        let id = self.client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let Answer::None(why) = self.client.answer(&id) else { return };
        if why == Silence::Timeout {
            self.client.is_there();
        }
        if self.client.over().is_none() {
            self.done.slow.push(tool.to_owned());
            self.client.notify("notifications/cancelled", json!({"requestId": id}));
        } else if why != Silence::Interrupted {
            self.done.unanswered.push(Unanswered { step: self.step, method: "tools/call", id, why });
        }
    }

    fn texts(&self, list: &str, member: &str) -> Option<Vec<Value>> {
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
