//! Faults about server-sent events: in the envelopes, and as the bytes of a stream in a HAR.

use super::edit::{self, at, quoted, set};
use super::{Fault, Seed, fault};
use transcript::json::{Json, Kind};

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "sse/any-name",
        &["SSE-EVENT"],
        "reads the data of events of any name",
        Seed::Text(|format, whole| {
            named(format, whole, &|name| (!name.is_empty() && name != "message").then(|| "message".into()))
        }),
    ),
    fault(
        "sse/endpoint-is-read",
        &["SSE-EVENT"],
        "reads the data of `endpoint` events",
        Seed::Text(|format, whole| {
            named(format, whole, &|name| (name == "endpoint").then(|| "message".into()))
        }),
    ),
    fault(
        "sse/ping-is-read",
        &["SSE-EVENT"],
        "reads the data of `ping` events",
        Seed::Text(|format, whole| named(format, whole, &|name| (name == "ping").then(|| "message".into()))),
    ),
    fault(
        "sse/names-without-case",
        &["SSE-EVENT"],
        "compares event names without case",
        Seed::Text(|format, whole| {
            named(format, whole, &|name| {
                (name != "message" && name.eq_ignore_ascii_case("message")).then(|| "message".into())
            })
        }),
    ),
    fault(
        "sse/name-wanted",
        &["SSE-EVENT"],
        "reads events that are named `message`, and none without a name",
        Seed::Found(|_, found| {
            found.entries.retain(|seen| {
                seen.said.is_none() || seen.slot != transcript::session::Slot::Sse || seen.event.is_some()
            });
        }),
    ),
    fault(
        "sse/empty-name-is-another",
        &["SSE-EVENT"],
        "does not take an empty name for `message`",
        Seed::Found(|_, found| {
            found.entries.retain(|seen| seen.said.is_none() || seen.event.as_deref() != Some(""));
        }),
    ),
    fault(
        "sse/endpoint-wanted",
        &["SSE-EVENT"],
        "rejects http-sse without an `endpoint` event",
        Seed::Answer(|asked| {
            let endpoint = asked.found.entries.iter().any(|seen| seen.event.as_deref() == Some("endpoint"));
            let sound = asked.found.refused.is_none();
            (asked.format.name == "http-sse" && sound && !endpoint)
                .then(|| super::survival::rejection("invalid-entry"))
        }),
    ),
    fault(
        "sse/strings-alone",
        &["SSE-DATA-OBJECT"],
        "reads data that is a string, and none that is an object",
        Seed::Text(|format, whole| {
            data(format, whole, &|value| (value.kind() == Kind::Object).then(|| "\"\"".to_owned()))
        }),
    ),
    fault(
        "sse/objects-alone",
        &["SSE-DATA-STRING"],
        "reads data that is an object, and none that is a string",
        Seed::Text(|format, whole| {
            data(format, whole, &|value| (value.kind() == Kind::String).then(|| "\"\"".to_owned()))
        }),
    ),
    fault(
        "sse/strings-through-doubles",
        &["SSE-DATA-STRING", "EQ-ARGS", "EQ-OUTCOME"],
        "parses a string of data with a JSON library that has doubles alone",
        Seed::Text(|format, whole| {
            data(format, whole, &|value| {
                let inside = edit::content(value)?;
                let rounded = super::values::rounded(Json::parse(&inside).ok()?)?;
                Some(quoted(&rounded))
            })
        }),
    ),
    fault(
        "sse/text-rejected",
        &["SSE-DATA-TEXT"],
        "rejects a `message` event whose data is plain text",
        Seed::Answer(|asked| {
            let plain = asked.found.entries.iter().any(|seen| {
                message(seen)
                    && seen.data.as_deref().is_some_and(|data| !data.is_empty() && Json::parse(data).is_err())
            });
            plain.then(|| super::survival::rejection("broken-data"))
        }),
    ),
    fault(
        "sse/priming-rejected",
        &["SSE-DATA-TEXT"],
        "rejects a `message` event with empty data",
        Seed::Answer(|asked| {
            let empty =
                asked.found.entries.iter().any(|seen| message(seen) && seen.data.as_deref() == Some(""));
            empty.then(|| super::survival::rejection("broken-data"))
        }),
    ),
    fault(
        "sse/scalars-rejected-in-one",
        &["SSE-DATA-TEXT"],
        "rejects data that is a number, true or null, in http-sse alone",
        Seed::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "http-sse")?;
            let found = std::cell::Cell::new(false);
            data(asked.format.name, text, &|value| {
                found.set(found.get() || matches!(value.kind(), Kind::Number | Kind::Bool | Kind::Null));
                None
            });
            found.get().then(|| super::survival::rejection("broken-data"))
        }),
    ),
    fault(
        "sse/objects-are-messages",
        &["SSE-DATA-TEXT"],
        "rejects data that is an object without `jsonrpc`",
        Seed::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok()?;
            let found = std::cell::Cell::new(false);
            let look = |value: Json<'_>| {
                let inside = edit::content(value);
                let value = inside.as_deref().map_or(Some(value), |inside| Json::parse(inside).ok());
                let odd = value
                    .is_some_and(|value| value.kind() == Kind::Object && value.member("jsonrpc").is_none());
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
    fault(
        "sse/keepalive-rejected",
        &["SSE-KEEPALIVE"],
        "rejects an `sse` entry without `data`",
        Seed::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let idle = whole.member("entries")?.items().any(|entry| {
                entry
                    .member("sse")
                    .is_some_and(|sse| sse.kind() == Kind::Object && sse.member("data").is_none())
            });
            idle.then(|| super::survival::rejection("invalid-entry"))
        }),
    ),
    fault(
        "sse/broken-passed-in-one",
        &["SSE-DATA-BROKEN"],
        "passes over broken data in streamable-http alone",
        Seed::Answer(|asked| {
            let text =
                std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "streamable-http")?;
            let new = data("streamable-http", text, &|value| {
                let inside = edit::content(value)?;
                (inside.trim_start().starts_with('{') && Json::parse(&inside).is_err())
                    .then(|| "\"\"".to_owned())
            })?;
            Some(super::Asked::of(asked.format, new.as_bytes()).answer)
        }),
    ),
    fault(
        "sse/arrays-read-in-one",
        &["SSE-DATA-ARRAY"],
        "reads an array of messages in data, in http-sse alone",
        Seed::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "http-sse")?;
            let new = edit::entries("http-sse", text, &mut |entry| {
                let value = entry.member("sse")?.member("data")?;
                let inside = edit::content(value);
                let list = inside.as_deref().map_or(Some(value), |inside| Json::parse(inside).ok())?;
                (list.kind() == Kind::Array).then_some(())?;
                let each = list.items().map(|item| {
                    at(entry, &["sse", "data"], &mut |_| Some(item.text().to_owned())).unwrap_or_default()
                });
                Some(each.collect::<Vec<_>>().join(","))
            })?;
            Some(super::Asked::of(asked.format, new.as_bytes()).answer)
        }),
    ),
    fault(
        "sse/nested-read-in-one",
        &["SSE-DATA-NESTED"],
        "reads a message that was serialised twice, in http-sse alone",
        Seed::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "http-sse")?;
            let new = data("http-sse", text, &|value| {
                let inside = edit::content(value)?;
                let nested = Json::parse(&inside).ok().filter(|nested| nested.kind() == Kind::String)?;
                Some(nested.text().to_owned())
            })?;
            Some(super::Asked::of(asked.format, new.as_bytes()).answer)
        }),
    ),
    fault(
        "sse/first-data-line",
        &["HAR-STREAM"],
        "reads the first data line of an event",
        Seed::Text(|format, whole| {
            per_block(format, whole, &|block| {
                let mut data = 0;
                let kept = block.split_inclusive('\n').filter(|line| {
                    data += usize::from(line.starts_with("data"));
                    !line.starts_with("data") || data < 2
                });
                Some(kept.collect())
            })
        }),
    ),
    fault(
        "sse/last-data-line",
        &["HAR-STREAM"],
        "reads the last data line of an event",
        Seed::Text(|format, whole| {
            per_block(format, whole, &|block| {
                let lines: Vec<&str> = block.split_inclusive('\n').collect();
                let last = lines.iter().rposition(|line| line.starts_with("data"))?;
                let kept =
                    lines.iter().enumerate().filter(|(at, line)| !line.starts_with("data") || *at == last);
                Some(kept.map(|(_, line)| *line).collect())
            })
        }),
    ),
    fault(
        "sse/each-line-a-message",
        &["HAR-STREAM"],
        "reads each data line by itself",
        Seed::Text(|format, whole| {
            per_block(format, whole, &|block| {
                let mut new = String::new();
                for line in block.split_inclusive('\n') {
                    new.push_str(line);
                    if line.starts_with("data") {
                        new.push('\n');
                    }
                }
                Some(new)
            })
        }),
    ),
    fault(
        "sse/lines-joined-with-nothing",
        &["HAR-STREAM"],
        "joins data lines without a line end between them",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let new = stream.replace("\r\ndata: ", "").replace("\ndata: ", "\u{0}");
                // Only lines that follow a data line are joined to it.
                let mut out = String::new();
                for (index, part) in new.split('\u{0}').enumerate() {
                    let data = out.rsplit('\n').next().is_some_and(|line| line.starts_with("data"));
                    if index > 0 {
                        out.push_str(if data { "" } else { "\ndata: " });
                    }
                    out.push_str(part);
                }
                (out != stream).then_some(out)
            })
        }),
    ),
    fault(
        "sse/lf-alone",
        &["HAR-STREAM"],
        "ends a line at LF alone and keeps the CR",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                // A line of CR is no empty line, so the events run together.
                stream.contains("\r\n\r\n").then(|| stream.replace("\r\n\r\n", "\r\n:\r\n"))
            })
        }),
    ),
    fault(
        "sse/no-lone-cr",
        &["HAR-STREAM"],
        "does not end a line at a lone CR",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let plain = stream.replace("\r\n", "\n");
                plain.contains('\r').then(|| plain.replace('\r', " "))
            })
        }),
    ),
    fault(
        "sse/crlf-is-two",
        &["HAR-STREAM"],
        "takes CRLF for two line ends",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                stream.contains("\r\n").then(|| stream.replace("\r\n", "\n\n"))
            })
        }),
    ),
    fault(
        "sse/unicode-ends-lines",
        &["HAR-STREAM"],
        "takes U+2028 and the like for line ends",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let ends = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];
                stream.contains(ends).then(|| stream.replace(ends, "\n"))
            })
        }),
    ),
    fault(
        "sse/unfinished-read",
        &["HAR-STREAM"],
        "reads a last event that no empty line ends",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let done = ["\n\n", "\r\r", "\r\n\r\n"].iter().any(|end| stream.ends_with(end));
                (!done && !stream.is_empty()).then(|| format!("{stream}\n\n"))
            })
        }),
    ),
    fault(
        "sse/last-event-lost",
        &["HAR-STREAM"],
        "loses the last event where a CR ends it",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                stream.ends_with("\r\r").then(|| stream[..stream.len() - 1].to_owned())
            })
        }),
    ),
    fault(
        "sse/comments-are-data",
        &["HAR-STREAM"],
        "reads a comment as data",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| line.strip_prefix(':').map(|comment| format!("data:{comment}")))
        }),
    ),
    fault(
        "sse/comments-end-events",
        &["HAR-STREAM", "SSE-KEEPALIVE"],
        "ends an event at a comment",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| line.starts_with(':').then(|| "\n".to_owned()))
        }),
    ),
    fault(
        "sse/space-wanted",
        &["HAR-STREAM"],
        "wants a space behind `data:`",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let rest = line.strip_prefix("data:")?;
                (!rest.starts_with(' ')).then(|| "x:".to_owned())
            })
        }),
    ),
    fault(
        "sse/all-spaces-dropped",
        &["HAR-STREAM"],
        "drops every space behind the colon of a field",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let (name, rest) =
                    line.split_once(':').filter(|(name, _)| matches!(*name, "event" | "data"))?;
                let trimmed = rest.trim_start();
                (rest.len() > trimmed.len() + 1 || rest.starts_with('\t'))
                    .then(|| format!("{name}:{trimmed}"))
            })
        }),
    ),
    fault(
        "sse/fields-trimmed",
        &["HAR-STREAM"],
        "trims the names of fields",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let (name, rest) = line.split_once(':')?;
                (name.trim() != name && !name.is_empty()).then(|| format!("{}:{rest}", name.trim()))
            })
        }),
    ),
    fault(
        "sse/fields-without-case",
        &["HAR-STREAM"],
        "finds fields in any case",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let (name, rest) = line.split_once(':')?;
                (name.to_lowercase() != name && ["data", "event"].contains(&&*name.to_lowercase()))
                    .then(|| format!("{}:{rest}", name.to_lowercase()))
            })
        }),
    ),
    fault(
        "sse/bare-fields-lost",
        &["HAR-STREAM"],
        "does not know a field without a colon",
        Seed::Text(|format, whole| {
            per_line(format, whole, &|line| (line == "data" || line == "event").then(|| ":".to_owned()))
        }),
    ),
    fault(
        "sse/name-lasts",
        &["HAR-STREAM", "SSE-EVENT"],
        "lets an event's name hold for the events after it",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let mut name: Option<String> = None;
                let mut out = String::new();
                for block in stream.split_inclusive("\n\n") {
                    let own = block.lines().filter_map(|line| line.strip_prefix("event:")).next_back();
                    if own.is_none()
                        && let Some(name) = &name
                    {
                        out.push_str(&format!("event: {name}\n"));
                    }
                    name = own.map(|own| own.trim().to_owned()).or(name);
                    out.push_str(block);
                }
                (out != stream).then_some(out)
            })
        }),
    ),
    fault(
        "sse/first-name-wins",
        &["HAR-STREAM", "SSE-EVENT"],
        "takes the first of two names of an event",
        Seed::Text(|format, whole| {
            per_block(format, whole, &|block| {
                let mut names = 0;
                let kept = block.split_inclusive('\n').filter(|line| {
                    names += usize::from(line.starts_with("event"));
                    !line.starts_with("event") || names < 2
                });
                Some(kept.collect())
            })
        }),
    ),
    fault(
        "sse/name-before-data",
        &["HAR-STREAM", "SSE-EVENT"],
        "does not see a name that stands behind the data",
        Seed::Text(|format, whole| {
            per_block(format, whole, &|block| {
                let mut data = false;
                let kept = block.split_inclusive('\n').filter(|line| {
                    data |= line.starts_with("data");
                    !(data && line.starts_with("event"))
                });
                Some(kept.collect())
            })
        }),
    ),
    fault(
        "sse/name-first",
        &["HAR-STREAM", "SSE-EVENT"],
        "reads events that begin with `event`",
        Seed::Text(|format, whole| {
            per_block(format, whole, &|block| {
                (!block.trim_start().starts_with("event") && block.contains("data"))
                    .then(|| ":\n\n".to_owned())
            })
        }),
    ),
    fault(
        "sse/mark-kept",
        &["HAR-STREAM"],
        "takes a byte order mark for part of the first field",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                stream.strip_prefix('\u{feff}').map(|rest| format!(" {rest}"))
            })
        }),
    ),
    fault(
        "sse/marks-dropped",
        &["HAR-STREAM"],
        "drops byte order marks wherever they stand",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let rest = stream.strip_prefix('\u{feff}').unwrap_or(stream);
                rest.contains('\u{feff}').then(|| rest.replace('\u{feff}', ""))
            })
        }),
    ),
    fault(
        "sse/base64-kept",
        &["HAR-STREAM"],
        "reads a body in base64 as text",
        Seed::Text(|format, whole| {
            har_content(format, whole, &mut |content| {
                content.member("encoding").map(|_| set(content, "encoding", ""))
            })
        }),
    ),
    fault(
        "sse/exact-media-type",
        &["HAR-STREAM"],
        "wants `text/event-stream` without parameters",
        Seed::Text(|format, whole| {
            let other = |name: &str, value: String| {
                (name.eq_ignore_ascii_case("content-type")
                    && value.to_lowercase().starts_with("text/event-stream;"))
                .then(|| "\"text/plain\"".to_owned())
            };
            if format != "har" {
                return None;
            }
            edit::text(whole, &["log", "entries", "*", "response", "headers", "*"], &mut |header| {
                let name = edit::content(header.member("name")?)?;
                let value = edit::content(header.member("value")?)?;
                other(&name, value).map(|new| set(header, "value", &new))
            })
        }),
    ),
    fault(
        "sse/posts-alone",
        &["HAR-STREAM"],
        "reads no stream that answers a GET",
        Seed::Text(|format, whole| {
            if format != "har" {
                return None;
            }
            edit::text(whole, &["log", "entries", "*"], &mut |entry| {
                let get =
                    edit::content(entry.member("request")?.member("method")?)?.eq_ignore_ascii_case("GET");
                let text = entry.member("response")?.member("content")?.member("text")?;
                (get && text.text() != "\"\"").then(|| {
                    at(entry, &["response", "content", "text"], &mut |_| Some("\":\\n\"".to_owned()))
                        .unwrap_or_default()
                })
            })
        }),
    ),
    fault(
        "sse/first-event-alone",
        &["HAR-STREAM", "EQ-COUNT"],
        "reads the first event of a stream that has data",
        Seed::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let mut out = String::new();
                for block in stream.split_inclusive("\n\n") {
                    out.push_str(block);
                    if block.contains("data: {") {
                        break;
                    }
                }
                (out.len() < stream.len()).then_some(out)
            })
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
        per_line(format, whole, &|line| {
            let name = line.strip_prefix("event:")?;
            edit(name.strip_prefix(' ').unwrap_or(name)).map(|new| format!("event: {new}"))
        })
    })
}

/// Each line of each stream of a HAR, edited; lines end as they did.
fn per_line(format: &str, whole: &str, edit: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    edit::streams(format, whole, &|stream| edit::lines(stream, &mut |line| edit(line)))
}

/// Each block of each stream whose lines end in LF, edited.
fn per_block(format: &str, whole: &str, edit: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    edit::streams(format, whole, &|stream| {
        if stream.contains('\r') {
            return None;
        }
        let new: String = stream
            .split_inclusive("\n\n")
            .map(|block| edit(block).unwrap_or_else(|| block.to_owned()))
            .collect();
        (new != stream).then_some(new)
    })
}

fn har_content(
    format: &str,
    whole: &str,
    edit: &mut dyn FnMut(Json<'_>) -> Option<String>,
) -> Option<String> {
    if format != "har" {
        return None;
    }
    edit::text(whole, &["log", "entries", "*", "response", "content"], edit)
}

fn message(seen: &super::found::Seen) -> bool {
    seen.slot == transcript::session::Slot::Sse
        && matches!(seen.event.as_deref(), None | Some("" | "message"))
}
