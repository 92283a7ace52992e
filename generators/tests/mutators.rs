//! Mutators keep their word: what each says of the meaning is what our own reader reads.
//!
//! The relation was declared and the meaning computed before anything was read; a reading that differs is a fault of the
//! mutator or of the reader, and the contract says whose.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test's helpers fail as a test does")]

mod strategies;

use formats::{FORMATS, Format, ReadError, ReadOptions, meaning};
use generators::format_tree::FormatTree;
use generators::mutator::{Apply, Mutator};
use generators::mutators::{all, find};
use generators::relation::Relation;
use generators::rng::Rng;
use generators::seeded::{Source, cases, recipe, session, single, variant};
use generators::session_builder::SessionBuilder;
use generators::shrink::{Outcome, Recipe, shrink};
use generators::variant::Variant;
use generators::variant_builder::VariantBuilder;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::thread;
use strategies::sessions;
use transcript::diff::{DiffOptions, first};
use transcript::json::Json;
use transcript::rejection::Code;
use verdict::expectation::Expectation;

/// On how many sessions each mutator is tried.
const SESSIONS: u64 = 100;

/// A meaning, or the code of a rejection with its words.
type Read = Result<String, (Code, String)>;

fn read(format: &Format, bytes: &[u8]) -> Read {
    match meaning(format, &mut { bytes }, ReadOptions::default()) {
        Ok(meaning) => Ok(meaning.text),
        Err(ReadError::Rejected(rejection)) => Err((rejection.code, rejection.to_string())),
        Err(other) => panic!("{other}"),
    }
}

/// How two meanings differ; the summary of K2-A counts where the format carries one.
fn differ(expected: &str, found: &str, format: &Format, redacted: Option<&str>) -> Option<String> {
    let [expected, found] = [expected, found].map(|text| Json::parse(text).unwrap());
    let rules = DiffOptions { ignore: Vec::new(), redacted: redacted.map(Into::into) };
    let of =
        |name: &str| first(expected.member(name).unwrap(), found.member(name).unwrap(), &rules).difference;
    let summary = if format.carries.challenge { of("authorization_discovery") } else { None };
    of("events").or(summary).map(|difference| format!("{difference:?}"))
}

/// Whether our reader reads every transcript of a variant as it is expected.
fn holds(variant: &Variant, about: &str) -> Result<(), String> {
    let mut read_before: Option<(&str, Read)> = None;
    for (format, file) in &variant.files {
        let Ok(bytes) = file else { continue };
        let found = read(format, bytes);
        let fail = |why: &str| {
            let text = String::from_utf8_lossy(bytes);
            let (trail, expected) = (&variant.trail, &variant.expectation);
            Err(format!(
                "{about}: {trail:?} in {}: {why}\n{text}\nexpected {expected:?}\nread {found:?}\n",
                format.name
            ))
        };
        match (&variant.expectation, &found) {
            (Expectation::Meaning(expected) | Expectation::Either(Some(expected)), Ok(text)) => {
                if let Some(why) = differ(expected.text(), text, format, variant.redacted) {
                    return fail(&why);
                }
            }
            (Expectation::Meaning(_), Err(_)) => return fail("is rejected"),
            (Expectation::Rejection(code), Err((found, _))) if found == code => {}
            (Expectation::Rejection(_), _) => return fail("should be rejected"),
            (Expectation::Either(_), _) => {}
        }
        if let (Expectation::Either(_), Some((other, before))) = (&variant.expectation, &read_before) {
            match (before, &found) {
                (Ok(before), Ok(found)) => {
                    if let Some(why) = differ(before, found, FORMATS[0], variant.redacted) {
                        return fail(&format!("{other} reads otherwise: {why}"));
                    }
                }
                (Err(_), Err(_)) => {}
                (before, _) => return fail(&format!("{other} says {before:?}")),
            }
        }
        read_before = Some((format.name, found));
    }
    Ok(())
}

#[test]
fn every_mutator_keeps_its_word() {
    let rng = Rng::new(20_261_121);
    let drafts: Vec<SessionBuilder> =
        (0..SESSIONS).filter_map(|number| session(&mut rng.fork(&format!("session {number}")))).collect();
    assert_eq!(drafts.len() as u64, SESSIONS);
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    // What fails is printed as it does; a thread that has failed fails the test.
    thread::scope(|scope| {
        for first in 0..cores {
            let share = all().skip(first).step_by(cores);
            scope.spawn(|| share.for_each(|mutator| keeps_its_word(mutator, &drafts, &rng)));
        }
    });
}

