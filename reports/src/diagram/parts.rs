//! The words of a message and of a finding, in pieces that every renderer styles in its own way.

use super::canvas::{Part, part};
use super::words::{fit, took, width};
use super::{Arrow, Mark, Sort};

/// The words on an arrow, in so many columns: what it is first, then what is odd about it, then what it says.
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
    match arrow.sort {
        Sort::ToolCall => add("f", "call", most),
        Sort::Result => add("f", if named { "result of" } else { "result" }, most),
        Sort::Error => add("bad", if named { "error from" } else { "error" }, most),
        Sort::Request | Sort::Notification => {}
    }
    if named {
        add("b", &arrow.name, columns / 2);
    } else if !arrow.sort.answers() {
        add("b", "(no name)", columns / 2);
    }
    if let Some(id) = &arrow.id {
        add("f", &format!("id {id}"), most);
    }
    for flag in &arrow.flags {
        add(flag.tone().class(), &format!("{} {}", flag.tone().sign(), flag.name()), columns);
    }
    if let Some(time) = arrow.took {
        add("f", &took(time), most);
    }
    add("f", &arrow.via, most);
    add("f", &arrow.detail, columns);
    parts
}

/// The words of what was found, in so many columns.
pub(super) fn found(mark: &Mark, columns: usize) -> Vec<Part> {
    let head = head(mark, columns);
    let rest = columns.saturating_sub(width(&head) + 1);
    vec![part(mark.tone.class(), head), part("f", fit(&mark.text, rest))]
}

fn head(mark: &Mark, columns: usize) -> String {
    format!("{} {} {}", mark.tone.sign(), mark.tone.name(), fit(&mark.name, columns / 2))
}
