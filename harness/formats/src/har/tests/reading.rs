use super::{T, brief, call, done, file, get, post, quoted, read};
use crate::small::{means, written};
use crate::{Input, ReadOptions, detect};
use transcript::rejection::Code;
use transcript::session::{Carrier, Content, Side};

#[test]
fn a_post_and_its_answer_are_two_messages() {
    assert_eq!(brief(&file(&[post(T, &call(1), "application/json", &done(1))])), "?1 !1>0");
    let spaced = format!("\u{feff}\r\n {} \n", done(1));
    assert_eq!(brief(&file(&[post(T, &call(1), "Application/JSON;charset=utf-8", &spaced)])), "?1 !1>0");
    assert_eq!(brief(&file(&[])), "");
}

#[test]
fn streams_are_read_by_their_bytes() {
    let message = done(1);
    let (left, right) = message.split_at(17);
    for stream in [
        format!("data: {message}\n\n"),
        format!("event: message\r\ndata:{message}\r\nid: 1\r\n\r\n"),
        format!("event\rdata: {left}\rdata: {right}\r\r"),
        format!(
            "id: 0\ndata:\n\n: idle\n\nretry: 5\n\nevent: ping\ndata: {message}\n\ndata: {message}\n\ndata: {message}\n"
        ),
        format!(
            "event: endpoint\ndata: {{\"uri\n\nevent: message\ndata: {{}}\n\ndata: {message}\n\ndata: {{\"jsonrpc\":"
        ),
    ] {
        assert_eq!(brief(&file(&[post(T, &call(1), "text/event-stream", &stream)])), "?1 !1>0", "{stream:?}");
        assert_eq!(brief(&file(&[get(&stream)])), "!1>-", "{stream:?}");
    }
}

