//! stdio without sessions: who may write what, cancelling, and how a client of both eras finds out which one it meets.
//!
//! A trace may also be of an HTTP session, which its command line may tell. Memory: cancelled requests with a progress
//! token, up to [`MOST_CANCELLED`].

use crate::engine::{
    Family, FindingLocation, META_VERSION, MessageKind, Revision, RuleContext, RuleVisitor, SeenMessage,
    Span, Trigger, Violation, text_of,
};
use crate::rule::Rule;
use std::collections::VecDeque;
use transcript::json::Json;
use transcript::session::Side;

pub(super) const FAMILY: Family = Family {
    name: "modern-stdio",
    title: "stdio without sessions",
    rules: &[&CLIENT_RESPONSE, &SERVER_REQUEST, &SILENT, &PROBE, &FALLBACK],
    triggers: &[
        Trigger::NonMessages,
        Trigger::Kinds(MessageKind::CALLS),
        Trigger::Methods(
            &[MessageKind::Notification],
            &["notifications/cancelled", "notifications/progress"],
        ),
    ],
    visitor: || Box::new(ModernStdioState::default()),
};

/// The most cancelled requests that are remembered.
const MOST_CANCELLED: usize = 1_000;

/// Longer progress tokens are not followed.
const LONGEST: usize = 1 << 10;

/// What comes sooner after a cancellation may have been on its way, in milliseconds.
const ON_ITS_WAY: i64 = 1_000;

const OURS: Rule = Rule { span: Span::MODERN, ..Rule::BLANK.client() };

static CLIENT_RESPONSE: Rule = Rule {
    id: "stdio.no-client-response",
    source: "basic/transports/stdio#sending-messages",
    title: "A client writes requests and notifications, not responses",
    why: "Servers send no requests in this revision, so they have nothing to match an answer with.",
    fix: "Answer a question of the server by sending its request again with `inputResponses`.",
    ..OURS
};

static SERVER_REQUEST: Rule = Rule {
    id: "stdio.no-server-request",
    source: "basic/transports/stdio#receiving-messages",
    title: "A server writes responses and notifications, not requests",
    why: "Clients of this revision do not answer requests.",
    fix: "Put the question into the `inputRequests` of an `input_required` result.",
    ..OURS.server()
};

static SILENT: Rule = Rule {
    id: "stdio.silent-after-cancel",
    source: "basic/transports/stdio#cancellation",
    title: "A server sends nothing more for a request that was cancelled",
    why: "Nobody awaits it any more: it fills the pipe, and the work for it keeps the server busy.",
    fix: "Stop the work, and its notifications, when `notifications/cancelled` comes.",
    contested: Some(
        "The pages on transports forbid further messages; the page on cancellation lets a server ignore what it \
         cannot stop, so that it is a note.",
    ),
    ..OURS.info().server()
};

static PROBE: Rule = Rule {
    id: "stdio.probe-first",
    source: "basic/transports/stdio#backward-compatibility",
    title: "A client that can fall back to a handshake asks `server/discover` first",
    why: "An old server may take another request for its own and serve it by other rules.",
    fix: "Send `server/discover` before anything else, and `initialize` after an error that no new server sends.",
    ..OURS.should()
};

static FALLBACK: Rule = Rule {
    id: "stdio.no-fallback-on-modern-error",
    source: "basic/transports/stdio#backward-compatibility",
    title: "A client does not fall back to `initialize` after an answer of a new server",
    why: "The server has shown that it needs no handshake, and may know none.",
    fix: "Correct the request, or choose a version that the answer lists.",
    ..OURS.should()
};

/// A cancelled request that may still be worked at.
struct Cancelled {
    token: Box<str>,
    time: Option<i64>,
    location: FindingLocation,
}

#[derive(Default)]
struct ModernStdioState {
    /// The first request of a client that speaks this revision, and whether it was `server/discover`.
    first: Option<(FindingLocation, bool)>,
    /// The last answer was one that only a new server gives, and leaves no older version to try: where, and what.
    modern: Option<(FindingLocation, &'static str)>,
    cancelled: VecDeque<Cancelled>,
    disturbed: bool,
}

impl RuleVisitor for ModernStdioState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        let Some(message) = at.message else { return };
        if !is_http(at) {
            sides(&CLIENT_RESPONSE, &SERVER_REQUEST, message, at);
            self.answer(message, at);
        }
        match message.kind {
            MessageKind::Request if at.side != Some(Side::Server) => self.request(message, at),
            MessageKind::Notification => self.notification(message, at),
            MessageKind::Result
                if message.request().is_some_and(|request| request.method() != "initialize") =>
            {
                let result = message.result_of("server/discover").filter(|_| !is_http(at));
                let listed = result.and_then(|result| result.member("supportedVersions"));
                self.modern = lists_only_new(listed).then(|| (at.location(), "the answer"));
            }
            MessageKind::Error
                if message.error_code().is_some_and(|code| (-32022..=-32020).contains(&code)) =>
            {
                let listed = message.error().and_then(|error| error.member("data")?.member("supported"));
                self.modern = (!lists_an_old_version(listed)).then(|| (at.location(), "the error"));
            }
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        if at.facts.closed && !self.disturbed {
            for _ in &self.cancelled {
                at.pass(&SILENT);
            }
        }
    }
}

