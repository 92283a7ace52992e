//! `mcp-rec`: what `mcp-rec record` (0.1, PyPI) keeps of a server's stdio traffic, a line a message:
//! `{"ts": 1795322377.386, "dir": "client->server", "msg": {…}}`.
//!
//! A line of a server's stdout that is not JSON stands there as `{"_raw": …, "_unparsed": true}`. It is not a message
//! (RPL-NOISE): it rejects the file, or is passed over where leniency is asked for.
//!
//! The recorder appends to its file and marks no beginning, so that two recordings under one name are one file in which
//! nothing tells them apart. It is read as the one session that a transcript is; where the second recording calls a
//! tool under an id of the first, which is nearly always, COR-DUPLICATE rejects it at that line.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the command and how it ended; times finer
//! than a millisecond are not written. The recorder itself has put every message through Python's JSON: of a member
//! that stood twice only the last is there, `-0` is `0`, `1e400` has become `Infinity`, which is not JSON, a line with
//! nothing but `null` is gone, and bytes that were not UTF-8 are U+FFFD.

use super::lines::{self, LineContent, LineRecorder, Members, Names, Parsed, Time, Wrong, wrong};
use crate::format::{Capabilities, Format};
use crate::writing::{HeadedLines, Spelling};
use std::io::Write as _;
use transcript::json::Json;
use transcript::message::Refusal;
use transcript::rejection::Code;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "mcp-rec appends without a mark: two recordings under one name are read as one session",
    messages: &[&["msg"]],
    ..Format::new(
        ["mcp-rec", "mcp-rec.jsonl", "lines of mcp-rec, with times and directions"],
        |head| head.has("msg") && head.text("dir").is_some_and(|dir| NAMES.side("dir", dir).is_some()),
        lines::read::<McpRec>,
        // A line always has a time: the one before where it is not known, and the first that is known before that.
        Spelling::Lines(|_| {
            HeadedLines::boxed(false, "}\n", |spoken, line| {
                let (sign, size) = (if spoken.now < 0 { "-" } else { "" }, spoken.now.unsigned_abs());
                let (seconds, rest, way) = (size / 1000, size % 1000, NAMES.way(spoken.side));
                write!(line, r#"{{"ts": {sign}{seconds}.{rest:03}, "dir": "{way}", "msg": "#)
            })
        }),
    )
};

const NAMES: Names = Names {
    directions: &[("dir", &[("client->server", "server->client")])],
    messages: &[("msg", "/msg")],
    times: &["ts"],
    starts: &[],
    time: seconds,
    sessions: &[],
    twice: "`dir` or `msg` appears twice, and readers differ on which one counts",
};

/// Seconds since the Unix epoch, as Python prints a float.
fn seconds(value: Json<'_>) -> Option<Time> {
    let seconds: f64 = value.as_number()?.parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "a time beyond all years becomes the last there is")]
    Some(Time::At((seconds * 1e3).round() as i64))
}

struct McpRec;

impl LineRecorder for McpRec {
    fn parse(text: &str) -> Result<Parsed<'_>, Wrong> {
        let Members { direction, message, time, .. } = NAMES.members(text)?;
        let ((pointer, at, message), (dir_at, member, dir)) = match (message, direction) {
            (Some(message), Some(direction)) => (message, direction),
            (None, None) => {
                let said = "a line of a recording has `dir` and `msg`; this one has neither";
                return Err(Refusal::new(Code::NotAMessage, 0, said).under("JRP-LINE").into());
            }
            (None, _) => return Err(wrong(Code::MissingRaw, 0, "a line without `msg`").into()),
            (_, None) => return Err(wrong(Code::MissingDir, 0, "a line without `dir`").into()),
        };
        let dir = dir.as_text().and_then(|dir| dir.to_str());
        let Some(side) = dir.and_then(|dir| NAMES.side(member, &dir)) else {
            let said = "`dir` is \"client->server\" or \"server->client\"";
            return Err(Wrong(wrong(Code::MissingDir, dir_at, said), "/dir"));
        };
        let message = message.map_err(|(refusal, value)| (refusal, value.text()));
        let what = LineContent::Message { side, pointer, at, message };
        Ok(Parsed { what, time, started: None, session: None })
    }
}
