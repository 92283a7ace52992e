//! stdio without sessions: who may write what, cancelling, and how a client of both eras finds out which one it meets.
//!
//! Knows: that a trace may also be of an HTTP session, which its command line may tell. Refuses to know: answers to
//! cancelled requests, which `cancellation` looks at. Memory: cancelled requests with a progress token, up to
//! [`MOST_CANCELLED`].

use crate::engine::{Found, META_VERSION, Moment, Place, Revision, Said, Sort, Span, Wrong, text_of};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use std::collections::VecDeque;
use transcript::json::Json;
use transcript::rejection::Rejection;
use transcript::session::{Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "modern_stdio",
    title: "stdio without sessions",
    rules: &[&CLIENT_RESPONSE, &SERVER_REQUEST, &SILENT, &PROBE, &FALLBACK],
    hears: &[
        Hears::Silence,
        Hears::Each(&[Sort::Request, Sort::Result, Sort::Error]),
        Hears::Some(&[Sort::Notification], &["notifications/cancelled", "notifications/progress"]),
    ],
    watch: || Box::new(Watching::default()),
};

/// So many cancelled requests are remembered.
const MOST_CANCELLED: usize = 1_000;

/// Longer progress tokens are not followed.
const LONGEST: usize = 1 << 10;

/// What comes sooner after a cancellation may have been on its way, in milliseconds.
const ON_ITS_WAY: i64 = 1_000;

const OURS: Rule = Rule { party: Party::Client, span: Span::MODERN, ..Rule::BLANK };

static CLIENT_RESPONSE: Rule = Rule {
    id: "e.stdio.no-client-response",
    source: "basic/transports/stdio#sending-messages",
    title: "A client writes requests and notifications, and no responses",
    why: "Servers do not ask in this revision; one that gets an answer has nothing to match it with.",
    fix: "Answer a question of the server by sending its request again with `inputResponses`.",
    ..OURS
};

static SERVER_REQUEST: Rule = Rule {
    id: "e.stdio.no-server-request",
    party: Party::Server,
    source: "basic/transports/stdio#receiving-messages",
    title: "A server writes responses and notifications, and no requests",
    why: "Clients of this revision have nothing that answers a request.",
    fix: "Put the question into the `inputRequests` of an `input_required` result.",
    ..OURS
};

static SILENT: Rule = Rule {
    id: "e.stdio.silent-after-cancel",
    level: Level::Should,
    party: Party::Server,
    source: "basic/transports/stdio#cancellation",
    title: "A server sends nothing more for a request that was cancelled",
    why: "Progress of a call that nobody waits for fills the pipe and keeps the server at work.",
    fix: "Stop the work, and its notifications, when `notifications/cancelled` comes.",
    contested: Some(
        "The pages on transports forbid further messages; the page on cancellation lets a server ignore what it \
         cannot stop, so that it is taken as advice.",
    ),
    ..OURS
};

static PROBE: Rule = Rule {
    id: "e.stdio.probe-first",
    level: Level::Should,
    source: "basic/transports/stdio#backward-compatibility",
    title: "A client that can fall back to a handshake asks `server/discover` first",
    why: "An old server may take another request for its own and serve it by other rules.",
    fix: "Send `server/discover` before anything else, and `initialize` after an error that no new server sends.",
    ..OURS
};

static FALLBACK: Rule = Rule {
    id: "e.stdio.no-fallback-on-modern-error",
    level: Level::Should,
    source: "basic/transports/stdio#backward-compatibility",
    title: "A client does not fall back to `initialize` after an error of a new server",
    why: "The server has shown that it needs no handshake, and may know none.",
    fix: "Correct the request, or choose a version that the error lists.",
    ..OURS
};

/// A cancelled request that may still be worked at.
struct Cancelled {
    token: Box<str>,
    time: Option<i64>,
    place: Place,
}

#[derive(Default)]
struct Watching {
    /// The trace is of a server that was started on stdio, as far as its command tells.
    stdio: bool,
    /// The first request of a client that speaks this revision, and whether it was `server/discover`.
    first: Option<(Place, bool)>,
    /// The last answer was an error that only a new server sends, and leaves no older version to try.
    modern_error: Option<Place>,
    cancelled: VecDeque<Cancelled>,
    disturbed: bool,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if let Content::TraceStart(meta) = &at.entry.content {
            self.stdio = is_started(*meta);
        }
        let Some(said) = &at.said else { return };
        if !is_http(at) {
            sides(&CLIENT_RESPONSE, &SERVER_REQUEST, said, at, found);
        }
        match said.sort {
            Sort::Request if at.side != Some(Side::Server) => self.request(said, at, found),
            Sort::Notification => self.notification(said, at, found),
            Sort::Result if said.asked().is_some_and(|asked| asked.method() != "initialize") => {
                self.modern_error = None;
            }
            Sort::Error if said.error_code().is_some_and(|code| (-32022..=-32020).contains(&code)) => {
                self.modern_error = (!lists_an_old_version(said)).then(|| at.place());
            }
            _ => {}
        }
    }

    fn end(&mut self, at: &Moment<'_>, _rejection: Option<&Rejection>, found: &mut Found) {
        if at.facts.closed && !self.disturbed {
            for _ in &self.cancelled {
                found.held(&SILENT, at);
            }
        }
    }
}

