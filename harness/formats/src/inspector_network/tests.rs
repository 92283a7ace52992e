//! What network exports are read as, and what sessions are written as.

use crate::small::{lines, means, read, rejects, trace, written};
use crate::{Input, detect};
use proptest::prelude::*;
use transcript::rejection::Code;

const NAME: &str = "inspector-network";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

fn quoted(text: &str) -> String {
    serde_json::to_string(text).unwrap()
}

/// A POST at this second with this body, and what else it says.
fn post(second: u8, body: &str, rest: &str) -> String {
    format!(
        r#"{{"id":"1-a","timestamp":"2026-11-22T08:05:{second:02}.308Z","method":"POST","url":"http://127.0.0.1:8931/mcp",
 "requestHeaders":{{"content-type":"application/json"}},"requestBody":{},"duration":5,"category":"transport"{rest}}}"#,
        quoted(body)
    )
}

/// An answer of this type, as far as it stands beside a request.
fn answer(media_type: &str, body: &str) -> String {
    format!(
        r#","responseStatus":200,"responseHeaders":{{"content-type":"{media_type}"}},"responseBody":{}"#,
        quoted(body)
    )
}

fn stream(count: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-11-22T08:05:46.440Z","method":"GET","url":"u","requestHeaders":{{}},"responseStatus":200,
 "responseHeaders":{{"content-type":"text/event-stream"}}{count}}}"#
    )
}

