//! Reading JSON-RPC lines.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use std::ops::Range;
use transcript::json::MemberIndex;
use transcript::message::{Message, Refusal};
use transcript::session::{Content, Sink};

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match options.indexes() {
        true => lines::each::<Messages<true>>(input, |line, parsed, index| {
            hand(line, &parsed, index, options, sink)
        }),
        false => lines::each::<Messages<false>>(input, |line, parsed, index| {
            hand(line, &parsed, index, options, sink)
        }),
    }
}

fn hand(
    line: Line<'_>,
    parsed: &Parsed<'_>,
    index: &[MemberIndex],
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    match parsed {
        Ok((message, inside)) => {
            let message = message.indexed(index.get(inside.clone()).unwrap_or_default());
            line.give(line.entry(0, "", Content::Message(message)), sink)
        }
        Err(refusal) => {
            let refusal = refusal.clone().on_a_line(line.open_ended);
            line.fault((refusal, ""), line.text, line.entry(0, "", Content::Empty), options, sink)
        }
    }
}

/// A message, and where in the index what is inside of it stands, where that is asked for.
type Parsed<'a> = Result<(Message<'a>, Range<usize>), Refusal>;

struct Messages<const APART: bool>;

impl<const APART: bool> lines::Parse for Messages<APART> {
    type Parsed<'a> = Parsed<'a>;

    fn parse<'a>(line: Line<'a>, index: &mut Vec<MemberIndex>) -> Self::Parsed<'a> {
        let first = index.len();
        let message = match APART {
            true => Message::parse_indexed(line.text, index)?,
            false => Message::parse(line.text)?,
        };
        Ok((message, first..index.len()))
    }
}
