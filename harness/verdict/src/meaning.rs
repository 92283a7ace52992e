//! What an importer read, typed: every event of a session, or its tool calls only.
//!
//! Values are exact JSON: a number keeps its digits and an object its order, from the importer to the report. What has been
//! parsed or built is not parsed again.

use crate::document::{CALLS, EVENTS, document};
use crate::normal::parse;
use crate::projection;
use serde_json::value::RawValue;
use transcript::json::{Json, JsonKind, OwnedJson};

/// An exact JSON value.
#[derive(Debug, Clone)]
pub struct Value(OwnedJson);

impl Value {
    /// Takes `text` as one JSON value, spelled as it is.
    ///
    /// # Errors
    /// A sentence with the byte at which the text stops being JSON.
    pub fn parse(text: &str) -> Result<Self, String> {
        Ok(Self(OwnedJson::unindexed(parse(text)?)))
    }

    /// The value.
    pub fn json(&self) -> Json<'_> {
        self.0.json()
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Value {}

impl From<&RawValue> for Value {
    fn from(value: &RawValue) -> Self {
        Self(OwnedJson::written(value.get().trim().to_owned()))
    }
}

/// Numbers are spelled as [`serde_json`] writes them. Unless its feature `arbitrary_precision` is on, it has changed some of
/// them when it read them; [`RawValue`] keeps them.
impl From<serde_json::Value> for Value {
    fn from(value: serde_json::Value) -> Self {
        Self(OwnedJson::written(value.to_string()))
    }
}

/// A tool call and how it ended (clauses EQ-TOOL, EQ-ARGS, EQ-OUTCOME).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// `params.name`, if there is one.
    pub tool: Option<Value>,
    /// `params.arguments`, if there are any; `null` differs from none.
    pub arguments: Option<Value>,
    /// What answered it; none where nothing did.
    pub outcome: Option<Outcome>,
}

/// What answers a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A result, which may report an error of the tool (`isError`).
    Result(Value),
    /// A JSON-RPC error.
    Error(Value),
}

impl Outcome {
    /// Its member of a response.
    fn member(&self) -> (&'static str, Json<'_>) {
        match self {
            Self::Result(value) => ("result", value.json()),
            Self::Error(value) => ("error", value.json()),
        }
    }
}

/// One event of a session, in the contract's normal form. Ids are text, whatever they are in JSON-RPC (clause ID-NUMBER).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A `tools/call`.
    ToolCall {
        /// Its id; none where it is `null` or missing.
        id: Option<String>,
        /// `params.name`, if there is one.
        tool: Option<Value>,
        /// `params.arguments`, if there are any.
        arguments: Option<Value>,
    },
    /// Any other request.
    Request {
        /// Its id.
        id: String,
        /// Its method.
        method: String,
        /// Its params, if there are any.
        params: Option<Value>,
    },
    /// A notification.
    Notification {
        /// Its method.
        method: String,
        /// Its params, if there are any.
        params: Option<Value>,
    },
    /// A response.
    Response {
        /// Its id; none where it is `null` or missing.
        id: Option<String>,
        /// The index of the event that it answers, from 0; none for an orphan.
        answers: Option<usize>,
        /// What it says.
        outcome: Outcome,
    },
}

/// A session event by event: `{"events": […], "authorization_discovery": …}`. Without the second member it shows nothing of
/// a challenge, as where it is collected from events; [`Self::parse`] takes one that has it.
#[derive(Debug, Clone)]
pub struct Meaning(OwnedJson);

/// The tool calls of a session in their order: `{"calls": […], "authorization_discovery": …}`, the second member as in
/// [`Meaning`].
#[derive(Debug, Clone)]
pub struct Calls(OwnedJson);

/// What a recording turned out to show: the object that `identify --output json` prints.
#[derive(Debug, Clone)]
pub struct Identification(OwnedJson);

macro_rules! document {
    ($name:ident, $list:expr) => {
        impl $name {
            /// Takes a document that is JSON already. What its list holds is compared, not checked.
            ///
            /// # Errors
            /// A sentence where it has no such list.
            pub fn from_json(document: Json<'_>) -> Result<Self, String> {
                match document.member($list).map(Json::kind) {
                    Some(JsonKind::Array) => Ok(Self(OwnedJson::unindexed(document))),
                    _ => Err(format!("the answer has no `{}` array", $list)),
                }
            }

            /// Parses a document, once.
            ///
            /// # Errors
            /// A sentence where it is not JSON, or has no such list.
            pub fn parse(text: &str) -> Result<Self, String> {
                Self::from_json(parse(text).map_err(|why| format!("the answer is not JSON: {why}"))?)
            }

            /// Takes the text that a writer of this form has just made.
            pub fn written(text: String) -> Self {
                Self(OwnedJson::written(text))
            }

            /// The document.
            pub fn json(&self) -> Json<'_> {
                self.0.json()
            }

            /// Its text.
            pub fn text(&self) -> &str {
                self.0.json().text()
            }

            /// How many items its list has.
            pub fn count(&self) -> usize {
                self.json().member($list).map_or(0, |list| list.items().count())
            }
        }

        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.json() == other.json()
            }
        }

        impl Eq for $name {}
    };
}

