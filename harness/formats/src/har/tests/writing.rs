use super::{file, read};
use crate::find;
use crate::meaning::Meaning;
use crate::session::{OwnedContent, OwnedEntry, Session, TransportContext};
use crate::small::{means, session};
use proptest::prelude::*;
use transcript::contract::Contract;
use transcript::message::Message;
use transcript::session::{Carrier, Content, Context, Entry, Side, Sse};

fn written(session: &Session) -> String {
    let mut out = Vec::new();
    super::super::write(session, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const NOTE: &str = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;

#[test]
fn text_survives_both_layers_of_json() {
    let hard = r#"{"jsonrpc":"2.0","id":"\ud83d","method":"é😀\u2028\\\"","params":{"n":9007199254740993.0,"a":"\udc00\n","a":"\u0000"}}"#;
    let error = |id| format!(r#"{{"jsonrpc":"2.0","id":"{id}","error":"{}"}}"#, "\u{2028}");
    let spelled = format!("{}\n{}", hard.replace(',', " , "), error(r"\uD83D"));
    let har = written(&session("jsonrpc", &spelled));
    assert_eq!(read(&har).unwrap().text, means("jsonrpc", &format!("{hard}\n{}", error(r"\ud83d"))));
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

#[test]
fn an_answer_of_nothing_stays_whole() {
    let empty = |mime: &str| {
        format!(
            r#"{{"startedDateTime": "2026-05-12T23:00:00.000Z", "request": {{"method": "POST"}}, "response": {{"status": 200, "content": {{"size": 0, "mimeType": "{mime}", "text": ""}}}}, "_events": [{{"time": 1}}]}}"#
        )
    };
    let har = written(&session("har", &file(&[empty("application/json"), empty("text/event-stream")])));
    assert_eq!((har.matches(r#""text": """#).count(), read(&har).unwrap().totals.missing), (2, 0), "{har}");
}

#[test]
fn an_answer_without_a_type_gets_none() {
    let untyped = r#"{"request": {"method": "POST", "postData": {"mimeType": "text/plain", "text": "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"}}, "response": {"status": 200, "headers": [], "content": {"size": 36, "mimeType": "", "text": "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"}}}"#;
    let source = file(&[untyped.to_owned()]);
    let har = written(&session("har", &source));
    assert_eq!(read(&har).unwrap().text, read(&source).unwrap().text);
    assert!(!har.contains("Content-Type") && har.contains(r#""mimeType": """#), "{har}");
}

#[test]
fn a_batch_stays_one_event() {
    let batch = r#"data: [{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}},{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}]\n\n"#;
    let note = r#"data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\n"#;
    let stream = format!(r"{}id: 7\n{batch}{note}", batch.replace("data", r"id: 6\ndata"));
    let source = file(&[format!(
        r#"{{"startedDateTime": "2026-05-12T23:00:00.000Z", "request": {{"method": "POST", "headers": [{{"name": "MCP-Protocol-Version", "value": "2025-03-26"}}]}}, "response": {{"status": 200, "content": {{"size": 1, "mimeType": "text/event-stream", "text": "{stream}"}}}}, "_events": [{{"time": 1}}, {{"time": 2}}, {{"time": 3}}]}}"#
    )]);
    let har = written(&session("har", &source));
    assert!(har.contains(&stream), "{har}");
    assert_eq!(har.matches(r#"{"at": "#).count(), 3, "{har}");
    assert_eq!(read(&har).unwrap().text, read(&source).unwrap().text);
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
