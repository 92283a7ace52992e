//! Reading the NDJSON of mcporter.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use crate::time;
use transcript::json::{Json, JsonString, MemberIndex};
use transcript::message::{Message, Refusal, Shape, resembles_message};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, Sink, SinkError};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut server: Option<String> = None;
    let mut empty = true;
    lines::each::<Lines>(input, |line, parts, _| {
        empty = false;
        let parts = match parts {
            Ok(parts) => parts,
            Err(refusal) => {
                let refusal = refusal.on_a_line(line.open_ended);
                return line.fault(
                    (refusal, ""),
                    line.text,
                    line.entry(0, "", Content::Empty),
                    options,
                    sink,
                );
            }
        };
        if let Some(name) = parts.server {
            let name = name.raw();
            match &server {
                None => server = Some(name.to_owned()),
                Some(first) if first == name => {}
                Some(first) => return Err(line.refuse(several(first, name, parts.meta_at), "")),
            }
        }
        match parts.said {
            Said::Message(side, Ok(said)) => {
                let entry = Entry {
                    time: parts.time,
                    side: Some(side),
                    line: Some(line.text),
                    ..Entry::new(
                        line.location(said.at, ""),
                        Content::Message(Message::of(&said.text, said.shape)),
                    )
                };
                sink(entry).map_err(|error| match error {
                    SinkError::Rejected(refusal) => line.refuse(said.cut.moved(said.at, refusal), ""),
                    SinkError::Stop => ReadError::Stopped,
                })
            }
            Said::Message(side, Err(refusal)) => {
                let entry = Entry { side: Some(side), ..line.entry(0, "", Content::Empty) };
                line.fault((refusal, ""), line.text, entry, options, sink)
            }
            Said::Aside(dir) => {
                let content = Content::Skipped(format!("a line of dir \"{}\"", short(dir.raw())).into());
                line.give(
                    Entry { time: parts.time, line: Some(line.text), ..line.entry(0, "", content) },
                    sink,
                )
            }
        }
    })?;
    match empty {
        true => Err(input.truncated("a line of a recording")),
        false => Ok(()),
    }
}

/// Ids of two servers in one session would be bound to each other.
fn several(first: &str, other: &str, at: usize) -> Refusal {
    let (first, other) = (short(first), short(other));
    let message = format!(
        "lines of two servers, `{first}` and `{other}`, are in this file, and a transcript is one session: keep the \
         lines of one with jq -c 'select(._meta.server == \"{first}\")'"
    );
    Refusal { code: Code::WrongDocument, clause: "EQ-COUNT", at, message }
}

fn short(text: &str) -> String {
    text.chars().take(40).collect()
}

struct Lines;

impl lines::Parse for Lines {
    type Parsed<'a> = Result<Parts<'a>, Refusal>;

    fn parse<'a>(line: Line<'a>, _index: &mut Vec<MemberIndex>) -> Self::Parsed<'a> {
        Parts::of(line.text)
    }
}

/// A line, taken apart.
struct Parts<'a> {
    said: Said<'a>,
    server: Option<JsonString<'a>>,
    time: Option<i64>,
    /// Where `_meta` stands.
    meta_at: usize,
}

/// What a line holds.
enum Said<'a> {
    Message(Side, Result<Alone, Refusal>),
    /// Nothing that was sent; the dir.
    Aside(JsonString<'a>),
}

/// A message without what the recorder added.
struct Alone {
    text: String,
    shape: Shape,
    /// Where it begins in the line.
    at: usize,
    cut: Cut,
}

