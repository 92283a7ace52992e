//! `marked-text`: lines of text that begin with a mark which says who sent the message behind it: `-->` and `<--`, as the
//! JSON-RPC specification writes its examples, other arrows, and `STDIN:`, `STDOUT:` and `STDERR:`, as goose records its
//! servers. The log of supergateway is one, too: see [`gateway`].
//!
//! What points right, and `STDIN:`, was sent to the server. A program that logs from a server's point of view writes it
//! the other way round, and nothing in the file tells. A line behind `STDERR:` is passed over (RPL-DIR). A line without a
//! mark rejects the file, or is passed over where leniency is asked for: as a message whose direction is not known where
//! it begins as JSON does, and otherwise as noise (RPL-NOISE). A message that goes on over several lines is refused on
//! the first.
//!
//! Cannot carry: times; anything of HTTP or SSE, and so no authorization challenge; the process. goose writes down what
//! passed, byte for byte but for bytes that are not UTF-8.

mod gateway;

use crate::format::{Format, ReadOptions};
use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::lines::Line;
use crate::log::{self, Log, Said};
use crate::writing::Spelling;
use gateway::Gateway;
use transcript::rejection::Code;
use transcript::session::{Side, Sink};

/// The format.
pub(crate) static FORMAT: Format = Format {
    why_not,
    ..Format::new(
        [
            "marked-text",
            "marked.txt",
            "lines with `-->` and `<--`, `>` and `<`, or `STDIN:` and `STDOUT:`, and supergateway's log",
        ],
        |head| sniff(head) || gateway::sniff(head),
        read,
        Spelling::ReadOnly,
    )
};

fn read(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    while input.text().len() < gateway::BEGIN.len() && input.grow()? {}
    let is_gateway = input.text().starts_with(gateway::BEGIN);
    if is_gateway {
        log::read::<Gateway>(input, options, sink)
    } else {
        log::read::<Text>(input, options, sink)
    }
}

/// The first line has a mark, and the first marked message is one of JSON-RPC: arrows stand in many texts.
fn sniff(head: &Head) -> bool {
    head.lines().next().is_some_and(|line| Marked::new(line).is_some()) && has_message(head)
}

fn has_message(head: &Head) -> bool {
    let sent = |line| Marked::new(line).filter(|marked| marked.side.is_some());
    head.lines()
        .find_map(sent)
        .is_some_and(|marked| marked.rest.starts_with('{') && marked.rest.contains("\"jsonrpc\""))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    (has_message(head) && !sniff(head))
        .then_some("its first line has no mark of a direction")
        .or_else(|| gateway::why_not(head))
}

/// The marks, and who sent what stands behind them; none where it was not sent.
const MARKS: [(&str, Option<Side>); 17] = [
    ("-->", Some(Side::Client)),
    ("<--", Some(Side::Server)),
    (">>>", Some(Side::Client)),
    ("<<<", Some(Side::Server)),
    ("->", Some(Side::Client)),
    ("<-", Some(Side::Server)),
    (">>", Some(Side::Client)),
    ("<<", Some(Side::Server)),
    (">", Some(Side::Client)),
    ("<", Some(Side::Server)),
    ("→", Some(Side::Client)),
    ("←", Some(Side::Server)),
    ("›", Some(Side::Client)),
    ("‹", Some(Side::Server)),
    ("STDIN:", Some(Side::Client)),
    ("STDOUT:", Some(Side::Server)),
    ("STDERR:", None),
];

#[derive(Default)]
struct Text;

impl Log for Text {
    const NAME: &'static str = "text with marks";
    const MAY_BE_EMPTY: bool = true;

    fn said(line: Line<'_>) -> Said<'_> {
        let wrong = |code, clause, said| Said::wrong(code, clause, 0, said);
        match Marked::new(line.text) {
            Some(Marked { side: Some(side), rest }) => {
                let at = line.text.len() - rest.len();
                Said::message(line.text, at, (side, None), str::is_empty)
            }
            Some(Marked { side: None, .. }) => Said::Else(None),
            None if line.text.trim_start().starts_with('{') => {
                wrong(Code::MissingDir, "SRV-BYTES", "a message without a mark that says which way it went")
            }
            None if line.open_ended => Said::cut_off(line),
            None => wrong(Code::NotAMessage, "RPL-NOISE", "a line without a mark is not a message"),
        }
    }
}

/// A line that begins with a mark.
#[derive(Clone, Copy)]
struct Marked<'a> {
    side: Option<Side>,
    rest: &'a str,
}

impl<'a> Marked<'a> {
    fn new(line: &'a str) -> Option<Self> {
        const SPACE: [char; 2] = [' ', '\t'];
        let line = line.trim_start_matches(SPACE);
        MARKS.iter().find_map(|(mark, side)| {
            let rest = line.strip_prefix(mark)?;
            // Tags and comparisons begin with one, too.
            let is_one = mark.len() > 1 || rest.starts_with([' ', '\t', '{']);
            is_one.then(|| Self { side: *side, rest: rest.trim_start_matches(SPACE) })
        })
    }
}
