//! The catalogue of rules as a whole.

use crate::families::{FAMILIES, all, find};
use std::collections::BTreeSet;

#[test]
fn ids_are_unique_lower_case_words_joined_by_dots() {
    let mut seen = BTreeSet::new();
    for rule in all() {
        assert!(seen.insert(rule.id), "{} stands twice", rule.id);
        let well_spelled = |word: &str| {
            !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
        };
        assert!(rule.id.contains('.') && rule.id.split('.').all(well_spelled), "{} is not an id", rule.id);
        assert_eq!(find(rule.id), Some(rule));
    }
}

#[test]
fn every_rule_says_what_why_and_what_to_do() {
    let mut titles = BTreeSet::new();
    for rule in all() {
        let id = rule.id;
        assert!(titles.insert(rule.title), "the title of {id} is taken");
        assert!(rule.title.chars().count() <= 84, "the title of {id} is too long");
        assert!(!rule.title.ends_with('.') && !rule.title.is_empty(), "the title of {id} is not a title");
        assert!(!rule.source.is_empty(), "{id} names no source");
        for prose in [Some(rule.why), Some(rule.fix), rule.contested].into_iter().flatten() {
            assert!(prose.ends_with('.') && !prose.contains("  "), "{id} leaves a sentence open: {prose}");
        }
        assert!(rule.span.first <= rule.span.last, "{id} has no revision");
        if let Some((since, level)) = rule.raised {
            assert!(rule.span.has(since) && level != rule.level, "{id} is raised to what it is");
        }
    }
}

#[test]
fn families_have_names_of_their_own_and_rules() {
    let names: BTreeSet<_> = FAMILIES.iter().map(|family| family.name).collect();
    assert_eq!(names.len(), FAMILIES.len());
    for family in FAMILIES {
        assert!(!family.rules.is_empty() && !family.title.is_empty(), "{}", family.name);
        assert!(!family.triggers.is_empty(), "nothing triggers {}", family.name);
        let well_spelled = |c: char| c.is_ascii_lowercase() || c == '-';
        assert!(family.name.chars().all(well_spelled), "{} is not in kebab-case", family.name);
    }
}

#[test]
fn the_limits_in_the_readme_are_those_that_hold() {
    use crate::engine::limits;
    let readme = include_str!("../../README.md");
    let reported = |what: &str| -> u64 {
        let row = readme.lines().find(|line| line.starts_with(&format!("| {what}"))).unwrap();
        let limit = row.split('|').nth(2).unwrap().trim();
        let digits: String = limit.split(' ').next().unwrap().chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u64>().unwrap() << if limit.contains("MiB") { 20 } else { 0 }
    };
    for (what, limit) in [
        ("open requests", limits::MOST_OPEN),
        ("params of open requests", limits::MOST_HELD),
        ("used ids", limits::MOST_IDS),
        ("progress tokens in use", super::progress::MOST_ACTIVE),
        ("former progress tokens", super::progress::MOST_FINISHED),
        ("concurrent sessions in one recording", limits::MOST_SESSIONS),
        ("tool definitions", limits::MOST_TOOLS),
        ("findings with their places", limits::MOST_KEPT),
        ("indexed values of one message", transcript::json::MAX_INDEXED),
    ] {
        assert_eq!(reported(what), limit as u64, "{what}");
    }
}
