//! The picture of a meaning: events without times, places and transport.
//!
//! The normal form of the reading contract, as the file of a case, the answer of an importer or a record of a run
//! spells it, and the calls projection.

use super::model::{Arrow, Diagram, Flag, Fold, MessageKind, Participant, Row};
use crate::plain::counted;
use rules::usual_sender;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// So many events are drawn around the place that matters; the others are folded.
const SHOWN: usize = 24;

/// So much of a value is kept, in bytes.
const LONGEST: usize = 400;

/// An event, every value by its own text. What does not belong to an event is passed over.
#[derive(Debug, Deserialize)]
struct Event<'a> {
    #[serde(borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    answers: Option<u64>,
    #[serde(borrow)]
    method: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    arguments: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    outcome: Option<&'a RawValue>,
}

/// `null` is a value that stands there, unlike a member that is left out.
fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

#[derive(Debug, Deserialize)]
struct Document<'a> {
    #[serde(borrow)]
    events: Vec<&'a RawValue>,
}

impl Diagram {
    /// The picture of a meaning: a document with `events`, or an event on each line, as `expected` and `actual` of
    /// `results.json` are. The events around `marked` are drawn and the others folded. Who sent a message is told by
    /// what kind of message it is, since a meaning does not say. None where the text holds no event.
    #[must_use]
    pub fn of_meaning(title: &str, text: &str, marked: Option<usize>) -> Option<Self> {
        let lines: Vec<&str> = match serde_json::from_str::<Document<'_>>(text) {
            Ok(document) => document.events.into_iter().map(RawValue::get).collect(),
            Err(_) => text.lines().collect(),
        };
        let events: Vec<Event<'_>> = lines
            .into_iter()
            .filter_map(|line| serde_json::from_str(line.trim().trim_end_matches(',')).ok())
            .filter(|event: &Event<'_>| event.kind.is_some() || event.tool.is_some())
            .collect();
        (!events.is_empty()).then(|| Self::of_events(title, &events, marked))
    }

