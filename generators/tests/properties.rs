//! The promises of the house, as properties of sessions whose meaning is known by construction.
//!
//! Every test loops over the formats there are; a format that cannot carry a session is passed over, and how often that
//! may happen is part of the test.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

mod strategies;

use formats::{FORMATS, Format, Input, Meaning, ReadError, ReadOptions, Session, detect, find, meaning};
use generators::fuzzing::{ChunkedReader, carriers, written};
use generators::node::{Node, Whitespace};
use generators::rng::Rng;
use generators::session::{Act, KnownSession, Plan};
use generators::values::{ALTERED, Value};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::value::RawValue;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use strategies::{sessions, values};
use transcript::align::{AlignOptions, Counts, Mismatch, OwnedEvent, compare};
use transcript::contract::Contract;
use transcript::diff::{DiffOptions, first, pointer};
use transcript::json::Json;
use transcript::meaning::EventKind;
use transcript::rejection::{Code, Rejection};

/// How many sessions a property is tried on.
const CASES: u32 = 200;

/// `PROPTEST_CASES` scales all of them: 256 is as many as are given here.
fn config(cases: u32) -> ProptestConfig {
    let config = ProptestConfig::default();
    // Failing sessions are kept as tests of their own, not in files that nobody reads.
    ProptestConfig { cases: (cases * config.cases / 256).max(1), failure_persistence: None, ..config }
}

fn understood(format: &Format, text: &[u8]) -> Meaning {
    meaning(format, &mut { text }, ReadOptions::default())
        .unwrap_or_else(|error| panic!("{}: {error}\n{}", format.name, String::from_utf8_lossy(text)))
}

fn refused(format: &Format, text: &[u8]) -> Option<Box<Rejection>> {
    match meaning(format, &mut { text }, ReadOptions::default()) {
        Ok(_) => None,
        Err(ReadError::Rejected(rejection)) => Some(rejection),
        Err(other) => panic!("{other}"),
    }
}

fn session(format: &Format, text: &[u8]) -> Session {
    Session::of(format, text, ReadOptions::default()).unwrap()
}

/// A session as each format spells it that carries it.
fn spellings(known: &KnownSession) -> Vec<(&'static Format, Vec<u8>)> {
    let made = known.session().unwrap();
    carriers(&made).map(|format| (format, written(&made, format))).collect()
}

/// Document formats are one JSON value; the others are lines.
fn is_document(format: &Format) -> bool {
    !format.is_lines()
}

/// Such a file holds only messages, so that an empty session is an empty file.
fn has_no_head(format: &Format) -> bool {
    written(&Session::default(), format).is_empty()
}

/// At once, in pieces of any size, and after it was written again.
#[test]
fn reads_what_it_writes_in_all_formats() {
    let carried: RefCell<HashMap<&str, u32>> = RefCell::default();
    TestRunner::new(config(CASES * 2))
        .run(&(sessions(), 1..40usize), |(known, size)| {
            for (format, text) in spellings(&known) {
                *carried.borrow_mut().entry(format.name).or_default() += 1;
                let read = understood(format, &text);
                prop_assert_eq!(
                    &read.text,
                    &known.meaning(),
                    "{}\n{}",
                    format.name,
                    String::from_utf8_lossy(&text)
                );
                prop_assert_eq!(read.totals.events, known.messages.len() as u64);
                let pieces = meaning(format, &mut ChunkedReader::new(&text, size), ReadOptions::default());
                prop_assert_eq!(pieces.unwrap(), read, "{} in pieces of {}", format.name, size);
                let once = written(&session(format, &text), format);
                let twice = written(&session(format, &once), format);
                let [once, twice] = [once, twice].map(|bytes| String::from_utf8(bytes).unwrap());
                prop_assert_eq!(once, twice, "{}", format.name);
            }
            Ok(())
        })
        .unwrap();
    for format in formats::written() {
        let carried = carried.borrow().get(format.name).copied().unwrap_or_default();
        // Sides collide in some sessions and a tenth shows a challenge; the rest everybody carries.
        assert!(carried > CASES, "{} carried {carried} of {} sessions", format.name, CASES * 2);
    }
}

