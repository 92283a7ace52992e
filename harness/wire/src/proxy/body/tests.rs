use super::Body;
use crate::proxy::kept::{BLOCK, LONGEST};
use crate::redaction::Redaction;
use crate::redaction::tests::{Row, rows};
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use formats::unpacking::LEAST;
use serde_json::Value;
use std::io::Write as _;
use std::sync::Arc;
use std::time::Duration;

fn kept(headers: &[(&str, &str)], parts: &[&[u8]]) -> Value {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let mut kept = Body::new(&headers.iter().map(own).collect::<Vec<_>>(), &Arc::default());
    for (part, now) in parts.iter().zip(1..) {
        kept.take(part, Duration::from_millis(now)).unwrap();
    }
    let mut out = b"{\"size\": ".to_vec();
    out.extend(kept.size().to_string().bytes());
    // Twice: a body that is still open is written again and again.
    for _ in 0..2 {
        let mut again = Vec::new();
        kept.write_text(&mut again).unwrap();
        kept.write_blocks(Duration::from_millis(9), &mut again).unwrap();
        out.truncate("{\"size\": ".len() + kept.size().to_string().len());
        out.extend(again);
    }
    out.push(b'}');
    serde_json::from_slice(&out).unwrap()
}

#[test]
fn a_text_is_text_however_it_is_cut() {
    let text = format!("\u{0}\"\\ é😀\n{}", "😀".repeat(BLOCK / 2));
    for size in [1, 2, 3, 5, 7, text.len()] {
        let parts: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        assert_eq!(kept(&[], &parts)["text"], text, "{size}");
    }
}

#[test]
fn what_is_no_text_is_kept_as_bytes() {
    for parts in [&[b"a\xff".as_slice(), b"b"][..], &[b"\xf0\x9f", b"x"], &[b"\xf0\x9f"]] {
        let kept = kept(&[], parts);
        let bytes = base64::Engine::decode(&STANDARD, kept["text"].as_str().unwrap()).unwrap();
        assert_eq!((kept["encoding"].as_str(), bytes), (Some("base64"), parts.concat()));
    }
    assert!(kept(&[], &[]).get("text").is_none());
}

#[test]
fn a_coding_is_undone_as_it_comes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"data: 1\n\n").unwrap();
    encoder.flush().unwrap();
    let first = encoder.get_ref().clone();
    encoder.write_all(b"data: 2\n\n").unwrap();
    let all = encoder.finish().unwrap();
    let headers = [("Content-Encoding", "gzip"), ("Content-Type", "text/event-stream; charset=utf-8")];
    let kept = kept(&headers, &[&first, &all[first.len()..]]);
    assert_eq!((&kept["text"], &kept["size"]), (&"data: 1\n\ndata: 2\n\n".into(), &18.into()));
    assert_eq!(kept["_events"].to_string(), r#"[{"at":0,"time":1.0},{"at":9,"time":2.0}]"#);
    let mut broken = Body::new(&[("content-encoding".into(), "gzip".into())], &Arc::default());
    assert!(broken.take(b"no gzip at all", Duration::ZERO).is_err() && broken.lost == 14);
}

#[test]
fn a_bomb_is_kept_with_its_coding() {
    let gzip = |size: usize| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(&vec![b'x'; size]).unwrap();
        encoder.finish().unwrap()
    };
    let headers = [("content-encoding".to_owned(), "gzip".to_owned())];
    let taken = |bytes: &[u8]| {
        let mut body = Body::new(&headers, &Arc::default());
        let since = bytes.chunks(5000).map(|part| body.take(part, Duration::ZERO));
        since.collect::<Result<Vec<_>, _>>().unwrap();
        assert_eq!((body.lost, body.finish().is_ok()), (0, true));
        body
    };
    let (small, bomb) = (gzip(1 << 20), gzip(40 << 20));
    assert!(bomb.len() < 100_000);
    assert_eq!((taken(&small).is_coded(), taken(&small).size()), (false, 1 << 20));
    let mut body = taken(&bomb);
    assert_eq!((body.is_coded(), body.size()), (true, bomb.len() as u64));
    let mut out = b"{\"is\": 1".to_vec();
    body.write_text(&mut out).unwrap();
    out.push(b'}');
    let kept: Value = serde_json::from_slice(&out).unwrap();
    let bytes = base64::Engine::decode(&STANDARD, kept["text"].as_str().unwrap()).unwrap();
    assert!(bytes == bomb && kept["encoding"] == "base64");
}

