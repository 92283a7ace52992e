//! mcp-replay traces: what their recorder must keep to, by the later text of version 1.

use super::replay_frame::{Frame, is_moment};
use crate::engine::{Family, RuleContext, RuleVisitor, Trigger, Violation, shown};
use crate::rule::{Level, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind, members_around};
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "replay",
    title: "mcp-replay traces",
    rules: &[
        &META_FIRST,
        &META,
        &VERSION,
        &LINE,
        &TIME,
        &NOISE,
        &END_LAST,
        &END,
        &EXIT,
        &DURATION,
        &MONOTONIC,
        &AFTER_START,
        &BEFORE_END,
        &FIRST_TEXT,
    ],
    triggers: &[Trigger::Recordings(|recording| recording.trace)],
    visitor: || Box::new(ReplayState::default()),
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { source: "mcp-replay v1, format", ..Rule::BLANK.recorder() };

pub(super) static META_FIRST: Rule = Rule {
    id: "rec.replay.meta-first",
    title: "The first line is `meta`, and no other line is",
    why: "It gives the version, the server and the time from which all else counts; rotation that cuts it off leaves \
          a file that no reader is bound to take.",
    fix: "Write the `meta` line before anything else, into every part of a rotated trace, and only once where the parts are joined.",
    ..OURS
};

static META: Rule = Rule {
    id: "rec.replay.meta",
    title: "`meta` has a start in UTC milliseconds, a label, and a command of strings",
    why: "Tools show the label, start the command again, and count times from the start.",
    fix: "Write startedAt as 2026-05-12T23:00:00.000Z, label as a string, command as a list of strings.",
    ..OURS
};

pub(super) static VERSION: Rule = Rule {
    id: "rec.replay.forward-compat",
    title: "`v` is 1; later producers only add other lines and other members",
    why: "Readers refuse a version they do not know, and pass over lines and members that they do not know.",
    fix: "Write \"v\": 1, and add members rather than change what there is.",
    ..OURS
};

pub(super) static LINE: Rule = Rule {
    id: "rec.replay.line",
    title: "A line is an object; `raw` comes with a `dir`, and `dir` with a `raw`",
    why: "Without direction it is not clear whose request it was; without `raw` there is no message.",
    fix: "Write t, dir (in or out) and raw on every message line.",
    ..OURS
};

static TIME: Rule = Rule {
    id: "rec.replay.time",
    title: "`t` is a moment in UTC with milliseconds, such as 2026-05-12T23:00:00.100Z",
    why: "Replays keep the pace by it; other spellings are read by some tools and dropped by others.",
    fix: "Write the moment of observation as ISO 8601 in UTC with three decimals.",
    ..OURS
};

static NOISE: Rule = Rule {
    id: "rec.replay.raw",
    title: "`raw` is a JSON-RPC message",
    why: "A recorder may keep what a program printed beside its messages; readers differ on such lines, and the \
          program is at fault rather than the recorder.",
    fix: "Nothing in the recorder; see the rules on what a program may print.",
    ..OURS.info()
};

pub(super) static END_LAST: Rule = Rule {
    id: "rec.replay.end-last",
    title: "The last line is `end`, and no message follows it",
    why: "Without it a session that ended looks like one whose rest was lost.",
    fix: "Write `end` also when the server crashes and when the recorder is asked to stop.",
    ..OURS.should()
};

static END: Rule = Rule {
    id: "rec.replay.end",
    title: "`end` has a time and a `durationMs` that is a whole number of milliseconds",
    why: "The length of a session is read from it.",
    fix: "Write t and durationMs.",
    ..OURS
};

static EXIT: Rule = Rule {
    id: "rec.replay.exit",
    title: "`end` has the server's exit code, or a reason why there is none",
    why: "A crash and a clean end look alike without it.",
    fix: "Write exitCode as an integer, or reason as a string such as \"imported\".",
    ..OURS
};

static DURATION: Rule = Rule {
    id: "rec.replay.duration",
    title: "`durationMs` is the time from `startedAt` to the end, within a clock reading",
    why: "A duration that does not fit its own times shows a clock that jumped or a file put together from two.",
    fix: "Take both times from one clock.",
    ..OURS.should()
};

