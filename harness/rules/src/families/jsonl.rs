//! Files of JSON-RPC lines: what their recorder must keep to.
//!
//! Refuses to know: who printed a line that is no message; such a file does not tell.

use super::encoding;
use crate::engine::{Found, Moment, Piece, Pieces, Place, Wrong, quoted};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Party, Rule};
use transcript::json::{Json, Scanner};
use transcript::message::resembles_message;
use transcript::rejection::{Code, Rejection};
use transcript::session::{Content, Noise};

pub(super) const FAMILY: Family = Family {
    name: "jsonl",
    title: "Files of JSON-RPC lines",
    rules: &[&ONE_PER_LINE],
    hears: &[Hears::In("jsonrpc")],
    watch: || Box::new(Watching::default()),
};

static ONE_PER_LINE: Rule = Rule {
    id: "rec.jsonl.one-per-line",
    party: Party::Recorder,
    source: "Assay import formats, jsonl",
    title: "Every line is one whole message, and nothing else",
    why: "Readers take each line by itself: a message over several lines, or two on one, is lost or stops them.",
    fix: "Write each message compactly and end it with a line feed; keep what programs print elsewhere.",
    ..Rule::BLANK
};

#[derive(Default)]
struct Watching {
    pieces: Pieces,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if at.facts.subject.format != "jsonrpc" {
            return;
        }
        match &at.entry.content {
            Content::Message(_) => {
                self.give_up(at, found);
                found.held(&ONE_PER_LINE, at);
            }
            Content::Noise(noise) => self.noise(noise, at, found),
            _ => {}
        }
    }

    fn end(&mut self, at: &Moment<'_>, _rejection: Option<&Rejection>, found: &mut Found) {
        self.give_up(at, found);
    }
}

impl Watching {
    fn noise(&mut self, noise: &Noise<'_>, at: &Moment<'_>, found: &mut Found) {
        match noise.why.code {
            Code::InvalidJson | Code::Truncated => self.no_json(noise, at, found),
            // Whoever reads for messages need not read on behind what is no object.
            Code::NotAMessage if Json::parse(&noise.text).is_err() => self.no_json(noise, at, found),
            Code::NotAMessage => {
                self.give_up(at, found);
                let resembles = Json::parse(&noise.text).is_ok_and(resembles_message);
                if !resembles {
                    let wrong = format!("the line is JSON and no message: {}", quoted(&noise.text));
                    found.broke(&ONE_PER_LINE, at, wrong);
                }
            }
            _ => self.give_up(at, found),
        }
    }

    fn no_json(&mut self, noise: &Noise<'_>, at: &Moment<'_>, found: &mut Found) {
        let text: &str = &noise.text;
        if text.starts_with('\u{feff}') {
            return self.give_up(at, found);
        }
        if begins_with_a_value(text) {
            self.give_up(at, found);
            return found.broke(&ONE_PER_LINE, at, "something stands behind the value on its line");
        }
        match self.pieces.take(text, at.place()) {
            Piece::Whole(first) => {
                let wrong = Wrong::of("a message is written over several lines").at(first);
                found.broke(&ONE_PER_LINE, at, wrong);
            }
            // Only the last line of a file is cut off.
            Piece::Held if noise.why.code == Code::Truncated => {
                self.pieces.give_up();
                found.broke(&ONE_PER_LINE, at, "the file ends within a message");
            }
            Piece::Held => {}
            Piece::Alone => {
                found.broke(&ONE_PER_LINE, at, format!("the line is no JSON: {}", quoted(text)));
            }
        }
    }

    /// What looked like a message over several lines is none: its first line was meant to be JSON.
    fn give_up(&mut self, at: &Moment<'_>, found: &mut Found) {
        if let Some(first) = self.pieces.give_up() {
            broken_json(first, at, found);
        }
    }
}

fn broken_json(place: Place, at: &Moment<'_>, found: &mut Found) {
    found.broke(&encoding::PARSE, at, Wrong::of("the line begins like a message and is no JSON").at(place));
}

/// Whether an object or a list stands at the front, with something behind it.
fn begins_with_a_value(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    matches!(scanner.peek(), Some(b'{' | b'[')) && scanner.value().is_ok()
}
