//! How a session over stdio ended, as far as its trace or the client's log says so.

use super::rules::ANSWERED;
use crate::engine::{EarlyAnswers, PendingRequest, RuleContext, Violation};
use crate::rule::{Level, Party};
use std::collections::BTreeSet;
use transcript::json::Json;
use transcript::session::{ServerEnd, Side};

/// Signals that a program gets for what it did itself.
const OWN: [&str; 7] = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS"];

#[derive(Default)]
pub(super) enum SessionEnd {
    #[default]
    Unknown,
    /// The server failed, with this code if it is known. Its input may have been closed before.
    Failed(Option<i64>),
    /// The server ended by itself, for this reason, while its input was open.
    Server(String),
    /// The client closed the server's input, or the server was sent a signal.
    Asked,
    /// The client could not start it.
    NotStarted,
}

impl From<ServerEnd> for SessionEnd {
    fn from(logged: ServerEnd) -> Self {
        match logged {
            ServerEnd::Asked => Self::Asked,
            ServerEnd::ByItself(code) => Self::Failed(code),
            ServerEnd::NotStarted => Self::NotStarted,
        }
    }
}

impl SessionEnd {
    pub(super) fn new(end: Json<'_>) -> Self {
        let text = |name| end.member(name).and_then(Json::as_text).and_then(|text| text.to_str());
        let code = end.member("exitCode").and_then(|code| code.text().parse().ok());
        match (text("_input").as_deref(), text("_signal")) {
            (Some("open"), Some(signal)) if OWN.contains(&&*signal) => Self::Server(format!("by {signal}")),
            (Some("open"), None) => Self::Server(
                code.map_or("without a code".to_owned(), |code: i64| format!("with the code {code}")),
            ),
            (Some("open" | "closed"), _) => Self::Asked,
            // Past 128 are signals, by which a client may end it.
            _ => code
                .filter(|code| (1..128).contains(code))
                .map_or(Self::Unknown, |code| Self::Failed(Some(code))),
        }
    }

    /// Judges a request that was open then.
    pub(super) fn judge(&self, request: &PendingRequest, at: &RuleContext<'_>) {
        let asked = format!("`{}` with the id {}", request.method(), request.id());
        match self.says(request.side, &asked) {
            Ok(wrong) if !at.facts.late && at.pending.keeps_answer(request) => {
                at.fail(&ANSWERED, wrong.at(request.location()).by(Party::Server));
            }
            Ok(wrong) => at.fail_if_complete(&ANSWERED, wrong.at(request.location()).by(Party::Server)),
            Err(why) => at.inconclusive(&ANSWERED, why),
        }
    }

    /// What it says of a request of this side that was open then.
    fn says(&self, side: Option<Side>, asked: &str) -> Result<Violation<'static>, &'static str> {
        match self {
            _ if side != Some(Side::Client) => Err("the session ended before the answer was due"),
            Self::Server(how) => Ok(Violation::new(format!(
                "{asked} was open when the server ended {how}, although its input was open"
            ))),
            Self::Failed(code) => {
                let how = code.map_or(String::new(), |code| format!(" with the code {code}"));
                let wrong = format!("{asked} was open when the server ended{how}");
                Ok(Violation::new(wrong).only(Level::Should))
            }
            Self::NotStarted => Err("the client could not start the server"),
            Self::Asked => {
                Err("the client closed the server's input, or a signal ended it, before the answer came")
            }
            Self::Unknown => {
                Err("the trace does not say who ended the session; `record` writes it as `_input`")
            }
        }
    }
}

/// The most ids of spoilt messages that are remembered.
pub(super) const MOST_GARBLED: usize = 10_000;

/// The ids of what no reader takes for a message, and of what may answer anything: an answer that is spoilt is an answer.
#[derive(Default)]
pub(super) struct Garbled(BTreeSet<Box<str>>);

impl Garbled {
    pub(super) fn keep(&mut self, id: Json<'_>) {
        if self.0.len() < MOST_GARBLED {
            self.0.insert(id.text().into());
        }
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

/// The ids of answers that are garbled, and the answers that stand before their requests.
type Answers<'a> = (&'a Garbled, &'a EarlyAnswers);

/// The most runs of a server that are judged: each looks at every open request.
const MOST_RUNS: usize = 1_000;

/// The runs of a server that a log tells of: one file may have several.
#[derive(Default)]
pub(super) struct Runs {
    /// How the last one ended, and the first number behind the requests that were open then.
    ended: Option<(SessionEnd, u64)>,
    /// The requests before this one are of runs that were judged.
    next: u64,
    /// How many were.
    judged: usize,
}

impl Runs {
    pub(super) fn ended(&mut self, end: ServerEnd, at: &RuleContext<'_>) {
        if self.judged < MOST_RUNS {
            let next = at.pending.last_number().map_or(0, |last| last + 1);
            self.ended.get_or_insert((end.into(), next));
        }
    }

    /// Judges the run that is over: what the log kept for later has come by now.
    pub(super) fn judge(&mut self, answers: Answers<'_>, at: &RuleContext<'_>) {
        let Some((end, next)) = self.ended.take() else { return };
        self.judged += 1;
        for request in self.due(answers, at).into_iter().filter(|request| request.number < next) {
            end.judge(request, at);
        }
        self.next = next;
    }

    /// The open requests that somebody waits for still; an answer that is garbled or stands too early is an answer.
    pub(super) fn due<'a>(
        &self,
        (garbled, early): Answers<'_>,
        at: &RuleContext<'a>,
    ) -> Vec<&'a PendingRequest> {
        let mut open = at.pending.open();
        let is_answered = |one: &PendingRequest| early.answers(one) || garbled.has(one.id());
        open.retain(|one| one.number >= self.next && is_due(one) && !is_answered(one));
        open
    }
}

/// Whether somebody waits for the answer still. A subscription stays open for as long as both like.
fn is_due(request: &PendingRequest) -> bool {
    request.cancelled.is_none()
        && request.method() != "subscriptions/listen"
        && !request.method().starts_with("notifications/")
}
