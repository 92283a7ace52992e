//! Small pictures for the tests of the renderers.

use super::model::{Annotation, Arrow, Diagram, Flag, Fold, MessageKind, Note, Participant, Row, Severity};

/// Text that would do harm where it was not told apart from markup, terminals and lines of reading.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"x' ]]>&amp;<!-- {{ picture }}{% raw %} \
     \u{202e}\u{2028}\u{2066}\u{61c}\u{1b}[31m\0\u{fffe}\u{ffff}\u{e0041}\r\n\t日本";

pub(crate) fn arrow(number: u64, from: usize, kind: MessageKind, name: &str) -> Arrow {
    Arrow {
        number,
        from,
        to: 1 - from.min(1),
        kind,
        name: name.to_owned(),
        id: None,
        detail: String::new(),
        time: None,
        took: None,
        answers: None,
        via: String::new(),
        flags: Vec::new(),
        annotations: Vec::new(),
        band: None,
        source: None,
    }
}

/// One of everything.
pub(crate) fn diagram() -> Diagram {
    let id = || Some("0".to_owned());
    let participant = |name: &str| Participant { name: name.to_owned(), about: String::new() };
    let note = |text: &str| Note {
        text: text.to_owned(),
        time: Some(0),
        severity: Severity::Note,
        opens: None,
        band: None,
        annotations: Vec::new(),
        source: None,
    };
    let annotation = |severity, name: &str, text: &str| Annotation {
        severity,
        name: name.to_owned(),
        text: text.to_owned(),
    };
    Diagram {
        title: "a.jsonl".to_owned(),
        about: vec!["jsonrpc".to_owned(), "3 messages".to_owned()],
        participants: vec![participant("client"), participant("server")],
        rows: vec![
            Row::Note(Note { opens: Some(0), ..note("POST /mcp 200") }),
            Row::Arrow(Box::new(Arrow {
                id: id(),
                detail: "{\"capabilities\":{}}".to_owned(),
                time: Some(0),
                band: Some(0),
                ..arrow(0, 0, MessageKind::Request, "initialize")
            })),
            Row::Arrow(Box::new(Arrow {
                id: id(),
                detail: "{}".to_owned(),
                time: Some(120),
                took: Some(120),
                answers: Some(0),
                via: "SSE id 7".to_owned(),
                band: Some(0),
                ..arrow(1, 1, MessageKind::Result, "initialize")
            })),
            Row::Arrow(Box::new(Arrow {
                id: Some("call-1".to_owned()),
                detail: "{\"message\":\"hello\"}".to_owned(),
                time: Some(65_000),
                flags: vec![Flag::Unanswered],
                annotations: vec![annotation(Severity::Error, "jsonrpc.id.null", "the id is null")],
                ..arrow(2, 0, MessageKind::ToolCall, "echo")
            })),
            Row::Fold(Fold {
                span: Some((3, 14)),
                requests: 6,
                answers: 5,
                notifications: 1,
                ..Fold::default()
            }),
            Row::Arrow(Box::new(Arrow { flags: vec![Flag::Orphan], ..arrow(15, 1, MessageKind::Error, "") })),
            Row::Note(note("the server ended")),
        ],
        foot: vec![annotation(Severity::Error, "rejected: invalid-id", "an id is a string")],
    }
}

/// The same picture with a stranger's text wherever text can stand.
pub(crate) fn hostile() -> Diagram {
    let mut diagram = diagram();
    let text = || HOSTILE.to_owned();
    diagram.title = text();
    diagram.about = vec![text(), HOSTILE.repeat(10_000)];
    for participant in &mut diagram.participants {
        (participant.name, participant.about) = (text(), text());
    }
    for annotation in &mut diagram.foot {
        (annotation.name, annotation.text) = (text(), HOSTILE.repeat(10_000));
    }
    for row in &mut diagram.rows {
        match row {
            Row::Arrow(arrow) => {
                (arrow.name, arrow.id, arrow.via) = (text(), Some(text()), text());
                arrow.detail = HOSTILE.repeat(10_000);
                for annotation in &mut arrow.annotations {
                    (annotation.name, annotation.text) = (text(), HOSTILE.repeat(10_000));
                }
            }
            Row::Note(note) => note.text = HOSTILE.repeat(10_000),
            Row::Fold(_) => {}
        }
    }
    diagram
}
