//! What a comparison of two sessions promises: a session is itself, no event is lost or counted twice, and what A lacks is
//! what B has.

use arbitrary::{Arbitrary, Unstructured};
use formats::{Format, Input, ReadOptions, Step, walk};
use generators::fuzzing::{carriers, written};
use generators::session::{KnownSession, Plan};
use transcript::align::{AlignOptions, Counts, IdMatching, Mismatch, OwnedEvent, compare};

/// Two sessions with something in common.
#[derive(Debug, Arbitrary)]
struct Two {
    left: Plan,
    /// What the right one has in place of some steps of the left one.
    other: Plan,
    from: u8,
    to: u8,
    renumbered: bool,
    unordered: bool,
}

/// Two sessions that are made from the bytes, each in every format that can carry it.
///
/// # Panics
/// Where a comparison does not keep its promises.
pub(crate) fn made(bytes: &[u8]) {
    let Ok(two) = Two::arbitrary_take_rest(Unstructured::new(bytes)) else { return };
    let mut right = two.left.clone();
    let at = |place: u8| usize::from(place) % (right.steps.len() + 1);
    let (from, to) = (at(two.from).min(at(two.to)), at(two.from).max(at(two.to)));
    right.steps.splice(from..to, two.other.steps);
    let options = AlignOptions {
        ids: if two.renumbered { IdMatching::Renumbered } else { IdMatching::Exact },
        unordered_answers: two.unordered,
        ..AlignOptions::default()
    };
    let [left, right] = [two.left, right].map(sessions);
    let mut first = None;
    for (format, left) in &left {
        assert!(counts(left, left, &options).same(), "{} is not itself", format.name);
        for (_, right) in &right {
            let (to, back) = (counts(left, right, &options), counts(right, left, &options));
            assert_eq!(to.same(), back.same(), "the same one way, and not the other: {to:?}, {back:?}");
            let [a, b] = [left, right].map(|events| events.len() as u64);
            for (counts, a, b) in [(to, a, b), (back, b, a)] {
                let both = counts.equal + counts.differing;
                assert_eq!((both + counts.only_left, both + counts.only_right), (a, b), "{counts:?}");
            }
            let counted = (to.equal, to.differing, to.only_left, to.only_right);
            assert_eq!(*first.get_or_insert(counted), counted, "the formats change what differs");
        }
    }
}

/// The events of a session in every format that can carry it and says who sent what.
fn sessions(plan: Plan) -> Vec<(&'static Format, Vec<OwnedEvent>)> {
    let Ok(session) = KnownSession::new(plan).session() else { return Vec::new() };
    let carriers = carriers(&session).filter(|format| format.carries.direction);
    carriers.map(|format| (format, events(format, &written(&session, format)))).collect()
}

/// The events of a transcript that can be read.
///
/// # Panics
/// Where it cannot.
pub(crate) fn events(format: &Format, bytes: &[u8]) -> Vec<OwnedEvent> {
    let mut events = Vec::new();
    let mut reader = bytes;
    let read = Input::new(&mut reader).and_then(|mut input| {
        walk(format, &mut input, ReadOptions::default(), &mut |step| {
            if let Step::Event(_, event) = step {
                events.push(OwnedEvent::new(event));
            }
            Ok(())
        })
    });
    match read {
        Ok(_) => events,
        Err(error) => panic!("as {}: {error}\n{}", format.name, String::from_utf8_lossy(bytes)),
    }
}

/// What a comparison counts; each departure that it reports is one that it counts.
pub(crate) fn counts(left: &[OwnedEvent], right: &[OwnedEvent], options: &AlignOptions) -> Counts {
    let mut reported = [0; 3];
    let counts = compare(left.iter().cloned(), right.iter().cloned(), options, &mut |found| {
        reported[match found {
            Mismatch::Differs(..) => 0,
            Mismatch::OnlyLeft(_) => 1,
            Mismatch::OnlyRight(_) => 2,
        }] += 1;
    });
    assert_eq!(reported, [counts.differing, counts.only_left, counts.only_right], "not all is reported");
    counts
}
