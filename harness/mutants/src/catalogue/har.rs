//! Mistakes about the exchanges of a HAR: their order, their bodies, and what exporters do to them.

use crate::json::{
    at, at_each, content, drop_member, has_any, is_array, is_object, on_text_member, put_if, quoted, set,
    text_at, value_at, values_of_object,
};
use crate::on_reading::{lose_messages, on_reading, reject_items, sort_entries};
use crate::on_text::{
    Shape, empty_if, on_body, on_document, on_exchange, on_exchange_at, on_shape, order_exchanges,
    skip_answers,
};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::collections::BTreeMap;
use transcript::json::Json;
use transcript::session::{Carrier, Side};

mutants! {
    "exchanges/file-order" ["HAR-ORDER"] "leaves exchanges in file order" => on_exchange(drop_member("startedDateTime"));
    "exchanges/by-end" ["HAR-ORDER"] "puts exchanges in the order in which they ended"
        => order_exchanges(|entries| entries.sort_by_key(|entry| Json::parse(entry).ok().and_then(end)));
    "exchanges/texts-compared" ["HAR-ORDER"] "compares the starts of exchanges as texts"
        => order_exchanges(|entries| entries.sort_by_key(|entry| {
            Json::parse(entry).ok().and_then(|entry| text_at(entry, &["startedDateTime"]))
        }));
    "exchanges/milliseconds" ["HAR-ORDER"] "drops what is finer than a millisecond in a start"
        => on_exchange(on_text_member("startedDateTime", |time| {
            let (seconds, rest) = time.split_once('.')?;
            let (digits, zone) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len()));
            (digits.len() > 3).then(|| format!("{seconds}.{}{zone}", &digits[..3]))
        }));
    "exchanges/zones-dropped" ["HAR-ORDER"] "does not look at the zone of a start"
        => on_exchange(on_text_member("startedDateTime", super::inspector::without_zone));
    "exchanges/events-untimed" ["HAR-ORDER"] "does not look at `_events`" => on_exchange(drop_member("_events"));
    "exchanges/empty-lines-timed" ["HAR-ORDER"] "takes the empty lines in a row of a stream for blocks that have items in `_events`"
        => on_exchange(|entry: Json<'_>| {
            entry.member("_events")?;
            let blocks = |text: &str| text.contains("\n\n\n").then(|| text.replace("\n\n\n", "\n\n:\n\n"));
            at(entry, &["response", "content"], &mut on_text_member("text", blocks))
        });
    "exchanges/answers-first" ["HAR-ORDER"] "gives the messages of an answer before the one of the POST"
        => sort_entries(|entry| (entry.exchange, entry.side == Some(Side::Client))).only("har");
    "har/no-posts" ["HAR-MESSAGE" "EQ-COUNT"] "does not read the bodies of POSTs"
        => lose_messages(|entry, _| entry.carrier == Carrier::Request).only("har");
    "har/no-json-answers" ["HAR-MESSAGE" "EQ-COUNT"] "reads answers only from streams"
        => lose_messages(|entry, _| entry.carrier == Carrier::Response).only("har");
    "har/errors-are-messages" ["HAR-MESSAGE"] "takes a body with `error` for an error answer"
        => on_body(|body: Json<'_>| {
            let error = body.member("error").filter(|_| !has_any(body, &["jsonrpc"]))?;
            Some(format!("{{\"jsonrpc\":\"2.0\",\"error\":{}}}", error.text()))
        });
    "har/any-media-type" ["HAR-MESSAGE"] "reads a message in the body of any media type"
        => on_shape(Shape::Archive, |_, text| {
            text.contains("\"text/plain\"").then(|| text.replace("\"text/plain\"", "\"application/json\""))
        });
    "har/versions-looked-for" ["HAR-MESSAGE" "JRP-VERSION"] "passes over a body whose `jsonrpc` is not 2.0"
        => on_body(put_if(|body| body.member("jsonrpc").is_some_and(|it| it.text() != "\"2.0\""), "{}"));
    "har/batches" ["HAR-MESSAGE"] "takes the first message of an array in a body"
        => on_body(|body: Json<'_>| body.items().next().map(|item| item.text().to_owned()));
    "har/arrays-rejected" ["HAR-MESSAGE"] "rejects an array in the body of another site"
        => reject_items(Shape::Archive, ENTRIES, |entry| {
            let array = |text: &str| Json::parse(text).is_ok_and(is_array);
            [POST, ANSWER].iter().any(|path| text_at(entry, path).is_some_and(|text| array(&text)))
        });
    "har/html-rejected" ["HAR-MESSAGE"] "rejects an answer that is not JSON"
        => reject_items(Shape::Archive, ENTRIES, |entry| {
            text_at(entry, ANSWER).is_some_and(|text| text.starts_with('<') || text == "Accepted")
        });
    "har/failures-dropped" ["HAR-MESSAGE" "EQ-COUNT"] "does not read answers with a status of 400 and more"
        => skip_answers(|entry| {
            let status = value_at(entry, &["response", "status"]).and_then(Json::as_number);
            status.and_then(|status| status.parse::<u16>().ok()).is_some_and(|status| status >= 400)
        });
    "har/post-type-wanted" ["HAR-MESSAGE" "EQ-COUNT"] "reads the body of a POST only when `postData.mimeType` is application/json"
        => on_exchange_at(&["request", "postData"], put_if(|entry| {
            text_at(entry, &["request", "postData", "mimeType"]).is_some_and(|it| it != "application/json")
        }, "{}"));
    "har/answer-type-exact" ["HAR-MESSAGE" "EQ-COUNT"] "reads a JSON answer only when its type has no parameters"
        => skip_answers(|entry| {
            let kind = text_at(entry, &["response", "content", "mimeType"]);
            kind.is_some_and(|kind| kind.to_lowercase().starts_with("application/json;"))
        });
    "har/get-answers-dropped" ["HAR-MESSAGE"] "reads nothing of an exchange that is not a POST"
        => skip_answers(|entry| !is_post(entry));
    "har/any-method-posts" ["HAR-MESSAGE"] "reads the body of a PUT or a DELETE"
        => on_exchange_at(&["request", "method"], put_if(|entry| {
            value_at(entry, &["request", "postData"]).is_some() && !is_post(entry)
        }, "\"POST\""));
    "har/base64-kept" ["HAR-STREAM" "HAR-MESSAGE"] "does not decode a JSON answer in base64"
        => on_exchange(|entry: Json<'_>| {
            let json = text_at(entry, &["response", "content", "mimeType"])?.contains("json");
            json.then(|| at(entry, &["response", "content"], &mut |content| drop_member("encoding")(content)))?
        });
    "har/bad-bytes-dropped" ["SRV-BYTES" "HAR-STREAM"] "drops bytes of a body in base64 that are not UTF-8"
        => on_exchange(|entry: Json<'_>| {
            let content = value_at(entry, &["response", "content"]).filter(|it| has_any(*it, &["encoding"]))?;
            let bytes = unpacked(&text_at(content, &["text"])?)?;
            String::from_utf8(bytes.clone()).err()?;
            let text = String::from_utf8_lossy(&bytes).replace('\u{fffd}', "");
            let plain = set(Json::parse(&set(content, "encoding", "")).ok()?, "text", &quoted(&text));
            at(entry, &["response", "content"], &mut |_| Some(plain.clone()))
        });
    "har/pretty-bodies-lost" ["HAR-MESSAGE" "EQ-COUNT"] "reads bodies that begin with a brace and hold no line end"
        => on_exchange(|entry: Json<'_>| at_each(entry, &[POST, ANSWER], &mut |text| {
            let body = content(text)?;
            (body.contains('\n') && Json::parse(&body).is_ok()).then(|| "\"\"".to_owned())
        }));
    "har/missing-bodies-rejected" ["HAR-MISSING"] "rejects a file whose exporter dropped a body"
        => reject_items(Shape::Archive, ENTRIES, |entry| {
            let positive = |path: &[&str]| {
                let size = value_at(entry, path).and_then(Json::as_number);
                size.and_then(|size| size.parse::<i64>().ok()).is_some_and(|size| size > 0)
            };
            positive(&["response", "content", "size"]) && text_at(entry, ANSWER).is_none_or(|text| text.is_empty())
                || positive(&["request", "bodySize"]) && value_at(entry, &["request", "postData"]).is_none()
        });
    "har/missing-bodies-end" ["HAR-MISSING" "EQ-COUNT"] "stops at the first exchange without a body"
        => order_exchanges(|entries| {
            let empty = |entry: &String| Json::parse(entry).is_ok_and(|it| value_at(it, ANSWER).is_none());
            entries.truncate(entries.iter().position(empty).unwrap_or(entries.len()));
        });
    "har/no-log-is-empty" ["HAR-MISSING"] "takes a file without `log` for an empty session"
        => empty_if(Shape::Archive, |whole| is_object(whole) && !has_any(whole, &["log"]));
    "har/no-entries-is-empty" ["HAR-MISSING"] "takes a log without entries for an empty session"
        => empty_if(Shape::Archive, |whole| whole.member("log").is_some_and(|log| !has_any(log, &["entries"])));
    "har/bare-entries" ["HAR-MISSING"] "takes a bare array for the entries of the log"
        => on_document(Shape::Archive, |whole: Json<'_>| {
            is_array(whole).then(|| format!("{{\"log\":{{\"entries\":{}}}}}", whole.text()))
        }).only("har");
    "har/entries-by-key" ["HAR-MISSING"] "takes the values of an object for the entries of the log"
        => on_document(Shape::Archive, |whole: Json<'_>| at(whole, ENTRIES, &mut values_of_object));
    "har/streams-merged-by-event-id" ["EQ-CONTEXT" "HAR-STREAM"] "drops an event of another stream whose id was there before"
        => on_reading(|reading| {
            let mut seen = BTreeMap::new();
            reading.entries.retain(|entry| {
                let id = entry.event_id.clone().filter(|_| entry.message.is_some());
                id.is_none_or(|id| *seen.entry(id).or_insert(entry.exchange) == entry.exchange)
            });
        }).only("har");
}

