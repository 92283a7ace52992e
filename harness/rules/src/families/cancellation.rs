//! Cancellation: what may be taken back, and what becomes of it.
//!
//! Knows: that a cancellation and an answer may cross; a late answer is told of where it was plainly sent afterwards.
//! Refuses to know: cancelling by closing a stream, and what a server of 2026-07-28 cancels; those have families of
//! their own. Memory: [`MOST_TASKS`] requests that became tasks.

use crate::engine::{Asked, Found, Moment, Revision, Said, Sort, Span, Wrong, shown, text_of};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Rule};
use std::collections::BTreeSet;
use transcript::json::Json;
use transcript::rejection::Rejection;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "cancellation",
    title: "Cancellation",
    rules: &[&KNOWN, &INFLIGHT, &LATE, &TASKS],
    hears: &[
        Hears::Some(&[Sort::Notification], &["notifications/cancelled"]),
        Hears::Each(&[Sort::Result, Sort::Error]),
    ],
    watch: || Box::new(Watching::default()),
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { source: "basic/utilities/cancellation#behavior-requirements", ..Rule::BLANK };

static KNOWN: Rule = Rule {
    id: "cancel.known",
    title: "A side cancels requests that it made itself",
    why: "The receiver finds no such request and goes on; what was to be stopped is not.",
    fix: "Put the id of your own request into requestId, with its type.",
    ..OURS
};

static INFLIGHT: Rule = Rule {
    id: "cancel.inflight",
    level: Level::Info,
    title: "A request is cancelled while it is open",
    why: "The cancellation may have crossed the answer, which is allowed; often a client cancels whatever it has done.",
    fix: "Nothing where they crossed; else forget a request when its answer comes.",
    ..OURS
};

static LATE: Rule = Rule {
    id: "cancel.no-late-response",
    level: Level::Should,
    span: Span::SESSIONS,
    title: "A cancelled request is not answered any more",
    why: "The caller has forgotten it, and some clients take the answer for one that belongs to nothing.",
    fix: "Drop the answer, also an error that says that the request was cancelled.",
    contested: Some(
        "From 2026-07-28 on one page forbids every further message, and another advises against one.",
    ),
    ..OURS
};

static TASKS: Rule = Rule {
    id: "cancel.tasks",
    span: Span::only(Revision::V2025_11_25),
    title: "A task is cancelled with `tasks/cancel`",
    why: "The request is over when the task begins: the notification cancels nothing, and the task runs on.",
    fix: "Send `tasks/cancel` with the taskId.",
    ..OURS
};

/// So many requests that became tasks are remembered.
const MOST_TASKS: usize = 10_000;

/// An answer that comes so long after the cancellation did not cross it, in milliseconds.
const CROSSING: i64 = 1_000;

#[derive(Default)]
struct Watching {
    session: u64,
    /// Who asked, and the id.
    tasks: BTreeSet<(bool, Box<str>)>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if at.facts.session != self.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(said) = &at.said else { return };
        match said.sort {
            Sort::Notification if said.calls("notifications/cancelled") => self.cancelled(said, at, found),
            Sort::Result | Sort::Error => self.response(said, at, found),
            _ => {}
        }
    }

    fn end(&mut self, at: &Moment<'_>, _rejection: Option<&Rejection>, found: &mut Found) {
        if at.facts.closed {
            for _ in at.ledger.open().into_iter().filter(|asked| asked.cancelled.is_some()) {
                found.held(&LATE, at);
            }
        }
    }
}

impl Watching {
    fn cancelled(&self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let modern = at.revision.is_some_and(|revision| !revision.has_handshake());
        if modern && at.side == Some(Side::Server) {
            return;
        }
        let Some(id) = said.param("requestId") else { return };
        if at.facts.redacted(id) {
            return found.unsure(&KNOWN, at, "the recorder took out the id");
        }
        if let Some(asked) = at.ledger.find(at.side, id) {
            found.held(&KNOWN, at);
            found.held(&INFLIGHT, at);
            let task = asked.param("task");
            return found.check(&TASKS, at, task.is_none(), || as_task(id, Some(asked)));
        }
        if at.side.is_some_and(|side| self.tasks.contains(&(side == Side::Server, id.text().into()))) {
            return found.broke(&TASKS, at, as_task(id, None));
        }
        if at.ledger.knows(at.side, id) {
            found.held(&KNOWN, at);
            if at.exchange.is_some() {
                // The answer stands in the exchange of its request, however long it took.
                found.unsure(&INFLIGHT, at, "an exchange log does not tell which of the two came first");
            } else {
                let wrong = format!("the request {} was answered before", shown(id));
                found.broke(&INFLIGHT, at, Wrong::of(wrong).inside(id));
            }
            return;
        }
        let wrong = Wrong::of(format!("this side made no request with the id {}", shown(id)));
        found.broke_if_whole(&KNOWN, at, wrong.inside(id));
    }

    fn response(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(asked) = said.asked() else { return };
        let task = said.message.outcome().and_then(|result| result.member("task")?.member("taskId"));
        if task.is_some()
            && asked.param("task").is_some()
            && let Some(side) = asked.side
            && self.tasks.len() < MOST_TASKS
        {
            self.tasks.insert((side == Side::Server, asked.id.clone()));
        }
        let Some((place, cancelled)) = asked.cancelled.as_deref() else { return };
        let says_so = said
            .error()
            .and_then(|error| text_of(error.member("message")?))
            .is_some_and(|message| message.to_ascii_lowercase().contains("cancel"));
        let after = cancelled.zip(at.entry.time).map(|(cancelled, now)| now.saturating_sub(cancelled));
        if says_so || after.is_some_and(|after| after >= CROSSING) {
            let wrong = Wrong::of(format!("the answer to `{}`, which was cancelled", asked.method()));
            found.broke(&LATE, at, wrong.see(place.clone(), "the cancellation"));
        } else {
            found.unsure(&LATE, at, "the answer and the cancellation may have crossed");
        }
    }
}

fn as_task<'m>(id: Json<'m>, asked: Option<&Asked>) -> Wrong<'m> {
    let wrong = Wrong::of(format!("the request {} became a task", shown(id))).inside(id);
    match asked {
        Some(asked) => wrong.see(asked.place(), "the request"),
        None => wrong,
    }
}
