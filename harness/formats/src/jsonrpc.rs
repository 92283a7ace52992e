//! `jsonrpc`: one JSON-RPC message a line (clauses JRP-LINE, JRP-VERSION, JRP-SHAPE).
//!
//! Cannot carry: who sent a message, so a session in which both sides have a request with the same id open at
//! the same time is not carried (COR-DIRECTION-FLAT); times; anything of HTTP or SSE; the process and its exit.

use crate::foreign::of_a_document;
use crate::format::{Capabilities, Format, ReadOptions};
use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::lines::{self, Line};
use crate::writing::{HeadedLines, Spelling};
use std::ops::Range;
use transcript::json::MemberIndex;
use transcript::message::{Message, Refusal};
use transcript::session::{Content, Sink};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities::MESSAGES,
    messages: &[&[]],
    scripts: &[None],
    paired: true,
    clauses: &["JRP-LINE"],
    ..Format::new(
        ["jsonrpc", "jsonrpc.jsonl", "one JSON-RPC message a line"],
        sniff,
        read,
        Spelling::Lines(|_| HeadedLines::boxed(false, "\n", |_, _| Ok(()))),
    )
};

fn sniff(head: &Head) -> bool {
    let members = ["method", "result", "error", "id", "params"];
    // What lacks `jsonrpc` may be another program's log.
    let looks_like_one = || members.iter().any(|name| head.has(name)) && of_a_document(head).is_none();
    head.has("jsonrpc") || looks_like_one() || head.begins_with_batch()
}

fn read(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
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
