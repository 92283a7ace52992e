//! The guide's test cases and edge cases, each as entries made by hand.

mod connections;

use super::{Identification, Identifier, ResponseCounts, RevisionSource, Transport, TransportFinding};
use crate::envelope::{HTTP_SSE, STREAMABLE_HTTP};
use crate::format::Format;
use crate::{find, har, jsonrpc, mcp_replay};
use transcript::contract::Contract;
use transcript::json::Json;
use transcript::message::Message;
use transcript::session::{Carrier, Content, Context, Entry, Exchange, Headers, Location, Side, Sse};

/// Feeds entries to an identifier as a reader would.
struct Capture {
    contract: Contract,
    identifier: Identifier,
    exchanges: u64,
}

impl Capture {
    fn new(format: &Format) -> Self {
        Self { contract: Contract::default(), identifier: Identifier::new(format), exchanges: 0 }
    }

    fn log() -> Self {
        Self::new(&har::FORMAT)
    }

    fn give(&mut self, entry: &Entry<'_>) {
        let event = self.contract.take(entry).unwrap();
        self.identifier.take(entry, event.as_ref());
    }

    fn exchange(&mut self, time: i64, exchange: &Exchange<'_>) -> &mut Self {
        let location =
            Location { root: "/log/entries/", index: Some(self.exchanges), line: 7, ..Location::default() };
        self.exchanges += 1;
        let entry = Entry::new(location, Content::Exchange(exchange));
        self.give(&Entry { time: Some(time), exchange: Some(self.exchanges), ..entry });
        self
    }

    fn entry(&mut self, content: Content<'_>, carrier: Carrier, sse: Option<Sse<'_>>) -> &mut Self {
        let side = Some(if carrier == Carrier::Request { Side::Client } else { Side::Server });
        let exchange = (self.exchanges > 0).then_some(self.exchanges);
        self.give(&Entry { side, carrier, sse, exchange, ..Entry::new(Location::default(), content) });
        self
    }

    fn body(&mut self, carrier: Carrier, text: &str) -> &mut Self {
        self.entry(Content::Message(Message::parse(text).unwrap()), carrier, None)
    }

    fn asks(&mut self, text: &str) -> &mut Self {
        self.body(Carrier::Request, text)
    }

    fn event(&mut self, name: &str, data: Option<&str>) -> &mut Self {
        let sse = Sse {
            name: (!name.is_empty()).then(|| name.to_owned().into()),
            data: data.map(|data| data.to_owned().into()),
            ..Sse::default()
        };
        self.entry(Content::Event, Carrier::Sse, Some(sse))
    }

    fn streams(&mut self, text: &str) -> &mut Self {
        self.entry(Content::Message(Message::parse(text).unwrap()), Carrier::Sse, Some(Sse::default()))
    }

    fn finish(&mut self) -> Identification {
        std::mem::take(&mut self.identifier).finish()
    }
}

fn exchange(method: &'static str, media_type: &str) -> Exchange<'static> {
    Exchange {
        method: method.into(),
        url: "http://a/mcp".into(),
        status: Some(200),
        media_type: media_type.to_owned(),
        ..Exchange::default()
    }
}

fn with(exchange: Exchange<'static>, name: &'static str, value: &'static str) -> Exchange<'static> {
    let mut request_headers: Headers<'static> = exchange.request_headers;
    request_headers.push((name.into(), value.into()));
    Exchange { request_headers, ..exchange }
}

const STREAM: &str = "text/event-stream";
const JSON: &str = "application/json";
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
const LISTED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#;
const HELLO: &str =
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const SETTLED: &str =
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{}}}"#;
const PROBE: &str = r#"{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;

/// Requests, connections, and connections open at the end.
fn counts(found: &Identification) -> (u64, u64, u64) {
    let three = [found.requests_total, found.sse_connections_total, found.sse_connections_active];
    let [requests, total, active] = three.map(Option::unwrap);
    (requests, total, active)
}

fn shown(found: &Identification) -> Vec<(&str, bool)> {
    found.evidence.iter().map(|piece| (&*piece.shows, piece.weak)).collect()
}

