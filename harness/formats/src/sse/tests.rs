use super::{SseBlock, SseBlockKind, SseParser};
use proptest::prelude::*;

#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    kind: SseBlockKind,
    name: Option<String>,
    data: Vec<u8>,
    at: u64,
    id: Option<String>,
    last_id: String,
    retry: Option<u64>,
    comments: u64,
}

fn seen(event: SseBlock<'_>) -> Seen {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Seen {
        kind: event.kind,
        name: event.name.map(text),
        data: event.data.to_vec(),
        at: event.at,
        id: event.id.map(text),
        last_id: text(event.last_id),
        retry: event.retry,
        comments: event.comments,
    }
}

fn parse<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<Seen> {
    let mut all = Vec::new();
    let mut parser = SseParser::default();
    for chunk in chunks {
        parser.feed(chunk, &mut |event| all.push(seen(event)));
    }
    parser.finish(&mut |event| all.push(seen(event)));
    all
}

/// The events of a stream by kind, name and data.
fn brief(text: &str) -> Vec<(SseBlockKind, Option<String>, String)> {
    parse([text.as_bytes()])
        .into_iter()
        .map(|seen| (seen.kind, seen.name, String::from_utf8(seen.data).unwrap()))
        .collect()
}

fn event(data: &str) -> (SseBlockKind, Option<String>, String) {
    (SseBlockKind::Event, None, data.to_owned())
}

#[test]
fn every_line_end_ends_a_line_once() {
    for end in ["\n", "\r\n", "\r"] {
        let text = ["data: a", "data: b", "", "", "data: c", "", ""].join(end);
        assert_eq!(brief(&text), [event("a\nb"), event("c")], "{end:?}");
    }
    assert_eq!(brief("data: a\r\n\r\ndata: b\n\rdata: c\r\r"), [event("a"), event("b"), event("c")]);
}

#[test]
fn one_space_after_the_colon_goes() {
    assert_eq!(brief("data:a\n\ndata:  b\n\ndata:\tc: d\n\n"), [event("a"), event(" b"), event("\tc: d")]);
}

#[test]
fn a_field_without_a_colon_has_an_empty_value() {
    assert_eq!(brief("data\n\ndata\ndata\n\n"), [event(""), event("\n")]);
    assert_eq!(
        brief("event: a\nevent\ndata: x\n\n"),
        [(SseBlockKind::Event, Some(String::new()), "x".to_owned())]
    );
    assert_eq!(brief("Data: x\n data: y\n\n"), [(SseBlockKind::Dataless, None, String::new())]);
}

#[test]
fn one_byte_order_mark_at_the_very_start_goes() {
    assert_eq!(brief("\u{feff}data: a\n\n"), [event("a")]);
    assert_eq!(brief("\u{feff}\u{feff}data: a\n\n"), [(SseBlockKind::Dataless, None, String::new())]);
    assert_eq!(brief("data: a\n\n\u{feff}data: b\n\n")[1].0, SseBlockKind::Dataless);
    assert_eq!(brief("\u{feff}\ndata: a\n\n"), [event("a")]);
    assert_eq!(brief("\u{feff}"), []);
}

#[test]
fn names_and_ids_belong_to_their_block_and_the_last_id_stays() {
    let all = parse([b"id: 1\nevent: x\n\ndata: a\n\nid: 2\0\nid\ndata: b\nid: 3\0\n\n".as_slice()]);
    let ids: Vec<_> = all.iter().map(|seen| (seen.kind, seen.id.as_deref(), &*seen.last_id)).collect();
    assert_eq!(
        ids,
        [
            (SseBlockKind::Dataless, Some("1"), "1"),
            (SseBlockKind::Event, None, "1"),
            (SseBlockKind::Event, Some(""), "")
        ]
    );
    assert_eq!(all[1].name, None);
}

#[test]
fn retry_is_digits_alone() {
    for (value, expected) in [
        ("3000", Some(3000)),
        ("007", Some(7)),
        ("", None),
        ("+5", None),
        ("-5", None),
        ("5s", None),
        ("99999999999999999999", None),
    ] {
        let text = format!("retry: {value}\ndata: a\n\n");
        let seen = &parse([text.as_bytes()])[0];
        assert_eq!((seen.retry, seen.comments), (expected, u64::from(expected.is_none())), "{value}");
    }
}

#[test]
fn comments_and_the_unfinished_block_are_told() {
    let all = parse([b": a\n:b\n\n: c\ndata: x\n\nid: 9\nda".as_slice()]);
    let brief: Vec<_> = all.iter().map(|seen| (seen.kind, seen.comments, seen.at)).collect();
    assert_eq!(
        brief,
        [(SseBlockKind::Comment, 2, 0), (SseBlockKind::Event, 1, 18), (SseBlockKind::Unfinished, 0, 21)]
    );
    assert_eq!(parse([b"data: a\r\n\r".as_slice()])[0].kind, SseBlockKind::Event);
    assert_eq!(parse([b"data: a\n".as_slice()])[0].kind, SseBlockKind::Unfinished);
}

#[test]
fn bytes_that_are_no_utf8_stay_what_they_were() {
    assert_eq!(parse([b"data: \xff\xfe\n\n".as_slice()])[0].data, b"\xff\xfe");
}

/// Streams made of what streams are made of, whole lines mostly.
fn streams() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        4 => prop::sample::select(vec!["data", "event", "id", "retry", ":", "x", ""]),
        4 => prop::sample::select(vec![": ", ":", ":  ", " "]),
        4 => prop::sample::select(vec!["a", "é", "😀", "12", "+1", "\0", "\u{feff}", "b: c", "message", "\u{85}"]),
        8 => prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]),
        2 => prop::sample::select(vec!["data: ok\n\n", "id: 1\n", "event: e\n", "retry: 10\n", ": hm\n"]),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat().into_bytes())
}

fn chunked(stream: &[u8], cuts: &[prop::sample::Index]) -> Vec<Vec<u8>> {
    let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
    cuts.push(0);
    cuts.push(stream.len());
    cuts.sort_unstable();
    cuts.windows(2).map(|pair| stream[pair[0]..pair[1]].to_vec()).collect()
}

/// What a browser dispatches: name, data and last event id.
fn dispatched(stream: &[u8]) -> Vec<(String, String, String)> {
    parse([stream])
        .into_iter()
        .filter(|seen| seen.kind == SseBlockKind::Event)
        .map(|seen| {
            let name = seen.name.filter(|name| !name.is_empty()).unwrap_or_else(|| "message".to_owned());
            (name, String::from_utf8(seen.data).unwrap(), seen.last_id)
        })
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_split_gives_the_same_events(stream in streams(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12)) {
        let chunks = chunked(&stream, &cuts);
        prop_assert_eq!(parse(chunks.iter().map(|chunk| &chunk[..])), parse([&stream[..]]));
        prop_assert_eq!(parse(stream.chunks(1)), parse([&stream[..]]));
    }

    #[test]
    fn sse_parse_dispatches_the_same(stream in streams()) {
        let mut parser = sse_parse::SseParser::new();
        parser.feed(&stream);
        parser.finish();
        let theirs: Vec<_> = std::iter::from_fn(|| parser.next_event())
            .map(|event| (event.event, event.data, event.id))
            .collect();
        prop_assert_eq!(dispatched(&stream), theirs);
    }
}
