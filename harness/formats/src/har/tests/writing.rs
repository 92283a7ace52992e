use super::{call, done, file, get, post, quoted, read};
use crate::meaning::{Meaning, meaning};
use crate::session::{OwnedContent, OwnedEntry, Session, TransportContext};
use crate::{Input, ReadOptions, find};
use proptest::prelude::*;
use serde_json::Value;
use transcript::contract::Contract;
use transcript::message::Message;
use transcript::session::{Carrier, Content, Context, Entry, Side, Sse};

fn session(format: &str, text: &str) -> Session {
    let mut reader = text.as_bytes();
    let mut input = Input::new(&mut reader).unwrap();
    Session::read(find(format).unwrap(), &mut input, ReadOptions::default()).unwrap()
}

fn written(session: &Session) -> String {
    let mut out = Vec::new();
    super::super::write::write(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Each exchange in short: method, status, the POST's body, the answer's media type and body.
fn exchanges(har: &str) -> Vec<(String, u64, String, String, String)> {
    let value: Value = serde_json::from_str(har).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let entries = value["log"]["entries"].as_array().unwrap();
    let brief = |entry: &Value| {
        let (request, response) = (&entry["request"], &entry["response"]);
        let content = &response["content"];
        (
            text(&request["method"]),
            response["status"].as_u64().unwrap(),
            text(&request["postData"]["text"]),
            text(&content["mimeType"]),
            text(&content["text"]),
        )
    };
    entries.iter().map(brief).collect()
}

fn flat(lines: &[String]) -> String {
    written(&session("jsonrpc", &lines.join("\n")))
}

fn exchange(
    method: &str,
    status: u64,
    body: &str,
    mime: &str,
    answer: &str,
) -> (String, u64, String, String, String) {
    (method.to_owned(), status, body.to_owned(), mime.to_owned(), answer.to_owned())
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
const READY: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

#[test]
fn a_request_is_a_post_and_what_follows_is_its_answer() {
    let note = NOTE.to_owned();
    let har = flat(&[
        note.clone(),
        call(1),
        done(1),
        READY.to_owned(),
        call(2),
        note.clone(),
        done(2),
        note.clone(),
        call(3),
        call(4),
        done(3),
    ]);
    let event = |message: &str| format!("event: message\ndata: {message}\n\n");
    let (json, stream) = ("application/json", "text/event-stream");
    assert_eq!(
        exchanges(&har),
        [
            exchange("GET", 200, "", stream, &event(NOTE)),
            exchange("POST", 200, &call(1), json, &done(1)),
            exchange("POST", 202, READY, "", ""),
            exchange("POST", 200, &call(2), stream, &(event(NOTE) + &event(&done(2)))),
            // The POST of 2 is answered: what comes now came on another stream.
            exchange("GET", 200, "", stream, &event(NOTE)),
            exchange("POST", 200, &call(3), stream, ""),
            exchange("POST", 200, &call(4), stream, ""),
            exchange("GET", 200, "", stream, &event(&done(3))),
        ]
    );
}

#[test]
fn every_member_that_har_requires_is_there() {
    let value: Value = serde_json::from_str(&flat(&[NOTE.to_owned(), call(1), done(1)])).unwrap();
    let log = &value["log"];
    assert_eq!((&log["version"], &log["creator"]["name"]), (&"1.2".into(), &"mcp-concord".into()));
    assert!(log["creator"]["version"].is_string());
    for entry in log["entries"].as_array().unwrap() {
        assert!(crate::time::parse(entry["startedDateTime"].as_str().unwrap()).is_some());
        assert!(entry["time"].is_u64() && entry["cache"].is_object());
        for name in ["send", "wait", "receive"] {
            assert!(entry["timings"][name].is_u64());
        }
        let (request, response) = (&entry["request"], &entry["response"]);
        for half in [request, response] {
            assert!(
                half["httpVersion"].is_string() && half["cookies"].is_array() && half["headers"].is_array()
            );
            assert!(half["headersSize"] == -1 && half["bodySize"].is_u64());
        }
        assert!(
            request["method"].is_string() && request["url"].is_string() && request["queryString"].is_array()
        );
        assert!(response["statusText"].is_string() && response["redirectURL"].is_string());
        assert_eq!(response["content"]["size"], response["content"]["text"].as_str().unwrap().len());
    }
}

#[test]
fn text_survives_both_layers_of_json() {
    let hard = r#"{"jsonrpc":"2.0","id":"\ud83d","method":"é😀\u2028\\\"","params":{"n":9007199254740993.0,"a":"\udc00\n","a":"\u0000"}}"#;
    let spaced = hard.replace(',', " , ");
    let har = flat(&[spaced, format!(r#"{{"jsonrpc":"2.0","id":"\uD83D","error":"{}"}}"#, "\u{2028}")]);
    assert_eq!(exchanges(&har)[0].2, hard);
    let read = read(&har).unwrap();
    let plain = meaning(
        find("jsonrpc").unwrap(),
        &mut format!("{hard}\n{{\"jsonrpc\":\"2.0\",\"id\":\"\\ud83d\",\"error\":\"\u{2028}\"}}").as_bytes(),
        ReadOptions::default(),
    );
    assert_eq!(read.text, plain.unwrap().text);
}

#[test]
fn a_har_keeps_its_exchanges() {
    let refused = format!(
        r#"{{"startedDateTime": "2026-11-21T10:00:00.500Z", "time": 7.0, "request": {{"method": "POST", "url": "https://b/mcp?x=1", "headers": [{{"name": "Authorization", "value": "x"}}], "postData": {{"text": {}}}}},
 "response": {{"status": 401, "headers": [{{"name": "WWW-Authenticate", "value": "Bearer scope=\"a\""}}, {{"name": "www-authenticate", "value": "Basic"}}], "content": {{"mimeType": "text/plain", "text": "no"}}}}}}"#,
        quoted(&call(1))
    );
    let delete = r#"{"startedDateTime": "2026-11-21T10:00:09Z", "request": {"method": "DELETE", "url": "https://b/mcp", "headers": []}, "response": {"status": 204, "headers": [], "content": {}}}"#;
    let stream = format!(
        ": a\nid: 1\ndata: \n\nevent: x\ndata: a\ndata: b\n\nretry: 5\n\nid: 2\ndata: {}\n\n",
        done(2)
    );
    let session = session(
        "har",
        &file(&[
            delete.to_owned(),
            refused,
            post("2026-11-21T10:00:01Z", &call(2), "text/event-stream;charset=utf-8", &stream),
            get(": nothing\n\n"),
        ]),
    );
    let har = written(&session);
    // That there was a comment is kept, its words are not.
    let kept = stream.replacen(": a\n", ":\n", 1);
    assert_eq!(
        exchanges(&har),
        [
            exchange("POST", 401, &call(1), "text/plain", "no"),
            exchange("POST", 200, &call(2), "text/event-stream;charset=utf-8", &kept),
            exchange("GET", 200, "", "text/event-stream", ":\n\n"),
            exchange("DELETE", 204, "", "", ""),
        ]
    );
    let value: Value = serde_json::from_str(&har).unwrap();
    let first = &value["log"]["entries"][0];
    assert_eq!(first["startedDateTime"], "2026-11-21T10:00:00.500Z");
    assert_eq!(first["time"], 7);
    assert_eq!(first["request"]["url"], "https://b/mcp?x=1");
    assert_eq!(first["request"]["headers"], serde_json::json!([{"name": "Authorization", "value": "x"}]));
    assert_eq!(first["response"]["headers"][1]["value"], "Basic");
    assert!(read(&har).unwrap().totals.authorization_discovery.unwrap().scope_challenge_visible);
    // Written once, it is a fixed point.
    assert_eq!(written(&self::session("har", &har)), har);
}

#[test]
fn a_hole_stays_a_hole() {
    let hole = |method: &str, mime: &str| {
        format!(
            r#"{{"request": {{"method": "{method}", "bodySize": 9}}, "response": {{"status": 200, "content": {{"size": 0, "mimeType": "{mime}"}}, "bodySize": 7}}}}"#
        )
    };
    let text = file(&[hole("POST", "text/event-stream"), hole("POST", "application/json"), hole("GET", "")]);
    assert_eq!(read(&text).unwrap().totals.missing, 5);
    let session = session("har", &text);
    assert_eq!(read(&written(&session)).unwrap().totals.missing, 5);
    assert!(session.losses(&super::super::FORMAT).is_empty());
    assert!(
        session.losses(find("jsonrpc").unwrap()).iter().any(|loss| loss.what.contains("dropped a body (5)"))
    );
}

/// An entry as an envelope's reader would hand it over.
fn entry(carrier: Carrier, message: Option<&str>, context: Option<(u16, &str)>) -> OwnedEntry {
    let what = match message {
        Some(text) => OwnedContent::Message(text.to_owned(), Message::parse(text).unwrap().shape()),
        None => OwnedContent::Empty,
    };
    OwnedEntry {
        side: Some(if carrier == Carrier::Request { Side::Client } else { Side::Server }),
        carrier,
        sse: (carrier == Carrier::Sse).then(Sse::default),
        context: context.map(|(status, challenge)| TransportContext {
            text: "{}".to_owned(),
            status: Some(status),
            headers: vec![("WWW-Authenticate".into(), challenge.to_owned().into())],
        }),
        ..OwnedEntry::new(what)
    }
}

/// What the entries mean by the contract, with the bindings entered as a reader would.
fn direct(entries: Vec<OwnedEntry>) -> Option<(Session, Meaning)> {
    let mut contract = Contract::default();
    let mut writer = crate::MeaningWriter::new();
    let mut session = Session { entries, ..Session::default() };
    for owned in &mut session.entries {
        let text = owned.message().map(|message| (message.text().to_owned(), message.shape()));
        let content = match &text {
            Some((text, shape)) => Content::Message(Message::new(text, *shape)),
            None => Content::Empty,
        };
        let context = owned.context.as_ref().map(|context| Context {
            text: transcript::json::Json::parse("{}").unwrap(),
            status: context.status,
            headers: context.headers.clone(),
        });
        let entry = Entry {
            side: owned.side,
            carrier: owned.carrier,
            context: context.as_ref(),
            ..Entry::new(owned.location, content)
        };
        if let Some(event) = contract.take(&entry).ok()? {
            owned.answers = event.answers;
            writer.event(&event);
        }
    }
    writer.end(contract.authorization_discovery());
    let text = String::from_utf8(writer.take()).unwrap();
    session.totals.authorization_discovery = contract.authorization_discovery();
    let totals = session.totals;
    Some((session, Meaning { text, totals }))
}

#[test]
fn a_challenge_of_an_envelope_becomes_a_401() {
    let challenge = "Bearer resource_metadata=\"https://a\"";
    let (session, meaning) = direct(vec![
        entry(Carrier::Request, Some(&call(1)), None),
        entry(Carrier::Response, None, Some((401, challenge))),
        entry(Carrier::Request, Some(&call(2)), None),
        entry(Carrier::Response, Some(&done(2)), Some((200, "Bearer scope=\"b\""))),
        entry(Carrier::Response, None, Some((401, "Basic"))),
    ])
    .unwrap();
    let har = written(&session);
    assert_eq!(
        exchanges(&har),
        [
            exchange("POST", 401, &call(1), "", ""),
            exchange("POST", 200, &call(2), "application/json", &done(2)),
            exchange("GET", 401, "", "", ""),
        ]
    );
    assert_eq!(read(&har).unwrap().text, meaning.text);
    assert!(meaning.text.contains("\"resource_metadata_visible\": true"));
    assert!(meaning.text.contains("\"scope_challenge_visible\": false"));
}

#[test]
fn after_an_endpoint_event_answers_come_on_the_stream() {
    let mut endpoint = entry(Carrier::Sse, None, None);
    endpoint.what = OwnedContent::Event;
    let name = |name: &'static str| Some(Sse { name: Some(name.into()), ..Sse::default() });
    endpoint.sse = Some(Sse { data: Some("/m\r\nx\ry".into()), ..name("endpoint").unwrap() });
    let mut answer = entry(Carrier::Sse, Some(&done(1)), None);
    answer.sse = name("message");
    let (session, _) = direct(vec![endpoint, entry(Carrier::Request, Some(&call(1)), None), answer]).unwrap();
    let stream = format!("event: message\ndata: {}\n\n", done(1));
    assert_eq!(
        exchanges(&written(&session)),
        [
            exchange("GET", 200, "", "text/event-stream", "event: endpoint\ndata: /m\ndata: x\ndata: y\n\n"),
            exchange("POST", 202, &call(1), "", ""),
            exchange("GET", 200, "", "text/event-stream", &stream),
        ]
    );
}

#[test]
fn times_never_run_backwards() {
    let mut entries: Vec<OwnedEntry> =
        (1..5).map(|id| entry(Carrier::Request, Some(&call(id)), None)).collect();
    for (entry, time) in entries.iter_mut().zip([None, Some(5_000), Some(3_000), Some(6_000)]) {
        entry.time = time;
    }
    let (session, meaning) = direct(entries).unwrap();
    let har = written(&session);
    let value: Value = serde_json::from_str(&har).unwrap();
    let times: Vec<_> = value["log"]["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["startedDateTime"].as_str().unwrap())
        .collect();
    let at = |second: u32| format!("1970-01-01T00:00:0{second}.000Z");
    assert_eq!(times, [at(5), at(5), at(5), at(6)]);
    assert_eq!(read(&har).unwrap().text, meaning.text);
}

/// Sessions as envelopes, exchange logs and flat formats tell them, good and odd.
fn sessions() -> impl Strategy<Value = Vec<OwnedEntry>> {
    let message = prop_oneof![
        (0..4u8).prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)),
        (0..4u8).prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"a":"\ud83d\n"}}}}"#)),
        (0..4u8).prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{}}}}"#)),
        Just(NOTE.to_owned()),
        Just(r#"{"jsonrpc":"2.0","id":null,"method":"a"}"#.to_owned()),
    ];
    let carrier = prop::sample::select(vec![
        Carrier::Line,
        Carrier::Request,
        Carrier::Request,
        Carrier::Response,
        Carrier::Sse,
    ]);
    let context = prop::option::weighted(
        0.3,
        (
            prop::sample::select(vec![200, 202, 401, 403]),
            prop::sample::select(vec!["Bearer", "Bearer scope=x", "Bearer resource_metadata=\"y\""]),
        ),
    );
    let sse = prop::option::of((
        prop::sample::select(vec![None, Some(""), Some("message")]),
        prop::option::of("[a-z0-9 ]{0,3}"),
        prop::option::of(0..9u64),
        0..2u64,
    ));
    let time = prop::option::of(0..3_000i64);
    let one = (prop::option::weighted(0.8, message), carrier, context, sse, time, any::<bool>());
    let one = one.prop_map(|(message, carrier, context, sse, time, client)| {
        let mut owned = entry(carrier, message.as_deref(), context);
        owned.time = time;
        if carrier == Carrier::Line {
            owned.side = Some(if client { Side::Client } else { Side::Server });
        }
        if let (Carrier::Sse, Some((name, id, retry, comments))) = (carrier, sse) {
            let data = message.is_none().then(|| "ping".into());
            owned.sse =
                Some(Sse { name: name.map(Into::into), id: id.map(Into::into), data, retry, comments });
        }
        if message.is_none() && carrier == Carrier::Sse {
            owned.what = OwnedContent::Event;
        }
        owned
    });
    prop::collection::vec(one, 0..14)
}

proptest! {
    #[test]
    fn a_session_means_the_same_as_its_har(entries in sessions()) {
        let Some((session, meaning)) = direct(entries) else { return Ok(()) };
        let har = written(&session);
        let again = self::session("har", &har);
        prop_assert_eq!(&read(&har).unwrap().text, &meaning.text, "{}", har);
        prop_assert_eq!(again.totals.missing, 0);
        let facts = |session: &Session| -> Vec<_> {
            let sent = session.entries.iter().filter(|entry| entry.message().is_some() || matches!(entry.what, OwnedContent::Event));
            sent.map(|entry| (entry.side, entry.message().map(|message| message.text().to_owned()))).collect()
        };
        prop_assert_eq!(facts(&again), facts(&session));
        // Which exchanges there were is made up, and may be made up otherwise again; the messages may not.
        prop_assert_eq!(&read(&written(&again)).unwrap().text, &meaning.text);
    }
}
