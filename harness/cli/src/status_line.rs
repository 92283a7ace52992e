//! A line on the terminal that is written over: how far a command has come.
//!
//! There is none where the standard error is not a terminal, where the terminal obeys no escapes (`TERM=dumb`), and where the
//! command was asked to be quiet.

use crate::terminal::{Verbosity, obeys_escapes};
use std::io::{self, IsTerminal as _, Write as _};
use std::time::{Duration, Instant};
use verdict::plain::cut;

/// How often it changes.
const PAUSE: Duration = Duration::from_millis(200);

/// The line; whatever else is written to the terminal meanwhile comes after [`StatusLine::clear`].
#[derive(Debug)]
pub(crate) struct StatusLine {
    wanted: bool,
    shown: bool,
    last: Option<Instant>,
}

impl StatusLine {
    /// Nothing is shown so far.
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let wanted = verbosity > Verbosity::Quiet && io::stderr().is_terminal() && obeys_escapes();
        Self { wanted, shown: false, last: None }
    }

    /// Writes it over, unless it has just been.
    pub(crate) fn show(&mut self, text: impl FnOnce() -> String) {
        if !self.wanted || self.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.last = Some(Instant::now());
        // A line that the terminal breaks could not be written over.
        let width = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
        let width = usize::from(width).saturating_sub(2);
        // A closed terminal does not end the command.
        let _ = write!(io::stderr(), "\r{}\u{1b}[K", cut(&text(), width));
        self.shown = true;
    }

    /// Takes it away. What is shown next is shown at once.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
            self.last = None;
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.clear();
    }
}