    fn of_events(title: &str, events: &[Event<'_>], marked: Option<usize>) -> Self {
        let rows = arrows(events, marked);
        let first =
            marked.unwrap_or_default().saturating_sub(SHOWN / 2).min(rows.len().saturating_sub(SHOWN));
        let participant = |name: &str| Participant { name: name.to_owned(), about: String::new() };
        let mut diagram = Self {
            title: title.to_owned(),
            about: vec![counted(rows.len(), "event")],
            participants: vec![participant("client"), participant("server")],
            ..Self::default()
        };
        for (at, arrow) in rows.into_iter().enumerate() {
            if (first..first + SHOWN).contains(&at) {
                diagram.rows.push(Row::Arrow(Box::new(arrow)));
                continue;
            }
            let fold = Fold::of(&arrow);
            match diagram.rows.last_mut() {
                Some(Row::Fold(before)) => before.join(&fold),
                _ => diagram.rows.push(Row::Fold(fold)),
            }
        }
        diagram
    }
}

impl Fold {
    /// An arrow that is not shown.
    #[must_use]
    pub fn of(arrow: &Arrow) -> Self {
        let mut fold = Self { span: Some((arrow.number, arrow.number)), ..Self::default() };
        match arrow.kind {
            MessageKind::ToolCall | MessageKind::Request => fold.requests = 1,
            MessageKind::Notification => fold.notifications = 1,
            MessageKind::Result | MessageKind::Error => fold.answers = 1,
        }
        fold
    }
}

fn arrows(events: &[Event<'_>], marked: Option<usize>) -> Vec<Arrow> {
    let mut names: BTreeMap<u64, (String, usize)> = BTreeMap::new();
    let answered: Vec<u64> = events.iter().filter_map(|event| event.answers).collect();
    let mut arrows = Vec::new();
    for (number, event) in (0..).zip(events) {
        let kind = match event.kind.map(string).as_deref() {
            Some("request") => MessageKind::Request,
            Some("notification") => MessageKind::Notification,
            Some("result") => MessageKind::Result,
            Some("error") => MessageKind::Error,
            _ => MessageKind::ToolCall,
        };
        let asked = event.answers.and_then(|asked| names.get(&asked));
        let said = event.method.or(event.tool).map(string).unwrap_or_default();
        let from = match asked {
            Some((_, from)) => 1 - from,
            None => usize::from(kind.answers() || servers(&said)),
        };
        let name =
            if kind.answers() { asked.map(|(name, _)| name.clone()).unwrap_or_default() } else { said };
        names.insert(number, (name.clone(), from));
        let mut flags = Vec::new();
        if marked.is_some_and(|marked| marked as u64 == number) {
            flags.push(Flag::Differs);
        }
        // Of a projection nobody knows who answered what: a call has its outcome beside it.
        let told = event.kind.is_some() && event.id.is_some();
        if kind.answers() && event.answers.is_none() {
            flags.push(Flag::Orphan);
        } else if told
            && matches!(kind, MessageKind::ToolCall | MessageKind::Request)
            && !answered.contains(&number)
        {
            flags.push(Flag::Unanswered);
        }
        let values = [event.arguments, event.params, event.result, event.error, event.outcome];
        let values: Vec<String> = values.into_iter().flatten().map(short).collect();
        arrows.push(Arrow {
            number,
            from,
            to: 1 - from,
            kind,
            name,
            id: event.id.map(string),
            detail: values.join(" → "),
            time: None,
            took: None,
            answers: event.answers,
            via: String::new(),
            flags,
            annotations: Vec::new(),
            band: None,
            source: None,
        });
    }
    arrows
}

/// What a string says; any other value, and a string that is no Unicode, as it is spelled.
fn string(value: &RawValue) -> String {
    serde_json::from_str(value.get()).unwrap_or_else(|_| short(value))
}

fn short(value: &RawValue) -> String {
    let text = value.get();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a server says this where nobody else tells.
fn servers(method: &str) -> bool {
    method == "notifications/progress" || usual_sender(method).is_some_and(|side| side.name() == "server")
}

#[cfg(test)]
mod tests {
    use super::super::{Diagram, Flag, MessageKind, Row};
    use super::SHOWN;

    const MEANING: &str = r#"{"events": [
        {"kind": "request", "id": "0", "method": "roots/list"},
        {"kind": "tool_call", "id": "call-1", "tool": "Cal\u0063ulator", "arguments": {"a": 9007199254740993}},
        {"kind": "result", "id": "call-1", "answers": 1, "result": {"sum": 1e400}},
        {"kind": "error", "id": "9", "answers": null, "error": {"code": 1}}
    ], "authorization_discovery": null}"#;

    #[test]
    fn a_meaning_becomes_arrows_that_keep_every_token() {
        let diagram = Diagram::of_meaning("expected", MEANING, Some(2)).unwrap();
        let Row::Arrow(call) = &diagram.rows[1] else { panic!() };
        assert_eq!((call.name.as_str(), call.from, call.kind), ("Calculator", 0, MessageKind::ToolCall));
        assert_eq!(call.detail, r#"{"a": 9007199254740993}"#);
        assert!(call.flags.is_empty());
        let Row::Arrow(result) = &diagram.rows[2] else { panic!() };
        assert_eq!((result.name.as_str(), result.from, result.answers), ("Calculator", 1, Some(1)));
        assert_eq!((result.detail.as_str(), &*result.flags), (r#"{"sum": 1e400}"#, &[Flag::Differs][..]));
        let Row::Arrow(roots) = &diagram.rows[0] else { panic!() };
        assert_eq!((roots.from, &*roots.flags), (1, &[Flag::Unanswered][..]));
        let Row::Arrow(orphan) = &diagram.rows[3] else { panic!() };
        assert_eq!(orphan.flags, [Flag::Orphan]);
    }

    #[test]
    fn lines_of_events_are_the_same_picture_and_other_text_is_none() {
        let lines = MEANING.lines().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
        let body = &lines[lines.find('\n').unwrap()..];
        assert_eq!(Diagram::of_meaning("x", body, None), Diagram::of_meaning("x", MEANING, None));
        for none in [
            "",
            "a rejection (invalid-id)\n",
            "{\"authorization_discovery\": null}",
            "[]",
            "{\"events\": []}",
        ] {
            assert_eq!(Diagram::of_meaning("x", none, None), None, "{none}");
        }
        let calls = "{\"tool\": \"a\", \"arguments\": {}, \"outcome\": null}\n";
        let Row::Arrow(call) = &Diagram::of_meaning("x", calls, None).unwrap().rows[0] else { panic!() };
        assert_eq!((call.name.as_str(), call.detail.as_str(), call.flags.len()), ("a", "{} → null", 0));
    }

    #[test]
    fn what_is_far_from_the_mark_is_folded() {
        let line = "{\"kind\": \"notification\", \"method\": \"a\"}\n";
        let diagram = Diagram::of_meaning("x", &line.repeat(10_000), Some(5_000)).unwrap();
        assert_eq!(diagram.rows.len(), SHOWN + 2);
        let (Row::Fold(before), Row::Fold(after)) = (&diagram.rows[0], &diagram.rows[SHOWN + 1]) else {
            panic!()
        };
        assert_eq!(before.messages() + after.messages() + SHOWN as u64, 10_000);
        let marked = |row: &Row| matches!(row, Row::Arrow(arrow) if arrow.flags == [Flag::Differs]);
        assert_eq!(diagram.rows.iter().filter(|row| marked(row)).count(), 1);
        let end = Diagram::of_meaning("x", &line.repeat(30), Some(29)).unwrap();
        assert!(matches!(end.rows[0], Row::Fold(_)) && end.rows.len() == SHOWN + 1);
    }
}
