//! Cancellation: what may be taken back, and what becomes of it.
//!
//! A cancellation and an answer may cross; a late answer is reported where it was plainly sent afterwards. Over HTTP a
//! cancellation may also overtake its request, which has a connection of its own. Memory: [`MOST_TASKS`] requests that became
//! tasks, the last [`MOST_ANSWERS`] answers, and cancellations of what was not asked yet as [`Early`] says.

use crate::engine::{
    CROSSING, Early, Family, MessageKind, PendingRequest, Revision, RuleContext, RuleVisitor, SeenMessage,
    Span, Trigger, TypedId, Violation, per_session, requestor, requestors, shown, text_of,
};
use crate::rule::{Level, Rule};
use crate::shapes::Typed;
use std::collections::{BTreeSet, VecDeque};
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "cancellation",
    title: "Cancellation",
    rules: &[&KNOWN, &INFLIGHT, &LATE, &TASKS, &NAMED],
    triggers: &[
        Trigger::Methods(&[MessageKind::Notification], &["notifications/cancelled"]),
        Trigger::Kinds(MessageKind::CALLS),
    ],
    visitor: per_session::<CancellationState>,
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { source: "basic/utilities/cancellation#behavior-requirements", ..Rule::BLANK };

static KNOWN: Rule = Rule {
    id: "cancel.known",
    title: "A side cancels requests that it made itself",
    why: "The receiver finds no such request, and the one that should stop continues.",
    fix: "Put the id of your own request into requestId, with its type.",
    ..OURS
};

static INFLIGHT: Rule = Rule {
    id: "cancel.inflight",
    title: "A request is cancelled while it is open",
    why: "The cancellation may have crossed the answer, which is allowed; often a client cancels whatever it has done.",
    fix: "Nothing if they crossed; otherwise forget a request when its answer comes.",
    ..OURS.info()
};

static LATE: Rule = Rule {
    id: "cancel.no-late-response",
    span: Span::SESSIONS,
    title: "A cancelled request is no longer answered",
    why: "The caller has forgotten it, and some clients report the answer as unexpected.",
    fix: "Drop the answer, including an error that says the request was cancelled.",
    softened: Some(
        "a note where the answer does not say that the request was cancelled: what cannot be cancelled may be answered",
    ),
    ..OURS.should()
};

static TASKS: Rule = Rule {
    id: "cancel.tasks",
    span: Span::only(Revision::V2025_11_25),
    title: "A task is cancelled with `tasks/cancel`",
    why: "The request is over when the task begins: the notification cancels nothing, and the task runs on.",
    fix: "Send `tasks/cancel` with the taskId.",
    ..OURS
};

static NAMED: Rule = Rule {
    id: "cancel.request-id",
    span: Span::only(Revision::V2025_11_25),
    source: "schema, CancelledNotificationParams",
    title: "A cancellation names its request in `requestId`",
    why: "The schema of this revision makes it optional, but without it the receiver does not know what to stop.",
    fix: "Put the id of the request into `requestId`; for a task send `tasks/cancel` instead.",
    ..OURS
};

/// The most requests that became tasks that are remembered.
const MOST_TASKS: usize = 10_000;

/// The most answers that are remembered, of those that what comes now may have crossed.
const MOST_ANSWERS: usize = 1_000;

/// An answer that comes so long after the cancellation did not cross it, in milliseconds.
const PLAINLY_LATE: i64 = 1_000;

static ID: Typed = Typed::new("notifications/cancelled>", "requestId");

type Answered = (Option<Side>, TypedId, i64);

#[derive(Default)]
struct CancellationState {
    /// Who asked, and the id.
    tasks: BTreeSet<(bool, Box<str>)>,
    /// Who had asked what was answered within [`CROSSING`], the id, and when.
    answered: VecDeque<Answered>,
    /// Over HTTP, of requests that were not seen yet.
    early: Early<(Option<Side>, TypedId)>,
}

impl RuleVisitor for CancellationState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Notification if message.calls("notifications/cancelled") => {
                self.cancelled(message, at)
            }
            MessageKind::Request => self.asked(message, at),
            MessageKind::Result | MessageKind::Error => self.response(message, at),
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.early.never(at);
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        self.over(at);
        if at.facts.closed {
            for _ in at.pending.open().into_iter().filter(|request| request.cancelled.is_some()) {
                at.pass(&LATE);
            }
        }
    }
}

