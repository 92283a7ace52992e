//! Faults about `mcp-replay` traces.

use super::edit::{self, set};
use super::{Fault, Seed, fault};
use transcript::json::{Json, Kind};
use transcript::session::Side;

pub(super) const FAULTS: &[Fault] = &[
    fault(
        "replay/no-head",
        &["RPL-META"],
        "reads a trace that has no `meta` line",
        Seed::Text(|format, text| {
            let has = text.lines().any(|line| kind(line).as_deref() == Some("meta"));
            (format == "mcp-replay" && !has && !text.trim().is_empty()).then(|| format!("{META}\n{text}"))
        }),
    ),
    fault(
        "replay/head-anywhere",
        &["RPL-META"],
        "takes the `meta` line wherever it stands",
        Seed::Text(|format, text| {
            let at =
                text.lines().position(|line| kind(line).as_deref() == Some("meta")).filter(|&at| at > 0)?;
            let mut lines: Vec<&str> = text.lines().collect();
            let meta = lines.remove(at);
            lines.insert(0, meta);
            (format == "mcp-replay").then(|| lines.join("\n"))
        }),
    ),
    fault(
        "replay/second-head",
        &["RPL-META"],
        "passes over a second `meta` line",
        Seed::Text(|format, text| {
            let mut heads = 0;
            lines(format, text, &mut |line| {
                heads += usize::from(kind(line).as_deref() == Some("meta"));
                (heads > 1 && kind(line).as_deref() == Some("meta")).then(String::new)
            })
        }),
    ),
    fault(
        "replay/second-session",
        &["RPL-META", "RPL-END"],
        "reads on behind `end` where another session begins",
        Seed::Text(|format, text| {
            let mut heads = 0;
            let again = text.lines().filter(|line| kind(line).as_deref() == Some("meta")).count() > 1;
            lines(format, text, &mut |line| {
                heads += usize::from(kind(line).as_deref() == Some("meta"));
                let seam = match kind(line).as_deref() {
                    Some("meta") => heads > 1,
                    Some("end") => heads == 1,
                    _ => false,
                };
                (again && seam).then(String::new)
            })
        }),
    ),
    fault(
        "replay/empty-is-a-session",
        &["RPL-META", "SRV-BYTES"],
        "takes an empty trace for an empty session",
        Seed::Text(|format, text| {
            (format == "mcp-replay" && text.trim().is_empty()).then(|| META.to_owned())
        }),
    ),
    fault(
        "replay/no-started-at",
        &["RPL-META"],
        "takes a `meta` without `startedAt`",
        head("startedAt", "\"\""),
    ),
    fault("replay/no-label", &["RPL-META"], "takes a `meta` without `label`", head("label", "\"\"")),
    fault("replay/no-command", &["RPL-META"], "takes a `meta` without `command`", head("command", "[]")),
    fault("replay/no-version", &["RPL-META", "RPL-VERSION"], "takes a `meta` without `v`", head("v", "1")),
    fault(
        "replay/no-type",
        &["RPL-META"],
        "takes a first line without `type` for the `meta`",
        head("type", "\"meta\""),
    ),
    fault(
        "replay/other-type",
        &["RPL-META"],
        "takes the first line for the `meta`, whatever its type is",
        Seed::Text(|format, text| {
            let mut first = true;
            lines(format, text, &mut |line| {
                let other = std::mem::take(&mut first) && kind(line).is_some_and(|kind| kind != "meta");
                other.then(|| Json::parse(line).ok().map(|line| set(line, "type", "\"meta\"")))?
            })
        }),
    ),
    fault(
        "replay/version-two",
        &["RPL-VERSION"],
        "reads version 2",
        versions(|version| version.text() == "2"),
    ),
    fault(
        "replay/version-as-text",
        &["RPL-VERSION"],
        "takes the string `1` for version 1",
        versions(|version| version.kind() == Kind::String),
    ),
    fault(
        "replay/version-null",
        &["RPL-VERSION"],
        "takes a null version",
        versions(|version| version.kind() == Kind::Null),
    ),
    fault(
        "replay/version-rounded",
        &["RPL-VERSION"],
        "rounds the version down",
        versions(|version| version.text().starts_with("1.")),
    ),
    fault(
        "replay/members-in-order",
        &["RPL-META"],
        "wants `v` to be the first member of the `meta`",
        Seed::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "mcp-replay")?;
            let meta = text.lines().find(|line| kind(line).as_deref() == Some("meta"))?;
            let late = Json::parse(meta).ok()?.members().next().is_some_and(|(name, _)| !name.is("v"));
            (late && asked.found.refused.is_none()).then(|| super::survival::rejection("missing-meta"))
        }),
    ),
    fault(
        "replay/no-raw",
        &["RPL-MESSAGE"],
        "passes over a message line without `raw`",
        Seed::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let dir = edit::content(line.member("dir")?)?;
                (matches!(&*dir, "in" | "out") && line.member("raw").is_none()).then(String::new)
            })
        }),
    ),
    fault(
        "replay/message-for-raw",
        &["RPL-MESSAGE"],
        "looks for the message under `message` where there is no `raw`",
        Seed::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let message = line.member("message").filter(|_| line.member("raw").is_none())?;
                Some(set(line, "raw", message.text()))
            })
        }),
    ),
    fault(
        "replay/no-dir",
        &["RPL-MESSAGE"],
        "takes a line without `dir` for the client's",
        Seed::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                line.member("raw").filter(|_| line.member("dir").is_none())?;
                Some(set(line, "dir", "\"in\""))
            })
        }),
    ),
    fault(
        "replay/dirs-swapped",
        &["RPL-MESSAGE", "COR-DIRECTION"],
        "takes `in` for what comes from the server",
        Seed::Found(|format, found| {
            for seen in found.entries.iter_mut().filter(|_| format == "mcp-replay") {
                seen.side = seen.side.map(Side::other);
                // An own answer then goes to the other side's request; nothing else tells the sides apart.
                if let Some(said) = seen
                    .said
                    .as_mut()
                    .filter(|said| said.is_method("tools/call") && seen.side == Some(Side::Server))
                {
                    said.id = super::found::Id::Null;
                }
            }
        }),
    ),
    fault(
        "replay/any-dir",
        &["RPL-DIR"],
        "reads the `raw` of a line with any dir",
        Seed::Text(|format, text| dirs(format, text, |dir, _| !matches!(dir, "in" | "out"))),
    ),
    fault(
        "replay/messages-of-any-dir",
        &["RPL-DIR"],
        "reads the `raw` of a line with any dir, where it is a JSON-RPC message",
        Seed::Text(|format, text| {
            dirs(format, text, |dir, raw| !matches!(dir, "in" | "out") && raw.member("jsonrpc").is_some())
        }),
    ),
    fault(
        "replay/dirs-without-case",
        &["RPL-DIR"],
        "takes `IN` for `in`",
        Seed::Text(|format, text| {
            dirs(format, text, |dir, _| {
                !matches!(dir, "in" | "out") && matches!(&*dir.to_lowercase(), "in" | "out")
            })
        }),
    ),
    fault(
        "replay/other-dirs-rejected",
        &["RPL-DIR"],
        "rejects a line with another dir",
        rejected(|line| {
            line.member("dir").and_then(edit::content).is_some_and(|dir| !matches!(&*dir, "in" | "out"))
        }),
    ),
    fault(
        "replay/noise-bound",
        &["RPL-NOISE"],
        "takes noise in `raw` for a notification",
        Seed::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                let raw = line.member("raw")?;
                let known =
                    ["jsonrpc", "method", "result", "error"].iter().any(|name| raw.member(name).is_some());
                (!known).then(|| set(line, "raw", r#"{"jsonrpc":"2.0","method":"noise"}"#))
            })
        }),
    ),
    fault(
        "replay/noise-answers",
        &["RPL-NOISE"],
        "takes noise in `raw` for the answer to the last call",
        Seed::Text(|format, text| {
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
    fault(
        "replay/behind-the-end",
        &["RPL-END"],
        "passes over what stands behind `end`",
        Seed::Text(|format, text| {
            let mut ended = false;
            lines(format, text, &mut |line| {
                let behind = ended;
                ended |= kind(line).as_deref() == Some("end");
                behind.then(String::new)
            })
        }),
    ),
    fault(
        "replay/end-is-nothing",
        &["RPL-END"],
        "reads on behind `end`",
        Seed::Text(|format, text| {
            lines(format, text, &mut |line| (kind(line).as_deref() == Some("end")).then(String::new))
        }),
    ),
    fault(
        "replay/exit-code-wanted",
        &["RPL-END"],
        "loses the last message where `end` has no exit code",
        Seed::Text(|format, text| {
            let last = text.lines().rfind(|line| kind(line).as_deref() == Some("end"))?;
            Json::parse(last)
                .ok()
                .filter(|end| end.member("exitCode").is_none_or(|code| code.kind() == Kind::Null))?;
            let before = text.lines().rfind(|line| !line.trim().is_empty() && *line != last)?;
            (format == "mcp-replay" && before.contains("\"raw\"")).then(|| text.replacen(before, "", 1))
        }),
    ),
    fault(
        "replay/failed-servers-rejected",
        &["RPL-END"],
        "rejects a trace whose server exited with a code other than 0",
        rejected(|line| line.member("exitCode").and_then(Json::as_number).is_some_and(|code| code != "0")),
    ),
    fault(
        "replay/no-end-loses-one",
        &["RPL-END", "EQ-COUNT"],
        "takes the last line for `end`, whatever it is",
        Seed::Text(|format, text| {
            let last = text.lines().rfind(|line| !line.trim().is_empty())?;
            let message = kind(last).is_none() && Json::parse(last).is_ok();
            (format == "mcp-replay" && message && text.lines().count() > 1)
                .then(|| text[..text.rfind(last).unwrap_or_default()].to_owned())
        }),
    ),
    fault(
        "replay/unknown-types-rejected",
        &["RPL-UNKNOWN"],
        "rejects a line of a type that it does not know",
        rejected(|line| {
            line.member("type").and_then(edit::content).is_some_and(|kind| !matches!(&*kind, "meta" | "end"))
        }),
    ),
    fault(
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
    fault(
        "replay/unknown-head-rejected",
        &["RPL-UNKNOWN"],
        "rejects a `meta` with a member that it does not know",
        rejected(|line| {
            let known = ["v", "type", "startedAt", "label", "command"];
            line.member("type").and_then(edit::content).as_deref() == Some("meta")
                && line.members().any(|(name, _)| !known.iter().any(|known| name.is(known)))
        }),
    ),
    fault(
        "replay/turns-are-calls",
        &["RPL-UNKNOWN"],
        "reads the tool uses of `turn` lines as tool calls",
        Seed::Text(|format, text| {
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
    fault(
        "replay/odd-times-dropped",
        &["RPL-ORDER", "EQ-CONTEXT"],
        "drops a message whose `t` is no time",
        Seed::Text(|format, text| {
            lines(format, text, &mut |line| {
                let line = Json::parse(line).ok()?;
                line.member("raw")?;
                let time = line.member("t").and_then(edit::content);
                (!time.is_some_and(|time| time.ends_with('Z'))).then(String::new)
            })
        }),
    ),
    fault(
        "replay/backward-times-rejected",
        &["RPL-ORDER"],
        "rejects a trace whose times run backwards",
        Seed::Answer(|asked| {
            let times: Vec<i64> =
                asked.found.entries.iter().filter_map(|seen| seen.said.as_ref().and(seen.time)).collect();
            (asked.format.name == "mcp-replay" && !times.is_sorted())
                .then(|| super::survival::rejection("wrong-type"))
        }),
    ),
    fault(
        "replay/by-time",
        &["RPL-ORDER"],
        "puts the lines of a trace in the order of `t`",
        Seed::Found(|format, found| {
            if format == "mcp-replay" {
                found.entries.sort_by_key(|seen| seen.time.unwrap_or_default());
            }
        }),
    ),
    fault(
        "replay/answers-behind-requests",
        &["RPL-ORDER", "COR-BEFORE"],
        "moves an answer that was logged too early behind its request",
        Seed::Found(|format, found| {
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
    fault(
        "replay/marker-is-data",
        &["RPL-REDACT"],
        "puts null where a redaction marker stands",
        Seed::Answer(|asked| {
            use judge::answer::Answer;
            let Answer::Meaning(text) = &asked.answer else { return None };
            let new = text.replace("\"[REDACTED]\"", "null");
            (asked.format.name == "mcp-replay" && new != *text).then_some(Answer::Meaning(new))
        }),
    ),
    fault(
        "replay/marked-dropped",
        &["RPL-REDACT", "EQ-COUNT"],
        "drops a message with a redaction marker in it",
        Seed::Found(|format, found| {
            found.entries.retain(|seen| {
                format != "mcp-replay"
                    || !seen.said.as_ref().is_some_and(|said| said.text.contains("[REDACTED]"))
            });
        }),
    ),
];

const META: &str = r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00Z","label":"","command":[]}"#;

/// A reader that takes a first line without this member.
const fn head(name: &'static str, value: &'static str) -> Seed {
    Seed::Head(name, value)
}

/// The trace with the member that its first line lacks.
pub(super) fn completed(format: &str, text: &str, name: &str, value: &str) -> Option<String> {
    let mut first = true;
    lines(format, text, &mut |line| {
        let head = std::mem::take(&mut first).then(|| Json::parse(line).ok())??;
        let looks = head.member("startedAt").is_some() || head.member("label").is_some();
        (looks && head.member(name).is_none()).then(|| set(head, name, value))
    })
}

/// A reader that takes these versions for 1.
const fn versions(takes: fn(Json<'_>) -> bool) -> Seed {
    Seed::Version(takes)
}

/// The trace of version 1, where `takes` says that the importer takes this one.
pub(super) fn versioned(format: &str, text: &str, takes: fn(Json<'_>) -> bool) -> Option<String> {
    lines(format, text, &mut |line| {
        let line = Json::parse(line).ok()?;
        let version = line.member("v").filter(|version| version.text() != "1")?;
        takes(version).then(|| set(line, "v", "1"))
    })
}

/// A reader that rejects a trace for such a line.
const fn rejected(refuses: fn(Json<'_>) -> bool) -> Seed {
    Seed::Line(refuses)
}

/// Whether a trace has such a line.
pub(super) fn has_line(format: &str, text: &str, refuses: fn(Json<'_>) -> bool) -> bool {
    format == "mcp-replay" && text.lines().any(|line| Json::parse(line).is_ok_and(refuses))
}

fn lines(format: &str, text: &str, edit: &mut dyn FnMut(&str) -> Option<String>) -> Option<String> {
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

fn kind(line: &str) -> Option<String> {
    edit::content(Json::parse(line).ok()?.member("type")?)
}
