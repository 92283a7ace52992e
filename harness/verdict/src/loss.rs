//! The silent loss: a message that the transcript carries and that a reading accounts for nowhere.
//!
//! How to tell a message that is gone from one that was read wrongly.

use crate::normal::is;
use transcript::diff::{DiffOptions, PointerPattern, first};
use transcript::json::{Json, JsonKind};

/// With more messages than this without a counterpart, only their numbers are compared.
const PAIRED: usize = 1_000;

/// Whether a reading that differs lost a message in silence.
///
/// A message is *read wrongly* when something of its sort stands in the reading that is not an expected message at
/// all. It is *lost* when nothing does: the reading has fewer of the sort, or has another one twice instead.
pub(crate) fn silent(expected: &[Part<'_>], actual: &[Part<'_>], rules: &DiffOptions) -> bool {
    let but_for_binding = |place: &str| PointerPattern::parse(place).ok();
    let ignore = ["/answers", "/outcome"].into_iter().filter_map(but_for_binding).collect();
    let rules = DiffOptions { ignore, redacted: rules.redacted.clone() };
    [Sort::Call, Sort::Answer].into_iter().any(|sort| {
        let (expected, actual) = (of_sort(sort, expected), of_sort(sort, actual));
        actual.len() < expected.len() || replaced(&expected, &actual, &rules)
    })
}

/// One thing that a message was read as.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Part<'a> {
    sort: Sort,
    value: Json<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// A request, notification or tool call.
    Call,
    /// A result or error.
    Answer,
}

fn of_sort<'a>(sort: Sort, parts: &[Part<'a>]) -> Vec<Json<'a>> {
    parts.iter().filter(|part| part.sort == sort).map(|part| part.value).collect()
}

/// The messages of a list of events.
pub(crate) fn of_events(events: Json<'_>) -> Vec<Part<'_>> {
    let answers = |kind: Json<'_>| is(kind, "result") || is(kind, "error");
    let sort = |event: Json<'_>| match event.member("kind") {
        Some(kind) if answers(kind) => Sort::Answer,
        _ => Sort::Call,
    };
    events.items().map(|event| Part { sort: sort(event), value: event }).collect()
}

/// The messages of a list of calls: each call, and each outcome.
pub(crate) fn of_calls(calls: Json<'_>) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    for call in calls.items() {
        parts.push(Part { sort: Sort::Call, value: call });
        if let Some(outcome) = call.member("outcome").filter(|outcome| outcome.kind() != JsonKind::Null) {
            parts.push(Part { sort: Sort::Answer, value: outcome });
        }
    }
    parts
}

/// Whether more expected messages are gone than there are misread ones that could be they.
fn replaced(expected: &[Json<'_>], actual: &[Json<'_>], rules: &DiffOptions) -> bool {
    let same = |a: &Json<'_>, b: &Json<'_>| first(*a, *b, rules).difference.is_none();
    let (mut gone, mut strange) = (Vec::new(), Vec::new());
    for (index, found) in actual.iter().enumerate() {
        match expected.get(index) {
            Some(wanted) if same(wanted, found) => {}
            wanted => {
                gone.extend(wanted);
                strange.push(found);
            }
        }
    }
    if gone.len() > PAIRED || strange.len() > PAIRED {
        return false;
    }
    gone.retain(|wanted| match strange.iter().position(|found| same(wanted, found)) {
        Some(at) => {
            strange.swap_remove(at);
            false
        }
        None => true,
    });
    strange.retain(|found| !expected.iter().any(|wanted| same(wanted, found)));
    gone.len() > strange.len()
}

#[cfg(test)]
mod tests {
    use super::{of_calls, of_events, silent};
    use crate::normal::parse;
    use transcript::diff::DiffOptions;

    const A: &str = r#"{"kind":"tool_call","id":"1","tool":"a"}"#;
    const B: &str = r#"{"kind":"tool_call","id":"2","tool":"b"}"#;
    const ANSWER: &str = r#"{"kind":"result","id":"1","answers":0,"result":1}"#;
    const ORPHAN: &str = r#"{"kind":"result","id":"1","answers":null,"result":1}"#;
    const MISREAD: &str = r#"{"kind":"result","id":"1","answers":0,"result":2}"#;

    fn events(expected: &[&str], actual: &[&str]) -> bool {
        let [expected, actual] = [expected, actual].map(|events| format!("[{}]", events.join(",")));
        let parts = |text| of_events(parse(text).unwrap());
        silent(&parts(&expected), &parts(&actual), &DiffOptions::default())
    }

    #[test]
    fn what_is_gone_is_lost_and_what_is_misread_is_not() {
        assert!(events(&[A, B, ANSWER], &[A, ANSWER]), "a call is gone");
        assert!(events(&[A, B, ANSWER], &[A, B]), "an answer is gone");
        assert!(events(&[A, B, ANSWER], &[A, B, A]), "an answer is gone, though a call stands twice");
        assert!(events(&[A, B], &[A, A]), "a call stands in place of another");
        assert!(!events(&[A, B, ANSWER], &[B, A, ANSWER]), "order is not a loss");
        assert!(!events(&[A, B, ANSWER], &[A, B, ORPHAN]), "binding is not a loss");
        assert!(!events(&[A, B, ANSWER], &[A, B, MISREAD]), "a wrong value is not a loss");
        assert!(!events(&[A, ANSWER], &[A, ANSWER, ANSWER]), "an addition is not a loss");
    }

    #[test]
    fn a_call_without_its_outcome_lost_the_answer() {
        let answered = r#"[{"tool":"a","outcome":{"result":1}},{"tool":"b","outcome":null}]"#;
        let swapped = r#"[{"tool":"a","outcome":null},{"tool":"b","outcome":{"result":1}}]"#;
        let open = r#"[{"tool":"a","outcome":null},{"tool":"b","outcome":null}]"#;
        let lost = |actual| {
            let parts = |text| of_calls(parse(text).unwrap());
            silent(&parts(answered), &parts(actual), &DiffOptions::default())
        };
        assert!(lost(open));
        assert!(!lost(swapped), "the answer is there, though not with its call");
        assert!(lost("[]"));
    }
}
