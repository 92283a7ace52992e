//! Mistakes about arrays of messages and the Inspector's export.

use crate::json::{
    drop_if, drop_member, has_any, is_array, is_null, is_object, is_string, member, on_member,
    on_text_member, set, set_if, values_of_object,
};
use crate::on_reading::{on_read_message, on_reading, reject_document};
use crate::on_text::{Shape, empty_if, exported, on_document, on_exported, on_item};
use crate::reading::ReadMessage;
use transcript::json::Json;
use transcript::message::Message;
use transcript::session::Side;

mutants! {
    "inspector/anything-is-empty" ["INS-SHAPE"] "takes an object without `events` for an empty session"
        => empty_if(Shape::List, |whole| is_object(whole) && !has_any(whole, &["events"])).only("inspector");
    "inspector/scalars-are-empty" ["INS-SHAPE"] "takes null or a string for an empty session"
        => empty_if(Shape::List, |whole| is_null(whole) || is_string(whole));
    "inspector/null-events-are-empty" ["INS-SHAPE"] "takes null `events` for an empty session"
        => empty_if(Shape::List, member("events", is_null));
    "inspector/events-by-key" ["INS-SHAPE"] "takes the values of an object for the events"
        => on_document(Shape::List, |whole: Json<'_>| values_of_object(whole.member("events")?));
    "inspector/one-message" ["INS-SHAPE"] "takes a single message for a list of one"
        => on_document(Shape::List, |whole: Json<'_>| {
            has_any(whole, &["jsonrpc"]).then(|| format!("[{}]", whole.text()))
        });
    "inspector/arrays-only" ["INS-SHAPE"] "reads no object with `events`"
        => reject_document(Shape::List, member("events", is_array));
    "inspector/objects-only" ["INS-SHAPE"] "reads no bare array" => reject_document(Shape::List, is_array);
    "inspector/events-only" ["INS-SHAPE"] "rejects an object with other members beside `events`"
        => reject_document(Shape::List, |whole| has_any(whole, &["events"]) && whole.members().count() > 1);
    "inspector/odd-items-passed" ["JRP-LINE"] "passes over items that are not objects"
        => on_item(drop_if(|item| !is_object(item)));
    "inspector/null-items-passed" ["JRP-LINE"] "passes over items that are null" => on_item(drop_if(is_null));
    "inspector/batches" ["JRP-LINE"] "reads an array among the items, one message after the other"
        => on_item(|item: Json<'_>| {
            is_array(item).then(|| item.items().map(Json::text).collect::<Vec<_>>().join(","))
        });
    "inspector/answers-not-folded-out" ["INS-EXPORT" "EQ-COUNT"] "loses the answer that is folded into an entry"
        => on_exported(drop_member("response"));
    "inspector/answers-behind-requests" ["INS-EXPORT"] "puts a folded answer right behind its request"
        => on_exported(set_if(|item| has_any(item, &["duration"]), "duration", "0"));
    "inspector/fractions-dropped" ["INS-EXPORT"] "drops the fraction of a `duration`"
        => on_exported(on_member("duration", |took: Json<'_>| {
            took.as_number()?.split_once('.').map(|(whole, _)| whole.to_owned())
        }));
    "inspector/durations-rounded-up" ["INS-EXPORT"] "rounds a `duration` up"
        => on_exported(on_member("duration", |took: Json<'_>| {
            Some((took.as_number()?.split_once('.')?.0.parse::<u64>().ok()? + 1).to_string())
        }));
    // Without sides; where they matter, another mutant is killed.
    "inspector/file-order" ["INS-EXPORT"] "leaves the entries of an export in file order"
        => on_item(|item: Json<'_>| {
            let message = exported(item)?;
            let folded = item.member("response").filter(|answer| !is_null(*answer));
            let folded = folded.map(|answer| format!(",{}", answer.text()));
            Some(format!("{}{}", message.text(), folded.unwrap_or_default()))
        });
    "inspector/newest-first" ["INS-EXPORT"] "reverses an export, since the Inspector shows the newest first"
        => on_reading(|reading| {
            if reading.entries.iter().any(|entry| entry.time.is_some()) {
                reading.entries.reverse();
            }
        }).only("inspector");
    "inspector/no-origins" ["INS-EXPORT" "COR-DIRECTION"] "does not look at `origin`" => on_exported(drop_member("origin"));
    "inspector/all-from-the-client" ["INS-EXPORT" "COR-DIRECTION"] "takes every request of an export for the client's"
        => on_exported(set_if(member("message", |it| has_any(it, &["method"])), "origin", "\"client\""));
    "inspector/folded-answers-from-the-asker" ["INS-EXPORT" "COR-DIRECTION"] "takes a folded answer for the asker's own"
        => on_read_message(|entry| {
            if entry.message.as_ref().is_some_and(ReadMessage::is_response) {
                entry.side = entry.side.map(Side::other);
            }
        }).only("inspector");
    "inspector/folded-answers-belong" ["INS-EXPORT" "COR-LATE"] "binds a folded answer to the request that it is folded into, whatever its id is"
        => on_exported(|item: Json<'_>| {
            let (id, answer) = (item.member("message")?.member("id")?.text(), item.member("response")?);
            let other = answer.member("id").is_some_and(|other| other.text() != id);
            other.then(|| set(item, "response", &set(answer, "id", id)))
        });
    "inspector/zones-dropped" ["INS-EXPORT"] "does not look at the zone of a timestamp"
        => on_item(on_text_member("timestamp", without_zone));
    "inspector/texts-compared" ["INS-EXPORT"] "reads only ISO timestamps, and takes one in milliseconds for 0"
        => on_exported(set_if(member("timestamp", |time| time.as_number().is_some()), "timestamp", "0"));
    "inspector/whole-seconds" ["INS-EXPORT"] "drops the fraction of a second of a timestamp"
        => on_item(on_text_member("timestamp", |time| {
            let (seconds, rest) = time.split_once('.')?;
            Some(format!("{seconds}{}", rest.trim_start_matches(|c: char| c.is_ascii_digit())))
        }));
    "inspector/mixed-dropped" ["INS-EXPORT" "EQ-COUNT"] "drops bare messages among the entries of an export"
        => on_reading(|reading| {
            let export = reading.entries.iter().any(|entry| entry.time.is_some());
            reading.entries.retain(|entry| !export || entry.time.is_some() || entry.side.is_some());
        }).only("inspector");
    "inspector/entries-first" ["INS-EXPORT"] "takes a message with a member `message` for an entry"
        => on_item(|item: Json<'_>| {
            let inside = item.member("message").filter(|inside| is_object(*inside));
            inside.filter(|_| has_any(item, &["jsonrpc"])).map(|inside| inside.text().to_owned())
        });
    "inspector/untimed-first" ["INS-EXPORT" "EQ-ORDER"] "puts what has no time before everything else"
        => on_exported(set_if(|item| !has_any(item, &["timestamp"]), "timestamp", "0"));
    "inspector/bad-folded-passed" ["INS-EXPORT"] "passes over a folded answer that is not a message"
        => on_exported(on_member("response", |answer: Json<'_>| {
            Message::parse(answer.text()).is_err().then(String::new)
        }));
}

/// A time as if it were in UTC.
pub(super) fn without_zone(time: &str) -> Option<String> {
    let zone = time.rfind(['+', '-']).filter(|&at| at > 10)?;
    Some(format!("{}Z", &time[..zone]))
}
