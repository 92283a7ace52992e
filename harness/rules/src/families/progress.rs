//! Progress: tokens and what is reported under them.
//!
//! Which tokens are in use, on which side, and how far each has come; a task keeps its token until it is over. A
//! resumed stream says things again, and an exchange log does not tell when a stream said something. Memory:
//! [`MOST_ACTIVE`] tokens in use, those that were, by `transcript::call_ids` up to [`MOST_FINISHED`], and the last
//! notifications by a fingerprint.

use super::request_ids::{SAME_AGAIN, is_same_again};
use crate::engine::{
    Family, FindingLocation, HeldFinding, MessageKind, Moment, NO_ORDER, PendingRequest, RecentTexts,
    Redelivery, Revision, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, TypedId, UsedIds, Violation,
    per_session, requestor, requestors, shown, text_of,
};
use crate::rule::{Need, Rule};
use foldhash::fast::FixedState;
use std::collections::{HashMap, VecDeque};
use transcript::json::Json;
use transcript::session::{Exchange, Side};

pub(super) const FAMILY: Family = Family {
    name: "progress",
    title: "Progress",
    rules: &[&TYPE, &UNIQUE, &KNOWN, &MONOTONIC, &STOP, &MESSAGE, &DIRECTION],
    triggers: &[
        Trigger::Kinds(MessageKind::CALLS),
        Trigger::Methods(
            &[MessageKind::Notification],
            &["notifications/progress", "notifications/tasks/status"],
        ),
    ],
    visitor: per_session::<ProgressState>,
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { source: "basic/utilities/progress#progress-flow", ..Rule::BLANK };

static TYPE: Rule = Rule {
    id: "progress.token.type",
    title: "A progress token is a string or an integer",
    why: "No other value is sure to come back unchanged, and then the progress belongs to nothing.",
    fix: "Use the request's id or any string as the token.",
    ..OURS
};

static UNIQUE: Rule = Rule {
    id: "progress.token.unique-active",
    relational: true,
    title: "Two open requests of one side do not share a progress token",
    why: "It is not clear which of them the progress belongs to.",
    fix: "Use the request's id as its token.",
    ..OURS
};

static KNOWN: Rule = Rule {
    id: "progress.token.known",
    source: "basic/utilities/progress#behavior-requirements",
    title: "Progress is reported under a token that the other side gave",
    why: "A token that the server made up belongs to nothing; some clients take it for an error and hang up.",
    fix: "Repeat the request's progressToken as it came, and report no progress when there was none.",
    ..OURS
};

static MONOTONIC: Rule = Rule {
    id: "progress.monotonic",
    title: "Progress grows with each notification",
    why: "A bar that stops or goes back looks like a hang, and clients that wait for more give up.",
    fix: "Send a larger value each time, or nothing.",
    ..OURS
};

static STOP: Rule = Rule {
    id: "progress.stop",
    relational: true,
    source: "basic/utilities/progress#implementation-notes",
    title: "No progress comes once the work is done",
    why: "The client has forgotten the token; some take the notification for a fault and end the session.",
    fix: "Stop reporting progress before you send the answer.",
    ..OURS
};

static MESSAGE: Rule = Rule {
    id: "progress.message",
    span: Span::from(Revision::V2025_03_26),
    title: "A progress message says something",
    why: "Clients show it to people in place of what was there before.",
    fix: "Say what is being done, or leave `message` out.",
    ..OURS.should()
};

static DIRECTION: Rule = Rule {
    id: "progress.direction",
    span: Span::MODERN,
    source: "schema, ServerNotification",
    title: "Only servers report progress",
    why: "From 2026-07-28 on servers ask nothing that a client could make progress with.",
    fix: "Send no `notifications/progress` from a client.",
    ..OURS.client()
};

/// The most tokens in use that are remembered.
pub(super) const MOST_ACTIVE: usize = 50_000;

/// The most tokens that were in use that are remembered; those that count up as one.
pub(super) const MOST_FINISHED: usize = 500_000;

/// So often is looked whether that many are.
const BETWEEN: u64 = 1_000;

/// The most tokens that are remembered with the exchange in which their work ended.
const MOST_ENDED: usize = 1_000;

#[derive(Default)]
struct ProgressState {
    redelivery: Redelivery,
    /// By who gave them: client, server, unknown.
    active: [HashMap<Key, Active, FixedState>; 3],
    finished: [UsedIds; 3],
    count: u64,
    /// Some token in use is not remembered.
    loses: bool,
    /// Tokens that were in use are no longer remembered.
    forgets: bool,
    /// The tokens whose work ended last, and the exchanges in which it did.
    ended: VecDeque<(TypedId, Option<u64>)>,
    /// The last notifications.
    message: RecentTexts,
    /// Requests that share a token, of which HTTP may have turned one away; up to [`MOST_ENDED`].
    shared: VecDeque<Shared>,
    /// The tokens of tasks.
    tasks: HashMap<Box<str>, (usize, Key), FixedState>,
}

/// A token, with the exchange that it is good in: a server without sessions has many clients, which may use the same.
type Key = (TypedId, Option<u64>);

/// The exchange that a token is good in.
fn scope(exchange: Option<u64>, at: &RuleContext<'_>) -> Option<u64> {
    exchange.filter(|_| at.exchange.is_some() && !may_be_resumed(at))
}

/// A finding about two requests that share a token: those of them that have no answer yet, by their numbers.
struct Shared {
    open: Vec<u64>,
    held: HeldFinding,
}

/// A token in use.
struct Active {
    /// The request that gave it: its number, and its id.
    request: u64,
    id: Option<TypedId>,
    /// HTTP refused the request, so that it may come again with its token.
    refused: bool,
    last: Option<(f64, Moment)>,
    /// It belongs to a task since the request was answered, which stands there.
    task: Option<Box<FindingLocation>>,
}

impl Active {
    /// The request that uses the token still, if one does: that of a task, or one of this side that is open and was not taken back.
    fn user(&self, at: &RuleContext<'_>) -> Option<FindingLocation> {
        let open = || at.pending.find_id(at.side, self.id.as_ref()?);
        match &self.task {
            Some(task) => Some((**task).clone()),
            None if self.refused => None,
            None => open().filter(|request| request.cancelled.is_none()).map(PendingRequest::location),
        }
    }
}

impl RuleVisitor for ProgressState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Request => self.request(message, at),
            MessageKind::Notification if message.calls("notifications/progress") => {
                self.progress(message, at)
            }
            MessageKind::Notification if message.calls("notifications/tasks/status") => {
                if let Some(params) = message.raw.params() {
                    self.task(params, at);
                }
            }
            MessageKind::Notification => {}
            MessageKind::Result | MessageKind::Error => self.response(message, at),
        }
    }
}

