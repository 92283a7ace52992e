//! Reading traces.

use crate::excerpt::short;
use crate::format::{ReadOptions, Tolerance};
use crate::input::{Input, ReadError};
use crate::lines::{self, Faulty, Line};
use crate::made_up;
use crate::time;
use std::borrow::Cow;
use std::ops::Range;
use transcript::json::{Json, JsonString, MemberIndex, Scanner, same_number};
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Noise, Side, Sink};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut trace = Trace { options, stage: Stage::Unopened, timeless: false };
    match options.indexes() {
        true => lines::each::<Lines<true>>(input, |line, parts, index| trace.line(line, parts, index, sink))?,
        false => {
            lines::each::<Lines<false>>(input, |line, parts, index| trace.line(line, parts, index, sink))?
        }
    }
    if trace.stage == Stage::Unopened {
        return Err(input.reject(
            Code::MissingMeta,
            0,
            "the file has no line of a trace; the first must be `meta`",
        ));
    }
    Ok(())
}

struct Lines<const APART: bool>;

impl<const APART: bool> lines::Parse for Lines<APART> {
    type Parsed<'a> = Result<Parts<'a>, Refusal>;

    fn parse<'a>(line: Line<'a>, index: &mut Vec<MemberIndex>) -> Self::Parsed<'a> {
        let parts = Parts::new(line.text, APART.then_some(index))?;
        parts.once(&[Name::Type, Name::Dir])?;
        Ok(parts)
    }
}

struct Trace {
    options: ReadOptions,
    stage: Stage,
    /// A converter made its times up.
    timeless: bool,
}

#[derive(PartialEq, Eq)]
enum Stage {
    Unopened,
    Open,
    Ended,
}

impl Trace {
    fn line(
        &mut self,
        line: Line<'_>,
        parts: Result<Parts<'_>, Refusal>,
        index: &[MemberIndex],
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        let parts = match parts {
            Ok(parts) => parts,
            Err(mut refusal) => {
                // Only the last line of a file can be cut off.
                if refusal.code == Code::Truncated && !line.open_ended {
                    refusal.code = Code::InvalidJson;
                }
                let entry = line.entry(0, "", Content::Empty);
                return line.fault((refusal, ""), line.text, entry, self.options, sink);
            }
        };
        let kind = parts.kind(line)?;
        if kind.is_some_and(|kind| kind.is("meta")) {
            return self.open(line, &parts, sink);
        }
        if self.stage == Stage::Unopened {
            self.headless(line, sink)?;
        }
        let timeless = self.timeless;
        let time = || parts.time().filter(|_| !timeless);
        match (kind, parts.dir.and_then(Json::as_text)) {
            (Some(kind), _) if kind.is("end") => {
                self.stage = Stage::Ended;
                hand(line, time(), Content::TraceEnd(whole(line)?), sink)
            }
            (_, Some(dir)) if dir.is("in") => self.message(line, parts, index, Side::Client, sink),
            (_, Some(dir)) if dir.is("out") => self.message(line, parts, index, Side::Server, sink),
            (Some(kind), _) => hand(line, time(), Content::Skipped(foreign("type", kind)), sink),
            (None, Some(dir)) => hand(line, time(), Content::Skipped(foreign("dir", dir)), sink),
            (None, None) if parts.raw.is_some() => {
                let said = "a line with `raw` must have a string `dir` that says which way it went";
                Err(line.refuse(Refusal::new(Code::MissingDir, 0, said), ""))
            }
            (None, None) => {
                hand(line, time(), Content::Skipped("a line without `type`, `dir` and `raw`".into()), sink)
            }
        }
    }

