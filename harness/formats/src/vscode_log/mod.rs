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

mod read;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    caveat: "the times of VS Code's log have no zone and are taken for UTC",
    ..Format::new(
        ["vscode-log", "vscode.log", "VS Code's log of a server, with times and directions"],
        sniff,
        read::read,
        Spelling::ReadOnly,
    )
};

fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| read::stamped(line).is_some())
}