#[test]
fn a_post_answered_with_a_stream_is_no_connection() {
    let found = Capture::log().exchange(0, &exchange("POST", STREAM)).asks(LIST).streams(LISTED).finish();
    assert_eq!(counts(&found), (1, 0, 0));
    assert_eq!(found.responses, Some(ResponseCounts { event_stream: 1, ..ResponseCounts::default() }));
    assert_eq!(found.transport, TransportFinding::One(Transport::StreamableHttp));
    assert_eq!((found.messages, found.sse_events), (2, Some(1)));
}

#[test]
fn a_get_answered_with_a_stream_is_one_and_active_while_open() {
    // It has no method of MCP to count it by. Nobody knows its end, so it is open.
    let found = Capture::log().exchange(0, &exchange("GET", STREAM)).finish();
    assert_eq!(counts(&found), (0, 1, 1));

    let post = Exchange { ended: Some(20), ..exchange("POST", JSON) };
    for (ended, active) in [(19, 0), (20, 0), (21, 1)] {
        let get = Exchange { ended: Some(ended), ..exchange("GET", STREAM) };
        let found = Capture::log().exchange(0, &get).exchange(10, &post).finish();
        assert_eq!(counts(&found), (0, 1, active), "{ended}");
        // An end that lies behind what is known so far may be passed by what comes later.
        let found = Capture::log().exchange(0, &get).exchange(10, &post).exchange(22, &post).finish();
        assert_eq!(counts(&found), (0, 1, 0), "{ended}");
    }
}

#[test]
fn a_post_answered_with_json_changes_no_connection() {
    let found = Capture::log().exchange(0, &exchange("POST", JSON)).asks(LIST).finish();
    assert_eq!(counts(&found), (1, 0, 0));
    assert_eq!(found.responses, Some(ResponseCounts { json: 1, ..ResponseCounts::default() }));
    assert_eq!(found.transport, TransportFinding::Unknown);
    // A stream of HTTP+SSE would bring the answer; an error's body anybody may send.
    let answered = |status| {
        let post = Exchange { status: Some(status), ..exchange("POST", JSON) };
        Capture::log().exchange(0, &post).asks(LIST).body(Carrier::Response, LISTED).finish().transport
    };
    assert_eq!(answered(200), TransportFinding::One(Transport::StreamableHttp));
    assert_eq!(answered(400), TransportFinding::Unknown);
}

#[test]
fn a_delete_changes_nothing() {
    let open = Exchange { ended: None, ..exchange("GET", STREAM) };
    let delete = Exchange { status: Some(202), ..exchange("DELETE", "") };
    let found = Capture::log().exchange(0, &open).exchange(5, &delete).finish();
    assert_eq!(counts(&found), (0, 1, 1));
}

#[test]
fn each_resumption_is_a_connection() {
    let get = Exchange { ended: Some(1), ..exchange("GET", STREAM) };
    let again = with(Exchange { ended: Some(9), ..get.clone() }, "Last-Event-ID", "5");
    let found = Capture::log().exchange(0, &get).exchange(2, &again).exchange(10, &again).finish();
    assert_eq!(counts(&found), (0, 3, 0));
}

#[test]
fn a_priming_event_is_an_event_and_a_comment_is_none() {
    let mut capture = Capture::log();
    let found = capture.exchange(0, &exchange("GET", STREAM)).event("", Some("")).event("", None).finish();
    assert_eq!((found.sse_events, counts(&found)), (Some(1), (0, 1, 1)));
}

#[test]
fn answers_are_counted_by_kind() {
    let mut capture = Capture::log();
    for (status, media) in [
        (Some(200), "application/problem+json"),
        (Some(202), JSON),
        (Some(202), "text/plain"),
        (Some(202), ""),
        (Some(204), ""),
        (Some(401), ""),
        (Some(405), ""),
        (Some(200), "text/html"),
        (None, ""),
        (None, STREAM),
    ] {
        capture.exchange(0, &Exchange { status, ..exchange("GET", media) });
    }
    let found = capture.finish();
    let expected = ResponseCounts { json: 1, event_stream: 0, accepted: 3, other: 4, none: 2 };
    assert_eq!(found.responses, Some(expected));
    assert_eq!(counts(&found), (0, 0, 0));
}

