//! Reading a text archive, and putting its messages in order.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::recorders::document::{self, wrong};
use std::collections::VecDeque;
use transcript::json::{Json, Scanner};
use transcript::message::{Id, Message};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Location, Side, Sink};

/// The name of the section that a line begins.
pub(super) fn section(line: &str) -> Option<&str> {
    let name = line.trim_end_matches('\r').strip_prefix("-- ")?.strip_suffix(" --")?.trim();
    (!name.is_empty()).then_some(name)
}

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
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
