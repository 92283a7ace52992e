//! Faults about server-sent events: their names, and what their data carries.

use super::edit::{self, at, quoted};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "sse/any-name",
        &["SSE-EVENT"],
        "reads the data of events of any name",
        Mutation::Text(|format, whole| {
            named(format, whole, &|name| (!name.is_empty() && name != "message").then(|| "message".into()))
        }),
    ),
    mutant(
        "sse/endpoint-is-read",
        &["SSE-EVENT"],
        "reads the data of `endpoint` events",
        Mutation::Text(|format, whole| {
            named(format, whole, &|name| (name == "endpoint").then(|| "message".into()))
        }),
    ),
    mutant(
        "sse/ping-is-read",
        &["SSE-EVENT"],
        "reads the data of `ping` events",
        Mutation::Text(|format, whole| {
            named(format, whole, &|name| (name == "ping").then(|| "message".into()))
        }),
    ),
    mutant(
        "sse/names-without-case",
        &["SSE-EVENT"],
        "compares event names without case",
        Mutation::Text(|format, whole| {
            named(format, whole, &|name| {
                (name != "message" && name.eq_ignore_ascii_case("message")).then(|| "message".into())
            })
        }),
    ),
    mutant(
        "sse/name-wanted",
        &["SSE-EVENT"],
        "reads events that are named `message`, and none without a name",
        Mutation::Found(|_, found| {
            found.entries.retain(|seen| {
                seen.said.is_none()
                    || seen.carrier != transcript::session::Carrier::Sse
                    || seen.event.is_some()
            });
        }),
    ),
    mutant(
        "sse/empty-name-is-another",
        &["SSE-EVENT"],
        "does not take an empty name for `message`",
        Mutation::Found(|_, found| {
            found.entries.retain(|seen| seen.said.is_none() || seen.event.as_deref() != Some(""));
        }),
    ),
    mutant(
        "sse/endpoint-wanted",
        &["SSE-EVENT"],
        "rejects http-sse without an `endpoint` event",
        Mutation::Answer(|asked| {
            let endpoint = asked.found.entries.iter().any(|seen| seen.event.as_deref() == Some("endpoint"));
            let sound = asked.found.refused.is_none();
            (asked.format.name == "http-sse" && sound && !endpoint)
                .then(|| super::survival::rejection("invalid-entry"))
        }),
    ),
    mutant(
        "sse/strings-alone",
        &["SSE-DATA-OBJECT"],
        "reads data that is a string, and none that is an object",
        Mutation::Text(|format, whole| {
            data(format, whole, &|value| (value.kind() == JsonKind::Object).then(|| "\"\"".to_owned()))
        }),
    ),
    mutant(
        "sse/objects-alone",
        &["SSE-DATA-STRING"],
        "reads data that is an object, and none that is a string",
        Mutation::Text(|format, whole| {
            data(format, whole, &|value| (value.kind() == JsonKind::String).then(|| "\"\"".to_owned()))
        }),
    ),
    mutant(
        "sse/strings-through-doubles",
        &["SSE-DATA-STRING", "EQ-ARGS", "EQ-OUTCOME"],
        "parses a string of data with a JSON library that has doubles alone",
        Mutation::Text(|format, whole| {
            data(format, whole, &|value| {
                let inside = edit::content(value)?;
                let rounded = super::values::rounded(Json::parse(&inside).ok()?)?;
                Some(quoted(&rounded))
            })
        }),
    ),
    mutant(
        "sse/text-rejected",
        &["SSE-DATA-TEXT"],
        "rejects a `message` event whose data is plain text",
        Mutation::Answer(|asked| {
            let plain = asked.found.entries.iter().any(|seen| {
                message(seen)
                    && seen.data.as_deref().is_some_and(|data| !data.is_empty() && Json::parse(data).is_err())
            });
            plain.then(|| super::survival::rejection("broken-data"))
        }),
    ),
    mutant(
        "sse/priming-rejected",
        &["SSE-DATA-TEXT"],
        "rejects a `message` event with empty data",
        Mutation::Answer(|asked| {
            let empty =
                asked.found.entries.iter().any(|seen| message(seen) && seen.data.as_deref() == Some(""));
            empty.then(|| super::survival::rejection("broken-data"))
        }),
    ),
    mutant(
        "sse/scalars-rejected-in-one",
        &["SSE-DATA-TEXT"],
        "rejects data that is a number, true or null, in http-sse alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "http-sse")?;
            let found = std::cell::Cell::new(false);
            data(asked.format.name, text, &|value| {
                found.set(
                    found.get() || matches!(value.kind(), JsonKind::Number | JsonKind::Bool | JsonKind::Null),
                );
                None
            });
            found.get().then(|| super::survival::rejection("broken-data"))
        }),
    ),
    mutant(
        "sse/objects-are-messages",
        &["SSE-DATA-TEXT"],
        "rejects data that is an object without `jsonrpc`",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok()?;
            let found = std::cell::Cell::new(false);
            let look = |value: Json<'_>| {
                let inside = edit::content(value);
                let value = inside.as_deref().map_or(Some(value), |inside| Json::parse(inside).ok());
                let odd = value.is_some_and(|value| {
                    value.kind() == JsonKind::Object && value.member("jsonrpc").is_none()
                });
                found.set(found.get() || odd);
                None
            };
            data(asked.format.name, text, &look);
            edit::streams(asked.format.name, text, &|stream| {
                found.set(found.get() || stream.contains("data: {}") || stream.contains("data:{}"));
                None
            });
            found.get().then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "sse/keepalive-rejected",
        &["SSE-KEEPALIVE"],
        "rejects an `sse` entry without `data`",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let idle = whole.member("entries")?.items().any(|entry| {
                entry
                    .member("sse")
                    .is_some_and(|sse| sse.kind() == JsonKind::Object && sse.member("data").is_none())
            });
            idle.then(|| super::survival::rejection("invalid-entry"))
        }),
    ),
    mutant(
        "sse/broken-passed-in-one",
        &["SSE-DATA-BROKEN"],
        "passes over broken data in streamable-http alone",
        Mutation::Answer(|asked| {
            let text =
                std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "streamable-http")?;
            let new = data("streamable-http", text, &|value| {
                let inside = edit::content(value)?;
                (inside.trim_start().starts_with('{') && Json::parse(&inside).is_err())
                    .then(|| "\"\"".to_owned())
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "sse/arrays-read-in-one",
        &["SSE-DATA-ARRAY"],
        "reads an array of messages in data, in http-sse alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "http-sse")?;
            let new = edit::entries("http-sse", text, &mut |entry| {
                let value = entry.member("sse")?.member("data")?;
                let inside = edit::content(value);
                let list = inside.as_deref().map_or(Some(value), |inside| Json::parse(inside).ok())?;
                (list.kind() == JsonKind::Array).then_some(())?;
                let each = list.items().map(|item| {
                    at(entry, &["sse", "data"], &mut |_| Some(item.text().to_owned())).unwrap_or_default()
                });
                Some(each.collect::<Vec<_>>().join(","))
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "sse/nested-read-in-one",
        &["SSE-DATA-NESTED"],
        "reads a message that was serialised twice, in http-sse alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "http-sse")?;
            let new = data("http-sse", text, &|value| {
                let inside = edit::content(value)?;
                let nested = Json::parse(&inside).ok().filter(|nested| nested.kind() == JsonKind::String)?;
                Some(nested.text().to_owned())
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
];

/// The `data` of each event of an envelope that is named `message`, edited.
fn data(format: &str, whole: &str, edit: &dyn Fn(Json<'_>) -> Option<String>) -> Option<String> {
    edit::entries(format, whole, &mut |entry| {
        let name = entry.member("sse")?.member("event").and_then(edit::content).unwrap_or_default();
        if !matches!(&*name, "" | "message") {
            return None;
        }
        at(entry, &["sse", "data"], &mut |value| edit(value))
    })
}

/// Events by other names; a name that is absent is asked for as an empty one.
fn named(format: &str, whole: &str, edit: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let envelope = edit::entries(format, whole, &mut |entry| {
        at(entry, &["sse", "event"], &mut |name| edit(&edit::content(name)?).map(|new| quoted(&new)))
    });
    envelope.or_else(|| {
        super::streams::per_line(format, whole, &|line| {
            let name = line.strip_prefix("event:")?;
            edit(name.strip_prefix(' ').unwrap_or(name)).map(|new| format!("event: {new}"))
        })
    })
}

fn message(seen: &super::found::Seen) -> bool {
    seen.carrier == transcript::session::Carrier::Sse
        && matches!(seen.event.as_deref(), None | Some("" | "message"))
}
