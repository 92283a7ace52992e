//! `mcporter`: the NDJSON of `mcporter record` (0.12, npm): each message as mcporter's client sent or got it, with
//! `"_meta": {"dir": "send", "server": "bench", "ts": "…"}` put into its outermost object.
//!
//! That `_meta` is the recorder's and is taken off before anybody sees the message. Lines of the dir `lifecycle`, such
//! as `$transport/start`, look like notifications and were never sent: they are passed over, and so is any other dir
//! but `send` and `recv`, as mcporter's own replay does.
//!
//! mcporter writes all servers of a run into one file. Their ids have nothing to do with each other, and a transcript
//! is one session: a file with a second server is refused by both names, with the way to take one out. Several
//! connections to one server are read as the one session of the file, since an attempt at HTTP that was followed by one
//! at SSE looks the same; where they call tools under the same id, COR-DUPLICATE rejects the file.
//!
//! Cannot carry: a member `_meta` of a message's own outermost object, which the recorder overwrites; anything of HTTP
//! or SSE, and so no authorization challenge; the process. A server's name is not carried over from other formats. The
//! recorder itself has put every message through JavaScript's JSON: `9007199254740993` is another number, `1.0` is `1`,
//! `1e400` is `null`, of a member that stood twice the last is there, and what a server printed beside its messages is
//! gone.

use super::cut::{Cut, members};
use super::lines::{self, LineContent, LineRecorder, Parsed, SessionName, Time, Wrong, wrong};
use crate::excerpt::short;
use crate::format::{Capabilities, Format};
use crate::lines::members as line_members;
use crate::time;
use crate::writing::{Spelling, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::{Json, write_compact};
use transcript::message::{Message, Refusal, resembles_message};
use transcript::rejection::Code;
use transcript::session::Side;

/// The format. A message has no `_meta` of its own.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    messages: &[&[]],
    ..Format::new(
        ["mcporter", "mcporter.jsonl", "NDJSON of mcporter, of one server, with times and directions"],
        |head| ["_meta/dir", "_meta/server", "_meta/ts"].iter().all(|name| head.text(name).is_some()),
        lines::read::<Mcporter>,
        Spelling::Lines(|_| Box::new(Mcporter)),
    )
};

const META: &str = "_meta";

struct Mcporter;

impl LineRecorder for Mcporter {
    const LACKS: Option<&'static str> = Some("a line of a recording");

    fn parse(text: &str) -> Result<Parsed<'_>, Wrong> {
        let (mut meta, mut twice) = (None, None);
        line_members(text, "a recording", |key_at, key, scanner| {
            let value = scanner.take()?;
            if key.is(META) && meta.replace((key_at, value)).is_some() {
                twice.get_or_insert(key_at);
            }
            Ok(())
        })?;
        if let Some(at) = twice {
            return Err(Refusal::duplicate(at, META).into());
        }
        let Some((at, meta)) = meta else {
            // The whole line has just been read as one object.
            return Err(match Json::parse(text).is_ok_and(resembles_message) {
                true => {
                    wrong(Code::MissingDir, 0, "a line of a recording says in `_meta.dir` which way it went")
                }
                false => {
                    let said = "this is not a message, and has no `_meta` of the recorder";
                    Refusal::new(Code::NotAMessage, 0, said).under("JRP-LINE")
                }
            }
            .into());
        };
        let mut known = [None; 3];
        for (key, value) in meta.members() {
            let which = ["dir", "server", "ts"].iter().position(|name| key.is(name));
            if which.and_then(|which| known[which].replace(value)).is_some() {
                let said = "a member of the recorder's `_meta` appears twice, and readers differ on which one counts";
                return Err(Refusal::new(Code::AmbiguousMember, at, said).under("SRV-TWICE").into());
            }
        }
        let [dir, server, ts] = known.map(|value: Option<Json<'_>>| value.and_then(Json::as_text));
        let Some(dir) = dir else {
            let said = "the recorder's `_meta` says in `dir`, as text, which way a line went";
            return Err(wrong(Code::MissingDir, at, said).into());
        };
        let time = ts.and_then(|ts| time::parse(&ts.to_str()?)).map(Time::At);
        let session = server.map(|name| SessionName { member: "server", name: name.raw(), at, several });
        let what = match () {
            () if dir.is("send") => without_meta(text, Side::Client),
            () if dir.is("recv") => without_meta(text, Side::Server),
            () => LineContent::Aside(format!("a line of dir \"{}\"", short(dir.raw()))),
        };
        let time = time.filter(|_| !matches!(what, LineContent::Message { .. }));
        Ok(Parsed { what, time, started: None, session })
    }
}

/// The message of a line without what the recorder added, or what is wrong with it.
fn without_meta(text: &str, side: Side) -> LineContent<'_> {
    let (object, at) = (text.trim(), text.len() - text.trim_start().len());
    let cut = Cut::new(object, members(object, |key, _, _| key.is(META)).unwrap_or_default());
    match Message::parse(&cut.text).map(|message| message.shape()) {
        Ok(shape) => LineContent::Bare { side, at, cut, shape },
        Err(refusal) => {
            LineContent::Message { side, pointer: "", at: 0, message: Err((cut.moved(refusal, at), text)) }
        }
    }
}

/// Ids of two servers in one session would be bound to each other.
fn several(_: &str, first: &str, other: &str) -> String {
    format!(
        "lines of two servers, `{first}` and `{other}`, are in this file, and a transcript is one session: keep the \
         lines of one with jq -c 'select(._meta.server == \"{first}\")'"
    )
}

impl WriteLines for Mcporter {
    fn open(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        lifecycle("start", now, out)
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        line.push(b'{');
        for (key, value) in spoken.message.json().members().filter(|(key, _)| !key.is(META)) {
            write!(line, "\"{}\":", key.raw())?;
            write_compact(value, line);
            line.push(b',');
        }
        let dir = if spoken.side == Side::Server { "recv" } else { "send" };
        meta(dir, spoken.now, line)
    }

    fn close(&mut self, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        lifecycle("close", now, out)
    }
}

fn lifecycle(event: &str, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
    write!(out, r#"{{"jsonrpc":"2.0","method":"$transport/{event}","#)?;
    meta("lifecycle", now, out)
}

fn meta(dir: &str, now: i64, out: &mut Vec<u8>) -> io::Result<()> {
    writeln!(out, r#""_meta":{{"dir":"{dir}","server":"converted","ts":"{}"}}}}"#, time::write(now))
}
