//! Results of the official conformance suite, joined with the recordings of its run: `report --official`.
//!
//! The suite says when each scenario began and when each check was made, and a recorder when each message passed. A message is of
//! the scenario under way, and of the first check behind it. Which rules ask what a check asks is in `official.tsv`.
//!
//! Memory: [`MOST`] messages of each scenario, the findings, and a number for each entry of one recording.

use crate::check::{CheckOptions, Judge};
use crate::error::{Cause, Error};
use crate::recording::Recording;
use formats::time;
use reports::official::{OfficialCheck, OfficialRun, RecordedMessage, RuleAnswer, Scenario};
use reports::plain::{counted, cut};
use rules::RuleVerdict;
use rules::record::RuleResult;
use rules::rule::Rule;
use std::collections::{BTreeMap, BTreeSet};
use transcript::session::{Content, Entry, Side};

/// How many messages of a scenario are kept.
const MOST: usize = 200;
/// How much of a message is kept, in characters.
const WIDTH: usize = 400;
/// How long after its last check a scenario may have messages, where no other begins: milliseconds.
const AFTER: i64 = 10_000;

/// Results of the suite, and what was recorded so far.
pub struct Official {
    scenarios: Vec<Timed>,
    judge: Judge,
    /// Recordings without times.
    timeless: Vec<String>,
}

/// A scenario with what decides what belongs to it.
struct Timed {
    scenario: Scenario,
    last: i64,
    /// What the rules say of the recordings that have its messages, where they found nothing.
    verdicts: BTreeMap<&'static str, (RuleVerdict, String)>,
    /// When each finding's message passed.
    found: Vec<i64>,
}

impl Official {
    /// The results of a run: the name and the text of each `checks.json`.
    ///
    /// # Errors
    /// Where there is none, or one is not a list of checks.
    pub fn new<'t>(results: impl IntoIterator<Item = (&'t str, &'t str)>) -> Result<Self, Error> {
        let scenarios = results.into_iter().map(|(file, text)| Timed::read(file, text));
        let mut scenarios = scenarios.collect::<Result<Vec<_>, _>>()?;
        if scenarios.is_empty() {
            return Err(Error::failed("there is no checks.json of the official suite here"));
        }
        scenarios.sort_by(|a, b| a.key().cmp(&b.key()));
        let judge = Judge::new(&CheckOptions { every: true, ..CheckOptions::default() })?;
        Ok(Self { scenarios, judge, timeless: Vec::new() })
    }

    /// Judges a recording, and gives its messages and findings to the scenarios in whose time they passed.
    ///
    /// # Errors
    /// As [`Judge::judge`].
    pub fn add(&mut self, recording: &mut Recording<'_>) -> Result<(), Error> {
        let mut times: Vec<(u64, i64)> = Vec::new();
        let mut touched = BTreeSet::new();
        let (judge, scenarios) = (&self.judge, &mut self.scenarios);
        let name = recording.name.clone();
        let file = judge.judge_beside(recording, &mut |entry| {
            let Some(time) = entry.time else { return };
            times.push((entry.location.offset, time));
            if let Some(place) = under_way(scenarios, time) {
                touched.insert(place);
                scenarios[place].take(&name, entry, time);
            }
        })?;
        if times.is_empty() {
            self.timeless.extend(Some(name).filter(|_| file.messages > 0));
            return Ok(());
        }
        times.sort_unstable();
        for line in file.lines {
            if !line.is_finding() {
                for place in &touched {
                    self.scenarios[*place].settle(&line);
                }
                continue;
            }
            let offset = line.offset.unwrap_or_default();
            let before = times.partition_point(|(at, _)| *at <= offset).saturating_sub(1);
            let time = times[before].1;
            if let Some(place) = under_way(&self.scenarios, time) {
                self.scenarios[place].found.push(time);
                self.scenarios[place].scenario.findings.push(line);
            }
        }
        Ok(())
    }

    /// The run; and what a person should know of it, in sentences without their full stop.
    ///
    /// # Errors
    /// Where no message passed while the suite ran: then these are recordings of something else.
    pub fn finish(self) -> Result<(OfficialRun, Vec<String>), Error> {
        let mut notes: Vec<String> = Vec::new();
        for name in &self.timeless {
            notes.push(format!("{name} has no times, so none of its messages can be assigned to a scenario"));
        }
        let scenarios: Vec<Scenario> = self.scenarios.into_iter().map(Timed::joined).collect();
        if scenarios.iter().all(|scenario| scenario.messages.is_empty()) {
            let why =
                "no message in the recordings was sent while the official suite ran; they are of another run";
            let why = notes.first().map_or(why, String::as_str);
            return Err(Error::from(Cause::Failed(why.to_owned())));
        }
        let without = scenarios.iter().filter(|scenario| scenario.messages.is_empty()).count();
        if without > 0 {
            notes.push(format!("nothing was recorded while {} ran", counted(without, "scenario")));
        }
        Ok((OfficialRun { scenarios }, notes))
    }
}

