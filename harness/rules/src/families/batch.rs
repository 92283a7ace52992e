//! Batches: arrays of messages, which 2025-03-26 has and no later revision.
//!
//! What may stand in one array together, and what came back for it. Memory: the last batch of each side, and the
//! exchanges of [`MOST_BATCHES`].

use crate::engine::{
    Family, FindingLocation, MessageKind, PendingRequest, Report, ResponseMatch, Revision, RuleContext,
    RuleVisitor, SeenMessage, Trigger, Violation,
};
use crate::rule::{Party, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use std::collections::{BTreeMap, BTreeSet};
use transcript::batch;
use transcript::json::Json;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Location, Side};

pub(super) const FAMILY: Family = Family {
    name: "batch",
    title: "Batches",
    rules: &RULES,
    triggers: &[Trigger::All],
    visitor: || Box::new(BatchState::default()),
};

const TEXT: &str = include_str!("batch.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

const UNSUPPORTED: &Rule = named(&RULES, "jsonrpc.batch.unsupported");
const RECEIVABLE: &Rule = named(&RULES, "jsonrpc.batch.receivable");
const NO_INITIALIZE: &Rule = named(&RULES, "jsonrpc.batch.no-initialize");
const HOMOGENEOUS: &Rule = named(&RULES, "jsonrpc.batch.homogeneous");
const NONEMPTY: &Rule = named(&RULES, "jsonrpc.batch.nonempty");
const COVER: &Rule = named(&RULES, "jsonrpc.batch.response-cover");

/// The most exchanges that brought batches that are remembered.
const MOST_BATCHES: usize = 10_000;

#[derive(Default)]
struct BatchState {
    session: u64,
    /// The last batch of each side that nothing came back for yet: the client, the server.
    waiting: [Option<Location>; 2],
    /// `initialize` came in a batch: where.
    initialize: Option<FindingLocation>,
    /// The exchanges whose request was a batch.
    exchanges: BTreeSet<u64>,
}

impl RuleVisitor for BatchState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if at.facts.session != self.session {
            self.cover(at, report);
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        match (at.message, &at.entry.content) {
            (Some(message), _) => self.message(message, at, report),
            (None, Content::Noise(noise))
                if noise.why.code == Code::Batch && noise.why.clause != batch::CLAUSE =>
            {
                if let Ok(list) = Json::parse(&noise.text) {
                    self.batch(list, at, report);
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        self.cover(at, report);
    }
}

impl BatchState {
    fn batch(&mut self, list: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
        let count = list.items().count();
        match at.revision {
            Some(Revision::V2025_03_26) => {}
            None => report.inconclusive(
                UNSUPPORTED,
                at,
                "nothing shows the revision; --spec REVISION would show it",
            ),
            Some(_) => report.fail(UNSUPPORTED, at, format!("an array of {count} messages")),
        }
        let calls = list.items().filter(|item| item.member("method").is_some()).count();
        let answers = list
            .items()
            .filter(|item| item.member("result").is_some() || item.member("error").is_some())
            .count();
        report.check(NONEMPTY, at, count > 0, || "the array is empty");
        let mixed = calls > 0 && answers > 0;
        report.check(HOMOGENEOUS, at, !mixed, || {
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
            if let Some(exchange) = at.entry.exchange
                && self.exchanges.len() < MOST_BATCHES
            {
                self.exchanges.insert(exchange);
            }
        }
    }

    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
        if message.item.is_none() {
            report.pass(UNSUPPORTED, at);
        }
        if message.calls("initialize") && message.kind == MessageKind::Request {
            self.initialize = message.item.map(|_| at.location());
        }
        if message.result_of("initialize").is_some() {
            match self.initialize.take() {
                Some(location) => {
                    let wrong =
                        Violation::new("`initialize` comes in an array").at(location).by(Party::Client);
                    report.fail(NO_INITIALIZE, at, wrong);
                }
                None => report.pass(NO_INITIALIZE, at),
            }
        }
        if matches!(message.kind, MessageKind::Result | MessageKind::Error) {
            self.answer(message, at, report);
        }
    }

    fn answer(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>, report: &mut Report) {
        let Some(asker) = at.side.map(Side::other) else { return };
        let Some(location) = self.waiting[asker as usize] else { return };
        match message.response_match {
            ResponseMatch::Matched(request) if *request.entry_location() == location => {
                report.pass(RECEIVABLE, at);
                self.waiting[asker as usize] = None;
            }
            ResponseMatch::Unmatched if message.kind == MessageKind::Error && !turned_away(at) => {
                let batch = FindingLocation::new(&location, "the batch");
                let wrong =
                    Violation::new("a batch is answered with an error as a whole").see(batch, "the batch");
                report.fail(RECEIVABLE, at, wrong);
                self.waiting[asker as usize] = None;
            }
            _ => {}
        }
    }

    fn cover(&mut self, at: &RuleContext<'_>, report: &mut Report) {
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
                report.pass(COVER, at);
                continue;
            };
            let Some(request) = Some(request).filter(|request| request.cancelled.is_none()) else { continue };
            let wrong = Violation::new(format!("`{}` of a batch is not answered", request.method()));
            report.fail_if_complete(COVER, at, wrong.at(request.location()));
        }
    }
}

/// HTTP refused the exchange for a reason of its own.
fn turned_away(at: &RuleContext<'_>) -> bool {
    at.exchange.and_then(|exchange| exchange.status).is_some_and(|status| matches!(status, 401 | 403 | 404))
}