impl ProgressState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(token) = message.meta("progressToken") else { return };
        let key = key_of(token);
        at.check(&TYPE, key.is_some(), || Violation::kind("the token", token));
        let Some(key) = key else { return };
        let Some(number) = at.pending.last_number() else { return };
        let index = requestor(at.side);
        let key = (key, scope(at.entry.exchange, at));
        let again = key.1.is_some() && (self.forgets || !self.finished[index].insert(&key.0));
        let user = self.active[index].get(&key);
        let first = user.filter(|user| user.task.is_none()).map(|user| user.request);
        let before = user.and_then(|user| user.user(at));
        let in_use = |before| {
            let wrong = Violation::new(format!("the token {} is in use", shown(token))).inside(token);
            wrong.see(before, "the request that uses it")
        };
        if at.redacted(token) {
            at.inconclusive(&UNIQUE, "the recorder took out the token");
        } else if at.side.is_none() && before.is_some() {
            at.inconclusive(&UNIQUE, Need::Direction.lack());
        } else if before.is_some() && at.exchange.is_none() && is_same_again(message, at) {
            at.inconclusive(&UNIQUE, SAME_AGAIN);
        } else if before.is_some() && at.exchange.is_none() && at.facts.over_stdio() != Some(true) {
            at.inconclusive(&UNIQUE, MAY_BE_REFUSED);
            // A server without sessions has many clients, and each may give the token.
            if !at.is_modern() && self.shared.len() < MOST_ENDED {
                let open = first.into_iter().chain([number]).collect();
                self.shared.push_back(Shared { open, held: in_use(before).held(&UNIQUE, at) });
            }
        } else if again {
            at.inconclusive(&UNIQUE, "another client may have given the token before");
        } else {
            at.check(&UNIQUE, before.is_none(), || in_use(before));
        }
        if self.active[index].len() >= MOST_ACTIVE {
            self.loses = true;
        } else {
            let id = TypedId::of_message(message.raw.id());
            let refused = at.exchange.is_some_and(Exchange::refused);
            let active = Active { request: number, id, refused, last: None, task: None };
            self.active[index].insert(key, active);
        }
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        for shared in &mut self.shared {
            shared.open.retain(|open| *open != request.number);
        }
        while let Some(place) = self.shared.iter().position(|shared| shared.open.is_empty()) {
            if let Some(shared) = self.shared.remove(place) {
                shared.held.tell(at);
            }
        }
        if matches!(request.method(), "tasks/get" | "tasks/cancel")
            && let Some(result) = message.raw.outcome()
        {
            self.task(result, at);
        }
        let Some(key) = request.meta("progressToken").and_then(key_of) else { return };
        let key = (key, scope(request.exchange, at));
        let index = requestor(request.side);
        let of_this = |active: &&mut Active| active.request == request.number && active.task.is_none();
        let Some(active) = self.active[index].get_mut(&key).filter(of_this) else { return };
        let task = message.raw.outcome().and_then(|result| result.member("task")?.member("taskId"));
        match task.and_then(text_of).filter(|_| message.kind == MessageKind::Result) {
            Some(task) => {
                active.task = Some(Box::new(request.location()));
                if self.tasks.len() < MOST_ACTIVE {
                    self.tasks.insert(task, (index, key));
                }
            }
            None => self.finish(index, &key, at),
        }
    }

    /// A task says how it is.
    fn task(&mut self, task: Json<'_>, at: &RuleContext<'_>) {
        let Some(status) = task.member("status").and_then(text_of) else { return };
        if !matches!(&*status, "completed" | "failed" | "cancelled") {
            return;
        }
        let Some(id) = task.member("taskId").and_then(text_of) else { return };
        if let Some((index, key)) = self.tasks.remove(&id) {
            self.finish(index, &key, at);
        }
    }

    fn finish(&mut self, index: usize, key: &Key, at: &RuleContext<'_>) {
        self.active[index].remove(key);
        self.count += 1;
        if self.count.is_multiple_of(BETWEEN) {
            self.forgets |= self.finished.iter().map(UsedIds::remembered).sum::<usize>() >= MOST_FINISHED;
        }
        if !self.forgets {
            self.finished[index].insert(&key.0);
        }
        if at.entry.exchange.is_none() {
            return;
        }
        if self.ended.len() >= MOST_ENDED {
            self.ended.pop_front();
        }
        self.ended.push_back((key.0.clone(), at.entry.exchange));
    }

    fn progress(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match at.entry.side {
            Some(side) => at.check(&DIRECTION, side == Side::Server, || "a client reports progress"),
            None => at.inconclusive(&DIRECTION, Need::Direction.lack()),
        }
        if let Some(text) = message.param("message").and_then(text_of) {
            at.check(&MESSAGE, !text.trim().is_empty(), || "the message is empty");
        }
        let Some(token) = message.param("progressToken") else { return };
        let Some(key) = key_of(token) else {
            // Who reports has to repeat what was given.
            let mut given = at.pending.open().into_iter().filter_map(|open| open.meta("progressToken"));
            let is_given = given.any(|given| given.text() == token.text());
            return at.check(&TYPE, is_given, || Violation::kind("the token", token));
        };
        let repeated = self.message.again(message.raw.text());
        if self.redelivery.again(at) {
            return;
        }
        if at.redacted(token) {
            return at.inconclusive(&KNOWN, "the recorder took out the token");
        }
        let others = requestors(at.side.map(Side::other));
        let key = (key, scope(at.entry.exchange, at));
        if let Some(&index) = others.iter().find(|&&index| self.active[index].contains_key(&key)) {
            at.pass(&KNOWN);
            at.pass(&STOP);
            if others.iter().any(|&other| other != index && self.active[other].contains_key(&key)) {
                at.inconclusive(&MONOTONIC, "both sides gave this token, and nothing says who reports");
            } else if let Some(active) = self.active[index].get_mut(&key) {
                grows(active, message, repeated, at);
            }
        } else if others.iter().any(|&index| self.finished[index].has(&key.0)) {
            at.pass(&KNOWN);
            self.late(&key.0, token, repeated, at);
        } else if at.exchange.is_some_and(|exchange| exchange.method != "POST") && !at.is_placed() {
            at.inconclusive(&KNOWN, "an exchange log does not tell what was asked before a stream said this");
        } else if let Some(why) = at.may_be_asked_elsewhere() {
            at.inconclusive(&KNOWN, why);
        } else if self.loses || self.forgets {
            at.inconclusive(&KNOWN, "there were more tokens than are remembered");
        } else {
            let wrong = format!("the token {} was never given", shown(token));
            at.fail_if_complete(&KNOWN, Violation::new(wrong).inside(token));
        }
    }

    /// The work is done, and there is progress.
    fn late(&self, key: &TypedId, token: Json<'_>, repeated: bool, at: &RuleContext<'_>) {
        let here =
            |(ended, exchange): &(TypedId, Option<u64>)| ended == key && *exchange == at.entry.exchange;
        if at.exchange.is_some() && !self.ended.iter().any(here) {
            at.inconclusive(&STOP, "an exchange log does not tell when a stream said something");
        } else if repeated && resumes(at) {
            at.inconclusive(&STOP, RESUMED);
        } else {
            let wrong = format!("the request that gave the token {} was answered before", shown(token));
            at.fail(&STOP, Violation::new(wrong).inside(token));
        }
    }
}

