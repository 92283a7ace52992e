//! `vscode-log`: the log that VS Code keeps of an MCP server, as its output channel shows it and its log folder has it:
//! `2026-10-05 09:49:21.377 [debug] [editor -> server] {…}`.
//!
//! The first versions wrote `[Client Says]` and `[Server Says]` at the level `info`, later ones `[editor -> server]` and
//! `[server -> editor]` at `debug`, or at the level that is set for the server, which is `info` where it is run for debugging.
//! The level is not looked at. What VS Code failed to parse as a message is noise of the server's, unless it is white space, as
//! an event of SSE without data is. Lines of anything else (the server's stderr, text that goes on over several lines) are passed
//! over, but for those that tell how the server ended.
//!
//! Other programs log with a time and a level, too, as Cursor does: one of the first lines is a message, or what VS Code says
//! of a server.
//!
//! The log has no mark between two runs of a server, and VS Code counts from 1 in each. The file is read as the one
//! session that a transcript is; where a later run calls a tool under an id of an earlier one, COR-DUPLICATE rejects it.
//! A log that VS Code kept under a higher level has no messages, and is read as a session without any. A last line that
//! has no end may have been cut off, and is refused unless it is a whole message or a connection state.
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process; the zone of its times, which
//! are the editor's local time and are taken for UTC. VS Code itself has put every message through JavaScript's JSON:
//! `9007199254740993` is another number, `1.0` is `1`, `1e400` is `null`, and of a member that stood twice the last is
//! there.
//!
//! The text is that of `McpServerRequestHandler` in VS Code's source, and of logs of VS Code 1.99, 1.107 and 1.138 that
//! people have published.

use crate::format::{Capabilities, Format, ReadOptions};
use crate::head::Head;
use crate::lines::Line;
use crate::log::{self, Log, Said};
use crate::time;
use crate::writing::Spelling;
use std::borrow::Cow;
use transcript::json::Json;
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{ServerEnd, Side};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    why_not,
    message_levels: "VS Code writes messages at debug or trace",
    caveat: "the times of VS Code's log have no zone and are taken for UTC",
    ..Format::new(
        ["vscode-log", "vscode.log", "VS Code's log of a server, with times and directions"],
        sniff,
        log::read::<VsCode>,
        Spelling::ReadOnly,
    )
};

fn sniff(head: &Head) -> bool {
    let said = |line: &str| stamped(line).is_some_and(|at| is_known(&line[at..]));
    is_stamped(head) && head.lines().any(said)
}

fn is_stamped(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| stamped(line).is_some())
}

/// Whether this is a message, or what VS Code says of a server.
fn is_known(rest: &str) -> bool {
    let of_it =
        [STATE, FAILED, "Starting server ", "Stopping server ", "[server stderr] ", "Waiting for server to "];
    MARKS.iter().map(|(mark, _)| *mark).chain(of_it).any(|known| rest.starts_with(known))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    (is_stamped(head) && !sniff(head)).then_some(
        "no line of its first 64 KiB is a message or what VS Code says of a server (VS Code writes messages at the levels \
         debug and trace)",
    )
}

/// How a line says who sent its message: the last two as the first versions did.
const MARKS: [(&str, Side); 4] = [
    ("[editor -> server] ", Side::Client),
    ("[server -> editor] ", Side::Server),
    ("[Client Says] ", Side::Client),
    (SAYS, Side::Server),
];

/// How the first versions mark what a server wrote, message or not.
const SAYS: &str = "[Server Says] ";

/// What VS Code says of what is not a message, ahead of it as a string.
const FAILED: &str = "Failed to parse message: ";

/// What VS Code says of a connection.
const STATE: &str = "Connection state: ";

/// Whether a line has said that HTTP refused something: VS Code calls that the end of the server, too, which was none.
#[derive(Default)]
struct VsCode {
    refused: bool,
}

impl Log for VsCode {
    const NAME: &'static str = "VS Code's log";

