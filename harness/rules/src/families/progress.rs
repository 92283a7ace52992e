//! Progress: tokens and what is told under them.
//!
//! Knows: which tokens are in use, on which side, and how far each has come; a task keeps its token until it is over.
//! A resumed stream says things again, and an exchange log does not tell when a stream said something. Refuses to
//! know: what the work is. Memory: [`MOST_ACTIVE`] tokens in use, those that were, by `transcript::call_ids` up to
//! [`MOST_FINISHED`], and the last notifications by a fingerprint.

use crate::engine::{
    Asked, Found, Mark, Moment, Recent, Redelivery, Revision, Said, Sort, Span, Wrong, shown, text_of,
};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Need, Party, Rule};
use foldhash::fast::FixedState;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use transcript::call_ids::CallIds;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "progress",
    title: "Progress",
    rules: &[&TYPE, &UNIQUE, &KNOWN, &MONOTONIC, &STOP, &MESSAGE, &DIRECTION],
    hears: &[
        Hears::Each(&[Sort::Request, Sort::Result, Sort::Error]),
        Hears::Some(&[Sort::Notification], &["notifications/progress", "notifications/tasks/status"]),
    ],
    watch: || Box::new(Watching::default()),
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { source: "basic/utilities/progress#progress-flow", ..Rule::BLANK };

static TYPE: Rule = Rule {
    id: "progress.token.type",
    title: "A progress token is a string or an integer",
    why: "No other value comes back as it went, so that the progress belongs to nothing.",
    fix: "Use the request's id or any string as the token.",
    ..OURS
};

static UNIQUE: Rule = Rule {
    id: "progress.token.unique-active",
    title: "Two open requests of one side do not share a progress token",
    why: "Nobody can tell which of them the progress is of.",
    fix: "Use the request's id as its token.",
    ..OURS
};

static KNOWN: Rule = Rule {
    id: "progress.token.known",
    source: "basic/utilities/progress#behavior-requirements",
    title: "Progress is told under a token that the other side gave",
    why: "A token that the server made up belongs to nothing; some clients take it for an error and hang up.",
    fix: "Repeat the request's progressToken as it came, and tell no progress where there was none.",
    ..OURS
};

static MONOTONIC: Rule = Rule {
    id: "progress.monotonic",
    title: "Progress grows with each notification",
    why: "A bar that stands still or goes back looks like a hang, and clients that wait for more give up.",
    fix: "Send a larger value each time, or nothing.",
    ..OURS
};

static STOP: Rule = Rule {
    id: "progress.stop",
    source: "basic/utilities/progress#implementation-notes",
    title: "No progress comes once the work is done",
    why: "The client has forgotten the token; some take the notification for a fault and end the session.",
    fix: "Stop all senders of progress before the answer is sent.",
    ..OURS
};

static MESSAGE: Rule = Rule {
    id: "progress.message",
    level: Level::Should,
    span: Span::from(Revision::V2025_03_26),
    title: "A progress message tells something",
    why: "Clients show it to people in place of what was there before.",
    fix: "Say what is being done, or leave `message` out.",
    ..OURS
};

static DIRECTION: Rule = Rule {
    id: "progress.direction",
    party: Party::Client,
    span: Span::MODERN,
    source: "schema, ServerNotification",
    title: "Only servers tell of progress",
    why: "From 2026-07-28 on servers ask nothing that a client could make progress with.",
    fix: "Send no `notifications/progress` from a client.",
    ..OURS
};

/// So many tokens in use are remembered.
pub(super) const MOST_ACTIVE: usize = 50_000;

/// So many tokens that were in use are remembered; those that count up as one.
pub(super) const MOST_FINISHED: usize = 500_000;

/// So often is looked whether that many are.
const BETWEEN: u64 = 1_000;

/// So many tokens are remembered with the exchange in which their work ended.
const MOST_ENDED: usize = 1_000;

#[derive(Default)]
struct Watching {
    session: u64,
    redelivery: Redelivery,
    /// By who gave them: client, server, unknown.
    active: [HashMap<Box<[u8]>, Active, FixedState>; 3],
    finished: [CallIds; 3],
    count: u64,
    /// Some token in use is not remembered.
    loses: bool,
    /// Tokens that were in use are no longer remembered.
    forgets: bool,
    /// The tokens whose work ended last, and the exchanges in which it did.
    ended: VecDeque<(Box<[u8]>, Option<u64>)>,
    /// The last notifications.
    said: Recent,
    /// The tokens of tasks.
    tasks: HashMap<Box<str>, (usize, Box<[u8]>), FixedState>,
}

