//! Standard input and output as a transport: what may go through the pipes.
//!
//! Traces of a process, which keep what was printed beside the messages. A trace whose command names a URL is of HTTP.

use super::encoding;
use crate::engine::{
    Family, FindingLocation, MARK, RuleContext, RuleVisitor, SplitLine, SplitMessages, Trigger, Violation,
    bytes_of, quoted,
};
use crate::rule::{Need, Party, Rule};
use transcript::json::Json;
use transcript::message::{Message, resembles_message};
use transcript::rejection::Code;
use transcript::session::{Content, Side};

pub(super) const FAMILY: Family = Family {
    name: "stdio",
    title: "Standard input and output",
    rules: &[&ONE_LINE, &STDOUT, &STDIN],
    triggers: &[Trigger::All],
    visitor: || Box::new(StdioState::default()),
};

/// What the rules of this file have in common.
const OURS: Rule = Rule { needs: &[Need::Process], source: "basic/transports#stdio", ..Rule::BLANK };

static ONE_LINE: Rule = Rule {
    id: "stdio.no-embedded-newline",
    title: "A message is written on one line",
    why: "A line feed ends a message: each line of a pretty-printed message is refused on its own.",
    fix: "Write JSON without indentation, and line feeds in strings as \\n.",
    ..OURS
};

static STDOUT: Rule = Rule {
    id: "stdio.stdout-purity",
    title: "A server writes nothing but messages to its standard output",
    why: "Clients try to read every line as a message; a banner or a log line ends the session in some of them.",
    fix: "Log to stderr, also from libraries and package managers that start the server; send messages without headers.",
    ..OURS.server()
};

static STDIN: Rule = Rule {
    id: "stdio.stdin-purity",
    title: "A client writes nothing but messages to the server's standard input",
    why: "Servers try to read every line as a message, and headers such as Content-Length are not messages.",
    fix: "End each message with a line feed, and write nothing else.",
    ..OURS.client()
};

/// How much is shown of a text before what is wrong, in characters.
const BEFORE: usize = 20;

#[derive(Default)]
struct StdioState {
    /// What each side wrote that is not JSON by itself: the client, the server.
    pieces: [SplitMessages; 2],
    /// The server ended while the client could still write to it.
    is_input_open: bool,
}

impl RuleVisitor for StdioState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if let Content::TraceEnd(end) = &at.entry.content {
            let input = end.member("_input").and_then(|input| input.as_text());
            self.is_input_open = input.is_some_and(|input| input.is("open"));
        }
        let Some(side) = at.entry.side else { return };
        match &at.entry.content {
            Content::Message(_) => {
                self.give_up(side, at);
                if at.facts.over_stdio() == Some(true) {
                    at.pass(&ONE_LINE);
                    at.pass(pure(side));
                }
            }
            Content::Noise(noise) if noise.why.code == Code::NotAMessage => {
                let Ok(value) = Json::parse(&noise.text) else { return };
                match value.as_text().and_then(|text| text.to_str()) {
                    Some(text) => self.printed(&text, side, at),
                    None => {
                        self.give_up(side, at);
                        match bytes_of(noise) {
                            Some(text) => foreign("this is not UTF-8, and so", lost(&text), side, at),
                            None if !resembles_message(value) => impure(&noise.text, side, at),
                            None => {}
                        }
                    }
                }
            }
            Content::Noise(_) => self.give_up(side, at),
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        let written = &mut self.pieces[Side::Client as usize];
        if self.is_input_open && written.is_cut() {
            written.give_up();
            at.inconclusive(&encoding::PARSE, "the server ended before the client's last line did");
        }
        for side in [Side::Client, Side::Server] {
            self.give_up(side, at);
        }
    }
}

impl StdioState {
    /// Text that the recorder kept as a string, since it is not JSON.
    fn printed(&mut self, text: &str, side: Side, at: &RuleContext<'_>) {
        // A message in a string is whole; it is its recorder who wrapped it.
        if text.starts_with(MARK) || Message::parse(text).is_ok() {
            return self.give_up(side, at);
        }
        // Blank lines separate nothing, and every reader steps over them.
        if text.trim().is_empty() {
            return;
        }
        // A value on a line of its own, indented, may be part of a message that has begun.
        let is_within = text.starts_with([' ', '\t']) && self.pieces[side as usize].is_begun();
        if !is_within && Json::parse(text).is_ok() {
            self.give_up(side, at);
            return impure(text, side, at);
        }
        match self.pieces[side as usize].take(text, at.location()) {
            SplitLine::Continues => {}
            SplitLine::Completes(first) if at.facts.over_stdio() == Some(true) => {
                at.fail(
                    &ONE_LINE,
                    Violation::new("a message is written over several lines").at(first).by(Party::from(side)),
                );
            }
            SplitLine::Completes(_) => at.inconclusive(&ONE_LINE, OVER_HTTP),
            SplitLine::Exceeds(first) => broken_json(first, side, at),
            SplitLine::Unrelated => impure(text, side, at),
        }
    }

    fn give_up(&mut self, side: Side, at: &RuleContext<'_>) {
        if let Some(first) = self.pieces[side as usize].give_up() {
            broken_json(first, side, at);
        }
    }
}

fn broken_json(first: FindingLocation, side: Side, at: &RuleContext<'_>) {
    at.fail(&encoding::PARSE, encoding::broken_json(first).by(Party::from(side)));
}

const OVER_HTTP: &str = "the trace is of a server at a URL, and does not say what went through a pipe";

fn impure(text: &str, side: Side, at: &RuleContext<'_>) {
    let header = text.get(..15).is_some_and(|name| name.eq_ignore_ascii_case("content-length:"));
    foreign(if header { "this is a header, as LSP has them, and" } else { "this is" }, text, side, at);
}

/// A text from shortly before the first character that was lost: what is before it may be the same in no two sessions.
fn lost(text: &str) -> &str {
    let before = text.find('\u{fffd}').map_or("", |at| &text[..at]);
    let start = before.char_indices().rev().nth(BEFORE).map_or(0, |(start, _)| start);
    &text[start..]
}

fn foreign(what: &str, text: &str, side: Side, at: &RuleContext<'_>) {
    match at.facts.over_stdio() {
        Some(true) => at.fail(pure(side), format!("{what} not a message: {}", quoted(text))),
        Some(false) => {}
        None => at.inconclusive(pure(side), OVER_HTTP),
    }
}

fn pure(side: Side) -> &'static Rule {
    match side {
        Side::Client => &STDIN,
        Side::Server => &STDOUT,
    }
}
