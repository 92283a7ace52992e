//! The findings as SARIF 2.1.0, as code scanners and editors take it.
//!
//! A run, its tool with the rules that are cited, a result for each place. Where every line is asked for, what was
//! kept (`pass`), inconclusive (`open`) or not called for (`notApplicable`) is a result too; without, it is
//! left out, since most viewers show any result as a problem.

use super::{Renderer, explain, rule_of, sentence, unread};
use crate::encoding::percent;
use crate::object::{OrderedValue, object};
use rules::record::{CheckedFile, Problem, RuleResult};
use rules::rule::{Level, Rule};
use rules::{Revision, RuleVerdict};
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
    artifacts: Vec<OrderedValue<'static>>,
    notifications: Vec<OrderedValue<'static>>,
    well: bool,
}

/// What comes before the first result.
const HEAD: &str = r#"{
"$schema": "https://json.schemastore.org/sarif-2.1.0.json",
"version": "2.1.0",
"runs": [{
"columnKind": "unicodeCodePoints",
"results": ["#;

impl Sarif {
    /// Nothing was written so far. The version is that of the program; every line is written where `every` is set.
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
        let notification = object()
            .with("level", level)
            .with("message", words(text.to_owned()))
            .with("locations", vec![location(object(), file, None, None, None)]);
        self.notifications.push(notification);
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
        if let Some(text) = unread(file) {
            self.notify("error", &text, &file.name);
        }
        let properties =
            object().with("format", file.format.clone()).with("revision", file.revision.unwrap_or("unknown"));
        self.artifacts.push(object().with("location", artifact(&file.name)).with("properties", properties));
        Ok(())
    }

    fn problem(&mut self, problem: &Problem, _: &mut dyn Write) -> io::Result<()> {
        self.well = false;
        self.notify("error", &problem.message, &problem.file);
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let cited = self.cited.iter();
        let mut cited: Vec<_> =
            cited.filter_map(|(id, cited)| Some((cited.0, descriptor(rules::find(id)?, cited.1)))).collect();
        cited.sort_unstable_by_key(|(index, _)| *index);
        let driver = driver(&self.version, cited.into_iter().map(|(_, rule)| rule).collect());
        let notifications = std::mem::take(&mut self.notifications);
        let invocation =
            object().with("executionSuccessful", self.well).with("toolExecutionNotifications", notifications);
        out.write_all(if self.begun { "" } else { HEAD }.as_bytes())?;
        out.write_all(b"],\n\"artifacts\": ")?;
        serde_json::to_writer(&mut *out, &self.artifacts)?;
        out.write_all(b",\n\"invocations\": ")?;
        serde_json::to_writer(&mut *out, &[invocation])?;
        out.write_all(b",\n\"tool\": ")?;
        serde_json::to_writer_pretty(&mut *out, &object().with("driver", driver))?;
        out.write_all(b"\n}]\n}\n")
    }
}

fn driver<'s>(version: &'s str, rules: Vec<OrderedValue<'s>>) -> OrderedValue<'s> {
    object()
        .with("name", "mcp-concord")
        .with("version", version)
        .with("semanticVersion", version)
        .with("informationUri", "https://github.com/mcp-concord/mcp-concord")
        .with("rules", rules)
}

/// A log whose results are all there, with the rules that they cite.
pub(crate) fn log<'s>(
    version: &'s str,
    results: Vec<OrderedValue<'s>>,
    rules: Vec<OrderedValue<'s>>,
) -> serde_json::Result<String> {
    let run = object()
        .with("columnKind", "unicodeCodePoints")
        .with("results", results)
        .with("tool", object().with("driver", driver(version, rules)));
    let log = object()
        .with("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
        .with("version", "2.1.0")
        .with("runs", vec![run]);
    Ok(serde_json::to_string_pretty(&log)? + "\n")
}

fn descriptor<'r>(rule: &'r Rule, revision: Option<&str>) -> OrderedValue<'r> {
    let mut full = format!("{}. {}", rule.title, rule.why);
    if let Some(contested) = rule.contested {
        let _ = write!(full, " Contested: {contested}");
    }
    let help = format!("{}\n\nSource: {}\nMore: {}", rule.fix, rule.source, explain(rule.id));
    let properties = object()
        .with("tags", vec![rule.prefix(), rule.party.name()])
        .with("party", rule.party.name())
        .with("revisions", rule.span.to_string())
        .with("source", rule.source);
    object()
        .with("id", rule.id)
        .with("shortDescription", words(format!("{}.", rule.title)))
        .with("fullDescription", words(full))
        .with("help", words(help))
        .with("helpUri", rule.link(revision.and_then(Revision::named)))
        .with("defaultConfiguration", object().with("level", level(rule.level)))
        .with("properties", properties)
}

