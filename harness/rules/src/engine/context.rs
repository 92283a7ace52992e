//! One step of a session as a rule sees it: the entry, who said it, by which revision, and what it answers.

use super::exchange_tracker::ExchangeTracker;
use super::facts::Facts;
use super::http_exchange::{HttpExchange, SESSION, VERSION, shows_all};
use super::location::{FindingLocation, SourceLocation};
use super::message::SeenMessage;
use super::pending_requests::PendingRequests;
use super::report::Report;
use crate::revision::Revision;
use std::cell::OnceCell;
use transcript::json::Json;
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Entry, Exchange, Headers, Side, header};

/// A shorter value is looked through by itself.
const SHORT: usize = 32;

/// Why the server may have said what is not in the recording.
pub(crate) const ON_OPEN_STREAM: &str = "an export leaves out streams that are still open, as that of a GET may be; a proxy's recording would show it";

/// Why a header that is not shown may have been sent.
pub(crate) const NOT_WHOLE: &str = "the exchange does not show all its headers; a HAR of a proxy would";

/// Why what is redacted is not judged.
pub(crate) const TAKEN_OUT: &str = "the recorder took out what would decide it";

/// One step of a session.
#[derive(Debug)]
pub(crate) struct RuleContext<'m> {
    /// What the recording holds. At the end of it: nothing, at the place of the last entry.
    pub(crate) entry: &'m Entry<'m>,
    /// What the session has shown so far, this step included.
    pub(crate) facts: &'m Facts,
    /// The requests that are open. The one that this step answers is no longer, the one that it makes already is.
    pub(crate) pending: &'m PendingRequests,
    /// The revision by which this step is judged; none where nothing has shown it.
    pub(crate) revision: Option<Revision>,
    /// Who is speaking, as the recording says or the method tells.
    pub(crate) side: Option<Side>,
    /// The message, where it is one.
    pub(crate) message: Option<&'m SeenMessage<'m>>,
    /// The HTTP exchange that it belongs to.
    pub(crate) exchange: Option<&'m Exchange<'static>>,
    /// The exchanges of the recording, this step included.
    pub(crate) exchanges: &'m ExchangeTracker,
    /// Where what is said of the rules is kept.
    pub(super) report: &'m Report,
    /// What decides which rules bind at this step.
    pub(super) circumstances: Circumstances,
    /// Whether something in its text was taken out, once somebody has asked.
    pub(super) hides: OnceCell<bool>,
}

/// All of a step that decides whether a rule binds there, as a bit: its revision, or where none is known whether there was a
/// handshake or a session of Streamable HTTP; or that it is of another protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances(pub(super) u16);

impl Circumstances {
    pub(super) fn new(revision: Option<Revision>, facts: &Facts) -> Self {
        let known = Revision::ALL.len();
        if facts.alien.is_some() {
            return Self(1 << (known + 2));
        }
        let unknown = || match facts.handshake {
            true => known + 1,
            false if is_streamable(facts) => known + 3,
            false => known,
        };
        Self(1 << revision.map_or_else(unknown, |revision| revision as usize))
    }
}

/// Whether a request named a session in the manner of Streamable HTTP, which the first revision does not have.
pub(super) fn is_streamable(facts: &Facts) -> bool {
    facts.kept_headers.iter().any(|kept| kept.eq_ignore_ascii_case(SESSION))
}

