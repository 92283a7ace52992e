//! From an expectation and an answer to a verdict.
//!
//! When an answer is right, what its first difference is, and when it lost a message in silence.

use crate::answer::{Answer, FailureKind, READ};
use crate::compare::{Summaries, compare, shows_nothing};
use crate::expectation::Expectation;
use transcript::diff::Difference;
use transcript::json::quoted;
use transcript::rejection::Code;

pub use crate::judgement::{Judgement, Question, Verdict};

/// Judges one answer. Whether the answers of a case agree with each other is for [`crate::consistency`].
pub fn judge(expectation: &Expectation, question: &Question<'_>, answer: &Answer) -> Judgement {
    match answer {
        Answer::Unsupported { why } => return Judgement::plain(Verdict::Skip, Some(why.clone())),
        Answer::Broken { how, message } => return Judgement::plain(broken(*how), Some(message.clone())),
        Answer::Rejection { code, message } => return rejected(expectation, code.as_deref(), message),
        Answer::Meaning(_) | Answer::Calls(_) | Answer::Identification(_) => {}
    }
    // An answer that is none is garbled, whatever was expected: so it is compared with itself at least.
    let meaning = expectation.meaning().map(|meaning| Answer::Meaning(meaning.clone()));
    let summaries = match (&meaning, question.challenge) {
        (Some(_), true) => Summaries::Equal,
        (_, false) => Summaries::None,
        (None, true) => Summaries::Any,
    };
    let compared = match compare(meaning.as_ref().unwrap_or(answer), answer, question, summaries) {
        Ok(judgement) => judgement,
        Err(why) => return Judgement::plain(Verdict::Garbled, Some(why)),
    };
    match expectation {
        Expectation::Meaning(_) | Expectation::Either(_) => compared,
        Expectation::Rejection(code) => {
            let left = Some(quoted(code.name()));
            let difference = Difference { pointer: "/rejection/code".into(), left, right: None };
            Judgement::fail(difference, Some(format!("{READ}{}", answer.in_words())))
        }
    }
}

/// What becomes of a pass that proves nothing, since the importer's level shows nothing of such a session.
pub fn unseen(question: &Question<'_>, answer: &Answer) -> Option<Judgement> {
    let why = "nothing to compare at the level `calls`: the session has no tool call";
    shows_nothing(answer, question.level).then(|| Judgement::plain(Verdict::Skip, Some(why.to_owned())))
}

/// The verdict on no answer.
pub(crate) fn broken(how: FailureKind) -> Verdict {
    match how {
        FailureKind::Crash => Verdict::Crash,
        FailureKind::Timeout => Verdict::Timeout,
        FailureKind::Garbled => Verdict::Garbled,
        FailureKind::Unstable => Verdict::Unstable,
    }
}

/// What was cut off is not valid JSON either, and most JSON readers do not say which.
fn is_same_fault(a: Code, b: Code) -> bool {
    let cut = |code| matches!(code, Code::Truncated | Code::InvalidJson);
    a == b || cut(a) && cut(b)
}

