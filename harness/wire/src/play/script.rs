//! A session as one side plays it: what it sends, and what it waits for.
//!
//! Memory: the session.

use crate::messages::is;
use formats::{Format, OwnedContent, OwnedEntry, ReadError, ReadOptions, Session};
use std::collections::{BTreeMap, BTreeSet};
use transcript::meaning::{Event, EventKind};
use transcript::message::Message;
use transcript::session::{Carrier, Headers, Side};

/// The session of a recording in this format.
pub(crate) fn read_session(format: &'static Format, bytes: &[u8]) -> Result<Session, ReadError> {
    Session::of(format, bytes, ReadOptions::default())
}

/// A session, and the side of it that is played.
#[derive(Debug)]
pub struct Script {
    pub(crate) session: Session,
    /// The side that is played.
    pub role: Side,
    /// The messages of both sides, in order.
    pub(crate) steps: Vec<ScriptStep>,
    /// The error of HTTP that the session shows for a message of the client, where no message came with it.
    pub(super) refusals: BTreeMap<usize, Refusal>,
    /// Those that the recording has a second time under the event id of an earlier one.
    again: BTreeSet<usize>,
    /// Those that are not played.
    left_out: BTreeSet<usize>,
}

/// An error or a redirect of HTTP that answers a message, with the headers that say what would be let in.
type Refusal = (u16, Vec<(String, String)>);

/// One message of the session. Its number is that of its event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScriptStep {
    /// Its entry.
    entry: usize,
    /// Who says it.
    pub(crate) side: Side,
    /// What it is.
    pub(super) kind: EventKind,
    /// The message that it answers, by the contract; or the one that repeats it, where that one was refused over HTTP.
    pub(super) answers: Option<usize>,
}

impl Script {
    /// The script of `role`.
    ///
    /// # Errors
    /// A sentence, where the session holds nothing that could be played.
    pub fn new(session: Session, role: Side) -> Result<Self, String> {
        let step = |(entry, owned): (usize, &OwnedEntry)| {
            let message = owned.message()?;
            let answers = owned.answers.and_then(|event| usize::try_from(event).ok());
            let side = owned.side.unwrap_or(Side::Client);
            Some(ScriptStep { entry, side, kind: EventKind::new(&message), answers })
        };
        let steps: Vec<_> = session.entries.iter().enumerate().filter_map(step).collect();
        if steps.is_empty() {
            return Err("it holds no message, so there is nothing to play".to_owned());
        }
        let (refusals, again, left_out) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
        let mut script = Self { session, role, steps, refusals, again, left_out };
        script.left_out = script.find_bodies_of_refused_gets();
        script.again = script.find_delivered_again();
        script.refusals = script.find_refusals();
        script.pass_over_refusals();
        Ok(script)
    }

    /// Whether the recording has a message a second time under the event id of an earlier one.
    pub(crate) fn is_again(&self, step: usize) -> bool {
        self.again.contains(&step)
    }

    /// Whether a message is not played: it is the body with which a GET was refused, and neither side waits for it.
    pub(crate) fn is_left_out(&self, step: usize) -> bool {
        self.left_out.contains(&step)
    }

    /// How many messages are not played.
    pub fn left_out(&self) -> usize {
        self.left_out.len()
    }

    /// The length of all messages, in bytes.
    pub fn size(&self) -> u64 {
        (0..self.steps.len()).filter_map(|step| self.message(step)).map(|it| it.text().len() as u64).sum()
    }

    /// The entry of a step.
    pub(crate) fn entry(&self, step: usize) -> Option<&OwnedEntry> {
        self.session.entries.get(self.steps.get(step)?.entry)
    }

