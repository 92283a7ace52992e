//! Ids: renamed, of another type, none at all, and twice.

use super::dice::Dice;
use super::node::Node;
use super::page::Page;
use super::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use crate::variant::{Draft, Spoken, Turn, correlation, key_of};
use transcript::rejection::Code;
use transcript::session::Side;

pub(super) const MUTATORS: &[Mutator] = &[
    Mutator {
        name: "ids-number-as-text",
        sentence: "Every integer id is written as the string of its digits.",
        clauses: &["ID-NUMBER", "ID-STRING"],
        relation: Relation::Same,
        apply: Apply::Session(number_as_text),
    },
    Mutator {
        name: "ids-renamed",
        sentence: "Every id becomes another string, one to one.",
        clauses: &["ID-STRING"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            let salt = dice.below(1000);
            rename(draft, |index| format!("\"call {salt}/{index}\""))
        }),
    },
    Mutator {
        name: "ids-counted",
        sentence: "Every id becomes a number that counts from 0, one to one.",
        clauses: &["ID-NUMBER"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, _| rename(draft, |index| index.to_string())),
    },
    Mutator {
        name: "ids-huge",
        sentence: "Every id becomes an integer beyond what a double holds, one to one, neighbours apart by one.",
        clauses: &["ID-NUMBER"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| match dice.below(3) {
            0 => rename(draft, |index| format!("90071992547409{}", 93 + index)),
            1 => rename(draft, |index| format!("-1844674407370955{}", 1616 + index)),
            _ => rename(draft, |index| format!("{}{index:03}", "1234567890".repeat(4))),
        }),
    },
    Mutator {
        name: "ids-look-alike",
        sentence: "Every id becomes a string that somebody may take for another: by case, white space, form or emptiness.",
        clauses: &["ID-STRING"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| {
            const ALIKE: &[&str] = &[
                "\"a\"",
                "\"A\"",
                "\" a\"",
                "\"a \"",
                "\"é\"",
                "\"e\u{301}\"",
                "\"\"",
                "\" \"",
                "\"a\\u0000\"",
                "\"+1\"",
                "\"01\"",
            ];
            let first = dice.below(ALIKE.len());
            rename(draft, |index| {
                match ALIKE.get((first + index) % ALIKE.len()).filter(|_| index < ALIKE.len()) {
                    Some(id) => (*id).to_owned(),
                    None => format!("\"a{index}\""),
                }
            })
        }),
    },
    Mutator {
        name: "ids-null-text",
        sentence: "One id becomes the string \"null\", in the request and in its answers.",
        clauses: &["ID-NULL-TEXT"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| rename_one(draft, dice, "\"null\"")),
    },
    Mutator {
        name: "ids-null",
        sentence: "One request loses its id to null, so that nothing answers it.",
        clauses: &["ID-NULL"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| lose(draft, dice, Spoken::asks, Some("null"))),
    },
    Mutator {
        name: "ids-missing",
        sentence: "One request loses its id, so that nothing answers it.",
        clauses: &["ID-MISSING"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| lose(draft, dice, Spoken::asks, None)),
    },
    Mutator {
        name: "ids-null-answer",
        sentence: "One answer has the id null, so that it answers nothing.",
        clauses: &["ID-NULL", "COR-LATE"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| lose(draft, dice, Spoken::is_response, Some("null"))),
    },
    Mutator {
        name: "ids-missing-answer",
        sentence: "One answer has no id, so that it answers nothing.",
        clauses: &["ID-MISSING", "COR-LATE"],
        relation: Relation::Changes,
        apply: Apply::Session(|draft, dice| lose(draft, dice, Spoken::is_response, None)),
    },
    Mutator {
        name: "ids-fractional",
        sentence: "One id becomes a number that is spelled as no integer, in the request and in its answers.",
        clauses: &["ID-NUMBER-FORM"],
        relation: Relation::Open(Reading::Free),
        apply: Apply::Session(|draft, dice| {
            let form = dice.pick(&["1.5", "1.0", "1e0", "-0", "1e400", "7E+2"]).copied().unwrap_or("1.0");
            rename_one(draft, dice, form)
        }),
    },
    Mutator {
        name: "ids-reused",
        sentence: "An id that was asked and answered is asked and answered again.",
        clauses: &["COR-FIRST"],
        relation: Relation::Changes,
        apply: Apply::Session(reuse),
    },
    Mutator {
        name: "ids-asked-twice",
        sentence: "A request that is no tool call stands twice in a row, and its answers too: the oldest is answered first.",
        clauses: &["COR-FIRST", "COR-ANY"],
        relation: Relation::Changes,
        apply: Apply::Session(ask_twice),
    },
    Mutator {
        name: "ids-both-sides",
        sentence: "While a request is open the other side makes one with the same id, and is answered.",
        clauses: &["COR-DIRECTION", "COR-DIRECTION-FLAT"],
        relation: Relation::Changes,
        apply: Apply::Session(both_sides),
    },
    Mutator {
        name: "ids-duplicate-open",
        sentence: "A tool call is made again with its id while nobody has answered.",
        clauses: &["COR-DUPLICATE"],
        relation: Relation::Rejects(Code::DuplicateCallId),
        apply: Apply::Session(|draft, dice| duplicate(draft, dice, |at, _| at + 1, |turn| turn)),
    },
    Mutator {
        name: "ids-duplicate-answered",
        sentence: "A tool call is made again with its id at the end of the session.",
        clauses: &["COR-DUPLICATE"],
        relation: Relation::Rejects(Code::DuplicateCallId),
        apply: Apply::Session(|draft, dice| duplicate(draft, dice, |_, end| end, |turn| turn)),
    },
    Mutator {
        name: "ids-duplicate-across-types",
        sentence: "A tool call is made again with the same id, once as a number and once as a string.",
        clauses: &["COR-DUPLICATE", "ID-NUMBER"],
        relation: Relation::Rejects(Code::DuplicateCallId),
        apply: Apply::Session(|draft, dice| {
            // Whatever the id was, the two calls have one that both types can spell.
            let id = (90 + dice.below(9)).to_string();
            rename_one_call(draft, dice, &id) && duplicate_of(draft, &id, &format!("\"{id}\""))
        }),
    },
    Mutator {
        name: "ids-duplicate-across-directions",
        sentence: "A tool call is made again with its id by the other side.",
        clauses: &["COR-DUPLICATE"],
        relation: Relation::Rejects(Code::DuplicateCallId),
        apply: Apply::Session(|draft, dice| duplicate(draft, dice, |at, _| at + 1, Turn::turned)),
    },
    Mutator {
        name: "ids-wrong-type",
        sentence: "One message, of whatever kind, has an id that is a boolean, an object or an array.",
        clauses: &["ID-REJECT"],
        relation: Relation::Rejects(Code::InvalidId),
        apply: Apply::Spelling(wrong_type),
    },
];

