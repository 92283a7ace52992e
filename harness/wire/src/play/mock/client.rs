//! What one client is sent: a request at a time, each as the recording has it, under the client's own ids and tokens.
//!
//! Where the server of the recording asked something in between, the client is asked too, and the rest waits for its answer.

use super::catalogue::{Catalogue, NotFound, Turn, Unit};
use super::forwarding::Forwarding;
use super::{Action, AskLive, Matching, Served, refusal};
use crate::StartError;
use crate::messages::{about, id_span, id_text, is, on_one_line, own_token, span, subscribed, with};
use crate::play::names::FreshIds;
use crate::play::plan::{Mismatch, MismatchKind};
use crate::stdio::{LiveServer, PipeEvent};
use std::collections::HashMap;
use std::time::{Duration, Instant};
use transcript::json::Json;
use transcript::message::Message;

/// One client of a mock.
#[derive(Debug)]
pub(in crate::play) struct MockClient<'c> {
    catalogue: &'c Catalogue<'c>,
    matching: &'c Matching,
    /// How often it asked for what.
    asked: HashMap<u128, usize>,
    /// What waits for an answer of the client.
    jobs: Vec<Job>,
    pub(super) ids: FreshIds,
    pub(in crate::play) live: Forwarding,
    /// The live server, once it was asked something.
    pub(in crate::play) server: Option<LiveServer>,
}

/// A request that is being answered.
#[derive(Debug)]
struct Job {
    unit: usize,
    /// The next turn.
    next: usize,
    tag: u64,
    id: Option<String>,
    token: Option<String>,
    answered: bool,
    /// What the client was asked, by step, with the key and the text of the id.
    open: Vec<(usize, Vec<u8>, String)>,
    since: Instant,
}

impl<'c> MockClient<'c> {
    pub(in crate::play) fn new(catalogue: &'c Catalogue<'c>, matching: &'c Matching) -> Self {
        let (asked, jobs) = (HashMap::new(), Vec::new());
        let (ids, live) = (FreshIds::default(), Forwarding::default());
        Self { catalogue, matching, asked, jobs, ids, live, server: None }
    }

    /// What is to be done for a message of the client, which it sent under this tag; and which recorded message it is.
    pub(in crate::play) fn receive(
        &mut self,
        message: Message<'_>,
        tag: u64,
    ) -> (Vec<Action>, Option<usize>) {
        let mut actions = Vec::new();
        let is_all = matches!(self.matching.live, Some((_, AskLive::All)));
        if message.method().is_none() {
            self.answered(message, &mut actions);
            return (actions, None);
        }
        self.live.see(message);
        if message.id().key().is_none() {
            if let Some(id) = about(message, "notifications/cancelled", "requestId") {
                self.jobs.retain(|job| job.id.as_deref() != Some(id.text()));
            }
            self.live.note(self.catalogue.key(message), message, is_all, &mut actions);
            if !is_all && let Ok(unit) = self.catalogue.find(message, &mut self.asked, false) {
                self.begin(unit, message, tag, &mut actions);
            }
            return (actions, None);
        }
        if is_all {
            self.live.ask(self.catalogue.key(message), message, tag, &mut actions);
            return (actions, None);
        }
        match self.catalogue.find(message, &mut self.asked, self.matching.once) {
            Ok(unit) => {
                self.begin(unit, message, tag, &mut actions);
                return (actions, Some(self.catalogue.units[unit].step));
            }
            // Either side may always ask whether the other is there.
            Err(_) if is(message, "ping") => {
                let id = id_text(message).unwrap_or("null");
                let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
                actions.push(Action::Send { text, about: Some(tag), last: true });
            }
            Err(_) if self.matching.live.is_some() => {
                self.live.ask(self.catalogue.key(message), message, tag, &mut actions);
            }
            Err(NotFound { why, nearest }) => {
                let id = id_text(message).unwrap_or("null").to_owned();
                actions.push(refusal(&id, &why, tag));
                let came = Some(message.text().to_owned());
                actions.push(Action::Report(Mismatch { step: nearest, came, ..Mismatch::protocol(why) }));
            }
        }
        (actions, None)
    }

    /// What is to be done where nothing came for so long.
    pub(in crate::play) fn expire(&mut self, patience: Duration) -> Vec<Action> {
        let mut actions = Vec::new();
        let late = |job: &mut Job| job.since.elapsed() > patience;
        let late: Vec<Job> = self.jobs.extract_if(.., late).collect();
        for mut job in late {
            if let Some(Turn::Await { asked, .. }) = self.unit(&job).turns.get(job.next) {
                let method = self.catalogue.script.message(*asked).and_then(|message| message.method());
                let method = method.map(|method| method.raw()).unwrap_or("a request");
                let why = format!(
                    "the client has not answered {method} for {} s; the recorded answer is sent all the same",
                    patience.as_secs_f64()
                );
                actions.push(Action::Report(Mismatch { step: Some(*asked), ..Mismatch::protocol(why) }));
            }
            job.next += 1;
            self.go_on(job, &mut actions);
        }
        self.live.late(patience, &mut actions);
        actions
    }