document!(Meaning, EVENTS);
document!(Calls, CALLS);
document!(Identification, "evidence");

impl Meaning {
    /// What an importer that shows tool calls only can show of it.
    pub fn calls(&self) -> Calls {
        Calls::written(projection::calls(self.json()))
    }
}

impl FromIterator<Call> for Calls {
    fn from_iter<T: IntoIterator<Item = Call>>(calls: T) -> Self {
        Self::written(document(CALLS, calls, None, |call, object| {
            let [tool, arguments] = [&call.tool, &call.arguments].map(|it| it.as_ref().map(Value::json));
            object.call(tool, arguments, call.outcome.as_ref().map(Outcome::member));
        }))
    }
}

impl FromIterator<Event> for Meaning {
    fn from_iter<T: IntoIterator<Item = Event>>(events: T) -> Self {
        Self::written(document(EVENTS, events, None, |event, object| match event {
            Event::ToolCall { id, tool, arguments } => {
                object.string("kind", "tool_call");
                object.optional("id", id.as_deref());
                object.value("tool", tool.as_ref().map(Value::json));
                object.value("arguments", arguments.as_ref().map(Value::json));
            }
            Event::Request { id, method, params } => {
                object.string("kind", "request");
                object.string("id", id);
                object.string("method", method);
                object.value("params", params.as_ref().map(Value::json));
            }
            Event::Notification { method, params } => {
                object.string("kind", "notification");
                object.string("method", method);
                object.value("params", params.as_ref().map(Value::json));
            }
            Event::Response { id, answers, outcome } => {
                let (kind, value) = outcome.member();
                object.string("kind", kind);
                object.optional("id", id.as_deref());
                object.text("answers", &answers.map_or("null".to_owned(), |index| index.to_string()));
                object.value(kind, Some(value));
            }
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, Calls, Event, Meaning, Outcome, Value};
    use crate::normal::check;
    use serde_json::value::RawValue;

    fn value(text: &str) -> Value {
        Value::parse(text).unwrap()
    }

    fn session() -> Meaning {
        let arguments = Some(value(r#"{ "n": 9007199254740993, "e": 1e400 }"#));
        [
            Event::Notification { method: "a\"b".into(), params: None },
            Event::ToolCall { id: Some("1".into()), tool: Some(value("\"add\"")), arguments },
            Event::Request { id: "2".into(), method: "ping".into(), params: Some(value("{}")) },
            Event::Response { id: Some("1".into()), answers: Some(1), outcome: Outcome::Result(value("3")) },
            Event::Response { id: None, answers: None, outcome: Outcome::Error(value("{}")) },
        ]
        .into_iter()
        .collect()
    }

    #[test]
    fn typed_events_are_the_normal_form_and_keep_every_digit() {
        let built = session();
        let slips: Vec<String> = check(built.json()).into_iter().map(|slip| slip.message).collect();
        assert_eq!(slips, ["`authorization_discovery` is missing"], "events by themselves show no summary");
        let parsed = Meaning::parse(built.text()).unwrap();
        assert_eq!(parsed, built);
        assert_eq!(parsed.count(), 5);
        assert!(built.text().contains(r#"{"n":9007199254740993,"e":1e400}"#), "{}", built.text());
    }

    #[test]
    fn typed_calls_are_what_the_projection_makes_of_typed_events() {
        let arguments = Some(value(r#"{"n": 9007199254740993, "e": 1e400}"#));
        let outcome = Some(Outcome::Result(value("3")));
        let calls: Calls = [Call { tool: Some(value("\"add\"")), arguments, outcome }].into_iter().collect();
        assert_eq!(calls.text(), session().calls().text());
        let open: Calls = [Call { tool: None, arguments: None, outcome: None }].into_iter().collect();
        assert!(open.text().contains(r#"{"outcome": null}"#), "{}", open.text());
        assert_eq!(Calls::parse(open.text()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_not_a_document_is_refused_with_the_reason() {
        for (text, why) in [("", "not JSON"), ("[]", "no `events`"), ("{\"events\": {}}", "no `events`")] {
            assert!(Meaning::parse(text).unwrap_err().contains(why), "{text}");
        }
        assert!(Calls::parse("{\"events\": []}").unwrap_err().contains("no `calls`"));
    }

    #[test]
    fn values_come_from_serde_json() {
        let raw = RawValue::from_string("1.0000000000000000000001".into()).unwrap();
        assert_eq!(Value::from(&*raw).json().text(), "1.0000000000000000000001");
        assert_eq!(Value::from(serde_json::json!({"a": [1]})).json().text(), r#"{"a":[1]}"#);
    }
}
