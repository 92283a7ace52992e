//! Log messages: their levels, and which a client wants.
//!
//! The eight levels, and what was asked for: for a session with `logging/setLevel`, and from 2026-07-28 on with each
//! request.

use super::elicitation::secrecy;
use super::errors::refuses_params;
use crate::engine::{
    Early, Family, MessageKind, Moment, NO_ORDER, RuleContext, RuleVisitor, SeenMessage, Span, Trigger,
    Violation, per_session, quoted, secret, shown, str_of, text_of,
};
use crate::rule::Rule;
use transcript::json::{Json, JsonKind};
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "logging",
    title: "Log messages",
    rules: &[&ENUM, &MINIMUM, &OPT_IN, &BAD_LEVEL, &SECRETS],
    triggers: &[
        Trigger::Kinds(MessageKind::CALLS),
        Trigger::Methods(&[MessageKind::Notification], &["notifications/message"]),
    ],
    visitor: per_session::<LoggingState>,
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { source: "server/utilities/logging#log-levels", ..Rule::BLANK.server() };

static ENUM: Rule = Rule {
    id: "logging.level-enum",
    title: "A log message has one of the eight levels of syslog",
    why: "Clients sort and filter by it; typed ones refuse a message with another level.",
    fix: "Use debug, info, notice, warning, error, critical, alert or emergency.",
    ..OURS
};

static MINIMUM: Rule = Rule {
    id: "logging.min-level",
    source: "server/utilities/logging#setting-log-level",
    title: "No log message comes below the level that the client asked for",
    why: "The client pays for what it did not want, and may drown in it.",
    fix: "Compare each message with the level before sending it.",
    ..OURS.should()
};

static OPT_IN: Rule = Rule {
    id: "logging.opt-in",
    span: Span::MODERN,
    source: "server/utilities/logging#per-request-log-level",
    title: "Log messages come only for a request that asks for them",
    why: "Clients that did not ask do not expect the message before the answer.",
    fix: "Send `notifications/message` only for requests with `io.modelcontextprotocol/logLevel`.",
    ..OURS
};

static BAD_LEVEL: Rule = Rule {
    id: "logging.bad-level",
    source: "server/utilities/logging#error-handling",
    title: "A level that does not exist is refused with -32602",
    why: "A client that misspells the level hears nothing, and waits for messages that never come.",
    fix: "Answer such a request with the code -32602.",
    ..OURS.should()
};

static SECRETS: Rule = Rule {
    id: "logging.no-secrets",
    source: "server/utilities/logging#security",
    title: "A log message holds no credentials, as far as their form or their names show",
    why: "Clients show log messages, keep them in files, and send them on with reports of errors.",
    fix: "Take keys, tokens and passwords out before the message is sent.",
    ..OURS
};

/// The most values of one message that are looked through for secrets.
const MOST_VALUES: usize = 1_000;

/// The levels, from the least.
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The most open requests that are looked through for each message.
const MOST_OPEN: usize = 1_000;

const META_LEVEL: &str = "io.modelcontextprotocol/logLevel";

#[derive(Default)]
struct LoggingState {
    /// What the client has set.
    minimum: Option<(usize, Moment)>,
    /// Messages below it, by their levels: the client may have asked for them later.
    early: Early<usize>,
    /// A request asked to be logged for.
    request: bool,
}

impl RuleVisitor for LoggingState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            // A log may go on with the next process, which knows nothing of the level.
            MessageKind::Request if message.calls("initialize") => self.minimum = None,
            MessageKind::Request => self.request |= message.meta(META_LEVEL).is_some(),
            MessageKind::Notification if message.calls("notifications/message") => self.logged(message, at),
            MessageKind::Notification => {}
            MessageKind::Result | MessageKind::Error => self.response(message, at),
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.early.never(at);
    }
}

impl LoggingState {
    fn logged(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if let Some(data) = message.param("data") {
            secrets(data, at);
        }
        let level = message.param("level");
        if let Some(level) = level {
            at.check(&ENUM, rank(level).is_some(), || {
                Violation::new(format!("the level is {}", shown(level))).inside(level)
            });
        }
        let rank = level.and_then(rank);
        if at.is_modern() {
            return self.modern(rank, at);
        }
        let (Some((minimum, when)), Some(value), Some(rank)) = (self.minimum, level, rank) else { return };
        match rank >= minimum {
            true => at.pass(&MINIMUM),
            false if at.may_precede(&when) => at.inconclusive(&MINIMUM, NO_ORDER),
            false => self.early.find(&MINIMUM, rank, below(rank, minimum), value, at),
        }
    }