proptest! {
    #![proptest_config(config(CASES))]

    /// Lines that no writer of ours has touched, white space and all.
    #[test]
    fn reads_lines_as_they_were_made(known in sessions()) {
        prop_assume!(!known.needs_directions && known.discovery.is_none());
        prop_assert_eq!(understood(find("jsonrpc").unwrap(), known.lines().as_bytes()).text, known.meaning());
    }

    #[test]
    fn convert_chain(known in sessions(), way in prop::collection::vec(any::<prop::sample::Index>(), 3)) {
        let mut now = known.session().unwrap();
        let mut passed = Vec::new();
        for index in way {
            let next: Vec<_> = carriers(&now).collect();
            let format = next[index.index(next.len())];
            passed.push(format.name);
            let text = written(&now, format);
            prop_assert_eq!(understood(format, &text).text, known.meaning(), "{:?}", passed);
            now = session(format, &text);
        }
    }

    #[test]
    fn detection_finds_the_format(known in sessions(), size in 1..40usize) {
        for (format, text) in spellings(&known) {
            let mut drops = ChunkedReader::new(&text, size);
            let found = detect(&mut Input::new(&mut drops).unwrap()).unwrap();
            let expected = match text.trim_ascii() {
                // An empty file belongs to no format.
                b"" => None,
                // An empty list is a list of messages, or of anything else.
                b"[]" => Some("inspector"),
                _ => Some(format.name),
            };
            prop_assert_eq!(found.map(|found| found.name), expected, "{}", String::from_utf8_lossy(&text));
        }
    }

    /// A format without directions is refused exactly where they matter, and every other format carries the session.
    #[test]
    fn flat_directions(known in sessions()) {
        let made = known.session().unwrap();
        for format in FORMATS {
            let losses = made.losses(format);
            let lost = losses.iter().any(|loss| loss.clause == Some("COR-DIRECTION-FLAT"));
            prop_assert_eq!(lost, known.needs_directions && !format.carries.direction, "{}", format.name);
        }
    }

    #[test]
    fn a_second_call_with_an_id_is_rejected_everywhere(known in sessions(), client in any::<bool>()) {
        let made = known.session().unwrap();
        let called: Vec<_> = known.messages.iter().filter(|said| said.event.starts_with("{\"kind\": \"tool_call\", \"id\"")).collect();
        prop_assume!(!called.is_empty());
        let id = Json::parse(&called[0].event).unwrap().member("id").unwrap().text().to_owned();
        let again = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"again"}}}}"#);
        for format in carriers(&made) {
            let mut twice = known.session().unwrap();
            let mut last = twice.entries.iter().rev().find(|entry| entry.message().is_some()).unwrap().clone();
            let shape = transcript::message::Message::parse(&again).unwrap().shape();
            last.what = formats::OwnedContent::Message(again.clone(), shape);
            last.side = Some(if client { transcript::session::Side::Client } else { transcript::session::Side::Server });
            last.answers = None;
            last.carrier = transcript::session::Carrier::Line;
            twice.entries.push(last);
            let rejection = refused(format, &written(&twice, format));
            prop_assert_eq!(rejection.map(|rejection| rejection.code), Some(Code::DuplicateCallId), "{}", format.name);
        }
    }
}

/// A document that is cut anywhere, and a line that is cut inside, is a rejection.
#[test]
fn truncation_is_never_a_session() {
    let cuts = Cell::new(0);
    TestRunner::new(config(8))
        .run(&sessions(), |known| {
            for (format, text) in spellings(&known) {
                let end = text.trim_ascii_end().len();
                for cut in 0..end {
                    // Between two lines a line format ends as it may; an empty trace has lost its head.
                    let between = cut == 0 || text[cut - 1] == b'\n' || text[cut] == b'\n';
                    if !is_document(format) && between && (cut > 0 || has_no_head(format)) {
                        continue;
                    }
                    cuts.set(cuts.get() + 1);
                    prop_assert!(
                        refused(format, &text[..cut]).is_some(),
                        "{} read as whole:\n{}",
                        format.name,
                        String::from_utf8_lossy(&text[..cut])
                    );
                }
            }
            Ok(())
        })
        .unwrap();
    assert!(cuts.get() > 1_000, "{}", cuts.get());
}

fn seen(known: &KnownSession) -> Vec<OwnedEvent> {
    let mut contract = Contract::default();
    let session = known.session().unwrap();
    let events = session.entries.iter().filter_map(|owned| {
        let content = transcript::session::Content::Message(owned.message()?);
        let entry = transcript::session::Entry {
            side: owned.side,
            ..transcript::session::Entry::new(owned.location, content)
        };
        Some(OwnedEvent::new(&contract.take(&entry).unwrap()?))
    });
    events.collect()
}

/// Each departure as (left index, right index, pointer, left value, right value).
type Departed = (Option<u64>, Option<u64>, String, Option<String>, Option<String>);

fn departures(left: &KnownSession, right: &KnownSession) -> (Vec<Departed>, Counts) {
    let mut all = Vec::new();
    let counts = compare(
        seen(left).into_iter(),
        seen(right).into_iter(),
        &AlignOptions::default(),
        &mut |departure| {
            all.push(match departure {
                Mismatch::Differs(a, b, difference, _) => {
                    (Some(a.index), Some(b.index), difference.pointer, difference.left, difference.right)
                }
                Mismatch::OnlyLeft(a) => (Some(a.index), None, String::new(), None, None),
                Mismatch::OnlyRight(b) => (None, Some(b.index), String::new(), None, None),
            });
        },
    );
    (all, counts)
}

/// Whether two events say the same, however each is spelled.
fn twins(a: &OwnedEvent, b: &OwnedEvent) -> bool {
    let (left, right) = (a.message(), b.message());
    let same = |left: Option<Json<'_>>, right: Option<Json<'_>>| match (left, right) {
        (Some(left), Some(right)) => left.same(right),
        (left, right) => left.is_none() && right.is_none(),
    };
    let contents = match a.kind {
        EventKind::ToolCall => same(left.name(), right.name()) && same(left.arguments(), right.arguments()),
        _ => same(left.params(), right.params()) && same(left.outcome(), right.outcome()),
    };
    a.kind == b.kind && a.id == b.id && left.method() == right.method() && contents
}

