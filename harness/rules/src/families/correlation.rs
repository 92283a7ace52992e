//! Answers: to what, with which id, and how often.
//!
//! Ids belong to the side that asked, and a resumed stream says things twice. Memory: the last answers by a fingerprint, and
//! [`end::MOST_GARBLED`] ids.

mod end;
mod rules;

use crate::engine::{
    EarlyAnswers, Family, MessageKind, PendingRequest, RecentTexts, Redelivery, ResponseMatch, Revision,
    RuleContext, RuleVisitor, SeenMessage, SourceLocation, Trigger, Violation, per_session, why_not_whole,
};
use crate::rule::{Level, Need};
use end::{Garbled, Runs, SessionEnd};
use rules::{ANSWERED, DUPLICATE, ERROR_ID_ABSENT, ERROR_ID_NULL, ID_ECHO, ID_MATCH, ID_TYPE, NO_RESPONSE};
use transcript::json::{Json, same_number};
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
    /// What each side said last that the other could have answered: of the client, of the server.
    last: [Option<Last>; 2],
    /// Something came from this side whose id nobody can read, so that an error without an id may be its answer.
    unreadable: [bool; 2],
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
                    let name = message.method.as_deref().unwrap_or_default().into();
                    self.quiet(at);
                    self.heard(at, Some((name, at.source_location())));
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

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>) {
        self.early.never(at);
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

const UNPLACED: &str = "an exchange log does not tell what was asked before a stream said this";
const NO_ID: &str = "the result has no id, and so answers nothing";

impl CorrelationState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match (message.raw.id(), at.side) {
            (Id::Text(_) | Id::Number(_), _) => self.quiet(at),
            (_, Some(side)) => self.unreadable[side as usize] = true,
            (_, None) => self.unreadable = [true; 2],
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
        let Some(side) = at.side else { return };
        self.last[side as usize] = Some(Last { notification, exchange: at.entry.exchange, reported: false });
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
                    && at.facts.over_stdio() != Some(true)
                    && at.revision.is_none_or(Revision::has_handshake)
                    && at.event_id().is_none()
                    && self.answers.has(message.raw.text()) =>
            {
                let why = "a stream that is resumed repeats its answers; an envelope or a HAR with event ids would show it";
                at.inconclusive(&DUPLICATE, why);
            }
            ResponseMatch::AlreadyAnswered | ResponseMatch::Unmatched
                if self.refuses_notification(message, at) => {}
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
                let echoes = self.astray(message, at);
                match message.raw.id() {
                    _ if message.kind != MessageKind::Error || echoes => {}
                    Id::Null => at.fail(&ERROR_ID_NULL, "an error with the id null"),
                    Id::Missing => {
                        let refused = at.exchange.and_then(|exchange| exchange.status) >= Some(400);
                        let wrong = Violation::new("an error without an id");
                        at.fail(&ERROR_ID_ABSENT, if refused { wrong.only(Level::Should) } else { wrong });
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
        let last =
            at.side.and_then(|side| self.last[side.other() as usize].as_ref()).filter(|last| !last.reported);
        let Some((name, location)) = last.and_then(|last| last.notification.as_ref()) else { return false };
        let refuses = message.kind == MessageKind::Error
            && matches!(message.raw.id(), Id::Text(_) | Id::Number(_))
            && at.exchange.is_none()
            && (message.error_code() == Some(-32601) || message.raw.text().contains(&**name));
        if refuses {
            let wrong = format!("the notification `{name}` is answered, with the id {}", shown_id(message));
            at.fail(&NO_RESPONSE, Violation::new(wrong).see(location.location(), "the notification"));
        }
        refuses
    }

    /// A response that answers nothing that was asked; whether what is wrong with its id has been reported.
    fn astray(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
        if matches!(message.raw.id(), Id::Text(_) | Id::Number(_)) {
            self.unasked(message, at);
            return false;
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
        let of_this_exchange = |last: &&Last| at.exchange.is_none() || last.exchange == at.entry.exchange;
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
                // Whether it has an id is then another question.
                return true;
            }
            // It may as well be about the open request, but for its words.
            (Some(Last { notification: Some((name, location)), .. }), Some(_), MessageKind::Error)
                if message.raw.text().contains(&**name) =>
            {
                let wrong = Violation::new(format!("an answer to the notification `{name}`"));
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

    /// A response whose id nobody asked with.
    fn unasked(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
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
        let asked =
            at.exchanges.current().filter(|_| posted.is_some() && at.entry.carrier == Carrier::Response);
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
            Some(_) if !self.garbled.has(shown_id(message)) => {
                let wrong = Violation::new(format!("{wrong}, and what was posted has none that can be read"));
                at.fail(&ID_MATCH, wrong.only(Level::Should));
            }
            Some(_) => {}
            None if at.exchange.is_some() && (posted.is_none() || at.facts.session > 0) => {
                at.inconclusive(&ID_MATCH, UNPLACED);
            }
            None if let Some(why) = at.may_be_asked_elsewhere() => at.inconclusive(&ID_MATCH, why),
            None if self.garbled.has(shown_id(message)) => {}
            None if self.was_unreadable(at) => {
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
                self.early.find(wrong.held(&ID_MATCH, at), at);
            }
        }
    }
}

pub(super) fn is_redacted(message: &SeenMessage<'_>, at: &RuleContext<'_>) -> bool {
    message.raw.id_value().is_some_and(|id| at.redacted(id))
}

pub(super) fn shown_id<'m>(message: &SeenMessage<'m>) -> &'m str {
    message.raw.written_id().unwrap_or("null")
}
