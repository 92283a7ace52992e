//! The findings as annotations of a GitHub workflow: a command a line, `::error file=…,line=…,title=…::message`.
//!
//! A command ends at its line, and its properties at a comma or a colon; what means something there is escaped, so
//! that no recording can give commands of its own.

use super::{Renderer, sentence, unread};
use crate::plain::plain;
use rules::RuleVerdict;
use rules::record::{CheckedFile, Problem, RuleResult};
use std::io::{self, Write};

/// The annotations. It holds nothing.
#[derive(Debug, Clone, Copy)]
pub struct Github {
    /// Warnings count as errors do.
    pub strict: bool,
    /// The recordings are files, which an annotation may name.
    pub has_files: bool,
}

impl Renderer for Github {
    fn file(&mut self, file: &CheckedFile, out: &mut dyn Write) -> io::Result<()> {
        file.lines.iter().try_for_each(|line| annotate(line, *self, out))?;
        unread(file).map_or(Ok(()), |why| unjudged(&file.name, &why, out))
    }

    fn problem(&mut self, problem: &Problem, out: &mut dyn Write) -> io::Result<()> {
        unjudged(&problem.file, &problem.message, out)
    }
}

fn unjudged(file: &str, why: &str, out: &mut dyn Write) -> io::Result<()> {
    let (file, title) = (property(file), property("this cannot be judged"));
    writeln!(out, "::error file={file},title={title}::{}", data(why))
}

fn annotate(line: &RuleResult, Github { strict, has_files }: Github, out: &mut dyn Write) -> io::Result<()> {
    let command = match line.verdict {
        _ if line.counts(strict) => "error",
        RuleVerdict::Warn => "warning",
        RuleVerdict::Info => "notice",
        _ => return Ok(()),
    };
    write!(out, "::{command} ")?;
    if has_files {
        write!(out, "file={},", property(&line.file))?;
    }
    if let Some(number) = line.line.filter(|number| has_files && *number > 0) {
        write!(out, "line={number},")?;
    }
    let at = line.pointer.as_ref().filter(|at| !at.is_empty());
    let message = sentence(line, &at.map_or_else(String::new, |_| format!(" (at {})", super::pointer(line))));
    let message = if has_files { message } else { format!("{}: {message}", line.file) };
    writeln!(out, "title={}::{}", property(line.rule), data(&message))
}

/// What comes after the second `::`. A runner shows it, so nothing in it may have power over a terminal.
fn data(text: &str) -> String {
    text.replace('%', "%25").split('\n').map(plain).collect::<Vec<_>>().join("%0A")
}

/// What is between `=` and the next comma.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_log_obeys_no_recording() {
        let shown = super::data("a\u{1b}[31m\u{7}\0\r\u{9b}\u{7f}\u{202e}\n100%");
        assert_eq!(shown, "a\\u{1b}[31m\\u{7}\\u{0}\\u{d}\\u{9b}\\u{7f}\\u{202e}%0A100%25");
    }
}
