//! `check` beside the official schemas, over faults that a machine made: what they refuse it finds, what they accept it
//! lets be.
//!
//! The schemas are not in this repository; `scripts/shapes.sh` fetches them and names their folder in `MCP_SCHEMAS`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is a test's way to fail")]

mod faults;
mod schema;
mod session;

use faults::{Fault, faults};
use rules::Revision;
use schema::{Kind, Message, Schema};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fs;
use std::path::Path;

/// Faults that the schemas refuse and `check` lets be, on purpose: what the place holds, the fault, and why.
const EXCUSED: &[(&str, &str, &str)] = &[
    (
        "content/",
        " is a fraction",
        "the specification lets a form have numbers, and the schema made integers of what they are answered with",
    ),
    (
        "result/resultType",
        " is a string",
        "a type of result that is none of the specification's is an extension's, and so are its members",
    ),
    (
        "/requestedSchema/properties/",
        " is a fraction",
        "minimum, maximum and default of a number were integers in the schema until it was corrected",
    ),
];

#[derive(Default)]
struct Count {
    instances: usize,
    faults: usize,
    refused: usize,
    noticed: usize,
    excused: usize,
    missed: Vec<String>,
    alarms: Vec<String>,
    twice: Vec<String>,
}

#[test]
#[ignore = "needs the official schemas; scripts/shapes.sh runs it"]
fn what_the_schemas_refuse_is_found_and_what_they_accept_is_not() {
    let folder = env::var("MCP_SCHEMAS").unwrap_or_else(|_| panic!("MCP_SCHEMAS names no folder"));
    let out = env::var("MCP_FAULTS").ok();
    println!("revision    messages  faults  refused  noticed  excused  missed  false alarms  found twice");
    let mut wrong = String::new();
    for revision in Revision::ALL {
        let schema = Schema::load(Path::new(&folder), revision);
        let mut written = String::new();
        let mut count = Count::default();
        for message in schema.messages() {
            judge(&schema, &message, &mut count, &mut written);
        }
        println!(
            "{revision}  {:>8}  {:>6}  {:>7}  {:>7}  {:>7}  {:>6}  {:>12}  {:>10}",
            count.instances,
            count.faults,
            count.refused,
            count.noticed,
            count.excused,
            count.missed.len(),
            count.alarms.len(),
            count.twice.len()
        );
        for (what, lines) in
            [("missed", &count.missed), ("false alarm", &count.alarms), ("found twice", &count.twice)]
        {
            for line in lines {
                wrong.push_str(&format!("{what}: {revision} {line}\n"));
            }
        }
        if let Some(out) = &out {
            fs::create_dir_all(out).unwrap();
            fs::write(Path::new(out).join(format!("{revision}.jsonl")), written).unwrap();
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// One method's params or result: instances of it that the schema accepts, and each with each fault.
fn judge(schema: &Schema, message: &Message, count: &mut Count, written: &mut String) {
    let mut seen = BTreeSet::new();
    for instance in schema.instances(message) {
        assert!(
            schema.accepts(message, Some(&instance)),
            "{} does not describe {instance}",
            message.definition
        );
        count.instances += 1;
        let before = session::findings(schema.revision, message, Some(&instance));
        if let Some(found) = before.iter().find(|found| found.rule == session::TYPED) {
            count.alarms.push(format!("{message}: {} in {instance}", found.message));
        }
        write(schema, message, Some(&instance), "", true, written);
        let none = Fault { pointer: String::new(), what: "is missing".to_owned(), value: None };
        let whole = (message.kind != Kind::Result).then_some(none);
        for fault in faults(&instance).into_iter().chain(whole) {
            let Fault { pointer, what, value } = &fault;
            // The same fault among the same members tells nothing more.
            let parent = pointer.rsplit_once('/').and_then(|(parent, _)| value.as_ref()?.pointer(parent));
            if !seen.insert((pointer.clone(), what.clone(), parent.map(Value::to_string))) {
                continue;
            }
            count.faults += 1;
            let at = || format!("{message}{pointer} {what}");
            let value = value.as_ref();
            let accepted = schema.accepts(message, value);
            write(schema, message, value, &format!("{pointer} {what}"), accepted, written);
            let after = session::findings(schema.revision, message, value);
            let typed = after.iter().find(|found| found.rule == session::TYPED);
            if accepted {
                if let Some(found) = typed {
                    count.alarms.push(format!("{}: {}", at(), found.message));
                }
                continue;
            }
            count.refused += 1;
            if session::is_new(&before, &after, pointer) {
                count.noticed += 1;
            } else if excused(&at()) {
                count.excused += 1;
            } else {
                count.missed.push(at());
            }
            // Where all params are missing, more than one rule may miss something of its own.
            if let Some(typed) = typed.filter(|_| value.is_some())
                && let Some(other) = after.iter().find(|other| {
                    other.rule != typed.rule && other.place == typed.place && !before.contains(other)
                })
            {
                count.twice.push(format!(
                    "{}: {} and {}: {}",
                    at(),
                    typed.message,
                    other.rule,
                    other.message
                ));
            }
        }
    }
}

fn excused(at: &str) -> bool {
    EXCUSED.iter().any(|(place, fault, _)| at.contains(place) && at.ends_with(fault))
}

/// A line for other programs that are to be asked.
fn write(
    schema: &Schema,
    message: &Message,
    value: Option<&Value>,
    fault: &str,
    accepted: bool,
    out: &mut String,
) {
    let line: BTreeMap<&str, Value> = [
        ("definition", json!(message.definition)),
        ("method", json!(message.method)),
        ("part", json!(if message.kind == Kind::Result { "result" } else { "params" })),
        ("notification", json!(message.kind == Kind::Notification)),
        ("fault", json!(fault)),
        ("accepted", json!(accepted)),
        ("value", json!(value)),
        ("missing", json!(value.is_none())),
        ("revision", json!(schema.revision.name())),
    ]
    .into();
    out.push_str(&format!("{}\n", json!(line)));
}

/// A few faults by hand, so that every run of the tests has some.
#[test]
fn a_few_faults_are_found_without_the_schemas() {
    let faults: Vec<Vec<&str>> = include_str!("by-hand.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| 20")?.strip_suffix(" |"))
        .map(|line| line.split('|').map(str::trim).collect())
        .collect();
    assert_eq!(faults.len(), 14);
    for fault in faults {
        let [year, place, value, pointer, wrong] = fault[..] else { panic!("{fault:?} is not five cells") };
        let kind = match (place.ends_with('<'), place.starts_with("notifications/")) {
            (true, _) => Kind::Result,
            (_, true) => Kind::Notification,
            _ => Kind::Request,
        };
        let message = Message::unknown(kind, place.trim_end_matches(['<', '>']));
        let value = serde_json::from_str(value).unwrap();
        let revision = Revision::named(&format!("20{year}")).unwrap();
        let found = session::findings(revision, &message, Some(&value));
        let (part, line) = if kind == Kind::Result { ("/result", 2) } else { ("/params", 1) };
        let typed: Vec<_> = found
            .iter()
            .filter(|found| found.rule == session::TYPED && found.place.0 == line)
            .map(|found| (found.place.1.clone(), found.message.as_str()))
            .collect();
        assert_eq!(typed, [(format!("{part}{}", pointer), wrong)], "{place} {value}: {found:#?}");
    }
}
