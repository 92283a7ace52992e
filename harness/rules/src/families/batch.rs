//! Batches: arrays of messages, which 2025-03-26 has and no later revision.
//!
//! What may stand in one array together, and what came back for it. Memory: the last batch of each side, and the
//! exchanges of [`MOST_BATCHES`].

use crate::engine::{
    Family, FindingLocation, MessageKind, NO_REVISION, PendingRequest, ResponseMatch, Revision, RuleContext,
    RuleVisitor, SeenMessage, Span, Trigger, Violation, per_session,
};
use crate::rule::{Level, Need, Party, Rule};
use std::collections::{BTreeMap, BTreeSet};
use transcript::batch;
use transcript::json::{Json, members_around};
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Location, Side};

pub(super) const FAMILY: Family = Family {
    name: "batch",
    title: "Batches",
    rules: &[&UNSUPPORTED, &RECEIVABLE, &NO_INITIALIZE, &HOMOGENEOUS, &NONEMPTY, &COVER],
    triggers: &[Trigger::All],
    visitor: per_session::<BatchState>,
};

/// What most rules of this file have in common.
const OURS: Rule =
    Rule { span: Span::only(Revision::V2025_03_26), source: "basic/index#batching", ..Rule::BLANK };

static UNSUPPORTED: Rule = Rule {
    id: "jsonrpc.batch.unsupported",
    raised: Some((Revision::V2025_06_18, Level::Must)),
    source: "basic/transports#sending-messages-to-the-server; schema, JSONRPCMessage",
    title: "Messages are sent one by one, except in 2025-03-26",
    why: "Receivers of every other revision expect an object, and refuse the whole array.",
    fix: "Send each message by itself.",
    contested: Some("2024-11-05 rests on JSON-RPC, which has batches, but its schema defines none."),
    ..Rule::BLANK.should()
};

static RECEIVABLE: Rule = Rule {
    id: "jsonrpc.batch.receivable",
    needs: &[Need::Direction],
    title: "Each side that speaks 2025-03-26 accepts a batch",
    why: "A sender that relies on the revision loses every message of the batch at once.",
    fix: "Take arrays apart and treat each message by itself, or negotiate another revision.",
    ..OURS
};

static NO_INITIALIZE: Rule = Rule {
    id: "jsonrpc.batch.no-initialize",
    source: "basic/lifecycle#initialization",
    title: "`initialize` is not part of a batch",
    why: "The rest of the batch would be sent before both sides know which revision they speak.",
    fix: "Send `initialize` by itself and wait for its answer.",
    ..OURS.client()
};

static HOMOGENEOUS: Rule = Rule {
    id: "jsonrpc.batch.homogeneous",
    source: "basic/transports#sending-messages-to-the-server",
    title: "A batch has requests and notifications, or responses, but not both",
    why: "The schema has no such array, and over HTTP it is not clear which answer the exchange asks for.",
    fix: "Send responses in a separate batch.",
    ..OURS
};

static NONEMPTY: Rule = Rule {
    id: "jsonrpc.batch.nonempty",
    source: "JSON-RPC 2.0, section 6",
    title: "A batch has at least one message",
    why: "JSON-RPC answers an empty array with an error that belongs to nothing.",
    fix: "Send nothing where there is nothing to say.",
    ..OURS
};

static COVER: Rule = Rule {
    id: "jsonrpc.batch.response-cover",
    needs: &[Need::Http],
    source: "basic/transports#sending-messages-to-the-server",
    title: "Every request of a batch is answered in the exchange that brought it",
    why: "The client waits for the rest until it times out.",
    fix: "Answer all requests of the batch before the body or the stream ends.",
    ..OURS.should().server()
};

/// The most exchanges that brought batches that are remembered.
const MOST_BATCHES: usize = 10_000;

#[derive(Default)]
struct BatchState {
    /// The last batch of each side that nothing came back for yet: the client, the server.
    waiting: [Option<Location>; 2],
    /// The status with which HTTP refused that of the client.
    refused: Option<u16>,
    /// `initialize` came in a batch: where.
    initialize: Option<FindingLocation>,
    /// The exchanges whose request was a batch.
    exchanges: BTreeSet<u64>,
    /// A ping of each side behind the batch that nothing came back for, and its answer.
    later: [Option<(Location, Option<FindingLocation>)>; 2],
    /// The last batch that is recorded as a line for each message: its number, and whether it has calls and answers.
    lines: Option<(Box<str>, [bool; 2])>,
}

