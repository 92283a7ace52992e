//! Takes down a session entry by entry. Memory: a row for each tool and method up to a limit, and the open requests.

use super::bounded::{Durations, Names, cut};
use super::fates::{EarlyAnswers, Fate, Fates};
use super::model::{Counts, Findings, Numbers, Open, Overview, Peer, Requests, Unanswered, Unread};
use formats::identify::{Identifier, RevisionSource};
use formats::{Format, ReadOptions, Tolerance, apart, usual_sender};
use transcript::contract::Contract;
use transcript::json::{Json, JsonKind};
use transcript::meaning::{Event, EventKind};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, SinkError};

/// How many different clients and servers are named.
const PEERS: usize = 10;

/// How many unanswered requests are named.
const NAMED: usize = 10;

/// Times before 2000 count from some other moment than the Unix epoch.
const FIRST_DATE: i64 = 946_684_800_000;

/// The members of `_meta` by which the peers of revision 2026-07-28 name themselves.
const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Takes down what a session shows, entry by entry.
#[derive(Default)]
pub struct Collector {
    contract: Contract,
    identifier: Identifier,
    pub(crate) counts: Counts,
    exchanges: Option<u64>,
    clients: Vec<Peer>,
    pub(crate) servers: Vec<Peer>,
    first: Option<i64>,
    last: Option<i64>,
    pub(crate) methods: Table,
    pub(crate) tools: Table,
    /// The tool call that took longest: the milliseconds, the row of its tool, and its line.
    pub(crate) slowest: Option<(u64, usize, u64)>,
    /// Requests, and what becomes of them.
    fates: Fates<Asked>,
    early: EarlyAnswers,
    /// What `read` would end with.
    pub(crate) unread: Option<Unread>,
}

/// What is remembered of a request.
#[derive(Debug)]
struct Asked {
    method: usize,
    tool: Option<usize>,
    time: Option<i64>,
    line: u64,
}

/// Rows of requests with one name.
#[derive(Default)]
pub(crate) struct Table {
    names: Names,
    pub(crate) rows: Vec<(Requests, Durations)>,
}

impl Table {
    fn ask(&mut self, name: &str) -> usize {
        let (row, name) = self.names.row(name);
        if row == self.rows.len() {
            self.rows.push((Requests { name, ..Requests::default() }, Durations::default()));
        }
        self.rows[row].0.numbers.calls += 1;
        self.rows[row].0.numbers.unanswered += 1;
        row
    }

    fn answer(&mut self, row: usize, failed: bool, took: Option<u64>) {
        let (row, durations) = &mut self.rows[row];
        row.numbers.unanswered -= 1;
        row.numbers.failed += u64::from(failed);
        took.into_iter().for_each(|took| durations.add(took));
    }

    fn settle(&mut self, row: usize, fate: Fate) {
        let numbers = &mut self.rows[row].0.numbers;
        match fate {
            Fate::Unanswered => return,
            Fate::Refused => {
                numbers.refused += 1;
                numbers.failed += 1;
            }
            Fate::Cancelled => numbers.cancelled += 1,
            Fate::Settled => {}
        }
        numbers.unanswered -= 1;
    }

    fn finish(self) -> Vec<Requests> {
        let finished = |(row, durations): (Requests, Durations)| {
            let numbers = row.numbers.with(&durations);
            Requests { numbers, ..row }
        };
        self.rows.into_iter().map(finished).collect()
    }
}

impl Numbers {
    /// The same with the times of the answers.
    pub(crate) fn with(self, durations: &Durations) -> Self {
        Self {
            p50_ms: durations.percentile(50),
            p95_ms: durations.percentile(95),
            max_ms: durations.longest(),
            ..self
        }
    }
}

impl Collector {
    /// For a recording in this format.
    pub fn new(format: &Format) -> Self {
        let exchanges = format.carries.exchanges.then_some(0);
        let contract = Contract::by_session();
        Self { contract, identifier: Identifier::new(format), exchanges, ..Self::default() }
    }