    fn said(line: Line<'_>) -> Said<'_> {
        let text = line.text;
        let Some(at) = stamped(text) else {
            let marked = MARKS.iter().any(|(mark, _)| text.contains(mark));
            return match () {
                () if line.open_ended => Said::cut_off(line),
                () if marked => {
                    let said = "a message without the time and the level that a line of the log begins with";
                    Said::wrong(Code::NotAMessage, "JRP-LINE", 0, said)
                }
                () => Said::Continued,
            };
        };
        let (rest, time) = (&text[at..], milliseconds(text));
        if let Some(printed) = printed(rest, line.open_ended) {
            return match printed.trim().is_empty() {
                true => Said::Else(time),
                false => Said::Printed(time, printed),
            };
        }
        if let Some((mark, side)) = MARKS.iter().find(|(mark, _)| rest.starts_with(mark)) {
            return Said::message(text, at + mark.len(), (*side, time), str::is_empty);
        }
        let state = rest.strip_prefix(STATE);
        let whole = !line.open_ended
            || state.is_some_and(|state| ["Starting", "Running", "Stopped"].contains(&state));
        match ended(rest) {
            _ if !whole => Said::cut_off(line),
            Some(end) => Said::Ended(time, end),
            None => Said::Else(time),
        }
    }

    fn follow(&mut self, line: Line<'_>, said: &mut Said<'_>, _: ReadOptions) -> Result<(), Refusal> {
        let rest = stamped(line.text).map_or("", |at| &line.text[at..]);
        let status = rest.trim_start_matches(STATE).trim_start_matches("Error ");
        match said {
            Said::Else(_) => self.refused |= log::begins(status, "000 status "),
            Said::Ended(time, ServerEnd::ByItself(None)) if self.refused => *said = Said::Else(*time),
            _ => {}
        }
        Ok(())
    }
}

/// How the server ended, where a line tells. A server that VS Code stops is not said to have exited.
fn ended(rest: &str) -> Option<ServerEnd> {
    let failed = rest.strip_prefix(STATE).and_then(|state| state.strip_prefix("Error "));
    match failed {
        Some(why) if why.starts_with("spawn ") => Some(ServerEnd::NotStarted),
        Some(why) => {
            Some(ServerEnd::ByItself(why.strip_prefix("Process exited with code ")?.trim_end().parse().ok()))
        }
        None if rest.starts_with("Stopping server ") => Some(ServerEnd::Asked),
        None => rest.starts_with("Server exited before responding to ").then_some(ServerEnd::ByItself(None)),
    }
}

/// What a server wrote that is not JSON, as far as a line tells. Where the file ends with it, an object may be cut off.
fn printed(rest: &str, open_ended: bool) -> Option<Cow<'_, str>> {
    match (rest.strip_prefix(FAILED), rest.strip_prefix(SAYS)) {
        (Some(quoted), _) => {
            let text = Json::parse(quoted.trim_end()).ok()?.as_text()?;
            Some(text.to_str().unwrap_or(Cow::Borrowed(quoted)))
        }
        (_, Some(said)) if open_ended && (said.is_empty() || said.starts_with('{')) => None,
        // A list may be a batch, or a line that begins with a level.
        (_, Some(said)) if said.starts_with(['[', '{']) => {
            Json::parse(said.trim_end()).is_err().then(|| said.into())
        }
        (_, Some(said)) => Some(said.into()),
        _ => None,
    }
}

/// Where the text behind the time and the level begins; none where a line has not both.
fn stamped(line: &str) -> Option<usize> {
    const FORM: &str = "0000-00-00 00:00:00.000 [";
    if !log::begins(line, FORM) {
        return None;
    }
    let bytes = line.as_bytes();
    let level = bytes[FORM.len()..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let end = FORM.len() + level;
    bytes[end..].starts_with(b"] ").then_some(end + 2)
}

/// The time of a line that has one.
fn milliseconds(line: &str) -> Option<i64> {
    let (day, hour) = (line.get(..10)?, line.get(11..23)?);
    time::parse(&format!("{day}T{hour}Z"))
}
