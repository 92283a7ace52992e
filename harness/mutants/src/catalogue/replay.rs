//! Mistakes about the lines of `mcp-replay` traces: the first one, the last one, and the messages between.

use crate::Mutation;
use crate::json::{
    content, drop_if, has_any, has_unknown, is_null, is_object, is_string, member, on_member, set, set_if,
    spelled, text_at, text_member,
};
use crate::on_reading::{
    lose_messages, on_meaning, on_read_message, on_reading, reject_if, reject_trace_line,
};
use crate::on_text::{Shape, on_first_line, on_shape, on_trace_line, on_typed_line};
use transcript::json::Json;

const META: &str = r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00Z","label":"","command":[]}"#;

mutants! {
    "heads/no-head" ["RPL-META"] "reads a trace that has no `meta` line"
        => on_shape(Shape::Trace, |_, text| {
            let has = text.lines().any(|line| is_line(line, "meta"));
            (!has && !text.trim().is_empty()).then(|| format!("{META}\n{text}"))
        });
    "heads/head-anywhere" ["RPL-META"] "takes the `meta` line wherever it is"
        => on_shape(Shape::Trace, |_, text| {
            let mut lines: Vec<&str> = text.lines().collect();
            let at = lines.iter().position(|line| is_line(line, "meta")).filter(|&at| at > 0)?;
            let meta = lines.remove(at);
            lines.insert(0, meta);
            Some(lines.join("\n"))
        });
    "heads/second-head" ["RPL-META"] "passes over a second `meta` line"
        => on_typed_line(|kind, before, _| (kind == "meta" && before > 0).then(String::new));
    "heads/second-session" ["RPL-META" "RPL-END"] "reads on behind `end` where another session begins"
        => on_shape(Shape::Trace, |_, text| {
            let again = text.lines().filter(|line| is_line(line, "meta")).count() > 1;
            let mut heads = 0;
            crate::json::lines(text, &mut |line| {
                heads += usize::from(is_line(line, "meta"));
                let seam = is_line(line, "meta") && heads > 1 || is_line(line, "end") && heads == 1;
                (again && seam).then(String::new)
            })
        });
    "heads/empty-is-a-session" ["RPL-META" "SRV-BYTES"] "takes an empty trace for an empty session"
        => on_shape(Shape::Trace, |_, text| text.trim().is_empty().then(|| META.to_owned()));
    "heads/no-started-at" ["RPL-META"] "takes a `meta` without `startedAt`" => head_without("startedAt", "\"\"");
    "heads/no-label" ["RPL-META"] "takes a `meta` without `label`" => head_without("label", "\"\"");
    "heads/no-command" ["RPL-META"] "takes a `meta` without `command`" => head_without("command", "[]");
    "heads/no-version" ["RPL-META" "RPL-VERSION"] "takes a `meta` without `v`" => head_without("v", "1");
    "heads/no-type" ["RPL-META"] "takes a first line without `type` for the `meta`" => head_without("type", "\"meta\"");
    "heads/other-type" ["RPL-META"] "takes the first line for the `meta`, whatever its type is"
        => on_first_line(set_if(text_member("type", |kind| kind != "meta"), "type", "\"meta\""));
    "heads/version-two" ["RPL-VERSION"] "reads version 2" => accept_version(spelled("2"));
    "heads/version-as-text" ["RPL-VERSION"] "takes the string `1` for version 1" => accept_version(is_string);
    "heads/version-null" ["RPL-VERSION"] "takes a null version" => accept_version(is_null);
    "heads/version-rounded" ["RPL-VERSION"] "rounds the version down" => accept_version(|it| it.text().starts_with("1."));
    "heads/members-in-order" ["RPL-META"] "wants `v` to be the first member of the `meta`"
        => reject_if(|original| {
            let late = |text: &str| {
                let meta = text.lines().find(|line| is_line(line, "meta")).and_then(|line| Json::parse(line).ok());
                meta.and_then(|meta| meta.members().next()).is_some_and(|(name, _)| !name.is("v"))
            };
            let trace = Shape::of(original.format) == Shape::Trace && original.reading.failure.is_none();
            trace && original.text().is_some_and(late)
        });
    "replay/no-raw" ["RPL-MESSAGE"] "passes over a message line without `raw`"
        => on_trace_line(drop_if(|line| has_way(line) && !has_any(line, &["raw"])));
    "replay/message-for-raw" ["RPL-MESSAGE"] "looks for the message under `message` where there is no `raw`"
        => on_trace_line(|line: Json<'_>| {
            let message = line.member("message").filter(|_| !has_any(line, &["raw"]))?;
            Some(set(line, "raw", message.text()))
        });
    "replay/no-dir" ["RPL-MESSAGE"] "takes a line without `dir` for the client's"
        => on_trace_line(set_if(|line| has_any(line, &["raw"]) && !has_any(line, &["dir"]), "dir", "\"in\""));
    "replay/dirs-not-looked-at" ["RPL-MESSAGE" "COR-DIRECTION"] "does not look at `dir` where it binds answers"
        => on_read_message(|entry| entry.side = None).only("mcp-replay");
    "replay/any-dir" ["RPL-DIR"] "reads the `raw` of a line with any dir" => accept_dir(|_| true);
    "replay/dirs-without-case" ["RPL-DIR"] "takes `IN` for `in`"
        => accept_dir(|dir| matches!(&*dir.to_lowercase(), "in" | "out"));
    "replay/odd-lines-passed" ["SRV-BYTES" "JRP-LINE"] "passes over a line of a trace that is JSON and not an object"
        => on_trace_line(drop_if(|line| !is_object(line)));
    "replay/noise-bound" ["RPL-NOISE"] "takes noise in `raw` for a notification"
        => on_trace_line(set_if(
            member("raw", |raw| !has_any(raw, &["jsonrpc", "method", "result", "error"])),
            "raw", r#"{"jsonrpc":"2.0","method":"noise"}"#,
        ));
    "replay/behind-the-end" ["RPL-END"] "passes over what follows `end`"
        => on_shape(Shape::Trace, |_, text| {
            let mut ended = false;
            crate::json::lines(text, &mut |line| {
                let behind = ended;
                ended |= is_line(line, "end");
                behind.then(String::new)
            })
        });
    "replay/end-is-nothing" ["RPL-END"] "reads on behind `end`"
        => on_typed_line(|kind, _, _| (kind == "end").then(String::new));
    "replay/exit-code-wanted" ["RPL-END"] "loses the last message where `end` has no exit code"
        => on_shape(Shape::Trace, |_, text| {
            let last = text.lines().rfind(|line| is_line(line, "end"))?;
            Json::parse(last).ok().filter(|end| end.member("exitCode").is_none_or(is_null))?;
            let before = text.lines().rfind(|line| !line.trim().is_empty() && *line != last)?;
            before.contains("\"raw\"").then(|| text.replacen(before, "", 1))
        });
    "replay/failed-servers-rejected" ["RPL-END"] "rejects a trace whose server exited with a code other than 0"
        => reject_trace_line(member("exitCode", |code| code.as_number().is_some_and(|code| code != "0")));
    "replay/no-end-loses-one" ["RPL-END" "EQ-COUNT"] "takes the last line for `end`, whatever it is"
        => on_shape(Shape::Trace, |_, text| {
            let last = text.lines().rfind(|line| !line.trim().is_empty())?;
            let message = Json::parse(last).is_ok_and(|last| text_at(last, &["type"]).is_none());
            (message && text.lines().count() > 1).then(|| text[..text.rfind(last).unwrap_or_default()].to_owned())
        });
    "replay/unknown-types-rejected" ["RPL-UNKNOWN"] "rejects a line of a type that it does not know"
        => reject_trace_line(text_member("type", |kind| !matches!(kind, "meta" | "end")));
    "replay/unknown-members-rejected" ["RPL-UNKNOWN"] "rejects a line with a member that it does not know"
        => reject_trace_line(|line| has_way(line) && has_unknown(&[
            "v", "type", "startedAt", "label", "command", "t", "dir", "raw", "kind", "exitCode", "durationMs", "reason",
        ])(line));
    "replay/unknown-head-rejected" ["RPL-UNKNOWN"] "rejects a `meta` with a member that it does not know"
        => reject_trace_line(|line| {
            let unknown = has_unknown(&["v", "type", "startedAt", "label", "command"]);
            text_at(line, &["type"]).as_deref() == Some("meta") && unknown(line)
        });
    "replay/turns-are-calls" ["RPL-UNKNOWN"] "reads the tool uses of `turn` lines as tool calls"
        => on_trace_line(|line: Json<'_>| {
            let used = line.member("blocks")?.items().find(|block| member("type", spelled("\"tool_use\""))(*block))?;
            let (id, name) = (content(used.member("id")?)?, used.member("name")?.text());
            Some(format!(
                r#"{{"dir":"in","raw":{{"jsonrpc":"2.0","id":"turn {id}","method":"tools/call","params":{{"name":{name}}}}}}}"#
            ))
        });
    "replay/odd-times-dropped" ["RPL-ORDER" "EQ-CONTEXT"] "drops a message whose `t` is not a time"
        => on_trace_line(drop_if(|line| {
            has_any(line, &["raw"]) && !text_at(line, &["t"]).is_some_and(|time| time.ends_with('Z'))
        }));
    "replay/backward-times-rejected" ["RPL-ORDER"] "rejects a trace whose times run backwards"
        => reject_if(|original| {
            let entries = original.reading.entries.iter();
            !entries.filter_map(|entry| entry.message.as_ref().and(entry.time)).is_sorted()
        }).only("mcp-replay");
    "replay/answers-behind-requests" ["RPL-ORDER" "COR-BEFORE"] "moves an answer that was logged too early behind its request"
        => on_reading(|reading| {
            for at in 1..reading.entries.len() {
                let message = |at: usize| reading.entries[at].message.as_ref();
                if let (Some(answer), Some(call)) = (message(at - 1), message(at))
                    && answer.is_response() && !call.is_response() && answer.id == call.id
                {
                    reading.entries.swap(at - 1, at);
                }
            }
        }).only("mcp-replay");
    "replay/marker-is-data" ["RPL-REDACT"] "puts null for a redaction marker"
        => on_meaning(|text| text.replace("\"[REDACTED]\"", "null")).only("mcp-replay");
    "replay/marked-dropped" ["RPL-REDACT" "EQ-COUNT"] "drops a message with a redaction marker in it"
        => lose_messages(|_, message| message.text.contains("[REDACTED]")).only("mcp-replay");
}

/// A reader that takes a first line without this member for a `meta`.
fn head_without(name: &'static str, value: &'static str) -> Mutation {
    on_first_line(set_if(
        move |line| has_any(line, &["startedAt", "label"]) && !has_any(line, &[name]),
        name,
        value,
    ))
}

/// A reader that takes such versions for 1.
fn accept_version(takes: impl crate::json::Test) -> Mutation {
    on_trace_line(on_member("v", move |it: Json<'_>| (it.text() != "1" && takes(it)).then(|| "1".to_owned())))
}

/// A reader that takes lines of such other dirs for the server's.
fn accept_dir(takes: fn(&str) -> bool) -> Mutation {
    let other = text_member("dir", move |dir| !matches!(dir, "in" | "out") && takes(dir));
    on_trace_line(set_if(move |line| has_any(line, &["raw"]) && other(line), "dir", "\"out\""))
}

fn has_way(line: Json<'_>) -> bool {
    text_at(line, &["dir"]).is_some_and(|dir| matches!(&*dir, "in" | "out"))
}

fn is_line(line: &str, kind: &str) -> bool {
    Json::parse(line).is_ok_and(|line| text_at(line, &["type"]).as_deref() == Some(kind))
}
