//! Recorders that write a line of JSON for each message.
//!
//! Memory: a line, and the name of the session.

use crate::excerpt::short;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Faulty, Line, Parse};
use std::marker::PhantomData;
use transcript::json::{Json, MemberIndex};
use transcript::message::{Message, Refusal, Shape};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, Sink, SinkError};

use super::cut::Cut;

/// A recorder whose lines are taken apart one by one.
pub(super) trait LineRecorder {
    /// What a file without any line lacks; none where that is a recording of nothing.
    const LACKS: Option<&'static str> = None;

    /// Takes a line apart.
    fn parse(text: &str) -> Result<Parsed<'_>, Wrong>;
}

/// What is wrong with a line, and where in its value.
pub(super) struct Wrong(pub(super) Refusal, pub(super) &'static str);

impl From<Refusal> for Wrong {
    fn from(refusal: Refusal) -> Self {
        Self(refusal, "")
    }
}

/// What is wrong with a line as a whole, or with what is at a byte of it.
pub(super) fn wrong(code: Code, at: usize, message: &str) -> Refusal {
    Refusal::new(code, at, message).under("SRV-BYTES")
}

/// A line, taken apart.
pub(super) struct Parsed<'a> {
    pub(super) what: LineContent<'a>,
    pub(super) time: Option<Time>,
    /// From when on times are counted behind it, in milliseconds.
    pub(super) started: Option<i64>,
    pub(super) session: Option<SessionName<'a>>,
}

/// What a line holds.
pub(super) enum LineContent<'a> {
    /// A message, or what is in its place, from a byte of the line on.
    Message { side: Side, pointer: &'static str, at: usize, message: Result<Message<'a>, (Refusal, &'a str)> },
    /// A message that the recorder had added something to, which begins at a byte of the line.
    Bare { side: Side, at: usize, cut: Cut, shape: Shape },
    /// Nothing that was sent: what.
    Aside(String),
}

/// When something was sent, in milliseconds.
#[derive(Clone, Copy)]
pub(super) enum Time {
    /// Since 1970.
    At(i64),
    /// Since whatever moment the recorder counts from.
    After(i64),
}

impl Time {
    fn since(self, started: i64) -> i64 {
        match self {
            Self::At(time) => time,
            Self::After(passed) => started.saturating_add(passed),
        }
    }
}

/// How a line names its session, whose ids would be bound to those of another one.
pub(super) struct SessionName<'a> {
    pub(super) member: &'static str,
    pub(super) name: &'a str,
    pub(super) at: usize,
    /// Says that there are two: by the member, and the names of both.
    pub(super) several: fn(&str, &str, &str) -> String,
}

/// Hands on what the lines hold.
///
/// # Errors
/// Those of the input, what the options do not pass over, a second session, and what the sink returns.
pub(super) fn read<R: LineRecorder>(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let (mut session, mut started, mut lacks) = (None::<String>, 0, R::LACKS);
    lines::each::<Lines<R>>(input, |line, parsed, _| {
        lacks = None;
        let Parsed { what, time, started: starts, session: name } = match parsed {
            Ok(parsed) => parsed,
            Err(Wrong(refusal, pointer)) => {
                let wrong = (refusal.on_a_line(line.open_ended), pointer);
                return line.fault(wrong, line.text, line.entry(0, "", Content::Empty), options, sink);
            }
        };
        if let Some(SessionName { member, name, at, several }) = name {
            let first = session.get_or_insert_with(|| name.to_owned());
            if first != name {
                let message = several(member, &short(first), &short(name));
                return Err(line.refuse(Refusal::new(Code::WrongDocument, at, message).under("EQ-COUNT"), ""));
            }
        }
        started = starts.unwrap_or(started);
        let time = time.map(|time| time.since(started));
        let entry = |side, at, pointer, content| Entry {
            time,
            side,
            line: Some(line.text),
            ..line.entry(at, pointer, content)
        };
        match what {
            LineContent::Aside(what) => line.give(entry(None, 0, "", Content::Skipped(what.into())), sink),
            LineContent::Message { side, pointer, at, message: Ok(message) } => {
                line.give(entry(Some(side), at, pointer, Content::Message(message)), sink)
            }
            LineContent::Message { side, pointer, at, message: Err((refusal, text)) } => {
                let entry = entry(Some(side), at, pointer, Content::Empty);
                line.fault((refusal, pointer), text, entry, options, sink)
            }
            LineContent::Bare { side, at, cut, shape } => {
                let message = Message::new(&cut.text, shape);
                sink(entry(Some(side), at, "", Content::Message(message))).map_err(|error| match error {
                    SinkError::Rejected(refusal) => line.refuse(cut.moved(refusal, at), ""),
                    SinkError::Stop => ReadError::Stopped,
                })
            }
        }
    })?;
    lacks.map_or(Ok(()), |what| Err(input.truncated(what)))
}

