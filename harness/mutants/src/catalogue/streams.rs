//! Faults about the bytes of an event stream, as a HAR holds them.

use super::edit::{self, at, set};
use super::{Mutant, Mutation, mutant};
use transcript::json::Json;

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "streams/first-data-line",
        &["HAR-STREAM"],
        "reads the first data line of an event",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/last-data-line",
        &["HAR-STREAM"],
        "reads the last data line of an event",
        Mutation::Text(|format, whole| {
            per_block(format, whole, &|block| {
                let lines: Vec<&str> = block.split_inclusive('\n').collect();
                let last = lines.iter().rposition(|line| line.starts_with("data"))?;
                let kept =
                    lines.iter().enumerate().filter(|(at, line)| !line.starts_with("data") || *at == last);
                Some(kept.map(|(_, line)| *line).collect())
            })
        }),
    ),
    mutant(
        "streams/each-line-a-message",
        &["HAR-STREAM"],
        "reads each data line by itself",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/lines-joined-with-nothing",
        &["HAR-STREAM"],
        "joins data lines without a line end between them",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/lf-alone",
        &["HAR-STREAM"],
        "ends a line at LF alone and keeps the CR",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                // A line of CR is no empty line, so the events run together.
                stream.contains("\r\n\r\n").then(|| stream.replace("\r\n\r\n", "\r\n:\r\n"))
            })
        }),
    ),
    mutant(
        "streams/no-lone-cr",
        &["HAR-STREAM"],
        "does not end a line at a lone CR",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let plain = stream.replace("\r\n", "\n");
                plain.contains('\r').then(|| plain.replace('\r', " "))
            })
        }),
    ),
    mutant(
        "streams/crlf-is-two",
        &["HAR-STREAM"],
        "takes CRLF for two line ends",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                stream.contains("\r\n").then(|| stream.replace("\r\n", "\n\n"))
            })
        }),
    ),
    mutant(
        "streams/unicode-ends-lines",
        &["HAR-STREAM"],
        "takes U+2028 and the like for line ends",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let ends = ['\u{2028}', '\u{2029}', '\u{85}', '\u{b}', '\u{c}'];
                stream.contains(ends).then(|| stream.replace(ends, "\n"))
            })
        }),
    ),
    mutant(
        "streams/unfinished-read",
        &["HAR-STREAM"],
        "reads a last event that no empty line ends",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let done = ["\n\n", "\r\r", "\r\n\r\n"].iter().any(|end| stream.ends_with(end));
                (!done && !stream.is_empty()).then(|| format!("{stream}\n\n"))
            })
        }),
    ),
    mutant(
        "streams/last-event-lost",
        &["HAR-STREAM"],
        "loses the last event where a CR ends it",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                stream.ends_with("\r\r").then(|| stream[..stream.len() - 1].to_owned())
            })
        }),
    ),
    mutant(
        "streams/comments-are-data",
        &["HAR-STREAM"],
        "reads a comment as data",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| line.strip_prefix(':').map(|comment| format!("data:{comment}")))
        }),
    ),
    mutant(
        "streams/comments-end-events",
        &["HAR-STREAM", "SSE-KEEPALIVE"],
        "ends an event at a comment",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| line.starts_with(':').then(|| "\n".to_owned()))
        }),
    ),
    mutant(
        "streams/space-wanted",
        &["HAR-STREAM"],
        "wants a space behind `data:`",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let rest = line.strip_prefix("data:")?;
                (!rest.starts_with(' ')).then(|| "x:".to_owned())
            })
        }),
    ),
    mutant(
        "streams/all-spaces-dropped",
        &["HAR-STREAM"],
        "drops every space behind the colon of a field",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let (name, rest) =
                    line.split_once(':').filter(|(name, _)| matches!(*name, "event" | "data"))?;
                let trimmed = rest.trim_start();
                (rest.len() > trimmed.len() + 1 || rest.starts_with('\t'))
                    .then(|| format!("{name}:{trimmed}"))
            })
        }),
    ),
    mutant(
        "streams/fields-trimmed",
        &["HAR-STREAM"],
        "trims the names of fields",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let (name, rest) = line.split_once(':')?;
                (name.trim() != name && !name.is_empty()).then(|| format!("{}:{rest}", name.trim()))
            })
        }),
    ),
    mutant(
        "streams/fields-without-case",
        &["HAR-STREAM"],
        "finds fields in any case",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| {
                let (name, rest) = line.split_once(':')?;
                (name.to_lowercase() != name && ["data", "event"].contains(&&*name.to_lowercase()))
                    .then(|| format!("{}:{rest}", name.to_lowercase()))
            })
        }),
    ),
    mutant(
        "streams/bare-fields-lost",
        &["HAR-STREAM"],
        "does not know a field without a colon",
        Mutation::Text(|format, whole| {
            per_line(format, whole, &|line| (line == "data" || line == "event").then(|| ":".to_owned()))
        }),
    ),
    mutant(
        "streams/name-lasts",
        &["HAR-STREAM", "SSE-EVENT"],
        "lets an event's name hold for the events after it",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/first-name-wins",
        &["HAR-STREAM", "SSE-EVENT"],
        "takes the first of two names of an event",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/name-before-data",
        &["HAR-STREAM", "SSE-EVENT"],
        "does not see a name that stands behind the data",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/name-first",
        &["HAR-STREAM", "SSE-EVENT"],
        "reads events that begin with `event`",
        Mutation::Text(|format, whole| {
            per_block(format, whole, &|block| {
                (!block.trim_start().starts_with("event") && block.contains("data"))
                    .then(|| ":\n\n".to_owned())
            })
        }),
    ),
    mutant(
        "streams/mark-kept",
        &["HAR-STREAM"],
        "takes a byte order mark for part of the first field",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                stream.strip_prefix('\u{feff}').map(|rest| format!(" {rest}"))
            })
        }),
    ),
    mutant(
        "streams/marks-dropped",
        &["HAR-STREAM"],
        "drops byte order marks wherever they stand",
        Mutation::Text(|format, whole| {
            edit::streams(format, whole, &|stream| {
                let rest = stream.strip_prefix('\u{feff}').unwrap_or(stream);
                rest.contains('\u{feff}').then(|| rest.replace('\u{feff}', ""))
            })
        }),
    ),
    mutant(
        "streams/base64-kept",
        &["HAR-STREAM"],
        "reads a body in base64 as text",
        Mutation::Text(|format, whole| {
            har_content(format, whole, &mut |content| {
                content.member("encoding").map(|_| set(content, "encoding", ""))
            })
        }),
    ),
    mutant(
        "streams/exact-media-type",
        &["HAR-STREAM"],
        "wants `text/event-stream` without parameters",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/posts-alone",
        &["HAR-STREAM"],
        "reads no stream that answers a GET",
        Mutation::Text(|format, whole| {
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
    mutant(
        "streams/first-event-alone",
        &["HAR-STREAM", "EQ-COUNT"],
        "reads the first event of a stream that has data",
        Mutation::Text(|format, whole| {
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

/// Each line of each stream of a HAR, edited; lines end as they did.
pub(super) fn per_line(format: &str, whole: &str, edit: &dyn Fn(&str) -> Option<String>) -> Option<String> {
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
