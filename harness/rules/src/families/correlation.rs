//! Answers: to what, with which id, and how often.
//!
//! Ids belong to the side that asked, and a resumed stream says things twice. Memory: the last answers by a fingerprint, and
//! [`end::MOST_GARBLED`] ids, and as many answers as `end` says.

mod end;
mod rules;

use super::batch;
use crate::engine::{
    EarlyAnswers, Family, MessageKind, RecentTexts, Redelivery, ResponseMatch, Revision, RuleContext,
    RuleVisitor, SeenMessage, SourceLocation, Trigger, Violation, per_session, why_not_whole,
};
use crate::rule::{Level, Need};
pub(super) use end::shown_id;
use end::{Garbled, Runs, SessionEnd, Unplaced, unasked};
use rules::{ANSWERED, DUPLICATE, ERROR_ID_ABSENT, ERROR_ID_NULL, ID_ECHO, ID_MATCH, ID_TYPE, NO_RESPONSE};
use std::mem::take;
use transcript::json::Json;
use transcript::message::Id;
use transcript::rejection::Rejection;
use transcript::session::{Carrier, Content, Exchange, Side};

pub(super) const FAMILY: Family = Family {
    name: "correlation",
    title: "Requests and their answers",
    rules: &[
        &ID_MATCH,
        &ID_TYPE,
        &DUPLICATE,
        &ID_ECHO,
        &ERROR_ID_NULL,
        &ERROR_ID_ABSENT,
        &NO_RESPONSE,
        &ANSWERED,
        &rules::ORDER,
    ],
    triggers: &[Trigger::All],
    visitor: per_session::<CorrelationState>,
};

/// The most answers without an id that are looked into: each may be to any of the open requests.
const MOST_ASTRAY: usize = 1_000;

#[derive(Default)]
struct CorrelationState {
    redelivery: Redelivery,
    /// What each side said last that the other could have answered: of the client, of the server, and of nobody knows whom.
    last: [Option<Last>; 3],
    /// The last notification of each.
    notified: [Option<(Box<str>, SourceLocation)>; 3],
    /// Which of them spoke last.
    latest: usize,
    /// Something came from this side whose id nobody can read, so that an error without an id may be its answer.
    unreadable: [bool; 2],
    /// A batch came from this side, and no answer without an id since.
    batched: [bool; 2],
    garbled: Garbled,
    /// The last answers.
    answers: RecentTexts,
    /// How many answers belonged to nothing and had no id.
    astray: usize,
    /// HTTP refused an answer that a client posted, so that it may come again.
    refused: bool,
    end: SessionEnd,
    runs: Runs,
    early: EarlyAnswers,
    unplaced: Unplaced,
}

/// A request or notification, as the other side sees it.
struct Last {
    /// The method and place of a notification; none for a request.
    notification: Option<(Box<str>, SourceLocation)>,
    exchange: Option<u64>,
    /// The other side spoke since, and did not answer it.
    reported: bool,
}

impl RuleVisitor for CorrelationState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        self.early.hear(&rules::ORDER, at);
        match (at.message, &at.entry.content) {
            (Some(message), _) => match message.kind {
                MessageKind::Request => {
                    self.runs.judge((&self.garbled, &self.early), at);
                    self.request(message, at);
                }
                MessageKind::Notification => {
                    let name = message.method.as_deref().unwrap_or_default();
                    let notified = || Some((name.into(), at.source_location()));
                    self.quiet(at);
                    self.heard(at, notified());
                    self.notified[self.latest] = notified();
                }
                MessageKind::Result | MessageKind::Error => self.response(message, at),
            },
            (None, Content::TraceEnd(end)) => self.end = SessionEnd::new(*end),
            (None, Content::Ended(end)) => self.runs.ended(*end, at),
            (None, Content::Noise(noise)) => {
                match at.side {
                    // What answers it does not answer the notification before it.
                    Some(side) => (self.unreadable[side as usize], self.last[side as usize]) = (true, None),
                    None => self.unreadable = [true; 2],
                }
                let members = Json::parse(&noise.text).into_iter().flat_map(Json::members);
                for (_, id) in members.filter(|(name, _)| name.is("id")) {
                    self.garbled.keep(id);
                }
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.unplaced.forget(at);
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        self.early.never(at);
        self.unplaced.judge(&self.garbled, self.unreadable[Side::Client as usize], at);
        if let Some(why) = at.pending.full() {
            at.inconclusive(&ANSWERED, why);
        }
        self.runs.judge((&self.garbled, &self.early), at);
        for request in self.runs.due((&self.garbled, &self.early), at) {
            if at.facts.over_stdio() != Some(true) {
                at.inconclusive(&ANSWERED, "over HTTP a status may have been the answer");
                continue;
            }
            if !at.facts.closed {
                let why =
                    "the recording does not say that the session had ended; a trace with an `end` line would";
                return at.inconclusive(&ANSWERED, why);
            }
            self.end.judge(request, at);
        }
    }
}

