//! mcp-replay traces: what their recorder must keep to, by the later text of version 1.

use super::replay_frame::{Frame, is_moment};
use crate::engine::{Family, Report, RuleContext, RuleVisitor, Trigger, Violation, shown};
use crate::rule::{Level, Rule};
use crate::rule_text::{named, read_rules, rules_in};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind, members_around};
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "replay",
    title: "mcp-replay traces",
    rules: &RULES,
    triggers: &[Trigger::Recordings(|recording| recording.trace)],
    visitor: || Box::new(ReplayState::default()),
};

const TEXT: &str = include_str!("replay.toml");
static RULES: [Rule; rules_in(TEXT)] = read_rules(TEXT);

pub(super) const META_FIRST: &Rule = named(&RULES, "rec.replay.meta-first");
const META: &Rule = named(&RULES, "rec.replay.meta");
pub(super) const VERSION: &Rule = named(&RULES, "rec.replay.forward-compat");
pub(super) const LINE: &Rule = named(&RULES, "rec.replay.line");
const TIME: &Rule = named(&RULES, "rec.replay.time");
const NOISE: &Rule = named(&RULES, "rec.replay.raw");
pub(super) const END_LAST: &Rule = named(&RULES, "rec.replay.end-last");
const END: &Rule = named(&RULES, "rec.replay.end");
const EXIT: &Rule = named(&RULES, "rec.replay.exit");
const DURATION: &Rule = named(&RULES, "rec.replay.duration");
const MONOTONIC: &Rule = named(&RULES, "rec.replay.monotonic-per-dir");
const AFTER_START: &Rule = named(&RULES, "rec.replay.after-start");
const BEFORE_END: &Rule = named(&RULES, "rec.replay.before-end");
const FIRST_TEXT: &Rule = named(&RULES, "rec.replay.first-text");

/// So far may `durationMs` be from the times: a recorder reads the clock twice.
const SLACK: i64 = 2;

/// The most kinds of things beyond the first text that are reported.
const MOST_SORTS: usize = 32;

/// The most frames of lines that are remembered.
const MOST_FRAMES: usize = 8;

#[derive(Default)]
struct ReplayState {
    started: Option<i64>,
    last: [Option<i64>; 2],
    ended: bool,
    /// What the first text does not define and was reported already: each once, up to [`MOST_SORTS`].
    later: BTreeSet<String>,
    /// The names of such members of lines.
    members: Vec<Box<str>>,
    /// Those of lines that were looked at and have nothing wrong, up to [`MOST_FRAMES`].
    frames: Vec<Frame>,
}

impl RuleVisitor for ReplayState {
    fn visit(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        if !at.facts.recording.kind.trace {
            return;
        }
        match &at.entry.content {
            Content::TraceStart(meta) => self.open(*meta, at, report),
            Content::TraceEnd(end) => self.close(*end, at, report),
            // The first text tells readers to expect lines of other types.
            Content::Skipped(what) => {
                let additive = what.starts_with("a line of type");
                self.beyond_first(
                    at,
                    report,
                    format!("{what} is defined only in the later text of version 1"),
                    additive,
                );
            }
            Content::Noise(noise) => match noise.why.code {
                Code::MissingMeta => report.fail(META_FIRST, at, noise.why.message.clone()),
                // A line that is not JSON at all is damage, and not the business of this family.
                Code::InvalidJson | Code::Truncated => {}
                _ if at.side.is_none() => report.fail(LINE, at, noise.why.message.clone()),
                _ => {
                    report.pass(LINE, at);
                    // Batches have rules of their own.
                    if noise.why.clause == "RPL-NOISE" && noise.why.code != Code::Batch {
                        report.fail(NOISE, at, noise.why.message.clone());
                    }
                    self.line(at, report);
                }
            },
            Content::Message(_) => {
                report.pass(LINE, at);
                report.pass(NOISE, at);
                self.line(at, report);
            }
            _ => {}
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>, report: &mut Report) {
        if !at.facts.recording.kind.trace {
            return;
        }
        match (self.ended, rejection) {
            (true, None) => report.pass(END_LAST, at),
            (_, Some(_)) => report.inconclusive(END_LAST, at, "the file could not be read to its end"),
            (false, None) => report.fail(END_LAST, at, "the trace stops without an `end` line"),
        }
        if self.later.is_empty() {
            report.pass(FIRST_TEXT, at);
        }
    }
}

impl ReplayState {
    fn open(&mut self, meta: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
        report.pass(META_FIRST, at);
        report.pass(VERSION, at);
        self.started = at.entry.time;
        let member = |name| meta.member(name).filter(|value| value.kind() != JsonKind::Null);
        let command = member("command").is_some_and(|command| {
            command.kind() == JsonKind::Array && command.items().all(|word| word.kind() == JsonKind::String)
        });
        let label = member("label").is_some_and(|label| label.kind() == JsonKind::String);
        let wrong = match member("startedAt") {
            Some(started) if !is_moment(started) => Some(("startedAt", "a moment in UTC milliseconds")),
            _ if !label => Some(("label", "a string")),
            _ if !command => Some(("command", "a list of strings")),
            _ if member("mcpTapVersion").is_some_and(|version| version.kind() != JsonKind::String) => {
                Some(("mcpTapVersion", "a string"))
            }
            _ => None,
        };
        match wrong {
            None => report.pass(META, at),
            Some((name, wanted)) => {
                let value = meta.member(name).unwrap_or(meta);
                let wrong = format!("`{name}` is {}, and not {wanted}", shown(value));
                report.fail(META, at, Violation::new(wrong).inside(value));
            }
        }
        for name in ["kind", "source", "producer"] {
            if meta.member(name).is_some() {
                self.beyond_first(
                    at,
                    report,
                    format!("`{name}` in `meta` is defined only in the later text of version 1"),
                    true,
                );
            }
        }
    }