    /// The message of a step as the recording has it.
    pub(crate) fn message(&self, step: usize) -> Option<Message<'_>> {
        self.entry(step)?.message()
    }

    /// Whether a step is this request, or notification.
    pub(super) fn is(&self, step: usize, method: &str) -> bool {
        self.message(step).is_some_and(|message| is(message, method))
    }

    /// Whether a step is this side's.
    pub(crate) fn is_mine(&self, step: usize) -> bool {
        self.steps.get(step).is_some_and(|step| step.side == self.role)
    }

    /// The length of the longest message, in bytes.
    pub(crate) fn longest(&self) -> usize {
        let length = |step| self.message(step).map_or(0, |message| message.text().len());
        (0..self.steps.len()).map(length).max().unwrap_or_default()
    }

    fn find_delivered_again(&self) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let again = |step: &usize| {
            let id = self.entry(*step).and_then(|entry| entry.sse.as_ref()?.id.as_deref());
            id.is_some_and(|id| !seen.insert(id))
        };
        (0..self.steps.len()).filter(again).collect()
    }

    fn find_bodies_of_refused_gets(&self) -> BTreeSet<usize> {
        let refused = |entry: &OwnedEntry| match &entry.what {
            OwnedContent::Exchange(exchange) => {
                entry.exchange.filter(|_| exchange.method == "GET" && exchange.status >= Some(400))
            }
            _ => None,
        };
        let refused: BTreeSet<u64> = self.session.entries.iter().filter_map(refused).collect();
        let is_body = |step: &usize| {
            let number = self.entry(*step).and_then(|entry| entry.exchange);
            number.is_some_and(|number| refused.contains(&number))
        };
        (0..self.steps.len()).filter(is_body).collect()
    }

    fn find_refusals(&self) -> BTreeMap<usize, Refusal> {
        let answered: BTreeSet<u64> = (0..self.steps.len())
            .filter(|&step| self.steps[step].side == Side::Server)
            .filter_map(|step| self.entry(step)?.exchange)
            .collect();
        let (mut exchanges, mut found) = (BTreeMap::new(), BTreeMap::new());
        for entry in &self.session.entries {
            if let (OwnedContent::Exchange(exchange), Some(number)) = (&entry.what, entry.exchange) {
                exchanges.insert(number, exchange);
            }
        }
        for (step, it) in self.steps.iter().enumerate().filter(|(_, step)| step.side == Side::Client) {
            let entry = self.session.entries.get(it.entry);
            let refusal = match entry.and_then(|entry| entry.exchange) {
                Some(number) if answered.contains(&number) => None,
                Some(number) => {
                    exchanges.get(&number).and_then(|shown| refusal(shown.status, &shown.response_headers))
                }
                // In an envelope the answer is the entry behind the request.
                None => self.session.entries.get(it.entry + 1).and_then(|next| {
                    let context =
                        next.context.as_ref().filter(|_| matches!(next.what, OwnedContent::Empty))?;
                    refusal(context.status.filter(|_| next.carrier == Carrier::Response), &context.headers)
                }),
            };
            found.extend(refusal.map(|refusal| (step, refusal)));
        }
        found
    }

    /// What was refused is not answered: the message that the contract binds to it answers the request that repeats it.
    fn pass_over_refusals(&mut self) {
        for step in 0..self.steps.len() {
            let Some(asked) = self.steps[step].answers.filter(|asked| self.refusals.contains_key(asked))
            else {
                continue;
            };
            let id = |step: usize| self.message(step).and_then(|message| message.id().key());
            let again = (asked + 1..step).find(|&again| {
                let found = self.steps[again];
                let asks = !matches!(found.kind, EventKind::Result | EventKind::Error);
                let free = !self.refusals.contains_key(&again);
                asks && free && found.side == Side::Client && id(again) == id(asked)
            });
            if let Some(step) = self.steps.get_mut(step) {
                step.answers = again.or(step.answers);
            }
        }
    }
}

fn refusal(status: Option<u16>, headers: &Headers<'_>) -> Option<Refusal> {
    let status = status.filter(|status| matches!(status, 301..=303 | 307 | 308 | 400..))?;
    let kept = headers.iter().filter(|header| header.0.eq_ignore_ascii_case("www-authenticate"));
    Some((status, kept.map(|(name, value)| (name.to_lowercase(), value.clone().into_owned())).collect()))
}

/// A message that came, as an event of nobody's session.
pub(crate) fn event(index: usize, message: Message<'_>) -> Event<'_> {
    Event {
        index: index as u64,
        kind: EventKind::new(&message),
        id: message.id().key(),
        answers: None,
        message,
        side: None,
        location: Default::default(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::{Script, read_session};
    use crate::messages::on_one_line;
    use transcript::session::Side;

    /// A script of messages, each with `>` (client) or `<` (server) before it.
    pub(in crate::play) fn script(lines: &[&str], role: Side) -> Result<Script, String> {
        let mut text = String::from(
            "{\"v\":1,\"type\":\"meta\",\"startedAt\":\"2026-01-01T00:00:00.000Z\",\"label\":\"a\",\"command\":[\"a\"]}\n",
        );
        for line in lines {
            let (dir, raw) = if let Some(raw) = line.strip_prefix("> ") {
                ("in", raw)
            } else {
                ("out", line.strip_prefix("< ").unwrap())
            };
            text.push_str(&format!(
                "{{\"t\":\"2026-01-01T00:00:00.000Z\",\"dir\":\"{dir}\",\"raw\":{raw}}}\n"
            ));
        }
        of_bytes("mcp-replay", text.as_bytes(), role)
    }

    /// A script of a recording.
    pub(in crate::play) fn of_bytes(format: &str, bytes: &[u8], role: Side) -> Result<Script, String> {
        Script::new(read_session(formats::find(format).unwrap(), bytes).unwrap(), role)
    }

    #[test]
    fn steps_are_the_messages_with_their_sides() {
        let lines =
            [r#"> {"jsonrpc":"2.0","id":1,"method":"a"}"#, r#"< {"jsonrpc":"2.0","id":1,"result":{}}"#];
        let script = script(&lines, Side::Server).unwrap();
        assert_eq!(script.steps.len(), 2);
        assert_eq!((script.is_mine(0), script.is_mine(1), script.is_mine(2)), (false, true, false));
        assert_eq!(script.steps[1].answers, Some(0));
        assert_eq!(script.longest(), lines[0].len() - 2);
        assert_eq!(script.entry(0).unwrap().location.line, 2);
    }

    #[test]
    fn a_session_without_messages_cannot_be_played() {
        assert!(script(&[], Side::Server).unwrap_err().contains("no message"));
    }

    #[test]
    fn a_message_is_one_line_without_a_change_of_its_numbers() {
        assert_eq!(on_one_line("{\n \"a\" : [1e400,\r\n\"\\n\"]}"), "{\"a\":[1e400,\"\\n\"]}");
        assert_eq!(on_one_line("{ \"a\" : 1.0 }"), "{ \"a\" : 1.0 }");
    }
}