fn is_call(message: &Spoken) -> bool {
    message.is("tool_call") && message.id().is_some()
}

fn number_as_text(draft: &mut Draft, _: &mut Dice) -> bool {
    let mut took = false;
    for message in draft.turns.iter_mut().filter_map(|turn| turn.message.as_mut()) {
        let spelled = message.text.get("id").and_then(Node::spelled).unwrap_or("null");
        if spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && !spelled.contains(['.', 'e', 'E'])
        {
            let quoted = format!("\"{spelled}\"");
            message.set_id(Some(&quoted));
            took = true;
        }
    }
    took
}

/// Renames every id one to one. Requests of either side with one id keep one id, so that no format loses the session.
fn rename(draft: &mut Draft, name: impl Fn(usize) -> String) -> bool {
    let mut seen: Vec<(Vec<u8>, String)> = Vec::new();
    for message in draft.turns.iter_mut().filter_map(|turn| turn.message.as_mut()) {
        let Some(id) = message.key() else { continue };
        let spelled = match seen.iter().find(|(old, _)| *old == id) {
            Some((_, new)) => new.clone(),
            None => {
                let new = name(seen.len());
                seen.push((id, new.clone()));
                new
            }
        };
        message.set_id(Some(&spelled));
    }
    !seen.is_empty()
}

/// Renames one id wherever it stands; not to one that is there already, which would make two of them one.
fn rename_one(draft: &mut Draft, dice: &mut Dice, to: &str) -> bool {
    let asked = draft.those(Spoken::asks);
    let Some(&at) = dice.pick(&asked) else { return false };
    rename_that(draft, at, to)
}

fn rename_one_call(draft: &mut Draft, dice: &mut Dice, to: &str) -> bool {
    let calls = draft.those(is_call);
    let Some(&at) = dice.pick(&calls) else { return false };
    rename_that(draft, at, to)
}