impl RuleContext<'_> {
    /// The same step without its message, by another revision: that of the session which it turned out to be of.
    pub(crate) fn by(&self, revision: Option<Revision>) -> RuleContext<'_> {
        RuleContext { side: None, message: None, ..self.in_revision(revision) }
    }

    /// The same step by another revision.
    pub(crate) fn in_revision(&self, revision: Option<Revision>) -> RuleContext<'_> {
        RuleContext {
            entry: self.entry,
            facts: self.facts,
            pending: self.pending,
            revision,
            side: self.side,
            message: self.message,
            exchange: self.exchange,
            exchanges: self.exchanges,
            report: self.report,
            circumstances: Circumstances::new(revision, self.facts),
            hides: OnceCell::new(),
        }
    }

    /// The same step by the revision that the client asked for, where no server has chosen one.
    pub(crate) fn as_asked(&self) -> RuleContext<'_> {
        let asked = || Revision::named(self.facts.negotiated.wished.as_deref()?);
        self.in_revision(self.revision.or_else(asked))
    }

    /// An exchange as a whole: a step at its place, by its revision.
    pub(super) fn for_exchange(&self, exchange: &HttpExchange, judge: impl FnOnce(&RuleContext<'_>)) {
        let content = Content::Exchange(&exchange.raw);
        let (number, time) = (Some(exchange.number), exchange.started);
        let entry = Entry { exchange: number, time, ..Entry::new(exchange.location, content) };
        judge(&RuleContext {
            entry: &entry,
            exchange: Some(&exchange.raw),
            ..self.by(exchange.revision.or(self.revision))
        });
    }

    /// Whether a value holds, at any depth, what a recorder wrote in place of what it took out. The whole text is looked through
    /// once, which for nearly every message settles it for every value in it that is not short.
    pub(crate) fn redacted(&self, value: Json<'_>) -> bool {
        let (text, start) = (self.text(), value.text().as_ptr().addr());
        let is_inside = value.text().len() > SHORT
            && start
                .checked_sub(text.as_ptr().addr())
                .is_some_and(|at| at + value.text().len() <= text.len());
        let may_hide = !is_inside || *self.hides.get_or_init(|| self.facts.hides(text));
        may_hide && self.facts.hides(value.text())
    }

    /// The headers that an envelope of Streamable HTTP shows beside its message, where it shows any.
    pub(crate) fn envelope_headers(&self) -> Option<&Headers<'_>> {
        let context = self.entry.context.filter(|_| self.is_in_envelope())?;
        Some(&context.headers).filter(|headers| !headers.is_empty())
    }

    /// Whether a request that shows these headers and not this one came without it: nothing was left out of it, or what the recorder
    /// keeps of other requests is this one. The version goes with the session, which is the older of the two.
    pub(crate) fn would_show(&self, headers: &Headers<'_>, name: &str) -> bool {
        shows_all(headers)
            || self.facts.kept_headers.iter().any(|kept| kept.eq_ignore_ascii_case(name))
            || name == VERSION && header(headers, SESSION).is_some()
    }

    /// Why the server may have asked for what this message brings, although no such request is in the recording: an exporter leaves
    /// out streams that are still open.
    pub(crate) fn may_be_asked_elsewhere(&self) -> Option<&'static str> {
        let posted = self.exchanges.current().filter(|_| self.entry.carrier == Carrier::Request)?;
        let is_known = self.is_modern() || self.exchanges.is_target(&posted.raw.url);
        (!is_known && self.exchanges.may_lack_a_stream(&posted.peer())).then_some(ON_OPEN_STREAM)
    }

    /// The id of the event of a stream that it is.
    pub(crate) fn event_id(&self) -> Option<&str> {
        self.entry.sse.as_ref()?.id.as_deref()
    }

    /// The data of an event of the kind that carries messages.
    pub(crate) fn message_data(&self) -> Option<&str> {
        let sse = self.entry.sse.as_ref()?;
        // An event that nobody read to its end may go on.
        let is_left = self.exchange.is_some_and(Exchange::is_left);
        if is_left && matches!(self.entry.content, Content::Skipped(_)) {
            return None;
        }
        sse.data.as_deref().filter(|_| matches!(sse.name.as_deref(), None | Some("" | "message")))
    }

    /// Whether its events are those of a stream of messages, and not of another service.
    pub(crate) fn is_event_for_messages(&self) -> bool {
        let exchange = self.exchanges.current().filter(|_| self.exchange.is_some());
        exchange.map_or(self.facts.recording.kind.envelope, HttpExchange::streams_messages)
    }

    /// Whether it stands in the answer to a POST.
    pub(crate) fn is_posts_answer(&self) -> bool {
        self.exchange.is_some_and(|exchange| exchange.method.eq_ignore_ascii_case("POST"))
            && self.entry.carrier != Carrier::Request
    }

    /// Whether it stands on the only stream of HTTP+SSE, which is never resumed, and whose recorder tells when it said what.
    pub(crate) fn is_placed(&self) -> bool {
        let is_timed = |stream: &HttpExchange| stream.endpoint.is_some() && stream.raw.timed;
        self.exchanges.current().is_some_and(is_timed) && self.exchanges.has_one_target()
    }

    /// Whether it is judged by a revision that begins with no handshake.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision.is_some_and(|revision| !revision.has_handshake())
    }

    /// Whether it stands in an envelope of Streamable HTTP, and not in one that a converter made up.
    pub(crate) fn is_in_envelope(&self) -> bool {
        let kind = self.facts.recording.kind;
        kind.envelope && !kind.http_sse && !self.facts.made_up
    }

    /// The place of the step.
    pub(crate) fn location(&self) -> FindingLocation {
        let location = FindingLocation::new(&self.entry.location, self.text());
        match &self.entry.content {
            Content::Noise(noise) if noise.why.code != Code::NotAMessage => {
                location.showing(&noise.text, noise.why.at)
            }
            _ => location,
        }
    }

    /// The same for later, where nobody may ask for it.
    pub(crate) fn source_location(&self) -> SourceLocation {
        SourceLocation::new(&self.entry.location, self.text())
    }

    /// The text that stands there: the message, or what is none.
    pub(crate) fn text(&self) -> &str {
        match (&self.message, &self.entry.content) {
            (Some(message), _) => message.raw.text(),
            (_, Content::Noise(noise)) => &noise.text,
            (_, Content::TraceStart(line) | Content::TraceEnd(line)) => line.text(),
            (_, Content::Exchange(exchange)) => &exchange.url,
            _ => self.entry.sse.as_ref().and_then(|sse| sse.data.as_deref()).unwrap_or_default(),
        }
    }
}