struct Lines<R>(PhantomData<R>);

impl<R: LineRecorder> Parse for Lines<R> {
    type Parsed<'a> = Result<Parsed<'a>, Wrong>;

    fn parse<'a>(line: Line<'a>, _index: &mut Vec<MemberIndex>) -> Self::Parsed<'a> {
        R::parse(line.text)
    }
}

/// The members in which a recorder says what.
pub(super) struct Names {
    /// Which way a message went, and what it says there where the client sent it and where the server did.
    pub(super) directions: &'static [(&'static str, &'static [(&'static str, &'static str)])],
    /// The message, with its pointer.
    pub(super) messages: &'static [(&'static str, &'static str)],
    /// When, and from when on that is counted, as `time` reads it.
    pub(super) times: &'static [&'static str],
    pub(super) starts: &'static [&'static str],
    pub(super) time: fn(Json<'_>) -> Option<Time>,
    /// Of which session a line is.
    pub(super) sessions: &'static [&'static str],
    /// What is wrong with a line that has a direction or a message twice.
    pub(super) twice: &'static str,
}

/// The members of a line, where it has them.
#[derive(Default)]
pub(super) struct Members<'a> {
    /// Where the direction is, under which name, and its value.
    pub(super) direction: Option<(usize, &'static str, Json<'a>)>,
    /// The message: its pointer, where it is, and what it is.
    pub(super) message: Option<(&'static str, usize, Result<Message<'a>, Faulty<'a>>)>,
    pub(super) session: Option<(usize, &'static str, Json<'a>)>,
    pub(super) time: Option<Time>,
    pub(super) started: Option<i64>,
}

impl Names {
    /// Who sent a message, by the name and the value of a member.
    pub(super) fn side(&self, member: &str, value: &str) -> Option<Side> {
        let (_, ways) = self.directions.iter().find(|(name, _)| *name == member)?;
        ways.iter().find_map(|(client, server)| match value {
            _ if value == *client => Some(Side::Client),
            _ if value == *server => Some(Side::Server),
            _ => None,
        })
    }

    /// What the recorder writes where this side sent a message.
    pub(super) fn way(&self, side: Side) -> &'static str {
        let way = self.directions.first().and_then(|(_, ways)| ways.first());
        way.map_or("", |(client, server)| if side == Side::Server { server } else { client })
    }

    /// The members of a line.
    ///
    /// # Errors
    /// Where it is not one JSON object, or has a direction or a message twice.
    pub(super) fn members<'a>(&self, text: &'a str) -> Result<Members<'a>, Refusal> {
        let mut found = Members::default();
        let mut twice = None;
        lines::members(text, "a recording", |key_at, key, scanner| {
            let at = scanner.at();
            let before = if let Some((_, pointer)) = self.messages.iter().find(|(name, _)| key.is(name)) {
                found.message.replace((pointer, at, lines::held(text, scanner)?)).is_some()
            } else {
                let value = scanner.take()?;
                if let Some((name, _)) = self.directions.iter().find(|(name, _)| key.is(name)) {
                    found.direction.replace((at, name, value)).is_some()
                } else {
                    if let Some(name) = self.sessions.iter().find(|name| key.is(name)) {
                        found.session = Some((at, name, value));
                    } else if self.times.iter().any(|name| key.is(name)) {
                        found.time = (self.time)(value);
                    } else if self.starts.iter().any(|name| key.is(name)) {
                        found.started = (self.time)(value).map(|time| time.since(0));
                    }
                    false
                }
            };
            if before {
                twice.get_or_insert(key_at);
            }
            Ok(())
        })?;
        match twice {
            Some(at) => Err(Refusal::new(Code::AmbiguousMember, at, self.twice).under("SRV-TWICE")),
            None => Ok(found),
        }
    }
}
