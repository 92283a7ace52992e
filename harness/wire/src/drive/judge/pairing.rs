//! Which message of a recording is which of those that were sent.
//!
//! Messages are equal by the contract; one that was changed is told from one that was lost. Memory: the text of every
//! message once more, without white space.

use super::messages::{RecordedMessage, SentMessage};
use std::collections::{HashMap, VecDeque};
use transcript::json::{Json, same_number, write_compact};
use transcript::message::Message;
use transcript::session::Side;

/// So many messages without a counterpart are compared by value; more are paired by their order.
pub(super) const COMPARED: usize = 400;

/// Who stands for whom.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    /// For each message that was sent, its counterpart in the recording.
    pub(super) written: Vec<Option<usize>>,
    /// For each message of the recording, what was sent.
    pub(super) said: Vec<Option<usize>>,
}

impl Pairing {
    /// Pairs equal messages first, the first of several equal ones with the first by their times, or by their places in a
    /// file without times; then, between neighbours that are paired, those that are alike enough to be one message that was
    /// changed.
    pub(super) fn of(said: &[SentMessage], written: &[RecordedMessage]) -> Self {
        let mut pairing = Self { written: vec![None; said.len()], said: vec![None; written.len()] };
        let mut waiting: HashMap<(Option<Side>, Vec<u8>), VecDeque<usize>> = HashMap::new();
        // The stream that began first, and stands first, may be the one on which a message came last.
        let timed = written.iter().all(|one| one.time.is_some());
        let (mut first, mut from): (Vec<_>, Vec<_>) =
            ((0..written.len()).collect(), (0..said.len()).collect());
        first.sort_by_key(|&at| written[at].time.filter(|_| timed));
        from.sort_by_key(|&at| timed.then_some(said[at].there));
        for at in first {
            let one = &written[at];
            waiting.entry((one.side, compact(&one.text))).or_default().push_back(at);
        }
        for at in from {
            let one = &said[at];
            let text = compact(&one.text);
            let mut take = |side| waiting.get_mut(&(side, text.clone())).and_then(VecDeque::pop_front);
            if let Some(found) = take(Some(one.side)).or_else(|| take(None)) {
                pairing.join(at, found);
            }
        }
        pairing.by_value(said, written);
        pairing.changed(said, written);
        pairing.spoilt(said, written);
        pairing
    }

    fn join(&mut self, said: usize, written: usize) {
        self.written[said] = Some(written);
        self.said[written] = Some(said);
    }

    /// Has two messages that were sent stand for each other's counterparts.
    pub(super) fn change_roles(&mut self, one: usize, other: usize) {
        self.written.swap(one, other);
        for said in [one, other] {
            if let Some(written) = self.written[said] {
                self.said[written] = Some(said);
            }
        }
    }

    /// Messages that are equal by the contract and spelled otherwise.
    fn by_value(&mut self, said: &[SentMessage], written: &[RecordedMessage]) {
        let (left, right) = self.alone();
        if left.len() > COMPARED || right.len() > COMPARED {
            return;
        }
        for from in left {
            let Ok(value) = Json::parse(&said[from].text) else { continue };
            let same = |to: &&usize| {
                self.said[**to].is_none()
                    && written[**to].may_be_of(said[from].side)
                    && Json::parse(&written[**to].text).is_ok_and(|other| value.same(other))
            };
            if let Some(to) = right.iter().find(same).copied() {
                self.join(from, to);
            }
        }
    }

    /// Messages that are not equal, but stand where one that was sent is missing, and are of its sort.
    fn changed(&mut self, said: &[SentMessage], written: &[RecordedMessage]) {
        let (left, right) = self.alone();
        let mut right: VecDeque<usize> = right.into();
        for from in left {
            let after = (0..from)
                .rev()
                .filter(|at| said[*at].side == said[from].side)
                .find_map(|at| self.written[at]);
            let alike = |to: &usize| {
                written[*to].may_be_of(said[from].side)
                    && after.is_none_or(|after| *to > after)
                    && alike(&said[from].text, &written[*to].text)
            };
            // One that was lost before it leaves candidates behind, so all are looked at, but no further than that.
            if let Some(place) = right.iter().take(COMPARED).position(alike)
                && let Some(to) = right.remove(place)
            {
                self.join(from, to);
            }
        }
    }

