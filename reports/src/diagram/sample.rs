//! Small pictures for the tests of the renderers.

use super::{Arrow, Diagram, Flag, Fold, Lane, Mark, Note, Row, Sort, Tone};

/// Text that would do harm where it was not told apart from markup, terminals and lines of reading.
pub(crate) const HOSTILE: &str = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\" onload=\"x' ]]>&amp;<!-- {{ picture }}{% raw %} \
     \u{202e}\u{2028}\u{2066}\u{61c}\u{1b}[31m\0\u{fffe}\u{ffff}\u{e0041}\r\n\t日本";

pub(crate) fn arrow(number: u64, from: usize, sort: Sort, name: &str) -> Arrow {
    Arrow {
        number,
        from,
        to: 1 - from.min(1),
        sort,
        name: name.to_owned(),
        id: None,
        detail: String::new(),
        time: None,
        took: None,
        answers: None,
        via: String::new(),
        flags: Vec::new(),
        marks: Vec::new(),
        band: None,
    }
}

/// One of everything.
pub(crate) fn diagram() -> Diagram {
    let id = || Some("0".to_owned());
    let lane = |name: &str| Lane { name: name.to_owned(), about: String::new() };
    let note = |text: &str| Note {
        text: text.to_owned(),
        time: Some(0),
        tone: Tone::Calm,
        opens: None,
        band: None,
        marks: Vec::new(),
    };
    let mark = |tone, name: &str, text: &str| Mark { tone, name: name.to_owned(), text: text.to_owned() };
    Diagram {
        title: "a.jsonl".to_owned(),
        about: vec!["jsonrpc".to_owned(), "3 messages".to_owned()],
        lanes: vec![lane("client"), lane("server")],
        rows: vec![
            Row::Note(Note { opens: Some(0), ..note("POST /mcp 200") }),
            Row::Arrow(Box::new(Arrow {
                id: id(),
                detail: "{\"capabilities\":{}}".to_owned(),
                time: Some(0),
                band: Some(0),
                ..arrow(0, 0, Sort::Request, "initialize")
            })),
            Row::Arrow(Box::new(Arrow {
                id: id(),
                detail: "{}".to_owned(),
                time: Some(120),
                took: Some(120),
                answers: Some(0),
                via: "SSE id 7".to_owned(),
                band: Some(0),
                ..arrow(1, 1, Sort::Result, "initialize")
            })),
            Row::Arrow(Box::new(Arrow {
                id: Some("call-1".to_owned()),
                detail: "{\"message\":\"hello\"}".to_owned(),
                time: Some(65_000),
                flags: vec![Flag::Unanswered],
                marks: vec![mark(Tone::Bad, "jsonrpc.id.null", "the id is null")],
                ..arrow(2, 0, Sort::ToolCall, "echo")
            })),
            Row::Fold(Fold {
                span: Some((3, 14)),
                requests: 6,
                answers: 5,
                notifications: 1,
                ..Fold::default()
            }),
            Row::Arrow(Box::new(Arrow { flags: vec![Flag::Orphan], ..arrow(15, 1, Sort::Error, "") })),
            Row::Note(note("the server ended")),
        ],
        foot: vec![mark(Tone::Bad, "rejected: invalid-id", "an id is a string")],
    }
}

/// The same picture with a stranger's text wherever text can stand.
pub(crate) fn hostile() -> Diagram {
    let mut diagram = diagram();
    let text = || HOSTILE.to_owned();
    diagram.title = text();
    diagram.about = vec![text(), HOSTILE.repeat(10_000)];
    for lane in &mut diagram.lanes {
        (lane.name, lane.about) = (text(), text());
    }
    for mark in &mut diagram.foot {
        (mark.name, mark.text) = (text(), HOSTILE.repeat(10_000));
    }
    for row in &mut diagram.rows {
        match row {
            Row::Arrow(arrow) => {
                (arrow.name, arrow.id, arrow.via) = (text(), Some(text()), text());
                arrow.detail = HOSTILE.repeat(10_000);
                for mark in &mut arrow.marks {
                    (mark.name, mark.text) = (text(), HOSTILE.repeat(10_000));
                }
            }
            Row::Note(note) => note.text = HOSTILE.repeat(10_000),
            Row::Fold(_) => {}
        }
    }
    diagram
}
