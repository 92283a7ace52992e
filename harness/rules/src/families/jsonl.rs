//! Files of JSON-RPC lines: what their recorder must keep to.

use super::encoding;
use super::jsonrpc::{MOST_ALIKE, is_alike};
use crate::engine::{
    Family, FindingLocation, RuleContext, RuleVisitor, SplitLine, SplitMessages, Trigger, Violation,
    behind_mark, is_log_line, quoted,
};
use crate::rule::{Party, Rule};
use transcript::json::{Json, Scanner};
use transcript::message::resembles_message;
use transcript::rejection::Code;
use transcript::session::{Content, Noise};

pub(super) const FAMILY: Family = Family {
    name: "jsonl",
    title: "Files of JSON-RPC lines",
    rules: &[&ONE_PER_LINE],
    triggers: &[Trigger::Recordings(|recording| recording.bare_lines)],
    visitor: || Box::new(JsonlState::default()),
};

static ONE_PER_LINE: Rule = Rule {
    id: "rec.jsonl.one-per-line",
    source: "Assay import formats, jsonl",
    title: "Every line is one whole message, and nothing else",
    why: "Readers parse each line on its own: a message that spans lines, or two on one line, is lost or stops them.",
    fix: "Write each message compactly, as `jq -c . FILE` does, and end it with a line feed; keep other output elsewhere.",
    ..Rule::BLANK.recorder()
};

#[derive(Default)]
struct JsonlState {
    pieces: SplitMessages,
    /// Lines of which [`is_alike`] tells: where, and what is wrong.
    alike: Vec<(FindingLocation, String)>,
}

impl RuleVisitor for JsonlState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        if !at.facts.recording.kind.bare_lines {
            return;
        }
        match &at.entry.content {
            Content::Message(_) => {
                self.give_up(at);
                at.pass(&ONE_PER_LINE);
            }
            Content::Noise(noise) => self.noise(noise, at),
            _ => {}
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        self.give_up(at);
        for (place, wrong) in self.alike.drain(..).filter(|_| at.facts.messages == 0) {
            at.fail(&ONE_PER_LINE, Violation::new(wrong).at(place));
        }
    }
}

impl JsonlState {
    fn noise(&mut self, noise: &Noise<'_>, at: &RuleContext<'_>) {
        let no_message = || format!("the line is JSON but not a message: {}", quoted(&noise.text));
        if at.facts.messages == 0 && self.alike.len() < MOST_ALIKE && is_alike(noise, at) {
            self.alike.push((at.location(), no_message()));
        }
        match noise.why.code {
            Code::InvalidJson | Code::Truncated => self.no_json(noise, at),
            // Anyone who reads for messages need not read on behind what is not an object.
            Code::NotAMessage if Json::parse(&noise.text).is_err() => self.no_json(noise, at),
            Code::NotAMessage => {
                self.give_up(at);
                let resembles = Json::parse(&noise.text).is_ok_and(resembles_message);
                if !resembles {
                    at.fail(&ONE_PER_LINE, no_message());
                }
            }
            _ => self.give_up(at),
        }
    }

    fn no_json(&mut self, noise: &Noise<'_>, at: &RuleContext<'_>) {
        let text: &str = &noise.text;
        if behind_mark(noise).is_some() {
            return self.give_up(at);
        }
        // Only a program's own words look like this, and they came with the server's messages.
        if is_log_line(text) {
            let wrong = Violation::new(format!("a log line is not a message: {}", quoted(text)));
            return at.fail(&encoding::PARSE, wrong.by(Party::Server));
        }
        if begins_with_a_value(text) {
            self.give_up(at);
            let wrong = match text.contains("\r{") {
                true => "the line holds several messages, parted by carriage returns without a line feed",
                false => "something follows the value on its line",
            };
            return at.fail(&ONE_PER_LINE, wrong);
        }
        match self.pieces.take(text, at.location()) {
            SplitLine::Completes(first) => {
                at.fail(&ONE_PER_LINE, Violation::new("a message is written over several lines").at(first));
            }
            // Only the last line of a file is cut off. A run that it ends is not a message either.
            SplitLine::Continues if noise.why.code == Code::Truncated => {
                let earlier = self.pieces.give_up().filter(|first| first.line != at.location().line);
                if let Some(first) = earlier {
                    at.fail(&encoding::PARSE, encoding::broken_json(first));
                }
                at.fail(&ONE_PER_LINE, "the file ends within a message");
            }
            SplitLine::Continues => {}
            SplitLine::Exceeds(first) => at.fail(&encoding::PARSE, encoding::broken_json(first)),
            SplitLine::Unrelated => at.fail(&ONE_PER_LINE, format!("the line is not JSON: {}", quoted(text))),
        }
    }

    /// What looked like a message over several lines is none: its first line was meant to be JSON.
    fn give_up(&mut self, at: &RuleContext<'_>) {
        if let Some(first) = self.pieces.give_up() {
            at.fail(&encoding::PARSE, encoding::broken_json(first));
        }
    }
}

/// Whether an object or a list stands at the front, with something behind it.
fn begins_with_a_value(text: &str) -> bool {
    let mut scanner = Scanner::new(text);
    scanner.space();
    matches!(scanner.peek(), Some(b'{' | b'[')) && scanner.value().is_ok()
}

#[cfg(test)]
mod tests {
    use crate::check::{CheckOptions, check};
    use crate::engine::RuleOutcome;
    use formats::{Input, find};

    const BROKEN: &str = r#"{"jsonrpc":"2.0"0}"#;

    /// The line and the rule of each finding.
    fn found(text: &str) -> Vec<(u64, &'static str)> {
        let mut bytes = text.as_bytes();
        let mut input = Input::new(&mut bytes).unwrap();
        let judged = check(find("jsonrpc").unwrap(), &mut input, &CheckOptions::default()).unwrap();
        let of = |outcome: &RuleOutcome| {
            let id = outcome.rule.id;
            outcome.findings.iter().map(move |finding| (finding.location.line, id)).collect::<Vec<_>>()
        };
        let mut found: Vec<_> = judged.outcomes.iter().flat_map(of).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_broken_line_is_found_also_before_one_that_is_cut_off() {
        let cut = r#"{"jsonrpc":"2.0","id"#;
        assert_eq!(found(cut), [(1, "rec.jsonl.one-per-line")]);
        assert_eq!(
            found(&format!("{BROKEN}\n{cut}")),
            [(1, "enc.json.parse"), (2, "rec.jsonl.one-per-line")]
        );
    }

    #[test]
    fn each_log_line_with_a_label_in_brackets_is_found_also_amid_a_message() {
        let lines = [
            "[info] starting",
            "[INFO] x",
            "[server] y",
            "[2026-01-01] z",
            "[debug] {\"a\":1}",
            "[warn]: hm",
        ];
        let expected: Vec<_> = (1..=6).map(|line| (line, "enc.json.parse")).collect();
        let message = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert_eq!(found(&format!("{}\n{message}", lines.join("\n"))), expected);
        let split = "{\"jsonrpc\":\"2.0\",\n[info] x\n\"method\":\"ping\"\n}\n";
        assert_eq!(found(split), [(1, "rec.jsonl.one-per-line"), (2, "enc.json.parse")]);
    }

    #[test]
    fn a_broken_line_is_found_also_before_more_lines_than_a_message_may_have() {
        let lines = "x\n".repeat(1_000);
        assert_eq!(found(&format!("{BROKEN}\n{lines}")), [(1, "enc.json.parse")]);
    }
}
