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

use crate::format::{Format, ReadOptions};
use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::recorders::document::{self, wrong};
use crate::writing::{Spelling, Spoken, WriteLines};
use std::collections::VecDeque;
use std::io::{self, Write as _};
use transcript::json::{Json, Scanner, write_compact};
use transcript::message::{Id, Message};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Side, Sink};

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
        read,
        Spelling::Lines(|_| Box::new(Archive { turn: Side::Server })),
    )
};

fn sniff(head: &Head) -> bool {
    head.lines().filter_map(section).any(|name| matches!(name, "client" | "server"))
}

/// Why a file that looks a little like one of these is none.
fn why_not(head: &Head) -> Option<&'static str> {
    let has_messages = || head.lines().any(|line| line.contains("\"jsonrpc\""));
    (head.lines().any(|line| section(line).is_some()) && !sniff(head) && has_messages())
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

/// The name of the section that a line begins.
fn section(line: &str) -> Option<&str> {
    let name = line.trim_end_matches('\r').strip_prefix("-- ")?.strip_suffix(" --")?.trim();
    (!name.is_empty()).then_some(name)
}

fn read(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    while input.more()? {}
    let input = &*input;
    // The text between the messages may be any, as long as it is text.
    if let Some(at) = memchr::memchr(b'\0', input.text().as_bytes()) {
        return Err(input.refuse(
            wrong(Code::InvalidJson, "a NUL, which a text archive does not have"),
            at,
            "",
        ));
    }
    let (mut said, mut sections) = (Vec::new(), 0);
    let (mut at, mut line) = (0, input.line());
    while at < input.text().len() {
        let (text, behind) = line_at(input.text(), at);
        let side = match section(text) {
            Some("client") => Some(Side::Client),
            Some("server") => Some(Side::Server),
            _ => None,
        };
        (at, line) = (behind, line + 1);
        if let Some(side) = side {
            sections += 1;
            let end = end_of_section(input.text(), at);
            messages(input, (at, end, line), side, &mut said)?;
            line += memchr::memchr_iter(b'\n', &input.text().as_bytes()[at..end]).count() as u64;
            at = end;
        }
    }
    if sections == 0 {
        return Err(input.refuse(
            wrong(
                Code::Truncated,
                "the file ends where a section `-- client --` or `-- server --` was expected",
            ),
            input.text().len(),
            "",
        ));
    }
    if sections == 2 {
        said = as_run(said);
    }
    said.into_iter().try_for_each(|said| said.give(input, options, sink))
}

/// The line that begins at `at`, and where the next one does.
fn line_at(text: &str, at: usize) -> (&str, usize) {
    match memchr::memchr(b'\n', &text.as_bytes()[at..]) {
        Some(end) => (&text[at..at + end], at + end + 1),
        None => (&text[at..], text.len()),
    }
}

fn end_of_section(text: &str, mut at: usize) -> usize {
    while at < text.len() {
        let (line, behind) = line_at(text, at);
        if section(line).is_some() {
            break;
        }
        at = behind;
    }
    at
}

/// A message, or what stands in its place.
struct Said<'a> {
    side: Side,
    at: usize,
    line: u64,
    json: Json<'a>,
    /// A request asks and has an id; a response answers; a notification does neither.
    asks: bool,
    answers: bool,
}

impl Said<'_> {
    fn give(&self, input: &Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
        let location = Location {
            offset: input.offset() + self.at as u64,
            line: self.line,
            root: "",
            index: None,
            tail: "",
        };
        let content = match Message::parse(self.json.text()) {
            Ok(message) => Content::Message(message),
            Err(why) => {
                document::noise(why, self.json, options).map_err(|why| input.refuse(why, self.at, ""))?
            }
        };
        let entry = Entry { side: Some(self.side), ..Entry::new(location, content) };
        input.give(entry, self.at, sink)
    }
}

/// JSON after JSON, from one place to another; the first is on a line of this number.
fn messages<'a>(
    input: &'a Input<'_>,
    (mut at, end, mut line): (usize, usize, u64),
    side: Side,
    said: &mut Vec<Said<'a>>,
) -> Result<(), ReadError> {
    let text = &input.text()[..end];
    loop {
        let mut scanner = Scanner::starting(text, at);
        scanner.space();
        let start = scanner.at();
        if start == end {
            return Ok(());
        }
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[at..start]).count() as u64;
        if end == input.text().len() && is_half_a_name(&text[start..]) {
            let said = "the file ends where the rest of a section's name was expected";
            return Err(input.refuse(wrong(Code::Truncated, said), end, ""));
        }
        let json = scanner.take().map_err(|mut fault| {
            // Another section follows, so that nothing was cut off.
            fault.ended &= end == input.text().len();
            input.refuse(fault.into(), 0, "")
        })?;
        let message = Message::parse(json.text()).ok();
        let has_method = message.is_some_and(|message| message.method().is_some());
        let has_id = message.is_some_and(|message| !matches!(message.id(), Id::Missing));
        said.push(Said {
            side,
            at: start,
            line,
            json,
            asks: has_method && has_id,
            answers: message.is_some() && !has_method,
        });
        line += memchr::memchr_iter(b'\n', json.text().as_bytes()).count() as u64;
        at = scanner.at();
    }
}

/// Whether the file ends on the line of a section's name, and too early.
fn is_half_a_name(rest: &str) -> bool {
    rest == "-" || rest.starts_with("--") && !rest.contains('\n')
}

/// The messages of a client and a server in the order in which the Go SDK's tests send and await them.
fn as_run(said: Vec<Said<'_>>) -> Vec<Said<'_>> {
    let mut ordered = Vec::with_capacity(said.len());
    let (client, server): (Vec<_>, Vec<_>) = said.into_iter().partition(|said| said.side == Side::Client);
    let (answers, asked): (Vec<_>, Vec<_>) = client.into_iter().partition(|said| said.answers);
    let (mut answers, mut server) = (VecDeque::from(answers), VecDeque::from(server));
    // What the server says up to its next answer, with what the client answers to that.
    let mut await_answer = |ordered: &mut Vec<_>| {
        while let Some(said) = server.pop_front() {
            let (asks, is_answer) = (said.asks, said.answers);
            ordered.push(said);
            ordered.extend(if asks { answers.pop_front() } else { None });
            if is_answer {
                return true;
            }
        }
        false
    };
    for said in asked {
        let asks = said.asks;
        ordered.push(said);
        if asks {
            await_answer(&mut ordered);
        }
    }
    while await_answer(&mut ordered) {}
    ordered.extend(answers);
    ordered
}
