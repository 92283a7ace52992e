//! A script as it is being played: which message is next, and what to make of one that came.
//!
//! This side sends a message once all that the other side sends before it was received. A message that came is looked
//! for among the next [`AHEAD`] of the other side, the awaited one first. The play continues after a mismatch: a
//! message that differs counts as received, an unexpected one is skipped. Memory: a bit for each message, and the ids
//! that the other side chose.

use super::names::IdMap;
use super::plan::{Mismatch, MismatchKind};
use super::script::{Script, event};
use crate::messages::id_text;
use std::borrow::Cow;
use transcript::align::contents;
use transcript::diff::{DiffOptions, Difference};
use transcript::json::Json;
use transcript::meaning::{Event, EventKind};
use transcript::message::Message;
use transcript::rejection::Code;

/// How many messages of the other side are looked at for the one that came.
pub(super) const AHEAD: usize = 256;

/// How far the order of the other side's messages can be seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// They come one behind the other.
    Strict,
    /// They come over several connections: between two messages of this side, one may overtake another, and an answer any
    /// message.
    Loose,
}

/// A script with a finger on the next message.
#[derive(Debug)]
pub(crate) struct Player<'s> {
    script: &'s Script,
    rules: DiffOptions,
    order: Order,
    /// The first step that is not done.
    next: usize,
    done: Vec<bool>,
    names: IdMap,
    /// A request that departs from the session is not answered as in the session.
    pub(super) refuses: bool,
    /// How many messages were sent.
    pub(super) sent: u64,
    /// How many messages of the session were received, equal to them or not.
    pub(super) received: u64,
}

/// A message of this side as it has to be sent now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outgoing<'s> {
    /// Its step.
    pub(super) step: usize,
    /// Its text.
    pub(super) text: Cow<'s, str>,
}

/// What became of a message that came.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Received {
    /// The step that it represents.
    pub(super) step: Option<usize>,
    /// How it departs from it.
    pub(super) mismatch: Option<Mismatch>,
    /// The id of a request that is to be refused for it.
    pub(super) refused: Option<String>,
}

impl<'s> Player<'s> {
    /// At the beginning of the script.
    pub(crate) fn new(script: &'s Script, rules: DiffOptions, order: Order) -> Self {
        let done: Vec<bool> = (0..script.steps.len()).map(|step| script.is_left_out(step)).collect();
        let next = done.iter().take_while(|done| **done).count();
        let names = IdMap::default();
        Self { script, rules, order, next, done, names, refuses: false, sent: 0, received: 0 }
    }

