//! Lines that are not JSON each and a message together: somebody wrote it over several lines.
//!
//! Memory: one such run, up to [`MOST_LINES`] and [`MOST_BYTES`].

use super::location::FindingLocation;
use transcript::message::Message;

/// A run of more lines is given up.
const MOST_LINES: usize = 1_000;

/// A run of more bytes is given up.
const MOST_BYTES: usize = 1 << 20;

/// Lines that may be one message.
#[derive(Debug, Default)]
pub(crate) struct SplitMessages {
    first: Option<FindingLocation>,
    text: String,
    lines: usize,
}

/// What a line is to a run.
#[derive(Debug)]
pub(crate) enum SplitLine {
    /// It begins a run or goes on with one.
    Continues,
    /// It ends a run, which is a message; it began there.
    Completes(FindingLocation),
    /// It makes a run longer than a message may be, which is given up; it began there.
    Exceeds(FindingLocation),
    /// It is a part of nothing.
    Unrelated,
}

impl SplitMessages {
    /// Takes a line that is not a message by itself.
    pub(crate) fn take(&mut self, line: &str, location: FindingLocation) -> SplitLine {
        if self.first.is_none() {
            if !line.trim_start().starts_with(['{', '[']) {
                return SplitLine::Unrelated;
            }
            self.first = Some(location);
        }
        self.text.push_str(line);
        self.text.push('\n');
        self.lines += 1;
        // The last line of a message closes its first brace.
        if self.lines > 1
            && line.trim_start().starts_with('}')
            && Message::parse(self.text.trim()).is_ok()
            && let Some(first) = self.give_up()
        {
            return SplitLine::Completes(first);
        }
        if (self.lines > MOST_LINES || self.text.len() > MOST_BYTES)
            && let Some(first) = self.give_up()
        {
            return SplitLine::Exceeds(first);
        }
        SplitLine::Continues
    }

    /// Whatever comes next is not part of the run; returns where it began.
    pub(crate) fn give_up(&mut self) -> Option<FindingLocation> {
        self.text.clear();
        self.lines = 0;
        self.first.take()
    }
}
