//! The times of a task.

use super::super::replay_frame::is_on_the_calendar;
use super::rules::TIMES;
use crate::engine::{RuleContext, SeenMessage, Violation, shown, string_of};
use crate::rule::Level;
use crate::shapes::Typed;
use transcript::json::{Json, JsonKind};

static TTL: Typed = Typed::new("GetTaskResult", "ttl");

/// Whether a task says when it was made and changed and, asked for, how long it is kept.
pub(super) fn times(task: Json<'_>, asked_for: bool, at: &RuleContext<'_>) {
    // What has nothing of a task is one fault of `jsonrpc.schema.typed`.
    if task.kind() != JsonKind::Object || ["taskId", "status"].iter().all(|name| task.member(name).is_none())
    {
        return;
    }
    let mut wrong = None;
    for name in ["createdAt", "lastUpdatedAt"] {
        match task.member(name) {
            None => wrong = wrong.or(Some((format!("the task has no `{name}`"), task, Level::Must))),
            Some(time) => match string_of(time).map(|text| moment(&text)) {
                Some(Some(true)) => {}
                Some(Some(false)) => {
                    let message = format!("`{name}` has no time, or no time zone: {}", shown(time));
                    wrong = wrong.or(Some((message, time, Level::Should)));
                }
                _ => {
                    let message = format!("`{name}` is not a time: {}", shown(time));
                    wrong = wrong.or(Some((message, time, Level::Must)));
                }
            },
        }
    }
    if asked_for
        && at.message.and_then(SeenMessage::request).is_some_and(|request| request.method() == "tasks/get")
    {
        match task.member("ttl") {
            Some(ttl) if TTL.fault(ttl, at.revision).is_none() => {}
            Some(ttl) => wrong = wrong.or(Some((format!("`ttl` is {}", shown(ttl)), ttl, Level::Must))),
            None => wrong = wrong.or(Some(("the task has no `ttl`".to_owned(), task, Level::Must))),
        }
    }
    at.without(&TIMES, wrong, |(why, place, level)| Violation::new(why).inside(place).only(level));
}

/// Whether a text is a time of ISO 8601 with its zone; false where it is a day or a time without.
pub(crate) fn moment(text: &str) -> Option<bool> {
    let shape = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, shape)| match shape {
                b'0' => byte.is_ascii_digit(),
                other => byte == other,
            })
    };
    let day = text.get(..10).filter(|day| shape(day, "0000-00-00"))?;
    let Some(rest) = text[day.len()..].strip_prefix(['T', 't', ' ']) else {
        return (text[10..].is_empty() && is_on_the_calendar(&format!("{day}T00:00:00"))).then_some(false);
    };
    let Some(time) = rest.get(..8).filter(|time| shape(time, "00:00:00")) else {
        // ISO 8601 has times without seconds, and RFC 3339 has none.
        let time = rest.get(..5).filter(|time| shape(time, "00:00"))?;
        return moment(&format!("{day}T{time}:00{}", &rest[time.len()..])).map(|_| false);
    };
    if !is_on_the_calendar(&format!("{day}T{}", if time == "24:00:00" { "00:00:00" } else { time })) {
        return None;
    }
    let rest = &rest[time.len()..];
    let fraction =
        rest.strip_prefix(['.', ',']).map(|rest| rest.trim_start_matches(|char: char| char.is_ascii_digit()));
    match fraction.unwrap_or(rest) {
        "" => Some(false),
        "Z" | "z" => Some(true),
        zone if zone.starts_with(['+', '-']) => {
            (shape(&zone[1..], "00:00") || shape(&zone[1..], "0000") || shape(&zone[1..], "00"))
                .then_some(true)
        }
        _ => None,
    }
}
