//! The pass over a capture that gathers signs and counts.

use super::counts::{Counts, Open, current, is_connection, is_stream};
use super::evidence::EvidenceLocation;
use super::finding::Identification;
use super::signs::Signs;
use crate::detect::detect;
use crate::foreign::{Protocols, named_version};
use crate::format::{Format, ReadOptions};
use crate::input::{Input, ReadError};
use crate::reading::{Step, walk};
use crate::transport::{self, MARK, Transport};
use crate::url::{announced, normal};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use transcript::json::{Json, JsonKind};
use transcript::meaning::{self, Event};
use transcript::session::{Carrier, Content, Entry, Exchange, Headers, Location, Side, Sse, header};

/// How many requests whose answer would settle something are waited for at a time.
const WAITING: usize = 4096;

/// How many announced endpoints are remembered, and how long one may be.
const ENDPOINTS: usize = 64;
const LONGEST_URL: usize = 4096;

/// How many exchanges are followed while their answers come in between others.
const OPEN: usize = 1_000;

/// Identifies a capture in a single pass.
///
/// # Errors
/// As [`walk`].
pub fn identify(format: &Format, input: &mut Input<'_>) -> Result<Identification, ReadError> {
    let mut identifier = Identifier::new(format);
    let totals = walk(format, input, ReadOptions::BY_SESSION, &mut |step| {
        match step {
            Step::Event(entry, event) => identifier.take(entry, Some(event)),
            Step::Context(entry) => identifier.take(entry, None),
        }
        Ok(())
    })?;
    Ok(Identification { missing: totals.missing, coded: totals.coded, ..identifier.finish() })
}

/// Detects the format of a recording and identifies it, as the JSON object; none where no format fits.
///
/// # Errors
/// As [`walk`].
pub fn identify_any(reader: &mut dyn Read) -> Result<Option<String>, ReadError> {
    let mut input = Input::new(reader)?;
    let Some(format) = detect(&mut input)? else { return Ok(None) };
    Ok(Some(identify(format, &mut input)?.to_json(format)))
}

