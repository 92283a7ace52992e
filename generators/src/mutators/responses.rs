//! Answers: late, early, twice, to nobody, and none.

use super::dice::Dice;
use super::{Apply, Mutator};
use crate::relation::Relation;
use crate::variant::{Draft, Spoken, Turn};
use transcript::session::{Side, header};

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "response-late",
        sentence: "An answer comes at the end of the session.",
        clauses: &["EQ-ORDER", "COR-FIRST"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(at) = one(draft, dice) else { return false };
            let turn = draft.turns.remove(at);
            draft.turns.push(turn);
            true
        }),
    },
    Mutator {
        name: "response-early",
        sentence: "An answer comes at the beginning of the session, before anything was asked.",
        clauses: &["COR-BEFORE"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(at) = one(draft, dice) else { return false };
            let turn = draft.turns.remove(at);
            draft.turns.insert(0, turn);
            true
        }),
    },
    Mutator {
        name: "response-twice",
        sentence: "An answer comes twice.",
        clauses: &["COR-LATE", "EQ-COUNT"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(at) = one(draft, dice) else { return false };
            let again = draft.turns[at].clone();
            let place = at + 1 + dice.below(draft.turns.len() - at);
            draft.turns.insert(place, again);
            true
        }),
    },
    Mutator {
        name: "response-to-nobody",
        sentence: "An answer comes that nobody asked for.",
        clauses: &["COR-LATE"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let side = if dice.one_in(3) { Side::Client } else { Side::Server };
            let at = dice.below(draft.turns.len() + 1);
            let id = format!("\"nobody-{}\"", dice.below(1000));
            draft.turns.insert(at, Turn::result(side, &id, r#"{"sum":3}"#));
            true
        }),
    },
    Mutator {
        name: "response-missing",
        sentence: "An answer never comes.",
        clauses: &["EQ-OUTCOME"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let Some(at) = one(draft, dice) else { return false };
            draft.turns.remove(at);
            true
        }),
    },
    Mutator {
        name: "responses-swapped",
        sentence: "Two answers that follow each other change places.",
        clauses: &["EQ-ORDER", "COR-FIRST"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let answers = answers(draft);
            let pairs: Vec<_> = answers.windows(2).map(|pair| (pair[0], pair[1])).collect();
            let Some(&(a, b)) = dice.pick(&pairs) else { return false };
            draft.turns.swap(a, b);
            true
        }),
    },
];

/// The answers, but for those that stand beside a challenge: what it shows goes with them.
fn answers(draft: &Draft) -> Vec<usize> {
    let mut answers = draft.those(Spoken::is_response);
    answers.retain(|&at| {
        let headers = draft.turns[at].entry.context.as_ref().map(|context| &context.headers);
        headers.is_none_or(|headers| header(headers, "www-authenticate").is_none())
    });
    answers
}

fn one(draft: &Draft, dice: &mut Dice) -> Option<usize> {
    dice.pick(&answers(draft)).copied()
}
