use super::{Id, Message, MessageClass, Shape};
use crate::json::{Json, member_index};
use crate::rejection::Code;
use proptest::prelude::*;

#[test]
fn a_call_is_taken_apart_wherever_its_members_stand() {
    let text = concat!(
        r#"{"params":{"arguments":{"a":1},"_meta":{"name":"no"},"n\u0061me":"Calculator"},"#,
        r#""id":7,"method":"tools/call","jsonrpc":"2.0"}"#
    );
    let message = Message::parse(text).unwrap();
    assert_eq!(message.class(), MessageClass::Call);
    assert_eq!(message.id(), Id::Number("7"));
    assert!(message.method().unwrap().is("tools/call"));
    assert_eq!(message.name().unwrap().text(), r#""Calculator""#);
    assert_eq!(message.arguments().unwrap().text(), r#"{"a":1}"#);
    assert!(message.outcome().is_none());
}

#[test]
fn places_hold_inside_a_longer_text() {
    let text = r#"  {"jsonrpc":"2.0","id":null,"result":[ 1 ]}  "#;
    let message = Message::parse(text).unwrap();
    assert_eq!(message.text(), text.trim());
    assert_eq!(message.outcome().unwrap().text(), "[ 1 ]");
    assert_eq!(Message::new(text.trim(), message.shape()).id(), Id::Null);
}

#[test]
fn a_name_that_stands_twice_in_params_matters_to_a_tool_call_alone() {
    let text = r#"{"params":{"name":1,"n\u0061me":2},"jsonrpc":"2.0","method":"prompts/get"}"#;
    assert_eq!(Message::parse(text).unwrap().params().unwrap().text(), r#"{"name":1,"n\u0061me":2}"#);
    let refusal = Message::parse(&text.replace("prompts/get", "tools/call")).unwrap_err();
    assert_eq!((refusal.code, refusal.at), (Code::AmbiguousMember, 20));
    let answer = r#"{"jsonrpc":"2.0","id":1,"params":{"name":1,"name":2},"result":{}}"#;
    assert!(Message::parse(answer).is_ok());
}

#[test]
fn what_is_no_message_is_refused_at_its_place() {
    for (text, code, at) in [
        ("", Code::Truncated, 0),
        (r#"{"jsonrpc":"#, Code::Truncated, 11),
        (r#"{"jsonrpc" "2.0"}"#, Code::InvalidJson, 11),
        ("42", Code::NotAMessage, 0),
        ("[]", Code::Batch, 0),
        ("nope", Code::InvalidJson, 1),
        ("{}", Code::NotAMessage, 0),
        (r#"{"not":"jsonrpc"}"#, Code::NotAMessage, 0),
        (r#"{"jsonrpc":"2.0","id":1}"#, Code::NotAMessage, 0),
        (r#"{"jsonrpc":"1.0","method":"x"}"#, Code::InvalidVersion, 11),
        (r#"{"jsonrpc":2.0,"method":"x"}"#, Code::InvalidVersion, 11),
        (r#"{"method":"x"}"#, Code::InvalidVersion, 0),
        (r#"{"jsonrpc":"2.0","method":7}"#, Code::InvalidMethod, 26),
        (r#"{"jsonrpc":"2.0","id":true,"method":"x"}"#, Code::InvalidId, 22),
        (r#"{"jsonrpc":"2.0","id":[],"method":"x"}"#, Code::InvalidId, 22),
        (r#"{"jsonrpc":"2.0","id":{},"result":1}"#, Code::InvalidId, 22),
        (r#"{"jsonrpc":"2.0","id":1,"result":1,"error":null}"#, Code::AmbiguousMessage, 0),
        (r#"{"jsonrpc":"2.0","method":"x","result":1}"#, Code::AmbiguousMessage, 0),
        (r#" {"jsonrpc":"2.0","id":1,"id":2,"result":1}"#, Code::AmbiguousMember, 25),
        (r#"{"jsonrpc":"2.0","method":"x"} {"#, Code::InvalidJson, 31),
        (r#"{"jsonrpc":"1.0","method":"x"} {"#, Code::InvalidJson, 31),
        (r#"{"jsonrpc":"2.0","id":1}]}"#, Code::InvalidJson, 24),
        ("[] ]", Code::InvalidJson, 3),
        ("42 \"", Code::InvalidJson, 3),
    ] {
        let refusal = Message::parse(text).unwrap_err();
        assert_eq!((refusal.code, refusal.at), (code, at), "{text}: {}", refusal.message);
    }
}

/// What is read of a text, taken apart on the way or afterwards, is the same, the refusal and its place included.
fn reads_alike(text: &str) {
    let before = member_index("[1]");
    let mut index = before.clone();
    let (plain, apart) = (Message::parse(text), Message::parse_indexed(text, &mut index));
    assert_eq!(index[..2], before, "{text}");
    let index = &index[2..];
    match (plain, apart) {
        (Ok(plain), Ok(apart)) => {
            let shape = Shape { body: 0, ..apart.shape() };
            assert_eq!((plain.text(), plain.shape()), (apart.text(), shape), "{text}");
            let body = |message: Message<'_>| message.indexed(index).body.to_vec();
            assert_eq!(body(apart), body(plain), "{text}");
            assert_eq!(index, member_index(plain.text()), "{text}");
            assert_eq!(Json::indexed(apart.text(), index).members().count(), plain.json().members().count());
        }
        (plain, apart) => {
            assert_eq!(plain.map(|_| ()), apart.map(|_| ()), "{text}");
        }
    }
}

proptest! {
    #[test]
    fn a_message_is_read_alike_while_it_is_taken_apart(
        members in prop::collection::vec((
            prop::sample::select(vec!["jsonrpc", "id", "method", "params", "p\\u0061rams", "result", "error", "x"]),
            prop::sample::select(vec![
                "\"2.0\"", "7", "null", "\"a\"", "\"tools/call\"", "[1,{\"name\":2}]", "{ }", "tru",
                r#"{"name":"n","arguments":{"name":[]}}"#, r#"{"name":1, "n\u0061me" :2,"arguments":{},"arguments":3}"#,
            ]),
        ), 0..5),
        head in prop::sample::select(vec!["{", " {", "[", "{\"jsonrpc\":\"2.0\",", "{\"jsonrpc\":\"2.0\",\"id\":1,"]),
        tail in prop::sample::select(vec!["}", " } ", "", "]", "}x"]),
    ) {
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        reads_alike(&format!("{head}{}{tail}", members.join(",")));
    }
}

#[test]
fn a_message_of_too_many_parts_is_read_all_the_same() {
    let many = "1,".repeat(crate::json::MAX_INDEXED);
    let text =
        format!(r#"{{"jsonrpc":"2.0","method":"tools/call","params":{{"name":"n","arguments":[{many}1]}}}}"#);
    let mut index = Vec::new();
    let message = Message::parse_indexed(&text, &mut index).unwrap();
    assert_eq!((index.len(), message.shape()), (0, Message::parse(&text).unwrap().shape()));
}
