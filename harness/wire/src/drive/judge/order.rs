//! The order of messages within a stream. Equal messages of two streams may be taken for each other.

use super::messages::SentMessage;
use super::pairing::{COMPARED, Pairing};
use std::collections::{BTreeMap, HashSet};
use transcript::session::Side;

/// A message that was sent, and its counterpart in the recording.
type Pair = (usize, usize);

/// The fewest messages that would have to be moved for each stream to be in order.
pub(super) fn out_of_order(said: &[SentMessage], pairing: &Pairing) -> Vec<Pair> {
    let mut streams: BTreeMap<(bool, u64), Vec<Pair>> = BTreeMap::new();
    for (from, one) in said.iter().enumerate() {
        if let Some(to) = pairing.written[from] {
            streams.entry((one.side == Side::Server, one.stream)).or_default().push((from, to));
        }
    }
    let moved = |pairs: Vec<Pair>| {
        let places: Vec<usize> = pairs.iter().map(|pair| pair.1).collect();
        let in_order = longest_rise(&places);
        pairs.into_iter().filter(move |pair| !in_order.contains(&pair.1))
    };
    streams.into_values().flat_map(moved).collect()
}

/// Has equal messages of two streams change roles where that puts more of them in order: what passes on two connections at
/// once has no order, so that their times may stand crosswise.
pub(super) fn straighten(said: &[SentMessage], pairing: &mut Pairing) {
    let mut left = out_of_order(said, pairing).len();
    if left == 0 {
        return;
    }
    let twins = |one: &SentMessage, other: &SentMessage| {
        one.side == other.side && one.stream != other.stream && one.text.trim() == other.text.trim()
    };
    let pairs = (0..said.len()).flat_map(|from| (0..from).map(move |other| (from, other)));
    for (from, other) in pairs.filter(|pair| twins(&said[pair.0], &said[pair.1])).take(COMPARED) {
        pairing.change_roles(from, other);
        let now = out_of_order(said, pairing).len();
        if now < left {
            left = now;
        } else {
            pairing.change_roles(from, other);
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

#[cfg(test)]
mod tests {
    use super::longest_rise;
    use std::collections::HashSet;

    #[test]
    fn the_longest_rise_is_left_standing() {
        assert_eq!(longest_rise(&[]), HashSet::new());
        assert_eq!(longest_rise(&[0, 1, 2]).len(), 3);
        assert_eq!(longest_rise(&[3, 0, 1, 2]), HashSet::from([0, 1, 2]));
        assert_eq!(longest_rise(&[0, 4, 1, 2, 3]), HashSet::from([0, 1, 2, 3]));
    }
}
