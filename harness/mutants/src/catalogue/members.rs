//! Faults about members: absent, null and empty ones, arguments of all kinds, results in parts, names of tools.

use super::edit::set;
use super::values::{ALL, ARGUMENTS, OUTCOME, strings};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

/// What a request or notification carries.
const PARAMS: &[&str] = &["params"];

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "members/absent-is-empty",
        &["EQ-ARGS"],
        "puts {} for absent arguments",
        Mutation::Meaning(|_, outcome| {
            for event in &mut outcome.events {
                let call = event.kind == transcript::meaning::EventKind::ToolCall;
                if call && !event.values.iter().any(|(name, _)| *name == "arguments") {
                    event.values.push(("arguments", "{}".to_owned()));
                }
            }
        }),
    ),
    mutant(
        "members/null-is-empty",
        &["EQ-ARGS"],
        "puts {} for null arguments",
        Mutation::Value(ARGUMENTS, |value| (value.kind() == JsonKind::Null).then(|| "{}".to_owned())),
    ),
    mutant(
        "members/null-is-absent",
        &["EQ-ARGS"],
        "drops null arguments",
        Mutation::Value(ARGUMENTS, |value| (value.kind() == JsonKind::Null).then(String::new)),
    ),
    mutant(
        "members/empty-is-absent",
        &["EQ-ARGS"],
        "drops empty arguments",
        Mutation::Value(ARGUMENTS, |value| (value.text() == "{}").then(String::new)),
    ),
    mutant(
        "members/null-params-dropped",
        &["EQ-ARGS"],
        "drops null params",
        Mutation::Value(PARAMS, |value| (value.kind() == JsonKind::Null).then(String::new)),
    ),
    mutant(
        "members/empty-params-dropped",
        &["EQ-ARGS"],
        "drops empty params",
        Mutation::Value(PARAMS, |value| (value.text() == "{}").then(String::new)),
    ),
    mutant(
        "members/params-by-name-alone",
        &["EQ-ARGS", "EQ-COUNT"],
        "drops params that are an array",
        Mutation::Value(PARAMS, |value| (value.kind() == JsonKind::Array).then(String::new)),
    ),
    mutant(
        "members/arguments-are-objects",
        &["EQ-ARGS"],
        "puts {} for arguments that are no object",
        Mutation::Value(ARGUMENTS, |value| {
            (!matches!(value.kind(), JsonKind::Object | JsonKind::Null)).then(|| "{}".to_owned())
        }),
    ),
    mutant(
        "members/null-members-dropped",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "drops members that are null",
        Mutation::Value(ALL, |value| {
            let null =
                |member: &(transcript::json::JsonString<'_>, Json<'_>)| member.1.kind() == JsonKind::Null;
            value
                .members()
                .any(|member| null(&member))
                .then(|| object(value.members().filter(|member| !null(member))))
        }),
    ),
    mutant(
        "members/empty-names-dropped",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "drops members with an empty name",
        Mutation::Value(ALL, |value| {
            value.member("").map(|_| object(value.members().filter(|(name, _)| !name.raw().is_empty())))
        }),
    ),
    mutant(
        "members/names-without-case",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "merges members whose names differ in case",
        Mutation::Value(ALL, |value| {
            let mut seen = std::collections::BTreeSet::new();
            let kept: Vec<_> =
                value.members().filter(|(name, _)| seen.insert(name.raw().to_lowercase())).collect();
            (kept.len() < value.members().count()).then(|| object(kept.into_iter()))
        }),
    ),
    mutant(
        "members/object-properties-dropped",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "drops members called `__proto__`",
        Mutation::Value(ALL, |value| {
            value
                .member("__proto__")
                .map(|_| object(value.members().filter(|(name, _)| !name.is("__proto__"))))
        }),
    ),
    mutant(
        "members/last-of-two-in-lines",
        &["SRV-TWICE"],
        "keeps the last of two members of one name in lines, and both elsewhere",
        Mutation::Answer(|asked| {
            use verdict::answer::Answer;
            let mut found = asked.found.clone();
            let mut changed = false;
            for said in found.entries.iter_mut().filter_map(|seen| seen.said.as_mut()) {
                for (_, value) in &mut said.values {
                    let Ok(whole) = Json::parse(value) else { continue };
                    let members: Vec<_> = whole.members().collect();
                    let last = |at: usize| !members[at + 1..].iter().any(|(name, _)| *name == members[at].0);
                    let kept = (0..members.len()).filter(|&at| last(at)).map(|at| members[at]);
                    if kept.clone().count() < members.len() {
                        let new = object(kept);
                        *value = new;
                        changed = true;
                    }
                }
            }
            (changed && asked.format.name == "jsonrpc")
                .then(|| found.answer(&super::FAITHFUL, |_| {}))
                .filter(|answer| matches!(answer, Answer::Meaning(_)))
        }),
    ),
    mutant(
        "members/sorted-arrays",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "sorts the items of arrays",
        Mutation::Value(ALL, |value| {
            value.members().find_map(|(name, member)| {
                let mut items: Vec<&str> = member.items().map(Json::text).collect();
                let before = items.clone();
                items.sort_unstable();
                let name = name.to_str()?;
                (items != before).then(|| set(value, &name, &format!("[{}]", items.join(","))))
            })
        }),
    ),
    mutant(
        "members/meta-dropped",
        &["EQ-OUTCOME"],
        "drops `_meta` from results",
        Mutation::Value(OUTCOME, |value| value.member("_meta").map(|_| set(value, "_meta", ""))),
    ),
    mutant(
        "members/params-meta-dropped",
        &["EQ-ARGS"],
        "drops `_meta` from params",
        Mutation::Value(PARAMS, |value| value.member("_meta").map(|_| set(value, "_meta", ""))),
    ),
    mutant(
        "members/error-data-dropped",
        &["EQ-OUTCOME"],
        "keeps code and message of an error and nothing else",
        Mutation::Value(&["error"], |value| {
            let kept = |name: &transcript::json::JsonString<'_>| name.is("code") || name.is("message");
            let lost = value.members().any(|(name, _)| !kept(&name));
            lost.then(|| object(value.members().filter(|(name, _)| kept(name))))
        }),
    ),
    mutant(
        "members/error-is-its-message",
        &["EQ-OUTCOME"],
        "shows the message of an error in its place",
        Mutation::Value(&["error"], |value| value.member("message").map(|message| message.text().to_owned())),
    ),
    mutant(
        "members/structured-content-alone",
        &["EQ-OUTCOME"],
        "drops `content` where there is `structuredContent`",
        Mutation::Value(&["result"], |value| {
            value
                .member("structuredContent")
                .and_then(|_| value.member("content"))
                .map(|_| set(value, "content", ""))
        }),
    ),
    mutant(
        "members/sixteen-levels",
        &["EQ-ARGS", "EQ-OUTCOME"],
        "puts null for what is nested deeper than sixteen levels",
        Mutation::Value(ALL, |value| {
            let (mut depth, mut deepest) = (0_usize, 0);
            for byte in value.text().bytes() {
                depth = match byte {
                    b'{' | b'[' => depth + 1,
                    b'}' | b']' => depth.saturating_sub(1),
                    _ => depth,
                };
                deepest = deepest.max(depth);
            }
            (deepest > 16).then(|| "null".to_owned())
        }),
    ),
    mutant(
        "members/tool-lower-case",
        &["EQ-TOOL"],
        "writes tool names in lower case",
        Mutation::Value(&["tool"], |value| strings(value, str::to_lowercase)),
    ),
    mutant(
        "members/tool-last-part",
        &["EQ-TOOL"],
        "keeps the part of a tool name behind the last dot, slash or double underscore",
        Mutation::Value(&["tool"], |value| {
            strings(value, |name| {
                name.rsplit(['.', '/'])
                    .next()
                    .unwrap_or_default()
                    .rsplit("__")
                    .next()
                    .unwrap_or_default()
                    .into()
            })
        }),
    ),
    mutant(
        "members/nameless-is-empty",
        &["TOOL-NAMELESS"],
        "names a nameless tool `` in streamable-http alone",
        Mutation::Meaning(|format, outcome| {
            for event in &mut outcome.events {
                let call =
                    event.kind == transcript::meaning::EventKind::ToolCall && format == "streamable-http";
                if call && !event.values.iter().any(|(name, _)| *name == "tool") {
                    event.values.push(("tool", "\"\"".to_owned()));
                }
            }
        }),
    ),
];

fn object<'a>(members: impl Iterator<Item = (transcript::json::JsonString<'a>, Json<'a>)>) -> String {
    let members: Vec<String> =
        members.map(|(name, value)| format!("\"{}\":{}", name.raw(), value.text())).collect();
    format!("{{{}}}", members.join(","))
}