    /// Which request a message is for is shown only by its exchange; over pipes it may be for any that is open.
    fn modern(&self, level: Option<usize>, at: &RuleContext<'_>) {
        if at.pending.count() > MOST_OPEN {
            let why = "more requests are open than are looked through for each message";
            return at.inconclusive(&OPT_IN, why);
        }
        let open = at.pending.open().into_iter().filter(|request| {
            request.side != Some(Side::Server)
                && (at.exchange.is_none() || request.exchange == at.entry.exchange)
        });
        let wanted: Vec<_> = open.filter_map(|request| request.meta(META_LEVEL).map(rank)).collect();
        if wanted.is_empty() {
            if self.request && at.exchange.is_none() {
                let why = "another request asked for it, whose answer may have crossed the message";
                at.inconclusive(&OPT_IN, why);
            } else {
                at.fail_if_complete(&OPT_IN, "a log message comes, and no open request asked for any");
            }
            return;
        }
        at.pass(&OPT_IN);
        if let (Some(minimum), Some(level)) = (wanted.into_iter().flatten().min(), level) {
            at.check(&MINIMUM, level >= minimum, || below(level, minimum));
        }
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(request) = message.request() else { return };
        let set = request.method() == "logging/setLevel";
        let level = match set {
            true => request.param("level"),
            false if self.request => request.meta(META_LEVEL),
            false => None,
        };
        let Some(level) = level.filter(|level| level.kind() == JsonKind::String) else { return };
        if let Some(rank) = rank(level) {
            if set && message.kind == MessageKind::Result {
                self.minimum = Some((rank, at.moment()));
                self.early.came(|level| *level >= rank, at);
            }
            return;
        }
        if at.redacted(level) {
            return at.inconclusive(&BAD_LEVEL, "the recorder took out the level");
        }
        let name = text_of(level).unwrap_or_default();
        let wrong = |how: String| {
            Violation::new(format!("the level {} is answered with {how}", quoted(&name))).of(request)
        };
        match message.error_code() {
            Some(-32602) => at.pass(&BAD_LEVEL),
            // A side without such a method says that first.
            Some(-32601) if !refuses_params(message, request) => {}
            Some(code) => at.fail(&BAD_LEVEL, wrong(format!("the code {code}"))),
            None if message.kind == MessageKind::Result => at.fail(&BAD_LEVEL, wrong("a result".to_owned())),
            None => {}
        }
    }
}

fn secrets(data: Json<'_>, at: &RuleContext<'_>) {
    let mut values = vec![(false, data)];
    let (mut next, mut hidden) = (0, false);
    while let Some((named, value)) = values.get(next).copied() {
        next += 1;
        let text = str_of(value).unwrap_or_default();
        // A member may also say what is wrong with a password: one has a digit, and no blank.
        let named = named
            && text.len() >= 6
            && text.contains(|c: char| c.is_ascii_digit())
            && !text.contains([' ', '*']);
        if at.facts.hides(&text) {
            hidden = true;
        } else if let Some(what) = secret(&text).or(named.then_some("what its name calls a secret")) {
            let wrong = Violation::new(format!("the log message gives away {what}"));
            return at.fail(&SECRETS, wrong.inside(value));
        }
        let room = MOST_VALUES.saturating_sub(values.len());
        let members = value
            .members()
            .map(|(name, value)| (name.to_str().is_some_and(|name| secrecy(&name).is_some()), value));
        values.extend(members.chain(value.items().map(|value| (false, value))).take(room));
    }
    match hidden {
        true => at.inconclusive(&SECRETS, "the recorder took out what may have been a secret"),
        false => at.pass(&SECRETS),
    }
}

fn below(level: usize, minimum: usize) -> String {
    let [level, minimum] = [level, minimum].map(|rank| LEVELS.get(rank).copied().unwrap_or_default());
    format!("a message of level {level}, and the client asked for {minimum}")
}

fn rank(level: Json<'_>) -> Option<usize> {
    let level = level.as_text()?;
    LEVELS.iter().position(|name| level.is(name))
}
