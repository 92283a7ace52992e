//! The findings as SARIF 2.1.0, as code scanners and editors take it.
//!
//! A run, its tool with the rules that are cited, a result for each place. Where every line is asked for, what was
//! kept (`pass`), could not be told (`open`) or was not called for (`notApplicable`) is a result too; without, it is
//! left out, since most viewers show any result as a problem.

use super::{Renderer, explain, rule_of, sentence};
use rules::record::{CheckedFile, Problem, RuleResult};
use rules::rule::{Level, Rule};
use rules::{Revision, RuleVerdict};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The log as JSON, a result a line. It holds the name, format and revision of each recording, since one array lists them
/// and another one the results.
#[derive(Debug)]
pub struct Sarif {
    version: String,
    every: bool,
    begun: bool,
    /// The rules that were cited, by id, with their places in the list and the revision of the first recording that cites them.
    cited: BTreeMap<&'static str, (usize, Option<&'static str>)>,
    artifacts: Vec<Artifact>,
    notifications: Vec<Notification>,
    well: bool,
}

/// What stands before the first result.
const HEAD: &str = r#"{
"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
"version": "2.1.0",
"runs": [{
"columnKind": "unicodeCodePoints",
"results": ["#;

impl Sarif {
    /// Nothing was written so far. The version is that of the program; every line is written where `every` is set.
    #[must_use]
    pub fn new(version: &str, every: bool) -> Self {
        Self {
            version: version.to_owned(),
            every,
            begun: false,
            cited: BTreeMap::new(),
            artifacts: Vec::new(),
            notifications: Vec::new(),
            well: true,
        }
    }

    fn notify(&mut self, level: &'static str, text: &str, file: &str) {
        let locations = vec![Location::of(file, None, None, None)];
        self.notifications.push(Notification { level, message: Text { text: text.to_owned() }, locations });
    }
}

impl Renderer for Sarif {
    fn file(&mut self, file: &CheckedFile, out: &mut dyn Write) -> io::Result<()> {
        for line in file.lines.iter().filter(|line| self.every || line.is_finding()) {
            let next = self.cited.len();
            let (index, _) = *self.cited.entry(line.rule).or_insert((next, file.revision));
            out.write_all(if self.begun { ",\n" } else { HEAD }.as_bytes())?;
            out.write_all(if self.begun { b"" } else { b"\n" })?;
            self.begun = true;
            serde_json::to_writer(&mut *out, &result(line, index))?;
        }
        let gave_up = file.gave_up.as_ref().map(|_| "the reader gave up; the rest is not judged");
        if let Some(text) = file.limit.or(gave_up) {
            self.notify("warning", text, &file.name);
        }
        self.artifacts.push(Artifact::of(file));
        Ok(())
    }

    fn problem(&mut self, problem: &Problem, _: &mut dyn Write) -> io::Result<()> {
        self.well = false;
        self.notify("error", &problem.message, &problem.file);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut cited: Vec<(usize, Descriptor)> = self
            .cited
            .iter()
            .filter_map(|(id, (index, revision))| Some((*index, descriptor(rules::find(id)?, *revision))))
            .collect();
        cited.sort_unstable_by_key(|(index, _)| *index);
        let driver = Driver {
            name: "mcp-concord",
            version: &self.version,
            semantic_version: &self.version,
            information_uri: "https://github.com/mcp-concord/mcp-concord",
            rules: cited.into_iter().map(|(_, rule)| rule).collect(),
        };
        let invocations = [Invocation {
            execution_successful: self.well,
            tool_execution_notifications: std::mem::take(&mut self.notifications),
        }];
        out.write_all(if self.begun { "" } else { HEAD }.as_bytes())?;
        out.write_all(b"],\n\"artifacts\": ")?;
        serde_json::to_writer(&mut *out, &self.artifacts)?;
        out.write_all(b",\n\"invocations\": ")?;
        serde_json::to_writer(&mut *out, &invocations)?;
        out.write_all(b",\n\"tool\": ")?;
        serde_json::to_writer_pretty(&mut *out, &Tool { driver })?;
        out.write_all(b"\n}]\n}\n")
    }
}

fn descriptor(rule: &Rule, revision: Option<&str>) -> Descriptor {
    let mut full = format!("{}. {}", rule.title, rule.why);
    if let Some(contested) = rule.contested {
        let _ = write!(full, " Contested: {contested}");
    }
    Descriptor {
        id: rule.id,
        short_description: Text { text: format!("{}.", rule.title) },
        full_description: Text { text: full },
        help: Text { text: format!("{}\n\nSource: {}\nMore: {}", rule.fix, rule.source, explain(rule.id)) },
        help_uri: rule.link(revision.and_then(Revision::named)),
        default_configuration: Configuration { level: level(rule.level) },
        properties: Properties {
            tags: vec![rule.prefix(), rule.party.name()],
            party: rule.party.name(),
            revisions: rule.span.to_string(),
            source: rule.source,
        },
    }
}

fn result(line: &RuleResult, rule_index: usize) -> Outcome<'_> {
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
        rule_index,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    help_uri: Option<String>,
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

#[derive(Debug, Serialize)]
struct Notification {
    level: &'static str,
    message: Text,
    locations: Vec<Location>,
}

#[derive(Debug, Serialize)]
struct Artifact {
    location: ArtifactLocation,
    properties: Recording,
}

#[derive(Debug, Serialize)]
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
    rule_index: usize,
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

#[derive(Debug, Serialize)]
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

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PhysicalLocation {
    artifact_location: ArtifactLocation,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Debug, Serialize)]
struct ArtifactLocation {
    uri: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<Text>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct LogicalLocation {
    fully_qualified_name: String,
    kind: &'static str,
}

#[derive(Debug, Serialize)]
struct Text {
    text: String,
}

#[cfg(test)]
mod tests;