    /// The next message of this side, where it is its turn. It counts as sent.
    pub(crate) fn next_message(&mut self) -> Option<Outgoing<'s>> {
        let next = self.peek()?;
        self.tick(next.step);
        self.sent += 1;
        Some(next)
    }

    /// The next message of this side, where it is its turn.
    pub(crate) fn peek(&self) -> Option<Outgoing<'s>> {
        let step = self.next;
        let message = self.script.message(step).filter(|_| self.script.is_mine(step))?;
        let text = self.names.outgoing(self.script.steps.get(step)?, message);
        Some(Outgoing { step, text })
    }

    /// Takes what is meant to be one message; a batch is split.
    pub(crate) fn receive(&mut self, text: &str) -> Vec<Received> {
        match Message::parse(text) {
            Ok(message) => vec![self.receive_message(message)],
            Err(refusal) if refusal.code == Code::Batch => {
                let batch = Mismatch::new(MismatchKind::Batch, Some(text.to_owned()));
                let mut received = vec![Received { mismatch: Some(batch), ..Received::default() }];
                for item in Json::parse(text).into_iter().flat_map(Json::items) {
                    received.push(match Message::parse(item.text()) {
                        Ok(message) => self.receive_message(message),
                        Err(refusal) => no_message(refusal.message, item.text()),
                    });
                }
                received
            }
            Err(refusal) => vec![no_message(refusal.message, text)],
        }
    }

    /// The message of the other side that is awaited, where this side cannot go on without it.
    pub(crate) fn awaited(&self) -> Option<usize> {
        (self.next < self.done.len() && !self.script.is_mine(self.next)).then_some(self.next)
    }

    /// The messages of the other side that are awaited before it is this side's turn again.
    pub(super) fn awaited_now(&self) -> impl Iterator<Item = usize> {
        (self.next..self.turn()).filter(|&step| self.is_awaited(step))
    }

    /// When it is this side's turn: the next message that it has to send, or the end.
    fn turn(&self) -> usize {
        let mine = |step: &usize| self.script.is_mine(*step) && !self.done[*step];
        (self.next..self.done.len()).find(mine).unwrap_or(self.done.len())
    }

    /// Whether a message was sent or received.
    pub(super) fn is_done(&self, step: usize) -> bool {
        self.done.get(step).is_some_and(|done| *done)
    }

    /// Whether a text is one of the messages that the other side has to say next, and one that the session has again.
    pub(super) fn expects_again(&self, text: &str) -> bool {
        let Ok(message) = Message::parse(text) else { return false };
        let came = event(self.next, message);
        self.ahead().any(|step| self.script.is_again(step) && self.difference(step, &came).is_none())
    }

    /// Whether nothing is left to say or to hear.
    pub(crate) fn is_over(&self) -> bool {
        self.next == self.done.len()
    }

    /// What never came, for this reason.
    pub(crate) fn missing(&self, why: &str) -> Option<Mismatch> {
        let mut left = (self.next..self.done.len()).filter(|&step| self.is_awaited(step));
        let step = left.next()?;
        let kind = MismatchKind::Missing(why.to_owned(), left.count());
        Some(Mismatch { kind, step: Some(step), came: None })
    }

    /// How many messages of this side are left to say.
    pub(crate) fn unsent(&self) -> usize {
        (self.next..self.done.len()).filter(|&step| self.script.is_mine(step)).count()
    }

    /// Whether the other side still has to say it.
    fn is_awaited(&self, step: usize) -> bool {
        !self.done[step] && !self.script.is_mine(step)
    }

    fn tick(&mut self, step: usize) {
        self.done[step] = true;
        while self.done.get(self.next).is_some_and(|done| *done) {
            self.next += 1;
        }
    }

    fn receive_message(&mut self, message: Message<'_>) -> Received {
        let came = event(self.next, message);
        let (step, kind) = match self.same(&came) {
            Some(step) => (step, (!self.is_in_order(step)).then_some(MismatchKind::OutOfOrder)),
            None => match self.kin(&came).and_then(|step| Some((step, self.difference(step, &came)?))) {
                Some((step, difference)) => (step, Some(MismatchKind::Different(difference))),
                None => {
                    let came = Some(message.text().to_owned());
                    let refused = self.refused(message);
                    // Who is refused sees what would have been right.
                    let step = refused.as_ref().and_then(|_| self.awaited());
                    let mismatch = Mismatch { kind: MismatchKind::Unexpected, step, came };
                    return Received { step: None, mismatch: Some(mismatch), refused };
                }
            },
        };
        if let Some(expected) = self.script.message(step) {
            self.names.learn(step, expected, message);
        }
        self.tick(step);
        self.received += 1;
        let refused = kind.as_ref().and_then(|_| self.refused(message));
        if refused.is_some() {
            let answers = |at: &usize| self.script.steps[*at].answers == Some(step);
            (step..self.done.len()).find(answers).into_iter().for_each(|answer| self.tick(answer));
        }
        let (step, came) = (Some(step), Some(message.text().to_owned()));
        Received { step, mismatch: kind.map(|kind| Mismatch { kind, step, came }), refused }
    }

    /// The id of a message that is refused if it departs from the session: of a request.
    fn refused(&self, message: Message<'_>) -> Option<String> {
        message.method().filter(|_| self.refuses)?;
        id_text(message).map(ToOwned::to_owned)
    }

    /// The first message that says the same; of several that may overtake each other, the one whose id came.
    fn same(&self, came: &Event<'_>) -> Option<usize> {
        let mut first = None;
        for step in self.ahead().filter(|&step| self.difference(step, came).is_none()) {
            let id = self.script.message(step).and_then(|message| message.id().key());
            if self.order == Order::Strict || id == came.id && self.is_in_order(step) {
                return Some(step);
            }
            first = first.or(Some(step));
        }
        first
    }

    /// The next messages that the other side has to say.
    fn ahead(&self) -> impl Iterator<Item = usize> {
        (self.next..self.done.len()).filter(|&step| self.is_awaited(step)).take(AHEAD)
    }

    /// Whether nothing that should have come before it is awaited, and what it answers was asked.
    fn is_in_order(&self, step: usize) -> bool {
        let asked = self.script.steps[step].answers.is_none_or(|asked| self.done[asked]);
        let mut before = (self.next..step).filter(|&before| self.is_awaited(before));
        let overtaken = before.next();
        // Over several connections an answer to what was asked waits for no other message.
        if asked && self.order == Order::Loose && self.script.steps[step].answers.is_some() {
            return true;
        }
        let between = |first: usize| (first..step).any(|step| self.script.is_mine(step));
        asked
            && overtaken.is_none_or(|first| {
                // What this side sent in between, the other one may have waited for.
                self.order == Order::Loose && !between(first)
            })
    }

    /// The message that the one that came may be meant for: an answer to the same request, or the first one of its kind
    /// and method before this side has to speak again.
    fn kin(&self, came: &Event<'_>) -> Option<usize> {
        let turn = self.turn();
        let alike = |step: usize| {
            let Some(message) = self.script.message(step) else { return false };
            let expected = event(step, message);
            match (expected.is_response(), came.is_response()) {
                (true, true) => expected.id == came.id,
                (false, false) => {
                    expected.kind == came.kind && message.method() == came.message.method() && step < turn
                }
                _ => false,
            }
        };
        self.ahead().find(|&step| alike(step))
    }

    /// How this differs from a message of the session, except for the names that belong to the other side.
    fn difference(&self, step: usize, came: &Event<'_>) -> Option<Difference> {
        let differs = |pointer: &str, left: Option<String>, right: Option<String>| {
            Some(Difference { pointer: pointer.to_owned(), left, right })
        };
        let message = self.script.message(step)?;
        let text = self.names.expected(message, came.message);
        // Other names do not make it another sort of message.
        let message = Message::parse(&text).unwrap_or(message);
        let expected = event(step, message);
        if expected.kind != came.kind {
            let quoted = |kind: EventKind| Some(format!("\"{}\"", kind.name()));
            return differs("/kind", quoted(expected.kind), quoted(came.kind));
        }
        let same_id = match expected.is_response() {
            true => expected.id == came.id,
            false => expected.id.is_some() == came.id.is_some(),
        };
        if !same_id && !self.rules.ignore.iter().any(|pattern| pattern.is_match("/id")) {
            let shown =
                |event: &Event<'_>| event.id.as_ref().map(|id| String::from_utf8_lossy(id).into_owned());
            return differs("/id", shown(&expected), shown(came));
        }
        contents(&expected, came, &self.rules).difference
    }
}

