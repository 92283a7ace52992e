//! Reading VS Code's log of a server.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::Line;
use crate::log::{self, Log, Said};
use crate::time;
use transcript::rejection::Code;
use transcript::session::{Side, Sink};

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
    log::read::<VsCode>(input, options, sink)
}

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
pub(super) fn stamped(line: &str) -> Option<usize> {
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
