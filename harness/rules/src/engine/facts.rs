//! What a session has shown of itself so far: its revision, who can do what, which tools there are, and whether the
//! recording has its beginning and its end.
//!
//! Memory: what [`NamedSessions`] says, and the names of [`MOST_HEADERS`] headers.

use super::content::text_of;
use super::location::FindingLocation;
use super::losses::Losses;
use super::message::{META_CAPABILITIES, META_VERSION, MessageKind, SeenMessage};
use super::methods::known;
use super::negotiated::{NamedSessions, Negotiated};
use super::recording_info::{RecordingInfo, RecordingKind};
use super::url::host;
use crate::revision::Revision;
use crate::rule::Need;
use formats::other_protocol;
use memchr::memmem::Finder;
use std::mem::take;
use transcript::json::{Json, JsonKind};
use transcript::session::{Content, Entry, Headers, Side, header};

/// Requests have a handful of headers, and more names than this only with one of their own in each.
const MOST_HEADERS: usize = 100;

/// What a session has shown so far.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// What is judged.
    pub(crate) recording: RecordingInfo,
    /// What the session at hand has agreed on.
    pub(crate) negotiated: Negotiated,
    pub(super) sessions: NamedSessions,
    /// Nobody asked the session: the caller said which revision rules.
    forced: bool,
    /// The server has shown that it speaks a revision without sessions: an older one takes such a request for its own
    /// or refuses it with an error of its own choice.
    pub(crate) modern: bool,
    /// An `initialize` was seen.
    pub(crate) handshake: bool,
    /// What the recording says of its transport is a converter's invention.
    pub(crate) made_up: bool,
    /// On which line a log said last that the server had ended.
    pub(crate) ended: Option<u64>,
    /// A trace's `meta` line was seen, or the start of the server in a client's log, so that whatever came first is here.
    pub(crate) opened: bool,
    /// A trace's `end` line was seen, so that nothing is missing behind the last message.
    pub(crate) closed: bool,
    /// The first message is none that a session begins with: its beginning is not in the recording.
    pub(crate) late: bool,
    /// A request was served before the handshake, so that what came before it was not its beginning.
    served: bool,
    /// The session that HTTP said is over.
    dead: Option<Box<str>>,
    /// Whether something is missing of the client, and of the server: bodies dropped by an exporter, or what could not be read.
    pub(super) torn: [bool; 2],
    /// What the recorder says that it lost.
    pub(crate) losses: Losses,
    /// A trace's `meta` says stdio, or names a command and nothing of HTTP: its recorder started a process.
    pub(crate) piped: bool,
    /// Nothing but the context of a whole envelope shows the revision. A reader takes no batch for that (EQ-BATCH).
    pub(crate) by_envelope: bool,
    /// Nothing but an `endpoint` event shows the revision.
    by_endpoint: bool,
    /// An `endpoint` event showed a revision that has not the methods of the session: it was only the transport's.
    outgrown: bool,
    /// What HTTP calls the session.
    name: Option<Box<str>>,
    /// Exchanges of several sessions alternate, so that nobody can tell which session lacks what.
    pub(crate) mixed: bool,
    /// The names of headers that requests had, up to [`MOST_HEADERS`].
    pub(super) kept_headers: Vec<Box<str>>,
    /// The texts of what was taken out, ready to be looked for.
    markers: Vec<Finder<'static>>,
    /// How many messages there were.
    pub(crate) messages: u64,
    /// How many others there were, of services that do not speak MCP, and the method and place of the first.
    pub(crate) others: u64,
    pub(crate) first_of_others: Option<(Box<str>, FindingLocation)>,
    /// How many of them were requests and responses, in all sessions.
    pub(crate) requests: u64,
    pub(crate) responses: u64,
    /// A response answered a request of the recording.
    pub(crate) bound: bool,
    /// Whether something of the client, and of the server, was seen.
    pub(crate) heard: [bool; 2],
    /// A method was seen that MCP has or that is named as MCP names its own, and the first that is neither.
    pub(crate) knows_mcp: bool,
    pub(crate) other_method: Option<Box<str>>,
    /// The protocol that the session is of, where that is another one with methods of the same names.
    pub(crate) alien: Option<&'static str>,
    /// Which session of the recording this is, from 0.
    pub(crate) session: u64,
}