const NO_ID: &str = "the result has no id, and so answers nothing";

impl CorrelationState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        self.unplaced.ask(message, at);
        match (message.raw.id(), at.side) {
            (Id::Text(_) | Id::Number(_), _) => self.quiet(at),
            (_, Some(side)) => self.unreadable[side as usize] = true,
            (_, None) => self.unreadable = [true; 2],
        }
        if let Some(side) = at.side.filter(|_| message.item.is_some() || batch::number(at).is_some()) {
            self.batched[side as usize] = true;
        }
        self.heard(at, None);
    }

    /// A side speaks of something else than the other's last notification.
    fn quiet(&mut self, at: &RuleContext<'_>) {
        let Some(other) = at.side.map(Side::other) else { return };
        if let Some(last) = &mut self.last[other as usize]
            && last.notification.is_some()
            && !std::mem::replace(&mut last.reported, true)
        {
            at.pass(&NO_RESPONSE);
        }
    }

    fn heard(&mut self, at: &RuleContext<'_>, notification: Option<(Box<str>, SourceLocation)>) {
        self.latest = at.side.map_or(2, |side| side as usize);
        self.last[self.latest] = Some(Last { notification, exchange: at.entry.exchange, reported: false });
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let again = self.redelivery.again(at);
        // What HTTP says to a GET, PUT or DELETE is not an answer to a message, and its id is that of nothing.
        let posted = at.exchange.is_none_or(|exchange| exchange.method.eq_ignore_ascii_case("POST"));
        if at.entry.carrier == Carrier::Response && !posted {
            return;
        }
        if is_redacted(message, at) {
            for rule in [&ID_MATCH, &ID_TYPE, &DUPLICATE] {
                at.inconclusive(rule, "the recorder took out the id");
            }
            return;
        }
        let is_posted = posted && at.entry.carrier == Carrier::Request;
        self.refused |= is_posted && at.exchange.is_some_and(Exchange::refused);
        let may_repeat = !is_posted || at.exchange.is_none() || self.refused;
        match message.response_match {
            ResponseMatch::NotAResponse => {}
            ResponseMatch::Matched(_) => {
                self.answers.note(message.raw.text());
                self.quiet(at);
                for rule in [&ID_MATCH, &ID_TYPE, &DUPLICATE, &ANSWERED] {
                    at.pass(rule);
                }
                if message.kind == MessageKind::Error {
                    at.pass(&ID_ECHO);
                }
            }
            ResponseMatch::Mistyped(request) => {
                let wrong = format!("the id is {}, and the request's is {}", shown_id(message), request.id());
                at.fail(&ID_TYPE, Violation::new(wrong).of(request).unless_said_by(request.side));
            }
            ResponseMatch::AlreadyAnswered if again => at.pass(&DUPLICATE),
            // Word for word the same: a resumed stream, where nothing shows the events. Over stdio there is none.
            ResponseMatch::AlreadyAnswered
                if may_repeat
                    && !at.is_posts_answer()
                    && !at.is_placed()
                    && at.facts.over_stdio() != Some(true)
                    && at.revision.is_none_or(Revision::has_handshake)
                    && at.event_id().is_none()
                    && self.answers.has(message.raw.text()) =>
            {
                let why = "a stream that is resumed repeats its answers; an envelope or a HAR with event ids would show it";
                at.inconclusive(&DUPLICATE, why);
            }
            ResponseMatch::AlreadyAnswered | ResponseMatch::Unmatched
                // What repeats an answer refuses nothing else.
                if !self.answers.has(message.raw.text()) && self.refuses_notification(message, at) => {}
            ResponseMatch::AlreadyAnswered => {
                let unread = match message.error_code() {
                    Some(-32700) => "; an answer to what cannot be parsed has no id",
                    _ => "",
                };
                let wrong =
                    format!("the request with the id {} was answered before{unread}", shown_id(message));
                at.fail(&DUPLICATE, Violation::new(wrong).unless_said_by(at.side.map(Side::other)));
            }
            ResponseMatch::Ambiguous => at.inconclusive(&ID_MATCH, Need::Direction.lack()),
            ResponseMatch::Unknown => {
                let why = at.pending.full().or(why_not_whole(at.facts)).unwrap_or_default();
                for rule in [&ID_MATCH, &ID_TYPE, &DUPLICATE] {
                    at.inconclusive(rule, why);
                }
                // Its request may come only behind it.
                message.raw.id_value().into_iter().for_each(|id| self.garbled.keep(id));
            }
            ResponseMatch::Unmatched => {
                // An error may refuse a batch as a whole.
                let batched = at.side.is_some_and(|side| take(&mut self.batched[side.other() as usize]));
                let unread = self.was_unreadable(at);
                let echoes = self.astray(message, at);
                match message.raw.id() {
                    _ if message.kind != MessageKind::Error || echoes => {}
                    Id::Null => {
                        let wrong = Violation::new("an error with the id null");
                        let demanded = unread && at.revision < Some(Revision::V2025_11_25);
                        at.fail(&ERROR_ID_NULL, if demanded { wrong.only(Level::Info) } else { wrong });
                    }
                    Id::Missing if batched => {}
                    Id::Missing => {
                        let refused = at.exchange.and_then(|exchange| exchange.status) >= Some(400);
                        let wrong = Violation::new("an error without an id");
                        at.fail(&ERROR_ID_ABSENT, match refused {
                            true => wrong.only(Level::Info),
                            false if unread => wrong.only(Level::Should),
                            false => wrong,
                        });
                    }
                    Id::Text(_) | Id::Number(_) => {}
                }
            }
        }
        if message.kind == MessageKind::Error && matches!(message.raw.id(), Id::Text(_) | Id::Number(_)) {
            at.pass(&ERROR_ID_NULL);
            at.pass(&ERROR_ID_ABSENT);
        }
    }

    fn was_unreadable(&self, at: &RuleContext<'_>) -> bool {
        at.side.map_or(self.unreadable.contains(&true), |side| self.unreadable[side.other() as usize])
    }

    /// Whether an error with an id of nothing open refuses the other side's last notification, which has none: some languages
    /// write 0 then. It names the notification, or says that there is no such method, which an open request would get.
    fn refuses_notification(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
        let last = at.side.map_or(self.latest, |side| side.other() as usize);
        let last = self.last[last].as_ref().filter(|last| !last.reported);
        let Some((name, location)) = last.and_then(|last| last.notification.as_ref()) else { return false };
        let refuses = message.kind == MessageKind::Error
            && matches!(message.raw.id(), Id::Text(_) | Id::Number(_))
            && at.exchange.is_none()
            && (at.side.is_some() && message.error_code() == Some(-32601)
                || message.raw.text().contains(&**name));
        if refuses {
            let wrong = format!("the notification `{name}` is answered, with the id {}", shown_id(message));
            at.fail(&NO_RESPONSE, Violation::new(wrong).see(location.location(), "the notification"));
        }
        refuses
    }

    /// The notification of the other side that an error without an id speaks of, whatever is open. With a status of its own HTTP lets
    /// a server say why it refused one.
    fn named(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) -> Option<&(Box<str>, SourceLocation)> {
        let status = at.exchange.and_then(|exchange| exchange.status);
        let speaks = message.kind == MessageKind::Error && status.is_none_or(|status| status < 400);
        let is_others = |of: usize| at.side.is_none_or(|side| of != side as usize);
        let notified = self.notified.iter().enumerate().filter(|(of, _)| speaks && is_others(*of));
        notified.filter_map(|(_, last)| last.as_ref()).find(|(name, _)| message.raw.text().contains(&**name))
    }

    /// A response that answers nothing that was asked; whether what is wrong with its id has been reported.
    fn astray(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
        if matches!(message.raw.id(), Id::Text(_) | Id::Number(_)) {
            let was_unreadable = self.was_unreadable(at);
            let later = (&mut self.early, &mut self.unplaced);
            unasked(message, at, &self.garbled, was_unreadable, later);
            return false;
        }
        if let Some((name, location)) = self.named(message, at).filter(|_| !self.was_unreadable(at)) {
            let wrong = Violation::new(format!("the notification `{name}` is answered"));
            at.fail(&NO_RESPONSE, wrong.see(location.location(), "the notification"));
            // Whether it has an id is then another question.
            return true;
        }
        let Some(side) = at.side else {
            at.inconclusive(&NO_RESPONSE, Need::Direction.lack());
            if message.kind == MessageKind::Result && !self.was_unreadable(at) {
                at.fail_if_complete(&ID_MATCH, NO_ID);
            }
            return false;
        };
        let other = side.other();
        self.astray += 1;
        if self.unreadable[other as usize] || self.astray > MOST_ASTRAY {
            return false;
        }
        let of_this_exchange =
            |last: &&Last| at.exchange.is_none() || at.is_placed() || last.exchange == at.entry.exchange;
        let last = self.last[other as usize].as_ref().filter(of_this_exchange);
        let status = at.exchange.and_then(|exchange| exchange.status);
        let open = at.pending.open().into_iter().filter(|request| {
            request.side == Some(other) && (at.exchange.is_none() || request.exchange == at.entry.exchange)
        });
        let open = open.max_by_key(|request| request.number);
        match (last, open, message.kind) {
            // HTTP lets a server say why it refused a notification, in an error without an id.
            (Some(Last { notification: Some(_), .. }), None, MessageKind::Error)
                if status.is_some_and(|status| status >= 400) => {}
            (Some(Last { notification: Some(_), .. }), None, MessageKind::Error)
                if message.error_code() == Some(-32700) =>
            {
                let why = "it answers a text that is not JSON, and no recording of messages has that";
                at.inconclusive(&NO_RESPONSE, why);
            }
            (Some(Last { notification: Some((name, location)), .. }), None, _) => {
                let wrong = Violation::new(format!("the notification `{name}` is answered"));
                at.fail(&NO_RESPONSE, wrong.see(location.location(), "the notification"));
                return true;
            }
            (_, Some(request), MessageKind::Error) if request.method() == "server/discover" => {
                let why = format!("nothing shows the revision of the party that answers {}", request.id());
                at.inconclusive(&ID_ECHO, why);
            }
            // What was refused with the mark before it was not parsed, so that its id is not known.
            (_, Some(_), MessageKind::Error)
                if message.error_code() == Some(-32700)
                    && at.exchanges.current().is_some_and(|exchange| exchange.marked) => {}
            (_, Some(request), MessageKind::Error) if status != Some(403) => {
                let wrong = Violation::new(format!(
                    "the error does not have the id {} of the open request",
                    request.id()
                ));
                // HTTP says that the request was refused, and its body may say why without an id.
                let level =
                    if status.is_some_and(|status| status >= 400) { Level::Should } else { Level::Must };
                at.fail(&ID_ECHO, wrong.only(level).of(request));
                return at.revision.is_some_and(|revision| ID_ECHO.span.has(revision));
            }
            (.., MessageKind::Result) => {
                // A POST without requests asks for nothing, whatever is said beside it.
                let posted = at.exchanges.current().filter(|_| at.exchange.is_some());
                let asks = posted.is_none_or(|it| it.reported == 0 || !it.calls.is_empty());
                at.fail_if_complete(if asks { &ID_MATCH } else { &NO_RESPONSE }, NO_ID);
            }
            _ => {}
        }
        false
    }
}

pub(super) fn is_redacted(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    message.raw.id_value().is_some_and(|id| at.redacted(id))
}