/// Gathers signs entry by entry. Memory: the first of each kind and counts; beside them the requests that wait
/// for the answer that grants what they name, up to a limit, and streams that are open.
#[derive(Debug, Default)]
pub struct Identifier {
    /// What the capture calls itself, where its format is one of a transport.
    label: Option<Transport>,
    http: bool,
    sse: bool,
    /// Where an exchange has the headers of its request and of its answer.
    parts: [&'static str; 2],
    /// The same of a single message.
    contexts: [&'static str; 2],
    signs: Signs,
    counts: Counts,
    requests: u64,
    sse_events: u64,
    messages: u64,
    /// The exchanges of which more may come, the last of them last.
    open: Vec<Open>,
    protocols: Protocols,
    announced: Vec<String>,
    /// How servers answer POSTs, by their URLs: as JSON, and on an event stream.
    modes: Vec<(String, [bool; 2])>,
    /// Requests that name a version, by event, with the version's number.
    wishes: HashMap<u64, usize>,
    initializes: HashSet<u64>,
}

impl Identifier {
    /// Begins with a capture in this format.
    #[must_use]
    pub fn new(format: &Format) -> Self {
        let parts = match format.messages {
            [[_], ..] => ["/requestHeaders", "/responseHeaders"],
            _ => ["/request/headers", "/response/headers"],
        };
        Self {
            label: format.transport,
            http: format.carries.http,
            sse: format.carries.sse,
            parts,
            contexts: if format.transport.is_some() { ["/transport_context/headers"; 2] } else { parts },
            ..Self::default()
        }
    }

    /// Takes the next entry, and the event that it means, if any.
    pub fn take(&mut self, entry: &Entry<'_>, event: Option<&Event<'_>>) {
        match &entry.content {
            Content::Exchange(exchange) => self.exchange(exchange, entry),
            Content::MadeUp(what) => {
                self.label = None;
                self.signs.made_up.get_or_insert((*what, EvidenceLocation::new(&entry.location, None)));
                return;
            }
            Content::ExchangeEnd => self.close(|open| open.number == entry.exchange),
            Content::TraceStart(meta) => self.opened(*meta, &entry.location),
            Content::Envelope | Content::Message(_) | Content::Event | Content::Empty => {}
            _ => return,
        }
        if let Some(context) = entry.context {
            let tail = match entry.content {
                Content::Envelope => "/headers",
                _ => self.contexts[usize::from(entry.carrier != Carrier::Request)],
            };
            let legacy = self.label == Some(Transport::HttpSse) || self.signs.may_be_legacy();
            self.headers(&context.headers, &entry.location, tail, legacy);
        }
        if let Some(sse) = &entry.sse {
            self.event(sse, entry);
        }
        if let Some(event) = event {
            self.message(event, entry);
        }
    }

    fn exchange(&mut self, exchange: &Exchange<'_>, entry: &Entry<'_>) {
        self.close(|open| !open.timed);
        let ending = self.counts.take(exchange, entry.time);
        let post = exchange.method.eq_ignore_ascii_case("POST");
        let fine = exchange.status.is_some_and(|status| status < 400);
        if post && is_stream(exchange) {
            self.signs.streamed.add(&entry.location, None);
        }
        let announced = self.announced.iter().any(|url| *url == normal(&exchange.url));
        let version = self.headers(&exchange.request_headers, &entry.location, self.parts[0], announced);
        if let (Some(version), true) = (version, fine) {
            self.signs.versions.grant(version);
        }
        if header(&exchange.response_headers, "mcp-session-id").is_some() {
            self.signs.session.add(&entry.location, Some(self.parts[1]));
        }
        let counted = header(&exchange.request_headers, "mcp-method").is_some();
        self.signs.method.granted |= counted && fine;
        self.requests += u64::from(counted);
        let connection = is_connection(exchange);
        if self.open.len() == OPEN {
            let Open { ending, answered, .. } = self.open.remove(0);
            self.counts.end(ending, answered);
        }
        let kept = connection || post && fine;
        let has = |name| header(&exchange.request_headers, name).is_some();
        self.open.push(Open {
            number: entry.exchange,
            timed: exchange.timed,
            post,
            connection,
            fine,
            counted,
            versioned: has("mcp-protocol-version"),
            named: counted || has("mcp-protocol-version") || has("mcp-session-id"),
            foreign: false,
            events: 0,
            url: if kept { exchange.url.chars().take(LONGEST_URL).collect() } else { String::new() },
            ending,
            answered: false,
        });
    }

    /// Nothing more comes of these exchanges.
    fn close(&mut self, over: impl Fn(&Open) -> bool) {
        let counts = &mut self.counts;
        self.open.retain(|open| {
            let over = over(open);
            if over {
                counts.end(open.ending, open.post && open.answered);
            }
            !over
        });
    }

    /// Looks through the headers of requests; the number of the version that they name. `legacy`: they went to
    /// an endpoint of HTTP+SSE, where the version header tells no transport.
    fn headers(
        &mut self,
        headers: &Headers<'_>,
        location: &Location,
        tail: &'static str,
        legacy: bool,
    ) -> Option<usize> {
        let signs = &mut self.signs;
        if header(headers, "mcp-session-id").is_some() {
            signs.session.add(location, Some(tail));
        }
        if header(headers, "mcp-method").is_some() {
            signs.method.add(location, Some(tail));
        }
        let version = header(headers, "mcp-protocol-version")?;
        if !legacy {
            signs.header.add(location, Some(tail));
        }
        signs.versions.add(version, location, Some(tail))
    }

    fn opened(&mut self, meta: Json<'_>, location: &Location) {
        let marked = meta.member(MARK).and_then(|mark| transport::named(&mark.as_text()?.to_str()?));
        if let Some(marked) = marked {
            let location = EvidenceLocation::new(location, Some("/_transport"));
            self.signs.marked.get_or_insert((marked, location));
        }
        let Some(command) = meta.member("command") else { return };
        let is_url = |word: Json<'_>| {
            let word = word.as_text().and_then(|word| word.to_str()).unwrap_or_default();
            word.starts_with("http://") || word.starts_with("https://")
        };
        match command.kind() {
            JsonKind::String | JsonKind::Array if is_url(command) || command.items().any(is_url) => {
                self.signs.url.add(location, Some("/command"));
            }
            JsonKind::Array if command.items().next().is_none() => {}
            JsonKind::String | JsonKind::Array => self.signs.program.add(location, Some("/command")),
            _ => {}
        }
    }

    fn event(&mut self, sse: &Sse<'_>, entry: &Entry<'_>) {
        let name = sse.name.as_deref().unwrap_or_default();
        // A comment or a mere `retry` is not an event; empty data makes one.
        if name.is_empty() && sse.data.is_none() && entry.message().is_none() {
            return;
        }
        self.sse_events += 1;
        let current = current(&mut self.open, entry);
        let url = current.as_ref().map(|current| current.url.clone());
        let first = match current {
            Some(current) => {
                current.events += 1;
                current.events == 1 && current.connection
            }
            None => self.sse_events == 1,
        };
        if !first || name != "endpoint" {
            return;
        }
        self.signs.endpoint.add(&entry.location, None);
        let data = sse.data.as_deref().filter(|data| data.len() <= LONGEST_URL);
        if let (Some(url), Some(data)) = (url, data)
            && self.announced.len() < ENDPOINTS
        {
            self.announced.push(announced(&url, data));
        }
    }

    fn message(&mut self, event: &Event<'_>, entry: &Entry<'_>) {
        self.messages += 1;
        let method = event.message.method();
        let initialize = method.is_some_and(|method| method.is("initialize"));
        let ours = self.protocols.take(&event.message);
        if entry.carrier == Carrier::Request && method.is_some() {
            match current(&mut self.open, entry) {
                Some(current) if !ours && !current.named => {
                    if current.streams() && !current.foreign {
                        self.signs.streamed.take_back();
                    }
                    current.foreign = true;
                }
                current => {
                    self.requests += u64::from(current.as_deref().is_none_or(|current| !current.counted));
                    if current.is_some_and(|current| !current.versioned) && !initialize {
                        self.signs.bare.add(&entry.location, None);
                    }
                }
            }
        }
        if method.is_some() {
            self.call(event, &entry.location, initialize);
        } else {
            self.answer(event, entry);
        }
    }

    fn call(&mut self, event: &Event<'_>, location: &Location, initialize: bool) {
        let has_id = event.message.id().key().is_some();
        if initialize && has_id && self.initializes.len() < WAITING {
            self.initializes.insert(event.index);
        }
        if event.side == Some(Side::Server) {
            return;
        }
        let Some(version) = named_version(&event.message) else { return };
        if let Some(number) = self.signs.metas.add(&version, location, None)
            && has_id
            && !self.signs.metas.is_granted(number)
            && self.wishes.len() < WAITING
        {
            self.wishes.insert(event.index, number);
        }
    }

    fn answer(&mut self, event: &Event<'_>, entry: &Entry<'_>) {
        if matches!(entry.carrier, Carrier::Response | Carrier::Sse)
            && let Some(current) = current(&mut self.open, entry).filter(|current| current.post)
        {
            current.answered = true;
            if current.fine && !current.foreign {
                let url = current.url.split(['?', '#']).next().unwrap_or_default().to_owned();
                self.answers_in(url, entry);
            }
        }
        let wish = event.answers.and_then(|index| self.wishes.remove(&index));
        let initialize = event.answers.map(|index| self.initializes.remove(&index));
        if event.kind != meaning::EventKind::Result {
            return;
        }
        if let Some(number) = wish {
            self.signs.metas.grant(number);
        }
        let Some(result) = event.message.outcome() else { return };
        // Where the question is not known, as in a HAR file whose stream stands before it, only an answer to
        // `initialize` has all of these.
        let settles = initialize.unwrap_or_else(|| {
            ["protocolVersion", "capabilities", "serverInfo"].iter().all(|name| result.member(name).is_some())
        });
        let version = result.member("protocolVersion").and_then(|version| version.as_text()?.to_str());
        if let (true, Some(version)) = (settles, version)
            && let Some(number) = self.signs.initialized.add(&version, &entry.location, None)
        {
            self.signs.initialized.grant(number);
        }
    }

    /// A server brought a response to a POST in one of its two modes.
    fn answers_in(&mut self, url: String, entry: &Entry<'_>) {
        let streams = entry.carrier == Carrier::Sse;
        if !streams {
            self.signs.answered.add(&entry.location, None);
        }
        if let Some((_, modes)) = self.modes.iter_mut().find(|(known, _)| *known == url) {
            modes[usize::from(streams)] = true;
        } else if self.modes.len() < ENDPOINTS {
            self.modes.push((url, [!streams, streams]));
        }
    }

    /// What it all comes to.
    #[must_use]
    pub fn finish(mut self) -> Identification {
        self.close(|_| true);
        let made_up = self.signs.made_up.is_some();
        if made_up && self.signs.is_without_http() {
            (self.http, self.sse) = (false, false);
        }
        let log = self.http && self.label.is_none() && !made_up;
        let known = |count| log.then_some(count);
        if !log {
            // An envelope does not say how a request was received.
            self.signs.versions.grant_all();
            self.signs.method.granted = true;
        }
        let transport = self.signs.verdict(self.label);
        let [active, sse_active] = self.counts.active();
        let both = self.modes.into_iter().filter(|(_, modes)| *modes == [true, true]);
        Identification {
            transport,
            revision: self.signs.revision(transport),
            evidence: self.signs.evidence(self.label, self.signs.wants_header(transport)),
            requests_total: self.http.then_some(self.requests),
            connections_active: known(active),
            sse_connections_total: known(self.counts.connections),
            sse_connections_active: known(sse_active),
            sse_events: self.sse.then_some(self.sse_events),
            stream_durations: log.then_some(self.counts.durations),
            both_modes: log.then(|| both.map(|(url, _)| url).collect()),
            responses: log.then_some(self.counts.responses),
            messages: self.messages,
            instead: self.protocols.instead(),
            missing: 0,
            coded: 0,
        }
    }
}
