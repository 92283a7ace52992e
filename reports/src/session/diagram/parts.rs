//! The words of a message and of a finding, in pieces that every renderer styles in its own way.

use super::canvas::{Part, part};
use super::line_text::{fit, took, width, wrap};
use super::model::{Annotation, Arrow, DETAIL, is_answer};
use crate::plain::cut;
use transcript::meaning::EventKind;

/// The words on an arrow, in this many columns: what it is first, then what is odd about it, then what it says.
pub(super) fn parts(arrow: &Arrow, columns: usize) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut left = columns;
    let mut add = |class: &'static str, text: &str, most: usize| {
        if left >= 4 && !text.is_empty() {
            let text = fit(text, left.min(most));
            left = left.saturating_sub(width(&text) + 1);
            parts.push(part(class, text));
        }
    };
    let most = (columns / 3).max(12);
    let named = !arrow.name.is_empty();
    match arrow.kind {
        EventKind::ToolCall => add("f", "call", most),
        EventKind::Result => add("f", if named { "result of" } else { "result" }, most),
        EventKind::Error => add("bad", if named { "error from" } else { "error" }, most),
        EventKind::Request | EventKind::Notification => {}
    }
    if named {
        add("b", &arrow.name, columns / 2);
    } else if !is_answer(arrow.kind) {
        add("b", "(no name)", columns / 2);
    }
    if let Some(id) = &arrow.id {
        add("f", &format!("id {id}"), most);
    }
    for flag in &arrow.flags {
        add(flag.severity().class(), &format!("{} {}", flag.severity().sign(), flag.name()), columns);
    }
    if let Some(time) = arrow.took {
        add("f", &took(time), most);
    }
    add("f", &arrow.via, most);
    add("f", &arrow.detail, columns);
    parts
}

/// The words of what was found, in lines of this many columns.
pub(super) fn found(annotation: &Annotation, columns: usize) -> Vec<Vec<Part>> {
    let head = format!(
        "{} {} {}",
        annotation.severity.sign(),
        annotation.severity.name(),
        fit(&annotation.name, columns / 2)
    );
    let room = columns.saturating_sub(width(&head) + 1);
    let text = cut(&annotation.text, DETAIL);
    let class = annotation.severity.class();
    if width(&text) <= room {
        return vec![vec![part(class, head), part("f", text)]];
    }
    // As many words as the first line has room for, and the rest below it.
    let fits = |end: &usize| width(&text[..*end]) <= room;
    let end = text.match_indices(' ').map(|(at, _)| at).take_while(fits).last().unwrap_or_default();
    let (first, rest) = text.split_at(end);
    let mut lines = vec![vec![part(class, head), part("f", first)]];
    let below = wrap(rest.trim_start(), columns.saturating_sub(INDENT).max(8), LINES);
    lines.extend(below.into_iter().map(|line| vec![part("f", format!("{:INDENT$}{line}", ""))]));
    lines
}

/// How far the second line of a finding is moved in, and how many lines follow the first.
const INDENT: usize = 4;
const LINES: usize = 3;