/// The scenario under way: the last that had begun, and of several at once one whose last check was still to come.
fn under_way(scenarios: &[Timed], time: i64) -> Option<usize> {
    // Those without any time come first, and have no messages.
    let begun =
        &scenarios[..scenarios.partition_point(|one| one.scenario.began.is_none_or(|began| began <= time))];
    let under = |after| {
        begun.iter().rposition(|one| one.scenario.began.is_some() && time <= one.last.saturating_add(after))
    };
    under(0).or_else(|| under(AFTER))
}

impl Timed {
    fn read(file: &str, text: &str) -> Result<Self, Error> {
        let checks: Vec<OfficialCheck> = serde_json::from_str(text).map_err(|error| {
            Error::failed(format!("{file} is not a checks.json of the official suite: {error}"))
        })?;
        let folder = file.rsplit(['/', '\\']).nth(1).unwrap_or_default();
        let (name, began) = named(folder);
        let times = || checks.iter().filter_map(OfficialCheck::time);
        let began = began.or_else(|| times().min().map(|first| first.saturating_sub(AFTER)));
        let last = times().max().or(began).unwrap_or_default();
        let name = if folder.is_empty() { file } else { name.strip_prefix("server-").unwrap_or(name) };
        let scenario =
            Scenario { name: name.to_owned(), file: file.to_owned(), began, checks, ..Scenario::default() };
        Ok(Self { scenario, last, verdicts: BTreeMap::new(), found: Vec::new() })
    }

    fn key(&self) -> (Option<i64>, &str) {
        (self.scenario.began, &self.scenario.file)
    }

    fn take(&mut self, file: &str, entry: &Entry<'_>, time: i64) {
        let sender = entry.side.map(Side::name).unwrap_or_default();
        let (sender, text) = match &entry.content {
            Content::Message(message) => (sender, message.text().into()),
            Content::Noise(noise) => (sender, noise.text.clone()),
            // An exchange that went well is its messages.
            Content::Exchange(it)
                if !matches!(it.status, Some(200 | 202)) || !["POST", "GET"].contains(&&*it.method) =>
            {
                let status =
                    it.status.map_or("no answer".to_owned(), |status| format!("answered with {status}"));
                ("HTTP", format!("{} {}, {status}", it.method, it.url).into())
            }
            _ => return,
        };
        if self.scenario.messages.len() == MOST {
            self.scenario.more += 1;
            return;
        }
        self.scenario.messages.push(RecordedMessage {
            file: file.to_owned(),
            line: entry.location.line,
            pointer: entry.location.pointer(),
            time,
            sender,
            text: cut(&text, WIDTH),
        });
    }

    /// Keeps what a rule says that found nothing in a recording: what would settle it before all else.
    fn settle(&mut self, line: &RuleResult) {
        let rank = |verdict| match verdict {
            RuleVerdict::Inconclusive => 0,
            RuleVerdict::Pass => 1,
            _ => 2,
        };
        let said = || match line.verdict {
            RuleVerdict::Inconclusive => line.message.clone(),
            _ => String::new(),
        };
        let known = self.verdicts.entry(line.rule).or_insert_with(|| (line.verdict, said()));
        if rank(line.verdict) < rank(known.0) {
            *known = (line.verdict, said());
        }
    }

