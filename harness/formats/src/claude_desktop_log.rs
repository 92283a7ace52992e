//! `claude-desktop-log`: what Claude Desktop logs of its MCP servers, a line a message, in either of its files:
//! `mcp-server-NAME.log` has `2026-03-01T09:39:03.203Z [NAME] [info] Message from client: {…}`, and `mcp.log`, which is one
//! file for all servers, `2026-03-01T09:39:03.203Z [info] [NAME] Message from client: {…}`. Newer versions end each
//! line of the former with ` { metadata: undefined }`.
//!
//! Of other lines only those are read that tell, in the file of one server, that it is started, and who ended the connection. The rest is passed over, as is what the server printed
//! on its standard error, which has no time of its own.
//!
//! `mcp.log` may have messages of several servers, whose ids have nothing to do with each other, and a transcript is one
//! session: such a file is refused by the names of two, with the way to take one out. Either file goes on from one start of
//! a server to the next. `Initializing server...` begins another session, and a message behind it that another run's
//! messages stand before is refused, with the lines to keep, unless every fault is passed over and the log has the end of the run
//! before. Claude Desktop sometimes starts a server twice at once; such runs stand in each other, and nothing tells them apart.
//!
//! Of a long message newer versions keep the first and the last 256 characters, and between them
//! `...[11759 chars truncated]...`. What is left is not what was sent, also where it happens to be JSON: the message is
//! missing, and said to be (HAR-MISSING).
//!
//! Cannot carry: anything of HTTP or SSE, and so no authorization challenge; the process. Claude Desktop itself has put every message through JavaScript's JSON: `9007199254740993` is
//! another number, `1.0` is `1`, `1e400` is `null`, and of a member that stood twice the last is there.
//!
//! A line on the server's standard output that is not JSON is not in the log; the error of JavaScript's JSON about it is, often
//! with its first characters, and is noise of the server's. `Unexpected end of JSON input` may be of an empty line, which says
//! nothing.
//!
//! From logs of 2025 and 2026 that people have published; Claude Desktop's source is not.

use crate::excerpt::short;
use crate::format::{Capabilities, Format, ReadOptions, Tolerance};
use crate::head::Head;
use crate::lines::Line;
use crate::log::{self, Log, Said};
use crate::time;
use crate::writing::Spelling;
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{ServerEnd, Side};

/// The format.
pub(crate) static FORMAT: Format = Format {
    aliases: &["claude-log"],
    message_levels: "Claude Desktop writes messages at info, so none was sent",
    why_not,
    carries: Capabilities { direction: true, times: true, ..Capabilities::MESSAGES },
    ..Format::new(
        [
            "claude-desktop-log",
            "claude-desktop.log",
            "Claude Desktop's log of one server, with times and directions",
        ],
        sniff,
        log::read::<Followed>,
        Spelling::ReadOnly,
    )
};

fn sniff(head: &Head) -> bool {
    let is_told = |line: Stamped<'_>| line.mark().is_some() || line.says(BEGINS) || line.says(STARTED);
    is_stamped(head) && head.lines().filter_map(Stamped::new).any(is_told)
}

fn is_stamped(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| Stamped::new(line).is_some())
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
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

/// How a line says who sent its message, and whose it is.
const MARKS: [(&str, Side, &str); 2] = [
    ("Message from client: ", Side::Client, "a message of the client"),
    ("Message from server: ", Side::Server, "a message of the server"),
];

/// What a line says with which a run of a server begins.
const BEGINS: &str = "Initializing server...";
const STARTED: &str = "Server started and connected successfully";

/// How a line begins that tells of the end of a server. Where the client closed the connection, "unexpectedly" may come behind.
const ENDS: [(&str, ServerEnd); 5] = [
    (CLIENT_CLOSED, ServerEnd::Asked),
    ("Shutting down server...", ServerEnd::Asked),
    ("Server transport closed (intentional shutdown)", ServerEnd::Asked),
    ("Server transport closed unexpectedly", ServerEnd::ByItself(None)),
    ("spawn ", ServerEnd::NotStarted),
];

