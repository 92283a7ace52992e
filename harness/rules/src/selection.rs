//! Which rules, levels and parties are asked for, and which rules the words of a command line mean.
//!
//! Ids, the part of an id up to one of its dots, and the names of families.

use crate::engine::{Finding, RuleOutcome};
use crate::families::{FAMILIES, MESSAGES, all};
use crate::rule::{Level, Party, Rule};
use crate::rule_set::RuleSet;
use std::collections::BTreeSet;
use transcript::nearest::hint_or;

/// What was asked for.
#[derive(Debug, Clone)]
pub struct RuleSelection {
    /// The ids of the rules.
    pub rules: BTreeSet<&'static str>,
    /// Nothing that binds less than this.
    pub level: Level,
    /// Whose faults.
    pub profile: Profile,
    /// A recording without messages is accepted. Otherwise it is one whatever else is asked for, since nothing in it was judged.
    pub allow_empty: bool,
}

/// Whose faults are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Is the file a faithful, valid recording?
    Recorder,
    /// Did client and server conform?
    Session,
    /// Did the server?
    Server,
    /// Did the client?
    Client,
    /// Both.
    All,
}

impl RuleSelection {
    /// All rules, or those that `select` names, without those that `ignore` names (see [`named`]).
    ///
    /// # Errors
    /// The list that is at fault, and a sentence why: a word in it names nothing, or nothing is left to judge by.
    pub fn new(
        select: &[String],
        ignore: &[String],
        level: Level,
        profile: Profile,
    ) -> Result<Self, (&'static str, String)> {
        let mut rules = match select {
            [] => all().map(|rule| rule.id).collect(),
            words => named(words).map_err(|why| ("select", why))?,
        };
        let ignored = named(ignore).map_err(|why| ("ignore", why))?;
        rules.retain(|id| !ignored.contains(id));
        if rules.is_empty() {
            return Err(("ignore", "no rules are left to check".to_owned()));
        }
        Ok(Self { rules, level, profile, allow_empty: ignored.contains(MESSAGES.id) })
    }

    /// Every rule, whatever it binds and whichever side is at fault.
    pub fn everything() -> Self {
        let rules = all().map(|rule| rule.id).collect();
        Self { rules, level: Level::Info, profile: Profile::All, allow_empty: false }
    }

    /// The rules of a frozen set, whatever they bind and whichever side is at fault.
    pub fn of_set(frozen: &RuleSet) -> Self {
        let rules = frozen.rules.iter().map(|rule| rule.id).collect();
        Self { rules, level: Level::Info, profile: Profile::All, allow_empty: false }
    }

    /// Whether what came of a rule is reported.
    pub(crate) fn has(&self, outcome: &RuleOutcome) -> bool {
        if Self::is_empty(outcome) { !self.allow_empty } else { self.rules.contains(outcome.rule.id) }
    }

    /// Whether a finding of this level that is such a party's fault is reported.
    pub(crate) fn reports(&self, outcome: &RuleOutcome, level: Level, party: &str) -> bool {
        level <= self.level && (self.profile.has(party) || Self::is_empty(outcome))
    }

    /// Whether a rule of which nothing is reported has a line: one for both sides also where one is asked for, unless the
    /// other side broke it.
    pub(crate) fn counts(&self, outcome: &RuleOutcome, level: Level) -> bool {
        let of_both = outcome.rule.party == Party::Sender && self.profile != Profile::Recorder;
        self.reports(outcome, level, outcome.rule.party.name())
            || of_both && level <= self.level && outcome.broken == 0
    }

    /// Whether a finding is reported, as far as that is known before all is judged.
    pub(crate) fn shows(&self, rule: &Rule, finding: &Finding) -> bool {
        self.rules.contains(rule.id) && finding.level <= self.level && self.profile.has(finding.party)
    }

    /// Whether it says that the recording holds no message.
    fn is_empty(outcome: &RuleOutcome) -> bool {
        outcome.rule.id == MESSAGES.id && outcome.broken > 0
    }
}

impl Profile {
    /// The profile of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "recorder" => Some(Self::Recorder),
            "session" => Some(Self::Session),
            "server" => Some(Self::Server),
            "client" => Some(Self::Client),
            "all" => Some(Self::All),
            _ => None,
        }
    }

    fn has(self, party: &str) -> bool {
        match self {
            Self::Recorder => party == Party::Recorder.name(),
            Self::Session => party != Party::Recorder.name(),
            Self::Server => party == Party::Server.name(),
            Self::Client => party == Party::Client.name(),
            Self::All => true,
        }
    }
}

/// The ids of the rules that `words` name, each an id, the beginning of ids up to a dot, or a family.
///
/// # Errors
/// A sentence for the first word that names nothing, with its neighbours.
pub fn named(words: &[String]) -> Result<BTreeSet<&'static str>, String> {
    let mut ids = BTreeSet::new();
    for word in words {
        let before = ids.len();
        let known =
            |id: &str| id == word || id.strip_prefix(word.as_str()).is_some_and(|rest| rest.starts_with('.'));
        ids.extend(all().map(|rule| rule.id).filter(|id| known(id)));
        let family = FAMILIES.iter().filter(|family| family.name == word);
        ids.extend(family.clone().flat_map(|family| family.rules).map(|rule| rule.id));
        let again = all().any(|rule| known(rule.id)) || family.clone().next().is_some();
        if ids.len() == before && !again {
            return Err(unknown(word));
        }
    }
    Ok(ids)
}

fn unknown(word: &str) -> String {
    let families = FAMILIES.iter().map(|family| family.name);
    let prefixes = all().map(crate::rule::Rule::prefix);
    let names: BTreeSet<&str> = all().map(|rule| rule.id).chain(families).chain(prefixes).collect();
    let hint = hint_or("; `mcp-concord explain` lists all of them", word, names.into_iter());
    format!("there is no rule or family `{word}`{hint}")
}

#[cfg(test)]
mod tests {
    use super::named;

    fn ids(words: &[&str]) -> Result<Vec<&'static str>, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        named(&words).map(|ids| ids.into_iter().collect())
    }

    #[test]
    fn ids_prefixes_and_families_are_understood() {
        assert_eq!(ids(&["jsonrpc.id.null"]).unwrap(), ["jsonrpc.id.null"]);
        let under = ids(&["jsonrpc.id"]).unwrap();
        assert!(under.len() > 1 && under.iter().all(|id| id.starts_with("jsonrpc.id.")), "{under:?}");
        let family = ids(&["recording"]).unwrap();
        assert!(family.contains(&"rec.readable") && !family.contains(&"rec.replay.version"), "{family:?}");
        // A word twice is not an unknown word.
        assert_eq!(ids(&["jsonrpc.id", "jsonrpc.id.null", "jsonrpc.id"]).unwrap(), under);
    }

    #[test]
    fn half_a_word_and_no_word_are_answered_with_neighbours() {
        assert!(ids(&["jsonrpc.i"]).unwrap_err().contains("did you mean"));
        assert!(ids(&["jsonrpc.id.nul"]).unwrap_err().contains("jsonrpc.id.null"));
        assert!(ids(&["xyzxyzxyzxyz"]).unwrap_err().contains("explain"));
        assert!(ids(&[""]).is_err());
    }
}
