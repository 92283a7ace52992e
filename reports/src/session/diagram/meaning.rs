//! The picture of a meaning: events without times, places and transport.
//!
//! The normal form of the reading contract, as the file of a case, the answer of an importer or a record of a run
//! spells it, and the calls projection.

use super::line_text::beginning;
use super::model::{Arrow, Diagram, Flag, Fold, Participant, Row, RowContent, is_answer};
use crate::plain::counted;
use rules::usual_sender;
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind};
use transcript::meaning::EventKind;

/// How many events are drawn around the place that matters; the others are folded.
const SHOWN: usize = 24;

/// How many characters of a value are kept.
const LONGEST: usize = 400;

impl Diagram {
    /// The picture of a meaning: a document with `events`, or an event on each line, as `expected` and `actual` of
    /// `results.json` are. The events around `marked` are drawn and the others folded. Who sent a message follows from its
    /// kind, since a meaning does not say. None where the text holds no event.
    pub(crate) fn of_meaning(title: &str, text: &str, marked: Option<usize>) -> Option<Self> {
        let document = Json::parse(text).ok().and_then(|document| document.member("events"));
        let mut events: Vec<Json<'_>> = match document.filter(|events| events.kind() == JsonKind::Array) {
            Some(events) => events.items().collect(),
            None => {
                text.lines().filter_map(|line| Json::parse(line.trim().trim_end_matches(',')).ok()).collect()
            }
        };
        events.retain(|event| member(*event, "kind").or(member(*event, "tool")).is_some());
        (!events.is_empty()).then(|| Self::of_events(title, &events, marked))
    }

    fn of_events(title: &str, events: &[Json<'_>], marked: Option<usize>) -> Self {
        let arrows = arrows(events, marked);
        let before = marked.unwrap_or_default().saturating_sub(SHOWN / 2);
        let first = before.min(arrows.len().saturating_sub(SHOWN));
        let mut diagram = Self {
            title: title.to_owned(),
            about: vec![counted(arrows.len(), "event")],
            participants: ["client", "server"].map(Participant::named).into(),
            ..Self::default()
        };
        for (at, arrow) in arrows.into_iter().enumerate() {
            let row = Row::from(arrow);
            if (first..first + SHOWN).contains(&at) {
                diagram.rows.push(row);
                continue;
            }
            let fold = Fold::new(&row, false);
            match diagram.rows.last_mut().map(|row| &mut row.content) {
                Some(RowContent::Fold(before)) => before.join(&fold),
                _ => diagram.rows.push(RowContent::Fold(fold).into()),
            }
        }
        diagram
    }
}

fn arrows(events: &[Json<'_>], marked: Option<usize>) -> Vec<Arrow> {
    let mut names: BTreeMap<u64, (String, usize)> = BTreeMap::new();
    let answers = |event: &Json<'_>| event.member("answers")?.as_number()?.parse().ok();
    let answered: Vec<u64> = events.iter().filter_map(answers).collect();
    let mut arrows = Vec::new();
    for (number, event) in (0..).zip(events) {
        let kind = match member(*event, "kind").map(string).as_deref() {
            Some("request") => EventKind::Request,
            Some("notification") => EventKind::Notification,
            Some("result") => EventKind::Result,
            Some("error") => EventKind::Error,
            _ => EventKind::ToolCall,
        };
        let (answers, is_answer) = (answers(event), is_answer(kind));
        let asked = answers.and_then(|asked| names.get(&asked));
        let own = member(*event, "method").or(member(*event, "tool")).map(string).unwrap_or_default();
        let from = match asked {
            Some((_, from)) => 1 - from,
            None => usize::from(is_answer || servers(&own)),
        };
        let name = if is_answer { asked.map(|(name, _)| name.clone()).unwrap_or_default() } else { own };
        names.insert(number, (name.clone(), from));
        let id = member(*event, "id").map(string);
        let mut flags = Vec::new();
        if marked.is_some_and(|marked| marked as u64 == number) {
            flags.push(Flag::Differs);
        }
        // Of a projection nobody knows who answered what: a call has its outcome beside it.
        let waits = matches!(kind, EventKind::ToolCall | EventKind::Request)
            && member(*event, "kind").is_some()
            && id.is_some();
        if is_answer && answers.is_none() {
            flags.push(Flag::Orphan);
        } else if waits && !answered.contains(&number) {
            flags.push(Flag::Unanswered);
        }
        let values = ["arguments", "params", "result", "error", "outcome"];
        let values = values.into_iter().filter_map(|name| event.member(name)).map(short);
        let detail = values.collect::<Vec<_>>().join(" → ");
        arrows.push(Arrow { name, id, detail, answers, flags, ..Arrow::new(number, from, 1 - from, kind) });
    }
    arrows
}

/// A member of an event, unless it is null.
fn member<'a>(event: Json<'a>, name: &str) -> Option<Json<'a>> {
    event.member(name).filter(|value| value.kind() != JsonKind::Null)
}

