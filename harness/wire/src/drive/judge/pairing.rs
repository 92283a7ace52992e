//! Which message of a recording is which of those that were sent, and which of them are out of order.
//!
//! Messages are equal by the contract; one that was changed is not one that was lost. Memory: the text of every
//! message once more, without white space.

use crate::play::event;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use transcript::align::Key;
use transcript::diff::DiffOptions;
use transcript::json::{self, Json, same_number};
use transcript::message::Message;
use transcript::session::Side;

/// Something that one side really sent.
#[derive(Debug, Clone)]
pub(crate) struct SentMessage {
    pub(crate) side: Side,
    /// What its order is kept in: messages of different streams may change places.
    pub(crate) stream: u64,
    /// The exchange that it is of, over HTTP.
    pub(crate) exchange: Option<u64>,
    /// When its first byte was about to be written.
    pub(crate) begun: u64,
    /// When the other side had all of it, or else when all of it was written.
    pub(crate) there: u64,
    /// Its text, as it was sent.
    pub(crate) text: String,
    /// Whether the recording must have it: it reached the other side before anybody was killed.
    pub(crate) due: bool,
}

/// What a recording has in the place of a message.
#[derive(Debug)]
pub(crate) struct RecordedMessage {
    /// Who sent it, where the recording says so.
    pub(crate) side: Option<Side>,
    /// When, in milliseconds.
    pub(crate) time: Option<i64>,
    pub(crate) text: String,
    /// Its line in the file.
    pub(crate) line: u64,
    /// Its reader passes over it: it is not a message, or one with a fault.
    pub(crate) noise: bool,
}

/// How many messages without a counterpart are compared with one.
const COMPARED: usize = 400;

/// A message that was sent, and its counterpart in the recording.
type Pair = (usize, usize);

/// Each message that was sent, and each of the recording, with its counterpart.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    pub(super) written: Vec<Option<usize>>,
    pub(super) said: Vec<Option<usize>>,
}

impl Pairing {
    /// Pairs equal messages first; then, between neighbours that are paired, those that are alike enough to be one message
    /// that was changed, and those that are no longer messages.
    pub(super) fn new(said: &[SentMessage], written: &[RecordedMessage]) -> Self {
        let mut pairing = Self { written: vec![None; said.len()], said: vec![None; written.len()] };
        pairing.join_equal(said, written, compact, |side| side);
        pairing.join_equal(said, written, normal_form, |side| side);
        pairing.join_between(said, written, |one, came, _| alike(&one.text, &came.text));
        pairing.join_between(said, written, |one, came, precedes| {
            let text = one.text.trim();
            precedes && came.noise && !came.text.contains(text) && Message::parse(text).is_ok()
        });
        pairing.join_equal(said, written, normal_form, Side::other);
        pairing.straighten(said);
        pairing
    }

    /// The pairs, in the order of sending.
    pub(super) fn pairs(&self) -> impl Iterator<Item = Pair> {
        self.written.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?)))
    }

    /// The fewest messages that would have to be moved for each stream to be in order.
    pub(super) fn out_of_order(&self, said: &[SentMessage]) -> Vec<Pair> {
        let mut streams: BTreeMap<(bool, u64), Vec<Pair>> = BTreeMap::new();
        for (from, to) in self.pairs() {
            let one = &said[from];
            streams.entry((one.side == Side::Server, one.stream)).or_default().push((from, to));
        }
        let moved = |pairs: Vec<Pair>| {
            let in_order = longest_rise(&pairs.iter().map(|pair| pair.1).collect::<Vec<_>>());
            pairs.into_iter().filter(move |pair| !in_order.contains(&pair.1))
        };
        streams.into_values().flat_map(moved).collect()
    }

    fn join(&mut self, said: usize, written: usize) {
        self.written[said] = Some(written);
        self.said[written] = Some(said);
    }

    /// Pairs messages of the same key, whose senders correspond by `written_as`: the first of several with the first by their times, or by their places in a file
    /// without times.
    fn join_equal(
        &mut self,
        said: &[SentMessage],
        written: &[RecordedMessage],
        key: impl Fn(&str) -> Option<Vec<u8>>,
        written_as: fn(Side) -> Side,
    ) {
        let (mut from, mut to) = self.unpaired();
        // The stream that began first, and is written first, may be the one on which a message came last.
        if written.iter().all(|one| one.time.is_some()) {
            to.sort_by_key(|&at| written[at].time);
            from.sort_by_key(|&at| said[at].there);
        }
        let mut waiting: HashMap<(Option<Side>, Vec<u8>), VecDeque<usize>> = HashMap::new();
        for at in to {
            if let Some(key) = key(&written[at].text) {
                waiting.entry((written[at].side, key)).or_default().push_back(at);
            }
        }
        for at in from {
            let Some(key) = key(&said[at].text) else { continue };
            let mut take = |side| waiting.get_mut(&(side, key.clone())).and_then(VecDeque::pop_front);
            if let Some(found) = take(Some(written_as(said[at].side))).or_else(|| take(None)) {
                self.join(at, found);
            }
        }
    }

    /// Pairs what is missing with the first in the recording behind its neighbour that fits. `fits` learns whether that
    /// precedes the other neighbour, too.
    fn join_between(
        &mut self,
        said: &[SentMessage],
        written: &[RecordedMessage],
        fits: impl Fn(&SentMessage, &RecordedMessage, bool) -> bool,
    ) {
        let (left, mut right) = self.unpaired();
        for from in left {
            let own = |at: &usize| said[*at].side == said[from].side;
            let after = (0..from).rev().filter(own).find_map(|at| self.written[at]);
            let before = (from + 1..said.len()).filter(own).find_map(|at| self.written[at]);
            let found = right.iter().take(COMPARED).position(|&to| {
                written[to].side.is_none_or(|side| side == said[from].side)
                    && after.is_none_or(|after| to > after)
                    && fits(&said[from], &written[to], before.is_none_or(|before| to < before))
            });
            // One that was lost before it leaves candidates behind, so all are looked at, but no further than that.
            if let Some(place) = found {
                self.join(from, right.remove(place));
            }
        }
    }

    /// What has no counterpart yet, on both sides.
    fn unpaired(&self) -> (Vec<usize>, Vec<usize>) {
        let of = |side: &[Option<usize>]| (0..side.len()).filter(|at| side[*at].is_none()).collect();
        (of(&self.written), of(&self.said))
    }

    /// Has equal messages of two streams change roles where that puts more of them in order: what passes on two connections
    /// at once has no order, so that their times may be crosswise.
    fn straighten(&mut self, said: &[SentMessage]) {
        let mut left = self.out_of_order(said).len();
        if left == 0 {
            return;
        }
        let twins = |one: &SentMessage, other: &SentMessage| {
            one.side == other.side && one.stream != other.stream && one.text.trim() == other.text.trim()
        };
        let pairs = (0..said.len()).flat_map(|from| (0..from).map(move |other| (from, other)));
        for (from, other) in pairs.filter(|pair| twins(&said[pair.0], &said[pair.1])).take(COMPARED) {
            let before = (self.written.clone(), self.said.clone());
            self.change_roles(from, other);
            [from, other].into_iter().for_each(|one| self.take_turns(said, one));
            let now = self.out_of_order(said).len();
            if now < left {
                left = now;
            } else {
                (self.written, self.said) = before;
            }
        }
    }

    /// Has the messages of one stream that are equal to this one come in the order of sending.
    fn take_turns(&mut self, said: &[SentMessage], one: usize) {
        let one = &said[one];
        let is_equal = |other: &SentMessage| {
            other.side == one.side && other.stream == one.stream && other.text.trim() == one.text.trim()
        };
        let pairs: Vec<Pair> = self.pairs().filter(|pair| is_equal(&said[pair.0])).collect();
        let mut places: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
        places.sort_unstable();
        pairs.iter().zip(places).for_each(|((from, _), to)| self.join(*from, to));
    }

    fn change_roles(&mut self, one: usize, other: usize) {
        self.written.swap(one, other);
        for said in [one, other] {
            if let Some(written) = self.written[said] {
                self.said[written] = Some(said);
            }
        }
    }
}

