//! Lines that are not JSON each and a message together: somebody wrote it over several lines.
//!
//! Memory: one such run, up to [`MOST_LINES`] and [`MOST_BYTES`].

use super::location::FindingLocation;
use transcript::json::{Json, Scanner};
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
        // A run goes on around it.
        if is_log_line(line) {
            return SplitLine::Unrelated;
        }
        if self.first.is_none() {
            if !line.trim_start().starts_with(['{', '[']) {
                return SplitLine::Unrelated;
            }
            let fault = Json::parse(line).err().map_or(0, |fault| fault.at);
            self.first = Some(location.showing(line, fault));
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

    /// Whether a run has begun.
    pub(crate) fn is_begun(&self) -> bool {
        self.first.is_some()
    }

    /// Whether it is a part of a message that goes on where the last line ends.
    pub(crate) fn is_cut(&self) -> bool {
        self.first.is_some() && Json::parse(self.text.trim_end_matches('\n')).is_err_and(|fault| fault.ended)
    }

    /// Whatever comes next is not part of the run; returns where it began.
    pub(crate) fn give_up(&mut self) -> Option<FindingLocation> {
        self.text.clear();
        self.lines = 0;
        self.first.take()
    }
}

/// Whether this begins with something in brackets, as in `[info] ready`, that neither is nor begins a list of messages.
pub(crate) fn is_log_line(line: &str) -> bool {
    let line = line.trim();
    let Some(inside) = line.strip_prefix('[') else { return false };
    let mut scanner = Scanner::new(line);
    !inside.trim_start().starts_with('{')
        && match scanner.value() {
            Ok(()) => {
                let rest = line[scanner.at()..].trim_start();
                !rest.is_empty() && !rest.starts_with([',', ']', '}'])
            }
            Err(fault) => !fault.ended,
        }
}

#[cfg(test)]
mod tests {
    use super::is_log_line;

    #[test]
    fn a_label_in_brackets_is_a_log_line_and_a_list_is_not() {
        for log in [
            "[info] starting",
            "[INFO] x",
            "[2026-01-01] z",
            "[debug] {\"a\":1}",
            "[1] up",
            "[\"a\"] b",
            "[a",
        ] {
            assert!(is_log_line(log), "{log}");
        }
        for list in [
            "[",
            "[1,",
            "[1, 2],",
            "[1]",
            "[] ]",
            "[{\"jsonrpc\":\"2.0\"0}]",
            "[{}] x",
            "[ {\"a\"",
            "x",
            "[\"a",
            "[true,",
        ] {
            assert!(!is_log_line(list), "{list}");
        }
    }
}
