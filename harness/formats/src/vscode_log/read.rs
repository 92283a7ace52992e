//! Reading VS Code's log of a server.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Faulty, Line};
use crate::time;
use transcript::json::Scanner;
use transcript::message::{Message, Refusal};
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, Sink};

/// How a line says who sent its message.
pub(super) const MARKS: [(&str, Side); 2] =
    [("[editor -> server] ", Side::Client), ("[server -> editor] ", Side::Server)];

/// What VS Code says of a connection.
pub(super) const STATE: &str = "Connection state: ";

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let mut begun = false;
    lines::each::<Lines>(input, |line, said| {
        let is_first = !std::mem::replace(&mut begun, true);
        match said {
            Said::Message { side, time, at, message } => {
                let entry = |content| Entry { time, side: Some(side), ..line.entry(at, "", content) };
                match message {
                    Ok(message) => line.give(entry(Content::Message(message)), sink),
                    Err((why, text)) => {
                        let why = why.on_a_line(line.open_ended);
                        line.fault((why, ""), text, entry(Content::Empty), options, sink)
                    }
                }
            }
            Said::Else(time) => {
                let content = Content::Skipped("a line of the log that is not a message".into());
                line.give(Entry { time, ..line.entry(0, "", content) }, sink)
            }
            Said::Continued if is_first => {
                let message = "the file does not begin with a line of VS Code's log".to_owned();
                let code = if line.open_ended { Code::Truncated } else { Code::InvalidJson };
                Err(line.refuse(Refusal { code, clause: "SRV-BYTES", at: 0, message }, ""))
            }
            Said::Continued => {
                let content = Content::Skipped("a line that goes on with the one before".into());
                line.give(line.entry(0, "", content), sink)
            }
            Said::Wrong(why) => {
                line.fault((why, ""), line.text, line.entry(0, "", Content::Empty), options, sink)
            }
        }
    })?;
    match begun {
        true => Ok(()),
        false => Err(input.truncated("a line of VS Code's log")),
    }
}

struct Lines;

impl lines::Parse for Lines {
    type Parsed<'a> = Said<'a>;

    fn parse(line: Line<'_>) -> Said<'_> {
        Said::of(line)
    }
}

/// What a line of the log is.
enum Said<'a> {
    /// A message, or what stands in its place, from byte `at` on.
    Message {
        side: Side,
        time: Option<i64>,
        at: usize,
        message: Result<Message<'a>, (Refusal, &'a str)>,
    },
    /// A line of anything else.
    Else(Option<i64>),
    /// No line of its own.
    Continued,
    Wrong(Refusal),
}

impl<'a> Said<'a> {
    fn of(line: Line<'a>) -> Self {
        let text = line.text;
        let wrong = |code, clause, at, message: &str| {
            Self::Wrong(Refusal { code, clause, at, message: message.to_owned() })
        };
        if let Some(at) = memchr::memchr(0, text.as_bytes()) {
            return wrong(
                Code::InvalidJson,
                "SRV-BYTES",
                at,
                "a NUL character is not allowed in text or in JSON",
            );
        }
        let Some(at) = stamped(text) else {
            let marked = MARKS.iter().any(|(mark, _)| text.contains(mark));
            return match () {
                () if line.open_ended => wrong(Code::Truncated, "SRV-BYTES", text.len(), CUT),
                () if marked => {
                    let said = "a message without the time and the level that a line of the log begins with";
                    wrong(Code::NotAMessage, "JRP-LINE", 0, said)
                }
                () => Self::Continued,
            };
        };
        let (rest, time) = (&text[at..], milliseconds(text));
        let Some((mark, side)) = MARKS.iter().find(|(mark, _)| rest.starts_with(mark)) else {
            let state = rest.strip_prefix(STATE);
            let whole = !line.open_ended
                || state.is_some_and(|state| ["Starting", "Running", "Stopped"].contains(&state));
            return match whole {
                true => Self::Else(time),
                false => wrong(Code::Truncated, "SRV-BYTES", text.len(), CUT),
            };
        };
        let at = at + mark.len();
        Self::Message { side: *side, time, at, message: message(text, at).map_err(|why| (why, &text[at..])) }
    }
}

const CUT: &str = "the last line has no end and may have been cut off; end it if the log is whole";

/// The message from byte `at` of a line on.
fn message(text: &str, at: usize) -> Result<Message<'_>, Refusal> {
    let mut scanner = Scanner::starting(text, at);
    let held = lines::held(text, &mut scanner)?;
    scanner.end()?;
    held.map_err(|(why, _): Faulty<'_>| why)
}

/// Where the text behind the time and the level begins; none where a line has not both.
pub(super) fn stamped(line: &str) -> Option<usize> {
    const FORM: &[u8] = b"0000-00-00 00:00:00.000 [";
    let bytes = line.as_bytes();
    let fits = |(&byte, &form): (&u8, &u8)| if form == b'0' { byte.is_ascii_digit() } else { byte == form };
    if bytes.len() < FORM.len() || !bytes.iter().zip(FORM).all(fits) {
        return None;
    }
    let level = bytes[FORM.len()..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
    let end = FORM.len() + level;
    bytes[end..].starts_with(b"] ").then_some(end + 2)
}

/// The time of a line that has one.
fn milliseconds(line: &str) -> Option<i64> {
    let (day, hour) = (line.get(..10)?, line.get(11..23)?);
    time::parse(&format!("{day}T{hour}Z"))
}