/// The longest run of places that rise, not necessarily neighbours.
fn longest_rise(places: &[usize]) -> HashSet<usize> {
    // The smallest last place of a run of each length, and before each place the one that its run came from.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; places.len()];
    for (at, place) in places.iter().enumerate() {
        let length = ends.partition_point(|end| places[*end] < *place);
        before[at] = length.checked_sub(1).map(|shorter| ends[shorter]);
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    std::iter::successors(ends.last().copied(), |at| before[*at]).map(|at| places[at]).collect()
}

/// A message without white space, every token as it was spelled; any other text as it is.
fn compact(text: &str) -> Option<Vec<u8>> {
    let text = Json::parse(text).map_or_else(|_| text.trim().to_owned(), json::compact);
    Some(text.into_bytes())
}

/// What is the same for messages of the same meaning, however they are spelled.
fn normal_form(text: &str) -> Option<Vec<u8>> {
    let message = Message::parse(text).ok()?;
    Some(Key::new(&event(0, message), &DiffOptions::default(), true).all.to_le_bytes().to_vec())
}

/// Whether two texts may be one message, before and after something was changed in it: the same members that tell messages
/// apart, and the same id if there is one, but for the spelling or the rounding of a number.
fn alike(a: &str, b: &str) -> bool {
    let (Ok(a), Ok(b)) = (Json::parse(a), Json::parse(b)) else { return false };
    let members = |value: Json<'_>| ["method", "result", "error"].map(|name| value.member(name).is_some());
    let same = |name: &str| match (a.member(name), b.member(name)) {
        (Some(a), Some(b)) => a.same(b) || rounded(a.text(), b.text()) || quoted(a, b),
        (None, None) => true,
        _ => false,
    };
    members(a) == members(b) && same("method") && same("id")
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
    use super::{alike, longest_rise, rounded};

    #[test]
    fn a_changed_message_is_recognized() {
        let far = |id: &str| format!(r#"{{"id":{id},"method":"a"}}"#);
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
        assert!(alike(&far("9007199254740993"), &far("9007199254740992")));
        assert!(rounded("9007199254740993", "9007199254740992"));
        assert!(rounded("0.1000000000000000055511151231257827", "0.1"));
        assert!(!rounded("1.0", "1") && !rounded("1", "2") && !rounded("NaN", "NaN") && !rounded("x", "1"));
    }

    #[test]
    fn the_longest_rise_stays_in_place() {
        for (places, rise) in [
            (&[][..], &[][..]),
            (&[0, 1, 2], &[0, 1, 2]),
            (&[3, 0, 1, 2], &[0, 1, 2]),
            (&[0, 4, 1, 2, 3], &[0, 1, 2, 3]),
        ] {
            assert_eq!(longest_rise(places), rise.iter().copied().collect(), "{places:?}");
        }
    }
}
