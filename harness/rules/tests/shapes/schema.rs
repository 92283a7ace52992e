//! An official schema: the messages that it knows, whether it accepts one, and instances made from it.

use jsonschema::Validator;
use rules::Revision;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::path::Path;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Request,
    Notification,
    Result,
}

/// A message's params or its result.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    pub(crate) method: String,
    /// Its name in the schema.
    pub(crate) definition: String,
    /// With a result: the params of the request.
    pub(crate) asked: Value,
    /// With a result: what the request asks for, whatever comes in its place.
    result: String,
}

impl Message {
    /// One that no schema describes.
    pub(crate) fn unknown(kind: Kind, method: &str) -> Self {
        let (method, asked) = (method.to_owned(), json!({}));
        Self { kind, method, asked, definition: String::new(), result: String::new() }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = if self.kind == Kind::Result { "result" } else { "params" };
        write!(formatter, "{} {part}", self.method)
    }
}

pub(crate) struct Schema {
    pub(crate) revision: Revision,
    definitions: Map<String, Value>,
    validators: BTreeMap<String, Validator>,
    recorded: BTreeMap<(Kind, String), Vec<Value>>,
}

/// How many recorded messages of a method are taken, each with members that none before it had.
const MOST_RECORDED: usize = 20;

impl Schema {
    pub(crate) fn load(folder: &Path, revision: Revision) -> Self {
        let path = folder.join(format!("{revision}.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let document: Value = serde_json::from_str(&text).unwrap();
        let (key, definitions) = ["$defs", "definitions"]
            .into_iter()
            .find_map(|key| Some((key, document.get(key)?.as_object()?.clone())))
            .unwrap();
        let mut validators = BTreeMap::new();
        for name in definitions.keys() {
            let schema =
                json!({"$schema": document["$schema"], "$ref": format!("#/{key}/{name}"), key: definitions});
            let validator = jsonschema::options().should_validate_formats(false).build(&schema).unwrap();
            validators.insert(name.clone(), validator);
        }
        Self { revision, definitions, validators, recorded: recorded(revision) }
    }

    /// Every message that the schema knows, once.
    pub(crate) fn messages(&self) -> Vec<Message> {
        let mut all: BTreeMap<(Kind, String, String), Message> = BTreeMap::new();
        let mut add = |kind, method: &str, definition: &str, asked: Value, result: &str| {
            let (method, definition) = (method.to_owned(), definition.to_owned());
            let message = Message { kind, method, definition, asked, result: result.to_owned() };
            all.insert((kind, message.method.clone(), message.definition.clone()), message);
        };
        for union in ["ClientRequest", "ServerRequest", "ClientNotification", "ServerNotification"] {
            let Some(union) = self.definitions.get(union) else { continue };
            let single = vec![union.clone()];
            for part in union["anyOf"].as_array().unwrap_or(&single) {
                let name = last(part);
                let Some(definition) = self.definitions.get(name) else { continue };
                let method = definition["properties"]["method"]["const"].as_str().unwrap();
                if !name.ends_with("Request") {
                    add(Kind::Notification, method, name, Value::Null, "");
                    continue;
                }
                add(Kind::Request, method, name, Value::Null, "");
                let result = name.replace("Request", "Result");
                let result =
                    if self.definitions.contains_key(&result) { result } else { "EmptyResult".to_owned() };
                let params = self.made(&definition["properties"]["params"]).swap_remove(0);
                add(Kind::Result, method, &result, params.clone(), &result);
                if params.get("task").is_some() {
                    add(Kind::Result, method, "CreateTaskResult", params.clone(), &result);
                }
                if params.get("inputResponses").is_some() {
                    add(Kind::Result, method, "InputRequiredResult", params, &result);
                }
            }
        }
        all.into_values().collect()
    }

    /// Whether the schema accepts the message with this value, or with none.
    pub(crate) fn accepts(&self, message: &Message, value: Option<&Value>) -> bool {
        let is = |name: &str, value: &Value| {
            self.validators.get(name).is_some_and(|schema| schema.is_valid(value))
        };
        let (mut whole, general) = match message.kind {
            Kind::Request => (json!({"jsonrpc": "2.0", "id": 1, "method": message.method}), "JSONRPCRequest"),
            Kind::Notification => {
                (json!({"jsonrpc": "2.0", "method": message.method}), "JSONRPCNotification")
            }
            // A word says which of two results is meant.
            Kind::Result => {
                let asks = message.definition == "InputRequiredResult"
                    && value.is_some_and(|value| value["resultType"] != "input_required");
                let definition = if asks { &message.result } else { &message.definition };
                return value.is_some_and(|value| is(definition, value));
            }
        };
        if let Some(value) = value {
            whole["params"] = value.clone();
        }
        is(&message.definition, &whole) && is(general, &whole)
    }

    /// Params or results as the schema describes them, and some that were recorded.
    pub(crate) fn instances(&self, message: &Message) -> Vec<Value> {
        let definition = &self.definitions[&message.definition];
        let mut all = match message.kind {
            Kind::Result => self.made(definition),
            _ => self.made(&definition["properties"]["params"]),
        };
        let kind = if message.definition == "InputRequiredResult" { "input_required" } else { "complete" };
        for result in &mut all {
            if let Some(word) = result.as_object_mut().and_then(|result| result.get_mut("resultType")) {
                *word = json!(kind);
            }
        }
        let recorded = self.recorded.get(&(message.kind, message.method.clone()));
        let recorded =
            recorded.filter(|_| message.kind != Kind::Result || message.definition == message.result);
        all.extend(
            recorded.into_iter().flatten().filter(|value| self.accepts(message, Some(value))).cloned(),
        );
        all.dedup();
        all
    }

    /// Values with every member that a schema names; one for each of several shapes that any part of it may have.
    fn made(&self, schema: &Value) -> Vec<Value> {
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            return self.made(&self.definitions[reference.rsplit('/').next().unwrap()]);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let mut whole = json!({});
            for part in parts {
                let made = self.made(part).swap_remove(0);
                whole.as_object_mut().unwrap().extend(made.as_object().cloned().unwrap_or_default());
            }
            return vec![whole];
        }
        if let Some(parts) = schema.get("anyOf").and_then(Value::as_array) {
            return parts.iter().flat_map(|part| self.made(part)).collect();
        }
        if let Some(word) = schema.get("const").or_else(|| schema.get("enum")?.as_array()?.last()) {
            return vec![word.clone()];
        }
        let kinds = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.clone(),
            Some(kind) => vec![kind.clone()],
            None => vec![json!(if schema.get("properties").is_some() { "object" } else { "any" })],
        };
        kinds.iter().flat_map(|kind| self.made_as(kind.as_str().unwrap(), schema)).collect()
    }