    /// RPL-META, RPL-VERSION. The version comes first: what another one asks for, nobody knows.
    fn open(&mut self, line: Line<'_>, parts: &Parts<'_>, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        if self.stage != Stage::Unopened {
            let said = "a second `meta` line, and a trace holds one session: split the file there, or leave the line out \
                        where parts of a rotated trace were joined";
            return Err(line.refuse(Refusal::new(Code::SecondMeta, 0, said), ""));
        }
        parts.once(&[Name::Version]).map_err(|refusal| line.refuse(refusal, ""))?;
        if let Some((at, version)) = parts.version
            && !version.as_number().is_some_and(|number| same_number(number, "1"))
        {
            let said = format!("a trace of version {}; only version 1 is read", short(version.text()));
            return Err(line.refuse(Refusal::new(Code::UnsupportedVersion, at, said), "/v"));
        }
        let meta = whole(line)?;
        if let Some(name) =
            ["v", "startedAt", "label", "command"].iter().find(|name| meta.member(name).is_none())
        {
            let said = format!("the `meta` line has no `{name}`");
            return Err(line.refuse(Refusal::new(Code::MissingMeta, 0, said), ""));
        }
        self.stage = Stage::Open;
        self.timeless = made_up::has(meta.member(made_up::MEMBER), made_up::TIMES);
        let started = milliseconds(meta.member("startedAt")).filter(|_| !self.timeless);
        hand(line, started, Content::TraceStart(meta), sink)
    }

    /// A trace that begins with another line lost its head; a lenient reader reports that and goes on.
    fn headless(&mut self, line: Line<'_>, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        let said = "the first line is not a `meta` line: the beginning of the trace is missing";
        if self.options.tolerance == Tolerance::Nothing {
            return Err(line.refuse(Refusal::new(Code::MissingMeta, 0, said), ""));
        }
        self.stage = Stage::Open;
        let noise = Noise { why: Refusal::new(Code::MissingMeta, 0, said), text: Cow::Borrowed("") };
        hand(line, None, Content::Noise(noise), sink)
    }

    fn message(
        &mut self,
        line: Line<'_>,
        parts: Parts<'_>,
        index: &[MemberIndex],
        side: Side,
        sink: &mut Sink<'_>,
    ) -> Result<(), ReadError> {
        parts.once(&[Name::Raw]).map_err(|refusal| line.refuse(refusal, ""))?;
        if self.stage == Stage::Ended {
            let said = "a message follows the `end` line";
            return Err(line.refuse(Refusal::new(Code::AfterEnd, 0, said), ""));
        }
        let time = parts.time().filter(|_| !self.timeless);
        let Some((at, raw)) = parts.raw else {
            let said = "a line with the `dir` of a message has no `raw`";
            return Err(line.refuse(Refusal::new(Code::MissingRaw, 0, said), ""));
        };
        let entry = |content| Entry {
            time,
            side: Some(side),
            line: Some(line.text),
            ..line.entry(at, "/raw", content)
        };
        match raw {
            Ok(message) => {
                let message = message.indexed(index.get(parts.inside).unwrap_or_default());
                line.give(entry(Content::Message(message)), sink)
            }
            Err((refusal, raw)) => {
                line.fault((refusal, "/raw"), raw.text(), entry(Content::Empty), self.options, sink)
            }
        }
    }
}

fn hand(
    line: Line<'_>,
    time: Option<i64>,
    content: Content<'_>,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    line.give(Entry { time, line: Some(line.text), ..line.entry(0, "", content) }, sink)
}

/// The line as the value it is.
fn whole(line: Line<'_>) -> Result<Json<'_>, ReadError> {
    Json::parse(line.text).map_err(|fault| line.refuse(fault.into(), ""))
}

/// Lines of other producers, in words; the usual ones without a new string for each.
fn foreign<'a>(member: &'static str, name: JsonString<'a>) -> Cow<'a, str> {
    match (member, name.raw()) {
        ("type", "turn") => "a line of type \"turn\"".into(),
        ("dir", "event") => "a line of dir \"event\"".into(),
        ("dir", "command") => "a line of dir \"command\"".into(),
        ("dir", "telemetry") => "a line of dir \"telemetry\"".into(),
        (_, other) => format!("a line of {member} \"{}\"", short(other)).into(),
    }
}

fn milliseconds(value: Option<Json<'_>>) -> Option<i64> {
    time::parse(&value?.as_text()?.to_str()?)
}

/// The members that decide what a line is and what it means.
#[derive(Clone, Copy)]
enum Name {
    Version,
    Type,
    Dir,
    Raw,
}

impl Name {
    fn text(self) -> &'static str {
        match self {
            Self::Version => "v",
            Self::Type => "type",
            Self::Dir => "dir",
            Self::Raw => "raw",
        }
    }
}

