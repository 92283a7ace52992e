//! The rules of `check` against the cases under `cases/rules`: a trial for each transcript, and what the catalogue as a whole
//! promises.
//!
//! A case says which rules are broken, and then no other may be: a rule that cries wolf fails the cases of the others.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a panic is a test's way to fail")]

mod agreement;
mod losses;
mod timed;

use formats::{Format, Input};
use libtest_mimic::{Arguments, Failed, Trial};
use mcp_concord_suite::{Case, Root, Suite, Transcript};
use rules::CheckOptions;
use rules::{CheckResult, Parallelism, RuleVerdict};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::LazyLock;

static SUITE: LazyLock<Suite> = LazyLock::new(|| {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    Suite::load(&[Root::Disk(root)]).unwrap_or_else(|problems| panic!("{problems:#?}"))
});

/// The ids of the catalogue that the rules were built from, typed from it.
const CATALOGUE: &str = include_str!("catalogue.txt");
const NOT_JUDGED: &str = include_str!("../../../../docs/rules-not-judged.md");

fn main() -> ExitCode {
    let mut trials: Vec<Trial> = Vec::new();
    for case in &SUITE.judged {
        for transcript in &case.transcripts {
            let name = format!("{}::{}", case.name.replace('/', "::"), transcript.format.name);
            trials.push(Trial::test(name, move || check(case, transcript)));
        }
    }
    let tests: &[(&str, fn())] = &[
        ("every_rule_has_a_case_that_breaks_it_and_one_that_keeps_it", every_rule_has_its_cases),
        ("every_id_of_the_catalogue_is_a_rule_or_has_a_reason", every_id_is_accounted_for),
        ("a_family_that_is_left_asleep_would_have_found_nothing", sleepers_miss_nothing),
        ("several_judges_come_to_the_same_as_one", several_judges_come_to_the_same),
        ("exchanges_with_times_are_judged_like_those_without", timed::judged_like_others),
        ("nobody_is_blamed_for_what_the_recorder_lost", losses::of_kept_sessions),
        ("whatever_case_the_reader_rejects_check_has_a_finding_about", agreement::over_cases),
        ("whatever_variant_the_reader_rejects_check_has_a_finding_about", agreement::over_variants),
    ];
    for (name, test) in tests {
        trials.push(Trial::test(*name, || {
            test();
            Ok(())
        }));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn judged(transcript: &Transcript) -> CheckResult {
    transcript_as(transcript, &CheckOptions::default()).unwrap()
}

fn transcript_as(transcript: &Transcript, how: &CheckOptions) -> Option<CheckResult> {
    judged_as(transcript.format, &transcript.blob.bytes().unwrap(), how)
}

/// None where the first bytes are not text, and there is nothing to judge.
fn judged_as(format: &'static Format, bytes: &[u8], how: &CheckOptions) -> Option<CheckResult> {
    let mut reader = bytes;
    Some(rules::check(format, &mut Input::new(&mut reader).ok()?, how).unwrap())
}

/// What each family listens to is data beside its rules. What is missing there is found here, as long as some case of the suite has
/// it.
fn sleepers_miss_nothing() {
    comes_to_the_same(&CheckOptions { dispatch_all: true, ..CheckOptions::default() });
}

/// Families know nothing of each other, so that several judges may share them.
fn several_judges_come_to_the_same() {
    for workers in [1, 3] {
        comes_to_the_same(&CheckOptions {
            parallelism: Some(Parallelism { workers, batch_bytes: 1_000 }),
            ..CheckOptions::default()
        });
    }
}

fn comes_to_the_same(other: &CheckOptions) {
    let mut compared = 0;
    for case in SUITE.judged.iter().chain(&SUITE.cases) {
        for transcript in &case.transcripts {
            let judged = |how| transcript_as(transcript, how);
            let (Some(usual), Some(other)) = (judged(&CheckOptions::default()), judged(other)) else {
                continue;
            };
            compared += 1;
            let at = format!("{} as {}", case.name, transcript.format.name);
            let of = |judged: &CheckResult| {
                (judged.revision, judged.messages, judged.limit, judged.rejected.clone())
            };
            assert_eq!(of(&usual), of(&other), "{at}");
            assert_eq!(usual.outcomes.len(), other.outcomes.len(), "{at}");
            for (one, other) in usual.outcomes.iter().zip(&other.outcomes) {
                assert_eq!(format!("{one:?}"), format!("{other:?}"), "{at}");
            }
        }
    }
    assert!(compared > 2_000, "only {compared} transcripts were compared");
}

/// The rules that are broken are those that the case names; the others that it names are kept, or inconclusive.
fn check(case: &Case, transcript: &Transcript) -> Result<(), Failed> {
    let expected = case.judgement.clone().unwrap_or_default();
    let judged = judged(transcript);
    let with = |wanted: &[RuleVerdict]| -> BTreeSet<&str> {
        let outcomes = judged.outcomes.iter().filter(|outcome| wanted.contains(&outcome.verdict));
        outcomes.map(|outcome| outcome.rule.id).collect()
    };
    let named = |ids: &[String]| ids.iter().cloned().collect::<BTreeSet<_>>();
    let broken: BTreeSet<String> = with(&[RuleVerdict::Fail, RuleVerdict::Warn, RuleVerdict::Info])
        .into_iter()
        .map(str::to_owned)
        .collect();
    let mut wrong = String::new();
    for id in broken.difference(&named(&expected.breaks)) {
        let _ = writeln!(wrong, "{id} is broken, and the case does not say so{}", outcome_of(&judged, id));
    }
    for id in named(&expected.breaks).difference(&broken) {
        let _ = writeln!(wrong, "{id} is not broken{}", outcome_of(&judged, id));
    }
    for (ids, verdict) in
        [(&expected.keeps, RuleVerdict::Pass), (&expected.unsure, RuleVerdict::Inconclusive)]
    {
        for id in ids.iter().filter(|id| !with(&[verdict]).contains(id.as_str())) {
            let _ = writeln!(wrong, "{id} is not {}{}", verdict.name(), outcome_of(&judged, id));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{}/{}\n{wrong}", case.place, transcript.format.file).into())
    }
}

/// The outcome of a rule, for a person who reads a failure.
fn outcome_of(judged: &CheckResult, id: &str) -> String {
    let Some(outcome) = judged.outcomes.iter().find(|outcome| outcome.rule.id == id) else {
        return String::new();
    };
    let mut out = format!(" ({}, held {} times", outcome.verdict.name(), outcome.held);
    if let Some(why) = &outcome.unsure {
        let _ = write!(out, "; {why}");
    }
    out.push(')');
    for finding in &outcome.findings {
        let place = &finding.location;
        let _ =
            write!(out, "\n    line {}{}{}: {}", place.line, place.pointer, place.within, finding.message);
    }
    out
}

fn every_rule_has_its_cases() {
    let mut lacking = String::new();
    for rule in rules::all() {
        let cases = |of: fn(&verdict::case_file::Judgement) -> &Vec<String>| {
            let judgements = SUITE.judged.iter().filter_map(|case| case.judgement.as_ref());
            judgements.filter(|judgement| of(judgement).iter().any(|id| id == rule.id)).count()
        };
        if cases(|judgement| &judgement.breaks) == 0 {
            let _ = writeln!(lacking, "no case breaks {}", rule.id);
        }
        if cases(|judgement| &judgement.keeps) == 0 {
            let _ = writeln!(lacking, "no case keeps {}", rule.id);
        }
    }
    assert!(lacking.is_empty(), "\n{lacking}");
}

fn every_id_is_accounted_for() {
    let excused: BTreeSet<&str> = NOT_JUDGED
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .filter(|(_, reason)| reason.len() > 20)
        .map(|(id, _)| id)
        .collect();
    let catalogue: BTreeSet<&str> = CATALOGUE.lines().collect();
    let judged: BTreeSet<&str> = rules::all().map(|rule| rule.id).collect();
    let missing: Vec<_> =
        catalogue.iter().filter(|id| !excused.contains(*id) && !judged.contains(*id)).collect();
    assert!(missing.is_empty(), "{} ids are neither rules nor excused: {missing:#?}", missing.len());
    let both: Vec<_> = excused.intersection(&judged).collect();
    assert!(both.is_empty(), "excused, and judged all the same: {both:?}");
    let unknown: Vec<_> = excused.difference(&catalogue).collect();
    assert!(unknown.is_empty(), "excused, and in no catalogue: {unknown:?}");
}
