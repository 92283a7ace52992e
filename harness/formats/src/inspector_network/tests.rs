//! What is missing in an export, read and written again.

use crate::small::{read, written};

const NAME: &str = "inspector-network";
const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

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

fn stream(count: &str) -> String {
    format!(
        r#"{{"timestamp":"2026-11-22T08:05:46.440Z","method":"GET","url":"u","requestHeaders":{{}},"responseStatus":200,
 "responseHeaders":{{"content-type":"text/event-stream"}}{count}}}"#
    )
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