    /// Takes the next entry, also one with a fault.
    pub fn take(&mut self, entry: &Entry<'_>) {
        let (time, ended) = match &entry.content {
            Content::Exchange(exchange) => (entry.time, exchange.ended),
            _ => (entry.time, None),
        };
        self.first = self.first.into_iter().chain(time).min();
        self.last = self.last.max(time).max(ended);
        let revision = self.contract.revision(entry);
        // Every fault is tolerated, so that nothing ends this.
        let _ = apart(entry, revision, ReadOptions::new(Tolerance::Faults), &mut |entry| {
            self.one(entry);
            Ok(())
        });
    }

    /// Takes an entry other than a batch, or a batch that should not be one.
    fn one(&mut self, entry: &Entry<'_>) {
        let taken = self.contract.take(entry);
        self.fates.turn_to(self.contract.sessions().current());
        self.fates.see(entry);
        self.early.see(entry);
        match &entry.content {
            Content::Exchange(_) => self.exchanges = self.exchanges.map(|count| count + 1),
            Content::Noise(noise) if !noise.is_reported() => self.refused(entry, &noise.why),
            Content::Missing(body) if body.cut => {
                let (code, clause) = (Code::Truncated, Code::Truncated.clause());
                self.refused(entry, &Refusal { code, clause, at: 0, message: body.to_string() });
            }
            _ => {}
        }
        if let Some(why) = self.contract.shared_id() {
            self.refused(entry, &why);
        }
        match taken {
            Ok(Some(event)) => {
                self.identifier.take(entry, Some(&event));
                self.event(entry, &event);
            }
            Ok(None) => self.identifier.take(entry, None),
            Err(SinkError::Rejected(why)) => self.refused(entry, &why),
            Err(SinkError::Stop) => {}
        }
    }

    fn refused(&mut self, entry: &Entry<'_>, why: &Refusal) {
        self.unread.get_or_insert_with(|| Unread {
            code: why.code.name(),
            clause: why.clause,
            line: entry.location.line,
            pointer: entry.location.pointer(),
            message: why.message.clone(),
        });
    }

    fn event(&mut self, entry: &Entry<'_>, event: &Event<'_>) {
        self.counts.messages += 1;
        let message = &event.message;
        let (methods, tools) = (&mut self.methods, &mut self.tools);
        let answered = self.fates.take(entry, event, || ask(methods, tools, entry, event));
        match event.kind {
            EventKind::Notification => self.counts.notifications += 1,
            EventKind::ToolCall | EventKind::Request => {
                self.counts.requests += 1;
                if let Some(failed) = self.early.answer_to(message)
                    && let Some(asked) = self.fates.answered(event.index)
                {
                    self.counts.orphans -= 1;
                    self.answer(&asked, failed, None);
                }
            }
            EventKind::Result | EventKind::Error => {
                let failed = event.kind == EventKind::Error;
                *if failed { &mut self.counts.errors } else { &mut self.counts.results } += 1;
                let outcome = message.outcome().filter(|_| !failed);
                let is_error = outcome.and_then(|result| result.member("isError"));
                let failed = failed || is_error.is_some_and(|value| value.text() == "true");
                match answered {
                    None => {
                        self.counts.orphans += 1;
                        self.early.keep(entry, message, failed);
                    }
                    Some(asked) => {
                        let took = entry.time.zip(asked.time).map(|(end, start)| end.saturating_sub(start));
                        let took = took.map(|took| u64::try_from(took).unwrap_or_default());
                        self.answer(&asked, failed, took);
                    }
                }
                if let Some(result) = outcome {
                    let meta = result.member("_meta").and_then(|meta| meta.member(META_SERVER));
                    name_peer(&mut self.servers, result.member("serverInfo").or(meta));
                }
            }
        }
        if let Some(params) = message.params() {
            let meta = params.member("_meta").and_then(|meta| meta.member(META_CLIENT));
            let info = params.member("clientInfo").filter(|_| called(message.method(), "initialize"));
            name_peer(&mut self.clients, info.or(meta));
        }
        match event.side.unwrap_or_else(|| sender(event)) {
            Side::Client => self.counts.from_client += 1,
            Side::Server => self.counts.from_server += 1,
        }
    }