#[test]
fn responses_and_dropped_bodies_are_no_requests_but_the_method_header_makes_one() {
    let post = exchange("POST", "");
    let mut capture = Capture::log();
    capture.exchange(0, &post).body(Carrier::Request, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
    capture.exchange(0, &post);
    capture.exchange(0, &with(post.clone(), "mcp-method", "tools/list"));
    capture.exchange(0, &with(post, "mcp-method", "tools/list")).asks(LIST);
    assert_eq!(counts(&capture.finish()), (2, 0, 0));
}

#[test]
fn an_endpoint_event_is_http_sse_when_it_is_the_first() {
    let get = exchange("GET", STREAM);
    let mut capture = Capture::log();
    let found = capture.exchange(0, &get).event("", None).event("endpoint", Some("/m")).finish();
    assert_eq!(found.transport, TransportFinding::One(Transport::HttpSse));
    assert_eq!(found.revision, Some(("2024-11-05".to_owned(), RevisionSource::Hint)));
    let found =
        Capture::log().exchange(0, &get).event("ping", Some("")).event("endpoint", Some("/m")).finish();
    assert_eq!(found.transport, TransportFinding::Unknown);
    let found = Capture::log().exchange(0, &exchange("POST", STREAM)).event("endpoint", Some("/m")).finish();
    assert_eq!(found.transport, TransportFinding::One(Transport::StreamableHttp));
}

#[test]
fn a_version_header_contradicts_an_endpoint_event_unless_it_went_to_that_endpoint() {
    let get = Exchange { url: "http://a/sse".into(), ..exchange("GET", STREAM) };
    let post = with(exchange("POST", ""), "MCP-PROTOCOL-VERSION", "2025-11-25");
    let mut capture = Capture::log();
    capture.exchange(0, &get).event("endpoint", Some("/mcp")).exchange(1, &post).asks(LIST);
    let found = capture.finish();
    assert_eq!(found.transport, TransportFinding::One(Transport::HttpSse));
    assert_eq!(found.revision, Some(("2025-11-25".to_owned(), RevisionSource::Header)));

    let mut capture = Capture::log();
    capture.exchange(0, &get).event("endpoint", Some("/other")).exchange(1, &post).asks(LIST);
    let found = capture.finish();
    assert_eq!(found.transport, TransportFinding::Mixed);
    assert_eq!(shown(&found)[..2], [("http-sse", false), ("streamable-http", false)]);
    let header = found.evidence.iter().find(|piece| piece.what.contains("MCP-Protocol-Version")).unwrap();
    assert_eq!(
        (header.location.line, &*header.location.pointer),
        (Some(7), "/log/entries/1/request/headers")
    );
}

#[test]
fn the_revision_is_what_was_settled_on() {
    let revision = |messages: &[&str]| {
        let mut capture = Capture::new(&jsonrpc::FORMAT);
        for text in messages {
            capture.body(if text.contains("method") { Carrier::Request } else { Carrier::Line }, text);
        }
        capture.finish().revision
    };
    let probed = r#"{"jsonrpc":"2.0","id":"p","result":{"supportedVersions":["2026-07-28"]}}"#;
    let refused = r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32601,"message":"no"}}"#;
    let settled = Some(("2025-06-18".to_owned(), RevisionSource::InitializeResult));
    let named = Some(("2026-07-28".to_owned(), RevisionSource::RequestMeta));
    assert_eq!(revision(&[HELLO]), None);
    assert_eq!(revision(&[HELLO, SETTLED]), settled);
    assert_eq!(revision(&[PROBE, HELLO, SETTLED]), settled);
    assert_eq!(revision(&[PROBE, refused, HELLO, SETTLED]), settled);
    assert_eq!(revision(&[PROBE, probed, HELLO, SETTLED]), named);
    assert_eq!(revision(&[PROBE, probed]), named);
    assert_eq!(revision(&[PROBE, refused]), None);
    // An answer that nobody asked for is known by its shape; one that was asked for by its question.
    assert_eq!(revision(&[SETTLED]), settled);
    let other = r#"{"jsonrpc":"2.0","id":0,"method":"tools/call","params":{"name":"a"}}"#;
    assert_eq!(revision(&[other, SETTLED]), None);
}

#[test]
fn both_pieces_of_a_torn_revision_are_listed() {
    let mut capture = Capture::new(&mcp_replay::FORMAT);
    capture.asks(PROBE).asks(HELLO).body(Carrier::Line, SETTLED);
    assert_eq!(shown(&capture.finish()), [("2026-07-28", true), ("2025-06-18", false)]);
}

