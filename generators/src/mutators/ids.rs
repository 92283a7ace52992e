//! Ids: renamed, of another type, none at all, and twice.

use crate::format_tree::{FormatTree, change_each};
use crate::mutator::Apply;
use crate::node::Node;
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::{Entry, KnownEvent, SessionBuilder, correlation, key_of};
use transcript::rejection::Code;
use transcript::session::Side;

mutators! {
    "ids-number-as-text" ["ID-NUMBER" "ID-STRING"] "Every integer id is written as the string of its digits."
        => Relation::Same, Apply::Session(number_as_text);
    "ids-renamed" ["ID-STRING"] "Every id becomes another string, one to one."
        => Relation::Changes, Apply::Session(|builder, rng| {
            let salt = rng.below(1000);
            rename(builder, |index| format!("\"call {salt}/{index}\""))
        });
    "ids-counted" ["ID-NUMBER"] "Every id becomes a number that counts from 0, one to one."
        => Relation::Changes, Apply::Session(|builder, _| rename(builder, |index| index.to_string()));
    "ids-huge" ["ID-NUMBER"] "Every id becomes an integer beyond what a double holds, one to one, neighbours apart by one."
        => Relation::Changes, Apply::Session(|builder, rng| match rng.below(3) {
            0 => rename(builder, |index| format!("90071992547409{}", 93 + index)),
            1 => rename(builder, |index| format!("-1844674407370955{}", 1616 + index)),
            _ => rename(builder, |index| format!("{}{index:03}", "1234567890".repeat(4))),
        });
    "ids-look-alike" ["ID-STRING"] "Every id becomes a string that looks like another: by case, white space, form or emptiness."
        => Relation::Changes, Apply::Session(|builder, rng| {
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
            let first = rng.below(ALIKE.len());
            rename(builder, |index| {
                match ALIKE.get((first + index) % ALIKE.len()).filter(|_| index < ALIKE.len()) {
                    Some(id) => (*id).to_owned(),
                    None => format!("\"a{index}\""),
                }
            })
        });
    "ids-null-text" ["ID-NULL-TEXT"] "One id becomes the string \"null\", in the request and in its answers."
        => Relation::Changes, Apply::Session(|builder, rng| rename_one(builder, rng, "\"null\""));
    "ids-null" ["ID-NULL"] "One request loses its id to null, so that nothing answers it."
        => Relation::Changes, Apply::Session(|builder, rng| lose(builder, rng, KnownEvent::asks, Some("null")));
    "ids-missing" ["ID-MISSING"] "One request loses its id, so that nothing answers it."
        => Relation::Changes, Apply::Session(|builder, rng| lose(builder, rng, KnownEvent::asks, None));
    "ids-null-answer" ["ID-NULL" "COR-LATE"] "One answer has the id null, so that it answers nothing."
        => Relation::Changes, Apply::Session(|builder, rng| lose(builder, rng, KnownEvent::is_response, Some("null")));
    "ids-missing-answer" ["ID-MISSING" "COR-LATE"] "One answer has no id, so that it answers nothing."
        => Relation::Changes, Apply::Session(|builder, rng| lose(builder, rng, KnownEvent::is_response, None));
    "ids-fractional" ["ID-NUMBER-FORM"] "One id becomes a number that is spelled as no integer, in the request and in its answers."
        => Relation::Open(Reading::Free), Apply::Session(|builder, rng| {
            let form = rng.pick(&["1.5", "1.0", "1e0", "-0", "1e400", "7E+2"]).copied().unwrap_or("1.0");
            rename_one(builder, rng, form)
        });
    "ids-reused" ["COR-FIRST"] "An id that was asked and answered is asked and answered again."
        => Relation::Changes, Apply::Session(reuse);
    "ids-asked-twice" ["COR-FIRST" "COR-ANY"] "A request other than a tool call is sent twice in a row and answered twice: the oldest first."
        => Relation::Changes, Apply::Session(ask_twice);
    "ids-both-sides" ["COR-DIRECTION" "COR-DIRECTION-FLAT"] "While a request is open the other side makes one with the same id, and is answered."
        => Relation::Changes, Apply::Session(both_sides);
    "ids-duplicate-open" ["COR-DUPLICATE"] "A tool call is made again with its id before it is answered."
        => Relation::Rejects(Code::DuplicateCallId), Apply::Session(|builder, rng| duplicate(builder, rng, |at, _| at + 1, |entry| entry));
    "ids-duplicate-answered" ["COR-DUPLICATE"] "A tool call is made again with its id at the end of the session."
        => Relation::Rejects(Code::DuplicateCallId), Apply::Session(|builder, rng| duplicate(builder, rng, |_, end| end, |entry| entry));
    "ids-duplicate-across-types" ["COR-DUPLICATE" "ID-NUMBER"] "A tool call is made again with the same id, once as a number and once as a string."
        => Relation::Rejects(Code::DuplicateCallId), Apply::Session(|builder, rng| {
            // Whatever the id was, the two calls have one that both types can spell.
            let id = (90 + rng.below(9)).to_string();
            rename_one_call(builder, rng, &id) && duplicate_of(builder, &id, &format!("\"{id}\""))
        });
    "ids-duplicate-across-directions" ["COR-DUPLICATE"] "A tool call is made again with its id by the other side."
        => Relation::Rejects(Code::DuplicateCallId), Apply::Session(|builder, rng| duplicate(builder, rng, |at, _| at + 1, Entry::reversed));
    "ids-wrong-type" ["ID-REJECT"] "One message, of whatever kind, has an id that is a boolean, an object or an array."
        => Relation::Rejects(Code::InvalidId), Apply::Spelling(wrong_type);
}

