//! Faults about the lines of `mcp-replay` traces, and which way they went.

use super::edit::{self, set};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "replay/no-raw",
        &["RPL-MESSAGE"],
        "passes over a message line without `raw`",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let dir = edit::content(line.member("dir")?)?;
                (matches!(&*dir, "in" | "out") && line.member("raw").is_none()).then(String::new)
            })
        }),
    ),
    mutant(
        "replay/message-for-raw",
        &["RPL-MESSAGE"],
        "looks for the message under `message` where there is no `raw`",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let message = line.member("message").filter(|_| line.member("raw").is_none())?;
                Some(set(line, "raw", message.text()))
            })
        }),
    ),
    mutant(
        "replay/no-dir",
        &["RPL-MESSAGE"],
        "takes a line without `dir` for the client's",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                line.member("raw").filter(|_| line.member("dir").is_none())?;
                Some(set(line, "dir", "\"in\""))
            })
        }),
    ),
    mutant(
        "replay/dirs-not-looked-at",
        &["RPL-MESSAGE", "COR-DIRECTION"],
        "does not look at `dir` where it binds answers",
        Mutation::Found(|format, found| {
            for seen in found.entries.iter_mut().filter(|_| format == "mcp-replay") {
                seen.side = None;
            }
        }),
    ),
    mutant(
        "replay/any-dir",
        &["RPL-DIR"],
        "reads the `raw` of a line with any dir",
        Mutation::Text(|format, text| dirs(format, text, |dir, _| !matches!(dir, "in" | "out"))),
    ),
    mutant(
        "replay/messages-of-any-dir",
        &["RPL-DIR"],
        "reads the `raw` of a line with any dir, where it is a JSON-RPC message",
        Mutation::Text(|format, text| {
            dirs(format, text, |dir, raw| !matches!(dir, "in" | "out") && raw.member("jsonrpc").is_some())
        }),
    ),
    mutant(
        "replay/dirs-without-case",
        &["RPL-DIR"],
        "takes `IN` for `in`",
        Mutation::Text(|format, text| {
            dirs(format, text, |dir, _| {
                !matches!(dir, "in" | "out") && matches!(&*dir.to_lowercase(), "in" | "out")
            })
        }),
    ),
    mutant(
        "replay/odd-lines-passed",
        &["SRV-BYTES", "JRP-LINE"],
        "passes over a line of a trace that is JSON and no object",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                Json::parse(line).is_ok_and(|line| line.kind() != JsonKind::Object).then(String::new)
            })
        }),
    ),
    mutant(
        "replay/other-dirs-rejected",
        &["RPL-DIR"],
        "rejects a line with another dir",
        rejected(|line| {
            line.member("dir").and_then(edit::content).is_some_and(|dir| !matches!(&*dir, "in" | "out"))
        }),
    ),
    mutant(
        "replay/noise-bound",
        &["RPL-NOISE"],
        "takes noise in `raw` for a notification",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let raw = line.member("raw")?;
                let known =
                    ["jsonrpc", "method", "result", "error"].iter().any(|name| raw.member(name).is_some());
                (!known).then(|| set(line, "raw", r#"{"jsonrpc":"2.0","method":"noise"}"#))
            })
        }),
    ),
    mutant(
        "replay/noise-answers",
        &["RPL-NOISE"],
        "takes noise in `raw` for the answer to the last call",
        Mutation::Text(|format, text| {
            let mut last = None;
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let raw = line.member("raw")?;
                if raw.member("method").is_some() {
                    last = raw.member("id").map(|id| id.text().to_owned());
                }
                let known =
                    ["jsonrpc", "method", "result", "error"].iter().any(|name| raw.member(name).is_some());
                let id = last.clone().filter(|_| !known)?;
                Some(set(line, "raw", &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, raw.text())))
            })
        }),
    ),
    mutant(
        "replay/behind-the-end",
        &["RPL-END"],
        "passes over what stands behind `end`",
        Mutation::Text(|format, text| {
            let mut ended = false;
            lines(format, text, &mut |line| {
                let behind = ended;
                ended |= kind(line).as_deref() == Some("end");
                behind.then(String::new)
            })
        }),
    ),
    mutant(
        "replay/end-is-nothing",
        &["RPL-END"],
        "reads on behind `end`",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| (kind(line).as_deref() == Some("end")).then(String::new))
        }),
    ),
    mutant(
        "replay/exit-code-wanted",
        &["RPL-END"],
        "loses the last message where `end` has no exit code",
        Mutation::Text(|format, text| {
            let last = text.lines().rfind(|line| kind(line).as_deref() == Some("end"))?;
            Json::parse(last)
                .ok()
                .filter(|end| end.member("exitCode").is_none_or(|code| code.kind() == JsonKind::Null))?;
            let before = text.lines().rfind(|line| !line.trim().is_empty() && *line != last)?;
            (format == "mcp-replay" && before.contains("\"raw\"")).then(|| text.replacen(before, "", 1))
        }),
    ),
    mutant(
        "replay/failed-servers-rejected",
        &["RPL-END"],
        "rejects a trace whose server exited with a code other than 0",
        rejected(|line| line.member("exitCode").and_then(Json::as_number).is_some_and(|code| code != "0")),
    ),
    mutant(
        "replay/no-end-loses-one",
        &["RPL-END", "EQ-COUNT"],
        "takes the last line for `end`, whatever it is",
        Mutation::Text(|format, text| {
            let last = text.lines().rfind(|line| !line.trim().is_empty())?;
            let message = kind(last).is_none() && Json::parse(last).is_ok();
            (format == "mcp-replay" && message && text.lines().count() > 1)
                .then(|| text[..text.rfind(last).unwrap_or_default()].to_owned())
        }),
    ),
    mutant(
        "replay/unknown-types-rejected",
        &["RPL-UNKNOWN"],
        "rejects a line of a type that it does not know",
        rejected(|line| {
            line.member("type").and_then(edit::content).is_some_and(|kind| !matches!(&*kind, "meta" | "end"))
        }),
    ),
    mutant(
        "replay/unknown-members-rejected",
        &["RPL-UNKNOWN"],
        "rejects a line with a member that it does not know",
        rejected(|line| {
            let known = [
                "v",
                "type",
                "startedAt",
                "label",
                "command",
                "t",
                "dir",
                "raw",
                "kind",
                "exitCode",
                "durationMs",
                "reason",
            ];
            line.member("dir").and_then(edit::content).is_some_and(|dir| matches!(&*dir, "in" | "out"))
                && line.members().any(|(name, _)| !known.iter().any(|known| name.is(known)))
        }),
    ),
    mutant(
        "replay/unknown-head-rejected",
        &["RPL-UNKNOWN"],
        "rejects a `meta` with a member that it does not know",
        rejected(|line| {
            let known = ["v", "type", "startedAt", "label", "command"];
            line.member("type").and_then(edit::content).as_deref() == Some("meta")
                && line.members().any(|(name, _)| !known.iter().any(|known| name.is(known)))
        }),
    ),
    mutant(
        "replay/turns-are-calls",
        &["RPL-UNKNOWN"],
        "reads the tool uses of `turn` lines as tool calls",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let used = line
                    .member("blocks")?
                    .items()
                    .find(|block| block.member("type").is_some_and(|kind| kind.text() == "\"tool_use\""))?;
                let (id, name) = (used.member("id")?, used.member("name")?);
                Some(format!(
                    r#"{{"dir":"in","raw":{{"jsonrpc":"2.0","id":"turn {}","method":"tools/call","params":{{"name":{}}}}}}}"#,
                    edit::content(id)?,
                    name.text()
                ))
            })
        }),
    ),
    mutant(
        "replay/odd-times-dropped",
        &["RPL-ORDER", "EQ-CONTEXT"],
        "drops a message whose `t` is no time",
        Mutation::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                line.member("raw")?;
                let time = line.member("t").and_then(edit::content);
                (!time.is_some_and(|time| time.ends_with('Z'))).then(String::new)
            })
        }),
    ),
    mutant(
        "replay/backward-times-rejected",
        &["RPL-ORDER"],
        "rejects a trace whose times run backwards",
        Mutation::Answer(|asked| {
            let times: Vec<i64> =
                asked.found.entries.iter().filter_map(|seen| seen.said.as_ref().and(seen.time)).collect();
            (asked.format.name == "mcp-replay" && !times.is_sorted())
                .then(|| super::survival::rejection("wrong-type"))
        }),
    ),
    mutant(
        "replay/by-time",
        &["RPL-ORDER"],
        "puts the lines of a trace in the order of `t`",
        Mutation::Found(|format, found| {
            if format == "mcp-replay" {
                found.entries.sort_by_key(|seen| seen.time.unwrap_or_default());
            }
        }),
    ),
    mutant(
        "replay/answers-behind-requests",
        &["RPL-ORDER", "COR-BEFORE"],
        "moves an answer that was logged too early behind its request",
        Mutation::Found(|format, found| {
            let mut at = 0;
            while format == "mcp-replay" && at + 1 < found.entries.len() {
                let said = |index: usize| found.entries[index].said.as_ref();
                let early = match (said(at), said(at + 1)) {
                    (Some(answer), Some(call)) => {
                        answer.is_response() && !call.is_response() && answer.id == call.id
                    }
                    _ => false,
                };
                if early {
                    found.entries.swap(at, at + 1);
                }
                at += 1;
            }
        }),
    ),
    mutant(
        "replay/marker-is-data",
        &["RPL-REDACT"],
        "puts null where a redaction marker stands",
        Mutation::Answer(|asked| {
            use verdict::answer::Answer;
            let Answer::Meaning(meaning) = &asked.answer else { return None };
            let text = meaning.text();
            let new = text.replace("\"[REDACTED]\"", "null");
            (asked.format.name == "mcp-replay" && new != text)
                .then(|| Answer::Meaning(verdict::meaning::Meaning::written(new)))
        }),
    ),
    mutant(
        "replay/marked-dropped",
        &["RPL-REDACT", "EQ-COUNT"],
        "drops a message with a redaction marker in it",
        Mutation::Found(|format, found| {
            found.entries.retain(|seen| {
                format != "mcp-replay"
                    || !seen.said.as_ref().is_some_and(|said| said.text.contains("[REDACTED]"))
            });
        }),
    ),
];

/// A reader that rejects a trace for such a line.
pub(super) const fn rejected(refuses: fn(Json<'_>) -> bool) -> Mutation {
    Mutation::Line(refuses)
}

/// Whether a trace has such a line.
pub(super) fn has_line(format: &str, text: &str, refuses: fn(Json<'_>) -> bool) -> bool {
    format == "mcp-replay" && text.lines().any(|line| Json::parse(line).is_ok_and(refuses))
}

pub(super) fn lines(
    format: &str,
    text: &str,
    edit: &mut dyn FnMut(&str) -> Option<String>,
) -> Option<String> {
    if format == "mcp-replay" { edit::lines(text, edit) } else { None }
}

/// Lines of these dirs as the server's.
fn dirs(format: &str, text: &str, takes: impl Fn(&str, Json<'_>) -> bool) -> Option<String> {
    lines(format, text, &mut |line| {
        let line = Json::parse(line).ok()?;
        let (dir, raw) = (edit::content(line.member("dir")?)?, line.member("raw")?);
        takes(&dir, raw).then(|| set(line, "dir", "\"out\""))
    })
}

pub(super) fn kind(line: &str) -> Option<String> {
    edit::content(Json::parse(line).ok()?.member("type")?)
}
