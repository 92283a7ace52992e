//! Reads the rules of a family from the table that stands beside its file, while the crate is compiled.
//!
//! A table begins with what its rules have in common. Each header is the id of a rule, and each key a member of [`Rule`].

#![expect(clippy::panic, reason = "the compiler shows it as an error")]

use crate::revision::{Revision, Span};
use crate::rule::{Level, Need, Party, Rule};
use transcript::tables::{Item, headers, next, same, split};

/// How many rules a table has.
pub(crate) const fn rules_in(text: &'static str) -> usize {
    headers(text)
}

/// The rules of a table, in its order.
pub(crate) const fn read_rules<const COUNT: usize>(mut text: &'static str) -> [Rule; COUNT] {
    let (mut common, mut rules, mut count) = (Rule::BLANK, [Rule::BLANK; COUNT], 0);
    while let Some((item, rest)) = next(text) {
        match item {
            Item::Header(id) => {
                rules[count] = Rule { id, ..common };
                count += 1;
            }
            Item::Field(key, value) if count == 0 => set(&mut common, key, value),
            Item::Field(key, value) => set(&mut rules[count - 1], key, value),
        }
        text = rest;
    }
    rules
}

/// The rule with this id; one that is missing does not build.
pub(crate) const fn named(mut rules: &'static [Rule], id: &str) -> &'static Rule {
    while let [rule, more @ ..] = rules {
        if same(rule.id, id) {
            return rule;
        }
        rules = more;
    }
    panic!("the table of the family has no such rule")
}

const fn set(rule: &mut Rule, key: &str, value: &'static str) {
    match key.as_bytes() {
        b"level" => rule.level = level(value),
        b"raised" => {
            let (higher, since) = split(value, " from ");
            rule.raised = Some((revision(since), level(higher)));
        }
        b"party" => rule.party = party(value),
        b"revisions" => rule.span = span(value),
        b"needs" => rule.needs = needs(value),
        b"relational" => rule.relational = same(value, "true"),
        b"source" => rule.source = value,
        b"title" => rule.title = value,
        b"why" => rule.why = value,
        b"fix" => rule.fix = value,
        b"softened" => rule.softened = Some(value),
        b"contested" => rule.contested = Some(value),
        _ => panic!("a rule has no such key"),
    }
}

const fn level(name: &str) -> Level {
    match Level::named(name) {
        Some(level) => level,
        None => panic!("there is no such level"),
    }
}

const fn revision(name: &str) -> Revision {
    match Revision::named(name) {
        Some(revision) => revision,
        None => panic!("there is no such revision"),
    }
}

const fn party(name: &str) -> Party {
    match name.as_bytes() {
        b"client" => Party::Client,
        b"server" => Party::Server,
        b"sender" => Party::Sender,
        b"recorder" => Party::Recorder,
        _ => panic!("there is no such party"),
    }
}

/// A span as it is shown: one revision, `FIRST to LAST`, `FIRST and later`, or `every revision`.
const fn span(text: &'static str) -> Span {
    if same(text, "every revision") {
        return Span::ALL;
    }
    let (first, rest) = text.split_at("2024-11-05".len());
    match rest.as_bytes() {
        [] => Span::only(revision(first)),
        b" and later" => Span::from(revision(first)),
        _ => Span::between(revision(first), revision(split(rest, " to ").1)),
    }
}

const fn needs(names: &str) -> &'static [Need] {
    match names.as_bytes() {
        b"" => &[],
        b"direction" => &[Need::Direction],
        b"times" => &[Need::Times],
        b"headers" => &[Need::Headers],
        b"http" => &[Need::Http],
        b"http, sse" => &[Need::Http, Need::Sse],
        b"sse" => &[Need::Sse],
        b"process" => &[Need::Process],
        _ => panic!("no rule has had these needs"),
    }
}
