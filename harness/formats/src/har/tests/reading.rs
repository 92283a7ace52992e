use super::{T, brief, call, done, file, get, post, read};
use crate::small::{means, written};
use crate::{Input, ReadOptions, Tolerance, detect};
use transcript::session::{Carrier, Content, Side};

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
    let kept = "1 body is kept as it was compressed and not read";
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
                Content::Skipped(what) => said += usize::from(what.contains("after the first 10000")),
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
        form.replace("token", "register")
            .replace("x-www-form-urlencoded; charset=utf-8", "json")
            .replace("a=b&c=", r#"{\"redirect_uris\":[]}"#),
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
    let expected =
        [("metadata", r#"{"issuer":"x"}"#), ("token", "a=b&c="), ("register", r#"{"redirect_uris":[]}"#)];
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
fn an_archive_that_says_when_its_parts_came_is_written_so_again() {
    let once = written("har", &timed(), "har");
    assert_eq!(brief(&once), brief(&timed()));
    assert_eq!(written("har", &once, "har"), once);
    // Behind the answer of the same millisecond.
    assert!(once.contains(r#"{"at": 29, "time": 20.001}"#), "{once}");
    let network = written("har", &timed(), "inspector-network");
    assert_eq!(means("inspector-network", &network), means("har", &timed()));
}

#[test]
fn of_an_archive_that_is_cut_off_the_judge_sees_the_whole_exchanges() {
    let exchange = r#"{"request": {"method": "GET", "url": "/"}, "response": {}}"#;
    let whole = file(&[exchange.to_owned(), exchange.to_owned(), exchange.to_owned()]);
    let end = whole.rfind("\"url\"").unwrap();
    for (cut, count, said) in
        [(whole.len(), 3, ""), (end, 2, "2 whole exchanges"), (whole.find("GET").unwrap(), 0, "")]
    {
        for tolerance in [Tolerance::Faults, Tolerance::Nothing] {
            let (mut seen, mut bytes) = (0, &whole.as_bytes()[..cut]);
            let mut input = Input::new(&mut bytes).unwrap();
            let read = super::super::FORMAT.entries(&mut input, ReadOptions::new(tolerance), &mut |entry| {
                seen += usize::from(matches!(entry.content, Content::Exchange(_)));
                Ok(())
            });
            let shown = if cut == whole.len() || tolerance == Tolerance::Faults { count } else { 0 };
            assert_eq!((seen, read.is_ok()), (shown, cut == whole.len()));
            let why = read.err().map(|why| why.to_string()).unwrap_or_default();
            assert!(why.contains(said), "{why}");
        }
    }
}