    fn answer(&mut self, asked: &Asked, failed: bool, took: Option<u64>) {
        self.methods.answer(asked.method, failed, took);
        let Some(tool) = asked.tool else { return };
        self.tools.answer(tool, failed, took);
        let slower = took.filter(|took| self.slowest.is_none_or(|(most, ..)| *took > most));
        self.slowest = slower.map(|took| (took, tool, asked.line)).or(self.slowest);
    }

    /// Parts what was not answered by what became of it: unanswered, refused, cancelled.
    pub(crate) fn settle(&mut self) -> [Unanswered; 3] {
        let mut by_fate = [(); 3].map(|()| Unanswered::default());
        for (asked, fate, reason) in self.fates.settle() {
            self.methods.settle(asked.method, fate);
            asked.tool.into_iter().for_each(|tool| self.tools.settle(tool, fate));
            let Some(these) = by_fate.get_mut(fate as usize) else { continue };
            these.total += 1;
            if these.first.len() < NAMED {
                let name = |table: &Table, row: usize| table.rows[row].0.name.clone();
                these.first.push(Open {
                    method: name(&self.methods, asked.method),
                    tool: asked.tool.map(|tool| name(&self.tools, tool)),
                    line: asked.line,
                    reason,
                });
            }
        }
        by_fate
    }

    /// What was seen of a recording of this name, without what `check` finds.
    pub(super) fn overview(mut self, file: &str, format: &'static Format) -> Overview {
        let [unanswered, refused, cancelled] = self.settle();
        let found = self.identifier.finish();
        Overview {
            file: file.to_owned(),
            format: format.name,
            transport: found.transport.name(),
            by_hint: matches!(found.revision, Some((_, RevisionSource::Hint))),
            revision: found.revision.map(|(revision, _)| revision),
            clients: self.clients,
            servers: self.servers,
            began: self.first.filter(|first| *first >= FIRST_DATE).map(formats::time::write),
            duration_ms: self.first.zip(self.last).map(|(first, last)| last.abs_diff(first)),
            counts: Counts { exchanges: self.exchanges, ..self.counts },
            methods: self.methods.finish(),
            tools: self.tools.finish(),
            unanswered,
            refused,
            cancelled,
            findings: Findings::default(),
            rejected: self.unread,
            limit: None,
            next: Vec::new(),
        }
    }
}

/// Who sends such a message, where the format does not say: an answer goes the other way than most requests do.
fn sender(event: &Event<'_>) -> Side {
    if event.is_response() { Side::Server } else { usual_sender(&event.message) }
}

/// Counts a request, and says what to remember of it.
fn ask(methods: &mut Table, tools: &mut Table, entry: &Entry<'_>, event: &Event<'_>) -> Asked {
    let message = &event.message;
    let text = |text: Option<std::borrow::Cow<'_, [u8]>>| {
        text.map_or_else(String::new, |text| String::from_utf8_lossy(&text).into_owned())
    };
    let method = methods.ask(&text(message.method().map(|method| method.decode())));
    let tool = (event.kind == EventKind::ToolCall).then(|| {
        let name = message.name().map(|name| match name.as_text() {
            Some(name) => name.decode(),
            None => name.text().as_bytes().into(),
        });
        tools.ask(&text(name))
    });
    Asked { method, tool, time: entry.time, line: entry.location.line }
}

fn called(method: Option<transcript::json::JsonString<'_>>, name: &str) -> bool {
    method.is_some_and(|method| method.is(name))
}

/// Adds what a peer says of itself, unless it was said before.
fn name_peer(peers: &mut Vec<Peer>, info: Option<Json<'_>>) {
    let Some(info) = info.filter(|info| info.kind() == JsonKind::Object) else { return };
    let text = |name: &str| {
        let text = info.member(name)?.as_text()?.decode();
        Some(cut(&String::from_utf8_lossy(&text)))
    };
    let Some(name) = text("name") else { return };
    let peer = Peer { name, version: text("version") };
    if peers.len() < PEERS && !peers.contains(&peer) {
        peers.push(peer);
    }
}