/// Whether the recording is of HTTP, by its format.
pub(super) fn is_http(at: &Moment<'_>) -> bool {
    let subject = &at.facts.subject;
    subject.is_of_exchanges() || matches!(subject.format.as_str(), "streamable-http" | "http-sse")
}

/// Whether clients only ask and servers only answer.
pub(super) fn sides(
    client_response: &'static Rule,
    server_request: &'static Rule,
    said: &Said<'_>,
    at: &Moment<'_>,
    found: &mut Found,
) {
    match (said.sort, at.side) {
        (Sort::Result | Sort::Error, Some(Side::Client)) => {
            found.broke(client_response, at, "the client sends a response");
        }
        (Sort::Request, Some(Side::Server)) => {
            let method = said.method.as_deref().unwrap_or_default();
            found.broke(server_request, at, format!("the server sends a request of its own, `{method}`"));
        }
        (Sort::Request, Some(Side::Client)) => found.held(client_response, at),
        (Sort::Result | Sort::Error, Some(Side::Server)) => found.held(server_request, at),
        _ => {}
    }
}

impl Watching {
    fn request(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        if !said.calls("initialize") {
            if at.revision >= Some(Revision::V2026_07_28) && said.meta(META_VERSION).is_some() {
                self.first.get_or_insert_with(|| (at.place(), said.calls("server/discover")));
            }
            return;
        }
        if let Some((place, probed)) = self.first.take()
            && self.stdio
        {
            found.check(&PROBE, at, probed, || {
                let wrong = "the client falls back to a handshake, and did not begin with `server/discover`";
                Wrong::of(wrong).see(place, "the first request")
            });
        }
        match self.modern_error.take() {
            Some(place) => {
                let wrong = "`initialize` follows an error that only a server of this revision sends";
                found.broke(&FALLBACK, at, Wrong::of(wrong).see(place, "the error"));
            }
            None => found.held(&FALLBACK, at),
        }
    }

    fn notification(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        if said.calls("notifications/cancelled") && at.side != Some(Side::Server) {
            let cancelled = said.param("requestId").and_then(|id| at.ledger.find(Some(Side::Client), id));
            let token = cancelled.and_then(|asked| asked.meta("progressToken"));
            if let Some(token) = token
                && !at.facts.hides(token.text())
                && token.text().len() <= LONGEST
                && self.cancelled.len() < MOST_CANCELLED
                && !is_http(at)
            {
                let token = token.text().into();
                self.cancelled.push_back(Cancelled { token, time: at.entry.time, place: at.place() });
            }
        }
        if !said.calls("notifications/progress") || at.side == Some(Side::Client) {
            return;
        }
        let Some(token) = said.param("progressToken") else { return };
        let Some(cancelled) = self.cancelled.iter().find(|cancelled| &*cancelled.token == token.text())
        else {
            return;
        };
        if let (Some(then), Some(now)) = (cancelled.time, at.entry.time)
            && now - then >= ON_ITS_WAY
        {
            self.disturbed = true;
            let wrong = format!("progress comes {} ms after its request was cancelled", now - then);
            found.broke(&SILENT, at, Wrong::of(wrong).see(cancelled.place.clone(), "the cancellation"));
        }
    }
}

/// Whether a trace's command starts a program, rather than naming a URL or nothing.
fn is_started(meta: Json<'_>) -> bool {
    let words: Vec<_> =
        meta.member("command").into_iter().flat_map(Json::items).filter_map(text_of).collect();
    !words.is_empty()
        && !words.iter().any(|word| word.contains("://") || word.to_lowercase().contains("http"))
}

/// Whether an error lists a version that begins with a handshake.
fn lists_an_old_version(said: &Said<'_>) -> bool {
    let listed = said.error().and_then(|error| error.member("data")?.member("supported"));
    let mut versions = listed.into_iter().flat_map(Json::items).filter_map(text_of);
    versions.any(|version| Revision::named(&version).is_some_and(Revision::has_handshake))
}
