//! `claude-desktop-log`: what Claude Desktop logs of its MCP servers, a line a message, in either of its files:
//! `mcp-server-NAME.log` has `2026-03-01T09:39:03.203Z [NAME] [info] Message from client: {…}`, and `mcp.log`, which is one
//! file for all servers, `2026-03-01T09:39:03.203Z [info] [NAME] Message from client: {…}`. Newer versions end each
//! line of the former with ` { metadata: undefined }`.
//!
//! Other lines are passed over: what Claude Desktop says of the connection, and what the server printed on its standard
//! error, which has no time of its own.
//!
//! `mcp.log` may have messages of several servers, whose ids have nothing to do with each other, and a transcript is one
//! session: such a file is refused by the names of two, with the way to take one out. Either file goes on from one start of
//! a server to the next. `Initializing server...` begins another session, and a message behind it that another run's
//! messages stand before is refused, with the lines to keep. Claude Desktop sometimes starts a server twice at once; such
//! runs stand in each other, and nothing tells them apart.
//!
//! Of a long message newer versions keep the first and the last 256 characters, and between them
//! `...[11759 chars truncated]...`. What is left is not what was sent, also where it happens to be JSON: the message is
//! missing, and said to be (HAR-MISSING).
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process. Claude Desktop itself has put every message through JavaScript's JSON: `9007199254740993` is
//! another number, `1.0` is `1`, `1e400` is `null`, and of a member that stood twice the last is there. A line on the
//! server's standard output that is no message is not in the log, but an error that it was none.
//!
//! From logs of 2025 and 2026 that people have published; Claude Desktop's source is not.

mod read;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;
use read::{BEGINS, MARKS, STARTED, Stamped};

/// The format.
pub(crate) static FORMAT: Format = Format {
    aliases: &["claude-log"],
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    ..Format::new(
        [
            "claude-desktop-log",
            "claude-desktop.log",
            "Claude Desktop's log of one server, with times and directions",
        ],
        sniff,
        read::read,
        Spelling::ReadOnly,
    )
};

fn sniff(head: &Head) -> bool {
    let is_told = |line: Stamped<'_>| line.mark().is_some() || line.says(BEGINS) || line.says(STARTED);
    is_stamped(head) && head.lines().filter_map(Stamped::of).any(is_told)
}

fn is_stamped(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| Stamped::of(line).is_some())
}

/// Why a file that looks a little like one of these is none.
pub(crate) fn why_not(head: &Head) -> Option<&'static str> {
    let marked = |line: &str| MARKS.iter().any(|(mark, ..)| line.contains(mark));
    match () {
        () if sniff(head) => None,
        () if is_stamped(head) => Some("no line of its first 64 KiB is a message or the start of a server"),
        () if head.lines().any(marked) => {
            Some("its first line does not begin with a time, a level and the name of a server")
        }
        () => None,
    }
}
