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

mod read;
mod write;

use crate::format::{Capabilities, Format};
use crate::head::Head;
use crate::writing::Spelling;

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    messages: &[&[]],
    ..Format::new(
        ["mcporter", "mcporter.jsonl", "NDJSON of mcporter, of one server, with times and directions"],
        sniff,
        read::read,
        Spelling::Lines(write::lines),
    )
};

/// The first line of a recording is the start of a transport.
fn sniff(head: &Head) -> bool {
    head.has("_meta") && head.text("method").is_some_and(|method| method.starts_with("$transport/"))
}
