//! Answers: late, early, twice, to nobody, and none.

use crate::mutator::Apply;
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::{Entry, KnownEvent, SessionBuilder};
use transcript::session::{Side, header};

mutators! {
    "response-late" ["EQ-ORDER" "COR-FIRST"] "An answer comes at the end of the session."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            let entry = builder.entries.remove(at);
            builder.entries.push(entry);
            true
        });
    "response-early" ["COR-BEFORE"] "An answer comes at the beginning of the session, before anything was asked."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            let entry = builder.entries.remove(at);
            builder.entries.insert(0, entry);
            true
        });
    "response-twice" ["COR-LATE" "EQ-COUNT"] "An answer comes twice."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            let again = builder.entries[at].clone();
            let place = at + 1 + rng.below(builder.entries.len() - at);
            builder.entries.insert(place, again);
            true
        });
    "response-to-nobody" ["COR-LATE"] "An answer comes without a request."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let side = if rng.one_in(3) { Side::Client } else { Side::Server };
            let at = rng.below(builder.entries.len() + 1);
            let id = format!("\"nobody-{}\"", rng.below(1000));
            builder.entries.insert(at, Entry::result(side, &id, r#"{"sum":3}"#));
            true
        });
    "response-missing" ["EQ-OUTCOME"] "An answer never comes."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            builder.entries.remove(at);
            true
        });
    "responses-swapped" ["EQ-ORDER" "COR-FIRST"] "Two answers that follow each other change places."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let answers = answers(builder);
            let pairs: Vec<_> = answers.windows(2).map(|pair| (pair[0], pair[1])).collect();
            let Some(&(a, b)) = rng.pick(&pairs) else { return false };
            builder.entries.swap(a, b);
            true
        });
}

/// The answers, except those beside a challenge: what it shows goes with them.
fn answers(builder: &SessionBuilder) -> Vec<usize> {
    let mut answers = builder.messages_where(KnownEvent::is_response);
    answers.retain(|&at| {
        let headers = builder.entries[at].owned.context.as_ref().map(|context| &context.headers);
        headers.is_none_or(|headers| header(headers, "www-authenticate").is_none())
    });
    answers
}

fn one(builder: &SessionBuilder, rng: &mut Rng) -> Option<usize> {
    rng.pick(&answers(builder)).copied()
}
