//! The findings as SARIF 2.1.0, as code scanners and editors take it.
//!
//! A run, its tool with the rules that are cited, a result for each place. Where every line is asked for, what was
//! kept (`pass`), could not be told (`open`) or was not called for (`notApplicable`) is a result too; without, it is
//! left out, since most viewers show any result as a problem.

use super::{explain, rule_of, sentence};
use rules::RuleVerdict;
use rules::record::{CheckRecord, CheckedFile, RuleResult};
use rules::rule::{Level, Rule};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The log as indented JSON.
///
/// # Errors
/// Where a line holds what JSON cannot.
pub fn render(record: &CheckRecord, every: bool) -> Result<String, serde_json::Error> {
    let lines = || record.files.iter().flat_map(|file| &file.lines).filter(|line| every || line.is_finding());
    let cited: Vec<&Rule> = rules::all().filter(|rule| lines().any(|it| it.rule == rule.id)).collect();
    let numbers: BTreeMap<&str, usize> =
        cited.iter().enumerate().map(|(index, rule)| (rule.id, index)).collect();
    let driver = Driver {
        name: "mcp-concord",
        version: &record.version,
        semantic_version: &record.version,
        information_uri: "https://github.com/mcp-concord/mcp-concord",
        rules: cited.into_iter().map(descriptor).collect(),
    };
    let notifications = record.problems.iter().map(|problem| Notification {
        level: "error",
        message: Text { text: problem.message.clone() },
        locations: vec![Location::of(&problem.file, None, None, None)],
    });
    let limits = record.files.iter().filter_map(|file| {
        let text =
            file.limit.or(file.gave_up.as_ref().map(|_| "the reader gave up; the rest is not judged"))?;
        let locations = vec![Location::of(&file.name, None, None, None)];
        Some(Notification { level: "warning", message: Text { text: text.to_owned() }, locations })
    });
    let run = Run {
        tool: Tool { driver },
        column_kind: "unicodeCodePoints",
        invocations: [Invocation {
            execution_successful: record.problems.is_empty(),
            tool_execution_notifications: notifications.chain(limits).collect(),
        }],
        artifacts: record.files.iter().map(Artifact::of).collect(),
        results: lines().map(|line| result(line, &numbers)).collect(),
    };
    let log = Log { schema: "https://json.schemastore.org/sarif-2.1.0.json", version: "2.1.0", runs: [run] };
    serde_json::to_string_pretty(&log).map(|text| text + "\n")
}

fn descriptor(rule: &Rule) -> Descriptor {
    let mut full = format!("{}. {}", rule.title, rule.why);
    if let Some(contested) = rule.contested {
        let _ = write!(full, " Contested: {contested}");
    }
    Descriptor {
        id: rule.id,
        short_description: Text { text: format!("{}.", rule.title) },
        full_description: Text { text: full },
        help: Text { text: format!("{}\n\nSource: {}\nMore: {}", rule.fix, rule.source, explain(rule.id)) },
        default_configuration: Configuration { level: level(rule.level) },
        properties: Properties {
            tags: vec![rule.prefix(), rule.party.name()],
            party: rule.party.name(),
            revisions: rule.span.to_string(),
            source: rule.source,
        },
    }
}

fn result<'r>(line: &'r RuleResult, numbers: &BTreeMap<&str, usize>) -> Outcome<'r> {
    let other = line.other.as_ref().map(|other| Location {
        id: Some(1),
        message: Some(Text { text: other.what.to_owned() }),
        ..Location::of(&line.file, Some(other.line), Some(&other.pointer), Some(&other.snippet))
    });
    let pointer =
        line.pointer.as_ref().map(|pointer| pointer.clone() + line.within.as_deref().unwrap_or_default());
    // A verdict that is no fault has no level.
    let (kind, level) = match line.verdict {
        RuleVerdict::Fail | RuleVerdict::Warn | RuleVerdict::Info => ("fail", level(line.level)),
        RuleVerdict::Inconclusive => ("open", "none"),
        RuleVerdict::Pass => ("pass", "none"),
        RuleVerdict::NotApplicable => ("notApplicable", "none"),
    };
    Outcome {
        rule_id: line.rule,
        rule_index: numbers.get(line.rule).copied(),
        kind,
        level,
        message: Text { text: message(line) },
        locations: vec![Location::of(&line.file, line.line, pointer.as_deref(), line.snippet.as_deref())],
        related_locations: other.into_iter().collect(),
        properties: Party { party: line.party },
    }
}