    /// Whether nothing waits for an answer.
    pub(in crate::play) fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.live.is_idle()
    }

    fn unit(&self, job: &Job) -> &'c Unit {
        &self.catalogue.units[job.unit]
    }

    fn begin(&mut self, unit: usize, message: Message<'_>, tag: u64, actions: &mut Vec<Action>) {
        let id = id_text(message).map(ToOwned::to_owned);
        let token = own_token(message).map(|token| token.text().to_owned());
        let (open, since) = (Vec::new(), Instant::now());
        let answered = id.is_none();
        self.go_on(Job { unit, next: 0, tag, id, token, answered, open, since }, actions);
    }

    /// Takes the turns of a request up to one that waits for the client.
    fn go_on(&mut self, mut job: Job, actions: &mut Vec<Action>) {
        while let Some(turn) = self.unit(&job).turns.get(job.next) {
            match turn {
                Turn::Await { asked, .. } if job.open.iter().any(|open| open.0 == *asked) => {
                    job.since = Instant::now();
                    self.jobs.push(job);
                    return;
                }
                Turn::Await { .. } => {}
                Turn::Send(step) => {
                    let about = (!job.answered).then_some(job.tag);
                    if let Some(text) = self.outgoing(&mut job, *step) {
                        let last = about.is_some() && job.answered;
                        actions.push(Action::Send { text, about, last });
                    }
                }
            }
            job.next += 1;
        }
    }

    /// A recorded message as this client is to have it; none where the client cannot know of it.
    fn outgoing(&mut self, job: &mut Job, step: usize) -> Option<String> {
        let recorded = self.catalogue.script.message(self.unit(job).step).and_then(id_text);
        let text = self.renamed(job, step)?;
        let own = |id: Json<'_>| job.id.clone().filter(|_| recorded == Some(id.text()));
        Some(subscribed(text.into(), own).into_owned())
    }

    fn renamed(&mut self, job: &mut Job, step: usize) -> Option<String> {
        let message = self.catalogue.script.message(step)?;
        let recorded = self.catalogue.script.message(self.unit(job).step);
        let one_line = |text: &str| on_one_line(text).into_owned();
        if message.method().is_none() {
            let answers = self.catalogue.script.steps.get(step)?.answers;
            job.answered |= answers == Some(self.unit(job).step);
            return Some(one_line(&with(message, id_span(message), job.id.as_deref())));
        }
        if let Some(id) = message.id().key() {
            let text = self.ids.for_client(&id, id_text(message)?);
            let named = with(message, id_span(message), Some(&text)).into_owned();
            let key = Message::parse(&named).ok()?.id().key()?.into_owned();
            job.open.push((step, key, text));
            return Some(one_line(&named));
        }
        if let Some(token) = about(message, "notifications/progress", "progressToken") {
            let of_request = recorded.and_then(own_token).is_some_and(|own| own.text() == token.text());
            if of_request {
                // Who names no token wants no progress.
                let own = job.token.as_deref()?;
                return Some(one_line(&with(message, span(message, token), Some(own))));
            }
        }
        if let Some(id) = about(message, "notifications/cancelled", "requestId") {
            let is_it = |(step, ..): &&(usize, Vec<u8>, String)| {
                self.catalogue.script.message(*step).and_then(id_text) == Some(id.text())
            };
            if let Some((.., name)) = job.open.iter().rev().find(is_it) {
                return Some(one_line(&with(message, span(message, id), Some(name))));
            }
        }
        Some(one_line(message.text()))
    }

    /// Sends this to the live server, which is started for the first message; what is to be done where that fails.
    pub(in crate::play) fn ask_live(
        &mut self,
        text: &str,
        longest: usize,
        hand_on: impl Fn(PipeEvent) + Send + 'static,
        served: &mut Served,
    ) -> Vec<Action> {
        let server = match &mut self.server {
            Some(server) => server,
            none => {
                let command = self.matching.live.as_ref().map(|live| &live.0[..]).unwrap_or_default();
                match LiveServer::start(command, longest, hand_on).map_err(StartError::into_text) {
                    Ok(server) => none.insert(server),
                    Err(why) => return self.live.ended(served.not_started.insert(why)),
                }
            }
        };
        server.send(text);
        Vec::new()
    }

    /// What is to be done for something that the live server did.
    pub(in crate::play) fn heard_live(&mut self, came: PipeEvent) -> Vec<Action> {
        match came {
            PipeEvent::Line(line, _) => self.live.receive(&String::from_utf8_lossy(&line), &mut self.ids),
            PipeEvent::TooLong(bytes) => {
                self.live.ended(&format!("the live server wrote a message of {bytes} bytes"))
            }
            PipeEvent::End(_) => {
                let fate = self.server.as_mut().map(LiveServer::fate).unwrap_or_default();
                self.live.ended(&fate)
            }
            _ => Vec::new(),
        }
    }

    /// Goes on with what waited for an answer of the client.
    fn answered(&mut self, message: Message<'_>, actions: &mut Vec<Action>) {
        let Some(key) = message.id().key() else { return };
        if self.live.answer(&key, message, actions) {
            return;
        }
        let found = self.jobs.iter().position(|job| job.open.iter().any(|open| open.1 == *key));
        if let Some(found) = found {
            let mut job = self.jobs.swap_remove(found);
            job.open.retain(|open| open.1 != *key);
            self.go_on(job, actions);
        } else if !self.ids.given.contains(&*key) {
            let came = Some(message.text().to_owned());
            actions.push(Action::Report(Mismatch { kind: MismatchKind::Unexpected, step: None, came }));
        }
    }
}
