//! An open clause leaves the choice, and asks for one choice: the same in every format.
//!
//! When the answers to the transcripts of one case agree.

use crate::answer::Answer;
use crate::compare::{Summaries, compare};
use crate::judgement::{Judgement, Question, Verdict};
use transcript::diff::Difference;

/// An answer with what it was asked about.
#[derive(Debug, Clone, Copy)]
pub struct FormatAnswer<'a> {
    /// The format's name, for the message.
    pub format: &'a str,
    /// The question.
    pub question: Question<'a>,
    /// The answer.
    pub answer: &'a Answer,
}

/// For each answer, how it differs from what most others say (the first of them, where as many say either); none
/// where it agrees, or says nothing at all.
pub fn judge(asked: &[FormatAnswer<'_>]) -> Vec<Option<Judgement>> {
    // One answer of each camp, with the number of those that agree with it.
    let mut camps: Vec<(&FormatAnswer<'_>, usize)> = Vec::new();
    for one in asked.iter().filter(|one| speaks(one.answer)) {
        match camps.iter_mut().find(|(speaker, _)| differs(speaker, one).is_none()) {
            Some((_, followers)) => *followers += 1,
            None => camps.push((one, 1)),
        }
    }
    let most = camps.iter().map(|camp| camp.1).max();
    let Some((leader, _)) = camps.iter().find(|camp| Some(camp.1) == most) else {
        return vec![None; asked.len()];
    };
    asked.iter().map(|one| differs(leader, one).filter(|_| speaks(one.answer))).collect()
}

fn speaks(answer: &Answer) -> bool {
    !matches!(answer, Answer::Unsupported { .. } | Answer::Broken { .. })
}

/// How `one` differs from `leader`; a summary counts where both formats carry one, and both answers show one.
fn differs(leader: &FormatAnswer<'_>, one: &FormatAnswer<'_>) -> Option<Judgement> {
    let judgement = match (leader.answer, one.answer) {
        (Answer::Rejection { .. }, Answer::Rejection { .. }) => return None,
        (Answer::Rejection { .. }, _) | (_, Answer::Rejection { .. }) => {
            let shown = |answer: &Answer| Some(format!("\"{}\"", answer.in_words()));
            let (left, right) = (shown(leader.answer), shown(one.answer));
            Judgement::fail(Difference { pointer: String::new(), left, right }, None)
        }
        (left, right) => {
            let both = leader.question.challenge && one.question.challenge;
            let summaries = if both { Summaries::WhereShown } else { Summaries::Any };
            compare(left, right, &one.question, summaries).ok()?
        }
    };
    let message = format!(
        "either reading is allowed, but the same one in each format: {} was read differently",
        leader.format
    );
    (judgement.verdict == Verdict::Fail).then_some(Judgement { message: Some(message), ..judgement })
}

#[cfg(test)]
mod tests {
    use super::{FormatAnswer, judge};
    use crate::answer::{Answer, FailureKind, Level};
    use crate::meaning::Meaning;
    use crate::verdict::Question;

    fn deviants(answers: &[Answer]) -> Vec<usize> {
        let question = Question { level: Level::Events, challenge: false, redacted: None };
        let asked: Vec<_> =
            answers.iter().map(|answer| FormatAnswer { format: "f", question, answer }).collect();
        let judged = judge(&asked);
        (0..answers.len()).filter(|index| judged[*index].is_some()).collect()
    }

    fn events(count: usize) -> Answer {
        let events = vec![r#"{"kind":"notification","method":"a"}"#; count].join(",");
        Answer::Meaning(Meaning::parse(&format!("{{\"events\":[{events}]}}")).unwrap())
    }

    fn rejection(code: &str) -> Answer {
        Answer::Rejection { code: Some(code.into()), message: String::new() }
    }

    #[test]
    fn the_few_differ_from_the_many_and_the_later_from_the_first() {
        assert_eq!(deviants(&[]), [0; 0]);
        assert_eq!(deviants(&[rejection("batch"), rejection("limit")]), [0; 0]);
        assert_eq!(deviants(&[events(1), events(1), events(1)]), [0; 0]);
        assert_eq!(deviants(&[rejection("batch"), events(1)]), [1]);
        assert_eq!(deviants(&[rejection("batch"), events(1), events(1)]), [0]);
        assert_eq!(deviants(&[events(2), events(1), rejection("batch")]), [1, 2]);
    }

    #[test]
    fn who_says_nothing_does_not_differ() {
        let crash = Answer::Broken { how: FailureKind::Crash, message: String::new() };
        let unsupported = Answer::Unsupported { why: String::new() };
        assert_eq!(deviants(&[crash.clone(), crash, unsupported, events(1)]), [0; 0]);
    }

    #[test]
    fn a_summary_counts_where_both_formats_carry_one() {
        let differ = |second: bool, text: &str| {
            let answers = [text, r#"{"events":[],"authorization_discovery":{}}"#]
                .map(|text| Answer::Meaning(Meaning::parse(text).unwrap()));
            let question = |challenge| Question { level: Level::Events, challenge, redacted: None };
            let asked = [
                FormatAnswer { format: "a", question: question(true), answer: &answers[1] },
                FormatAnswer { format: "b", question: question(second), answer: &answers[0] },
            ];
            judge(&asked)[1].is_some()
        };
        let [silent, null] = [r#"{"events":[]}"#, r#"{"events":[],"authorization_discovery":null}"#];
        assert!(differ(true, null));
        assert!(!differ(false, null));
        assert!(!differ(true, silent), "who shows none does not differ");
    }
}