fn message(line: &RuleResult) -> String {
    match rule_of(line).filter(|_| line.is_finding()) {
        Some(rule) => format!("{}. {}", sentence(line), rule.fix),
        None => format!("{}.", sentence(line)),
    }
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::Info => "note",
    }
}

/// A file's name as a URI: as it stands where it is relative, and percent-encoded.
fn uri(name: &str) -> String {
    if name == "<stdin>" {
        return "stdin".to_owned();
    }
    let name = name.replace('\\', "/");
    let name = name.strip_prefix("./").unwrap_or(&name);
    let mut out = String::from(if name.starts_with('/') { "file://" } else { "" });
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte));
            }
            _ => {
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[derive(Serialize)]
struct Log<'r> {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run<'r>; 1],
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Run<'r> {
    tool: Tool<'r>,
    column_kind: &'static str,
    invocations: [Invocation; 1],
    artifacts: Vec<Artifact>,
    results: Vec<Outcome<'r>>,
}

#[derive(Serialize)]
struct Tool<'r> {
    driver: Driver<'r>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Driver<'r> {
    name: &'static str,
    version: &'r str,
    semantic_version: &'r str,
    information_uri: &'static str,
    rules: Vec<Descriptor>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Descriptor {
    id: &'static str,
    short_description: Text,
    full_description: Text,
    help: Text,
    default_configuration: Configuration,
    properties: Properties,
}

#[derive(Serialize)]
struct Configuration {
    level: &'static str,
}

#[derive(Serialize)]
struct Properties {
    tags: Vec<&'static str>,
    party: &'static str,
    revisions: String,
    source: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Invocation {
    execution_successful: bool,
    tool_execution_notifications: Vec<Notification>,
}

#[derive(Serialize)]
struct Notification {
    level: &'static str,
    message: Text,
    locations: Vec<Location>,
}

#[derive(Serialize)]
struct Artifact {
    location: ArtifactLocation,
    properties: Recording,
}

#[derive(Serialize)]
struct Recording {
    format: String,
    revision: &'static str,
}

impl Artifact {
    fn of(file: &CheckedFile) -> Self {
        Self {
            location: ArtifactLocation { uri: uri(&file.name) },
            properties: Recording {
                format: file.format.clone(),
                revision: file.revision.unwrap_or("unknown"),
            },
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'r> {
    rule_id: &'r str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule_index: Option<usize>,
    kind: &'static str,
    level: &'static str,
    message: Text,
    locations: Vec<Location>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    related_locations: Vec<Location>,
    properties: Party<'r>,
}

#[derive(Serialize)]
struct Party<'r> {
    party: &'r str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Text>,
    physical_location: PhysicalLocation,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    logical_locations: Vec<LogicalLocation>,
}

impl Location {
    fn of(file: &str, line: Option<u64>, pointer: Option<&str>, snippet: Option<&str>) -> Self {
        let region = line.filter(|line| *line > 0).map(|start_line| Region {
            start_line,
            snippet: snippet.map(|text| Text { text: text.to_owned() }),
        });
        let pointer = pointer.filter(|pointer| !pointer.is_empty());
        Self {
            id: None,
            message: None,
            physical_location: PhysicalLocation {
                artifact_location: ArtifactLocation { uri: uri(file) },
                region,
            },
            logical_locations: pointer
                .map(|pointer| LogicalLocation { fully_qualified_name: pointer.to_owned(), kind: "value" })
                .into_iter()
                .collect(),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Text>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Serialize)]
struct Text {
    text: String,
}

#[cfg(test)]
mod tests;
