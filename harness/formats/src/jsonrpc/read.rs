//! Reading JSON-RPC lines.

use crate::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use transcript::json::{MemberIndex, member_index};
use transcript::message::{Message, Refusal};
use transcript::session::{Content, Entry, Noise, Sink};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match options.apart() {
        true => lines::each::<Messages<true>>(input, |line, parsed| hand(line, &parsed, options, sink)),
        false => lines::each::<Messages<false>>(input, |line, parsed| hand(line, &parsed, options, sink)),
    }
}

fn hand(
    line: Line<'_>,
    parsed: &Parsed<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    let content = match parsed {
        Ok((message, parts)) => Content::Message(message.indexed(parts)),
        Err(refusal) => {
            let refusal = refusal.clone().on_a_line(line.open_ended);
            if !options.passes(&refusal) {
                return Err(line.refuse(refusal, ""));
            }
            Content::Noise(Noise { why: refusal, text: line.text.into() })
        }
    };
    sink(Entry::new(line.location(0, ""), content)).map_err(|error| line.sink_error(error, 0, ""))
}

/// A message, and what is inside of it where that is asked for.
type Parsed<'a> = Result<(Message<'a>, Vec<MemberIndex>), Refusal>;

struct Messages<const APART: bool>;

impl<const APART: bool> lines::Parse for Messages<APART> {
    type Parsed<'a> = Parsed<'a>;

    fn parse(line: Line<'_>) -> Self::Parsed<'_> {
        let message = Message::parse(line.text)?;
        Ok((message, if APART { member_index(message.text()) } else { Vec::new() }))
    }
}
