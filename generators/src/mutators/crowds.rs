//! Many requests at once, and requests that somebody may confuse while they are open together.

use crate::mutator::Apply;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::{Entry, SessionBuilder};
use transcript::session::Side;

mutators! {
    "crowd" ["COR-FIRST" "EQ-COUNT"] "Dozens of requests are open at once, and are answered in the order in which they came, or in the other."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let (side, count) = (side(rng), 33 + rng.below(8));
            let id = |number: usize| format!("\"crowd {number}\"");
            let asked = (0..count).map(|number| Entry::request(side, &id(number), "ping"));
            let mut answers: Vec<usize> = (0..count).collect();
            if rng.one_in(2) {
                answers.reverse();
            }
            let answers = answers
                .into_iter()
                .map(|number| Entry::result(side.other(), &id(number), &format!("{{\"number\":{number}}}")));
            put(builder, rng, asked.chain(answers).collect())
        });
    "crossed-alike" ["ID-STRING" "COR-FIRST"] "Two requests with ids that look alike are open at once, and the second is answered first."
        => Relation::Changes, Apply::Session(|builder, rng| {
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
            let Some(&(first, second)) = rng.pick(pairs) else { return false };
            crossed(builder, rng, first, second)
        });
    "crossed-surrogates" ["SRV-TWICE" "ID-STRING"] "Two requests are open together whose ids are half of a pair and the six characters of its escape."
        => Relation::Open(Reading::Known), Apply::Session(|builder, rng| crossed(builder, rng, r#""\ud83d""#, r#""\\ud83d""#));
    "cancelled-and-answered" ["COR-FIRST" "COR-ANY"] "A request is cancelled and answered all the same."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let (side, id) = (side(rng), "\"cancelled\"");
            let note =
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"cancelled"}}"#;
            let event = r#"{"kind":"notification","method":"notifications/cancelled","params":{"requestId":"cancelled"}}"#;
            let entries = vec![
                if rng.one_in(2) { call(side, id) } else { Entry::request(side, id, "resources/list") },
                Entry::message(side, note, event, None),
                Entry::result(side.other(), id, r#"{"too":"late"}"#),
            ];
            put(builder, rng, entries)
        });
    "answer-like-a-tools" ["COR-ANY"] "While a tool call is open another request is answered with what looks like a tool's result."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let side = side(rng);
            let content = r#"{"content":[{"type":"text","text":"x"}],"isError":true}"#;
            let entries = vec![
                call(side, "\"a tool\""),
                Entry::request(side, "\"no tool\"", "prompts/get"),
                Entry::result(side.other(), "\"no tool\"", content),
                Entry::result(side.other(), "\"a tool\"", r#"{"content":[],"isError":true}"#),
            ];
            put(builder, rng, entries)
        });
}

fn side(rng: &mut Rng) -> Side {
    if rng.one_in(4) { Side::Server } else { Side::Client }
}

/// A tool call with an id that no made session has.
fn call(side: Side, id: &str) -> Entry {
    let text = r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"Tool","arguments":{}}}"#;
    Entry::message(side, text, r#"{"kind":"tool_call","tool":"Tool","arguments":{}}"#, Some(id))
}

fn crossed(builder: &mut SessionBuilder, rng: &mut Rng, first: &str, second: &str) -> bool {
    let side = side(rng);
    let answer = |id: &str, result: &str| Entry::result(side.other(), id, result);
    let entries = vec![
        Entry::request(side, first, "resources/list"),
        Entry::request(side, second, "prompts/list"),
        answer(second, r#"{"second":2}"#),
        answer(first, r#"{"first":1}"#),
    ];
    put(builder, rng, entries)
}

/// Puts entries somewhere into the session, in a row.
pub(super) fn put(builder: &mut SessionBuilder, rng: &mut Rng, entries: Vec<Entry>) -> bool {
    let at = rng.below(builder.entries.len() + 1);
    let ids = |entry: &Entry| entry.message.as_ref()?.key();
    let mine: Vec<_> = entries.iter().filter_map(ids).collect();
    // A tool call with an id that is there already would be a second one, which is another matter.
    if builder.entries.iter().filter_map(ids).any(|id| mine.contains(&id)) {
        return false;
    }
    builder.entries.splice(at..at, entries);
    true
}