/// A line, taken apart. What `raw` holds is judged when the whole line is known: `dir` may stand after it, and
/// the `raw` of other producers is theirs.
#[derive(Default)]
struct Parts<'a> {
    version: Option<(usize, Json<'a>)>,
    kind: Option<(usize, Json<'a>)>,
    dir: Option<Json<'a>>,
    raw: Option<(usize, Result<Message<'a>, Faulty<'a>>)>,
    t: Option<Json<'a>>,
    /// Where in the index what is inside of the message stands, where that is asked for.
    inside: Range<usize>,
    twice: [Option<usize>; 4],
}

impl<'a> Parts<'a> {
    fn new(text: &'a str, mut index: Option<&mut Vec<MemberIndex>>) -> Result<Self, Refusal> {
        let mut parts = Self::default();
        lines::members(text, "a trace", |at, key, scanner| {
            parts.member(at, key, text, scanner, index.as_deref_mut())
        })?;
        Ok(parts)
    }

    fn member(
        &mut self,
        key_at: usize,
        key: JsonString<'a>,
        text: &'a str,
        scanner: &mut Scanner<'a>,
        index: Option<&mut Vec<MemberIndex>>,
    ) -> Result<(), Refusal> {
        let at = scanner.at();
        let (name, before) = match &*key.to_str().unwrap_or_default() {
            "raw" => {
                let held = self.held(text, scanner, index)?;
                (Name::Raw, self.raw.replace((at, held)).is_some())
            }
            "dir" => (Name::Dir, self.dir.replace(scanner.take()?).is_some()),
            "type" => (Name::Type, self.kind.replace((at, scanner.take()?)).is_some()),
            "v" => (Name::Version, self.version.replace((at, scanner.take()?)).is_some()),
            "t" => {
                self.t = Some(scanner.take()?);
                return Ok(());
            }
            _ => return Ok(scanner.value()?),
        };
        if before {
            self.twice[name as usize].get_or_insert(key_at);
        }
        Ok(())
    }

    fn held(
        &mut self,
        text: &'a str,
        scanner: &mut Scanner<'a>,
        index: Option<&mut Vec<MemberIndex>>,
    ) -> Result<Result<Message<'a>, Faulty<'a>>, Refusal> {
        let Some(index) = index else { return lines::held(text, scanner) };
        let first = index.len();
        let held = lines::held_by(text, scanner, |text, scanner| Message::scan_indexed(text, scanner, index));
        self.inside = first..index.len();
        held
    }

    /// That none of these members stands twice.
    fn once(&self, names: &[Name]) -> Result<(), Refusal> {
        for &name in names {
            if let Some(at) = self.twice[name as usize] {
                return Err(Refusal::duplicate(at, name.text()));
            }
        }
        Ok(())
    }

    /// The line's type; none in a message line, also where it is written as null.
    fn kind(&self, line: Line<'_>) -> Result<Option<JsonString<'a>>, ReadError> {
        match self.kind {
            Some((at, kind)) if kind.as_text().is_none() && kind.text() != "null" => {
                let said = format!("`type` is a string; this is {}", kind.kind().name());
                Err(line.refuse(Refusal::new(Code::WrongType, at, said), "/type"))
            }
            kind => Ok(kind.and_then(|(_, kind)| kind.as_text())),
        }
    }

    fn time(&self) -> Option<i64> {
        milliseconds(self.t)
    }
}