    /// The scenario, with each check joined to its messages and to the rules that ask the same.
    fn joined(self) -> Scenario {
        let Self { mut scenario, verdicts, found, .. } = self;
        scenario.messages.sort_by_key(|message| message.time);
        let times: BTreeSet<i64> = scenario.checks.iter().filter_map(OfficialCheck::time).collect();
        let at = |time: i64| scenario.messages.partition_point(|message| message.time <= time);
        for check in &mut scenario.checks {
            let until = check.time().unwrap_or(i64::MAX);
            let since = check.time().and_then(|time| times.range(..time).next_back().copied());
            let since = since.unwrap_or(i64::MIN);
            check.messages = at(since)..at(until);
            // A check behind which nothing passed, or that does not say when it was made, is about the whole scenario.
            let is_own = |time: i64| check.messages.is_empty() || since < time && time <= until;
            check.rules = rules_of(&check.id)
                .filter_map(|rule| {
                    let of_it = || scenario.findings.iter().zip(&found).filter(|(it, _)| it.rule == rule.id);
                    let own = of_it().find(|(_, at)| is_own(**at));
                    let (verdict, message) = match own.or_else(|| of_it().next()) {
                        Some((finding, _)) => (finding.verdict, finding.message.clone()),
                        None => verdicts.get(rule.id).cloned()?,
                    };
                    Some(RuleAnswer { rule, verdict, message, elsewhere: own.is_none() })
                })
                .collect();
        }
        scenario
    }
}

/// The name and the time in the name of a folder, such as `server-tools-list-2026-11-27T11-18-18-685Z`.
fn named(folder: &str) -> (&str, Option<i64>) {
    const TIME: usize = "-2026-11-27T11-18-18-685Z".len();
    let split = folder.len().checked_sub(TIME).and_then(|at| folder.split_at_checked(at));
    let Some((name, stamp)) = split else { return (folder, None) };
    let (day, hours) = stamp.split_once('T').unwrap_or_default();
    let parts: Vec<&str> = hours.trim_end_matches('Z').split('-').collect();
    let [hour, minute, second, rest] = parts[..] else { return (folder, None) };
    let time = time::parse(&format!("{}T{hour}:{minute}:{second}.{rest}Z", day.trim_start_matches('-')));
    if time.is_some() { (name, time) } else { (folder, None) }
}

/// The rules that ask what a check of the suite asks.
fn rules_of(check: &str) -> impl Iterator<Item = &'static Rule> {
    let rows = include_str!("official.tsv").lines().filter_map(|row| row.split_once('\t'));
    let own = rows.filter(move |(id, _)| *id == check);
    own.flat_map(|(_, rules)| rules.split(' ')).filter_map(rules::find)
}

#[cfg(test)]
mod tests {
    use super::named;

    #[test]
    fn a_folder_says_what_ran_and_when() {
        let folder = "server-tools-list-2026-11-27T11-18-18-685Z";
        assert_eq!(named(folder), ("server-tools-list", formats::time::parse("2026-11-27T11:18:18.685Z")));
        for other in ["tools-list", "", "é-2026-11-27T11-18-18-685", "server-x-2026-13-27T11-18-18-685Z"] {
            assert_eq!(named(other), (other, None));
        }
    }

    #[test]
    fn every_rule_of_the_table_is_there_and_every_check_stands_once() {
        let rows: Vec<(&str, &str)> =
            include_str!("official.tsv").lines().map(|row| row.split_once('\t').unwrap()).collect();
        for (check, rules) in &rows {
            assert!(rules.split(' ').all(|id| rules::find(id).is_some()), "{check}: {rules}");
            assert_eq!(rows.iter().filter(|(other, _)| other == check).count(), 1, "{check}");
        }
    }
}