#[test]
fn exchanges_stand_in_the_order_of_their_times() {
    let first =
        post(1, PING, &answer("text/event-stream; charset=utf-8", &format!(": hi\n\ndata: {PONG}\n\n")));
    let second = post(
        2,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#","responseStatus":202,"responseBody":"""#,
    );
    let expected = means(
        "jsonrpc",
        &[PING, PONG, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#].join("\n"),
    );
    for listed in [[&first, &second], [&second, &first]] {
        assert_eq!(means(NAME, &format!("[{},\n{}]", listed[0], listed[1])), expected);
    }
    let number = second.replace("\"2026-11-22T08:05:02.308Z\"", "1795334746308");
    assert_eq!(
        means(NAME, &format!("[{number},{first}]")),
        expected,
        "a number of milliseconds is a time too"
    );
    assert_eq!(means(NAME, "[]"), means("jsonrpc", ""));
}

#[test]
fn what_is_not_there_is_missing_and_what_never_was_is_not() {
    let json = r#","responseStatus":200,"responseHeaders":{"content-type":"application/json"}"#;
    let withheld = "[truncated JSON body withheld: an incomplete body cannot be redacted]";
    let no_body = post(1, PING, json).replace(&format!(r#""requestBody":{},"#, quoted(PING)), "");
    for (exchange, missing) in [
        (post(1, PING, json), 1),
        (post(1, PING, r#","responseStatus":200,"responseHeaders":{"content-type":"text/event-stream"}"#), 1),
        (post(1, PING, r#","responseStatus":200,"responseHeaders":{"content-length":"7"}"#), 1),
        (post(1, PING, &answer("application/json", withheld).replace("200", "401")), 1),
        (no_body, 2),
        (stream(""), 1),
        (stream(r#","stream":{"eventCount":2,"closedAt":"2026-11-22T08:05:46.605Z"}"#), 1),
        (stream(r#","stream":{"eventCount":0}"#), 0),
        (post(1, PING, r#","responseStatus":202,"responseHeaders":{}"#), 0),
        (post(1, PING, r#","error":"fetch failed""#), 0),
        (post(1, PING, &answer("text/html", "<p>\n[truncated]").replace("200", "403")), 0),
        (
            post(
                1,
                PING,
                r#","responseStatus":200,"responseHeaders":{"content-type":"application/json","content-length":"0"}"#,
            ),
            0,
        ),
    ] {
        let meaning = read(NAME, &format!("[{exchange}]"), false).unwrap();
        assert_eq!(meaning.totals.missing, missing, "{exchange}");
    }
}

#[test]
fn a_challenge_is_seen_and_a_call_for_a_token_says_nothing() {
    let challenge = r#","responseStatus":401,"responseHeaders":{"WWW-Authenticate":"Bearer resource_metadata=\"x\", scope=\"y\""},
 "responseBody":"{\"error\":\"invalid_token\"}""#;
    let token = post(
        2,
        "grant_type=a&code=%5BREDACTED%5D",
        &answer("application/json", r#"{"access_token":"[REDACTED]"}"#),
    )
    .replace("application/json\"},\"requestBody", "application/x-www-form-urlencoded\"},\"requestBody");
    let meaning = read(NAME, &format!("[{},{token}]", post(1, PING, challenge)), false).unwrap();
    assert!(
        meaning.totals.events == 1 && meaning.totals.authorization_discovery.is_some(),
        "{}",
        meaning.text
    );
}

#[test]
fn what_is_no_export_is_refused_at_its_place() {
    let broken = post(1, PING, &answer("application/json", "{\"jsonrpc\":"));
    for (text, code, clause, line, column, pointer) in [
        ("", Code::Truncated, "SRV-BYTES", 1, 1, ""),
        ("{}", Code::WrongDocument, "SRV-BYTES", 1, 1, ""),
        ("[7]", Code::InvalidEntry, "SRV-BYTES", 1, 2, "/0"),
        (r#"[{"jsonrpc":"2.0","method":"a"}]"#, Code::InvalidEntry, "SRV-BYTES", 1, 2, "/0"),
        (
            r#"[{"method":"POST","url":"u","requestBody":7}]"#,
            Code::WrongType,
            "SRV-BYTES",
            1,
            43,
            "/0/requestBody",
        ),
        (r#"[{"method":"POST","url":"u","url":"u"}]"#, Code::AmbiguousMember, "SRV-TWICE", 1, 30, "/0"),
        (
            r#"[{"method":"POST","url":"u","requestBody":"[{\"jsonrpc\":\"2.0\",\"method\":\"a\"}]"}]"#,
            Code::Batch,
            "HAR-MESSAGE",
            1,
            44,
            "/0/requestBody",
        ),
        (
            r#"[{"method":"POST","url":"u","requestBody":"{\"jsonrpc\":\"2.0\",\"id\":[],\"method\":\"a\"}"}]"#,
            Code::InvalidId,
            "ID-REJECT",
            1,
            72,
            "/0/requestBody",
        ),
        (&format!("[{broken}]"), Code::InvalidJson, "SRV-BYTES", 2, 262, "/0/responseBody"),
        (r#"[{"method":"POST","#, Code::Truncated, "SRV-BYTES", 1, 19, ""),
    ] {
        assert_eq!(rejects(NAME, text), (code, clause, line, column, pointer.to_owned()), "{text}");
    }
}

#[test]
fn it_is_told_from_its_first_exchange() {
    let long = post(1, &"x".repeat(70_000), "");
    for (text, name) in [
        (format!(" [ {}", post(1, PING, "")), Some(NAME)),
        (format!("[{}]", stream("")), Some(NAME)),
        (format!("[{long},{long}]"), Some(NAME)),
        ("[]".to_owned(), Some("inspector")),
        (format!("[{PING},{}]", post(1, PING, "")), Some("inspector")),
        (r#"[{"id":"1","timestamp":"t","direction":"request","message":{"method":"url","params":{"requestHeaders":1}}}]"#.to_owned(), Some("inspector")),
        ("[7,".to_owned(), Some("inspector")),
    ] {
        for size in [1, 100, 1 << 20] {
            let mut drops = text.as_bytes().chunks(size).flat_map(|chunk| chunk.to_vec()).collect::<std::collections::VecDeque<u8>>();
            let found = detect(&mut Input::new(&mut drops).unwrap()).unwrap();
            assert_eq!(found.map(|format| format.name), name, "{}", &text[..text.len().min(100)]);
        }
    }
}

#[test]
fn it_is_written_as_the_inspector_writes_it() {
    let har = r#"{"log":{"entries":[{"startedDateTime":"2026-11-22T08:05:46.308Z","time":5,"request":{"method":"POST","url":"http://h/mcp",
 "headers":[{"name":"Content-Type","value":"application/json"}],"postData":{"text":"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}},
 "response":{"status":401,"headers":[{"name":"WWW-Authenticate","value":"Basic"},{"name":"www-authenticate","value":"Bearer scope=\"a\""}],
 "content":{"size":0}}}]}}"#;
    let expected = r#"[
  {
    "id": "1795334746308-0",
    "timestamp": "2026-11-22T08:05:46.308Z",
    "method": "POST",
    "url": "http://h/mcp",
    "requestHeaders": {"content-type": "application/json"},
    "requestBody": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    "responseStatus": 401,
    "responseStatusText": "Unauthorized",
    "responseHeaders": {"www-authenticate": "Basic, Bearer scope=\"a\""},
    "duration": 5,
    "category": "transport"
  }
]
"#;
    assert_eq!(written("har", har, NAME), expected);
    assert_eq!(means(NAME, expected), means("har", har));
    // One that is never closed hides nothing of the other.
    let unclosed = har.replace("\"Basic\"", r#""Basic realm=\"x""#);
    assert_eq!(means(NAME, &written("har", &unclosed, NAME)), means("har", &unclosed));
    assert!(means("har", &unclosed).contains("\"scope_challenge_visible\": true"));
    assert_eq!(written("jsonrpc", "", NAME), "[]\n");
}

#[test]
fn a_hole_stays_a_hole() {
    let exchanges = [
        stream(r#","stream":{"eventCount":2}"#),
        post(1, PING, r#","responseStatus":200,"responseHeaders":{"content-length":"7"}"#),
        post(2, PING, r#","responseStatus":200,"responseHeaders":{"content-type":"text/event-stream"}"#),
    ];
    let text = format!("[{}]", exchanges.join(","));
    let again = written(NAME, &text, NAME);
    assert_eq!(read(NAME, &again, false).unwrap(), read(NAME, &text, false).unwrap(), "{again}");
    // What its headers say already is not said again, or otherwise.
    let lengths: Vec<_> = again.lines().filter(|line| line.contains("content-length")).collect();
    assert!(lengths.len() == 1 && lengths[0].contains(r#""content-length": "7""#), "{again}");
    let har = written(NAME, &text, "har");
    assert_eq!(read("har", &har, false).unwrap().totals.missing, 3, "{har}");
}

proptest! {
    #[test]
    fn lines_mean_the_same_as_exchanges(text in lines()) {
        prop_assert_eq!(means(NAME, &written("jsonrpc", &text, NAME)), means("jsonrpc", &text));
    }

    #[test]
    fn a_trace_means_the_same_as_exchanges(text in trace()) {
        let once = written("mcp-replay", &text, NAME);
        prop_assert_eq!(means(NAME, &once), means("mcp-replay", &text));
        // When an exchange that was made up began is made up again; its messages are not.
        prop_assert_eq!(means(NAME, &written(NAME, &once, NAME)), means(NAME, &once));
    }
}