/// Whose transport closed first tells who ended the connection: the other one closes next, whatever the reason.
const CLIENT_CLOSED: &str = "Client transport closed";
const SERVER_CLOSED: &str = "Server transport closed";

/// What a line ends with in the file of one server.
const METADATA: &str = "{ metadata: undefined }";

/// The server whose messages are read, whether its transport closed and its run ended, the line on which it was started again, and
/// whether the run before had ended there.
#[derive(Default)]
struct Followed {
    server: Option<Box<str>>,
    closed: bool,
    ended: bool,
    again: Option<(u64, bool)>,
}

impl Log for Followed {
    const NAME: &'static str = "Claude Desktop's log";

    fn said(line: Line<'_>) -> Said<'_> {
        let text = line.text;
        let Some(stamped) = Stamped::new(text).or_else(|| Stamped::behind(text)) else {
            return if line.open_ended { Said::cut_off(line) } else { Said::Continued };
        };
        let time = time::parse(stamped.time);
        if let Some((mark, side, whose)) = stamped.mark() {
            let at = stamped.at + mark.len();
            let payload = text[at..].trim_end().trim_end_matches(METADATA).trim_end();
            return match is_shortened(payload) {
                true => Said::Shortened(*side, time, whose),
                false => Said::message(text, at, (*side, time), |rest| rest.trim_end() == METADATA),
            };
        }
        if let Some(error) = stamped.json_error() {
            return Said::Printed(time, error.into());
        }
        let whole = [METADATA, BEGINS, STARTED, " closed"].iter().any(|end| text.ends_with(end));
        let end = ENDS.iter().find(|(words, _)| stamped.says(words));
        match end {
            _ if !whole && line.open_ended => Said::cut_off(line),
            Some((_, end)) => Said::Ended(time, *end),
            None if stamped.says(BEGINS) && stamped.is_own => Said::Started(time),
            None => Said::Else(time),
        }
    }

    fn follow(&mut self, line: Line<'_>, said: &mut Said<'_>, options: ReadOptions) -> Result<(), Refusal> {
        let is_message = matches!(said, Said::Message { .. } | Said::Shortened(..) | Said::Printed(..));
        if !is_message && !matches!(said, Said::Else(_) | Said::Started(_) | Said::Ended(..)) {
            return Ok(());
        }
        let found = Stamped::new(line.text).or_else(|| Stamped::behind(line.text));
        let Some(stamped) = found else { return Ok(()) };
        let is_its_own = self.server.as_deref() == Some(stamped.server);
        let follows = self.closed && stamped.says(CLIENT_CLOSED);
        match said {
            Said::Ended(time, _) if follows || !is_its_own => *said = Said::Else(*time),
            Said::Ended(..) => self.ended = true,
            Said::Else(_) => self.closed |= is_its_own && stamped.says(SERVER_CLOSED),
            _ => {}
        }
        match (&self.server, self.again) {
            (None, _) if is_message => self.server = Some(stamped.server.into()),
            (Some(first), _) if is_message && **first != *stamped.server => {
                return Err(several(first, &stamped));
            }
            (Some(_), Some((_, true))) if options.tolerance == Tolerance::Faults => {}
            (Some(_), Some((again, _))) if is_message => return Err(another_run(again, &stamped)),
            _ => {}
        }
        if is_its_own && stamped.says(BEGINS) {
            self.again = Some((line.number, self.ended || self.closed));
            (self.closed, self.ended) = (false, false);
        }
        Ok(())
    }
}

/// Ids of two servers in one session would be bound to each other.
fn several(first: &str, other: &Stamped<'_>) -> Refusal {
    let (first, second) = (short(first), short(other.server));
    let message = format!(
        "messages of two servers, `{first}` and `{second}`, are in this file, and a transcript is one session: keep \
         the lines of one with grep -F ' [{first}] '"
    );
    Refusal { code: Code::WrongDocument, clause: "EQ-COUNT", at: other.at, message }
}

/// A client counts its ids from 0 in each run.
fn another_run(again: u64, at: &Stamped<'_>) -> Refusal {
    let message = format!(
        "the server was started again on line {again}, and a transcript is one session: keep the lines of one run, with \
         head -n {} or tail -n +{again}",
        again - 1
    );
    Refusal { code: Code::WrongDocument, clause: "EQ-COUNT", at: at.at, message }
}

const STAMP: &str = "0000-00-00T00:00:00.000Z [";

/// The beginning of a line that has a time, a level and the name of a server.
#[derive(Clone, Copy)]
struct Stamped<'a> {
    line: &'a str,
    time: &'a str,
    server: &'a str,
    /// Where the rest begins.
    at: usize,
    /// The file is that of one server.
    is_own: bool,
}