fn no_message(why: String, text: &str) -> Received {
    let text = if text.trim().is_empty() { "(an empty line)" } else { text }.to_owned();
    let mismatch = Some(Mismatch::new(MismatchKind::NoMessage(why), Some(text)));
    Received { mismatch, ..Received::default() }
}

#[cfg(test)]
mod tests {
    use super::{Order, Player};
    use crate::play::script::tests::script;
    use crate::play::testing::{plays, spelled};
    use transcript::diff::{DiffOptions, PointerPattern};
    use transcript::session::Side;

    /// A play of `player/tests.txt`. Each has a session and, behind `---` with the side that is played, what happens: the messages of
    /// the other side that come, the messages that are sent then, `=` with the number of the message that was received, and `!` with
    /// a mismatch. `words` are the side, whether the order is loose, and what may differ.
    fn play(session: &[&str], words: &str, lines: &[String]) -> Vec<String> {
        let role = if words.contains("server") { Side::Server } else { Side::Client };
        let order = if words.contains("loose") { Order::Loose } else { Order::Strict };
        let ignore = words.split(' ').filter(|word| word.starts_with('/'));
        let ignore = ignore.map(|text| PointerPattern::parse(text).unwrap()).collect();
        let (own, other) = if role == Side::Server { ("< ", "> ") } else { ("> ", "< ") };
        let script = script(session, role).unwrap();
        let mut player = Player::new(&script, DiffOptions { ignore, redacted: None }, order);
        let mut log = Vec::new();
        let speak = |player: &mut Player<'_>, log: &mut Vec<String>| {
            while let Some(said) = player.next_message() {
                log.push(format!("{own}{}", said.text));
            }
        };
        speak(&mut player, &mut log);
        for came in lines.iter().filter_map(|line| line.strip_prefix(other)) {
            log.push(format!("{other}{came}"));
            for heard in player.receive(came) {
                log.extend(heard.step.map(|step| format!("= {step}")));
                log.extend(heard.mismatch.map(|mismatch| format!("! {}", mismatch.headline())));
            }
            speak(&mut player, &mut log);
        }
        let missing = player.missing("it is over");
        assert_eq!(player.is_over(), missing.is_none());
        log.extend(missing.map(|mismatch| format!("! {}", mismatch.headline())));
        log
    }

    #[test]
    fn every_play_goes_as_written() {
        plays(include_str!("player/tests.txt"), play);
    }

    #[test]
    fn what_nobody_waits_for_may_be_overtaken() {
        let session = ["> - notifications/initialized", "< - n", "> 1 tools/list"].map(spelled);
        let session: Vec<&str> = session.iter().map(String::as_str).collect();
        let script = script(&session, Side::Server).unwrap();
        let mut player = Player::new(&script, DiffOptions::default(), Order::Strict);
        assert_eq!(player.receive(&session[0][2..])[0].mismatch, None);
        assert_eq!(player.receive(&session[2][2..])[0].mismatch, None);
        assert_eq!(player.next_message().unwrap().step, 1);
        assert!(player.is_over());
    }
}