static MONOTONIC: Rule = Rule {
    id: "rec.replay.monotonic-per-dir",
    title: "Times do not go back within one direction",
    why: "Messages of one direction come through one pipe in order; a time that goes back is the time of something \
          else, such as of writing the log.",
    fix: "Stamp a message when its last byte is read.",
    ..OURS.should()
};

static AFTER_START: Rule = Rule {
    id: "rec.replay.after-start",
    title: "No message is older than the start of its trace",
    why: "A replay would have to wait for a negative time.",
    fix: "Take startedAt before the server is started.",
    ..OURS.should()
};

static BEFORE_END: Rule = Rule {
    id: "rec.replay.before-end",
    title: "No message is younger than the end of its trace",
    why: "A replay is over before its last message comes; the file was put together from two, or a clock jumped.",
    fix: "Write `end` with the moment at which the session ended, read from the clock of the messages.",
    ..OURS.should()
};

static FIRST_TEXT: Rule = Rule {
    id: "rec.replay.first-text",
    source: "mcp-replay v1, first text",
    title: "The trace needs only the first text of version 1",
    why: "Tools written to the first text know no other kinds, directions, turns or reasons, and require an exit code.",
    fix: "Change nothing, unless your readers accept only the first text.",
    ..OURS.info()
};

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
    fn visit(&mut self, at: &RuleContext<'_>) {
        if !at.facts.recording.kind.trace {
            return;
        }
        match &at.entry.content {
            Content::TraceStart(meta) => self.open(*meta, at),
            Content::TraceEnd(end) => self.close(*end, at),
            // The first text tells readers to expect lines of other types.
            Content::Skipped(what) => {
                let additive = what.starts_with("a line of type");
                self.beyond_first(
                    at,
                    format!("{what} is defined only in the later text of version 1"),
                    additive,
                );
            }
            Content::Noise(noise) => match noise.why.code {
                Code::MissingMeta => at.fail(&META_FIRST, noise.why.message.clone()),
                // A line that is not JSON at all is damage, and not the business of this family.
                Code::InvalidJson | Code::Truncated => {}
                _ if at.side.is_none() => at.fail(&LINE, noise.why.message.clone()),
                _ => {
                    at.pass(&LINE);
                    // Batches have rules of their own.
                    if noise.why.clause == "RPL-NOISE" && noise.why.code != Code::Batch {
                        at.fail(&NOISE, noise.why.message.clone());
                    }
                    self.line(at);
                }
            },
            Content::Message(_) => {
                at.pass(&LINE);
                at.pass(&NOISE);
                self.line(at);
            }
            _ => {}
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, rejection: Option<&Rejection>) {
        if !at.facts.recording.kind.trace {
            return;
        }
        match (self.ended, rejection) {
            (true, None) => at.pass(&END_LAST),
            (_, Some(_)) => at.inconclusive(&END_LAST, "the file could not be read to its end"),
            (false, None) => at.fail(&END_LAST, "the trace stops without an `end` line"),
        }
        if self.later.is_empty() {
            at.pass(&FIRST_TEXT);
        }
    }
}

impl ReplayState {
    fn open(&mut self, meta: Json<'_>, at: &RuleContext<'_>) {
        at.pass(&META_FIRST);
        at.pass(&VERSION);
        self.started = at.entry.time;
        let member = |name| meta.member(name).filter(|value| value.kind() != JsonKind::Null);
        let command = member("command").is_some_and(|command| {
            command.kind() == JsonKind::Array && command.items().all(|word| word.kind() == JsonKind::String)
        });
        let label = member("label").is_some_and(|label| label.kind() == JsonKind::String);
        let wrong = match member("startedAt") {
            Some(started) if !is_moment(started) => Some(("startedAt", "a UTC time in milliseconds")),
            _ if !label => Some(("label", "a string")),
            _ if !command => Some(("command", "a list of strings")),
            _ if member("mcpTapVersion").is_some_and(|version| version.kind() != JsonKind::String) => {
                Some(("mcpTapVersion", "a string"))
            }
            _ => None,
        };
        at.without(&META, wrong, |(name, wanted)| {
            let value = meta.member(name).unwrap_or(meta);
            Violation::new(format!("`{name}` is {}, not {wanted}", shown(value))).inside(value)
        });
        for name in ["kind", "source", "producer"] {
            if meta.member(name).is_some() {
                self.beyond_first(
                    at,
                    format!("`{name}` in `meta` is defined only in the later text of version 1"),
                    true,
                );
            }
        }
    }

