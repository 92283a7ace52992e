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
    println!("revision    messages  faults  refused  noticed  excused  missed  false alarms  told twice");
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
            [("missed", &count.missed), ("false alarm", &count.alarms), ("told twice", &count.twice)]
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
            "{} is no instance: {instance}",
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

/// A line for whoever else is to be asked.
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

/// A few faults by hand, so that every run of the tests has some: the revision, the message, the fault by its pointer and
/// what stands there, and what `check` says of it.
#[test]
fn a_few_faults_are_told_without_the_schemas() {
    let faults: &[(&str, &str, &str, &str, &str)] = &[
        ("2024-11-05", "notifications/progress>", r#"{"progress":1}"#, "", "`progressToken` is missing"),
        (
            "2025-03-26",
            "notifications/progress>",
            r#"{"progressToken":1,"progress":1,"message":["x"]}"#,
            "/message",
            "`message` is an array, and not a string",
        ),
        ("2025-06-18", "notifications/cancelled>", "{}", "", "`requestId` is missing"),
        ("2025-06-18", "notifications/message>", r#"{"data":1}"#, "", "`level` is missing"),
        ("2025-11-25", "logging/setLevel>", "{}", "", "`level` is missing"),
        ("2025-11-25", "tools/list>", r#"{"_meta":"x"}"#, "/_meta", "`_meta` is a string, and not an object"),
        (
            "2025-06-18",
            "completion/complete>",
            r#"{"ref":{"type":"ref/prompt","name":null},"argument":{"name":"a","value":""}}"#,
            "/ref/name",
            "`name` is null, and not a string",
        ),
        (
            "2025-06-18",
            "completion/complete<",
            r#"{"completion":{"values":[],"total":1.5}}"#,
            "/completion/total",
            "`total` is 1.5, and no integer",
        ),
        (
            "2025-06-18",
            "tools/list<",
            r#"{"tools":[{"name":"a","title":5,"inputSchema":{"type":"object"}}]}"#,
            "/tools/0/title",
            "`title` is a number, and not a string",
        ),
        (
            "2025-03-26",
            "tools/list<",
            r#"{"tools":[{"name":"a","inputSchema":{"type":"object","required":"a"}}]}"#,
            "/tools/0/inputSchema/required",
            "`required` is a string, and not an array",
        ),
        (
            "2025-11-25",
            "tools/call>",
            r#"{"name":"a","task":{"ttl":"60"}}"#,
            "/task/ttl",
            "`ttl` is a string, and not an integer",
        ),
        (
            "2025-11-25",
            "initialize<",
            r#"{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"instructions":7}"#,
            "/instructions",
            "`instructions` is a number, and not a string",
        ),
        (
            "2026-07-28",
            "resources/read<",
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{"uri":"a:b","text":"","_meta":[]}]}"#,
            "/contents/0/_meta",
            "`_meta` is an array, and not an object",
        ),
    ];
    for (revision, place, value, pointer, wrong) in faults {
        let kind = match (place.ends_with('<'), place.starts_with("notifications/")) {
            (true, _) => Kind::Result,
            (_, true) => Kind::Notification,
            _ => Kind::Request,
        };
        let message = Message::of(kind, place.trim_end_matches(['<', '>']));
        let value = serde_json::from_str(value).unwrap();
        let found = session::findings(Revision::named(revision).unwrap(), &message, Some(&value));
        let (part, line) = if kind == Kind::Result { ("/result", 2) } else { ("/params", 1) };
        let told: Vec<_> =
            found.iter().filter(|found| found.rule == session::TYPED && found.place.0 == line).collect();
        assert_eq!(told.len(), 1, "{place} {value}: {found:#?}");
        assert_eq!((&*told[0].place.1, &*told[0].message), (&*format!("{part}{pointer}"), *wrong));
    }
}