fn rename_that(draft: &mut Draft, at: usize, to: &str) -> bool {
    let taken = correlation(to).and_then(|id| key_of(&id));
    if !draft.those(|message| message.key() == taken).is_empty() {
        return false;
    }
    let Some(old) = draft.turns[at].message.as_ref().and_then(Spoken::key) else { return false };
    for message in draft.turns.iter_mut().filter_map(|turn| turn.message.as_mut()) {
        if message.key().as_ref() == Some(&old) {
            message.set_id(Some(to));
        }
    }
    true
}

fn lose(draft: &mut Draft, dice: &mut Dice, which: fn(&Spoken) -> bool, id: Option<&str>) -> bool {
    let those = draft.those(|message| which(message) && message.id().is_some());
    let Some(message) = dice.pick(&those).and_then(|&at| draft.turns[at].message.as_mut()) else {
        return false;
    };
    message.set_id(id);
    true
}

/// The turn of a request that was answered, and of its answer.
fn exchanges(draft: &Draft) -> Vec<(usize, usize)> {
    let messages = draft.those(|_| true);
    let answered = |(answer, turn): (usize, &Turn)| {
        let index = usize::try_from(turn.entry.answers?).ok()?;
        Some((*messages.get(index)?, answer))
    };
    draft.turns.iter().enumerate().filter_map(answered).collect()
}

fn reuse(draft: &mut Draft, dice: &mut Dice) -> bool {
    draft.settle();
    let Some(&(asked, answer)) = dice.pick(&exchanges(draft)) else { return false };
    let (Some(side), Some(id)) = (draft.turns[asked].entry.side, spelled_id(&draft.turns[asked])) else {
        return false;
    };
    let at = answer + 1 + dice.below(draft.turns.len() - answer);
    draft.turns.insert(at, Turn::request(side, &id, "ping"));
    draft.turns.insert(at + 1, Turn::result(side.other(), &id, r#"{"again":true}"#));
    true
}

fn ask_twice(draft: &mut Draft, dice: &mut Dice) -> bool {
    let side = if dice.one_in(2) { Side::Client } else { Side::Server };
    let at = dice.below(draft.turns.len() + 1);
    let id = if dice.one_in(2) { "\"twin\"" } else { "771" };
    let first = Turn::request(side, id, "resources/list");
    let again = Turn::request(side, id, "prompts/list");
    let answers = [r#"{"first":1}"#, r#"{"second":2}"#].map(|result| Turn::result(side.other(), id, result));
    draft.turns.splice(at..at, [first, again].into_iter().chain(answers));
    true
}

fn both_sides(draft: &mut Draft, dice: &mut Dice) -> bool {
    draft.settle();
    let open: Vec<_> = exchanges(draft)
        .into_iter()
        .filter(|(asked, _)| !draft.turns[*asked].message.as_ref().is_none_or(|it| it.is_response()))
        .collect();
    let Some(&(asked, _)) = dice.pick(&open) else { return false };
    let (Some(side), Some(id)) = (draft.turns[asked].entry.side, spelled_id(&draft.turns[asked])) else {
        return false;
    };
    let back = [Turn::request(side.other(), &id, "roots/list"), Turn::result(side, &id, r#"{"roots":[]}"#)];
    draft.turns.splice(asked + 1..asked + 1, back);
    true
}

fn spelled_id(turn: &Turn) -> Option<String> {
    turn.message.as_ref()?.text.get("id")?.spelled().map(str::to_owned)
}

fn duplicate(
    draft: &mut Draft,
    dice: &mut Dice,
    place: fn(usize, usize) -> usize,
    change: fn(Turn) -> Turn,
) -> bool {
    let calls = draft.those(is_call);
    let Some(&at) = dice.pick(&calls) else { return false };
    let again = change(draft.turns[at].clone());
    let place = place(at, draft.turns.len());
    draft.turns.insert(place, again);
    true
}

/// Repeats the call with this id under another spelling of it.
fn duplicate_of(draft: &mut Draft, id: &str, spelled: &str) -> bool {
    let known = correlation(id);
    let calls = draft.those(|message| is_call(message) && message.id() == known.as_deref());
    let Some(&at) = calls.first() else { return false };
    let mut again = draft.turns[at].clone();
    if let Some(message) = &mut again.message {
        message.set_id(Some(spelled));
    }
    draft.turns.insert(at + 1, again);
    true
}

fn wrong_type(page: &mut Page, dice: &mut Dice) -> bool {
    let (number, choice) = (dice.below(page.count()), dice.below(6));
    let id = ["true", "false", "{}", "[]", r#"{"id":1}"#, "[1]"][choice];
    page.at(number, &mut |_, message| {
        message.set("id", Node::parse(id).unwrap_or(Node::leaf(id)));
        true
    })
}
