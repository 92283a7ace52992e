//! The kind of a failure, so that a thousand of one kind are reported once and a shrunk one is of the kind that it was.
//!
//! It consists of what stays the same when the session shrinks: the format, the verdict, the path of the first difference
//! without its numbers, what kind of value is there instead of what, and whether a message was lost in silence.

use std::fmt;
use transcript::json::{Json, JsonKind};
use verdict::gist::{gist, unparticular};
use verdict::record::{CaseResult, Difference};
use verdict::verdict::Verdict;

/// A kind of failure in one format.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Signature {
    pub format: &'static str,
    pub kind: Kind,
    /// Where two importers are compared: whom the contract sides with.
    pub right: Option<Ruling>,
}

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    pub verdict: Verdict,
    /// The path of the first difference, three steps of it, with `*` for a number.
    pub at: String,
    /// What is there instead of what, or how it broke.
    pub change: String,
    /// Whether a message is accounted for nowhere.
    pub silent_loss: bool,
}

/// Whom the contract sides with where two importers disagree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ruling {
    /// The first reads it as the contract says.
    First,
    /// The second does.
    Second,
    /// Neither does.
    Neither,
    /// The contract leaves open what they disagree in.
    Open,
}

/// How many steps of a path belong to a kind; what is deeper is particular to the session.
const STEPS: usize = 3;

impl Kind {
    /// The kind of this result.
    pub(crate) fn new(line: &CaseResult) -> Self {
        let (at, change) = match (&line.difference, &line.message) {
            (Some(difference), _) => (path(&difference.at), change(difference)),
            (None, Some(_)) if line.verdict == Verdict::Unstable => (String::new(), String::new()),
            (None, Some(message)) => (String::new(), gist(message)),
            (None, None) => (String::new(), String::new()),
        };
        Self { verdict: line.verdict, at, change, silent_loss: line.silent_loss }
    }

    /// Whether there was no answer that could be judged.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.verdict, Verdict::Crash | Verdict::Timeout | Verdict::Garbled | Verdict::Unstable)
    }

    /// The clause that such a failure breaks, whatever clause the variant shows; none where the path does not say.
    pub(crate) fn clause(&self) -> Option<&'static str> {
        let step = self.at.rsplit('/').find(|step| *step != "*").unwrap_or_default();
        let third = self.at.split('/').nth(3).unwrap_or(step);
        Some(match (self.verdict, third) {
            (Verdict::Unstable, _) => "SRV-SAME",
            _ if self.is_broken() => "SRV-BYTES",
            _ if self.silent_loss => "EQ-COUNT",
            (_, "answers") if self.change.ends_with("instead of null") => "COR-LATE",
            (_, "answers") => "COR-FIRST",
            (_, "tool") => "EQ-TOOL",
            (_, "arguments") => "EQ-ARGS",
            (_, "result" | "error" | "outcome") => "EQ-OUTCOME",
            (_, "events" | "calls" | "kind" | "method") => "EQ-COUNT",
            _ if self.at.starts_with("/authorization_discovery") => "K2A-SUMMARY",
            _ => return None,
        })
    }
}

fn path(at: &str) -> String {
    let step = |step: &str| match step.bytes().all(|byte| byte.is_ascii_digit()) {
        true => "*".to_owned(),
        false => step.to_owned(),
    };
    let steps = at.split('/').skip(1).take(STEPS);
    steps.map(|it| format!("/{}", step(it))).collect()
}

fn change(difference: &Difference) -> String {
    let [expected, actual] = difference.sides();
    match (difference.at.as_str(), actual) {
        // Codes are few, and each is a kind of its own.
        ("/rejection/code", _) => {
            format!("{} instead of {}", actual.unwrap_or("read"), expected.unwrap_or("?"))
        }
        ("/rejection", Some(rejection)) => {
            let member = |name| Json::parse(rejection).ok().and_then(|it| it.member(name));
            let message =
                || member("message").and_then(Json::as_text).and_then(|it| it.to_str().map(unparticular));
            match (member("code"), message()) {
                (Some(code), _) => format!("rejected as {}", code.text()),
                // Without a code the message says why it is rejected.
                (None, message) => format!("rejected: {}", message.unwrap_or_default()),
            }
        }
        // Formats that disagree where the choice is free: their answers in words, which begin with what they are.
        ("", _) => {
            let sort = |side: Option<&str>| {
                let words = side.unwrap_or_default().trim_matches('"');
                words.split(" of ").next().and_then(|it| it.split(" (").next()).unwrap_or_default().to_owned()
            };
            format!("{} beside {}", sort(actual), sort(expected))
        }
        // Kinds of events are few as well.
        (at, _) if at.ends_with("/kind") => {
            format!("{} instead of {}", actual.unwrap_or("nothing"), expected.unwrap_or("nothing"))
        }
        _ => match (sort(actual), sort(expected)) {
            (one, other) if one == other => {
                format!("another {}", one.trim_start_matches("an ").trim_start_matches("a "))
            }
            (one, other) => format!("{one} instead of {other}"),
        },
    }
}