fn keeps_its_word(mutator: &'static Mutator, drafts: &[SessionBuilder], rng: &Rng) {
    let mut formats = BTreeSet::new();
    let mut applied = 0;
    for (number, builder) in drafts.iter().enumerate() {
        let rng = rng.fork(&format!("{number}"));
        let Some(variant) = single(builder.clone(), mutator, &rng) else { continue };
        assert!(variant.trail.iter().all(|step| step.starts_with(mutator.name)), "{:?}", variant.trail);
        holds(&variant, &format!("session {number}")).unwrap_or_else(|why| panic!("{why}"));
        applied += 1;
        formats.extend(variant.files.iter().filter(|(_, file)| file.is_ok()).map(|(format, _)| format.name));
    }
    let name = mutator.name;
    assert!(applied >= 10 && !formats.is_empty(), "{name} finds next to nothing to change: {applied}");
}

/// An importer may do either, and is asked to do the same in every format: which it can only with the same message.
#[test]
fn an_open_choice_is_about_one_message_in_every_format() {
    let rng = Rng::new(4);
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let mut compared = BTreeMap::new();
    for number in 0..1500 {
        let rng = rng.fork(&format!("{number}"));
        let Some(builder) = session(&mut rng.clone()) else { continue };
        let Ok(Some(plain)) = VariantBuilder::new(builder.clone()).finish() else { continue };
        let Some((format, Ok(lines))) = plain.files.first() else { continue };
        let mut texts = Vec::new();
        let Some(mut tree) = FormatTree::new(format, lines) else { continue };
        tree.each(&mut |_, message| texts.push(message.bare().spell(None)));
        let distinct: BTreeSet<_> = texts.iter().collect();
        if distinct.len() < texts.len() || texts.iter().any(|text| !text.is_ascii() || text.contains('\\')) {
            continue;
        }
        for name in ["data-nested", "entry-slot-twice"] {
            let Some(variant) = single(builder.clone(), find(name).unwrap(), &rng) else { continue };
            let written =
                variant.files.iter().filter_map(|(format, file)| Some((format, file.as_ref().ok()?)));
            let struck: Vec<_> = written
                .map(|(_, bytes)| {
                    let bytes = String::from_utf8_lossy(bytes);
                    texts.iter().position(|text| match name {
                        "data-nested" => {
                            let twice = quoted(&quoted(text));
                            bytes.contains(&twice[1..twice.len() - 1])
                        }
                        _ => {
                            let after = bytes.split_once(text.as_str()).map_or("", |parts| parts.1);
                            let next = after.trim_start_matches([',', ' ']);
                            next.starts_with("\"request\"") || next.starts_with("\"response\"")
                        }
                    })
                })
                .collect();
            assert!(struck.windows(2).all(|two| two[0] == two[1]), "{name} in session {number}: {struck:?}");
            let found = struck.len() > 1 && struck[0].is_some();
            *compared.entry(name).or_insert(0) += u32::from(found);
        }
    }
    assert!(compared.len() == 2 && compared.values().all(|count| *count > 5), "{compared:?}");
}

#[test]
fn compositions_keep_their_word() {
    let mut relations: BTreeMap<&str, u32> = BTreeMap::new();
    let mut formats: BTreeMap<&str, u32> = BTreeMap::new();
    let mut used = BTreeSet::new();
    for (index, variant) in cases(11, 2000) {
        holds(&variant, &format!("seed 11, number {index}")).unwrap();
        *relations.entry(variant.relation.name()).or_default() += 1;
        for (format, file) in &variant.files {
            *formats.entry(format.name).or_default() += u32::from(file.is_ok());
        }
        used.extend(variant.trail.iter().map(|step| step.split(' ').next().unwrap().to_owned()));
    }
    // A plan that never rejects, or never writes a format, would prove little.
    for name in ["same", "changes", "rejects", "open"] {
        assert!(relations.get(name).is_some_and(|&count| count > 60), "{relations:?}");
    }
    for format in formats::written() {
        assert!(formats.get(format.name).is_some_and(|&count| count > 200), "{formats:?}");
    }
    let unused: Vec<_> = all().map(|mutator| mutator.name).filter(|name| !used.contains(*name)).collect();
    assert!(unused.is_empty(), "never chosen: {unused:?}");
}

/// The messages of a batch may be spelled in every way that changes no meaning, in strings and streams too.
#[test]
fn batches_keep_their_word_in_every_spelling() {
    let batches = find("agreed-batches").unwrap();
    let spellings = all()
        .filter(|mutator| mutator.relation == Relation::Same && matches!(mutator.apply, Apply::Spelling(_)));
    for (number, spelling) in spellings.enumerate() {
        let mut made = 0;
        for attempt in 0..20 {
            let rng = Rng::new(3).fork(&format!("{number}/{attempt}"));
            let builder = session(&mut rng.fork("session")).unwrap();
            let mut variant = VariantBuilder::new(builder);
            let added = [batches, spelling].map(|mutator| variant.add(mutator, &rng));
            let Some(variant) = variant.finish().unwrap().filter(|_| added == [true, true]) else { continue };
            holds(&variant, &format!("attempt {attempt}")).unwrap();
            made += usize::from(variant.trail.len() == 2);
        }
        assert!(made > 0, "{} never met a batch", spelling.name);
    }
}

