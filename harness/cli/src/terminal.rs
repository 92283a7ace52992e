//! How the program talks to a person: rejections with their line, notes, and text without control characters.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::io::{self, IsTerminal as _, Write};
use transcript::clauses;
use transcript::rejection::Rejection;
use verdict::plain::Escaping;
pub(crate) use verdict::plain::{cut, plain};

/// How much is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Verbosity {
    /// Results and errors.
    Quiet,
    /// And what a person should know of them.
    #[default]
    Normal,
    /// And everything that was noticed.
    Verbose,
}

impl From<Verbosity> for verdict::text::Verbosity {
    fn from(verbosity: Verbosity) -> Self {
        match verbosity {
            Verbosity::Quiet => Self::Quiet,
            Verbosity::Normal => Self::Normal,
            Verbosity::Verbose => Self::Loud,
        }
    }
}

/// How many errors of one kind are said.
const LISTED: usize = 20;

/// Whether the terminal obeys escapes: one that calls itself `dumb` shows them as text.
pub(crate) fn obeys_escapes() -> bool {
    std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Where the program talks: results to the standard output, talk to the standard error.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Terminal {
    pub verbosity: Verbosity,
    /// Whether the standard output may be coloured.
    pub colour_out: bool,
    /// Whether the standard error may be coloured.
    pub colour_err: bool,
}

impl Terminal {
    /// Says something that a person should know, unless asked to be quiet.
    pub(crate) fn note(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            self.say("note", text);
        }
    }

    /// Says a line by itself, of what goes on.
    pub(crate) fn line(&self, text: &str) {
        self.write(&plain(text));
    }

    /// Says something that only a person who asked for it wants to know.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            self.say("note", text);
        }
    }

    /// Says why the program cannot go on.
    pub(crate) fn error(&self, text: &str) {
        self.say("error", text);
    }

    /// The same for many reasons of one kind, such as the slips of a file: the first ones, unless asked for all.
    pub(crate) fn errors(&self, texts: impl ExactSizeIterator<Item = String>) {
        let more = match self.verbosity {
            Verbosity::Verbose => 0,
            _ => texts.len().saturating_sub(LISTED),
        };
        let shown = texts.len() - more;
        texts.take(shown).for_each(|text| self.error(&text));
        if more > 0 {
            self.error(&format!("and {more} more (-v lists them)"));
        }
    }

    /// Shows a failure in one line, which begins with its verdict.
    pub(crate) fn failure(&self, line: &str) {
        let (verdict, what) = line.split_once(": ").unwrap_or(("fail", line));
        self.say(verdict, what);
    }

    pub(crate) fn rejection(&self, name: &str, rejection: &Rejection) {
        self.write(&self.draw(name, rejection));
    }

    fn say(&self, what: &str, text: &str) {
        let (on, off) = match (self.colour_err, what) {
            (true, "note") => ("\u{1b}[1;32m", "\u{1b}[0m"),
            (true, _) => ("\u{1b}[1;31m", "\u{1b}[0m"),
            _ => ("", ""),
        };
        self.write(&format!("{on}{what}{off}: {}", plain(text)));
    }

    fn write(&self, text: &str) {
        // A closed standard error does not end the command.
        // In one piece, so that what a recorded server writes there comes before or after a line and not inside of it.
        let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
    }

    fn draw(&self, name: &str, rejection: &Rejection) -> String {
        let place = &rejection.position;
        let title = plain(&rejection.message);
        let clause = match clauses::find(rejection.clause) {
            Some(clause) => format!("{}: {}", clause.id, clause.title),
            None => rejection.clause.to_owned(),
        };
        let line = usize::try_from(place.line).unwrap_or(usize::MAX);
        let column = usize::try_from(place.column).unwrap_or(usize::MAX);
        let origin = Origin::path(plain(name)).line(line).char_column(column);
        let group = Group::with_title(Level::ERROR.primary_title(title).id(rejection.code.name()));
        let mut group = match &rejection.excerpt {
            None => group.element(origin),
            Some(excerpt) => {
                let (text, at) = shown(excerpt);
                let width = text[at..].chars().next().map_or(0, char::len_utf8);
                let mark = AnnotationKind::Primary.span(at..at + width);
                let snippet = Snippet::source(text).line_start(line).fold(false).annotation(mark);
                // The renderer counts columns in what it shows; where the line is cut, the place is said apart.
                match excerpt.cut_before || column != excerpt.text[..excerpt.at].chars().count() + 1 {
                    true => group.element(origin).element(snippet),
                    false => group.element(snippet.path(plain(name))),
                }
            }
        };
        let mut notes: Vec<Group<'_>> = Vec::new();
        if !place.pointer.is_empty() {
            group =
                group.element(Level::NOTE.message(format!("at {} in the document", plain(&place.pointer))));
        }
        group = group.element(Level::NOTE.message(clause));
        group = group.element(Level::HELP.message(format!("mcp-concord explain {}", rejection.clause)));
        notes.push(group);
        let renderer = if self.colour_err { Renderer::styled() } else { Renderer::plain() };
        // A snippet whose place is said apart begins with an empty place of its own.
        let is_empty =
            |line: &str| line.trim_end_matches("\u{1b}[0m").ends_with("::: ") && !line.contains('|');
        renderer.render(&notes).lines().filter(|line| !is_empty(line)).collect::<Vec<_>>().join("\n")
    }
}

impl wire::Notify for Terminal {
    fn error(&self, text: &str) {
        self.say("error", text);
    }

    fn note(&self, text: &str) {
        Terminal::note(self, text);
    }

    fn mismatch(&self, text: &str) {
        self.write(&format!("{text}\n"));
    }
}

/// The standard output, for data: JSON, XML, transcripts. A terminal gets it without what it might obey.
pub(crate) fn data_out() -> Box<dyn Write> {
    let out = io::stdout().lock();
    if out.is_terminal() { Box::new(Escaping::new(out)) } else { Box::new(out) }
}

/// The same for what may be text for people instead: that has colours, and is free of anything else.
pub(crate) fn out_for(people: bool) -> Box<dyn Write> {
    if people { Box::new(io::stdout().lock()) } else { data_out() }
}

/// An excerpt with marks where its line goes on, and the place in it.
fn shown(excerpt: &transcript::rejection::Excerpt) -> (String, usize) {
    let mut text = String::new();
    if excerpt.cut_before {
        text.push('…');
    }
    let (before, after) = excerpt.text.split_at(excerpt.at);
    text.push_str(&plain(before));
    let at = text.len();
    text.push_str(&plain(after));
    if excerpt.cut_after {
        text.push('…');
    }
    (text, at)
}

#[cfg(test)]
mod tests {
    use super::Terminal;
    use transcript::rejection::{Code, Excerpt, Position, Rejection};

    #[test]
    fn a_rejection_names_file_line_column_and_clause() {
        let rejection = Rejection {
            code: Code::InvalidId,
            clause: "ID-REJECT",
            message: "an id is a string, a number or null; this is true".to_owned(),
            position: Position { offset: 22, line: 3, column: 23, pointer: "/entries/3/request".to_owned() },
            excerpt: Some(Excerpt {
                text: "\"id\": true".to_owned(),
                at: 6,
                cut_before: true,
                cut_after: false,
            }),
        };
        let shown = Terminal::default().draw("a.json", &rejection);
        for part in
            ["error[invalid-id]", "a.json:3:23", "…\"id\": true", "/entries/3/request", "explain ID-REJECT"]
        {
            assert!(shown.contains(part), "{part} is missing in\n{shown}");
        }
    }
}
