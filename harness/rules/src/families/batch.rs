//! Batches: arrays of messages, which 2025-03-26 has and no later revision.
//!
//! Knows: what may stand in one array together, and what came back for it. Refuses to know: what the messages in it
//! say; each is judged like any other. Memory: the last batch of each side, and the exchanges of [`MOST_BATCHES`].

use crate::engine::{Asked, Bound, Found, Moment, Place, Revision, Said, Sort, Span, Wrong};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Need, Party, Rule};
use std::collections::{BTreeMap, BTreeSet};
use transcript::json::Json;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Location, Side};

pub(super) const FAMILY: Family = Family {
    name: "batch",
    title: "Batches",
    rules: &[&UNSUPPORTED, &RECEIVABLE, &NO_INITIALIZE, &HOMOGENEOUS, &NONEMPTY, &COVER],
    hears: &[Hears::All],
    watch: || Box::new(Watching::default()),
};

/// What most rules of this file have in common.
const OURS: Rule =
    Rule { span: Span::only(Revision::V2025_03_26), source: "basic/index#batching", ..Rule::BLANK };

static UNSUPPORTED: Rule = Rule {
    id: "jsonrpc.batch.unsupported",
    level: Level::Should,
    raised: Some((Revision::V2025_06_18, Level::Must)),
    span: Span::ALL,
    source: "basic/transports#sending-messages-to-the-server; schema, JSONRPCMessage",
    title: "Messages are sent one by one, but for 2025-03-26",
    why: "Receivers of every other revision expect an object, and refuse the whole array.",
    fix: "Send each message by itself.",
    contested: Some("2024-11-05 rests on JSON-RPC, which has batches, and defines none in its schema."),
    ..Rule::BLANK
};

static RECEIVABLE: Rule = Rule {
    id: "jsonrpc.batch.receivable",
    needs: &[Need::Direction],
    title: "A batch is received by whoever speaks 2025-03-26",
    why: "Whoever relies on the revision loses every message of the batch at once.",
    fix: "Take arrays apart and treat each message by itself, or negotiate another revision.",
    ..OURS
};

static NO_INITIALIZE: Rule = Rule {
    id: "jsonrpc.batch.no-initialize",
    party: Party::Client,
    source: "basic/lifecycle#initialization",
    title: "`initialize` is not part of a batch",
    why: "What stands beside it would be said before both sides know how to talk.",
    fix: "Send `initialize` by itself and wait for its answer.",
    ..OURS
};

static HOMOGENEOUS: Rule = Rule {
    id: "jsonrpc.batch.homogeneous",
    source: "basic/transports#sending-messages-to-the-server",
    title: "A batch has requests and notifications, or responses, and not both",
    why: "The schema has no such array, and over HTTP nobody can tell which answer the exchange asks for.",
    fix: "Send answers in a batch of their own.",
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
    level: Level::Should,
    party: Party::Server,
    needs: &[Need::Http],
    source: "basic/transports#sending-messages-to-the-server",
    title: "Every request of a batch is answered in the exchange that brought it",
    why: "The client waits for the rest until it times out.",
    fix: "Answer all requests of the batch before the body or the stream ends.",
    ..OURS
};

/// So many exchanges that brought batches are remembered.
const MOST_BATCHES: usize = 10_000;

#[derive(Default)]
struct Watching {
    session: u64,
    /// The last batch of each side that nothing came back for yet: the client, the server.
    waiting: [Option<Location>; 2],
    /// `initialize` came in a batch: where.
    initialize: Option<Place>,
    /// The exchanges whose request was a batch.
    exchanges: BTreeSet<u64>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if at.facts.session != self.session {
            self.cover(at, found);
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        match (&at.said, &at.entry.content) {
            (Some(said), _) => self.message(said, at, found),
            (None, Content::Noise(noise)) if noise.why.code == Code::Batch => {
                if let Ok(list) = Json::parse(&noise.text) {
                    self.batch(list, at, found);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, at: &Moment<'_>, _rejection: Option<&Rejection>, found: &mut Found) {
        self.cover(at, found);
    }
}

impl Watching {
    fn batch(&mut self, list: Json<'_>, at: &Moment<'_>, found: &mut Found) {
        let count = list.items().count();
        match at.revision {
            Some(Revision::V2025_03_26) => {}
            None => found.unsure(&UNSUPPORTED, at, "nothing shows the revision; --spec REVISION would tell"),
            Some(_) => found.broke(&UNSUPPORTED, at, format!("an array of {count} messages")),
        }
        let calls = list.items().filter(|item| item.member("method").is_some()).count();
        let answers = list
            .items()
            .filter(|item| item.member("result").is_some() || item.member("error").is_some())
            .count();
        found.check(&NONEMPTY, at, count > 0, || "the array is empty");
        let mixed = calls > 0 && answers > 0;
        found.check(&HOMOGENEOUS, at, !mixed, || {
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
            self.waiting[lane(side)] = Some(at.entry.location);
            if let Some(exchange) = at.entry.exchange
                && self.exchanges.len() < MOST_BATCHES
            {
                self.exchanges.insert(exchange);
            }
        }
    }

    fn message(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        if said.item.is_none() {
            found.held(&UNSUPPORTED, at);
        }
        if said.calls("initialize") && said.sort == Sort::Request {
            self.initialize = said.item.map(|_| at.place());
        }
        if said.result_of("initialize").is_some() {
            match self.initialize.take() {
                Some(place) => {
                    let wrong = Wrong::of("`initialize` comes in an array").at(place).by(Party::Client);
                    found.broke(&NO_INITIALIZE, at, wrong);
                }
                None => found.held(&NO_INITIALIZE, at),
            }
        }
        if matches!(said.sort, Sort::Result | Sort::Error) {
            self.answer(said, at, found);
        }
    }

    fn answer(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(asker) = at.side.map(Side::other) else { return };
        let Some(location) = self.waiting[lane(asker)] else { return };
        match said.bound {
            Bound::To(asked) if *asked.location() == location => {
                found.held(&RECEIVABLE, at);
                self.waiting[lane(asker)] = None;
            }
            Bound::Nothing if said.sort == Sort::Error && !turned_away(at) => {
                let batch = Place::of(&location, "the batch");
                let wrong = Wrong::of("a batch is answered with an error as a whole").see(batch, "the batch");
                found.broke(&RECEIVABLE, at, wrong);
                self.waiting[lane(asker)] = None;
            }
            _ => {}
        }
    }

    fn cover(&mut self, at: &Moment<'_>, found: &mut Found) {
        if self.exchanges.is_empty() {
            return;
        }
        // Of each exchange, the first request that is open.
        let mut open: BTreeMap<u64, &Asked> = BTreeMap::new();
        for asked in at.ledger.open() {
            if let Some(exchange) = asked.exchange {
                open.entry(exchange).or_insert(asked);
            }
        }
        for exchange in std::mem::take(&mut self.exchanges) {
            let Some(asked) = open.get(&exchange) else {
                found.held(&COVER, at);
                continue;
            };
            let Some(asked) = Some(asked).filter(|asked| asked.cancelled.is_none()) else { continue };
            let wrong = Wrong::of(format!("`{}` of a batch is not answered", asked.method()));
            found.broke_if_whole(&COVER, at, wrong.at(asked.place()));
        }
    }
}

/// HTTP refused the exchange for a reason of its own.
fn turned_away(at: &Moment<'_>) -> bool {
    at.exchange.and_then(|exchange| exchange.status).is_some_and(|status| matches!(status, 401 | 403 | 404))
}

fn lane(side: Side) -> usize {
    usize::from(side == Side::Server)
}