impl RuleVisitor for BatchState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        match (at.message, &at.entry.content) {
            (Some(message), _) => self.message(message, at),
            (None, Content::Noise(noise))
                if noise.why.code == Code::Batch && noise.why.clause != batch::CLAUSE =>
            {
                if let Ok(list) = Json::parse(&noise.text) {
                    self.batch(list, at);
                }
            }
            _ => {}
        }
    }

    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let number = number(at);
        let is_single = message.item.is_none() && number.is_none();
        if is_single {
            at.pass(&UNSUPPORTED);
        }
        if is_single
            && message.kind == MessageKind::Request
            && message.calls("ping")
            && let Some(side) = at.side.filter(|side| self.waiting[*side as usize].is_some())
        {
            self.later[side as usize] = Some((at.entry.location, None));
        }
        if message.calls("initialize") && message.kind == MessageKind::Request {
            self.initialize = (!is_single).then(|| at.location());
        }
        if let Some(number) = number {
            self.line(number, message, at);
        }
        if message.result_of("initialize").is_some() {
            let has_batches = at.revision.is_none_or(|revision| revision == Revision::V2025_03_26);
            let rule = if has_batches { &NO_INITIALIZE } else { &UNSUPPORTED };
            at.without(rule, self.initialize.take(), |location| {
                Violation::new("`initialize` comes in an array").at(location).by(Party::Client)
            });
        }
        if matches!(message.kind, MessageKind::Result | MessageKind::Error) {
            self.answer(message, at);
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.unanswered(at);
        self.cover(at);
    }
}

impl BatchState {
    fn batch(&mut self, list: Json<'_>, at: &RuleContext<'_>) {
        let count = list.items().count();
        match at.revision {
            Some(Revision::V2025_03_26) => {}
            // `http.json.single` says so.
            Some(_) if answers_single(at) => {}
            None => at.inconclusive(&UNSUPPORTED, NO_REVISION),
            Some(_) => at.fail(&UNSUPPORTED, format!("an array of {count} messages")),
        }
        let calls = list.items().filter(|item| item.member("method").is_some()).count();
        let answers = list
            .items()
            .filter(|item| item.member("result").is_some() || item.member("error").is_some())
            .count();
        at.check(&NONEMPTY, count > 0, || "the array is empty");
        let mixed = calls > 0 && answers > 0;
        at.check(&HOMOGENEOUS, !mixed, || {
            format!("the array has {calls} requests or notifications and {answers} answers")
        });
        let asks = list.items().any(|item| item.member("method").is_some() && item.member("id").is_some());
        let opens = list.items().any(|item| {
            item.member("method")
                .and_then(|method| method.as_text())
                .is_some_and(|method| method.is("initialize"))
        });
        if let Some(side) = at.side
            && asks
            && !mixed
            && !opens
        {
            self.waiting[side as usize] = Some(at.entry.location);
            self.refused = at.exchange.and_then(|exchange| exchange.status).filter(|status| *status >= 400);
            if let Some(exchange) = at.entry.exchange
                && self.exchanges.len() < MOST_BATCHES
            {
                self.exchanges.insert(exchange);
            }
        }
    }

    /// A message of a batch that is recorded as a line for each message.
    fn line(&mut self, number: &str, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let is_answer = matches!(message.kind, MessageKind::Result | MessageKind::Error);
        let is_first = self.lines.as_ref().is_none_or(|(last, _)| **last != *number);
        if is_first {
            self.lines = Some((number.into(), [false; 2]));
            match at.revision {
                Some(Revision::V2025_03_26) => at.pass(&NONEMPTY),
                None => at.inconclusive(&UNSUPPORTED, NO_REVISION),
                // The revision that it agrees on holds behind it.
                Some(_) if message.result_of("initialize").is_some() => {}
                Some(_) => at.fail(&UNSUPPORTED, "the message comes in an array"),
            }
        }
        let Some((_, kinds)) = &mut self.lines else { return };
        let was_mixed = *kinds == [true; 2];
        kinds[usize::from(is_answer)] = true;
        if *kinds == [true; 2] && !was_mixed {
            at.fail(&HOMOGENEOUS, "the array of this message mixes requests or notifications with answers");
        }
        if message.kind == MessageKind::Request
            && !message.calls("initialize")
            && let Some(waiting) = at.side.map(|side| &mut self.waiting[side as usize])
            && (is_first || waiting.is_none())
        {
            *waiting = Some(at.entry.location);
        }
    }

