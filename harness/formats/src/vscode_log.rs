//! `vscode-log`: the log that VS Code keeps of an MCP server, as its output channel shows it and its log folder has it:
//! `2026-10-05 09:49:21.377 [debug] [editor -> server] {…}`.
//!
//! Both generations write the same text. The first puts messages under the level `debug`; later ones under whichever
//! level is set for the server, which is `info` where the server is run for debugging. The level is not looked at. Lines
//! of anything else (connection states, the server's stderr, text that goes on over several lines) are passed over.
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
//! The text is that of `McpServerRequestHandler` in VS Code's source, and of logs of VS Code 1.107 and 1.138 that people
//! have published.

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::lines::Line;
use crate::log::{self, Log, Said};
use crate::time;
use crate::writing::Spelling;
use transcript::rejection::Code;
use transcript::session::Side;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "the times of VS Code's log have no zone and are taken for UTC",
    ..Format::new(
        ["vscode-log", "vscode.log", "VS Code's log of a server, with times and directions"],
        sniff,
        log::read::<VsCode>,
        Spelling::ReadOnly,
    )
};

fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| stamped(line).is_some())
}

/// How a line says who sent its message.
const MARKS: [(&str, Side); 2] =
    [("[editor -> server] ", Side::Client), ("[server -> editor] ", Side::Server)];

/// What VS Code says of a connection.
const STATE: &str = "Connection state: ";

#[derive(Default)]
struct VsCode;

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
        if let Some((mark, side)) = MARKS.iter().find(|(mark, _)| rest.starts_with(mark)) {
            return Said::message(text, at + mark.len(), (*side, time), str::is_empty);
        }
        let state = rest.strip_prefix(STATE);
        let whole = !line.open_ended
            || state.is_some_and(|state| ["Starting", "Running", "Stopped"].contains(&state));
        if whole { Said::Else(time) } else { Said::cut_off(line) }
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