impl<'a> Parts<'a> {
    fn of(text: &'a str) -> Result<Self, Refusal> {
        let Some((cut, meta)) = Cut::of(text)? else {
            // The whole line has just been read as one object.
            let message = Json::parse(text).is_ok_and(resembles_message);
            return Err(match message {
                true => Refusal::new(
                    Code::MissingDir,
                    0,
                    "a line of a recording says in `_meta.dir` which way it went",
                )
                .under("SRV-BYTES"),
                false => Refusal::new(
                    Code::NotAMessage,
                    0,
                    "this is not a message, and has no `_meta` of the recorder",
                )
                .under("JRP-LINE"),
            });
        };
        let at = cut.key_at;
        let Meta { dir, server, time } = Meta::of(meta, at)?;
        let Some(dir) = dir else {
            let said = "the recorder's `_meta` says in `dir`, as text, which way a line went";
            return Err(Refusal::new(Code::MissingDir, at, said).under("SRV-BYTES"));
        };
        let side = match () {
            () if dir.is("send") => Some(Side::Client),
            () if dir.is("recv") => Some(Side::Server),
            () => None,
        };
        let said = match side {
            Some(side) => Said::Message(side, cut.message(text)),
            None => Said::Aside(dir),
        };
        Ok(Self { said, server, time, meta_at: at })
    }
}

/// What the recorder says of a line.
struct Meta<'a> {
    dir: Option<JsonString<'a>>,
    server: Option<JsonString<'a>>,
    time: Option<i64>,
}

impl<'a> Meta<'a> {
    fn of(value: Json<'a>, at: usize) -> Result<Self, Refusal> {
        let mut members: [Option<Json<'a>>; 3] = [None; 3];
        for (key, value) in value.members() {
            let which = ["dir", "server", "ts"].iter().position(|name| key.is(name));
            let before = which.and_then(|which| members[which].replace(value));
            if before.is_some() {
                let said = "a member of the recorder's `_meta` appears twice, and readers differ on which one counts";
                return Err(Refusal::new(Code::AmbiguousMember, at, said).under("SRV-TWICE"));
            }
        }
        let [dir, server, ts] = members.map(|member| member.and_then(Json::as_text));
        Ok(Self { dir, server, time: ts.and_then(|ts| time::parse(&ts.to_str()?)) })
    }
}

/// What is cut out of a line so that the message is left: a member, with one of the commas beside it.
#[derive(Clone, Copy)]
struct Cut {
    key_at: usize,
    from: usize,
    to: usize,
}

impl Cut {
    /// Where `_meta` stands in a line that must be an object, and what it is.
    fn of(text: &str) -> Result<Option<(Self, Json<'_>)>, Refusal> {
        let mut found: Option<(Self, Json<'_>)> = None;
        let (mut before, mut twice, mut hangs) = (None, None, false);
        lines::members(text, "a recording", |key_at, key, scanner| {
            if std::mem::take(&mut hangs)
                && let Some((cut, _)) = &mut found
            {
                // It was the first member, so that the comma behind it goes.
                cut.to = key_at;
            }
            let value = scanner.take()?;
            let to = scanner.at();
            if key.is("_meta") {
                hangs = before.is_none();
                if found.replace((Self { key_at, from: before.unwrap_or(key_at), to }, value)).is_some() {
                    twice.get_or_insert(key_at);
                }
            }
            before = Some(to);
            Ok(())
        })?;
        match twice {
            Some(at) => Err(Refusal::duplicate(at, "_meta")),
            None => Ok(found),
        }
    }

    fn message(self, text: &str) -> Result<Alone, Refusal> {
        let start = text.len() - text.trim_start().len();
        let alone = [&text[start..self.from], &text[self.to..]].concat();
        match Message::parse(&alone) {
            Ok(message) => {
                let shape = message.shape();
                let length = message.text().len();
                let mut text = alone;
                text.truncate(length);
                Ok(Alone { text, shape, at: start, cut: self })
            }
            Err(refusal) => Err(self.moved(start, refusal)),
        }
    }

    /// A refusal of the message with its place in the line, whose beginning the message has at `start`.
    fn moved(self, start: usize, refusal: Refusal) -> Refusal {
        let at = start + refusal.at;
        Refusal { at: if at < self.from { at } else { at + self.to - self.from }, ..refusal }
    }
}
