//! Many requests at once, and requests that somebody may confuse while they are open together.

use super::dice::Dice;
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use crate::variant::{Draft, Turn};
use transcript::session::Side;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "crowd",
        sentence: "Dozens of requests are open at once, and are answered in the order in which they came, or in the other.",
        clauses: &["COR-FIRST", "EQ-COUNT"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let (side, count) = (side(dice), 33 + dice.below(8));
            let id = |number: usize| format!("\"crowd {number}\"");
            let asked = (0..count).map(|number| Turn::request(side, &id(number), "ping"));
            let mut answers: Vec<usize> = (0..count).collect();
            if dice.one_in(2) {
                answers.reverse();
            }
            let answers = answers
                .into_iter()
                .map(|number| Turn::result(side.other(), &id(number), &format!("{{\"number\":{number}}}")));
            put(draft, dice, asked.chain(answers).collect())
        }),
    },
    Mutator {
        name: "crossed-alike",
        sentence: "Two requests with ids that somebody may take for one are open together, and answered the second first.",
        clauses: &["ID-STRING", "COR-FIRST"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let long = "0123456789abcdef".repeat(8);
            let [one, other] = [1, 2].map(|end| format!("\"{long}{end}\""));
            let pairs: &[(&str, &str)] = &[
                ("\"alike\"", "\"ALIKE\""),
                ("\"alike\"", "\"alike \""),
                ("\"alike\"", "\" alike\""),
                ("\"alik\u{e9}\"", "\"alike\u{301}\""),
                ("\"__proto__\"", "\"constructor\""),
                ("\"toString\"", "\"__proto__\""),
                ("\"77\"", "\"077\""),
                ("9007199254740993", "9007199254740992"),
                (&one, &other),
            ];
            let Some(&(first, second)) = dice.pick(pairs) else { return false };
            crossed(draft, dice, first, second)
        }),
    },
    Mutator {
        name: "crossed-surrogates",
        sentence: "Two requests are open together whose ids are half of a pair and the six characters of its escape.",
        clauses: &["SRV-TWICE", "ID-STRING"],
        relation: Relation::Open(Reading::Known),
        apply: Apply::Session(|draft, dice| crossed(draft, dice, r#""\ud83d""#, r#""\\ud83d""#)),
    },
    Mutator {
        name: "cancelled-and-answered",
        sentence: "A request is cancelled and answered all the same.",
        clauses: &["COR-FIRST", "COR-ANY"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let (side, id) = (side(dice), "\"cancelled\"");
            let note =
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"cancelled"}}"#;
            let event = r#"{"kind":"notification","method":"notifications/cancelled","params":{"requestId":"cancelled"}}"#;
            let turns = vec![
                if dice.one_in(2) { call(side, id) } else { Turn::request(side, id, "resources/list") },
                Turn::message(side, note, event, None),
                Turn::result(side.other(), id, r#"{"too":"late"}"#),
            ];
            put(draft, dice, turns)
        }),
    },
    Mutator {
        name: "answer-like-a-tools",
        sentence: "While a tool call is open another request is answered with what looks like a tool's result.",
        clauses: &["COR-ANY"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let side = side(dice);
            let content = r#"{"content":[{"type":"text","text":"x"}],"isError":true}"#;
            let turns = vec![
                call(side, "\"a tool\""),
                Turn::request(side, "\"no tool\"", "prompts/get"),
                Turn::result(side.other(), "\"no tool\"", content),
                Turn::result(side.other(), "\"a tool\"", r#"{"content":[],"isError":true}"#),
            ];
            put(draft, dice, turns)
        }),
    },
];

fn side(dice: &mut Dice) -> Side {
    if dice.one_in(4) { Side::Server } else { Side::Client }
}

/// A tool call with an id that no made session has.
fn call(side: Side, id: &str) -> Turn {
    let text = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"Tool","arguments":{}}}"#;
    Turn::message(side, text, r#"{"kind":"tool_call","tool":"Tool","arguments":{}}"#, Some(id))
}

fn crossed(draft: &mut Draft, dice: &mut Dice, first: &str, second: &str) -> bool {
    let side = side(dice);
    let answer = |id: &str, result: &str| Turn::result(side.other(), id, result);
    let turns = vec![
        Turn::request(side, first, "resources/list"),
        Turn::request(side, second, "prompts/list"),
        answer(second, r#"{"second":2}"#),
        answer(first, r#"{"first":1}"#),
    ];
    put(draft, dice, turns)
}

/// Puts turns somewhere into the session, in a row.
fn put(draft: &mut Draft, dice: &mut Dice, turns: Vec<Turn>) -> bool {
    let at = dice.below(draft.turns.len() + 1);
    let ids = |turn: &Turn| turn.message.as_ref()?.key();
    let mine: Vec<_> = turns.iter().filter_map(ids).collect();
    // A tool call with an id that is there already would be a second one, which is another matter.
    if draft.turns.iter().filter_map(ids).any(|id| mine.contains(&id)) {
        return false;
    }
    draft.turns.splice(at..at, turns);
    true
}