/// Of what is to be redacted no more is unpacked than of any other: millions of events may come of a packet.
#[test]
fn a_bomb_of_events_is_withheld_where_it_is_too_large() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    let event = format!("data: \"{}\"\n\n", "x".repeat(4000));
    encoder.write_all(&event.as_bytes().repeat(10_000)).unwrap();
    let bomb = encoder.finish().unwrap();
    let headers = [("content-encoding", "gzip"), ("content-type", "text/event-stream")];
    let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut body = Body::new(&headers, &redaction());
    let refused = bomb.chunks(5000).filter(|part| body.take(part, Duration::ZERO).is_err()).count();
    assert!(refused > 0 && body.lost > 0);
    assert!(body.size() <= LEAST && body.size() > LEAST / 2, "{}", body.size());
    body.finish().unwrap();
}

#[test]
fn each_block_of_a_stream_has_the_time_of_its_end() {
    let stream = [("content-type", "text/event-stream")];
    let parts: &[&[u8]] = &[b"data: 1\r", b"\n\r", b"\ndata: 2\n", b"\n\n\n: ping\n", b"\ndata: cut\n"];
    let times = kept(&stream, parts)["_events"].to_string();
    assert_eq!(times, r#"[{"at":0,"time":2.0},{"at":11,"time":4.0},{"at":22,"time":5.0}]"#);
    let whole = kept(&[], parts).get("_events").map(ToString::to_string);
    assert_eq!(whole.as_deref(), Some(r#"[{"at":0,"time":9.0}]"#), "another body is one part");
    // Nothing came: of a stream and of JSON that is said, of any other body it needs no words.
    assert_eq!((&kept(&stream, &[])["text"], kept(&[], &[]).get("text")), (&"".into(), None));
    let empty = kept(&[("content-type", "application/json")], &[]);
    assert_eq!(
        (&empty["text"], empty["_events"].to_string()),
        (&"".into(), r#"[{"at":0,"time":9.0}]"#.into())
    );
}

fn redaction() -> Arc<Redaction> {
    Arc::new(Redaction::new(&["token".to_owned(), "id".to_owned()], &["sk-[0-9]+".to_owned()]).unwrap())
}

/// What is kept of a text that comes in parts of this size, with what must not be kept taken out; and what was lost.
fn redacted(
    redaction: &Arc<Redaction>,
    media_type: &str,
    parts: impl IntoIterator<Item: AsRef<[u8]>>,
) -> (String, u64) {
    let mut body = Body::new(&[("content-type".to_owned(), media_type.to_owned())], redaction);
    parts.into_iter().for_each(|part| body.take(part.as_ref(), Duration::ZERO).unwrap());
    body.finish().unwrap();
    let mut out = b"{\"is\": 1".to_vec();
    body.write_text(&mut out).unwrap();
    out.push(b'}');
    let kept: Value = serde_json::from_slice(&out).unwrap();
    (kept["text"].as_str().unwrap_or_default().to_owned(), body.lost)
}

/// The cases of redaction, whose texts come in parts.
#[test]
fn what_is_to_be_taken_out_goes_however_the_body_is_cut() {
    for Row { kind, redaction, text, expected } in rows() {
        let media_type = match kind.split_once(' ').unwrap_or((&kind, "")) {
            ("body", media_type) => media_type,
            ("event" | "stream", _) => "text/event-stream",
            _ => continue,
        };
        for size in [1, 2, 3, 5, 7, text.len().max(1)] {
            let kept = redacted(&Arc::new(redaction.clone()), media_type, text.as_bytes().chunks(size));
            assert_eq!(kept, (expected.clone(), 0), "{text} by {size}");
        }
    }
    assert_eq!(redacted(&redaction(), "application/json", [b""]).0, "", "of nothing, nothing is withheld");
    assert_eq!(redacted(&redaction(), "application/octet-stream", [b"\xff\x00"]).0, "[REDACTED]");
}

#[test]
fn an_event_is_handed_on_when_it_is_whole() {
    let stream = [("content-type".to_owned(), "Text/Event-Stream".to_owned())];
    let mut body = Body::new(&stream, &redaction());
    body.take(b"data: {\"tok", Duration::ZERO).unwrap();
    assert_eq!(body.size(), 0);
    body.take(b"en\":1}\n\ndata", Duration::ZERO).unwrap();
    assert_eq!(body.size(), "data: {\"token\":\"[REDACTED]\"}\n\n".len() as u64, "and not later");
}

#[test]
fn what_is_too_long_is_withheld_and_counted() {
    let long = "1".repeat(LONGEST);
    assert_eq!(
        redacted(&redaction(), "application/json", [&long, "11", "1"]),
        (String::new(), LONGEST as u64 + 3)
    );
    let kept = redacted(&redaction(), "text/event-stream", [&long, "1\n\ndata: 1\n\n"]);
    assert_eq!(kept, (": [REDACTED]\n\ndata: 1\n\n".to_owned(), LONGEST as u64 + 3));
}