/// A token in use.
struct Active {
    asked: Mark,
    id: Box<str>,
    last: Option<f64>,
    /// It belongs to a task since the request was answered.
    is_task: bool,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if at.facts.session != self.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(said) = &at.said else { return };
        match said.sort {
            Sort::Request => self.request(said, at, found),
            Sort::Notification if said.calls("notifications/progress") => self.progress(said, at, found),
            Sort::Notification if said.calls("notifications/tasks/status") => {
                if let Some(params) = said.message.params() {
                    self.task(params, at);
                }
            }
            Sort::Notification => {}
            Sort::Result | Sort::Error => self.response(said, at),
        }
    }
}

impl Watching {
    fn request(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(token) = said.meta("progressToken") else { return };
        let Some(key) = token_key(token, at, found) else { return };
        let Some(id) = said.message.json().member("id") else { return };
        let lane = lane(at.side);
        let before = self.active[lane].get(&key);
        let before = before.filter(|before| before.is_task || is_open(&before.id, at));
        if at.facts.redacted(token) {
            found.unsure(&UNIQUE, at, "the recorder took out the token");
        } else if at.side.is_none() && before.is_some() {
            found.unsure(&UNIQUE, at, Need::Direction.lack());
        } else {
            found.check(&UNIQUE, at, before.is_none(), || {
                let wrong = Wrong::of(format!("the token {} is in use", shown(token))).inside(token);
                match before {
                    Some(before) => wrong.see(before.asked.place(), "the request that uses it"),
                    None => wrong,
                }
            });
        }
        if self.active[lane].len() >= MOST_ACTIVE {
            self.loses = true;
        } else {
            let active = Active { asked: at.mark(), id: id.text().into(), last: None, is_task: false };
            self.active[lane].insert(key, active);
        }
    }

    fn response(&mut self, said: &Said<'_>, at: &Moment<'_>) {
        let Some(asked) = said.asked() else { return };
        if matches!(asked.method(), "tasks/get" | "tasks/cancel")
            && let Some(result) = said.message.outcome()
        {
            self.task(result, at);
        }
        let Some(key) = asked.meta("progressToken").and_then(key_of) else { return };
        let lane = lane(asked.side);
        let of_this = |active: &&mut Active| active.id == asked.id && !active.is_task;
        let Some(active) = self.active[lane].get_mut(&key).filter(of_this) else { return };
        let task = said.message.outcome().and_then(|result| result.member("task")?.member("taskId"));
        match task.and_then(text_of).filter(|_| said.sort == Sort::Result) {
            Some(task) => {
                active.is_task = true;
                if self.tasks.len() < MOST_ACTIVE {
                    self.tasks.insert(task, (lane, key));
                }
            }
            None => self.finish(lane, &key, at),
        }
    }

    /// A task says how it is.
    fn task(&mut self, task: Json<'_>, at: &Moment<'_>) {
        let Some(status) = task.member("status").and_then(text_of) else { return };
        if !matches!(&*status, "completed" | "failed" | "cancelled") {
            return;
        }
        let Some(id) = task.member("taskId").and_then(text_of) else { return };
        if let Some((lane, key)) = self.tasks.remove(&id) {
            self.finish(lane, &key, at);
        }
    }

    fn finish(&mut self, lane: usize, key: &[u8], at: &Moment<'_>) {
        self.active[lane].remove(key);
        self.count += 1;
        if self.count.is_multiple_of(BETWEEN) {
            self.forgets |= self.finished.iter().map(CallIds::remembered).sum::<usize>() >= MOST_FINISHED;
        }
        if !self.forgets {
            self.finished[lane].insert(key);
        }
        if at.entry.exchange.is_none() {
            return;
        }
        if self.ended.len() >= MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((key.into(), at.entry.exchange));
    }