fn sort(value: Option<&str>) -> &'static str {
    match value.and_then(|text| Json::parse(text).ok()).map(Json::kind) {
        None => "nothing",
        Some(JsonKind::Null) => "null",
        Some(JsonKind::Bool) => "a boolean",
        Some(JsonKind::Number) => "a number",
        Some(JsonKind::String) => "a string",
        Some(JsonKind::Array) => "an array",
        Some(JsonKind::Object) => "an object",
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verdict, at, change, silent_loss } = self;
        // Where the contract is open nobody failed.
        formatter.write_str(if *verdict == Verdict::Pass { "open" } else { verdict.name() })?;
        if !at.is_empty() {
            write!(formatter, " at {at}")?;
        }
        if !change.is_empty() {
            write!(formatter, ", {}", crate::terminal::plain(change))?;
        }
        if *silent_loss {
            formatter.write_str(", silent loss")?;
        }
        Ok(())
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.format, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Signature};
    use transcript::rejection::Code;
    use verdict::answer::{Answer, Level};
    use verdict::expectation::Expectation;
    use verdict::record::CaseResult;
    use verdict::verdict::{Question, judge};

    const CALL: &str = r#"{"events": [{"kind": "tool_call", "id": "1", "tool": "a", "arguments": {"n": 1}},
        {"kind": "result", "id": "1", "answers": 0, "result": {}}]}"#;

    fn kind(expectation: &Expectation, answer: &Answer) -> Kind {
        let question = Question { level: Level::Events, challenge: false, redacted: None };
        Kind::new(&CaseResult::new("c", "har", &[], judge(expectation, &question, answer)))
    }

    fn meaning(text: &str) -> Answer {
        Answer::Meaning(verdict::meaning::Meaning::parse(text).unwrap())
    }

    #[test]
    fn the_kind_is_told_without_what_is_particular() {
        let expected = Expectation::Meaning(verdict::meaning::Meaning::parse(CALL).unwrap());
        let rounded = kind(&expected, &meaning(&CALL.replace("\"n\": 1", "\"n\": 2")));
        let deeper = kind(&expected, &meaning(&CALL.replace("\"n\": 1", "\"n\": \"1\"")));
        assert_eq!((rounded.at.as_str(), rounded.change.as_str()), ("/events/*/arguments", "another number"));
        assert_eq!(deeper.change, "a string instead of a number");
        assert_eq!(rounded.clause(), Some("EQ-ARGS"));
        let orphan = kind(&expected, &meaning(&CALL.replace("\"answers\": 0", "\"answers\": null")));
        assert_eq!((orphan.at.as_str(), orphan.clause()), ("/events/*/answers", Some("COR-FIRST")));
        let lost = kind(
            &expected,
            &meaning(
                &CALL
                    .replace("{\"kind\": \"result\", \"id\": \"1\", \"answers\": 0, \"result\": {}}", "")
                    .replace("},\n        ]", "}]"),
            ),
        );
        assert!(lost.silent_loss && lost.clause() == Some("EQ-COUNT"), "{lost:?}");
        let refused =
            |message: &str| Answer::Rejection { code: Some("batch".into()), message: message.into() };
        assert_eq!(kind(&expected, &refused("line 1")), kind(&expected, &refused("line 7")));
        assert_eq!(kind(&expected, &refused("")).change, "rejected as \"batch\"");
        let wordy = |message: &str| {
            kind(&expected, &Answer::Rejection { code: None, message: message.into() }).change
        };
        assert_eq!(wordy("line 12: no \"a 1\" here"), "rejected: line *: no … here");
        assert_eq!(wordy("it doesn't read"), "rejected: it doesn't read");
        let code = kind(&Expectation::Rejection(Code::InvalidId), &refused(""));
        assert_eq!((code.change.as_str(), code.clause()), ("", None), "another code is a remark");
        let read = kind(&Expectation::Rejection(Code::InvalidId), &meaning(CALL));
        assert_eq!(read.change, "read instead of \"invalid-id\"");
    }

    #[test]
    fn words_are_cut_where_they_become_particular() {
        let line = |message: &str| {
            let broken = Answer::Broken { how: verdict::answer::FailureKind::Crash, message: message.into() };
            kind(&Expectation::Either(None), &broken)
        };
        assert_eq!(line("panicked at a.rs:7: no 1"), line("panicked at a.rs:9: no 2"));
        let signature = Signature { format: "har", kind: line("gone (exit status: 7)"), right: None };
        assert_eq!(signature.to_string(), "har: crash, gone (exit status: *)");
    }
}
