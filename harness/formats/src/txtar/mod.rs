//! `txtar`: the conformance files of the Go SDK: a text archive with a section `-- client --` of all that the client says, and a
//! section `-- server --` of all that the server is to say, each JSON after JSON on as many lines as it likes.
//!
//! Which message of the one came between which of the other no file says; the program that runs them does. It sends what the client
//! has to say in order, answers aside, and waits behind each request for the server's next answer; when the server asks, it sends
//! the client's next answer. So is the file read. Where there are more than two such sections, they stand in the order of the
//! session, which is how it is written here, and the Go SDK does not run such a file. Other sections, such as `-- tools --`, and the
//! text ahead of them are passed over. The whole file is read before the first message is handed on.
//!
//! Cannot carry: times; anything of HTTP or SSE, and so no authorization challenge; the process.

mod read;

use crate::format::Format;
use crate::head::Head;
use crate::writing::{Spelling, Spoken, WriteLines};
use std::io::{self, Write as _};
use transcript::json::write_compact;
use transcript::session::Side;

/// The format.
pub(crate) static FORMAT: Format = Format {
    why_not,
    ..Format::new(
        [
            "txtar",
            "go-sdk.txtar",
            "a conformance file of the Go SDK: what the client says, and what the server does",
        ],
        sniff,
        read::read,
        Spelling::Lines(|_| Box::new(Archive { turn: Side::Server })),
    )
};

fn sniff(head: &Head) -> bool {
    head.lines().filter_map(read::section).any(|name| matches!(name, "client" | "server"))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    let has_messages = || head.lines().any(|line| line.contains("\"jsonrpc\""));
    (head.lines().any(|line| read::section(line).is_some()) && !sniff(head) && has_messages())
        .then_some("none of its sections is `client` or `server`")
}

/// A section for each turn, in the order of the session.
struct Archive {
    turn: Side,
}

impl WriteLines for Archive {
    /// An empty section, and one more than two: what follows stands in the order of the session.
    fn open(&mut self, _now: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.write_all(b"-- server --\n-- client --\n-- server --\n")
    }

    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        if spoken.side != self.turn {
            self.turn = spoken.side;
            let server = self.turn == Side::Server;
            line.extend_from_slice(if server { b"-- server --\n" } else { b"-- client --\n" });
        }
        write_compact(spoken.message.json(), line);
        line.push(b'\n');
        Ok(())
    }
}
