//! One reading held against another, at the level that the importer can show.
//!
//! Which parts of a reading are compared, in which order, and that a reading without a summary shows none, while `null` says
//! that nothing is visible.

use crate::answer::{Answer, Level};
use crate::document::{CALLS, EVENTS};
use crate::judgement::{Judgement, Question, Verdict};
use crate::loss::{of_calls, of_events, silent};
use crate::meaning::{Calls, Meaning};
use std::borrow::Cow;
use transcript::diff::{Comparison, DiffOptions, Difference, first_below};
use transcript::json::{Json, JsonKind};

/// What is asked of the K2-A summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Summaries {
    /// It is the expected one; a reading that leaves it out where one is expected is skipped, since to show it is
    /// optional (clause K2A-SUMMARY).
    Equal,
    /// It is the same where both readings have one, be it `null`.
    WhereShown,
    /// There is none, since the format carries no challenge.
    None,
    /// Nothing.
    Any,
}

/// Judges one reading by another, both at the level of the question: equal or not, and where not.
///
/// # Errors
/// A sentence where one of them is not a reading of that level.
pub(crate) fn compare(
    expected: &Answer,
    actual: &Answer,
    question: &Question<'_>,
    summaries: Summaries,
) -> Result<Judgement, String> {
    let (expected, actual) = (at_level(expected, question.level)?, at_level(actual, question.level)?);
    Ok(Shown::new(&actual).against(&Shown::new(&expected), question, summaries))
}

/// Whether a reading that is right shows nothing at this level: no call, and no summary (clause EQ-TOOL and its like
/// are about calls; an importer that shows only calls shows nothing of a session without any).
pub(crate) fn shows_nothing(answer: &Answer, level: Level) -> bool {
    level == Level::Calls
        && at_level(answer, level).is_ok_and(|reading| {
            let shown = Shown::new(&reading);
            shown.list.items().next().is_none() && shown.summary.is_none()
        })
}

/// A reading at the level of a question.
enum Reading<'a> {
    Events(&'a Meaning),
    Calls(Cow<'a, Calls>),
}

/// A reading at the level of the question.
///
/// # Errors
/// A sentence where it shows less than the importer said it can, or is not a reading.
fn at_level(answer: &Answer, level: Level) -> Result<Reading<'_>, String> {
    match (answer, level) {
        (Answer::Meaning(meaning), Level::Events) => Ok(Reading::Events(meaning)),
        (Answer::Calls(calls), Level::Calls) => Ok(Reading::Calls(Cow::Borrowed(calls))),
        (Answer::Meaning(meaning), Level::Calls) => Ok(Reading::Calls(Cow::Owned(meaning.calls()))),
        (Answer::Calls(_), Level::Events) => Err("only calls, from an importer that shows all events".into()),
        (other, _) => Err(format!("{} is not a session", other.in_words())),
    }
}

/// The parts of a reading that are compared.
struct Shown<'a> {
    level: Level,
    list: Json<'a>,
    /// None where it is `null` or absent.
    summary: Option<Json<'a>>,
    /// It is there, be it `null`.
    says: bool,
}

impl<'a> Shown<'a> {
    fn new(reading: &'a Reading<'_>) -> Self {
        let (level, value) = match reading {
            Reading::Events(meaning) => (Level::Events, meaning.json()),
            Reading::Calls(calls) => (Level::Calls, calls.json()),
        };
        let summary = value.member(SUMMARY);
        let says = summary.is_some();
        let summary = summary.filter(|summary| summary.kind() != JsonKind::Null);
        // A reading has its list, or it would not have been taken for one.
        Self { level, list: value.member(list_name(level)).unwrap_or(value), summary, says }
    }

    /// Compares the reading with the one that is expected.
    fn against(&self, expected: &Self, question: &Question<'_>, summaries: Summaries) -> Judgement {
        let rules = DiffOptions { ignore: Vec::new(), redacted: question.redacted.map(Into::into) };
        let name = list_name(self.level);
        let Comparison { difference, redacted, .. } =
            first_below(vec![name.into()], expected.list, self.list, &rules);
        if let Some(difference) = difference {
            let parts = match self.level {
                Level::Events => of_events,
                Level::Calls => of_calls,
            };
            let silent_loss = silent(&parts(expected.list), &parts(self.list), &rules);
            return Judgement { silent_loss, redacted, ..Judgement::fail(difference, None) };
        }
        let other = match summaries {
            Summaries::Equal if expected.summary.is_some() && !self.says => {
                let why = format!("the answer has no `{SUMMARY}`, so it shows nothing of the challenge");
                return Judgement { redacted, ..Judgement::plain(Verdict::Skip, Some(why)) };
            }
            Summaries::WhereShown if !(self.says && expected.says) => None,
            Summaries::Equal | Summaries::WhereShown => self.other_summary(expected.summary),
            Summaries::None => self.other_summary(None),
            Summaries::Any => None,
        };
        match other {
            Some(difference) => Judgement { redacted, ..Judgement::fail(difference, None) },
            None => Judgement { redacted, ..Judgement::plain(Verdict::Pass, None) },
        }
    }

    /// How the summary differs; where none is expected, one that is absent is the same as `null`.
    fn other_summary(&self, expected: Option<Json<'_>>) -> Option<Difference> {
        let path = || vec![SUMMARY.to_owned()];
        match (expected, self.summary) {
            (None, None) => None,
            (Some(left), Some(right)) => first_below(path(), left, right, &DiffOptions::default()).difference,
            (left, right) => Some(Difference {
                pointer: format!("/{SUMMARY}"),
                left: Some(left.map_or("null", Json::text).to_owned()),
                right: Some(right.map_or("null", Json::text).to_owned()),
            }),
        }
    }
}

const SUMMARY: &str = "authorization_discovery";

fn list_name(level: Level) -> &'static str {
    match level {
        Level::Events => EVENTS,
        Level::Calls => CALLS,
    }
}
