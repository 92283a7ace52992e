//! What the other side said, as values to look into, also where `serde_json` refuses what is JSON by its grammar: half a surrogate
//! pair, a number beyond all floats, and deep nesting. Judged is the recording, which has the text.
//!
//! Memory: the value, and where such a text had to be taken apart, its index.

use serde_json::{Number, Value};
use transcript::json::{Json, JsonKind, member_index};

/// How deep a value is looked into.
const DEPTH: usize = 100;

/// A text as a value; none where it is not JSON.
pub(super) fn read(text: &[u8]) -> Option<Value> {
    serde_json::from_slice(text).ok().or_else(|| {
        let found = Json::parse(std::str::from_utf8(text).ok()?).ok()?;
        let index = member_index(found.text());
        Some(value(Json::indexed(found.text(), &index), 0).unwrap_or_default())
    })
}

/// A value; none of one that cannot be held, which is left out of what it is in: a script that sends half of a name would be refused.
fn value(json: Json<'_>, depth: usize) -> Option<Value> {
    let is_plain = matches!(json.kind(), JsonKind::Null | JsonKind::Bool);
    match json.kind() {
        JsonKind::String => json.as_text()?.to_str().map(|text| Value::String(text.into_owned())),
        JsonKind::Number => serde_json::from_str::<Number>(json.text()).ok().map(Value::Number),
        _ if is_plain => serde_json::from_str(json.text()).ok(),
        _ if depth == DEPTH => None,
        JsonKind::Array => {
            Some(json.items().map(|item| value(item, depth + 1).unwrap_or_default()).collect())
        }
        _ => {
            let members = json.members().filter_map(|(name, member)| {
                // That a message has a member says what it is.
                // What only people read is shown as it is spelled.
                let spelled =
                    || Some(Value::String(member.as_text().filter(|_| name.is("message"))?.raw().to_owned()));
                let member = value(member, depth + 1)
                    .or_else(|| spelled().filter(|_| depth == 1))
                    .or((depth == 0).then_some(Value::Null))?;
                Some((name.to_str()?.into_owned(), member))
            });
            Some(Value::Object(members.collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DEPTH, read};
    use serde_json::json;

    #[test]
    fn what_is_json_by_its_grammar_is_read() {
        let digits = "9".repeat(401);
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for (text, read_as) in [
            (
                r#"{"id":3,"result":{"tools":[{"name":"a","title":"\ud83d"}]}}"#,
                json!({"id": 3, "result": {"tools": [{"name": "a"}]}}),
            ),
            (
                &*format!(r#"{{"id":"x","result":{{"n":[{digits},1],"m":{digits}}}}}"#),
                json!({"id": "x", "result": {"n": [null, 1]}}),
            ),
            (r#"{"id":1,"result":"\udc00"}"#, json!({"id": 1, "result": null})),
            (
                r#"{"id":1,"error":{"message":"a \ud83d"}}"#,
                json!({"id": 1, "error": {"message": "a \\ud83d"}}),
            ),
        ] {
            assert_eq!(read(text.as_bytes()), Some(read_as), "{text}");
        }
        let found = read(format!(r#"{{"id":1,"result":{deep}}}"#).as_bytes()).unwrap();
        assert_eq!((&found["id"], found["result"].to_string().len()), (&json!(1), 2 * DEPTH + 2));
        for text in [&b""[..], b"{", b"{\"id\":1} x", b"[\"\xff\"]"] {
            assert_eq!(read(text), None, "{text:?}");
        }
    }
}