fn mirrored(departed: &Departed) -> Departed {
    let (a, b, pointer, left, right) = departed.clone();
    (b, a, pointer, right, left)
}

proptest! {
    #![proptest_config(config(CASES * 2))]

    #[test]
    fn diff_is_symmetric_and_finds_every_single_change(
        known in sessions(),
        which in any::<prop::sample::Index>(),
        choice in 0..1_000_000usize,
    ) {
        prop_assert!(departures(&known, &known).1.same());
        let shown: Vec<_> = (0u64..).zip(&known.messages).filter(|(_, said)| said.value_at.is_some()).collect();
        prop_assume!(!shown.is_empty());
        let (index, said) = shown[which.index(shown.len())];
        let mut plan: Plan = known.plan.clone();
        let mut path: Vec<String> = said.value_at.unwrap().split('/').skip(1).map(Into::into).collect();
        path.extend(plan.steps[said.step].value.as_mut().unwrap().alter(choice));
        let changed = KnownSession::new(plan);

        let (there, counts) = departures(&known, &changed);
        let (back, counts_back) = departures(&changed, &known);
        prop_assert!(!counts.same() && !counts_back.same());
        // Of equal events in a session, nobody can say which one was changed.
        let events = seen(&known);
        let changed_one = events.iter().find(|event| event.index == index).unwrap();
        let is_unique = events.iter().filter(|other| twins(other, changed_one)).count() == 1;
        if is_unique {
            prop_assert_eq!((counts.differing, counts.equal), (1, known.messages.len() as u64 - 1));
            let (left, right, at, _, after) = &there[0];
            prop_assert_eq!((left, right, at), (&Some(index), &Some(index), &pointer(&path)));
            prop_assert_eq!(after.as_deref(), Some(ALTERED));
            prop_assert_eq!(there.iter().map(mirrored).collect::<Vec<_>>(), back);
        }
    }

    #[test]
    fn diff_finds_a_message_that_is_lost(known in sessions(), which in any::<prop::sample::Index>()) {
        prop_assume!(!known.messages.is_empty());
        let lost = known.messages[which.index(known.messages.len())].step;
        let mut plan = known.plan.clone();
        plan.steps[lost].act = Act::Aside;
        let shorter = KnownSession::new(plan);
        let (_, there) = departures(&known, &shorter);
        let (_, back) = departures(&shorter, &known);
        prop_assert!(!there.same() && !back.same());
        prop_assert_eq!(there.only_left, there.only_right + 1);
        prop_assert_eq!(back.only_right, back.only_left + 1);
    }

    #[test]
    fn the_first_difference_of_values_is_mirrored(
        value in values(),
        choice in 0..1_000_000usize,
    ) {
        let mut other: Value = value.clone();
        let path = other.alter(choice);
        let (left, right) = (value.spell(true), other.spell(false));
        let (left, right) = (Json::parse(&left).unwrap(), Json::parse(&right).unwrap());
        let there = first(left, right, &DiffOptions::default()).difference.unwrap();
        let back = first(right, left, &DiffOptions::default()).difference.unwrap();
        prop_assert_eq!(&there.pointer, &pointer(&path));
        prop_assert_eq!((there.pointer, there.left, there.right), (back.pointer, back.right, back.left));
        prop_assert!(!left.same(right) && !right.same(left));
    }
}

proptest! {
    #![proptest_config(config(CASES))]

    #[test]
    fn both_spellings_are_json_and_differ_in_white_space_alone(value in values()) {
        let (tight, loose) = (value.spell(false), value.spell(true));
        prop_assert!(serde_json::from_str::<&RawValue>(&tight).is_ok());
        prop_assert!(serde_json::from_str::<&RawValue>(&loose).is_ok());
        let strip = |text: &str| text.replace([' ', '\t'], "");
        prop_assert_eq!(strip(&tight), strip(&loose));
    }

    #[test]
    fn an_alteration_is_one_value(value in values(), choice in any::<usize>()) {
        let mut altered = value.clone();
        let path = altered.alter(choice);
        prop_assert_eq!(altered.spell(false).matches(ALTERED).count(), 1);
        prop_assert!(matches!(value, Value::Array(_) | Value::Object(_)) || path.is_empty());
    }

    #[test]
    fn white_space_is_all_that_spelling_changes(value in values(), seed in any::<u64>()) {
        let text = value.spell(false);
        let node = Node::parse(&text).unwrap();
        prop_assert_eq!(node.spell(None), text.clone());
        let space = Whitespace { between: &["", " ", "\t", "\r\n"], rng: Rng::new(seed) };
        let spaced = node.spell(Some(&space));
        prop_assert!(Json::parse(&spaced).unwrap().same(Json::parse(&text).unwrap()));
        let inside = Node::Inside(Box::new(node)).spell(None);
        let held = Json::parse(&inside).unwrap().as_text().unwrap().to_str().unwrap().into_owned();
        prop_assert_eq!(held, text);
    }
}