#[test]
fn base64_is_decoded_where_the_encoding_says_so() {
    // {"jsonrpc":"2.0","id":1,"result":{}} and the same behind `data: `, packed by hand with `base64`.
    for (media_type, text) in [
        ("application/json", r#"eyJqc29ucnBjIjoiMi4wIiwiaWQiOjEs\r\nInJlc3VsdCI6e319"#),
        ("text/event-stream", "ZGF0YTogeyJqc29ucnBjIjoiMi4wIiwiaWQiOjEsInJlc3VsdCI6e319Cgo"),
    ] {
        let one = format!(
            r#"{{"response": {{"status": 200, "content": {{"mimeType": "{media_type}", "text": "{text}", "encoding": "base64"}}}}}}"#
        );
        assert_eq!(brief(&file(&[one])), "!1>-");
    }
    // `data: \xff` and an empty line; then the same without the empty line, which is never looked at.
    let bad = |text| {
        format!(
            r#"{{"response": {{"status": 200, "content": {{"mimeType": "text/event-stream", "text": "{text}", "encoding": "base64"}}}}}}"#
        )
    };
    assert_eq!(read(&file(&[bad("ZGF0YTog/woK")])).unwrap_err().code, Code::InvalidUtf8);
    assert_eq!(brief(&file(&[bad("ZGF0YTog/w==")])), "");
    assert_eq!(read(&file(&[bad("{}")])).unwrap_err().code, Code::WrongType);
}

#[test]
fn exchanges_stand_in_the_order_of_their_start() {
    let at = |started: &str, id: u32| post(started, &call(id), "application/json", &done(id));
    for (starts, expected) in [
        (["2026-11-21T10:00:03Z", "2026-11-21T10:00:02Z", "2026-11-21T10:00:01Z"], [3, 2, 1]),
        (["2026-11-21T10:00:00.1002Z", "2026-11-21T10:00:00.1001Z", "2026-11-21T10:00:00.1002Z"], [2, 1, 3]),
        (["2026-11-21T10:00:00Z", "2026-11-21T11:59:00+02:00", "2026-11-21T10:00:00Z"], [2, 1, 3]),
        // A time that nobody can read stands behind the exchange before it in the file.
        (["2026-11-21T10:00:02Z", "soon", "2026-11-21T10:00:01Z"], [3, 1, 2]),
        (["", "2026-11-21T10:00:02Z", "2026-11-21T10:00:01Z"], [1, 3, 2]),
    ] {
        let exchanges: Vec<_> = (1..).zip(starts).map(|(id, start)| at(start, id)).collect();
        let [a, b, c] = expected;
        assert_eq!(brief(&file(&exchanges)), format!("?{a} !{a}>0 ?{b} !{b}>2 ?{c} !{c}>4"), "{starts:?}");
    }
}

#[test]
fn bodies_of_other_kinds_carry_nothing() {
    for (media_type, answer) in [
        ("application/json", r#"{"error":"invalid_token"}"#),
        ("application/json", r#"{"id":1,"method":"a","result":{}}"#),
        ("application/json", r#"[{"id":1},2]"#),
        ("application/json", "null"),
        ("application/json", "Accepted"),
        ("application/json", ""),
        ("text/plain", "Accepted"),
        ("text/html", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        ("image/png", "{"),
    ] {
        let text = file(&[post(T, &call(1), media_type, answer), post(T, "a=b&c", media_type, answer)]);
        assert_eq!(brief(&text), "?1", "{media_type} {answer}");
    }
    // Broken JSON is another site's own affair, unless an answer was due there or it names our protocol.
    assert_eq!(brief(&file(&[post(T, "{", "application/json", "{\"a\": ")])), "");
}

#[test]
fn a_post_body_needs_no_media_type_and_an_unnamed_answer_may_be_json() {
    let text = format!(
        r#"{{"request": {{"method": "post", "postData": {{"text": {}}}}}, "response": {{"content": {{"mimeType": "x-unknown", "text": {}}}}}}}"#,
        quoted(&call(1)),
        quoted(&done(1))
    );
    assert_eq!(brief(&file(std::slice::from_ref(&text))), "?1 !1>0");
    // Only a POST's body is a message.
    assert_eq!(brief(&file(&[text.replace("post\"", "PUT\"")])), "!1>-");
}

#[test]
fn every_401_is_looked_at() {
    let text = r#"{"request": {"method": "DELETE"}, "response": {"status": STATUS, "headers": [
        {"name": "Www-authenticate", "value": "Bearer scope=\"a\""}], "content": {"mimeType": "text/html", "text": "<p>"}}}"#;
    let summary =
        |status| read(&file(&[text.replace("STATUS", status)])).unwrap().totals.authorization_discovery;
    assert!(
        summary("401").is_some_and(|found| found.scope_challenge_visible && !found.resource_metadata_visible)
    );
    for status in ["403", "\"401\"", "401.5", "null"] {
        assert_eq!(summary(status), None, "{status}");
    }
}

#[test]
fn dropped_bodies_are_counted() {
    for (missing, request, response) in [
        (1, "", r#""status": 200, "content": {"size": 3, "mimeType": "application/json"}"#),
        (1, "", r#""status": 200, "content": {"size": 3, "mimeType": "application/json", "text": ""}"#),
        (1, "", r#""status": 200, "content": {"size": 0, "mimeType": "text/event-stream"}"#),
        (1, "", r#""status": 200, "bodySize": 3, "content": {}"#),
        (1, r#", "bodySize": 3"#, ""),
        (2, r#", "bodySize": 3"#, r#""status": 200, "content": {"size": 3}"#),
        (0, "", ""),
        (0, r#", "bodySize": 0"#, r#""status": 202, "bodySize": 0, "content": {"size": 0, "mimeType": ""}"#),
        (0, r#", "bodySize": -1"#, r#""status": 200, "bodySize": -1, "content": {"size": -1}"#),
        (0, "", r#""status": 200, "content": {"size": 0, "mimeType": "text/event-stream", "text": ""}"#),
        (0, "", r#""status": 200, "content": {"size": 3, "mimeType": "image/png"}"#),
        (0, "", r#""status": 304, "content": {"size": 3, "mimeType": "application/json"}"#),
        (0, r#", "bodySize": 3, "postData": {"mimeType": "multipart/form-data", "params": []}"#, ""),
        // Kept with its content coding, and not looked into however small it is.
        (
            1,
            "",
            r#""status": 200, "content": {"size": 3, "mimeType": "application/json", "text": "H4sIAAAA", "encoding": "base64"}"#,
        ),
        (
            1,
            "",
            r#""status": 200, "content": {"size": 3, "mimeType": "text/event-stream", "text": "H4sIAAAA", "encoding": "base64"}"#,
        ),
        (
            1,
            r#", "postData": {"mimeType": "application/json", "text": "H4sIAAAA", "encoding": "base64"}"#,
            "",
        ),
        (
            0,
            "",
            r#""status": 200, "content": {"size": 3, "mimeType": "image/png", "text": "H4sIAAAA", "encoding": "base64"}"#,
        ),
        (
            0,
            "",
            r#""status": 200, "content": {"size": 3, "mimeType": "application/json", "text": "H4sIAAAA"}"#,
        ),
    ] {
        let text = format!(r#"{{"request": {{"method": "POST"{request}}}, "response": {{{response}}}}}"#);
        assert_eq!(read(&file(std::slice::from_ref(&text))).unwrap().totals.missing, missing, "{text}");
    }
}

#[test]
fn what_is_said_of_a_missing_body_is_so() {
    let dropped = r#""size": 3, "mimeType": "application/json""#;
    let coded = r#""size": 3, "mimeType": "application/json", "text": "H4sIAAAA", "encoding": "base64""#;
    let said = |contents: &[&str]| {
        let exchange = |content: &&str| {
            format!(
                r#"{{"request": {{"method": "POST"}}, "response": {{"status": 200, "content": {{{content}}}}}}}"#
            )
        };
        let texts: Vec<String> = contents.iter().map(exchange).collect();
        read(&file(&texts)).unwrap().totals.notes().join("; ")
    };
    let rest = ", so this is not the whole session (HAR-MISSING)";
    assert_eq!(said(&[]), "");
    assert_eq!(said(&[dropped]), format!("1 body was dropped by the exporter{rest}"));
    let kept = "1 body is kept with its content coding (gzip) and not read";
    assert_eq!(said(&[coded]), format!("{kept}{rest}"));
    assert_eq!(
        said(&[dropped, coded, dropped]),
        format!("2 bodies were dropped by the exporter, and {kept}{rest}")
    );
}

#[test]
fn headers_without_an_end_are_read_up_to_a_bound_and_that_is_said() {
    for (count, kept, told) in [(10_000, 10_000, 0), (10_001, 10_000, 1)] {
        let headers = vec![r#"{"name":"a","value":"b"}"#; count].join(",");
        let text = format!(
            r#"{{"log":{{"entries":[{{"request":{{"method":"GET","url":"/","headers":[{headers}]}},"response":{{}}}}]}}}}"#
        );
        let (mut read, mut said) = (0, 0);
        let mut bytes = text.as_bytes();
        let mut input = Input::new(&mut bytes).unwrap();
        (super::super::FORMAT.read)(&mut input, ReadOptions::default(), &mut |entry| {
            match &entry.content {
                Content::Exchange(exchange) => read += exchange.request_headers.len(),
                Content::Skipped(what) => said += usize::from(what.contains("behind the first 10000")),
                other => panic!("{other:?}"),
            }
            Ok(())
        })
        .unwrap();
        assert_eq!((read, said), (kept, told), "{count}");
    }
}

#[test]
fn entries_keep_the_context() {
    let stream = format!(": hi\nid: 7\ndata:\n\nevent: message\nid: 8\nretry: 9\ndata: {}\n\ndata", done(1));
    let text = file(&[get("event: endpoint\ndata: /m\n\n"), post(T, &call(1), "text/event-stream", &stream)]);
    let mut seen = Vec::new();
    let bytes = text.as_bytes();
    let mut reader = bytes;
    let mut input = Input::new(&mut reader).unwrap();
    assert_eq!(detect(&mut input).unwrap().unwrap().name, "har");
    (super::super::FORMAT.read)(&mut input, ReadOptions::default(), &mut |entry| {
        let what = match &entry.content {
            Content::Exchange(exchange) => {
                format!("{} {} {:?} {}", exchange.method, exchange.url, exchange.status, exchange.media_type)
            }
            Content::Message(message) => message.text().to_owned(),
            Content::Event => "event".to_owned(),
            Content::Skipped(what) => what.clone().into_owned(),
            other => panic!("{other:?}"),
        };
        let sse = entry.sse.map(|sse| {
            let text = |text: Option<std::borrow::Cow<'_, str>>| text.map(std::borrow::Cow::into_owned);
            (text(sse.name), text(sse.id), text(sse.data), sse.retry, sse.comments)
        });
        let line = bytes[..entry.location.offset as usize].iter().filter(|&&byte| byte == b'\n').count() + 1;
        assert_eq!(entry.location.line, line as u64);
        seen.push((entry.exchange, entry.side, entry.carrier, entry.time, what, sse));
        Ok(())
    })
    .unwrap();
    let owned = |text: &str| Some(text.to_owned());
    let start = 1_795_255_200_000;
    let (client, server) = (Some(Side::Client), Some(Side::Server));
    let exchange = |method: &str, url: &str| format!("{method} {url} Some(200) text/event-stream");
    let cut = "the last event of a stream, which ended before the event did".to_owned();
    assert_eq!(
        seen,
        [
            (Some(0), None, Carrier::Line, None, exchange("GET", ""), None),
            (
                Some(0),
                server,
                Carrier::Sse,
                None,
                "event".to_owned(),
                Some((owned("endpoint"), None, owned("/m"), None, 0))
            ),
            (Some(1), None, Carrier::Line, Some(start), exchange("POST", "http://a/mcp"), None),
            (Some(1), client, Carrier::Request, Some(start), call(1), None),
            (
                Some(1),
                server,
                Carrier::Sse,
                Some(start + 5),
                "event".to_owned(),
                Some((None, owned("7"), owned(""), None, 1))
            ),
            (
                Some(1),
                server,
                Carrier::Sse,
                Some(start + 5),
                done(1),
                Some((owned("message"), owned("8"), None, Some(9), 0))
            ),
            (Some(1), server, Carrier::Sse, Some(start + 5), cut, Some((None, None, None, None, 0))),
        ]
    );
}

#[test]
fn the_examples_of_the_clauses_read_as_they_say() {
    let example = |id: &str| transcript::clauses::find(id).unwrap().right.text;
    assert_eq!(brief(example("HAR-ORDER")), ". ?1 !1>1");
    assert_eq!(brief(example("HAR-MESSAGE")), ".");
    assert_eq!(brief(example("HAR-STREAM")), "?1 !1>0");
    assert_eq!(brief(example("HAR-MISSING")), "?1");
    assert_eq!(read(example("HAR-MISSING")).unwrap().totals.missing, 1);
    let summary = read(example("HAR-K2A")).unwrap().totals.authorization_discovery.unwrap();
    assert!(summary.scope_challenge_visible);
}

#[test]
fn short_forms_and_documents_come_with_their_exchange() {
    let one = |method: &str, url: &str, media: &str, text: &str| {
        format!(
            r#"{{"request": {{"method": "{method}", "url": "{url}"}}, "response": {{"status": 200, "content": {{"mimeType": "{media}", "text": {text:?}}}}}}}"#
        )
    };
    let form = r#"{"request": {"method": "POST", "url": "token", "postData": {"mimeType": "application/x-www-form-urlencoded; charset=utf-8", "text": "a=b&c="}}}"#;
    let text = file(&[
        one("GET", "metadata", "application/json", r#"{"issuer":"x"}"#),
        one("GET", "list", "application/json", "[1]"),
        one("GET", "page", "text/html", "{}"),
        one("GET", "message", "application/json", &done(1)),
        one("GET", "large", "application/json", &format!("{{{}}}", " ".repeat(70_000))),
        one("POST", "secrets", "application/json", r#"{"access_token":"x"}"#),
        form.to_owned(),
    ]);
    let mut seen = Vec::new();
    let mut bytes = text.as_bytes();
    let mut input = Input::new(&mut bytes).unwrap();
    (crate::har::FORMAT.read)(&mut input, ReadOptions::default(), &mut |entry| {
        if let Content::Exchange(exchange) = &entry.content {
            let text = exchange.document.as_deref().or(exchange.form.as_deref());
            seen.extend(text.map(|text| (exchange.url.to_string(), text.to_owned())));
        }
        Ok(())
    })
    .unwrap();
    let expected = [("metadata", r#"{"issuer":"x"}"#), ("token", "a=b&c=")];
    assert_eq!(seen, expected.map(|(url, text)| (url.to_owned(), text.to_owned())));
}

/// A stream that says when its events came, what it answers, and another exchange that says nothing of the kind.
fn timed() -> String {
    let stream = "event: endpoint\ndata: /m\n\n: idle\n\n".to_owned()
        + &format!("data: {}\n\ndata: {}\n\ndata: {{\"cut", done(1), done(2));
    let times = r#""_events": [{"at": 0, "time": 1}, {"at": 1, "time": 2}, {"at": 2, "time": 20.5}, {"at": 3, "time": 40}],"#;
    let opened = get(&stream).replacen(
        '{',
        &format!(r#"{{"startedDateTime": "2026-01-01T00:00:00Z", "time": 90, {times}"#),
        1,
    );
    file(&[
        post("2026-01-01T00:00:00.010Z", &call(1), "text/plain", ""),
        post("2026-01-01T00:00:00.030Z", &call(2), "text/plain", ""),
        post("2026-01-01T00:00:00.020Z", &call(3), "application/json", &done(3)),
        opened,
    ])
}

#[test]
fn what_a_stream_said_stands_where_it_came() {
    assert_eq!(brief(&timed()), "?1 ?3 !3>1 !1>0 ?2 !2>4");
    assert_eq!(brief(&timed().replace("_events", "_others")), "!1>- !2>- ?1 ?3 !3>3 ?2");
    // Where nothing is known of a start, nothing is of what counts from it: it stands with the one before it.
    assert_eq!(brief(&timed().replace("00:00:00Z", "noon")), "?1 ?3 !3>1 !1>0 !2>- ?2");
}

#[test]
fn an_archive_that_says_when_its_parts_came_is_written_so_again() {
    let once = written("har", &timed(), "har");
    assert_eq!(brief(&once), brief(&timed()));
    assert_eq!(written("har", &once, "har"), once);
    // Behind the answer of the same millisecond.
    assert!(once.contains(r#"{"at": 29, "time": 20.001}"#), "{once}");
    let network = written("har", &timed(), "inspector-network");
    assert_eq!(means("inspector-network", &network), means("har", &timed()));
}
