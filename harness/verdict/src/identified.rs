//! Which transport and revision a recording shows: what is expected of that question, and what an answer comes to.

use crate::answer::Answer;
use crate::judgement::{Judgement, Verdict};
use crate::meaning::Identification;
use crate::verdict::broken;
use transcript::diff::{DiffOptions, Difference, PointerPattern, first};
use transcript::json::quoted;

/// The words for people beside a sign: they may be any, or none.
const WORDS: &str = "/evidence/*/what";

/// What must come of asking what a recording shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Identified {
    /// This, member by member.
    As(Identification),
    /// A rejection: it is of no known format, or is damaged.
    Refused,
}

/// Judges one answer.
pub fn judge(expected: &Identified, answer: &Answer) -> Judgement {
    match (expected, answer) {
        (_, Answer::Unsupported { why }) => Judgement::plain(Verdict::Skip, Some(why.clone())),
        (_, Answer::Broken { how, message }) => Judgement::plain(broken(*how), Some(message.clone())),
        (_, Answer::Meaning(_) | Answer::Calls(_)) => {
            let message = format!("{}, but an identification was asked for", answer.in_words());
            Judgement::plain(Verdict::Garbled, Some(message))
        }
        (Identified::Refused, Answer::Rejection { .. }) => Judgement::plain(Verdict::Pass, None),
        (Identified::Refused, Answer::Identification(found)) => {
            let right = found.json().member("format").map(|format| format.text().to_owned());
            let difference = Difference { pointer: "/format".into(), left: None, right };
            Judgement::fail(difference, Some("it was identified, but must be rejected".to_owned()))
        }
        (Identified::As(_), Answer::Rejection { message, .. }) => {
            let right = Some(format!("{{\"message\": {}}}", quoted(message)));
            Judgement::fail(Difference { pointer: "/rejection".into(), left: None, right }, None)
        }
        (Identified::As(expected), Answer::Identification(found)) => {
            let ignore = PointerPattern::parse(WORDS).into_iter().collect();
            let rules = DiffOptions { ignore, redacted: None };
            match first(expected.json(), found.json(), &rules).difference {
                Some(difference) => Judgement::fail(difference, None),
                None => Judgement::plain(Verdict::Pass, None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Identified, judge};
    use crate::answer::{Answer, FailureKind};
    use crate::judgement::Verdict;
    use crate::meaning::{Calls, Identification};

    const FOUND: &str = r#"{"format": "har", "transport": "mixed", "revision": null, "evidence": [
        {"shows": "http-sse", "sign": "endpoint-event", "line": 4, "pointer": "/a", "weak": false, "more": 0}],
        "both_modes": [], "messages": 2}"#;

    fn found(text: &str) -> Answer {
        Answer::Identification(Identification::parse(text).unwrap())
    }

    fn rejection() -> Answer {
        Answer::Rejection { code: None, message: "no".into() }
    }

    #[test]
    fn every_member_counts_but_the_words_for_people() {
        let expected = Identified::As(Identification::parse(FOUND).unwrap());
        let reported = FOUND.replace("\"line\": 4", "\"what\": \"a stream\", \"line\": 4.0");
        for same in [FOUND, &reported] {
            assert_eq!(judge(&expected, &found(same)).verdict, Verdict::Pass, "{same}");
        }
        for (from, to, at) in [
            ("\"mixed\"", "null", "/transport"),
            ("\"revision\": null, ", "", "/revision"),
            ("\"messages\": 2", "\"messages\": 2, \"more\": 1", "/more"),
            ("\"sign\": \"endpoint-event\"", "\"sign\": \"other\"", "/evidence/0/sign"),
            ("\"more\": 0}", "\"more\": 0}, {}", "/evidence/1"),
            ("\"both_modes\": []", "\"both_modes\": null", "/both_modes"),
        ] {
            let judged = judge(&expected, &found(&FOUND.replace(from, to)));
            assert_eq!(judged.verdict, Verdict::Fail, "{to}");
            assert_eq!(judged.difference.unwrap().pointer, at);
        }
        let refused = judge(&expected, &rejection());
        assert_eq!(
            (refused.verdict, refused.difference.unwrap().pointer.as_str()),
            (Verdict::Fail, "/rejection")
        );
    }

    #[test]
    fn what_is_to_be_refused_is_and_what_is_no_answer_never_passes() {
        assert_eq!(judge(&Identified::Refused, &rejection()).verdict, Verdict::Pass);
        let read = judge(&Identified::Refused, &found(FOUND));
        assert_eq!(
            (read.verdict, read.difference.unwrap().right.as_deref()),
            (Verdict::Fail, Some("\"har\""))
        );
        for expected in [Identified::Refused, Identified::As(Identification::parse(FOUND).unwrap())] {
            let verdict = |answer: &Answer| judge(&expected, answer).verdict;
            assert_eq!(verdict(&Answer::Calls(Calls::parse(r#"{"calls": []}"#).unwrap())), Verdict::Garbled);
            assert_eq!(verdict(&Answer::Unsupported { why: "no".into() }), Verdict::Skip);
            let hung = Answer::Broken { how: FailureKind::Timeout, message: "slow".into() };
            assert_eq!(verdict(&hung), Verdict::Timeout);
        }
    }
}
