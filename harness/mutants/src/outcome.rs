//! The meaning of a session, open to changes.

use transcript::json::{Json, write_string};
use transcript::meaning::EventKind;
use verdict::answer::Answer;
use verdict::meaning::Meaning;

/// A meaning.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The summary of a challenge, where there is one.
    pub discovery: Option<Discovery>,
}

/// What a challenge makes visible (clauses K2A-*).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Discovery {
    /// `resource_metadata_visible`.
    pub metadata: bool,
    /// `scope_challenge_visible`.
    pub scope: bool,
    /// `authorization_servers_visible`.
    pub servers: bool,
}

/// One event.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its kind.
    pub kind: EventKind,
    /// The correlation id, where it has one.
    pub id: Option<Vec<u8>>,
    /// The index of the request that this response answers.
    pub answers: Option<usize>,
    /// The method of a request or notification.
    pub method: Option<Vec<u8>>,
    /// The members of the normal form that hold values of the message, as JSON text.
    pub values: Vec<(&'static str, String)>,
}

impl Event {
    /// Whether it is a result or an error.
    #[must_use]
    pub fn is_response(&self) -> bool {
        matches!(self.kind, EventKind::Result | EventKind::Error)
    }

    /// Whether it has this method; tool calls have none.
    #[must_use]
    pub fn is_method(&self, name: &str) -> bool {
        self.method.as_deref() == Some(name.as_bytes())
    }

    /// The value of this member of the normal form.
    #[must_use]
    pub fn value(&self, member: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| *name == member).map(|(_, value)| value.as_str())
    }

    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(format!("{{\"kind\": \"{}\"", self.kind.name()).as_bytes());
        if let Some(id) = &self.id {
            out.extend_from_slice(b", \"id\": ");
            write_string(id, out);
        }
        if self.is_response() {
            let index = self.answers.map_or("null".to_owned(), |index| index.to_string());
            out.extend_from_slice(format!(", \"answers\": {index}").as_bytes());
        }
        if let Some(method) = &self.method {
            out.extend_from_slice(b", \"method\": ");
            write_string(method, out);
        }
        for (name, value) in &self.values {
            out.extend_from_slice(format!(", \"{name}\": {value}").as_bytes());
        }
        out.push(b'}');
    }
}

impl Outcome {
    /// The meaning as an answer.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer::Meaning(Meaning::written(self.write()))
    }

    /// The meaning as JSON text.
    fn write(&self) -> String {
        let mut out = b"{\"events\": [".to_vec();
        for (index, event) in self.events.iter().enumerate() {
            out.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
            event.write(&mut out);
        }
        out.extend_from_slice(b"\n], \"authorization_discovery\": ");
        match self.discovery {
            None => out.extend_from_slice(b"null}"),
            Some(Discovery { metadata, scope, servers }) => out.extend_from_slice(
                format!(
                    "{{\"visible\": true, \"source_kind\": \"www_authenticate\", \
                     \"resource_metadata_visible\": {metadata}, \"authorization_servers_visible\": {servers}, \
                     \"scope_challenge_visible\": {scope}}}}}"
                )
                .as_bytes(),
            ),
        }
        String::from_utf8_lossy(&out).into_owned()
    }

    /// Puts the events of these indices in this order and drops the others; each answer still points at its request.
    pub fn arrange(&mut self, order: &[usize]) {
        let mut events: Vec<Event> = order.iter().filter_map(|&at| self.events.get(at).cloned()).collect();
        for event in &mut events {
            event.answers = event.answers.and_then(|asked| order.iter().position(|&at| at == asked));
        }
        self.events = events;
    }

    /// Drops the events for which `dropped` holds.
    pub fn drop_events(&mut self, dropped: impl Fn(&Self, usize) -> bool) {
        let kept: Vec<usize> = (0..self.events.len()).filter(|&index| !dropped(self, index)).collect();
        self.arrange(&kept);
    }

    /// Edits every event's values of these names; an edit to an empty text takes the member away.
    pub fn edit_values(&mut self, names: &[&str], edit: &dyn Fn(Json<'_>) -> Option<String>) {
        for event in &mut self.events {
            for (name, value) in &mut event.values {
                if names.contains(name)
                    && let Some(new) = Json::parse(value).ok().and_then(edit)
                {
                    *value = new;
                }
            }
            event.values.retain(|(_, value)| !value.is_empty());
        }
    }

    /// The request that an event belongs to: the one that it answers, or the event itself.
    #[must_use]
    pub fn request_of(&self, at: usize) -> &Event {
        let at = self.events[at].answers.unwrap_or(at);
        &self.events[at]
    }

    /// Whether some response answers the event at this index.
    #[must_use]
    pub fn is_answered(&self, at: usize) -> bool {
        self.events.iter().any(|event| event.answers == Some(at))
    }
}