    fn made_as(&self, kind: &str, schema: &Value) -> Vec<Value> {
        match kind {
            "string" => vec![match schema.get("format").and_then(Value::as_str) {
                Some("byte") => json!("aGk="),
                Some("uri" | "uri-template") => json!("https://a.example/b"),
                _ => json!("2025-06-18T10:00:00Z"),
            }],
            "boolean" => vec![json!(true)],
            "null" => vec![Value::Null],
            "integer" | "number" => vec![json!(1)],
            "array" => {
                vec![Value::Array(schema.get("items").map(|items| self.made(items)).unwrap_or_default())]
            }
            "object" => self.objects(schema),
            _ => vec![json!({"any": 1})],
        }
    }

    fn objects(&self, schema: &Value) -> Vec<Value> {
        let mut base = Map::new();
        let mut others = Vec::new();
        for (name, part) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let mut made = self.made(part).into_iter();
            base.extend(made.next().map(|value| (name.clone(), value)));
            others.extend(made.map(|value| (name.clone(), value)));
        }
        if let Some(rest) = schema
            .get("additionalProperties")
            .filter(|rest| rest.as_object().is_some_and(|rest| !rest.is_empty()))
        {
            // What holds itself is not followed.
            if last(rest) != "JSONValue" {
                base.extend(
                    self.made(rest)
                        .into_iter()
                        .enumerate()
                        .map(|(index, value)| (format!("key{index}"), value)),
                );
            }
        }
        let mut all = vec![Value::Object(base.clone())];
        for (name, value) in others {
            let mut other = base.clone();
            other.insert(name, value);
            all.push(Value::Object(other));
        }
        all
    }
}

fn last(schema: &Value) -> &str {
    schema
        .get("$ref")
        .and_then(Value::as_str)
        .and_then(|reference| reference.rsplit('/').next())
        .unwrap_or_default()
}

/// Params and results of the recorded cases of a revision.
fn recorded(revision: Revision) -> BTreeMap<(Kind, String), Vec<Value>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases/recorded");
    let mut found: BTreeMap<(Kind, String), Vec<Value>> = BTreeMap::new();
    let mut names = BTreeSet::new();
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path().join("jsonrpc.jsonl")).collect();
    paths.sort();
    for path in paths {
        let Ok(text) = fs::read_to_string(path) else { continue };
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let negotiated = lines.iter().find_map(|line| line["result"]["protocolVersion"].as_str());
        let modern = text.contains("io.modelcontextprotocol/protocolVersion").then_some("2026-07-28");
        if negotiated.or(modern) != Some(revision.name()) {
            continue;
        }
        let mut asked = BTreeMap::new();
        for line in &lines {
            let id = line["id"].to_string();
            let (kind, method, value) = match (line["method"].as_str(), line.get("id").is_some()) {
                (Some(method), true) => {
                    asked.insert(id, method.to_owned());
                    (Kind::Request, method.to_owned(), line.get("params"))
                }
                (Some(method), false) => (Kind::Notification, method.to_owned(), line.get("params")),
                (None, _) => match asked.remove(&id) {
                    Some(method) => (Kind::Result, method, line.get("result")),
                    None => continue,
                },
            };
            let Some(value) = value else { continue };
            let mut paths = Vec::new();
            shape(value, String::new(), &mut paths);
            let list = found.entry((kind, method.clone())).or_default();
            let is_new =
                paths.into_iter().filter(|path| names.insert((kind, method.clone(), path.clone()))).count()
                    > 0;
            if is_new && list.len() < MOST_RECORDED && value.to_string().len() < 20_000 {
                list.push(value.clone());
            }
        }
    }
    found
}

/// The places of a value, whatever the position in a list.
fn shape(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            members.iter().for_each(|(name, part)| shape(part, format!("{path}/{name}"), out))
        }
        Value::Array(items) => items.iter().for_each(|part| shape(part, format!("{path}/*"), out)),
        _ => {}
    }
    out.push(path);
}