/// Whether the recording is of HTTP, by its format or what it says.
pub(super) fn is_http(at: &RuleContext<'_>) -> bool {
    let kind = at.facts.recording.kind;
    kind.http || (kind.exchanges || kind.envelope) && !at.facts.made_up
}

/// Whether clients only ask and servers only answer.
pub(super) fn sides(
    client_response: &'static Rule,
    server_request: &'static Rule,
    message: &SeenMessage<'_>,
    at: &RuleContext<'_>,
) {
    match (message.kind, at.side) {
        (MessageKind::Result | MessageKind::Error, Some(Side::Client)) => {
            at.fail(client_response, "the client sends a response");
        }
        (MessageKind::Request, Some(Side::Server)) => {
            let method = message.method.as_deref().unwrap_or_default();
            at.fail(server_request, format!("the server sends a request of its own, `{method}`"));
        }
        (MessageKind::Request, Some(Side::Client)) => at.pass(client_response),
        (MessageKind::Result | MessageKind::Error, Some(Side::Server)) => at.pass(server_request),
        _ => {}
    }
}

impl ModernStdioState {
    fn request(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if !message.calls("initialize") {
            if at.revision >= Some(Revision::V2026_07_28) && message.meta(META_VERSION).is_some() {
                self.first.get_or_insert_with(|| (at.location(), message.calls("server/discover")));
            }
            return;
        }
        // Whether to fall back is a question of the revision that the client comes from.
        let left =
            at.facts.negotiated.revision.filter(|revision| !revision.has_handshake() && !at.facts.torn());
        let at = &at.in_revision(left);
        if let Some((location, probed)) = self.first.take()
            && at.facts.piped
        {
            at.check(&PROBE, probed, || {
                let wrong = "the client falls back to a handshake, and did not begin with `server/discover`";
                Violation::new(wrong).see(location, "the first request")
            });
        }
        at.without(&FALLBACK, self.modern.take(), |(location, what)| {
            let wrong = match what {
                "the error" => "`initialize` follows an error that only a server of this revision sends",
                _ => "`initialize` follows an answer that lists no version with a handshake",
            };
            Violation::new(wrong).see(location, what)
        });
    }

    /// An answer to a request that its client cancelled. The end of a subscription is another rule's.
    fn answer(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let asked = message.request().filter(|request| request.method() != "subscriptions/listen");
        let Some((location, then)) = asked.and_then(|request| request.cancelled.as_deref()) else { return };
        if let (Some(then), Some(now)) = (then, at.entry.time) {
            self.late("the answer", now - then, location, at);
        }
    }

    fn late(&mut self, what: &str, after: i64, cancellation: &FindingLocation, at: &RuleContext<'_>) {
        if after >= ON_ITS_WAY {
            self.disturbed = true;
            let wrong = Violation::new(format!("{what} comes {after} ms after its request was cancelled"));
            at.fail(&SILENT, wrong.see(cancellation.clone(), "the cancellation"));
        }
    }

    fn notification(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        if message.calls("notifications/cancelled") && at.side != Some(Side::Server) {
            let cancelled = message.param("requestId").and_then(|id| at.pending.find(Some(Side::Client), id));
            let token = cancelled.and_then(|request| request.meta("progressToken"));
            if let Some(token) = token
                && !at.facts.hides(token.text())
                && token.text().len() <= LONGEST
                && self.cancelled.len() < MOST_CANCELLED
                && !is_http(at)
            {
                let token = token.text().into();
                self.cancelled.push_back(Cancelled { token, time: at.entry.time, location: at.location() });
            }
        }
        if !message.calls("notifications/progress") || at.side == Some(Side::Client) {
            return;
        }
        let Some(token) = message.param("progressToken") else { return };
        let cancelled = self.cancelled.iter().find(|cancelled| &*cancelled.token == token.text());
        let Some(cancelled) = cancelled else { return };
        if let (Some(then), Some(now)) = (cancelled.time, at.entry.time) {
            let location = cancelled.location.clone();
            self.late("progress", now - then, &location, at);
        }
    }
}

/// Whether a list has a version that begins with a handshake.
fn lists_an_old_version(listed: Option<Json<'_>>) -> bool {
    let mut versions = listed.into_iter().flat_map(Json::items).filter_map(text_of);
    versions.any(|version| Revision::named(&version).is_some_and(Revision::has_handshake))
}

/// Whether a list names versions, and none that begins with a handshake.
fn lists_only_new(listed: Option<Json<'_>>) -> bool {
    listed.is_some_and(|listed| listed.items().next().is_some()) && !lists_an_old_version(listed)
}