fn result(line: &RuleResult, rule_index: usize) -> OrderedValue<'_> {
    let other = line.other.as_ref().map(|other| {
        let message = object().with("id", 1_u64).with("message", words(other.what.to_owned()));
        vec![location(message, &line.file, Some(other.line), Some(&other.pointer), Some(&other.snippet))]
    });
    let within = line.within.as_deref().unwrap_or_default();
    let pointer = line.pointer.as_ref().map(|pointer| pointer.clone() + within);
    // Only a fault has a level.
    let (kind, level) = match line.verdict {
        RuleVerdict::Fail | RuleVerdict::Warn | RuleVerdict::Info => ("fail", level(line.level)),
        RuleVerdict::Inconclusive => ("open", "none"),
        RuleVerdict::Pass => ("pass", "none"),
        RuleVerdict::NotApplicable => ("notApplicable", "none"),
    };
    let message = match rule_of(line).filter(|_| line.is_finding()) {
        Some(rule) => sentence(line, &format!(". {}", rule.fix)),
        None => sentence(line, "."),
    };
    let place = location(object(), &line.file, line.line, pointer.as_deref(), line.snippet.as_deref());
    object()
        .with("ruleId", line.rule)
        .with("ruleIndex", rule_index)
        .with("kind", kind)
        .with("level", level)
        .with("message", words(message))
        .with("locations", vec![place])
        .with("relatedLocations", other)
        .with("properties", object().with("party", line.party))
}

/// A place in a file, behind what else is said of it.
pub(crate) fn location<'s>(
    said: OrderedValue<'s>,
    file: &str,
    line: Option<u64>,
    pointer: Option<&str>,
    snippet: Option<&str>,
) -> OrderedValue<'s> {
    let snippet = snippet.map(|text| words(text.to_owned()));
    let region = line.filter(|line| *line > 0);
    let region = region.map(|line| object().with("startLine", line).with("snippet", snippet));
    let physical = object().with("artifactLocation", artifact(file)).with("region", region);
    let logical = pointer
        .filter(|pointer| !pointer.is_empty())
        .map(|pointer| vec![object().with("fullyQualifiedName", pointer.to_owned()).with("kind", "value")]);
    said.with("physicalLocation", physical).with("logicalLocations", logical)
}

fn artifact<'s>(file: &str) -> OrderedValue<'s> {
    object().with("uri", uri(file))
}

pub(crate) fn words<'s>(text: String) -> OrderedValue<'s> {
    object().with("text", text)
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "error",
        Level::Should => "warning",
        Level::Info => "note",
    }
}

/// A file's name as a URI: as it is where it is relative, and percent-encoded.
fn uri(name: &str) -> String {
    if name == "<stdin>" {
        return "stdin".to_owned();
    }
    let name = name.replace('\\', "/");
    let name = name.strip_prefix("./").unwrap_or(&name);
    let scheme = if name.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", percent(name, b"-._~/"))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_become_uris() {
        for (name, uri) in [
            ("a/b c.jsonl", "a/b%20c.jsonl"),
            ("./é.har", "%C3%A9.har"),
            ("/tmp/x#y", "file:///tmp/x%23y"),
            ("<stdin>", "stdin"),
        ] {
            assert_eq!(super::uri(name), uri);
        }
    }
}
