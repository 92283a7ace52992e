//! What takes its time: calls of tools, slow ones beside other steps, one that is cancelled, and those that are tasks; and a subscription.

use super::arguments::{accepted, refused, unknown};
use super::client::Answer;
use super::plan::{Calls, Probe, Refusal, Silence, Unanswered};
use super::player::{AFTERWARDS, MOST, Pending, Player};
use serde_json::{Value, json};
use std::mem::take;
use std::time::{Duration, Instant};
use transcript::revision::Revision;

/// How long a call of a tool is waited for before it is cancelled.
const CALL: Duration = Duration::from_secs(2);

/// How long nothing else is done meanwhile, and how many calls may be under way beside other steps.
const HASTE: Duration = Duration::from_millis(300);
const BESIDE: usize = 3;

/// How long the answer to a call that was cancelled is listened for.
const CROSSING: Duration = Duration::from_millis(1_200);

/// How often a task is asked for that does not say how often.
const POLL: Duration = Duration::from_millis(50);

/// What a task is that has ended.
const ENDED: [&str; 3] = ["completed", "failed", "cancelled"];

impl Pending {
    /// How long it is still waited for.
    fn left(&self, probe: &Probe) -> Duration {
        CALL.min(probe.patience).saturating_sub(self.since.elapsed()).max(Duration::from_millis(1))
    }
}