    fn line(&mut self, at: &RuleContext<'_>) {
        let (line, carried) = (at.entry.line.unwrap_or_default(), at.text());
        let read = at.entry.time.is_some();
        if self.frames.iter().any(|frame| frame.fits(line, carried, read)) {
            at.pass(&TIME);
        } else {
            self.frame(line, carried, at);
        }
        let (Some(time), Some(side)) = (at.entry.time, at.side) else { return };
        if let Some(started) = self.started {
            at.check(&AFTER_START, time >= started, || {
                format!("the message is {} ms older than `startedAt`", started.abs_diff(time))
            });
        }
        let last = &mut self.last[usize::from(side == Side::Server)];
        if let Some(before) = *last {
            at.check(&MONOTONIC, time >= before, || {
                format!(
                    "the message is {} ms older than the one before it in this direction",
                    before.abs_diff(time)
                )
            });
        }
        *last = Some(last.map_or(time, |before| before.max(time)));
    }

    /// What stands in a line around the message, looked at member by member.
    fn frame(&mut self, line: &str, carried: &str, at: &RuleContext<'_>) {
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
                    self.beyond_first(at, message, true);
                }
            }
        });
        match t {
            Some(t) if is_moment(t) => {
                at.pass(&TIME);
                if self.frames.len() < MOST_FRAMES {
                    self.frames.extend(Frame::new(line, carried, t));
                }
            }
            Some(t) => at.fail(&TIME, format!("`t` is {}", shown(t))),
            None => at.fail(&TIME, "the line has no `t`"),
        }
    }

    fn close(&mut self, end: Json<'_>, at: &RuleContext<'_>) {
        if std::mem::replace(&mut self.ended, true) {
            at.fail(&END_LAST, "a second `end` line");
        }
        if let (Some(ended), Some(last)) = (at.entry.time, self.last.into_iter().flatten().max()) {
            at.check(&BEFORE_END, last <= ended, || {
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
        at.without(&END, wrong, |wrong| wrong);
        let exit = end.member("exitCode").filter(|code| code.kind() != JsonKind::Null);
        let reason = end.member("reason");
        match (exit, reason) {
            (Some(code), _) => {
                at.check(&EXIT, code.as_number().is_some_and(|code| code.parse::<i64>().is_ok()), || {
                    Violation::new(format!("`exitCode` is {}", shown(code))).inside(code)
                });
            }
            (None, Some(reason)) if reason.kind() == JsonKind::String => {
                at.pass(&EXIT);
                self.beyond_first(
                    at,
                    "an `end` without `exitCode` is defined only in the later text of version 1".to_owned(),
                    false,
                );
            }
            (None, Some(reason)) => {
                at.fail(&EXIT, Violation::new(format!("`reason` is {}", shown(reason))).inside(reason));
            }
            (None, None) => at.fail(&EXIT, "`end` has neither `exitCode` nor `reason`"),
        }
        if let (Some(started), Some(ended), Some(duration)) = (self.started, at.entry.time, duration) {
            let counted = ended.saturating_sub(started);
            at.check(&DURATION, counted.abs_diff(duration) <= SLACK.unsigned_abs(), || {
                format!("`durationMs` is {duration}, and the times are {counted} ms apart")
            });
        }
    }

    /// Something that the first text of version 1 does not know. What it lets others add breaks nothing, also where a
    /// trace is held to it.
    fn beyond_first(&mut self, at: &RuleContext<'_>, message: String, additive: bool) {
        if self.later.len() >= MOST_SORTS || !self.later.insert(message.clone()) {
            return;
        }
        let wrong = Violation::new(message);
        let strict = at.facts.recording.first_text && !additive;
        at.fail(&FIRST_TEXT, if strict { wrong.only(Level::Must) } else { wrong });
    }
}
