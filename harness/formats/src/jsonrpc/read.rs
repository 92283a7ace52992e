//! Reading JSON-RPC lines.

use crate::Options;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use transcript::message::{Message, Refusal};
use transcript::session::{Content, Entry, Noise, Sink};

pub(super) fn read(input: &mut Input<'_>, options: Options, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    lines::each::<Messages>(input, |line, parsed| {
        let content = match parsed {
            Ok(message) => Content::Message(message),
            Err(refusal) => {
                let refusal = refusal.on_a_line(line.open_ended);
                if !options.passes(&refusal) {
                    return Err(line.refuse(refusal, ""));
                }
                Content::Noise(Noise { why: refusal, text: line.text.into() })
            }
        };
        sink(Entry::new(line.spot(0, ""), content)).map_err(|halt| line.halted(halt, 0, ""))
    })
}

struct Messages;

impl lines::Parse for Messages {
    type Parsed<'a> = Result<Message<'a>, Refusal>;

    fn parse(line: Line<'_>) -> Self::Parsed<'_> {
        Message::parse(line.text)
    }
}
