//! How a session over stdio ended, as far as its trace or the client's log says so, and answers to what nobody asked.

use super::rules::{ANSWERED, ID_MATCH};
use crate::engine::{
    EarlyAnswers, HeldFinding, MessageKind, PendingRequest, RuleContext, SeenMessage, Violation,
};
use crate::rule::{Level, Party};
use std::collections::BTreeSet;
use transcript::json::{Json, same_number};
use transcript::session::{Carrier, ServerEnd, Side};

/// Signals that a program gets for what it did itself.
const OWN: [&str; 7] = ["SIGSEGV", "SIGABRT", "SIGBUS", "SIGILL", "SIGFPE", "SIGTRAP", "SIGSYS"];

/// The most answers of streams that wait for what is posted.
const MOST_UNPLACED: usize = 1_000;

const UNPLACED: &str = "an exchange log does not tell what was asked before a stream said this";

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

/// A response whose id nobody asked with.
pub(super) fn unasked(
    message: &SeenMessage<'_>,
    at: &RuleContext<'_>,
    garbled: &Garbled,
    was_unreadable: bool,
    (early, unplaced): (&mut EarlyAnswers, &mut Unplaced),
) {
    let id = shown_id(message);
    // A number may come back as another program writes it: `1` for `1.0`.
    let is_number = |id: &str| id.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let is_askers = |open: &PendingRequest| at.side.is_none() || open.side != at.side;
    let asked =
        |open: &&PendingRequest| is_askers(open) && is_number(open.id()) && same_number(open.id(), id);
    if is_number(id) && at.pending.open().iter().any(asked) {
        return at.inconclusive(&ID_MATCH, "the id is the number of a request that spells it otherwise");
    }
    let wrong = format!("nothing was asked with the id {id}");
    let posted = at.exchange.filter(|exchange| exchange.method.eq_ignore_ascii_case("POST"));
    // Such an answer belongs to what its own exchange posted, whatever else the recording lacks.
    let asked = at.exchanges.current().filter(|_| posted.is_some() && at.entry.carrier == Carrier::Response);
    // Not every recording says when.
    let ended = posted.filter(|posted| !posted.timed).map(|posted| posted.ended.unwrap_or(i64::MAX));
    let ended = ended.filter(|_| at.entry.carrier == Carrier::Sse);
    match asked {
        Some(asked) if asked.request_lost || !asked.speaks() => {
            at.inconclusive(&ID_MATCH, "what was posted is not in the recording");
        }
        // The refusal of a response, which is none of this revision, repeats its id.
        Some(asked)
            if at.is_modern()
                && message.kind == MessageKind::Error
                && asked.response.as_deref() == Some(id) => {}
        Some(asked) if asked.bad_request.is_none() => at.fail(&ID_MATCH, wrong),
        Some(_) if !garbled.has(shown_id(message)) => {
            let wrong = Violation::new(format!("{wrong}, and what was posted has none that can be read"));
            at.fail(&ID_MATCH, wrong.only(Level::Should));
        }
        Some(_) => {}
        // A stream may have answered what is posted further on: one of HTTP+SSE, or of a POST until it ended.
        None if (at.facts.session == 0 || at.is_placed())
            && unplaced.0.len() < MOST_UNPLACED
            && at.exchanges.current().is_some_and(|current| match ended {
                None => posted.is_none() && current.endpoint.is_some(),
                Some(_) => !current.request_lost,
            }) =>
        {
            let wrong = Violation::new(wrong).unless_said_by(at.side.map(Side::other));
            unplaced.0.push((id.into(), ended, wrong.held(&ID_MATCH, at)));
        }
        None if at.exchange.is_some() && (posted.is_none() || at.facts.session > 0) => {
            at.inconclusive(&ID_MATCH, UNPLACED);
        }
        None if let Some(why) = at.may_be_asked_elsewhere() => at.inconclusive(&ID_MATCH, why),
        None if garbled.has(shown_id(message)) => {}
        None if was_unreadable => {
            at.inconclusive(&ID_MATCH, "a message of the other side could not be read");
        }
        // The file may hold what one side wrote, and nothing else.
        None if at.facts.requests == 0
            || at.side.is_some_and(|side| !at.facts.heard[side.other() as usize]) =>
        {
            let why = "nothing of the other side comes before it; a recording of both would show it";
            at.inconclusive(&ID_MATCH, why);
        }
        None => {
            let wrong = Violation::new(wrong).unless_said_by(at.side.map(Side::other));
            early.find(wrong.held(&ID_MATCH, at), at);
        }
    }
}

/// What streams answered and nobody had asked: the id, and when the stream of a POST ended.
#[derive(Default)]
pub(super) struct Unplaced(Vec<(Box<str>, Option<i64>, HeldFinding)>);

impl Unplaced {
    /// A client asks, maybe while a stream is open that answers it.
    pub(super) fn ask(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.0.retain(|(id, ended, _)| {
            let is_open = ended.zip(at.entry.time).is_some_and(|(ended, now)| now <= ended);
            let answers = is_open && message.raw.written_id() == Some(id) && at.side != Some(Side::Server);
            if answers {
                at.inconclusive(&ID_MATCH, UNPLACED);
            }
            !answers
        });
    }

    /// The recording is over, and with it what could have asked for what a stream said.
    pub(super) fn judge(&mut self, garbled: &Garbled, was_unreadable: bool, at: &RuleContext<'_>) {
        for (id, ended, held) in self.0.drain(..) {
            let asked =
                ended.is_none() && Json::parse(&id).is_ok_and(|id| at.pending.knows(Some(Side::Client), id));
            let may_be = asked || was_unreadable || garbled.has(&id);
            match may_be || at.pending.full().is_some() {
                true => at.inconclusive(&ID_MATCH, UNPLACED),
                false => held.tell(at),
            }
        }
    }

    /// Another session begins, and nobody can tell of which one they are.
    pub(super) fn forget(&self, at: &RuleContext<'_>) {
        if !self.0.is_empty() {
            at.inconclusive(&ID_MATCH, UNPLACED);
        }
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

pub(crate) fn shown_id<'m>(message: &SeenMessage<'m>) -> &'m str {
    message.raw.written_id().unwrap_or("null")
}