/// What a string says; any other value, and a string that is not Unicode, as it is spelled.
fn string(value: Json<'_>) -> String {
    let text = value.as_text().and_then(|text| text.to_str().map(|text| text.into_owned()));
    text.unwrap_or_else(|| short(value))
}

fn short(value: Json<'_>) -> String {
    beginning(value.text(), LONGEST)
}

/// Whether a server sends this where nothing else shows the sender.
fn servers(method: &str) -> bool {
    method == "notifications/progress" || usual_sender(method).is_some_and(|side| side.name() == "server")
}

#[cfg(test)]
pub(crate) mod tests {
    use super::super::model::{Diagram, Flag, Row, RowContent};
    use super::SHOWN;

    pub(crate) const MEANING: &str = r#"{"events": [
        {"kind": "request", "id": "0", "method": "roots/list"},
        {"kind": "tool_call", "id": "call-1", "tool": "Cal\u0063ulator", "arguments": {"a": 9007199254740993}},
        {"kind": "result", "id": "call-1", "answers": 1, "result": {"sum": 1e400}},
        {"kind": "error", "id": "9", "answers": null, "error": {"code": 1}}
    ], "authorization_discovery": null}"#;

    #[test]
    fn lines_of_events_are_the_same_picture_and_other_text_is_none() {
        let lines = MEANING.lines().map(|line| line.trim()).collect::<Vec<_>>().join("\n");
        let body = &lines[lines.find('\n').unwrap()..];
        assert_eq!(Diagram::of_meaning("x", body, None), Diagram::of_meaning("x", MEANING, None));
        let nothing = "{\"authorization_discovery\": null}";
        for none in ["", "a rejection (invalid-id)\n", nothing, "[]", "{\"events\": []}"] {
            assert_eq!(Diagram::of_meaning("x", none, None), None, "{none}");
        }
    }

    #[test]
    fn what_is_far_from_the_mark_is_folded() {
        let line = "{\"kind\": \"notification\", \"method\": \"a\"}\n";
        let diagram = Diagram::of_meaning("x", &line.repeat(10_000), Some(5_000)).unwrap();
        assert_eq!(diagram.rows.len(), SHOWN + 2);
        let folded = |row: &Row| if let RowContent::Fold(fold) = &row.content { fold.messages() } else { 0 };
        assert_eq!(folded(&diagram.rows[0]) + folded(&diagram.rows[SHOWN + 1]) + SHOWN as u64, 10_000);
        let marked =
            |row: &&Row| matches!(&row.content, RowContent::Arrow(arrow) if arrow.flags == [Flag::Differs]);
        assert_eq!(diagram.rows.iter().filter(marked).count(), 1);
        let end = Diagram::of_meaning("x", &line.repeat(30), Some(29)).unwrap();
        assert!(folded(&end.rows[0]) > 0 && end.rows.len() == SHOWN + 1);
    }
}