#[test]
fn hints_stand_in_where_nothing_was_said() {
    let session = with(exchange("POST", JSON), "mcp-session-id", "s");
    let found = Capture::log().exchange(0, &session).asks(HELLO).finish();
    assert_eq!(found.revision, None);
    assert_eq!(shown(&found), [("streamable-http", false), ("2025-03-26 to 2025-11-25", true)]);
    // Whatever comes after `initialize` must have the header since 2025-06-18.
    let found = Capture::log().exchange(0, &session).asks(LIST).finish();
    assert_eq!(found.revision, Some(("2025-03-26".to_owned(), RevisionSource::Hint)));

    let refused = Exchange { status: Some(400), ..with(exchange("POST", JSON), "mcp-method", "a") };
    let found = Capture::log().exchange(0, &with(refused, "mcp-protocol-version", "2026-07-28")).finish();
    assert_eq!(found.revision, None);
    let found = Capture::log().exchange(0, &with(exchange("POST", JSON), "mcp-method", "a")).finish();
    assert_eq!(found.revision, Some(("2026-07-28".to_owned(), RevisionSource::Hint)));
}

#[test]
fn what_a_format_cannot_tell_is_unknown() {
    let found = Capture::new(&jsonrpc::FORMAT).body(Carrier::Line, LIST).finish();
    assert_eq!(found.transport, TransportFinding::Unknown);
    assert_eq!((found.requests_total, found.sse_connections_total, found.sse_events), (None, None, None));
    assert_eq!((found.responses, found.messages), (None, 1));
    // An envelope has each request, and no exchange.
    let found = Capture::new(&STREAMABLE_HTTP).asks(LIST).event("endpoint", Some("/m")).finish();
    assert_eq!(found.transport, TransportFinding::Mixed);
    assert_eq!((found.requests_total, found.sse_connections_total), (Some(1), None));
    assert_eq!((found.sse_events, found.responses), (Some(1), None));
    assert_eq!(find("streamable-http").map(|format| format.name), Some(Transport::StreamableHttp.name()));
}

#[test]
fn an_envelope_s_label_counts_and_its_headers_do() {
    let text = Json::parse("{}").unwrap();
    let headers = vec![("mcp-protocol-version".into(), "2025-11-25".into())];
    let context = Context { text, status: None, headers };
    let found = |format| {
        let mut capture = Capture::new(format);
        let location = Location { root: "/transport_context", ..Location::default() };
        capture.give(&Entry { context: Some(&context), ..Entry::new(location, Content::Envelope) });
        let found = capture.finish();
        assert_eq!(found.revision, Some(("2025-11-25".to_owned(), RevisionSource::Header)));
        assert_eq!(found.evidence.last().unwrap().location.pointer, "/transport_context/headers");
        found.transport
    };
    assert_eq!(found(&STREAMABLE_HTTP), TransportFinding::One(Transport::StreamableHttp));
    assert_eq!(found(&HTTP_SSE), TransportFinding::One(Transport::HttpSse));
}

#[test]
fn a_command_is_weak_evidence() {
    for (meta, expected) in [
        (r#"{"command":["node","server.js"]}"#, vec![("stdio", true)]),
        (r#"{"command":["tap","https://a/mcp"]}"#, vec![("http", true)]),
        (r#"{"command":"http://a"}"#, vec![("http", true)]),
        (r#"{"command":[]}"#, vec![]),
        ("{}", vec![]),
    ] {
        let mut capture = Capture::new(&mcp_replay::FORMAT);
        capture.give(&Entry::new(Location::default(), Content::TraceStart(Json::parse(meta).unwrap())));
        let found = capture.finish();
        assert_eq!((shown(&found), found.transport), (expected, TransportFinding::Unknown), "{meta}");
    }
}

#[test]
fn a_flood_of_values_is_counted_in_little_room() {
    let mut capture = Capture::new(&jsonrpc::FORMAT);
    for number in 0..10_000 {
        let long = "x".repeat(100);
        capture.asks(&format!(
            r#"{{"jsonrpc":"2.0","id":{number},"method":"a","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"{number}{long}"}}}}}}"#
        ));
    }
    let found = capture.finish();
    assert_eq!(found.evidence.len(), 8);
    assert!(found.evidence.iter().all(|piece| piece.shows.chars().count() == 41));
    assert!(found.evidence[7].what.ends_with("; 9992 more have yet other values"));
}