impl Facts {
    pub(super) fn new(recording: RecordingInfo, forced: Option<Revision>) -> Self {
        Self {
            negotiated: Negotiated::new(forced),
            sessions: NamedSessions::new(forced),
            forced: forced.is_some(),
            modern: forced.is_some_and(|revision| !revision.has_handshake()),
            markers: recording.markers.iter().map(|marker| Finder::new(marker).into_owned()).collect(),
            recording,
            ..Self::default()
        }
    }

    /// Whether a side has declared a capability, by its path such as `resources.subscribe`; none where its
    /// capabilities were never shown. A member that is `false` is not declared.
    pub(crate) fn declares(&self, side: Side, path: &str) -> Option<bool> {
        let declared = Some(self.negotiated.capabilities(side)?);
        let here = path.split('.').fold(declared, |here, name| here?.member(name));
        Some(here.is_some_and(|value| value.text() != "false" && value.kind() != JsonKind::Null))
    }

    /// A tool as the last listing has it.
    pub(crate) fn tool(&self, name: &str) -> Option<Json<'_>> {
        self.negotiated.tools.get(name)
    }

    /// Whether a text, such as that of a value or a header, holds what a recorder wrote in place of what it took out.
    pub(crate) fn hides(&self, text: &str) -> bool {
        // Ids and tokens are asked about most, and are shorter than any of them.
        let may_hold = |marker: &&Finder<'_>| marker.needle().len() <= text.len();
        self.markers.iter().filter(may_hold).any(|marker| marker.find(text.as_bytes()).is_some())
    }

    /// Whether parts of the recording are missing.
    pub(crate) fn torn(&self) -> bool {
        self.torn.contains(&true)
    }

    /// Whether the session ran over the pipes of a process; none where the recording does not tell.
    pub(crate) fn over_stdio(&self) -> Option<bool> {
        match () {
            () if self.piped || self.recording.kind.stdio => Some(true),
            () if self.made_up => None,
            () => (self.recording.kind.http || self.recording.carries.contains(&Need::Sse)).then_some(false),
        }
    }

    /// The revision by which a message is judged: that of its request in the era without sessions, else the session's.
    pub(super) fn revision_of(&self, message: Option<&SeenMessage<'_>>) -> Option<Revision> {
        if self.forced {
            return self.negotiated.revision;
        }
        // Where messages are missing, the client may have gone on with a handshake in them.
        let session = self.negotiated.revision.filter(|revision| revision.has_handshake() || !self.torn());
        let Some(message) = message else { return self.negotiated.revision };
        if let Some(request) = message.request()
            && request.method() != "initialize"
        {
            // Only a server of the newest revision refuses a version so. What names none, one may serve by an older revision.
            let refuses = message.error_code() == Some(-32022);
            let named = request.meta(META_VERSION).is_some() || request.side == Some(Side::Server);
            let older = message.is_older_result() && !named;
            let shown = request.revision.or(session).filter(|shown| shown.has_handshake() || !older);
            return shown.or(refuses.then_some(Revision::V2026_07_28));
        }
        // Until it is answered, a client is held to the revision that it asks for itself; what it asked for without a handshake before,
        // to find out what the server speaks, says nothing of one.
        let opens = message.calls("initialize");
        let session = session.filter(|revision| !opens || revision.has_handshake());
        let asked = || opens.then(|| message.param("protocolVersion")).flatten().and_then(Revision::new);
        message.shown_revision().or(session).or_else(asked)
    }

    /// Whether HTTP said of a session that it is over.
    pub(super) fn is_dead(&self, session: &str) -> bool {
        self.dead.as_deref() == Some(session)
    }

    /// Takes in what an entry shows beside its message.
    pub(super) fn see(&mut self, entry: &Entry<'_>) {
        if let Some(revision) = Revision::declared(entry) {
            // What a request says goes before what is said of the whole.
            self.negotiated.revision = self.negotiated.revision.filter(|_| !self.by_envelope);
            self.by_envelope = false;
            self.suppose(revision);
        }
        if self.messages == 0 {
            self.recording.kind.see_first(entry);
        }
        match &entry.content {
            Content::Envelope if self.negotiated.revision.is_none() => {
                let named =
                    entry.context.and_then(|context| header(&context.headers, "MCP-Protocol-Version"));
                if let Some(revision) = named.and_then(Revision::named) {
                    self.by_envelope = true;
                    self.suppose(revision);
                }
            }
            // What a converter says of the transport, or of the beginning and the end, shows nothing.
            Content::MadeUp(_) => {
                self.made_up = true;
                (self.recording.kind.exchanges, self.recording.kind.http_sse) = (false, false);
            }
            Content::TraceStart(line) | Content::TraceEnd(line) if line.member("_made_up").is_some() => {}
            Content::TraceStart(meta) => {
                self.opened = true;
                let words = meta.member("command").into_iter().flat_map(Json::items);
                let mut words = words.filter_map(text_of).peekable();
                let http = |word: Box<str>| word.to_ascii_lowercase().contains("http") || *word == *"sse";
                let RecordingKind { stdio, http: over_http, .. } = self.recording.kind;
                self.piped = stdio || words.peek().is_some() && !over_http && !words.any(http);
            }
            Content::TraceEnd(_) => self.closed = true,
            Content::Started => self.opened |= self.messages == 0,
            Content::Message(_) | Content::Noise(_) => {
                entry.side.into_iter().for_each(|side| self.heard[side as usize] = true);
            }
            Content::Ended(_) => self.ended = Some(entry.location.line),
            Content::Exchange(exchange) => {
                self.keep_headers(&exchange.request_headers);
                let session = header(&exchange.request_headers, "Mcp-Session-Id");
                self.served |= !self.handshake && session.is_some();
                if let Some(session) = session.filter(|_| exchange.status == Some(404)) {
                    self.dead = Some(session.into());
                }
                // What a server refused belongs to no session of it.
                let taken = exchange.status.is_none_or(|status| status < 400);
                // A proxy may pass on the id of the server behind it: both legs name one id, and are two sessions.
                let id = session.filter(|_| taken).map(|id| format!("{} {id}", host(&exchange.url)).into());
                match (id, &self.name) {
                    (Some(id), None) if self.handshake => self.name = Some(id),
                    (Some(id), Some(name)) => self.mixed |= id != *name,
                    _ => {}
                }
            }
            Content::Event => {
                let name = entry.sse.as_ref().and_then(|sse| sse.name.as_deref());
                if name == Some("endpoint") && !self.outgrown {
                    self.by_endpoint |= self.negotiated.revision.is_none();
                    self.suppose(Revision::V2024_11_05);
                }
            }
            _ => {}
        }
    }

    fn keep_headers(&mut self, headers: &Headers<'_>) {
        for (name, _) in headers.iter() {
            let room = self.kept_headers.len() < MOST_HEADERS;
            if room && !self.kept_headers.iter().any(|kept| kept.eq_ignore_ascii_case(name)) {
                self.kept_headers.push(name.as_ref().into());
            }
        }
    }

    /// Takes in a request or notification, before it is judged.
    pub(super) fn hear(&mut self, message: &SeenMessage<'_>) {
        if self.messages == 0 && !self.opened {
            self.late = !message.begins_session();
        }
        let unproven = !self.handshake && self.negotiated.revision.is_none() && self.alien.is_none();
        if unproven || message.calls("initialize") {
            self.alien = other_protocol(&message.raw);
        }
        self.messages += 1;
        self.requests += u64::from(message.kind == MessageKind::Request);
        if !self.knows_mcp {
            let method = message.method.as_deref().unwrap_or_default();
            self.knows_mcp = message.known.is_some() || method.contains('/');
            self.other_method.get_or_insert_with(|| method.chars().take(80).collect());
        }
        if self.by_endpoint
            && message.method.as_deref().is_some_and(|method| self.is_of_other_revisions(method))
        {
            (self.negotiated.revision, self.by_endpoint, self.outgrown) = (None, false, true);
        }
        if message.calls("initialize") {
            self.handshake = true;
            self.sessions.handshakes += 1;
            self.negotiated.wished = message.param("protocolVersion").and_then(text_of);
            self.negotiated.declare(Side::Client, message.param("capabilities"));
        }
        self.negotiated.declare(Side::Client, message.meta(META_CAPABILITIES));
        self.negotiated.tools.see(message);
        self.modern |= message.calls("notifications/subscriptions/acknowledged");
        if message.kind == MessageKind::Request
            && let Some(revision) = message.shown_revision()
        {
            self.alien = None;
            self.suppose(revision);
        }
    }

    /// Whether other revisions have this method, and the one that rules has not.
    fn is_of_other_revisions(&self, method: &str) -> bool {
        let mut all = known(method).peekable();
        all.peek().is_some()
            && !self.negotiated.revision.is_some_and(|revision| all.any(|one| one.span.has(revision)))
    }

    /// Passes over a message that is not of MCP.
    pub(super) fn overhear(&mut self, message: &SeenMessage<'_>, entry: &Entry<'_>) {
        self.others += 1;
        if let Some(method) = message.method.as_deref() {
            self.first_of_others.get_or_insert_with(|| {
                let place = FindingLocation::new(&entry.location, message.raw.text());
                (method.chars().take(80).collect(), place)
            });
        }
    }

    /// Counts a response. No session begins with one.
    pub(super) fn answered(&mut self) {
        self.late |= self.messages == 0 && !self.opened;
        self.served |= self.messages == 0;
        self.messages += 1;
        self.responses += 1;
    }

    /// Takes in a response, before it is judged.
    pub(super) fn learn(&mut self, message: &SeenMessage<'_>) {
        self.modern = self.modern || is_modern(message);
        self.bound |= message.request().is_some();
        if message.kind == MessageKind::Result && message.result_of("initialize").is_none() {
            self.served |= !self.handshake;
        }
        if let Some(result) = message.result_of("initialize") {
            // Nothing was under way: the recording begins where the session does, with the wrong message.
            self.late &= self.served;
            self.negotiated.initialized = true;
            (self.by_endpoint, self.by_envelope) = (false, false);
            if !self.forced {
                self.negotiated.revision =
                    result.member("protocolVersion").and_then(Revision::new).or(self.negotiated.revision);
            }
            self.negotiated.declare(Side::Server, result.member("capabilities"));
        }
        if let Some(result) = message.result_of("server/discover") {
            self.negotiated.declare(Side::Server, result.member("capabilities"));
        }
        self.negotiated.tools.see(message);
    }

    /// Another session begins in the same recording.
    pub(super) fn start_over(&mut self) {
        let recording = take(&mut self.recording);
        let forced = self.negotiated.revision.filter(|_| self.forced);
        *self = Self {
            sessions: take(&mut self.sessions),
            negotiated: take(&mut self.negotiated),
            messages: self.messages,
            others: self.others,
            first_of_others: self.first_of_others.take(),
            requests: self.requests,
            responses: self.responses,
            bound: self.bound,
            heard: self.heard,
            knows_mcp: self.knows_mcp,
            other_method: self.other_method.take(),
            alien: self.alien,
            session: self.session + 1,
            torn: self.torn,
            losses: take(&mut self.losses),
            kept_headers: take(&mut self.kept_headers),
            mixed: self.mixed,
            ..Self::new(recording, forced)
        };
    }

    /// A sign of the revision that rules as long as nothing stronger is shown.
    fn suppose(&mut self, revision: Revision) {
        if self.negotiated.revision.is_none() {
            self.negotiated.revision = Some(revision);
        }
    }
}

/// Whether only a server of a revision without sessions answers like this.
fn is_modern(message: &SeenMessage<'_>) -> bool {
    if message.kind == MessageKind::Error {
        return message.error_code().is_some_and(|code| (-32022..=-32020).contains(&code));
    }
    // Results are long, so those of requests that are plainly of an older revision are not looked into.
    let old = message.request().and_then(|request| request.revision).is_some_and(Revision::has_handshake);
    let result = message.raw.outcome().filter(|_| !old);
    result.is_some_and(|result| result.member("resultType").is_some())
        || message
            .result_of("server/discover")
            .is_some_and(|result| result.member("supportedVersions").is_some())
}

pub(super) const TORN: &str = "parts of the recording are missing or could not be read";

/// Why something that is not in the recording may still have been said.
pub(crate) fn why_not_whole(facts: &Facts) -> Option<&'static str> {
    match facts {
        _ if facts.late => {
            Some("the recording begins after the session did; one from its start would show it")
        }
        _ if facts.mixed => {
            Some("exchanges of several sessions alternate; a recording of one session would show it")
        }
        _ if facts.torn() => Some(TORN),
        _ => None,
    }
}