impl CancellationState {
    fn cancelled(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let modern = at.is_modern();
        if modern && at.side == Some(Side::Server) {
            return;
        }
        let Some(id) = message.param("requestId") else {
            return match message.raw.params() {
                Some(params) if params.kind() != JsonKind::Object => {
                    at.inconclusive(&NAMED, "the recorder took out what was cancelled");
                }
                _ => at.fail(&NAMED, "the notification has no `requestId`"),
            };
        };
        at.pass(&NAMED);
        if ID.fault(id, at.revision).is_some() {
            return;
        }
        if at.redacted(id) {
            return at.inconclusive(&KNOWN, "the recorder took out the id");
        }
        if let Some(request) = at.pending.find(at.side, id) {
            at.pass(&KNOWN);
            at.pass(&INFLIGHT);
            let task = request.param("task");
            return at.check(&TASKS, task.is_none(), || as_task(id, Some(request)));
        }
        if at.side.is_some_and(|side| self.tasks.contains(&(side == Side::Server, id.text().into()))) {
            return at.fail(&TASKS, as_task(id, None));
        }
        if at.pending.knows(at.side, id) {
            at.pass(&KNOWN);
            if at.exchange.is_some() {
                // The answer stands in the exchange of its request, however long it took.
                at.inconclusive(&INFLIGHT, "an exchange log does not tell which of the two came first");
            } else if self.may_have_crossed(id, at) {
                at.inconclusive(&INFLIGHT, "the cancellation and the answer may have crossed");
            } else {
                let wrong = format!("the request {} was answered before", shown(id));
                at.fail(&INFLIGHT, Violation::new(wrong).inside(id));
            }
            return;
        }
        let wrong = format!("this side made no request with the id {}", shown(id));
        match TypedId::new(id) {
            Some(key) => self.early.find(&KNOWN, (at.side, key), wrong, id, at),
            None => at.fail_if_complete(&KNOWN, Violation::new(wrong).inside(id)),
        }
    }

    /// Whether the answer to what is cancelled came so shortly before that who cancels may not have had it.
    fn may_have_crossed(&mut self, id: Json<'_>, at: &RuleContext<'_>) -> bool {
        self.forget(at);
        let is_its = |(side, answered, _): &Answered| {
            requestors(at.side).contains(&requestor(*side)) && TypedId::new(id).as_ref() == Some(answered)
        };
        at.entry.time.is_none() || self.answered.len() >= MOST_ANSWERS || self.answered.iter().any(is_its)
    }

    /// Forgets the answers that nothing crosses any more.
    fn forget(&mut self, at: &RuleContext<'_>) {
        let is_old =
            |(.., time): &mut Answered| at.entry.time.is_none_or(|now| now.saturating_sub(*time) > CROSSING);
        while self.answered.pop_front_if(is_old).is_some() {}
    }

    /// A request that was cancelled before it, as it seems: each has a connection of its own, and nothing tells which of them the
    /// client used first.
    fn asked(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(id) = TypedId::of_message(message.raw.id()) else { return };
        let is = |(side, early): &(Option<Side>, TypedId)| {
            *early == id && requestors(*side).contains(&requestor(at.side))
        };
        self.early.came(is, at);
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        self.forget(at);
        if let (Some(id), Some(time)) = (TypedId::of_message(message.raw.id()), at.entry.time)
            && self.answered.len() < MOST_ANSWERS
        {
            self.answered.push_back((request.side, id, time));
        }
        let task = message.raw.outcome().and_then(|result| result.member("task")?.member("taskId"));
        if task.is_some()
            && request.param("task").is_some()
            && let Some(side) = request.side
            && self.tasks.len() < MOST_TASKS
        {
            self.tasks.insert((side == Side::Server, request.id().into()));
        }
        let Some((location, cancelled)) = request.cancelled.as_deref() else { return };
        let says_so = message
            .error()
            .and_then(|error| text_of(error.member("message")?))
            .is_some_and(|message| message.to_ascii_lowercase().contains("cancel"));
        let after = cancelled.zip(at.entry.time).map(|(cancelled, now)| now.saturating_sub(cancelled));
        if says_so || after.is_some_and(|after| after >= PLAINLY_LATE) {
            let wrong = Violation::new(format!("`{}` was cancelled, and is answered", request.method()));
            let wrong = wrong.see(location.clone(), "the cancellation");
            at.fail(&LATE, if says_so { wrong } else { wrong.only(Level::Info) });
        } else {
            at.inconclusive(&LATE, "the answer and the cancellation may have crossed");
        }
    }
}

fn as_task<'m>(id: Json<'m>, request: Option<&PendingRequest>) -> Violation<'m> {
    Violation::new(format!("the request {} became a task", shown(id))).inside(id).of(request)
}