fn rejected(expectation: &Expectation, code: Option<&str>, message: &str) -> Judgement {
    let said = Some(message.to_owned());
    match expectation {
        Expectation::Either(_) => Judgement::plain(Verdict::Pass, None),
        // Codes are this project's: one that it does not know says nothing, and one that it knows may be a remark.
        Expectation::Rejection(expected) => {
            let named = code.and_then(Code::from_name).filter(|named| !is_same_fault(*named, *expected));
            let remark = named.map(|named| [*expected, named]);
            Judgement { remark, ..Judgement::plain(Verdict::Pass, remark.and(said)) }
        }
        Expectation::Meaning(_) => {
            let code = code.map(|code| format!("\"code\": {}, ", quoted(code))).unwrap_or_default();
            let right = Some(format!("{{{code}\"message\": {}}}", quoted(message)));
            Judgement::fail(Difference { pointer: "/rejection".into(), left: None, right }, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Judgement, Question, Verdict, judge, unseen};
    use crate::answer::{Answer, FailureKind, Level};
    use crate::expectation::Expectation;
    use crate::meaning::{Calls, Meaning};
    use transcript::rejection::Code;

    const MEANING: &str = r#"{"events": [
        {"kind": "tool_call", "id": "1", "tool": "a", "arguments": {"n": 9007199254740993}},
        {"kind": "result", "id": "1", "answers": 0, "result": {"sum": 3}}],
        "authorization_discovery": null}"#;
    const SUMMARY: &str = r#"{"visible": true, "source_kind": "www_authenticate", "resource_metadata_visible": true,
        "authorization_servers_visible": false, "scope_challenge_visible": false}"#;

    fn ask(expectation: &Expectation, level: Level, challenge: bool, answer: &Answer) -> Judgement {
        judge(expectation, &Question { level, challenge, redacted: None }, answer)
    }

    fn events(expectation: &Expectation, answer: &Answer) -> Judgement {
        ask(expectation, Level::Events, false, answer)
    }

    fn meaning(text: &str) -> Answer {
        Answer::Meaning(Meaning::parse(text).unwrap())
    }

    fn rejection(code: Option<&str>) -> Answer {
        Answer::Rejection { code: code.map(Into::into), message: "line 3: no".into() }
    }

    fn at(judgement: &Judgement) -> (&str, Option<&str>, Option<&str>) {
        let difference = judgement.difference.as_ref().unwrap();
        (&difference.pointer, difference.left.as_deref(), difference.right.as_deref())
    }

    #[test]
    fn a_meaning_passes_by_value_and_fails_with_its_first_difference() {
        let expected = Expectation::Meaning(Meaning::parse(MEANING).unwrap());
        let respelled = MEANING
            .replace("\"sum\": 3", "\"sum\": 3.0")
            .replace(",\n        \"authorization_discovery\": null", "");
        assert_eq!(events(&expected, &meaning(&respelled)).verdict, Verdict::Pass);
        let rounded = events(&expected, &meaning(&MEANING.replace("993", "992")));
        assert_eq!((rounded.verdict, rounded.silent_loss), (Verdict::Fail, false));
        let place = "/events/0/arguments/n";
        assert_eq!(at(&rounded), (place, Some("9007199254740993"), Some("9007199254740992")));
        let orphan = events(&expected, &meaning(&MEANING.replace("\"answers\": 0", "\"answers\": null")));
        assert_eq!(at(&orphan), ("/events/1/answers", Some("0"), Some("null")));
        assert!(!orphan.silent_loss);
    }

    #[test]
    fn a_missing_event_is_a_silent_loss_and_a_rejection_is_none() {
        let expected = Expectation::Meaning(Meaning::parse(MEANING).unwrap());
        let short = r#"{"events": [{"kind": "tool_call", "id": "1", "tool": "a",
            "arguments": {"n": 9007199254740993}}]}"#;
        let lost = events(&expected, &meaning(short));
        assert_eq!((lost.verdict, lost.silent_loss), (Verdict::Fail, true));
        assert_eq!(at(&lost).0, "/events/1");
        let refused = events(&expected, &rejection(None));
        assert_eq!((refused.verdict, refused.silent_loss), (Verdict::Fail, false));
        assert_eq!(at(&refused), ("/rejection", None, Some(r#"{"message": "line 3: no"}"#)));
    }

    #[test]
    fn a_rejection_passes_whatever_its_code_is_and_one_of_another_fault_is_remarked() {
        let expected = Expectation::Rejection(Code::InvalidId);
        assert_eq!(events(&expected, &rejection(None)).verdict, Verdict::Pass);
        assert_eq!(events(&expected, &rejection(Some("invalid-id"))).verdict, Verdict::Pass);
        for ours in [None, Some("invalid-id"), Some("E_BAD_ID"), Some("Batch"), Some("")] {
            let judged = events(&expected, &rejection(ours));
            assert_eq!((judged.verdict, judged.remark), (Verdict::Pass, None), "{ours:?}");
            assert_eq!(judged.strictly().verdict, Verdict::Pass, "{ours:?}");
        }
        let cut = events(&Expectation::Rejection(Code::Truncated), &rejection(Some("invalid-json")));
        assert_eq!((cut.remark, cut.strictly().verdict), (None, Verdict::Pass));
        let other = events(&expected, &rejection(Some("batch")));
        assert_eq!((other.verdict, other.remark), (Verdict::Pass, Some([Code::InvalidId, Code::Batch])));
        assert_eq!(other.message.as_deref(), Some("line 3: no"));
        let other = other.strictly();
        assert_eq!(other.verdict, Verdict::Fail);
        assert_eq!(at(&other), ("/rejection/code", Some("\"invalid-id\""), Some("\"batch\"")));
        let read = events(&expected, &meaning(MEANING));
        assert_eq!(at(&read), ("/rejection/code", Some("\"invalid-id\""), None));
        assert_eq!(read.message.as_deref(), Some("it was read: a session of 2 events"));
    }

    #[test]
    fn an_open_case_takes_a_rejection_and_the_one_meaning_it_gives() {
        let free = Expectation::Either(None);
        let bound = Expectation::Either(Some(Meaning::parse(MEANING).unwrap()));
        for expected in [&free, &bound] {
            assert_eq!(events(expected, &rejection(Some("limit"))).verdict, Verdict::Pass);
            assert_eq!(events(expected, &meaning(MEANING)).verdict, Verdict::Pass);
        }
        assert_eq!(events(&free, &meaning(r#"{"events": []}"#)).verdict, Verdict::Pass);
        let lost = events(&bound, &meaning(r#"{"events": []}"#));
        assert_eq!((lost.verdict, lost.silent_loss), (Verdict::Fail, true));
    }

    #[test]
    fn the_summary_is_compared_where_the_format_carries_it_and_absent_elsewhere() {
        let with = MEANING
            .replace("\"authorization_discovery\": null", &format!("\"authorization_discovery\": {SUMMARY}"));
        let expected = Expectation::Meaning(Meaning::parse(&with).unwrap());
        let verdict =
            |challenge, text: &str| ask(&expected, Level::Events, challenge, &meaning(text)).verdict;
        assert_eq!(verdict(true, &with), Verdict::Pass);
        assert_eq!(verdict(true, MEANING), Verdict::Fail);
        assert_eq!(verdict(false, MEANING), Verdict::Pass);
        assert_eq!(verdict(false, &with), Verdict::Fail);
        let other = with.replace("\"scope_challenge_visible\": false", "\"scope_challenge_visible\": true");
        let judgement = ask(&expected, Level::Events, true, &meaning(&other));
        assert_eq!(at(&judgement).0, "/authorization_discovery/scope_challenge_visible");
        let free = Expectation::Either(None);
        assert_eq!(ask(&free, Level::Events, false, &meaning(&with)).verdict, Verdict::Fail);
        assert_eq!(ask(&free, Level::Events, true, &meaning(&with)).verdict, Verdict::Pass);
    }

    #[test]
    fn an_answer_without_the_summary_is_skipped_where_one_is_due() {
        let with = MEANING
            .replace("\"authorization_discovery\": null", &format!("\"authorization_discovery\": {SUMMARY}"));
        let without = MEANING.replace(",\n        \"authorization_discovery\": null", "");
        let expected = Meaning::parse(&with).unwrap();
        for due in [Expectation::Meaning(expected.clone()), Expectation::Either(Some(expected))] {
            for level in [Level::Events, Level::Calls] {
                let judged = |challenge, text: &str| ask(&due, level, challenge, &meaning(text));
                let skipped = judged(true, &without);
                assert_eq!((skipped.verdict, skipped.difference), (Verdict::Skip, None));
                assert!(skipped.message.unwrap().contains("no `authorization_discovery`"));
                assert_eq!(judged(false, &without).verdict, Verdict::Pass, "none is due");
                assert_eq!(
                    judged(true, MEANING).verdict,
                    Verdict::Fail,
                    "`null` says that nothing is visible"
                );
                let wrong = judged(true, &without.replace("993", "992"));
                assert_eq!(wrong.verdict, Verdict::Fail, "what it does show is judged");
            }
        }
        let none = Expectation::Meaning(Meaning::parse(MEANING).unwrap());
        assert_eq!(ask(&none, Level::Events, true, &meaning(&without)).verdict, Verdict::Pass);
    }

    #[test]
    fn calls_are_judged_by_the_projection() {
        let expected = Expectation::Meaning(Meaning::parse(MEANING).unwrap());
        let call = |outcome: &str| {
            format!(
                r#"{{"calls": [{{"tool": "a", "arguments": {{"n": 9007199254740993}}, "outcome": {outcome}}}]}}"#
            )
        };
        let calls =
            |text: String| ask(&expected, Level::Calls, false, &Answer::Calls(Calls::parse(&text).unwrap()));
        assert_eq!(calls(call(r#"{"result": {"sum": 3}}"#)).verdict, Verdict::Pass);
        let lost = calls(call("null"));
        assert_eq!((lost.verdict, lost.silent_loss), (Verdict::Fail, true));
        assert_eq!(at(&lost).0, "/calls/0/outcome");
        assert_eq!(ask(&expected, Level::Calls, false, &meaning(MEANING)).verdict, Verdict::Pass);
    }

    #[test]
    fn a_level_that_shows_nothing_proves_nothing() {
        let seen = |level, answer: &Answer| {
            unseen(&Question { level, challenge: true, redacted: None }, answer).map(|it| it.verdict)
        };
        let none = Answer::Calls(Calls::parse(r#"{"calls": [], "authorization_discovery": null}"#).unwrap());
        let challenge =
            Answer::Calls(Calls::parse(r#"{"calls": [], "authorization_discovery": {}}"#).unwrap());
        assert_eq!(seen(Level::Calls, &none), Some(Verdict::Skip));
        assert_eq!(seen(Level::Calls, &meaning(r#"{"events": []}"#)), Some(Verdict::Skip));
        assert_eq!(seen(Level::Events, &meaning(r#"{"events": []}"#)), None);
        assert_eq!(seen(Level::Calls, &challenge), None);
        assert_eq!(seen(Level::Calls, &meaning(MEANING)), None);
        assert_eq!(seen(Level::Calls, &rejection(None)), None);
    }

    #[test]
    fn what_is_no_answer_has_a_verdict_of_its_own() {
        let rejecting = Expectation::Rejection(Code::Batch);
        assert_eq!(
            events(&rejecting, &Answer::Calls(Calls::parse(r#"{"calls": []}"#).unwrap())).verdict,
            Verdict::Garbled
        );
        for (how, verdict) in [
            (FailureKind::Crash, Verdict::Crash),
            (FailureKind::Timeout, Verdict::Timeout),
            (FailureKind::Garbled, Verdict::Garbled),
            (FailureKind::Unstable, Verdict::Unstable),
        ] {
            let answer = Answer::Broken { how, message: "seen".into() };
            let judgement = events(&Expectation::Either(None), &answer);
            assert_eq!((judgement.verdict, judgement.message.as_deref()), (verdict, Some("seen")));
            assert!(verdict.is_failure());
        }
        let skipped = events(&rejecting, &Answer::Unsupported { why: "no har".into() });
        assert_eq!((skipped.verdict, skipped.verdict.is_failure()), (Verdict::Skip, false));
    }

    #[test]
    fn a_redacted_value_is_counted() {
        let expected = Expectation::Meaning(Meaning::parse(MEANING).unwrap());
        let question = Question { level: Level::Events, challenge: false, redacted: Some("[X]") };
        let hidden = meaning(&MEANING.replace(r#"{"sum": 3}"#, r#""[X]""#));
        let judgement = judge(&expected, &question, &hidden);
        assert_eq!((judgement.verdict, judgement.redacted), (Verdict::Pass, 1));
        assert_eq!(events(&expected, &hidden).verdict, Verdict::Fail);
    }
}
