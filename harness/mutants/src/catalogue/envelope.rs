//! Mistakes about the envelopes of `streamable-http` and `http-sse`, and about the events in them.

use crate::json::{
    any_case, content, double, has_any, has_unknown, is, is_array, is_null, is_object, is_string, last_wins,
    member, numbers, on_member, put_if, quoted, set, set_if, spelled, value_at, values_of_object,
};
use crate::on_reading::{lose_messages, reject_document, reject_entry, reject_if, reject_items};
use crate::on_text::{
    SLOTS, Shape, accept_label, in_text, message_names, null_slots, on_data, on_document, on_entry, on_text,
    skip_entries, streams,
};
use transcript::json::{Json, JsonKind};
use transcript::session::Carrier;

const ENTRIES: &[&str] = &["entries"];

mutants! {
    "envelope/any-label" ["ENV-TRANSPORT"] "does not look at `transport` where it is there" => accept_label(|label, _| label.is_some());
    "envelope/no-label" ["ENV-TRANSPORT"] "takes an envelope without `transport`" => accept_label(|label, _| label.is_none());
    "envelope/null-label" ["ENV-TRANSPORT"] "takes a null `transport` for the right one"
        => accept_label(|label, _| label.is_some_and(is_null));
    "envelope/label-without-case" ["ENV-TRANSPORT"] "compares `transport` without case"
        => accept_label(|label, format| label.and_then(content).is_some_and(|label| label.eq_ignore_ascii_case(format)));
    "envelope/alias" ["ENV-TRANSPORT"] "takes `sse-legacy` for http-sse in files"
        => accept_label(|label, _| label.and_then(content).is_some_and(|label| label == "sse-legacy")).only("http-sse");
    "envelope/either-label" ["ENV-TRANSPORT"] "reads either envelope under either name"
        => accept_label(|label, _| {
            label.and_then(content).is_some_and(|label| label == "http-sse" || label == "streamable-http")
        });
    "envelope/label-first" ["ENV-TRANSPORT"] "wants `transport` before `entries`"
        => reject_document(Shape::Envelope, |whole| {
            let place = |name: &str| whole.members().position(|(key, _)| key.is(name));
            place("entries").is_some_and(|entries| place("transport").is_some_and(|label| label > entries))
        });
    "envelope/first-slot" ["ENV-ONE"] "takes the first of `request`, `response` and `sse` where an entry has several"
        => on_entry(|entry: Json<'_>| {
            let there: Vec<&str> = SLOTS.into_iter().filter(|slot| has_any(entry, &[slot])).collect();
            let extra = there.get(1..).filter(|extra| !extra.is_empty())?;
            let drop = |text: String, slot: &&str| Some(set(Json::parse(&text).ok()?, slot, ""));
            extra.iter().try_fold(entry.text().to_owned(), drop)
        });
    "envelope/exchange-in-an-entry" ["ENV-ONE"] "reads the request and the response of one entry"
        => on_entry(|entry: Json<'_>| {
            let both = has_any(entry, &["request"]) && has_any(entry, &["response"]);
            both.then(|| format!("{},{}", set(entry, "response", ""), set(entry, "request", "")))
        });
    "envelope/two-with-a-stream" ["ENV-ONE"] "rejects two messages in an entry, but no stream event beside one"
        => on_entry(set_if(|it| has_any(it, &["sse"]) && has_any(it, &["request", "response"]), "sse", ""));
    "envelope/empty-entries-passed" ["ENV-ONE"] "passes over an entry without request, response and sse"
        => skip_entries(|entry| is_object(entry) && !has_any(entry, &SLOTS));
    "envelope/odd-entries-passed" ["ENV-ONE" "SRV-BYTES"] "passes over an entry that is not an object"
        => skip_entries(|entry| !is_object(entry));
    "envelope/bare-messages" ["ENV-ONE"] "reads a bare message among the entries"
        => on_entry(|entry: Json<'_>| {
            let slot = if has_any(entry, &["method"]) { "request" } else { "response" };
            has_any(entry, &["jsonrpc"]).then(|| format!("{{\"{slot}\":{}}}", entry.text()))
        });
    "envelope/slots-without-case" ["ENV-ONE"] "finds `Response` for `response`" => on_entry(any_case(&SLOTS));
    "envelope/batches" ["ENV-SINGLE"] "reads an array of messages in an entry, one after the other"
        => on_entry(|entry: Json<'_>| {
            let list = |slot: &&str| entry.member(slot).is_some_and(is_array);
            let slot = ["request", "response"].into_iter().find(list)?;
            let each: Vec<String> = entry.member(slot)?.items().map(|it| set(entry, slot, it.text())).collect();
            Some(each.join(","))
        });
    "envelope/empty-batch" ["ENV-SINGLE"] "takes an empty array for no message"
        => null_slots(|value| value.text().replace(' ', "") == "[]");
    "envelope/falsy-is-none" ["ENV-SINGLE"] "takes a message that is 0 for none" => null_slots(spelled("0"));
    "envelope/text-is-none" ["ENV-SINGLE"] "takes a message that is a string for none" => null_slots(is_string);
    "envelope/null-rejected-in-one" ["ENV-NULL"] "rejects a null request, response or sse in http-sse, and accepts it elsewhere"
        => reject_items(Shape::Envelope, ENTRIES, has_null).only("http-sse");
    "envelope/null-is-an-event" ["ENV-NULL"] "makes a notification of a null response"
        => on_entry(set_if(member("response", is_null), "response", r#"{"jsonrpc":"2.0","method":"null"}"#));
    "envelope/null-empties-an-entry" ["ENV-NULL" "ENV-ONE"] "drops an entry with a null message, whatever else it has"
        => skip_entries(has_null);
    "envelope/last-of-two-slots-in-one" ["SRV-TWICE" "ENV-ONE"] "takes the last of two members of one name in an entry, only in http-sse"
        => on_entry(|entry: Json<'_>| SLOTS.into_iter().find_map(|slot| last_wins(slot)(entry))).only("http-sse");
    "envelope/failures-dropped" ["EQ-COUNT" "EQ-CONTEXT"] "drops messages under a status of 400 and more"
        => lose_messages(|entry, _| entry.carrier == Carrier::Response && entry.failed());
    "envelope/failures-rejected-in-one" ["ENV-NULL"] "rejects an OAuth error as a response in streamable-http, and accepts it in http-sse"
        => reject_entry(|entry| entry.message.is_none() && entry.carrier == Carrier::Response && entry.failed())
            .only("streamable-http");
    "envelope/no-entries-is-empty" ["ENV-EMPTY"] "takes an envelope without entries for an empty session"
        => on_document(Shape::Envelope, set_if(|it| is_object(it) && !has_any(it, ENTRIES), "entries", "[]"));
    "envelope/null-entries-is-empty" ["ENV-EMPTY"] "takes null entries for an empty session"
        => on_document(Shape::Envelope, set_if(member("entries", is_null), "entries", "[]"));
    "envelope/entries-by-key" ["ENV-EMPTY"] "takes the values of an object for the entries"
        => on_document(Shape::Envelope, on_member("entries", values_of_object));
    "envelope/empty-rejected" ["ENV-EMPTY"] "rejects an envelope whose entries are empty"
        => reject_document(Shape::Envelope, member("entries", |entries| entries.items().next().is_none()));
    "envelope/bare-list" ["ENV-EMPTY" "ENV-TRANSPORT"] "takes a bare array for the entries"
        => on_text(|format, text| {
            let list = Json::parse(text).ok()?;
            (Shape::of(format) == Shape::Envelope && is_array(list))
                .then(|| format!("{{\"transport\":\"{}\",\"entries\":{}}}", format.name, list.text()))
        });
    "envelope/odd-times-rejected-in-one" ["ENV-LOOSE"] "rejects a timestamp that is not an integer in streamable-http, and accepts it in http-sse"
        => reject_items(Shape::Envelope, ENTRIES, member("timestamp_ms", is_odd_time)).only("streamable-http");
    "envelope/odd-times-dropped" ["ENV-LOOSE" "EQ-COUNT"] "drops an entry whose timestamp is not a non-negative integer"
        => skip_entries(member("timestamp_ms", is_odd_time));
    "envelope/no-time-dropped" ["ENV-LOOSE" "EQ-COUNT"] "drops an entry without a timestamp"
        => skip_entries(|entry| is_object(entry) && !has_any(entry, &["timestamp_ms"]));
    "envelope/odd-event-ids-dropped" ["ENV-LOOSE" "EQ-COUNT"] "drops an SSE event whose id is not a string"
        => skip_entries(member("sse", member("id", |id| !is_string(id))));
    "envelope/unknown-members-rejected" ["ENV-UNKNOWN"] "rejects members that it does not know"
        => reject_document(Shape::Envelope, |whole| {
            let entries = |list: Json<'_>| {
                let known = ["timestamp_ms", "request", "response", "sse", "transport_context"];
                list.items().any(|entry| entry.members().any(|(name, _)| !known.iter().any(|it| name.is(it))))
            };
            whole.member("entries").is_some_and(|list| {
                has_unknown(&["transport", "entries", "transport_context"])(whole) || entries(list)
            })
        });
    "sse/no-version-passed" ["SSE-DATA-TEXT" "JRP-VERSION"] "passes over data without `jsonrpc`, whatever else it has"
        => on_data(put_if(|data| is_object(data) && !has_any(data, &["jsonrpc"]), "\"\""));
    "sse/any-name" ["SSE-EVENT"] "reads the data of events of any name"
        => message_names(|name| !name.is_empty() && name != "message");
    "sse/names-without-case" ["SSE-EVENT"] "compares event names without case"
        => message_names(|name| name != "message" && name.eq_ignore_ascii_case("message"));
    "sse/empty-name-is-another" ["SSE-EVENT"] "does not take an empty name for `message`"
        => lose_messages(|entry, _| entry.event.as_deref() == Some(""));
    "sse/no-name-is-another" ["SSE-EVENT"] "does not take an event without a name for a `message` in a stream"
        => lose_messages(|entry, _| entry.carrier == Carrier::Sse && entry.event.is_none()).only("har");
    "sse/nameless-passed-in-one" ["SSE-EVENT"] "passes over events without a name, or with an empty one, only in http-sse"
        => lose_messages(|entry, _| entry.carrier == Carrier::Sse && entry.event.as_deref().unwrap_or("").is_empty())
            .only("http-sse");
    "sse/endpoint-wanted" ["SSE-EVENT"] "rejects http-sse without an `endpoint` event"
        => reject_if(|original| {
            let mut events = original.reading.entries.iter().filter_map(|entry| entry.event.as_deref());
            original.reading.failure.is_none() && !events.any(|event| event == "endpoint")
        }).only("http-sse");
    "sse/strings-only" ["SSE-DATA-OBJECT"] "reads data that is a string, and none that is an object"
        => on_data(put_if(is_object, "\"\""));
    "sse/objects-only" ["SSE-DATA-STRING"] "reads data that is an object, and none that is a string"
        => on_data(put_if(is_string, "\"\""));
    "sse/strings-through-doubles" ["SSE-DATA-STRING" "EQ-ARGS" "EQ-OUTCOME"] "parses a string of data with a JSON library that has only doubles"
        => on_data(|value: Json<'_>| Some(quoted(&numbers(double)(Json::parse(&content(value)?).ok()?)?)));
    "sse/text-rejected" ["SSE-DATA-TEXT"] "rejects a `message` event whose data is plain text"
        => reject_entry(|entry| {
            let plain = |data: &str| !data.is_empty() && Json::parse(data).is_err();
            entry.is_message_event() && entry.data.as_deref().is_some_and(plain)
        });
    "sse/priming-rejected" ["SSE-DATA-TEXT"] "rejects a `message` event with empty data"
        => reject_entry(|entry| entry.is_message_event() && entry.data.as_deref() == Some(""));
    "sse/scalars-rejected-in-one" ["SSE-DATA-TEXT"] "rejects data that is a number, true or null, only in http-sse"
        => reject_items(Shape::Envelope, ENTRIES, |entry| {
            is_message(entry) && value_at(entry, &["sse", "data"]).is_some_and(|data| {
                matches!(data.kind(), JsonKind::Number | JsonKind::Bool | JsonKind::Null)
            })
        }).only("http-sse");
    "sse/objects-are-messages" ["SSE-DATA-TEXT"] "rejects data that is an object without `jsonrpc`"
        => reject_if(|original| original.text().is_some_and(|text| {
            let odd = |value: Json<'_>| is_object(value) && !has_any(value, &["jsonrpc"]);
            let mut found = false;
            match Shape::of(original.format) {
                Shape::Envelope => drop(in_text(text, &["entries", "*"], &mut |entry| {
                    let data = value_at(entry, &["sse", "data"]).filter(|_| is_message(entry))?;
                    found |= match content(data) {
                        Some(inside) => Json::parse(&inside).is_ok_and(odd),
                        None => odd(data),
                    };
                    None
                })),
                _ => {
                    let seen = std::cell::Cell::new(false);
                    streams(original.format, text, &|stream| {
                        seen.set(seen.get() || stream.contains("data: {}") || stream.contains("data:{}"));
                        None
                    });
                    found = seen.get();
                }
            }
            found
        }));
    "sse/keepalive-rejected" ["SSE-KEEPALIVE"] "rejects an `sse` entry without `data`"
        => reject_items(Shape::Envelope, ENTRIES, member("sse", |sse| is_object(sse) && !has_any(sse, &["data"])));
    "sse/broken-passed-in-one" ["SSE-DATA-BROKEN"] "passes over broken data, only in streamable-http"
        => on_data(put_if(|data| {
            content(data).is_some_and(|it| it.trim_start().starts_with('{') && Json::parse(&it).is_err())
        }, "\"\"")).only("streamable-http");
    "sse/arrays-read-in-one" ["SSE-DATA-ARRAY"] "reads an array of messages in data, only in http-sse"
        => on_entry(|entry: Json<'_>| {
            let value = value_at(entry, &["sse", "data"])?;
            let inside = content(value);
            let list = inside.as_deref().map_or(Some(value), |inside| Json::parse(inside).ok())?;
            let with = |item: Json<'_>| {
                crate::json::at(entry, &["sse", "data"], &mut |_| Some(item.text().to_owned())).unwrap_or_default()
            };
            is_array(list).then(|| list.items().map(with).collect::<Vec<_>>().join(","))
        }).only("http-sse");
    "sse/nested-read-in-one" ["SSE-DATA-NESTED"] "reads a message that was serialised twice, only in http-sse"
        => on_data(|value: Json<'_>| {
            let inside = content(value)?;
            Json::parse(&inside).ok().filter(|nested| is(*nested, JsonKind::String)).map(|it| it.text().to_owned())
        }).only("http-sse");
}

fn has_null(entry: Json<'_>) -> bool {
    SLOTS.iter().any(|slot| entry.member(slot).is_some_and(is_null))
}

fn is_odd_time(time: Json<'_>) -> bool {
    time.text().parse::<u64>().is_err()
}

/// Whether an entry is an event that is named `message`, or not at all.
fn is_message(entry: Json<'_>) -> bool {
    let name = value_at(entry, &["sse", "event"]).and_then(content).unwrap_or_default();
    matches!(&*name, "" | "message")
}