    fn progress(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        match at.entry.side {
            Some(side) => found.check(&DIRECTION, at, side == Side::Server, || "a client tells of progress"),
            None => found.unsure(&DIRECTION, at, Need::Direction.lack()),
        }
        if let Some(text) = said.param("message").and_then(text_of) {
            found.check(&MESSAGE, at, !text.trim().is_empty(), || "the message is empty");
        }
        let Some(token) = said.param("progressToken") else { return };
        let Some(key) = token_key(token, at, found) else { return };
        let again = self.redelivery.again(at);
        let repeated = self.said.again(said.message.text());
        if again {
            return;
        }
        if at.facts.redacted(token) {
            return found.unsure(&KNOWN, at, "the recorder took out the token");
        }
        let lanes: &[usize] = match at.side {
            Some(Side::Server) => &[0, 2],
            Some(Side::Client) => &[1, 2],
            None => &[0, 1, 2],
        };
        if let Some(&lane) = lanes.iter().find(|&&lane| self.active[lane].contains_key(&key)) {
            found.held(&KNOWN, at);
            found.held(&STOP, at);
            if let Some(active) = self.active[lane].get_mut(&key) {
                grows(active, said, repeated, at, found);
            }
        } else if lanes.iter().any(|&lane| self.finished[lane].has(&key)) {
            found.held(&KNOWN, at);
            self.late(&key, token, repeated, at, found);
        } else if at.exchange.is_some_and(|exchange| exchange.method != "POST") {
            found.unsure(
                &KNOWN,
                at,
                "an exchange log does not tell what was asked before a stream said this",
            );
        } else if self.loses || self.forgets {
            found.unsure(&KNOWN, at, "there were more tokens than are remembered");
        } else {
            let wrong = format!("the token {} was never given", shown(token));
            found.broke_if_whole(&KNOWN, at, Wrong::of(wrong).inside(token));
        }
    }

    /// The work is done, and there is progress.
    fn late(&self, key: &[u8], token: Json<'_>, repeated: bool, at: &Moment<'_>, found: &mut Found) {
        let here =
            |(ended, exchange): &(Box<[u8]>, Option<u64>)| **ended == *key && *exchange == at.entry.exchange;
        if at.exchange.is_some() && !self.ended.iter().any(here) {
            found.unsure(&STOP, at, "an exchange log does not tell when a stream said something");
        } else if repeated {
            found.unsure(&STOP, at, RESUMED);
        } else {
            let wrong = format!("the request that gave the token {} was answered before", shown(token));
            found.broke(&STOP, at, Wrong::of(wrong).inside(token));
        }
    }
}

const RESUMED: &str = "a stream that is resumed says things again; a recording with event ids would tell";

fn grows(active: &mut Active, said: &Said<'_>, repeated: bool, at: &Moment<'_>, found: &mut Found) {
    let Some(value) = said.param("progress") else { return };
    let Some(now) = value.as_number().and_then(|number| number.parse::<f64>().ok()) else { return };
    let Some(before) = active.last else {
        active.last = Some(now);
        return found.held(&MONOTONIC, at);
    };
    if now <= before && repeated && at.facts.over_stdio() != Some(true) {
        return found.unsure(&MONOTONIC, at, RESUMED);
    }
    found.check(&MONOTONIC, at, now > before, || {
        Wrong::of(format!("progress is {} after {before}", shown(value))).inside(value)
    });
    active.last = Some(before.max(now));
}

/// A token as something that can be compared; none where it cannot be one.
fn token_key(token: Json<'_>, at: &Moment<'_>, found: &mut Found) -> Option<Box<[u8]>> {
    let key = key_of(token);
    found.check(&TYPE, at, key.is_some(), || {
        Wrong::of(format!("the token is {}: {}", token.kind().name(), shown(token))).inside(token)
    });
    key
}

fn key_of(token: Json<'_>) -> Option<Box<[u8]>> {
    let (first, rest) = match token.kind() {
        JsonKind::String => (b's', token.as_text()?.decode()),
        _ => {
            let number = token.as_number().filter(|number| !number.contains(['.', 'e', 'E']))?;
            (b'n', Cow::Borrowed(number.as_bytes()))
        }
    };
    Some([&[first], &*rest].concat().into())
}

/// Whether a request of this side is open still, and was not taken back.
fn is_open(id: &str, at: &Moment<'_>) -> bool {
    let asked: Option<&Asked> = Json::parse(id).ok().and_then(|id| at.ledger.find(at.side, id));
    asked.is_some_and(|asked| asked.cancelled.is_none())
}

fn lane(side: Option<Side>) -> usize {
    match side {
        Some(Side::Client) => 0,
        Some(Side::Server) => 1,
        None => 2,
    }
}
