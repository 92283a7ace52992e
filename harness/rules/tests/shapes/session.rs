//! What `check` finds in a session that holds one message.

use crate::schema::{Kind, Message};
use formats::Input;
use rules::{CheckOptions, Parallelism, Revision, RuleVerdict};
use serde_json::{Value, json};

/// The rule of the shapes.
pub(crate) const TYPED: &str = "jsonrpc.schema.typed";

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) rule: &'static str,
    pub(crate) place: (u64, String, String),
    pub(crate) message: String,
    verdict: RuleVerdict,
}

/// What `check` finds, with `value` for the params or the result of the message.
pub(crate) fn findings(revision: Revision, message: &Message, value: Option<&Value>) -> Vec<Found> {
    let mut lines = match message.kind {
        Kind::Request => {
            vec![json!({"jsonrpc": "2.0", "id": 1, "method": message.method, "params": value})]
        }
        Kind::Notification => vec![json!({"jsonrpc": "2.0", "method": message.method, "params": value})],
        Kind::Result => vec![
            json!({"jsonrpc": "2.0", "id": 1, "method": message.method, "params": message.asked}),
            json!({"jsonrpc": "2.0", "id": 1, "result": value}),
        ],
    };
    if let (None, Some(last)) = (value, lines.last_mut().and_then(Value::as_object_mut)) {
        last.remove("params");
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let options = CheckOptions {
        spec: Some(revision),
        parallelism: Some(Parallelism::NONE),
        ..CheckOptions::default()
    };
    let mut reader = text.as_bytes();
    let judged =
        rules::check(formats::find("jsonrpc").unwrap(), &mut Input::new(&mut reader).unwrap(), &options)
            .unwrap();
    let found = judged
        .outcomes
        .iter()
        .flat_map(|outcome| outcome.findings.iter().map(move |one| (outcome.rule.id, one)));
    found
        .map(|(rule, one)| Found {
            rule,
            place: (one.location.line, one.location.pointer.clone(), one.location.within.clone()),
            message: one.message.clone(),
            verdict: one.verdict,
        })
        .collect()
}

/// Whether some rule is broken more often than before, or otherwise at the place of the fault.
pub(crate) fn is_new(before: &[Found], after: &[Found], pointer: &str) -> bool {
    let count = |all: &[Found], one: &Found| {
        all.iter().filter(|found| (found.rule, found.verdict) == (one.rule, one.verdict)).count()
    };
    let new = after.iter().filter(|found| found.verdict != RuleVerdict::Info && !before.contains(found));
    new.into_iter().any(|one| one.place.1.ends_with(pointer) || count(after, one) > count(before, one))
}
