//! Mistakes about which ids are ids, and which are the same.

use crate::Mutation;
use crate::json::{is, member, on_member, set_if, spelled};
use crate::on_reading::{
    bind, compared_ids, id_for, ids, no_id, no_number_id, number_id, on_read_message, string_id,
};
use crate::on_text::on_message;
use crate::policy::{contract_bind, contract_id};
use crate::reading::{Id, ReadMessage};
use transcript::json::{Json, JsonKind};

mutants! {
    "ids/trimmed" ["ID-STRING"] "trims string ids" => ids(string_id(|id| id.trim().into()));
    "ids/lower-case" ["ID-STRING"] "writes string ids in lower case" => ids(string_id(str::to_lowercase));
    "ids/case-insensitive" ["ID-STRING"] "shows string ids as they are and compares them without case"
        => compared_ids(string_id(str::to_lowercase));
    "ids/composed" ["ID-STRING"] "composes accents in ids (NFC)" => ids(string_id(|id| id.replace("e\u{301}", "é")));
    "ids/c-string" ["ID-STRING"] "ends an id at a NUL"
        => ids(string_id(|id| id.split('\0').next().unwrap_or_default().into()));
    "ids/cut" ["ID-STRING"] "keeps the first 64 characters of an id" => ids(string_id(|id| id.chars().take(64).collect()));
    "ids/empty-is-none" ["ID-STRING"] "takes an empty id for none, since it is falsy" => ids(no_id(<[u8]>::is_empty));
    "ids/digits-are-numbers" ["ID-STRING"] "reads a string of digits as a number, so that `007` is 7"
        => ids(string_id(|id| id.parse::<i64>().map_or(id.into(), |number| number.to_string())));
    "ids/raw-escapes" ["ID-STRING"] "compares ids by their spelling, escapes and all"
        => compared_ids(|message| spelling(message, |id| matches!(id, Id::Text(_))));
    "ids/object-keys" ["ID-STRING"] "keeps requests in a plain object, where `__proto__` and `constructor` cannot be keys"
        => compared_ids(no_id(|id| {
            let taken: [&[u8]; 4] = [b"__proto__", b"constructor", b"toString", b"hasOwnProperty"];
            taken.contains(&id)
        }));
    "ids/surrogates-spelled" ["SRV-TWICE" "ID-STRING"] "keeps the escape of a lone surrogate in an id as six characters"
        => ids(|message| {
            let lone = |id: &Id| matches!(id, Id::Text(id) if std::str::from_utf8(id).is_err());
            let id = spelling(message, lone)?;
            Some(if lone(&message.id) { id[1..id.len() - 1].to_vec() } else { id })
        });
    "ids/numbers-only" ["ID-STRING"] "knows only number ids"
        => ids(|message| contract_id(message).filter(|_| matches!(message.id, Id::Number(_))));
    "ids/zero-is-none" ["ID-NUMBER"] "takes the id 0 for none, since it is falsy" => ids(no_number_id(|id| id == "0"));
    "ids/negative-is-none" ["ID-NUMBER"] "takes a negative id for none" => ids(no_number_id(|id| id.starts_with('-')));
    "ids/doubles" ["ID-NUMBER"] "puts number ids through a double"
        => ids(number_id(|id| id.parse::<f64>().map_or(id.into(), |id| format!("{id:.0}"))));
    "ids/64-bit" ["ID-NUMBER"] "drops a number id that does not fit in 64 bits"
        => ids(no_number_id(|id| id.parse::<i64>().is_err() && !id.contains(['.', 'e', 'E'])));
    "ids/32-bit" ["ID-NUMBER"] "wraps number ids at 32 bits" => ids(number_id(wrapped));
    "ids/typed" ["ID-NUMBER" "COR-DUPLICATE"] "tells the number 1 from the string `1`"
        => compared_ids(|message| {
            let tag: &[u8] = if matches!(message.id, Id::Number(_)) { b"number " } else { b"string " };
            contract_id(message).map(|id| [tag, &id].concat())
        });
    "ids/integers-only-in-one" ["ID-NUMBER-FORM"] "takes a number id that is not a plain integer for none, only in HAR"
        => on_read_message(|entry| {
            let odd = |id: &Id| matches!(id, Id::Number(id) if id.contains(['.', 'e', 'E']) || id == "-0");
            if let Some(message) = entry.message.as_mut().filter(|message| odd(&message.id)) {
                message.id = Id::Null;
            }
        }).only("har");
    "ids/null-is-text" ["ID-NULL" "ID-NULL-TEXT"] "takes null for the string `null`" => ids(id_for(null, b"null"));
    "ids/null-pairs-with-null" ["ID-NULL"] "lets an answer with a null id answer a call with a null id"
        => compared_ids(id_for(null, b"\0null"));
    "ids/null-pairs-with-null-text" ["ID-NULL-TEXT"] "shows no id for null, and lets it answer the string `null`"
        => compared_ids(id_for(null, b"null"));
    "ids/null-text-is-null" ["ID-NULL-TEXT"] "takes the string `null` for null" => ids(no_id(|id| id == b"null"));
    "ids/null-means-the-only-one" ["ID-NULL"] "lets an answer with a null id answer the one request that is open"
        => bind(|requests, response| {
            let open = || requests.iter().position(|request| !request.answered);
            contract_bind(requests, response).or_else(|| null(response.message).then(open)?)
        });
    "ids/missing-means-the-last-one" ["ID-MISSING"] "lets an answer without an id answer the last open request"
        => bind(|requests, response| {
            let open = || requests.iter().rposition(|request| !request.answered);
            contract_bind(requests, response).or_else(|| (response.message.id == Id::Missing).then(open)?)
        });
    "ids/missing-is-undefined" ["ID-MISSING"] "writes `undefined` for the missing id of a tool call or an answer"
        => ids(id_for(
            |message| message.id == Id::Missing && (message.is_response() || message.is_method("tools/call")),
            b"undefined",
        ));
    "ids/booleans-printed" ["ID-REJECT"] "prints a boolean id as text" => printed(JsonKind::Bool, |id| format!("\"{id}\""));
    "ids/false-is-none" ["ID-REJECT"] "takes the id false for none" => on_message(set_if(member("id", spelled("false")), "id", ""));
    "ids/arrays-joined" ["ID-REJECT"] "prints an array id as its items, joined"
        => printed(JsonKind::Array, |id| format!("\"{}\"", id.replace(['[', ']', '"'], "")));
    "ids/objects-printed" ["ID-REJECT"] "prints an object id as `[object Object]`"
        => printed(JsonKind::Object, |_| "\"[object Object]\"".to_owned());
    "ids/checked-on-calls-only" ["ID-REJECT"] "checks the ids of requests, and takes a bad id of an answer for none"
        => on_message(set_if(|message| has_bad_id(message) && message.member("method").is_none(), "id", "null"));
    "ids/checked-on-answers-only" ["ID-REJECT"] "checks the ids of answers, and takes a bad id of a call for none"
        => on_message(set_if(|message| has_bad_id(message) && message.member("method").is_some(), "id", "null"));
}

fn null(message: &ReadMessage) -> bool {
    message.id == Id::Null
}

/// The id as it is spelled where it passes a test, and as the contract has it elsewhere.
fn spelling(message: &ReadMessage, test: fn(&Id) -> bool) -> Option<Vec<u8>> {
    if !test(&message.id) {
        return contract_id(message);
    }
    Some(Json::parse(&message.text).ok()?.member("id")?.text().as_bytes().to_vec())
}

fn wrapped(id: &str) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "the mistake")]
    id.parse::<i64>().map_or(id.into(), |id| (id as i32).to_string())
}

/// A reader that prints an id of this kind.
fn printed(kind: JsonKind, print: fn(&str) -> String) -> Mutation {
    on_message(on_member("id", move |id: Json<'_>| is(id, kind).then(|| print(id.text()))))
}

fn has_bad_id(message: Json<'_>) -> bool {
    message
        .member("id")
        .is_some_and(|id| matches!(id.kind(), JsonKind::Bool | JsonKind::Object | JsonKind::Array))
}
