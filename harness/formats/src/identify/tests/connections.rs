//! What is open at the end, how long streams lasted, and who answers in which mode.

use super::{Capture, JSON, LIST, LISTED, STREAM, exchange};
use crate::identify::{Identification, StreamDurations};
use crate::jsonrpc;
use transcript::session::{Carrier, Exchange, STILL_OPEN};

fn fate(words: &'static str, exchange: Exchange<'static>) -> Exchange<'static> {
    Exchange { fate: Some(words.into()), ..exchange }
}

#[test]
fn connections_of_every_method_are_open_until_they_end() {
    let active = |found: &Identification| [found.connections_active, found.sse_connections_active];
    let json = Exchange { ended: Some(5), ..exchange("POST", JSON) };
    let post = Exchange { ended: Some(9), ..exchange("POST", STREAM) };
    let get = Exchange { ended: Some(9), ..exchange("GET", STREAM) };
    // What the recording says of an end holds, wherever the end lies.
    for (last, all, sse) in [
        (json.clone(), 0, 0),
        (fate(STILL_OPEN, Exchange { ended: None, status: None, ..json.clone() }), 1, 0),
        (fate("no answer: refused", Exchange { status: None, ended: None, ..json.clone() }), 0, 0),
        (fate(STILL_OPEN, Exchange { ended: None, ..post.clone() }), 1, 0),
        (fate("the client went away", post.clone()), 0, 0),
        (fate(STILL_OPEN, Exchange { ended: None, ..get.clone() }), 1, 1),
        (fate("the client went away", get.clone()), 0, 0),
        (Exchange { timed: true, ..get.clone() }, 0, 0),
        // Where it says nothing, a stream with nothing behind its end may have gone on.
        (get.clone(), 1, 1),
        (post.clone(), 1, 0),
    ] {
        let found = Capture::log().exchange(0, &json).exchange(1, &last).asks(LIST).finish();
        assert_eq!(active(&found), [Some(all), Some(sse)], "{last:?}");
        // A POST's stream has done what it is for once the response came.
        let answered =
            Capture::log().exchange(0, &json).exchange(1, &last).asks(LIST).streams(LISTED).finish();
        let all = if last == post { 0 } else { all };
        assert_eq!(active(&answered), [Some(all), Some(sse)], "{last:?}");
    }
    // A client's response on its own POST answers nothing.
    let reply = r#"{"jsonrpc":"2.0","id":9,"result":{}}"#;
    let found = Capture::log().exchange(0, &post).asks(reply).finish();
    assert_eq!(active(&found), [Some(1), Some(0)]);
}

#[test]
fn streams_last_from_their_start_to_the_end_that_is_known() {
    let stream = |method, ended| Exchange { ended, ..exchange(method, STREAM) };
    let mut capture = Capture::log();
    capture
        .exchange(0, &stream("GET", Some(30)))
        .exchange(10, &stream("POST", Some(15)))
        .asks(LIST)
        .streams(LISTED);
    capture.exchange(20, &Exchange { ended: Some(25), ..exchange("POST", JSON) });
    capture.exchange(40, &fate(STILL_OPEN, stream("GET", None))).exchange(50, &stream("GET", Some(60)));
    let found = capture.finish();
    // The last two did not end as far as anybody knows, and JSON is not a stream.
    let expected = StreamDurations { streams: 2, extremes: Some((5, 30)), total: 35 };
    assert_eq!(found.stream_durations, Some(expected));
    assert_eq!((found.connections_active, found.sse_connections_active), (Some(2), Some(2)));
    assert_eq!(Capture::log().finish().stream_durations, Some(StreamDurations::default()));
    assert_eq!(Capture::new(&jsonrpc::FORMAT).finish().stream_durations, None);
}

#[test]
fn a_server_that_answers_in_both_modes_is_named() {
    let at = |url: &'static str, media| Exchange { url: url.into(), ..exchange("POST", media) };
    let both = |posts: &[(Exchange<'static>, bool)]| {
        let mut capture = Capture::log();
        for (post, streams) in posts {
            capture.exchange(0, post).asks(LIST);
            match streams {
                true => capture.streams(LISTED),
                false => capture.body(Carrier::Response, LISTED),
            };
        }
        capture.finish().both_modes.unwrap()
    };
    let (json, stream) = (at("http://a/mcp?x=1", JSON), at("http://a/mcp", STREAM));
    assert_eq!(both(&[(json.clone(), false), (stream.clone(), true)]), ["http://a/mcp"]);
    assert!(both(&[(json.clone(), false), (json.clone(), false)]).is_empty());
    assert!(both(&[(at("http://b/mcp", JSON), false), (stream.clone(), true)]).is_empty());
    // What a server says to refuse a request is not a mode.
    let refused = Exchange { status: Some(400), ..json };
    assert!(both(&[(refused, false), (stream, true)]).is_empty());
    assert_eq!(Capture::new(&jsonrpc::FORMAT).finish().both_modes, None);
}
