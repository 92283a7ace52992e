//! Small pictures for the tests of the renderers.

use super::model::{Annotation, Arrow, Diagram, Flag, Fold, Note, Participant, Row, RowContent, Severity};
use transcript::meaning::EventKind;

/// Text that would do harm where it was taken for markup, or reached a terminal.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"x' ]]>&amp;<!-- {{ picture }}{% raw %} \
     \u{202e}\u{2028}\u{2066}\u{61c}\u{1b}[31m\0\u{fffe}\u{ffff}\u{e0041}\r\n\t日本";

/// An arrow between the first participant and another.
pub(crate) fn arrow(number: u64, from: usize, kind: EventKind, name: &str) -> Arrow {
    Arrow { name: name.to_owned(), ..Arrow::new(number, from, 1 - from.min(1), kind) }
}

/// One of everything.
pub(crate) fn diagram() -> Diagram {
    let id = || Some("0".to_owned());
    let at = |time, band, arrow: Arrow| Row { time, band, ..arrow.into() };
    let note = |text: &str, opens| {
        let note = Note { text: text.to_owned(), severity: Severity::Note, opens };
        Row { time: Some(0), ..RowContent::Note(note).into() }
    };
    let annotation = |name: &str, text: &str| {
        vec![Annotation { severity: Severity::Error, name: name.to_owned(), text: text.to_owned() }]
    };
    let fold = Fold { span: Some((3, 14)), requests: 6, answers: 5, notifications: 1, ..Fold::default() };
    let initialize = Arrow {
        id: id(),
        detail: "{\"capabilities\":{}}".to_owned(),
        ..arrow(0, 0, EventKind::Request, "initialize")
    };
    let initialized = Arrow {
        id: id(),
        detail: "{}".to_owned(),
        took: Some(120),
        answers: Some(0),
        via: "SSE id 7".to_owned(),
        ..arrow(1, 1, EventKind::Result, "initialize")
    };
    let call = Arrow {
        id: Some("call-1".to_owned()),
        detail: "{\"message\":\"hello\"}".to_owned(),
        flags: vec![Flag::Unanswered],
        ..arrow(2, 0, EventKind::ToolCall, "echo")
    };
    let orphan = Arrow { flags: vec![Flag::Orphan], ..arrow(15, 1, EventKind::Error, "") };
    let null = annotation("jsonrpc.id.null", "the id is null");
    Diagram {
        title: "a.jsonl".to_owned(),
        about: vec!["jsonrpc".to_owned(), "3 messages".to_owned()],
        participants: ["client", "server"].map(Participant::named).into(),
        rows: vec![
            note("POST /mcp 200", Some(0)),
            at(Some(0), Some(0), initialize),
            at(Some(120), Some(0), initialized),
            Row { annotations: null, ..at(Some(65_000), None, call) },
            RowContent::Fold(fold).into(),
            at(None, None, orphan),
            note("the server ended", None),
        ],
        foot: annotation("rejected: invalid-id", "an id is a string"),
    }
}

/// The same picture with a stranger's text wherever text can be.
pub(crate) fn hostile() -> Diagram {
    let mut diagram = diagram();
    let text = || HOSTILE.to_owned();
    diagram.title = text();
    diagram.about = vec![text(), HOSTILE.repeat(10_000)];
    for participant in &mut diagram.participants {
        (participant.name, participant.about) = (text(), text());
    }
    for row in &mut diagram.rows {
        match &mut row.content {
            RowContent::Arrow(arrow) => {
                (arrow.name, arrow.id, arrow.via) = (text(), Some(text()), text());
                arrow.detail = HOSTILE.repeat(10_000);
            }
            RowContent::Note(note) => note.text = HOSTILE.repeat(10_000),
            RowContent::Fold(_) => {}
        }
    }
    let annotations = diagram.rows.iter_mut().flat_map(|row| &mut row.annotations);
    for annotation in annotations.chain(&mut diagram.foot) {
        (annotation.name, annotation.text) = (text(), HOSTILE.repeat(10_000));
    }
    diagram
}