    fn answer(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let Some(asker) = at.side.map(Side::other) else { return };
        let Some(location) = self.waiting[asker as usize] else { return };
        match (message.response_match, &mut self.later[asker as usize]) {
            (ResponseMatch::Matched(request), Some((ping, answer))) if request.entry_location() == ping => {
                *answer = Some(at.location());
                return;
            }
            _ => {}
        }
        match message.response_match {
            ResponseMatch::Matched(request) if *request.entry_location() == location => {
                at.pass(&RECEIVABLE);
                self.waiting[asker as usize] = None;
            }
            ResponseMatch::Unmatched if message.kind == MessageKind::Error && !turned_away(at) => {
                let batch = FindingLocation::new(&location, "the batch");
                let wrong =
                    Violation::new("a batch is answered with an error as a whole").see(batch, "the batch");
                at.fail(&RECEIVABLE, wrong);
                self.waiting[asker as usize] = None;
                // What is refused as a whole is not also half answered.
                at.entry.exchange.map(|exchange| self.exchanges.remove(&exchange));
            }
            _ => {}
        }
    }

    /// A batch that was passed over: nothing came back for it, and something for a ping behind it.
    fn unanswered(&mut self, at: &RuleContext<'_>) {
        for side in [Side::Client, Side::Server] {
            let (batch, later) = (self.waiting[side as usize].take(), self.later[side as usize].take());
            let (Some(batch), Some((_, Some(answer)))) = (batch, later) else { continue };
            let mut open = at.pending.open().into_iter().filter(|request| request.side == Some(side));
            let Some(request) = open.find(|request| *request.entry_location() == batch) else { continue };
            if request.cancelled.is_some() {
                continue;
            }
            request.exchange.map(|exchange| self.exchanges.remove(&exchange));
            let wrong = match self.refused.filter(|_| side == Side::Client) {
                Some(status) => format!("a batch is refused with {status}, and a later `ping` is answered"),
                None => "a batch is not answered, and a later `ping` is".to_owned(),
            };
            let wrong = Violation::new(wrong)
                .at(request.location())
                .see(answer, "the later answer")
                .by(Party::from(side.other()));
            at.fail_if_complete(&RECEIVABLE, wrong);
        }
    }

    fn cover(&mut self, at: &RuleContext<'_>) {
        if self.exchanges.is_empty() {
            return;
        }
        // Of each exchange, the first request that is open.
        let mut open: BTreeMap<u64, &PendingRequest> = BTreeMap::new();
        for request in at.pending.open() {
            if let Some(exchange) = request.exchange {
                open.entry(exchange).or_insert(request);
            }
        }
        for exchange in std::mem::take(&mut self.exchanges) {
            let Some(request) = open.get(&exchange) else {
                at.pass(&COVER);
                continue;
            };
            let Some(request) = Some(request).filter(|request| request.cancelled.is_none()) else { continue };
            let wrong = Violation::new(format!("`{}` of a batch is not answered", request.method()));
            at.fail_if_complete(&COVER, wrong.at(request.location()));
        }
    }
}

/// The number of the batch that a trace says the message came in: `"batch":7` around it in its line.
pub(super) fn number<'l>(at: &RuleContext<'l>) -> Option<&'l str> {
    let line = at.entry.line.filter(|line| at.facts.recording.kind.trace && line.contains("\"batch\""))?;
    let mut number = None;
    members_around(line, at.text(), |name, value| number = name.is("batch").then(|| value.text()).or(number))
        .ok()?;
    number
}

/// The array is what HTTP answers to requests that did not come in one.
fn answers_single(at: &RuleContext<'_>) -> bool {
    at.entry.carrier == Carrier::Response
        && !at.exchanges.has_targets()
        && at.exchanges.current().is_some_and(|exchange| {
            let is_whole = exchange.raw.media_type == "application/json" && !exchange.raw.is_left();
            exchange.succeeded() && is_whole && !exchange.batch && !exchange.calls.is_empty()
        })
}

/// HTTP refused the exchange for a reason of its own.
fn turned_away(at: &RuleContext<'_>) -> bool {
    at.exchange.and_then(|exchange| exchange.status).is_some_and(|status| matches!(status, 401 | 403 | 404))
}
