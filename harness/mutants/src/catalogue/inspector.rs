//! Faults about arrays of messages and the Inspector's export.

use super::edit::{self, set};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "inspector/anything-is-empty",
        &["INS-SHAPE"],
        "takes an object without `events` for an empty session",
        Mutation::Text(|format, text| {
            let whole = whole(format, text).filter(|whole| whole.kind() == JsonKind::Object)?;
            whole.member("events").is_none().then(|| "[]".to_owned())
        }),
    ),
    mutant(
        "inspector/scalars-are-empty",
        &["INS-SHAPE"],
        "takes null or a string for an empty session",
        Mutation::Text(|format, text| {
            let whole = whole(format, text)?;
            matches!(whole.kind(), JsonKind::Null | JsonKind::String).then(|| "[]".to_owned())
        }),
    ),
    mutant(
        "inspector/null-events-are-empty",
        &["INS-SHAPE"],
        "takes null `events` for an empty session",
        Mutation::Text(|format, text| {
            let events = whole(format, text)?.member("events")?;
            (events.kind() == JsonKind::Null).then(|| "[]".to_owned())
        }),
    ),
    mutant(
        "inspector/events-by-key",
        &["INS-SHAPE"],
        "takes the values of an object for the events",
        Mutation::Text(|format, text| {
            let events =
                whole(format, text)?.member("events").filter(|events| events.kind() == JsonKind::Object)?;
            let values: Vec<&str> = events.members().map(|(_, value)| value.text()).collect();
            Some(format!("[{}]", values.join(",")))
        }),
    ),
    mutant(
        "inspector/one-message",
        &["INS-SHAPE"],
        "takes a single message for a list of one",
        Mutation::Text(|format, text| {
            let whole = whole(format, text)?;
            whole.member("jsonrpc").map(|_| format!("[{}]", whole.text()))
        }),
    ),
    mutant(
        "inspector/arrays-alone",
        &["INS-SHAPE"],
        "reads no object with `events`",
        rejected(|whole| whole.member("events").is_some_and(|events| events.kind() == JsonKind::Array)),
    ),
    mutant(
        "inspector/objects-alone",
        &["INS-SHAPE"],
        "reads no bare array",
        rejected(|whole| whole.kind() == JsonKind::Array),
    ),
    mutant(
        "inspector/events-alone",
        &["INS-SHAPE"],
        "rejects an object with other members beside `events`",
        rejected(|whole| whole.member("events").is_some() && whole.members().count() > 1),
    ),
    mutant(
        "inspector/odd-items-passed",
        &["JRP-LINE"],
        "passes over items that are no objects",
        items(|item| (item.kind() != JsonKind::Object).then(String::new)),
    ),
    mutant(
        "inspector/null-items-passed",
        &["JRP-LINE"],
        "passes over items that are null",
        items(|item| (item.kind() == JsonKind::Null).then(String::new)),
    ),
    mutant(
        "inspector/batches",
        &["JRP-LINE"],
        "reads an array among the items, one message after the other",
        items(|item| {
            let each: Vec<&str> = item.items().map(Json::text).collect();
            (item.kind() == JsonKind::Array).then(|| each.join(","))
        }),
    ),
    mutant(
        "inspector/answers-not-folded-out",
        &["INS-EXPORT", "EQ-COUNT"],
        "loses the answer that is folded into an entry",
        items(|item| item.member("response").and_then(|_| exported(item)).map(|_| set(item, "response", ""))),
    ),
    mutant(
        "inspector/answers-behind-requests",
        &["INS-EXPORT"],
        "puts a folded answer right behind its request",
        items(|item| {
            item.member("duration").and_then(|_| exported(item)).map(|_| set(item, "duration", "0"))
        }),
    ),
    mutant(
        "inspector/seconds-for-milliseconds",
        &["INS-EXPORT"],
        "takes `duration` for seconds",
        items(|item| {
            let took = item.member("duration")?.as_number()?.parse::<f64>().ok()?;
            exported(item).map(|_| set(item, "duration", &format!("{}", took * 1000.0)))
        }),
    ),
    mutant(
        "inspector/fractions-dropped",
        &["INS-EXPORT"],
        "drops the fraction of a `duration`",
        items(|item| {
            let took = item.member("duration")?.as_number()?;
            let (whole, _) = took.split_once('.')?;
            exported(item).map(|_| set(item, "duration", whole))
        }),
    ),
    mutant(
        "inspector/durations-rounded-up",
        &["INS-EXPORT"],
        "rounds a `duration` up",
        items(|item| {
            let took = item.member("duration")?.as_number()?;
            let whole = took.split_once('.')?.0.parse::<u64>().ok()?;
            exported(item).map(|_| set(item, "duration", &(whole + 1).to_string()))
        }),
    ),
    mutant(
        "inspector/file-order",
        &["INS-EXPORT"],
        "leaves the entries of an export in file order",
        items(|item| {
            let folded = item.member("response").map(|answer| format!(",{}", answer.text()));
            // Without sides; where they matter, another fault is killed.
            exported(item).map(|message| {
                format!("{}{}", message.text(), folded.filter(|text| text != ",null").unwrap_or_default())
            })
        }),
    ),
    mutant(
        "inspector/newest-first",
        &["INS-EXPORT"],
        "turns an export round, since the Inspector shows the newest first",
        Mutation::Found(|format, found| {
            if format == "inspector" && found.entries.iter().any(|seen| seen.time.is_some()) {
                found.entries.reverse();
            }
        }),
    ),
    mutant(
        "inspector/ties-turned",
        &["INS-EXPORT"],
        "puts the later of two entries with one time first",
        Mutation::Found(|format, found| {
            if format == "inspector" && found.entries.iter().all(|seen| seen.time.is_some()) {
                found.entries.reverse();
                found.entries.sort_by_key(|seen| seen.time);
            }
        }),
    ),
    mutant(
        "inspector/no-origins",
        &["INS-EXPORT", "COR-DIRECTION"],
        "does not look at `origin`",
        items(|item| exported(item).and_then(|_| item.member("origin")).map(|_| set(item, "origin", ""))),
    ),
    mutant(
        "inspector/all-from-the-client",
        &["INS-EXPORT", "COR-DIRECTION"],
        "takes every request of an export for the client's",
        items(|item| {
            let call = exported(item)?.member("method").is_some();
            call.then(|| set(item, "origin", "\"client\""))
        }),
    ),
    mutant(
        "inspector/folded-answers-from-the-asker",
        &["INS-EXPORT", "COR-DIRECTION"],
        "takes a folded answer for the asker's own",
        Mutation::Found(|format, found| {
            let export = format == "inspector" && found.entries.iter().any(|seen| seen.side.is_some());
            for seen in found.entries.iter_mut().filter(|_| export) {
                if seen.said.as_ref().is_some_and(super::found::Said::is_response) {
                    seen.side = seen.side.map(transcript::session::Side::other);
                }
            }
        }),
    ),
    mutant(
        "inspector/folded-answers-belong",
        &["INS-EXPORT", "COR-LATE"],
        "binds a folded answer to the request that it is folded into, whatever its id is",
        items(|item| {
            let (message, answer) = (exported(item)?, item.member("response")?);
            let id = message.member("id")?.text();
            let other = answer.member("id").is_some_and(|other| other.text() != id);
            other.then(|| set(item, "response", &set(answer, "id", id)))
        }),
    ),
    mutant(
        "inspector/zones-dropped",
        &["INS-EXPORT"],
        "does not look at the zone of a timestamp",
        items(|item| {
            let time = edit::content(item.member("timestamp")?)?;
            let zone = time.rfind(['+', '-']).filter(|&at| at > 10)?;
            Some(set(item, "timestamp", &format!("\"{}Z\"", &time[..zone])))
        }),
    ),
    mutant(
        "inspector/texts-compared",
        &["INS-EXPORT"],
        "reads ISO timestamps alone, and takes one in milliseconds for 0",
        items(|item| {
            exported(item)?;
            item.member("timestamp")?.as_number().map(|_| set(item, "timestamp", "0"))
        }),
    ),
    mutant(
        "inspector/numbers-alone",
        &["INS-EXPORT"],
        "reads timestamps in milliseconds alone, and takes an ISO one for 0",
        items(|item| {
            exported(item)?;
            item.member("timestamp")?.as_text().map(|_| set(item, "timestamp", "0"))
        }),
    ),
    mutant(
        "inspector/whole-seconds",
        &["INS-EXPORT"],
        "drops the fraction of a second of a timestamp",
        items(|item| {
            let time = edit::content(item.member("timestamp")?)?;
            let (seconds, rest) = time.split_once('.')?;
            let zone = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            Some(set(item, "timestamp", &format!("\"{seconds}{zone}\"")))
        }),
    ),
    mutant(
        "inspector/mixed-dropped",
        &["INS-EXPORT", "EQ-COUNT"],
        "drops bare messages that stand among the entries of an export",
        Mutation::Found(|format, found| {
            let export = format == "inspector" && found.entries.iter().any(|seen| seen.time.is_some());
            found.entries.retain(|seen| !export || seen.time.is_some() || seen.side.is_some());
        }),
    ),
    mutant(
        "inspector/entries-by-their-kind",
        &["INS-EXPORT"],
        "takes `direction` for the sender, so that requests are the client's and answers the server's",
        items(|item| {
            exported(item)?;
            let kind = edit::content(item.member("direction")?)?;
            let origin = if kind == "response" { "\"server\"" } else { "\"client\"" };
            Some(set(item, "origin", origin))
        }),
    ),
    mutant(
        "inspector/bad-folded-passed",
        &["INS-EXPORT"],
        "passes over a folded answer that is no message",
        items(|item| {
            exported(item)?;
            let answer = item.member("response")?;
            transcript::message::Message::parse(answer.text()).err().map(|_| set(item, "response", ""))
        }),
    ),
];

/// A reader to whom such items are others; an empty text takes one away.
const fn items(edit: fn(Json<'_>) -> Option<String>) -> Mutation {
    Mutation::Item(edit)
}

/// The document with such items.
pub(super) fn edited(format: &str, text: &str, edit: fn(Json<'_>) -> Option<String>) -> Option<String> {
    if format != "inspector" {
        return None;
    }
    let edit = &mut |item: Json<'_>| edit(item);
    edit::text(text, &["*"], edit).or_else(|| edit::text(text, &["events", "*"], edit))
}

/// A reader that rejects such documents.
const fn rejected(refuses: fn(Json<'_>) -> bool) -> Mutation {
    Mutation::Document(refuses)
}

/// Whether it is such a document.
pub(super) fn is(format: &str, text: &str, refuses: fn(Json<'_>) -> bool) -> bool {
    whole(format, text).is_some_and(refuses)
}

/// The message of an entry of the export.
fn exported(item: Json<'_>) -> Option<Json<'_>> {
    item.member("message").filter(|_| item.member("jsonrpc").is_none())
}

fn whole<'t>(format: &str, text: &'t str) -> Option<Json<'t>> {
    Json::parse(text).ok().filter(|_| format == "inspector")
}
