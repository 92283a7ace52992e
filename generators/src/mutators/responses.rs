//! Answers: late, early, twice, to nobody, and none.

use crate::mutator::{Apply, Mutator};
use crate::relation::Relation;
use crate::rng::Rng;
use crate::session_builder::{Entry, Event, SessionBuilder};
use transcript::session::{Side, header};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "response-late",
        sentence: "An answer comes at the end of the session.",
        clauses: &["EQ-ORDER", "COR-FIRST"],
        relation: Relation::Changes,
        apply: Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            let entry = builder.entries.remove(at);
            builder.entries.push(entry);
            true
        }),
    },
    Mutator {
        name: "response-early",
        sentence: "An answer comes at the beginning of the session, before anything was asked.",
        clauses: &["COR-BEFORE"],
        relation: Relation::Changes,
        apply: Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            let entry = builder.entries.remove(at);
            builder.entries.insert(0, entry);
            true
        }),
    },
    Mutator {
        name: "response-twice",
        sentence: "An answer comes twice.",
        clauses: &["COR-LATE", "EQ-COUNT"],
        relation: Relation::Changes,
        apply: Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            let again = builder.entries[at].clone();
            let place = at + 1 + rng.below(builder.entries.len() - at);
            builder.entries.insert(place, again);
            true
        }),
    },
    Mutator {
        name: "response-to-nobody",
        sentence: "An answer comes without a request.",
        clauses: &["COR-LATE"],
        relation: Relation::Changes,
        apply: Apply::Session(|builder, rng| {
            let side = if rng.one_in(3) { Side::Client } else { Side::Server };
            let at = rng.below(builder.entries.len() + 1);
            let id = format!("\"nobody-{}\"", rng.below(1000));
            builder.entries.insert(at, Entry::result(side, &id, r#"{"sum":3}"#));
            true
        }),
    },
    Mutator {
        name: "response-missing",
        sentence: "An answer never comes.",
        clauses: &["EQ-OUTCOME"],
        relation: Relation::Changes,
        apply: Apply::Session(|builder, rng| {
            let Some(at) = one(builder, rng) else { return false };
            builder.entries.remove(at);
            true
        }),
    },
    Mutator {
        name: "responses-swapped",
        sentence: "Two answers that follow each other change places.",
        clauses: &["EQ-ORDER", "COR-FIRST"],
        relation: Relation::Changes,
        apply: Apply::Session(|builder, rng| {
            let answers = answers(builder);
            let pairs: Vec<_> = answers.windows(2).map(|pair| (pair[0], pair[1])).collect();
            let Some(&(a, b)) = rng.pick(&pairs) else { return false };
            builder.entries.swap(a, b);
            true
        }),
    },
];

/// The answers, but for those that stand beside a challenge: what it shows goes with them.
fn answers(builder: &SessionBuilder) -> Vec<usize> {
    let mut answers = builder.messages_where(Event::is_response);
    answers.retain(|&at| {
        let headers = builder.entries[at].owned.context.as_ref().map(|context| &context.headers);
        headers.is_none_or(|headers| header(headers, "www-authenticate").is_none())
    });
    answers
}

fn one(builder: &SessionBuilder, rng: &mut Rng) -> Option<usize> {
    rng.pick(&answers(builder)).copied()
}