impl Player<'_> {
    /// Calls each tool that may be called.
    pub(super) fn call_tools(&mut self) -> Result<(), &'static str> {
        for (tool, arguments) in self.callable()? {
            let meta = json!({"progressToken": format!("concord-{}", self.done.called.len())});
            self.call(&tool, json!({"name": tool, "arguments": arguments, "_meta": meta}));
            self.done.called.push(tool);
        }
        Ok(())
    }

    /// Calls each of them with arguments that its schema refuses.
    pub(super) fn misuse_tools(&mut self) -> Result<(), &'static str> {
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
        Ok(())
    }

    /// Calls a tool, a slow one if there is one, and cancels the call at once.
    pub(super) fn cancel(&mut self) -> Result<(), &'static str> {
        let tools = self.callable()?;
        let is_slow = |tool: &String| {
            self.done.slow.contains(tool) || self.pending.iter().any(|call| call.tool == *tool)
        };
        let slow = tools.iter().find(|(tool, _)| is_slow(tool)).or(tools.first());
        let (tool, arguments) = slow.cloned().ok_or("no tool may be called")?;
        let params = json!({"name": tool, "arguments": arguments});
        let id = self.client.cancelled("tools/call", params);
        // An answer that comes at once has crossed the cancellation, and no other will come.
        self.client.answer_within(CROSSING, &id);
        self.suspects = true;
        self.look();
        Ok(())
    }

    /// Calls a tool. Where the answer takes long and the server answers others meanwhile, other steps go on beside the call, unless
    /// tools may be called that write.
    fn call(&mut self, tool: &str, params: Value) {
        let (id, since) = (self.client.request("tools/call", params), Instant::now());
        self.client.beside.push(id.clone());
        let call =
            Pending { step: self.client.step, tool: tool.to_owned(), id, may_fail: self.may_fail, since };
        let early = self.client.answer_within(HASTE.min(call.left(self.probe)), &call.id);
        let reads = self.probe.calls == Calls::ReadOnly;
        if reads && self.client.is_open(&call.id) && self.pending.len() < BESIDE {
            let other = self.client.request(self.anything(), Value::Null);
            if !matches!(self.client.answer_within(call.left(self.probe), &other), Answer::None(_)) {
                self.pending.push(call);
                return;
            }
        }
        match early {
            Answer::Error(why) => self.refused_call(call, why),
            _ => self.finish(call),
        }
    }

    fn refused_call(&mut self, call: Pending, why: String) {
        let Pending { step, tool, may_fail, .. } = call;
        self.refused(Refusal { step, method: "tools/call", of: Some(tool), why }, may_fail);
    }

    /// Waits for the answer to a call. A slow one is not at fault: the call is cancelled.
    pub(super) fn finish(&mut self, call: Pending) {
        let is_open = self.client.beside.contains(&call.id);
        let answer = is_open.then(|| self.client.answer_within(call.left(self.probe), &call.id));
        self.client.beside.retain(|id| *id != call.id);
        match answer {
            Some(Answer::None(Silence::Timeout)) => self.too_slow(&call.tool, Some(call.id)),
            Some(Answer::Error(why)) => self.refused_call(call, why),
            Some(Answer::None(why)) if why != Silence::Interrupted && why != Silence::Astray => {
                // What ended the server may have been another step's.
                let is_known = why == Silence::Ended && self.done.unanswered.iter().any(|it| it.why == why);
                let Pending { step, id, .. } = call;
                if !is_known {
                    self.done.unanswered.push(Unanswered {
                        step,
                        method: "tools/call",
                        behind: None,
                        id,
                        why,
                    });
                }
            }
            _ => {}
        }
    }

    /// Notes a tool that takes too long, and cancels the request that waits for it.
    fn too_slow(&mut self, tool: &str, id: Option<Value>) {
        if let Some(id) = id.filter(|_| self.may_cancel()) {
            let why = json!({"requestId": id, "reason": "it takes too long"});
            self.client.notify("notifications/cancelled", why);
        }
        if !self.done.slow.iter().any(|slow| slow == tool) {
            self.done.slow.push(tool.to_owned());
        }
        self.suspects = true;
        self.look();
    }

    /// Calls tools as tasks: each that has to be called so, and the first that may be.
    pub(super) fn call_tasks(&mut self) -> Result<(), &'static str> {
        let (mut tools, mut may) = (self.allowed()?, true);
        tools.retain(|(tool, _)| match self.task_support(tool) {
            "required" => true,
            "optional" => take(&mut may),
            _ => false,
        });
        if tools.is_empty() {
            return Err("no tool that may be called takes a task");
        }
        let mut is_made = false;
        for (tool, arguments) in tools {
            is_made |= self.client.over.is_none() && self.call_task(&tool, &arguments);
        }
        if is_made { Ok(()) } else { Err("no call was answered with a task that has an id") }
    }

    /// Calls a tool as a task, follows that to its end, and asks for its result. Whether there was one.
    fn call_task(&mut self, tool: &str, arguments: &Value) -> bool {
        let (since, most) = (Instant::now(), CALL.min(self.probe.patience));
        let left = || most.saturating_sub(since.elapsed()).max(HASTE);
        self.done.called.push(tool.to_owned());
        let params = json!({"name": tool, "arguments": arguments, "task": {"ttl": 60_000}});
        let made = self.ask_for(left(), tool, "tools/call", params).unwrap_or_default();
        let task = json!({"taskId": made["task"]["taskId"]});
        if !task["taskId"].is_string() {
            return false;
        }
        let (asked, pause) = loop {
            let asked = Instant::now();
            let Some(now) = self.ask("tasks/get", task.clone()) else { return true };
            let status = now["status"].as_str().unwrap_or_default();
            let pause = now["pollInterval"].as_u64().map_or(POLL, Duration::from_millis).max(POLL);
            // What is not a task will be none when it is looked at again.
            if ENDED.contains(&status) || status.is_empty() {
                break (asked, None);
            }
            // What it waits for, and its end, come with its result.
            if status == "input_required" || since.elapsed() + pause > most {
                break (asked, Some(pause));
            }
            self.client.listen(pause);
        };
        let result = self.ask_for(left(), tool, "tasks/result", task.clone());
        let pause = pause.map(|pause| pause.saturating_sub(asked.elapsed()));
        if let Some(pause) = pause.filter(|pause| result.is_some() && *pause <= HASTE) {
            self.client.listen(pause);
            self.ask("tasks/get", task.clone());
        }
        if self.declares("/tasks/cancel") {
            // One that has ended is not cancelled any more.
            self.may_fail = true;
            self.ask("tasks/cancel", task);
            self.may_fail = false;
        }
        true
    }

    /// Asks for what a tool may hold back, and so long.
    fn ask_for(&mut self, time: Duration, tool: &str, method: &'static str, params: Value) -> Option<Value> {
        let id = self.client.request(method, params);
        match self.client.answer_within(time, &id) {
            Answer::None(Silence::Timeout) => {
                // A task is not cancelled by a notification.
                self.too_slow(tool, Some(id).filter(|_| method != "tools/call"));
                None
            }
            answer => self.took(method, None, id, answer),
        }
    }

    /// Subscribes to all changes that the server declares, and ends that once it has begun. Over HTTP the stream is closed with the session.
    pub(super) fn subscribe(&mut self) -> Result<(), &'static str> {
        let mut wanted = json!({});
        for list in ["tools", "prompts", "resources"] {
            if self.declares(&format!("/{list}/listChanged")) {
                wanted[format!("{list}ListChanged")] = json!(true);
            }
        }
        let uris = self.texts("resources", "uri").filter(|_| self.declares("/resources/subscribe"));
        if let Some([uri, ..]) = uris.as_deref() {
            wanted["resourceSubscriptions"] = json!([uri]);
        }
        if wanted == json!({}) {
            return Err("the server lists no resources");
        }
        let method = "subscriptions/listen";
        let id = self.client.request(method, json!({"notifications": wanted}));
        let heard = self.client.heard;
        let first = self.client.listen_for_one(self.probe.patience, Some(&id));
        match first.unwrap_or_else(|| self.client.answer_within(AFTERWARDS, &id)) {
            Answer::None(Silence::Timeout) => {
                if self.client.heard == heard {
                    // Not even the acknowledgment came.
                    self.took(method, None, id.clone(), Answer::None(Silence::Timeout));
                }
                if self.may_cancel() {
                    self.client.notify("notifications/cancelled", json!({"requestId": id}));
                    self.suspects = true;
                } else {
                    self.client.subscribed = true;
                }
            }
            Answer::Error(why) => {
                let step = self.client.step;
                self.refused(Refusal { step, method, of: None, why }, false);
                return Err("the server refused it");
            }
            answer => {
                self.took(method, None, id, answer);
            }
        }
        Ok(())
    }

    /// What a tool says of tasks, where the server makes them of calls.
    fn task_support(&self, tool: &str) -> &str {
        let makes_tasks =
            self.done.revision == Some(Revision::V2025_11_25) && self.declares("/tasks/requests/tools/call");
        let listed = self.listed.get("tools").filter(|_| makes_tasks).into_iter().flatten();
        let mut said = listed.filter(|listed| listed["name"] == *tool);
        said.find_map(|tool| tool["execution"]["taskSupport"].as_str()).unwrap_or("forbidden")
    }

    /// Those of [`Self::allowed`] that are not called as tasks only.
    fn callable(&mut self) -> Result<Vec<(String, Value)>, &'static str> {
        let mut tools = self.allowed()?;
        tools.retain(|(tool, _)| self.task_support(tool) != "required");
        if tools.is_empty() { Err("the tools that may be called are called as tasks") } else { Ok(tools) }
    }

    /// The tools that may be called, with arguments: recorded ones, or the least that the tool's schema accepts.
    fn allowed(&mut self) -> Result<Vec<(String, Value)>, &'static str> {
        let tools = self.listed.get("tools").filter(|tools| !tools.is_empty());
        let tools = tools.ok_or(self.lacking("tools", "the server lists no tools"))?;
        if let Calls::Named(names) = &self.probe.calls {
            let is_listed = |name: &String| tools.iter().any(|tool| tool["name"] == **name);
            self.done.unlisted = names.iter().filter(|name| !is_listed(name)).cloned().collect();
        }
        let (mut may, mut not, mut unfit) = (Vec::new(), Vec::new(), Vec::new());
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
            if let Some((_, given)) = given {
                may.push((name.to_owned(), given.clone()));
                continue;
            }
            let arguments = accepted(&tool["inputSchema"]);
            let misfit = || (self.probe.misfit)(&tool["inputSchema"], &arguments);
            let refused = || Some(format!("refuses what was made for it: {}", misfit()?));
            // What is elsewhere is not fetched: the server would choose from where.
            let refers = unknown(&arguments).map(|to| format!("refers to {to}, which is not in it"));
            match refers.or_else(refused) {
                Some(why) => unfit.push((name.to_owned(), why)),
                None => may.push((name.to_owned(), arguments)),
            }
        }
        self.done.spared = not;
        may.truncate(MOST);
        let why = match unfit.is_empty() {
            true => "no tool is marked as read-only, and --call names none",
            false => "no arguments were made that its schema accepts",
        };
        self.done.unfit = unfit;
        if may.is_empty() { Err(why) } else { Ok(may) }
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
        self.client.step = "fuzz";
        let id = self.client.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let Answer::None(why) = self.client.answer(&id) else { return };
        if why == Silence::Astray {
            return;
        }
        if why == Silence::Timeout {
            self.client.is_there();
        }
        if self.client.over.is_none() {
            self.done.slow.push(tool.to_owned());
            self.client.notify("notifications/cancelled", json!({"requestId": id}));
        } else if why != Silence::Interrupted {
            let (step, method, behind) = (self.client.step, "tools/call", None);
            self.done.unanswered.push(Unanswered { step, method, behind, id, why });
        }
    }
}
