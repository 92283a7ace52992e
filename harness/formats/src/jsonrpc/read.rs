//! Reading JSON-RPC lines.

use crate::Options;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use transcript::json::{Part, parts_of};
use transcript::message::{Message, Refusal};
use transcript::session::{Content, Entry, Noise, Sink};

pub(super) fn read(input: &mut Input<'_>, options: Options, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    match options.apart() {
        true => lines::each::<Messages<true>>(input, |line, parsed| hand(line, &parsed, options, sink)),
        false => lines::each::<Messages<false>>(input, |line, parsed| hand(line, &parsed, options, sink)),
    }
}

fn hand(line: Line<'_>, parsed: &Parsed<'_>, options: Options, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    let content = match parsed {
        Ok((message, parts)) => Content::Message(message.apart(parts)),
        Err(refusal) => {
            let refusal = refusal.clone().on_a_line(line.open_ended);
            if !options.passes(&refusal) {
                return Err(line.refuse(refusal, ""));
            }
            Content::Noise(Noise { why: refusal, text: line.text.into() })
        }
    };
    sink(Entry::new(line.spot(0, ""), content)).map_err(|halt| line.halted(halt, 0, ""))
}

/// A message, and what is inside of it where that is asked for.
type Parsed<'a> = Result<(Message<'a>, Vec<Part>), Refusal>;

struct Messages<const APART: bool>;

impl<const APART: bool> lines::Parse for Messages<APART> {
    type Parsed<'a> = Parsed<'a>;

    fn parse(line: Line<'_>) -> Self::Parsed<'_> {
        let message = Message::parse(line.text)?;
        Ok((message, if APART { parts_of(message.text()) } else { Vec::new() }))
    }
}