const ENTRIES: &[&str] = &["log", "entries"];
const POST: &[&str] = &["request", "postData", "text"];
const ANSWER: &[&str] = &["response", "content", "text"];

fn is_post(entry: Json<'_>) -> bool {
    text_at(entry, &["request", "method"]).is_some_and(|method| method.eq_ignore_ascii_case("POST"))
}

/// When an exchange ended, in microseconds of its day.
fn end(entry: Json<'_>) -> Option<i64> {
    let time = text_at(entry, &["startedDateTime"])?;
    let clock = time.split_once('T')?.1;
    let number = |range: std::ops::Range<usize>| clock.get(range)?.parse::<i64>().ok();
    let seconds = number(0..2)? * 3600 + number(3..5)? * 60 + number(6..8)?;
    let digits = clock.get(9..).unwrap_or_default().chars().take_while(char::is_ascii_digit);
    let fraction = format!("{:0<6}", digits.collect::<String>()).get(..6)?.parse::<i64>().ok()?;
    let took =
        entry.member("time").and_then(|time| time.as_number()?.parse::<f64>().ok()).unwrap_or_default();
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds of a recording fit")]
    Some(seconds * 1_000_000 + fraction + (took * 1000.0) as i64)
}

/// The bytes of a text in base64; nothing where it is not base64.
fn unpacked(text: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(text).ok()
}
