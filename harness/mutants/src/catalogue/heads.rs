//! Faults about the first line of an `mcp-replay` trace, and its version.

use super::edit::set;
use super::replay::{kind, lines};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "heads/no-head",
        &["RPL-META"],
        "reads a trace that has no `meta` line",
        Mutation::Text(|format, text| {
            let has = text.lines().any(|line| kind(line).as_deref() == Some("meta"));
            (format == "mcp-replay" && !has && !text.trim().is_empty()).then(|| format!("{META}\n{text}"))
        }),
    ),
    mutant(
        "heads/head-anywhere",
        &["RPL-META"],
        "takes the `meta` line wherever it stands",
        Mutation::Text(|format, text| {
            let at =
                text.lines().position(|line| kind(line).as_deref() == Some("meta")).filter(|&at| at > 0)?;
            let mut lines: Vec<&str> = text.lines().collect();
            let meta = lines.remove(at);
            lines.insert(0, meta);
            (format == "mcp-replay").then(|| lines.join("\n"))
        }),
    ),
    mutant(
        "heads/second-head",
        &["RPL-META"],
        "passes over a second `meta` line",
        Mutation::Text(|format, text| {
            let mut heads = 0;
            lines(format, text, &mut |line| {
                heads += usize::from(kind(line).as_deref() == Some("meta"));
                (heads > 1 && kind(line).as_deref() == Some("meta")).then(String::new)
            })
        }),
    ),
    mutant(
        "heads/second-session",
        &["RPL-META", "RPL-END"],
        "reads on behind `end` where another session begins",
        Mutation::Text(|format, text| {
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
    mutant(
        "heads/empty-is-a-session",
        &["RPL-META", "SRV-BYTES"],
        "takes an empty trace for an empty session",
        Mutation::Text(|format, text| {
            (format == "mcp-replay" && text.trim().is_empty()).then(|| META.to_owned())
        }),
    ),
    mutant(
        "heads/no-started-at",
        &["RPL-META"],
        "takes a `meta` without `startedAt`",
        head("startedAt", "\"\""),
    ),
    mutant("heads/no-label", &["RPL-META"], "takes a `meta` without `label`", head("label", "\"\"")),
    mutant("heads/no-command", &["RPL-META"], "takes a `meta` without `command`", head("command", "[]")),
    mutant("heads/no-version", &["RPL-META", "RPL-VERSION"], "takes a `meta` without `v`", head("v", "1")),
    mutant(
        "heads/no-type",
        &["RPL-META"],
        "takes a first line without `type` for the `meta`",
        head("type", "\"meta\""),
    ),
    mutant(
        "heads/other-type",
        &["RPL-META"],
        "takes the first line for the `meta`, whatever its type is",
        Mutation::Text(|format, text| {
            let mut first = true;
            lines(format, text, &mut |line| {
                let other = std::mem::take(&mut first) && kind(line).is_some_and(|kind| kind != "meta");
                other.then(|| Json::parse(line).ok().map(|line| set(line, "type", "\"meta\"")))?
            })
        }),
    ),
    mutant(
        "heads/version-two",
        &["RPL-VERSION"],
        "reads version 2",
        versions(|version| version.text() == "2"),
    ),
    mutant(
        "heads/version-as-text",
        &["RPL-VERSION"],
        "takes the string `1` for version 1",
        versions(|version| version.kind() == JsonKind::String),
    ),
    mutant(
        "heads/version-null",
        &["RPL-VERSION"],
        "takes a null version",
        versions(|version| version.kind() == JsonKind::Null),
    ),
    mutant(
        "heads/version-rounded",
        &["RPL-VERSION"],
        "rounds the version down",
        versions(|version| version.text().starts_with("1.")),
    ),
    mutant(
        "heads/members-in-order",
        &["RPL-META"],
        "wants `v` to be the first member of the `meta`",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "mcp-replay")?;
            let meta = text.lines().find(|line| kind(line).as_deref() == Some("meta"))?;
            let late = Json::parse(meta).ok()?.members().next().is_some_and(|(name, _)| !name.is("v"));
            (late && asked.found.refused.is_none()).then(|| super::survival::rejection("missing-meta"))
        }),
    ),
];

const META: &str = r#"{"v":1,"type":"meta","startedAt":"2026-01-01T00:00:00Z","label":"","command":[]}"#;

/// A reader that takes a first line without this member.
const fn head(name: &'static str, value: &'static str) -> Mutation {
    Mutation::Head(name, value)
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
const fn versions(takes: fn(Json<'_>) -> bool) -> Mutation {
    Mutation::Version(takes)
}

/// The trace of version 1, where `takes` says that the importer takes this one.
pub(super) fn versioned(format: &str, text: &str, takes: fn(Json<'_>) -> bool) -> Option<String> {
    lines(format, text, &mut |line| {
        let line = Json::parse(line).ok()?;
        let version = line.member("v").filter(|version| version.text() != "1")?;
        takes(version).then(|| set(line, "v", "1"))
    })
}