fn is_call(message: &KnownEvent) -> bool {
    message.is("tool_call") && message.id().is_some()
}

fn number_as_text(builder: &mut SessionBuilder, _: &mut Rng) -> bool {
    change_each(builder.entries.iter_mut().filter_map(|entry| entry.message.as_mut()), |message| {
        let spelled = message.text.get("id").and_then(Node::spelled).unwrap_or("null");
        let quoted = format!("\"{spelled}\"");
        let is_integer = spelled.starts_with(|first: char| first == '-' || first.is_ascii_digit())
            && !spelled.contains(['.', 'e', 'E']);
        if is_integer {
            message.set_id(Some(&quoted));
        }
        is_integer
    })
}

/// Renames every id one to one. Requests of either side with one id keep one id, so that no format loses the session.
fn rename(builder: &mut SessionBuilder, name: impl Fn(usize) -> String) -> bool {
    let mut seen: Vec<(Vec<u8>, String)> = Vec::new();
    for message in builder.entries.iter_mut().filter_map(|entry| entry.message.as_mut()) {
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

/// Renames every occurrence of one id; not to one that is there already, which would make two of them one.
fn rename_one(builder: &mut SessionBuilder, rng: &mut Rng, to: &str) -> bool {
    let asked = builder.messages_where(KnownEvent::asks);
    let Some(&at) = rng.pick(&asked) else { return false };
    rename_that(builder, at, to)
}

fn rename_one_call(builder: &mut SessionBuilder, rng: &mut Rng, to: &str) -> bool {
    let calls = builder.messages_where(is_call);
    let Some(&at) = rng.pick(&calls) else { return false };
    rename_that(builder, at, to)
}

fn rename_that(builder: &mut SessionBuilder, at: usize, to: &str) -> bool {
    let taken = correlation(to).and_then(|id| key_of(&id));
    if !builder.messages_where(|message| message.key() == taken).is_empty() {
        return false;
    }
    let Some(old) = builder.entries[at].message.as_ref().and_then(KnownEvent::key) else { return false };
    for message in builder.entries.iter_mut().filter_map(|entry| entry.message.as_mut()) {
        if message.key().as_ref() == Some(&old) {
            message.set_id(Some(to));
        }
    }
    true
}

fn lose(
    builder: &mut SessionBuilder,
    rng: &mut Rng,
    which: fn(&KnownEvent) -> bool,
    id: Option<&str>,
) -> bool {
    let those = builder.messages_where(|message| which(message) && message.id().is_some());
    let Some(message) = rng.pick(&those).and_then(|&at| builder.entries[at].message.as_mut()) else {
        return false;
    };
    message.set_id(id);
    true
}

/// The entry of a request that was answered, and of its answer.
fn exchanges(builder: &SessionBuilder) -> Vec<(usize, usize)> {
    let messages = builder.messages_where(|_| true);
    let answered = |(answer, entry): (usize, &Entry)| {
        let index = usize::try_from(entry.owned.answers?).ok()?;
        Some((*messages.get(index)?, answer))
    };
    builder.entries.iter().enumerate().filter_map(answered).collect()
}

fn reuse(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    builder.bind_answers();
    let Some(&(asked, answer)) = rng.pick(&exchanges(builder)) else { return false };
    let (Some(side), Some(id)) = (builder.entries[asked].owned.side, spelled_id(&builder.entries[asked]))
    else {
        return false;
    };
    let at = answer + 1 + rng.below(builder.entries.len() - answer);
    builder.entries.insert(at, Entry::request(side, &id, "ping"));
    builder.entries.insert(at + 1, Entry::result(side.other(), &id, r#"{"again":true}"#));
    true
}

fn ask_twice(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    let side = if rng.one_in(2) { Side::Client } else { Side::Server };
    let at = rng.below(builder.entries.len() + 1);
    let id = if rng.one_in(2) { "\"twin\"" } else { "771" };
    let first = Entry::request(side, id, "resources/list");
    let again = Entry::request(side, id, "prompts/list");
    let answers = [r#"{"first":1}"#, r#"{"second":2}"#].map(|result| Entry::result(side.other(), id, result));
    builder.entries.splice(at..at, [first, again].into_iter().chain(answers));
    true
}

fn both_sides(builder: &mut SessionBuilder, rng: &mut Rng) -> bool {
    builder.bind_answers();
    let open: Vec<_> = exchanges(builder)
        .into_iter()
        .filter(|(asked, _)| !builder.entries[*asked].message.as_ref().is_none_or(|it| it.is_response()))
        .collect();
    let Some(&(asked, _)) = rng.pick(&open) else { return false };
    let (Some(side), Some(id)) = (builder.entries[asked].owned.side, spelled_id(&builder.entries[asked]))
    else {
        return false;
    };
    let back = [Entry::request(side.other(), &id, "roots/list"), Entry::result(side, &id, r#"{"roots":[]}"#)];
    builder.entries.splice(asked + 1..asked + 1, back);
    true
}

fn spelled_id(entry: &Entry) -> Option<String> {
    entry.message.as_ref()?.text.get("id")?.spelled().map(str::to_owned)
}

fn duplicate(
    builder: &mut SessionBuilder,
    rng: &mut Rng,
    place: fn(usize, usize) -> usize,
    change: fn(Entry) -> Entry,
) -> bool {
    let calls = builder.messages_where(is_call);
    let Some(&at) = rng.pick(&calls) else { return false };
    let again = change(builder.entries[at].clone());
    let place = place(at, builder.entries.len());
    builder.entries.insert(place, again);
    true
}

/// Repeats the call with this id under another spelling of it.
fn duplicate_of(builder: &mut SessionBuilder, id: &str, spelled: &str) -> bool {
    let known = correlation(id);
    let calls = builder.messages_where(|message| is_call(message) && message.id() == known.as_deref());
    let Some(&at) = calls.first() else { return false };
    let mut again = builder.entries[at].clone();
    if let Some(message) = &mut again.message {
        message.set_id(Some(spelled));
    }
    builder.entries.insert(at + 1, again);
    true
}

fn wrong_type(tree: &mut FormatTree, rng: &mut Rng) -> bool {
    let (number, choice) = (rng.below(tree.count()), rng.below(6));
    let id = ["true", "false", "{}", "[]", r#"{"id":1}"#, "[1]"][choice];
    tree.at(number, &mut |_, message| {
        message.set("id", Node::parse(id).unwrap_or(Node::leaf(id)));
        true
    })
}
