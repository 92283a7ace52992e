//! The names of requests: the ids and progress tokens that each side chose, put into the messages that refer to them.

use super::script::ScriptStep;
use crate::messages::{about, id_span, id_text, own_token, span, subscribed, with};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use transcript::json::{Json, quoted};
use transcript::meaning::EventKind;
use transcript::message::Message;

/// What the other side chose to call its requests and their progress, where it is not what the recording has. Ids and
/// progress tokens belong to the side that chose them: in messages about them they are put in as they came, byte for byte, and
/// nothing else of a message is touched.
#[derive(Debug, Default)]
pub(super) struct IdMap {
    /// By step: the text of the id that came.
    ids: HashMap<usize, String>,
    /// By the recording's id: the text of the last one that came for it.
    last: HashMap<Vec<u8>, String>,
    /// By the text of the recording's progress token.
    tokens: HashMap<String, String>,
}

impl IdMap {
    /// Learns from a message that came for a step of the other side.
    pub(super) fn learn(&mut self, step: usize, expected: Message<'_>, came: Message<'_>) {
        if expected.method().is_none() || came.method().is_none() {
            return;
        }
        if let (Some(key), Some(old), Some(new)) = (expected.id().key(), id_text(expected), id_text(came)) {
            if old == new {
                self.ids.remove(&step);
                self.last.remove(&*key);
            } else {
                self.ids.insert(step, new.to_owned());
                self.last.insert(key.into_owned(), new.to_owned());
            }
        }
        if let (Some(old), Some(new)) = (own_token(expected), own_token(came)) {
            self.tokens.insert(old.text().to_owned(), new.text().to_owned());
        }
    }

    /// A message of this side as it is to be said.
    pub(super) fn outgoing<'a>(&self, step: &ScriptStep, message: Message<'a>) -> Cow<'a, str> {
        subscribed(self.answering(step, message), |id| self.last.get(&*key_of(id)).cloned())
    }

    fn answering<'a>(&self, step: &ScriptStep, message: Message<'a>) -> Cow<'a, str> {
        if let EventKind::Result | EventKind::Error = step.kind {
            let name = match step.answers {
                Some(asked) => self.ids.get(&asked),
                None => message.id().key().and_then(|key| self.last.get(&*key)),
            };
            return with(message, id_span(message), name.map(String::as_str));
        }
        match about(message, "notifications/progress", "progressToken") {
            Some(token) => {
                with(message, span(message, token), self.tokens.get(token.text()).map(String::as_str))
            }
            None => Cow::Borrowed(message.text()),
        }
    }

    /// A message of the other side as it would read with the names that `came` gives, or that came before.
    pub(super) fn expected<'a>(&self, message: Message<'a>, came: Message<'_>) -> Cow<'a, str> {
        if let Some((old, new)) = own_token(message).zip(own_token(came)) {
            return with(message, span(message, old), Some(new.text()));
        }
        let Some(id) = about(message, "notifications/cancelled", "requestId") else {
            return Cow::Borrowed(message.text());
        };
        with(message, span(message, id), self.last.get(&*key_of(id)).map(String::as_str))
    }
}

/// The key of an id in a member.
fn key_of(id: Json<'_>) -> Cow<'_, [u8]> {
    id.as_text().map_or(Cow::Borrowed(id.text().as_bytes()), |text| text.decode())
}

/// Ids that are each given once.
#[derive(Debug, Default)]
pub(super) struct FreshIds {
    pub(super) given: HashSet<Vec<u8>>,
    /// The number of the next one that is made up.
    pub(super) next: u64,
}

impl FreshIds {
    /// The id to use for one that may be given already: none where it is not, or else one of these words and a number.
    pub(super) fn rename(&mut self, key: &[u8], words: &str) -> Option<String> {
        if self.given.insert(key.to_vec()) {
            return None;
        }
        loop {
            let name = format!("{words}{}", self.next);
            self.next += 1;
            if self.given.insert(name.clone().into_bytes()) {
                return Some(name);
            }
        }
    }

    /// The text of the id under which a client is asked what has this id in the recording, or with the live server.
    pub(super) fn for_client(&mut self, key: &[u8], text: &str) -> String {
        self.next = self.next.max(1);
        self.rename(key, "mcp-concord-").map_or_else(|| text.to_owned(), |name| quoted(&name))
    }
}