    /// What is no message any more, but stands between the neighbours of one that is missing.
    fn spoilt(&mut self, said: &[SentMessage], written: &[RecordedMessage]) {
        let (left, right) = self.alone();
        for from in left {
            let text = said[from].text.trim();
            let own = |at: &usize| said[*at].side == said[from].side;
            let after = (0..from).rev().filter(own).find_map(|at| self.written[at]);
            let before = (from + 1..said.len()).filter(own).find_map(|at| self.written[at]);
            let fits = |to: &&usize| {
                let one = &written[**to];
                self.said[**to].is_none()
                    && one.noise
                    && one.may_be_of(said[from].side)
                    && after.is_none_or(|after| **to > after)
                    && before.is_none_or(|before| **to < before)
                    && !one.text.contains(text)
            };
            if let Some(to) = right.iter().take(COMPARED).find(fits).copied()
                && Message::parse(text).is_ok()
            {
                self.join(from, to);
            }
        }
    }

    /// What has no counterpart yet, on both sides.
    fn alone(&self) -> (Vec<usize>, Vec<usize>) {
        let of = |side: &[Option<usize>]| (0..side.len()).filter(|at| side[*at].is_none()).collect();
        (of(&self.written), of(&self.said))
    }
}

/// A message without white space, every token as it was spelled; any other text as it is.
fn compact(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    match Json::parse(text) {
        Ok(value) => write_compact(value, &mut out),
        Err(_) => out.extend_from_slice(text.trim().as_bytes()),
    }
    out
}

/// Whether two texts may be one message, before and after something was changed in it: the same members that tell messages
/// apart, and the same id if there is one, but for the spelling or the rounding of a number.
fn alike(a: &str, b: &str) -> bool {
    let (Ok(a), Ok(b)) = (Json::parse(a), Json::parse(b)) else { return false };
    let sort = |value: Json<'_>| ["method", "result", "error"].map(|name| value.member(name).is_some());
    let same = |name: &str| match (a.member(name), b.member(name)) {
        (Some(a), Some(b)) => a.same(b) || rounded(a.text(), b.text()) || quoted(a, b),
        (None, None) => true,
        _ => false,
    };
    sort(a) == sort(b) && same("method") && same("id")
}

/// Whether two numbers differ, and fall together as doubles.
pub(super) fn rounded(a: &str, b: &str) -> bool {
    let number = |text: &str| text.parse::<f64>().ok().filter(|_| !text.starts_with(['N', 'I', 'i', 'n']));
    matches!((number(a), number(b)), (Some(x), Some(y)) if x.to_bits() == y.to_bits()) && !same_number(a, b)
}

/// Whether one is the other as a string.
fn quoted(a: Json<'_>, b: Json<'_>) -> bool {
    let bare = |value: Json<'_>| value.text().trim_matches('"').to_owned();
    a.as_text().is_some() != b.as_text().is_some() && bare(a) == bare(b)
}

#[cfg(test)]
mod tests {
    use super::{alike, rounded};

    #[test]
    fn one_message_is_known_again_after_it_was_changed() {
        let ask = r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1}}"#;
        for (other, same) in [
            (r#"{"id":1,"method":"a"}"#, true),
            (r#"{"id":"1","method":"a"}"#, true),
            (r#"{"id":1.0,"method":"a"}"#, true),
            (r#"{"id":2,"method":"a"}"#, false),
            (r#"{"id":1,"method":"b"}"#, false),
            (r#"{"id":1,"result":{}}"#, false),
            ("[1]", false),
            ("nothing", false),
        ] {
            assert_eq!(alike(ask, other), same, "{other}");
        }
        let far = |id: &str| format!(r#"{{"id":{id},"method":"a"}}"#);
        assert!(alike(&far("9007199254740993"), &far("9007199254740992")));
    }

    #[test]
    fn a_rounded_number_is_told_from_another() {
        assert!(rounded("9007199254740993", "9007199254740992"));
        assert!(rounded("0.1000000000000000055511151231257827", "0.1"));
        assert!(!rounded("1.0", "1") && !rounded("1", "2") && !rounded("NaN", "NaN") && !rounded("x", "1"));
    }
}
