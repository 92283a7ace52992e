//! `directed-jsonl`: lines of JSON in which a member says which way a message went, as many small recorders write them:
//! `{"seq":0,"t":1776658414.952,"dir":"c2s","msg":{…}}`, `{"type":"frame","t":4,"dir":"c2s","frame":{…}}`,
//! `{"ts":"2026-…","direction":"s2c","transport":"stdio","raw":{…}}`.
//!
//! A table below has the names: of the direction and its values, of the message, of the time and of the session.
//! Values that recorders use in both senses, such as `in` and `out` or `request` and `response`, are not in it: what is
//! not certain is not read. A line has one message as JSON; text that holds JSON is none, and rejects the file or is passed
//! over where leniency is asked for (RPL-NOISE), and so is what a server printed. A line of another direction, such as
//! `stderr` or `meta`, is passed over (RPL-DIR), and so is one that has neither, such as a header or a summary.
//!
//! Lines of a second session are refused with the way to take one out. A number for a time is in seconds or milliseconds
//! since 1970 where it is as large as that, and otherwise in milliseconds since the header's `startedAt`, or since whatever
//! moment the recorder counts from.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process. Members beside these are
//! passed over, such as the headers that some recorders keep. A stream that mcp-cassette has as one line of `chunks` is
//! refused. What a recorder has done to numbers and members that occur twice depends on its language.
//!
//! From the sources of mcpsnoop, of the mcp-cassette that is written in TypeScript (its version 1, and 2 over stdio) and of the
//! mcp-recorder that is; none of them is published as a package. And from mcp-vcr (0.2, PyPI), which writes such lines with
//! `--format ndjson` under a header whose `_type` is `meta`.

use super::lines::{
    self, LineContent, LineRecorder, Members, Names, Parsed, SessionName, Time, Wrong, wrong,
};
use crate::excerpt::short;
use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::time;
use crate::writing::{HeadedLines, Spelling};
use std::io::Write as _;
use transcript::json::{Json, JsonString};
use transcript::message::{Refusal, resembles_message};
use transcript::rejection::Code;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, numbering: true, ..Capabilities::MESSAGES },
    messages: &[&["msg"], &["message"], &["frame"], &["raw"], &["payload"], &["body"]],
    redacts: &["<REDACTED", "<PATH>"],
    why_not,
    ..Format::new(
        ["directed-jsonl", "directed.jsonl", "JSON lines of small recorders, with directions"],
        sniff,
        lines::read::<Directed>,
        Spelling::Lines(|_| {
            HeadedLines::boxed(true, "}\n", |spoken, line| {
                let time = spoken.entry.time.map(|time| format!(r#""ts":"{}","#, time::write(time)));
                let way = NAMES.way(spoken.side);
                write!(line, r#"{{{}"dir":"{way}","msg":"#, time.unwrap_or_default())
            })
        }),
    )
};

/// `client->server` under `dir` is another format's.
const NAMES: Names = Names {
    directions: &[
        ("dir", &WAYS),
        ("direction", &[WAYS[0], WAYS[1], WAYS[2], ("client->server", "server->client")]),
    ],
    messages: &[
        ("msg", "/msg"),
        ("message", "/message"),
        ("frame", "/frame"),
        ("raw", "/raw"),
        ("payload", "/payload"),
        ("body", "/body"),
    ],
    times: &["ts", "t", "timestamp", "time"],
    starts: &["startedAt", "started_at", "recorded_at"],
    time: any_time,
    sessions: &["session_id", "sessionId", "session"],
    twice: "a second member says which way the message went, or holds one, and readers differ on which counts",
};
const WAYS: [(&str, &str); 3] =
    [("c2s", "s2c"), ("client_to_server", "server_to_client"), ("client-to-server", "server-to-client")];

fn sniff(head: &Head) -> bool {
    let is_line =
        has_message(head) && directions(head).any(|(name, value)| NAMES.side(name, value).is_some());
    let is_header = head.has("cassetteVersion")
        || head.text("_type") == Some("meta")
        || has_message(head) && head.text("direction") == Some("meta");
    is_line || is_header
}

fn has_message(head: &Head) -> bool {
    NAMES.messages.iter().any(|(name, _)| head.has(name))
}

fn directions(head: &Head) -> impl Iterator<Item = (&str, &str)> {
    NAMES.directions.iter().filter_map(|(name, _)| Some((*name, head.text(name)?)))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    let is_directed = directions(head).next().is_some();
    match () {
        () if !is_directed || sniff(head) => None,
        () if has_message(head) => {
            Some("the direction in its first line does not say for certain who sent what")
        }
        () => Some("its first line has a direction and no message"),
    }
}

/// ISO 8601, or a number of seconds or milliseconds.
fn any_time(value: Json<'_>) -> Option<Time> {
    /// From here on a number counts from the epoch, in seconds: September 2001.
    const SECONDS: f64 = 1e9;
    /// From here on in milliseconds: March 1973, or the year 5138 in seconds.
    const MILLISECONDS: f64 = 1e11;
    if let Some(text) = value.as_text() {
        return time::parse(&text.to_str()?).map(Time::At);
    }
    let number: f64 = value.as_number()?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a time beyond all years becomes the last there is")]
    let whole = |number: f64| number.round() as i64;
    Some(match number.abs() {
        size if size >= MILLISECONDS => Time::At(whole(number)),
        size if size >= SECONDS => Time::At(whole(number * 1e3)),
        _ => Time::After(whole(number)),
    })
}

struct Directed;

impl LineRecorder for Directed {
    fn parse(text: &str) -> Result<Parsed<'_>, Wrong> {
        let Members { direction, message, session, time, started } = NAMES.members(text)?;
        let aside = |what| Ok(Parsed { what: LineContent::Aside(what), time, started, session: None });
        let is_message = match &message {
            Some((.., Ok(_))) => true,
            Some((.., Err((_, value)))) => resembles_message(*value),
            None => false,
        };
        let Some((at, name, value)) = direction else {
            if is_message {
                let said = "a line with a message says in `dir` or `direction` which way it went";
                return Err(wrong(Code::MissingDir, 0, said).into());
            }
            return aside("a line without a direction and a message".to_owned());
        };
        let Some(way) = value.as_text().and_then(JsonString::to_str) else {
            return Err(wrong(Code::MissingDir, at, "the direction of a line is text").into());
        };
        let Some(side) = NAMES.side(name, &way) else {
            return aside(format!("a line of the direction \"{}\"", short(&way)));
        };
        let Some((pointer, at, message)) = message else {
            let said = "no member of the line holds exactly one message";
            return Err(Refusal::new(Code::NotAMessage, 0, said).under("RPL-NOISE").into());
        };
        let message = message.map_err(|(refusal, value)| (refusal, value.text()));
        let what = LineContent::Message { side, pointer, at, message };
        let session =
            session.map(|(at, member, value)| SessionName { member, name: value.text(), at, several });
        Ok(Parsed { what, time, started, session })
    }
}

/// Ids of two sessions would be bound to each other.
fn several(member: &str, first: &str, other: &str) -> String {
    format!(
        "lines of two sessions, {first} and {other}, are in this file, and a transcript is one: keep the lines of one \
         with jq -c 'select(.{member} == {first})'"
    )
}