const MAY_BE_REFUSED: &str =
    "HTTP may have turned away one of two requests that share a token, as long as it has no answer";

/// Whether the revision has streams that are resumed.
fn may_be_resumed(at: &RuleContext<'_>) -> bool {
    at.revision.is_none_or(Revision::has_handshake)
}

/// Whether what says a thing again may be such a stream, as the answer to a POST is not.
fn resumes(at: &RuleContext<'_>) -> bool {
    may_be_resumed(at) && !at.is_posts_answer()
}

const RESUMED: &str = "a stream that is resumed says things again; a recording with event ids would show it";

fn grows(active: &mut Active, message: &SeenMessage<'_>, repeated: bool, at: &RuleContext<'_>) {
    let Some(value) = message.param("progress") else { return };
    let Some(now) = value.as_number().and_then(|number| number.parse::<f64>().ok()) else { return };
    let Some((before, when)) = active.last else {
        active.last = Some((now, at.moment()));
        return at.pass(&MONOTONIC);
    };
    if now <= before && repeated && resumes(at) && at.facts.over_stdio() != Some(true) {
        return at.inconclusive(&MONOTONIC, RESUMED);
    }
    if now <= before && at.may_precede(&when) {
        return at.inconclusive(&MONOTONIC, NO_ORDER);
    }
    #[expect(clippy::float_cmp, reason = "of two that differ, a double may make one")]
    let alike = now == before && value.text().len() > 15;
    if alike {
        return at.inconclusive(&MONOTONIC, "the two are nearer than a double can tell");
    }
    at.check(&MONOTONIC, now > before, || {
        Violation::new(format!("progress is {} after {before}", shown(value))).inside(value)
    });
    active.last = Some((before.max(now), at.moment()));
}

/// A token as something that can be compared; none where it cannot be one.
fn key_of(token: Json<'_>) -> Option<TypedId> {
    TypedId::new(token).filter(|key| !key.is_fraction())
}