#[test]
fn a_file_may_break_off_at_any_byte() {
    let cut = find("cut-short").unwrap();
    let builder = session(&mut Rng::new(5)).unwrap();
    let lengths = |seed: u64| {
        let variant = single(builder.clone(), cut, &Rng::new(seed)).unwrap();
        variant.files.iter().map(|(_, file)| file.as_ref().unwrap().len()).collect::<Vec<_>>()
    };
    let attempt: BTreeSet<Vec<usize>> = (0..40).map(lengths).collect();
    assert!(attempt.len() > 30, "{} places of 40 throws", attempt.len());
}

#[test]
fn a_given_session_is_changed_or_refused() {
    let empty = SessionBuilder::default();
    let variant = variant(1, 0, Source::Given(&empty));
    // There is nothing in it to change but what surrounds messages.
    assert!(variant.is_none_or(|variant| !variant.trail.is_empty()));
    assert!(single(SessionBuilder::default(), find("ids-wrong-type").unwrap(), &Rng::new(0)).is_none());
}

/// The least that still shows it; whatever is tried on the way keeps its word.
fn shrunk(recipe: Recipe, shows: impl Fn(&Variant) -> bool) -> Recipe {
    shrink(recipe, &mut |candidate| {
        let Some(variant) = candidate.make() else { return Outcome::Other };
        holds(&variant, "shrunk").unwrap();
        if shows(&variant) { Outcome::Same } else { Outcome::Other }
    })
}

#[test]
fn a_recipe_makes_the_variant_of_its_number() {
    for number in 0..200 {
        let made = recipe(11, number, Source::Made).map(|recipe| format!("{:?}", recipe.make()));
        assert_eq!(made, Some(format!("{:?}", variant(11, number, Source::Made))), "{number}");
    }
}

#[test]
fn what_is_looked_for_is_left_and_nothing_else() {
    let text = |variant: &Variant| variant.expectation.meaning().map_or("", |it| it.text()).to_owned();
    let shows = |variant: &Variant| {
        let text = text(variant);
        matches!(variant.expectation, Expectation::Meaning(_))
            && text.contains("9007199254740993")
            && text.contains("\"arguments\"")
    };
    let mut tried = 0;
    for number in 0..400 {
        let recipe = recipe(3, number, Source::Made).unwrap();
        if recipe.make().is_some_and(|variant| shows(&variant)) {
            let before = recipe.messages();
            let less = shrunk(recipe, shows);
            let left = less.make().unwrap();
            assert!(less.messages() <= 2 && less.messages() <= before, "{}", text(&left));
            // A mutator is left where it brought the number.
            assert!(left.trail.len() <= 1 && text(&left).len() < 300, "{:?} {}", left.trail, text(&left));
            tried += 1;
        }
    }
    assert!(tried > 3, "{tried}");
}

#[test]
fn a_rejection_stays_the_same_rejection() {
    let mut tried = 0;
    for number in 0..150 {
        let recipe = recipe(5, number, Source::Made).unwrap();
        let Some(Expectation::Rejection(code)) = recipe.make().map(|variant| variant.expectation) else {
            continue;
        };
        let shows = |variant: &Variant| variant.expectation == Expectation::Rejection(code);
        let less = shrunk(recipe, shows);
        assert!(less.messages() <= 2, "{code:?}: {}", less.messages());
        assert!(matches!(less.valid_counterpart().unwrap().expectation, Expectation::Meaning(_)), "{code:?}");
        tried += 1;
    }
    assert!(tried > 5, "{tried}");
}

#[test]
fn enough_is_enough() {
    let recipe = recipe(3, 0, Source::Made).unwrap();
    let mut asked = 0;
    shrink(recipe, &mut |_| {
        asked += 1;
        if asked < 3 { Outcome::Other } else { Outcome::Enough }
    });
    assert_eq!(asked, 3);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Two ledgers that know nothing of each other: `SessionBuilder::new` refuses a session whose answers it binds otherwise.
    #[test]
    fn the_ledgers_agree(known in sessions()) {
        let builder = SessionBuilder::from_known(&known).unwrap();
        prop_assert_eq!(builder.needs_directions, known.needs_directions);
        let meaning = builder.meaning();
        let equal = first(Json::parse(&meaning).unwrap(), Json::parse(&known.meaning()).unwrap(), &DiffOptions::default());
        prop_assert_eq!(equal.difference, None);
    }

    /// What a made session leaves open is found, so that an importer is never blamed for it.
    #[test]
    fn open_ground_is_no_change(known in sessions(), seed in any::<u64>()) {
        let mutator = find("json-white-space").unwrap();
        let builder = SessionBuilder::from_known(&known).unwrap();
        let ground = builder.clone().open_clauses().0;
        if let Some(variant) = single(builder, mutator, &Rng::new(seed)) {
            prop_assert_eq!(Some(variant.relation), ground.then(Relation::Same));
            holds(&variant, "white space").unwrap();
        }
    }
}