impl<'a> Stamped<'a> {
    /// The level stands before the name in the file of all servers, and behind it in that of one.
    fn new(line: &'a str) -> Option<Self> {
        Self::at(line, 0)
    }

    /// A message that stands behind what a server printed without an end of line.
    fn behind(line: &'a str) -> Option<Self> {
        let zones = memchr::memmem::find_iter(line.as_bytes(), "Z [");
        let mut stamped =
            zones.filter_map(|zone| Self::at(line, (zone + "Z [".len()).checked_sub(STAMP.len())?));
        stamped.find(|stamped| stamped.mark().is_some())
    }

    fn at(line: &'a str, from: usize) -> Option<Self> {
        let text = line.get(from..).filter(|text| log::begins(text, STAMP))?;
        let (time, rest) = (&text[..STAMP.len() - " [".len()], &text[STAMP.len()..]);
        let in_all =
            LEVELS.iter().find_map(|level| rest.strip_prefix(level)?.strip_prefix("] [")?.split_once("] "));
        let in_own = || {
            let (server, rest) = rest.split_once("] [")?;
            let level = LEVELS.iter().find(|level| rest.starts_with(**level))?;
            Some((server, rest[level.len()..].strip_prefix("] ")?))
        };
        let in_error =
            || rest.strip_prefix("error] Error in MCP connection to server ")?.split_once(": SyntaxError: ");
        let is_own = in_all.is_none();
        let (server, rest) = in_all.or_else(in_own).or_else(in_error)?;
        Some(Self { line, time, server, at: line.len() - rest.len(), is_own })
    }

    /// Whether the rest begins with these words.
    fn says(self, words: &str) -> bool {
        self.line[self.at..].starts_with(words)
    }

    /// What JavaScript said of a line that is not JSON.
    fn json_error(self) -> Option<&'a str> {
        let said = self.line[self.at..].trim_start_matches("SyntaxError: ");
        let ends = [" is not valid JSON", " in JSON at position ", " after JSON at position "];
        let end = ends.iter().filter_map(|end| Some(said.find(end)? + end.len())).min()?;
        let is_one = [
            "\"[object ",
            "Unexpected ",
            "Expected ",
            "Bad ",
            "Unterminated ",
            "No number ",
            "Exponent part ",
        ];
        if !is_one.iter().any(|begin| said.starts_with(begin)) {
            return None;
        }
        let digits = said[end..].bytes().take_while(u8::is_ascii_digit).count();
        Some(&said[..end + digits])
    }

    /// How it says that a message follows, and whose.
    fn mark(self) -> Option<&'static (&'static str, Side, &'static str)> {
        MARKS.iter().find(|(mark, ..)| self.says(mark))
    }
}

const LEVELS: [&str; 6] = ["error", "warn", "info", "verbose", "debug", "silly"];

/// Whether a message has lost its middle: there the log says how much, and has as many characters before it as behind it.
/// They are counted as JavaScript does.
fn is_shortened(text: &str) -> bool {
    const END: &str = " chars truncated]...";
    memchr::memmem::find_iter(text.as_bytes(), END).any(|at| {
        let front = text[..at].trim_end_matches(|c: char| c.is_ascii_digit()).strip_suffix("...[");
        let length = |part: &str| part.encode_utf16().count();
        front.is_some_and(|front| length(front) == length(&text[at + END.len()..]))
    })
}
