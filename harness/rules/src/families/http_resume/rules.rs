//! What is asked of streams that break off, and of the side that takes them up again.

use super::super::http_streams::OURS;
use crate::engine::{Revision, Span};
use crate::rule::Rule;

const POLLING: Span = Span::only(Revision::V2025_11_25);

const RESUMING: Rule = Rule { source: "basic/transports#resumability-and-redelivery", ..OURS };

pub(super) static RESPONDS: Rule = Rule {
    id: "http.sse.responds",
    title: "A stream opened for a request carries its answer before it ends",
    why: "The client waits until it gives up, and never learns whether the request was carried out.",
    fix: "Send the response, or an error, on the stream or on the one that resumes it.",
    ..OURS.should()
};

pub(super) static CLOSED_EARLY: Rule = Rule {
    id: "http.sse.close-before-response",
    span: Span::between(Revision::V2025_03_26, Revision::V2025_06_18),
    title: "A stream is not closed before the answers to its requests were sent",
    why: "Clients of these revisions take the end of the stream for the end of the exchange.",
    fix: "Keep the stream open until every request of the POST has its response.",
    ..OURS.should()
};

pub(super) static RETRY: Rule = Rule {
    id: "http.sse.retry-before-close",
    span: POLLING,
    title: "A server that closes a stream before the answer first says how long to wait",
    why: "Without `retry` each client reconnects when it likes, usually at once and in a loop.",
    fix: "Send an event with `retry:` before you close the connection.",
    ..OURS.should()
};

pub(super) static RETRY_RESPECTED: Rule = Rule {
    id: "http.sse.retry-respected",
    span: POLLING,
    title: "A client waits as long as `retry` says before it reconnects",
    why: "The server asked for the time; a client that reconnects early finds nothing and adds load.",
    fix: "Wait at least the given milliseconds after the connection closed.",
    ..OURS.client()
};

pub(super) static RECONNECT: Rule = Rule {
    id: "http.sse.reconnect",
    span: POLLING,
    title: "A client reconnects for the answer when its stream closes before it",
    why: "The answer waits at the server and is never fetched.",
    fix: "Send a GET with the last event id as `Last-Event-ID`.",
    ..OURS.should().client()
};

pub(super) static BROADCAST: Rule = Rule {
    id: "http.stream.no-broadcast",
    source: "basic/transports#multiple-connections",
    title: "A message is sent on one stream only",
    why: "The client handles the same message twice: it answers a request twice, and counts a notification twice.",
    fix: "Choose one of the open streams for each message.",
    ..OURS
};

pub(super) static UNIQUE: Rule = Rule {
    id: "sse.id.unique",
    title: "An event id names one event of the session, whatever its stream",
    why: "A client names the last id to get what comes after it; with two events of one id the server has to guess.",
    fix: "Count across the streams of a session, or put the stream's name into the id.",
    ..RESUMING
};

pub(super) static BY_GET: Rule = Rule {
    id: "http.resume.by-get",
    title: "A stream is resumed by GET",
    why: "A POST sends a message, and servers do not look for `Last-Event-ID` in it.",
    fix: "Send `Last-Event-ID` with a GET, also for a stream that a POST opened.",
    ..RESUMING.should().client()
};

pub(super) static KNOWN_ID: Rule = Rule {
    id: "http.resume.known-id",
    title: "`Last-Event-ID` is an id that the client was sent",
    why: "A server that cannot place the id sends everything again, or nothing.",
    fix: "Send the id of the last event that was read, to the letter.",
    ..RESUMING.should().client()
};

pub(super) static SAME_STREAM: Rule = Rule {
    id: "http.resume.same-stream",
    relational: true,
    title: "A resumed stream carries only what it would have carried",
    why: "A client that resumes one stream gets the messages of another, and may get them twice.",
    fix: "Keep the events of each stream apart, and replay those of the stream that sent the id.",
    ..RESUMING
};

pub(super) static LAST_ID: Rule = Rule {
    id: "http.resume.last-id",
    title: "A client resumes a stream from the last event that it has received",
    why: "The server repeats what the client already has, and the client has to sort it out.",
    fix: "Keep the id of the last event of each stream, and send that one.",
    ..RESUMING.should().client()
};

pub(super) static EACH_ID: Rule = Rule {
    id: "http.sse.each-id",
    title: "On a stream whose events have ids, each message has one of its own",
    why: "A client that resumes from the id before it gets the message a second time.",
    fix: "Give every event that carries a message an id.",
    ..RESUMING.info()
};
