//! What a format cannot carry of a session.

use crate::envelope::is_foreign;
use crate::exchange::sessions::SESSION;
use crate::exchange::write::contexts_left_out;
use crate::format::Format;
use crate::session::{OwnedContent, OwnedEntry, Session, numbers};
use std::collections::BTreeSet;
use transcript::contract::Contract;
use transcript::message::{Id, Message};
use transcript::session::{Carrier, Content, Entry, Headers, Side, header};

/// Something that a format cannot carry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The clause by which the meaning would change; none where only context is lost.
    pub clause: Option<&'static str>,
    /// What, in words.
    pub what: String,
}

impl Session {
    /// The first message that would be bound otherwise if nobody could tell who sent what (clause
    /// COR-DIRECTION-FLAT), by its entry.
    #[must_use]
    pub fn first_bound_differently_without_direction(&self) -> Option<&OwnedEntry> {
        let mut flat = Contract::default();
        self.entries.iter().find(|owned| {
            let Some(message) = owned.message() else { return false };
            let read = flat.take(&Entry::new(owned.location, Content::Message(message)));
            // A call that is refused without its exchange is another loss.
            read.is_ok_and(|event| event.is_none_or(|event| event.answers != owned.answers))
        })
    }

    /// How many messages with a time belong to the handshake that the session begins with, or are notifications of the server.
    fn timed_beside_calls(&self) -> usize {
        let messages = || self.entries.iter().filter_map(|entry| Some((entry, entry.message()?)));
        let is_handshake = messages()
            .next()
            .is_some_and(|(_, message)| message.method().is_some_and(|method| method.is("initialize")));
        let counts = |(at, (entry, message)): &(usize, (&OwnedEntry, Message<'_>))| {
            let of_handshake = is_handshake && (*at == 0 || *at == 1 && entry.answers == Some(0));
            let is_notification = message.method().is_some() && message.id() == Id::Missing;
            entry.time.is_some() && (of_handshake || entry.side == Some(Side::Server) && is_notification)
        };
        messages().enumerate().filter(counts).count()
    }

    /// How many sessions servers assigned, where these are several.
    fn several_sessions(&self) -> usize {
        let exchanges = self.entries.iter().filter_map(|entry| match &entry.what {
            OwnedContent::Exchange(exchange) => Some(exchange),
            _ => None,
        });
        let assigned = exchanges.filter_map(|exchange| header(&exchange.response_headers, SESSION));
        let sessions = assigned.collect::<BTreeSet<_>>().len();
        if sessions > 1 { sessions } else { 0 }
    }

    /// The first tool call that came again since HTTP had turned it away: without the exchanges two calls have one id
    /// (clause COR-DUPLICATE).
    fn first_repeated_call(&self) -> Option<&OwnedEntry> {
        let mut bare = Contract::default();
        self.entries.iter().find(|owned| {
            let Some(message) = owned.message() else { return false };
            bare.take(&Entry::new(owned.location, Content::Message(message))).is_err()
        })
    }

    /// What `format` cannot carry of this session: first what changes its meaning, then what is only context.
    #[must_use]
    pub fn losses(&self, format: &Format) -> Vec<Loss> {
        let carries = format.carries;
        let count =
            |found: &dyn Fn(&OwnedEntry) -> bool| self.entries.iter().filter(|entry| found(entry)).count();
        let mut losses = Vec::new();
        let mut lose = |clause: Option<&'static str>, what: String| losses.push(Loss { clause, what });
        if !carries.direction
            && let Some(entry) = self.first_bound_differently_without_direction()
        {
            let line = entry.location.line;
            lose(
                Some("COR-DIRECTION-FLAT"),
                format!(
                    "who sent what, and without that the message on line {line} would be bound to another request"
                ),
            );
        }
        if !carries.exchanges
            && let Some(entry) = self.first_repeated_call()
        {
            let line = entry.location.line;
            let what = format!("that HTTP refused the tool call that is repeated on line {line}");
            lose(Some("COR-DUPLICATE"), what);
        }
        if !carries.challenge && self.totals.authorization_discovery.is_some() {
            lose(Some("K2A-SUMMARY"), "the authorization challenge that the session shows".to_owned());
        }
        let mut context = |there: usize, kept: bool, what: &str| {
            if there > 0 && !kept {
                lose(None, format!("{what} ({there})"));
            }
        };
        context(
            count(&|entry| entry.message().is_some() && !entry.inferred),
            carries.direction,
            "who sent each message",
        );
        context(count(&|entry| entry.time.is_some()), carries.times, "times");
        let early = count(&|entry| entry.time.is_some_and(|time| time < 0));
        context(early, !carries.times || carries.times_before_1970, "times before 1970");
        let untimed = if carries.times_beside_calls { 0 } else { self.timed_beside_calls() };
        context(untimed, !carries.times, "times of the handshake and of the server's notifications");
        context(
            count(&|entry| entry.context.is_some() || matches!(entry.what, OwnedContent::Exchange(_))),
            carries.http,
            "HTTP exchanges, statuses and headers",
        );
        context(self.several_sessions(), carries.http, "which session each message is of");
        let foreign = |entry: &OwnedEntry| format.transport.is_some_and(|of| is_foreign(of, entry));
        context(count(&foreign), false, "`endpoint` events, which the transport does not have");
        let with_context = |entry: &OwnedEntry| entry.context.is_some() && foreign(entry);
        context(count(&with_context), false, "HTTP headers and statuses of such events");
        context(
            count(&repeats),
            carries.repeats || !carries.http,
            "that HTTP headers of one name came as several",
        );
        context(
            count(&|entry| matches!(&entry.what, OwnedContent::Exchange(_))),
            carries.exchanges || !carries.http,
            "which answer came to which request, methods and URLs, and answers without a message",
        );
        let homeless = if carries.exchanges { contexts_left_out(self) } else { 0 };
        context(homeless, false, "HTTP headers and statuses that no exchange has there");
        context(count(&|entry| entry.sse.is_some()), carries.sse, "SSE event names and ids");
        context(
            count(&|entry| matches!(entry.what, OwnedContent::Event)),
            carries.sse,
            "SSE events without a message",
        );
        context(
            count(&|entry| matches!(entry.what, OwnedContent::TraceStart(_) | OwnedContent::TraceEnd(_))),
            carries.process,
            "lines about the server's process",
        );
        context(
            count(&|entry| entry.sse.as_ref().is_some_and(|sse| sse.comments > 0)),
            carries.exchanges,
            "comments of SSE streams",
        );
        let kept = |entry: &OwnedEntry| {
            // Of a part of a stream only the size says that it is one.
            carries.exchanges && entry.exchange.is_some() && (carries.sizes || entry.carrier != Carrier::Sse)
        };
        context(
            count(&|entry| matches!(entry.what, OwnedContent::Missing(_)) && !kept(entry)),
            false,
            "where an exporter had dropped a body",
        );
        let unknown: Vec<&str> =
            self.redacts.iter().copied().filter(|mark| !format.redacts.contains(mark)).collect();
        let is_marked = |entry: &OwnedEntry| {
            entry.message().is_some_and(|message| unknown.iter().any(|mark| message.text().contains(mark)))
        };
        context(
            count(&is_marked),
            false,
            &format!("that {} stands for what the recorder took out", unknown.join(" or ")),
        );
        let is_left_out = |entry: &OwnedEntry| {
            let added = entry.added.as_deref();
            added.is_some_and(|added| !carries.numbering || numbers(added).as_deref() != Some(added))
        };
        context(
            count(&|entry| entry.message().is_some() && is_left_out(entry)),
            carries.process,
            "members that other producers added to the lines of messages",
        );
        context(
            count(&|entry| {
                matches!(entry.what, OwnedContent::Skipped(_))
                    && !(carries.process && self.trace_start().is_some() && entry.added.is_some())
            }),
            false,
            "what was skipped",
        );
        losses
    }
}

/// Whether a header stands there several times.
fn repeats(entry: &OwnedEntry) -> bool {
    let twice = |headers: &Headers<'_>| {
        let mut names: Vec<String> = headers.iter().map(|(name, _)| name.to_ascii_lowercase()).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair[0] == pair[1])
    };
    match (&entry.what, &entry.context) {
        (OwnedContent::Exchange(exchange), _) => {
            twice(&exchange.request_headers) || twice(&exchange.response_headers)
        }
        (_, Some(context)) => twice(&context.headers),
        _ => false,
    }
}
