//! Reading JSON-RPC lines.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use transcript::json::{MemberIndex, member_index};
use transcript::message::{Message, Refusal};
use transcript::session::{Content, Sink};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match options.indexes() {
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
    match parsed {
        Ok((message, index)) => line.give(line.entry(0, "", Content::Message(message.indexed(index))), sink),
        Err(refusal) => {
            let refusal = refusal.clone().on_a_line(line.open_ended);
            line.fault((refusal, ""), line.text, line.entry(0, "", Content::Empty), options, sink)
        }
    }
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
