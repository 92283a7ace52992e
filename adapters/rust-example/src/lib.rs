//! An importer as people write one on the first day: it reads bare JSON-RPC lines and lists the tool calls.
//!
//! `tools/call` requests and the responses to them. What it gets wrong on the way is said in `tests/concord.rs`.

use serde_json::{Map, Value};
use std::collections::HashMap;

/// A tool call and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// `params.name`, if there is one.
    pub tool: Option<Value>,
    /// `params.arguments`, if there are any; `null` is not the same as none.
    pub arguments: Option<Value>,
    /// What it was answered with, if it was.
    pub outcome: Option<Outcome>,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// With a result, be it good or bad news.
    Result(Value),
    /// With a JSON-RPC error.
    Error(Value),
}

/// The tool calls of a session, or why the text is none, with the number of the line.
///
/// # Errors
/// Where a line is not a JSON-RPC 2.0 message with an id that can be one, or two calls have the same id.
pub fn import(text: &str) -> Result<Vec<Call>, String> {
    let mut calls = Vec::new();
    // The calls by their id; those that have their answer are `None`.
    let mut open: HashMap<String, Option<usize>> = HashMap::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let wrong = |why: &str| format!("line {}: {why}", number + 1);
        let message: Map<String, Value> =
            serde_json::from_str(line).map_err(|error| wrong(&error.to_string()))?;
        if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
            return Err(wrong("`jsonrpc` is not \"2.0\""));
        }
        let id = match message.get("id") {
            None | Some(Value::Null) => None,
            Some(Value::String(id)) => Some(id.clone()),
            Some(Value::Number(id)) => Some(id.to_string()),
            Some(other) => return Err(wrong(&format!("{other} is not an id"))),
        };
        let outcome = match (message.get("method"), message.get("result"), message.get("error")) {
            (Some(Value::String(method)), None, None) => {
                if method == "tools/call" {
                    if let Some(id) = id
                        && open.insert(id, Some(calls.len())).is_some()
                    {
                        return Err(wrong("two calls have this id"));
                    }
                    let param =
                        |name: &str| message.get("params").and_then(|params| params.get(name)).cloned();
                    calls.push(Call { tool: param("name"), arguments: param("arguments"), outcome: None });
                }
                continue;
            }
            (None, Some(result), None) => Outcome::Result(result.clone()),
            (None, None, Some(error)) => Outcome::Error(error.clone()),
            _ => return Err(wrong("it has not one of method, result and error")),
        };
        let waiting = id.and_then(|id| open.get_mut(&id)).and_then(Option::take);
        if let Some(call) = waiting.and_then(|at| calls.get_mut(at)) {
            call.outcome = Some(outcome);
        }
    }
    Ok(calls)
}
