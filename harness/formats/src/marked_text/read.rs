//! Reading text with marks.

use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::lines::Line;
use crate::log::{self, Log, Said};
use transcript::rejection::Code;
use transcript::session::{Side, Sink};

/// The marks, and who sent what stands behind them; none where it was not sent.
const MARKS: [(&str, Option<Side>); 9] = [
    ("-->", Some(Side::Client)),
    ("<--", Some(Side::Server)),
    (">>>", Some(Side::Client)),
    ("<<<", Some(Side::Server)),
    ("→", Some(Side::Client)),
    ("←", Some(Side::Server)),
    ("STDIN:", Some(Side::Client)),
    ("STDOUT:", Some(Side::Server)),
    ("STDERR:", None),
];

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
    log::read::<Text>(input, options, sink)
}

#[derive(Default)]
struct Text;

impl Log for Text {
    const NAME: &'static str = "text with marks";
    const MAY_BE_EMPTY: bool = true;

    fn said(line: Line<'_>) -> Said<'_> {
        let wrong = |code, clause, said| Said::wrong(code, clause, 0, said);
        match Marked::of(line.text) {
            Some(Marked { side: Some(side), rest }) => {
                let at = line.text.len() - rest.len();
                Said::message(line.text, at, (side, None), str::is_empty)
            }
            Some(Marked { side: None, .. }) => Said::Else(None),
            None if line.text.trim_start().starts_with('{') => {
                wrong(Code::MissingDir, "SRV-BYTES", "a message without a mark that says which way it went")
            }
            None if line.open_ended => Said::cut_off(line),
            None => wrong(Code::NotAMessage, "RPL-NOISE", "a line without a mark is not a message"),
        }
    }
}

/// A line that begins with a mark.
#[derive(Clone, Copy)]
pub(super) struct Marked<'a> {
    pub(super) side: Option<Side>,
    pub(super) rest: &'a str,
}

impl<'a> Marked<'a> {
    pub(super) fn of(line: &'a str) -> Option<Self> {
        const SPACE: [char; 2] = [' ', '\t'];
        let line = line.trim_start_matches(SPACE);
        MARKS.iter().find_map(|(mark, side)| {
            Some(Self { side: *side, rest: line.strip_prefix(mark)?.trim_start_matches(SPACE) })
        })
    }
}