    fn line(&mut self, at: &RuleContext<'_>, report: &mut Report) {
        let (line, carried) = (at.entry.line.unwrap_or_default(), at.text());
        let read = at.entry.time.is_some();
        if self.frames.iter().any(|frame| frame.fits(line, carried, read)) {
            report.pass(TIME, at);
        } else {
            self.frame(line, carried, at, report);
        }
        let (Some(time), Some(side)) = (at.entry.time, at.side) else { return };
        if let Some(started) = self.started {
            report.check(AFTER_START, at, time >= started, || {
                format!("the message is {} ms older than `startedAt`", started.abs_diff(time))
            });
        }
        let last = &mut self.last[usize::from(side == Side::Server)];
        if let Some(before) = *last {
            report.check(MONOTONIC, at, time >= before, || {
                format!(
                    "the message is {} ms older than the one before it in this direction",
                    before.abs_diff(time)
                )
            });
        }
        *last = Some(last.map_or(time, |before| before.max(time)));
    }

    /// What stands in a line around the message, looked at member by member.
    fn frame(&mut self, line: &str, carried: &str, at: &RuleContext<'_>, report: &mut Report) {
        let mut t = None;
        // The reader took the line for an object already.
        let _whole = members_around(line, carried, |name, value| match name.raw() {
            "t" => t = Some(value),
            "dir" | "raw" => {}
            other => {
                if !self.members.iter().any(|known| **known == *other) {
                    if self.members.len() < MOST_SORTS {
                        self.members.push(other.into());
                    }
                    let message =
                        format!("the member `{other}` is defined only in the later text of version 1");
                    self.beyond_first(at, report, message, true);
                }
            }
        });
        match t {
            Some(t) if is_moment(t) => {
                report.pass(TIME, at);
                if self.frames.len() < MOST_FRAMES {
                    self.frames.extend(Frame::new(line, carried, t));
                }
            }
            Some(t) => report.fail(TIME, at, format!("`t` is {}", shown(t))),
            None => report.fail(TIME, at, "the line has no `t`"),
        }
    }

    fn close(&mut self, end: Json<'_>, at: &RuleContext<'_>, report: &mut Report) {
        if std::mem::replace(&mut self.ended, true) {
            report.fail(END_LAST, at, "a second `end` line");
        }
        if let (Some(ended), Some(last)) = (at.entry.time, self.last.into_iter().flatten().max()) {
            report.check(BEFORE_END, at, last <= ended, || {
                format!("a message is {} ms younger than the end", last.abs_diff(ended))
            });
        }
        let duration = end.member("durationMs").and_then(|value| value.as_number()?.parse::<i64>().ok());
        let wrong = match (end.member("t"), end.member("durationMs")) {
            (None, _) => Some("`end` has no `t`".to_owned()),
            (Some(t), _) if !is_moment(t) => Some(format!("`t` is {}", shown(t))),
            (_, None) => Some("`end` has no `durationMs`".to_owned()),
            (_, Some(value)) if duration.is_none_or(|duration| duration < 0) => {
                Some(format!("`durationMs` is {}", shown(value)))
            }
            _ => None,
        };
        report.check(END, at, wrong.is_none(), || wrong.unwrap_or_default());
        let exit = end.member("exitCode").filter(|code| code.kind() != JsonKind::Null);
        let reason = end.member("reason");
        match (exit, reason) {
            (Some(code), _) => {
                report.check(
                    EXIT,
                    at,
                    code.as_number().is_some_and(|code| code.parse::<i64>().is_ok()),
                    || Violation::new(format!("`exitCode` is {}", shown(code))).inside(code),
                );
            }
            (None, Some(reason)) if reason.kind() == JsonKind::String => {
                report.pass(EXIT, at);
                self.beyond_first(
                    at,
                    report,
                    "an `end` without `exitCode` is defined only in the later text of version 1".to_owned(),
                    false,
                );
            }
            (None, Some(reason)) => {
                let wrong = format!("`reason` is {}", shown(reason));
                report.fail(EXIT, at, Violation::new(wrong).inside(reason));
            }
            (None, None) => report.fail(EXIT, at, "`end` has neither `exitCode` nor `reason`"),
        }
        if let (Some(started), Some(ended), Some(duration)) = (self.started, at.entry.time, duration) {
            let counted = ended.saturating_sub(started);
            report.check(DURATION, at, counted.abs_diff(duration) <= SLACK.unsigned_abs(), || {
                format!("`durationMs` is {duration}, and the times are {counted} ms apart")
            });
        }
    }

    /// Something that the first text of version 1 does not know. What it lets others add breaks nothing, also where a
    /// trace is held to it.
    fn beyond_first(&mut self, at: &RuleContext<'_>, report: &mut Report, message: String, additive: bool) {
        if self.later.len() >= MOST_SORTS || !self.later.insert(message.clone()) {
            return;
        }
        let wrong = Violation::new(message);
        let strict = at.facts.recording.first_text && !additive;
        report.fail(FIRST_TEXT, at, if strict { wrong.only(Level::Must) } else { wrong });
    }
}
