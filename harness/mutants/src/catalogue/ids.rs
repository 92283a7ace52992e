//! Faults about which ids are ids, and which are the same.

use super::contract::{FAITHFUL, Habits, faithful_id};
use super::edit::set;
use super::found::{Id, Said};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

/// An id function for what is shown and what is compared alike.
const fn both(id: fn(&Said) -> Option<Vec<u8>>) -> Mutation {
    Mutation::Habit(Habits { shown: id, key: id, ..FAITHFUL })
}

/// An id function for what is compared alone.
const fn compared(key: fn(&Said) -> Option<Vec<u8>>) -> Mutation {
    Mutation::Habit(Habits { key, ..FAITHFUL })
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant("ids/trimmed", &["ID-STRING"], "trims string ids", both(|said| text(said, |id| id.trim().into()))),
    mutant(
        "ids/lower-case",
        &["ID-STRING"],
        "writes string ids in lower case",
        both(|said| text(said, str::to_lowercase)),
    ),
    mutant(
        "ids/case-insensitive",
        &["ID-STRING"],
        "shows string ids as they are and compares them without case",
        compared(|said| text(said, str::to_lowercase)),
    ),
    mutant(
        "ids/composed",
        &["ID-STRING"],
        "composes accents in ids (NFC)",
        both(|said| text(said, |id| id.replace("e\u{301}", "é"))),
    ),
    mutant(
        "ids/printable",
        &["ID-STRING"],
        "drops control characters from ids",
        both(|said| text(said, |id| id.chars().filter(|c| !c.is_control()).collect())),
    ),
    mutant(
        "ids/c-string",
        &["ID-STRING"],
        "ends an id at a NUL",
        both(|said| text(said, |id| id.split('\0').next().unwrap_or_default().into())),
    ),
    mutant(
        "ids/cut",
        &["ID-STRING"],
        "keeps the first 64 characters of an id",
        both(|said| text(said, |id| id.chars().take(64).collect())),
    ),
    mutant(
        "ids/empty-is-none",
        &["ID-STRING"],
        "takes an empty id for none, since it is falsy",
        both(|said| faithful_id(said).filter(|id| !id.is_empty())),
    ),
    mutant(
        "ids/digits-are-numbers",
        &["ID-STRING"],
        "reads a string of digits as a number, so that `007` is 7",
        both(|said| text(said, |id| id.parse::<i64>().map_or(id.into(), |number| number.to_string()))),
    ),
    mutant(
        "ids/strings-become-zero",
        &["ID-STRING"],
        "coerces ids to integers, and what is no integer to 0",
        both(|said| text(said, |id| id.parse::<i64>().unwrap_or_default().to_string())),
    ),
    mutant(
        "ids/raw-escapes",
        &["ID-STRING"],
        "compares ids by their spelling, escapes and all",
        compared(|said| match &said.id {
            Id::Text(_) => Json::parse(&said.text)
                .ok()
                .and_then(|message| message.member("id"))
                .map(|id| id.text().as_bytes().to_vec()),
            _ => faithful_id(said),
        }),
    ),
    mutant(
        "ids/object-keys",
        &["ID-STRING"],
        "keeps requests in a plain object, where `__proto__` and `constructor` cannot be keys",
        compared(|said| {
            let taken: [&[u8]; 4] = [b"__proto__", b"constructor", b"toString", b"hasOwnProperty"];
            faithful_id(said).filter(|id| !taken.contains(&id.as_slice()))
        }),
    ),
    mutant(
        "ids/surrogates-spelled",
        &["SRV-TWICE", "ID-STRING"],
        "keeps the escape of a lone surrogate in an id as six characters",
        both(|said| match &said.id {
            Id::Text(id) if std::str::from_utf8(id).is_err() => {
                let message = Json::parse(&said.text).ok()?;
                Some(message.member("id")?.as_text()?.raw().as_bytes().to_vec())
            }
            _ => faithful_id(said),
        }),
    ),
    mutant(
        "ids/zero-is-none",
        &["ID-NUMBER"],
        "takes the id 0 for none, since it is falsy",
        both(|said| faithful_id(said).filter(|_| !matches!(&said.id, Id::Number(number) if number == "0"))),
    ),
    mutant(
        "ids/negative-is-none",
        &["ID-NUMBER"],
        "takes a negative id for none",
        both(|said| {
            faithful_id(said).filter(|_| !matches!(&said.id, Id::Number(number) if number.starts_with('-')))
        }),
    ),
    mutant(
        "ids/doubles",
        &["ID-NUMBER"],
        "puts number ids through a double",
        both(|said| number(said, |id| id.parse::<f64>().map_or(id.into(), |id| format!("{id:.0}")))),
    ),
    mutant(
        "ids/64-bit",
        &["ID-NUMBER"],
        "drops a number id that does not fit in 64 bits",
        both(|said| {
            let fits = |id: &str| id.parse::<i64>().is_ok() || id.contains(['.', 'e', 'E']);
            faithful_id(said).filter(|_| !matches!(&said.id, Id::Number(number) if !fits(number)))
        }),
    ),
    mutant(
        "ids/32-bit",
        &["ID-NUMBER"],
        "wraps number ids at 32 bits",
        both(|said| {
            #[expect(clippy::cast_possible_truncation, reason = "the fault")]
            number(said, |id| id.parse::<i64>().map_or(id.into(), |id| (id as i32).to_string()))
        }),
    ),
    mutant(
        "ids/typed",
        &["ID-NUMBER", "COR-DUPLICATE"],
        "holds the number 1 and the string `1` apart",
        compared(|said| {
            let tag: &[u8] = if matches!(said.id, Id::Number(_)) { b"number " } else { b"string " };
            faithful_id(said).map(|id| [tag, &id].concat())
        }),
    ),
    mutant(
        "ids/numbers-only",
        &["ID-STRING"],
        "knows number ids alone",
        both(|said| faithful_id(said).filter(|_| matches!(said.id, Id::Number(_)))),
    ),
    mutant(
        "ids/integers-only-in-one",
        &["ID-NUMBER-FORM"],
        "takes a number id that is no plain integer for none, in HAR alone",
        Mutation::Found(|format, found| {
            for said in found.entries.iter_mut().filter_map(|seen| seen.said.as_mut()) {
                let odd = matches!(&said.id, Id::Number(id) if id.contains(['.', 'e', 'E']) || id == "-0");
                if odd && format == "har" {
                    said.id = Id::Null;
                }
            }
        }),
    ),
    mutant(
        "ids/null-is-text",
        &["ID-NULL", "ID-NULL-TEXT"],
        "takes null for the string `null`",
        both(|said| faithful_id(said).or_else(|| (said.id == Id::Null).then(|| b"null".to_vec()))),
    ),
    mutant(
        "ids/null-pairs-with-null",
        &["ID-NULL"],
        "lets an answer with a null id answer a call with a null id",
        compared(|said| faithful_id(said).or_else(|| (said.id == Id::Null).then(|| b"\0null".to_vec()))),
    ),
    mutant(
        "ids/null-pairs-with-null-text",
        &["ID-NULL-TEXT"],
        "shows no id for null, and lets it answer the string `null`",
        compared(|said| faithful_id(said).or_else(|| (said.id == Id::Null).then(|| b"null".to_vec()))),
    ),
    mutant(
        "ids/null-text-is-null",
        &["ID-NULL-TEXT"],
        "takes the string `null` for null",
        both(|said| faithful_id(said).filter(|id| id != b"null")),
    ),
    mutant(
        "ids/null-means-the-only-one",
        &["ID-NULL"],
        "lets an answer with a null id answer the one request that is open",
        Mutation::Habit(Habits {
            bind: |requests, response| {
                let faithful = super::contract::faithful_bind(requests, response);
                let open = || requests.iter().position(|request| !request.answered);
                faithful.or_else(|| (response.said.id == Id::Null).then(open)?)
            },
            ..FAITHFUL
        }),
    ),
    mutant(
        "ids/missing-means-the-last-one",
        &["ID-MISSING"],
        "lets an answer without an id answer the last open request",
        Mutation::Habit(Habits {
            bind: |requests, response| {
                let faithful = super::contract::faithful_bind(requests, response);
                let open = || requests.iter().rposition(|request| !request.answered);
                faithful.or_else(|| (response.said.id == Id::Missing).then(open)?)
            },
            ..FAITHFUL
        }),
    ),
    mutant(
        "ids/missing-is-empty",
        &["ID-MISSING"],
        "takes a missing id for an empty one",
        both(|said| faithful_id(said).or_else(|| (said.id == Id::Missing).then(Vec::new))),
    ),
    mutant(
        "ids/missing-is-undefined",
        &["ID-MISSING"],
        "writes `undefined` for the missing id of a tool call or an answer",
        both(|said| {
            let named = said.is_response() || said.is_method("tools/call");
            faithful_id(said).or_else(|| (said.id == Id::Missing && named).then(|| b"undefined".to_vec()))
        }),
    ),
    mutant(
        "ids/booleans-printed",
        &["ID-REJECT"],
        "prints a boolean id as text",
        Mutation::Message(|message| id(message, JsonKind::Bool, |id| format!("\"{id}\""))),
    ),
    mutant(
        "ids/booleans-counted",
        &["ID-REJECT"],
        "counts booleans among the integers",
        Mutation::Message(|message| id(message, JsonKind::Bool, |id| u8::from(id == "true").to_string())),
    ),
    mutant(
        "ids/false-is-none",
        &["ID-REJECT"],
        "takes the id false for none",
        Mutation::Message(|message| {
            let value = message.member("id")?;
            (value.text() == "false").then(|| set(message, "id", ""))
        }),
    ),
    mutant(
        "ids/arrays-joined",
        &["ID-REJECT"],
        "prints an array id as its items, joined",
        Mutation::Message(|message| {
            id(message, JsonKind::Array, |id| format!("\"{}\"", id.replace(['[', ']', '"'], "")))
        }),
    ),
    mutant(
        "ids/objects-printed",
        &["ID-REJECT"],
        "prints an object id as `[object Object]`",
        Mutation::Message(|message| id(message, JsonKind::Object, |_| "\"[object Object]\"".to_owned())),
    ),
    mutant(
        "ids/checked-on-calls-alone",
        &["ID-REJECT"],
        "looks at the ids of requests, and takes a bad id of an answer for none",
        Mutation::Message(|message| {
            let value = message.member("id")?;
            let bad = matches!(value.kind(), JsonKind::Bool | JsonKind::Object | JsonKind::Array);
            (bad && message.member("method").is_none()).then(|| set(message, "id", "null"))
        }),
    ),
    mutant(
        "ids/checked-on-tool-calls-alone",
        &["ID-REJECT"],
        "looks at the ids of tool calls alone, and takes a bad id elsewhere for none",
        Mutation::Message(|message| {
            let value = message.member("id")?;
            let bad = matches!(value.kind(), JsonKind::Bool | JsonKind::Object | JsonKind::Array);
            let call =
                message.member("method").and_then(Json::as_text).is_some_and(|name| name.is("tools/call"));
            (bad && !call).then(|| set(message, "id", "null"))
        }),
    ),
    mutant(
        "ids/checked-on-answers-alone",
        &["ID-REJECT"],
        "looks at the ids of answers, and takes a bad id of a call for none",
        Mutation::Message(|message| {
            let value = message.member("id")?;
            let bad = matches!(value.kind(), JsonKind::Bool | JsonKind::Object | JsonKind::Array);
            (bad && message.member("method").is_some()).then(|| set(message, "id", "null"))
        }),
    ),
];

/// The faithful id, changed where it is a string of whole characters.
fn text(said: &Said, change: impl Fn(&str) -> String) -> Option<Vec<u8>> {
    match &said.id {
        Id::Text(id) => Some(match std::str::from_utf8(id) {
            Ok(id) => change(id).into_bytes(),
            Err(_) => id.clone(),
        }),
        _ => faithful_id(said),
    }
}

/// The faithful id, changed where it is a number.
fn number(said: &Said, change: impl Fn(&str) -> String) -> Option<Vec<u8>> {
    match &said.id {
        Id::Number(id) => Some(change(id).into_bytes()),
        _ => faithful_id(said),
    }
}

/// A message with another id, where the id is of this kind.
fn id(message: Json<'_>, kind: JsonKind, change: impl Fn(&str) -> String) -> Option<String> {
    let value = message.member("id")?;
    (value.kind() == kind).then(|| set(message, "id", &change(value.text())))
}
