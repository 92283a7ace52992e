//! What was found: for each rule how often it held, where it was broken, and why it could not be known.
//!
//! Whether a rule applies at a moment and whether the recording carries what it needs, so that no rule has to ask.
//! Memory: [`MOST_KEPT`] findings of each rule, level and party; the rest are counted.

use super::context::RuleContext;
use super::facts::{TORN, why_not_whole};
use super::finding::{Finding, Listener, RuleOutcome, RuleVerdict};
use super::location::FindingLocation;
use super::pending_requests::PendingRequest;
use super::rule_stats::{RuleStats, RuleStatsTable};
use crate::revision::{Revision, Span};
use crate::rule::{Level, Need, Party, Rule};
use std::borrow::Cow;
use transcript::json::Json;
use transcript::session::Side;

/// The most findings of one rule, level and party that are kept with their places.
pub(crate) const MOST_KEPT: usize = 100;

/// What is wrong at a moment, with what is known of the place beyond the moment's own.
#[derive(Debug, Default)]
pub(crate) struct Violation<'v> {
    message: Cow<'static, str>,
    inside: Option<Json<'v>>,
    location: Option<FindingLocation>,
    other: Option<(FindingLocation, &'static str)>,
    party: Option<Party>,
    level: Option<Level>,
}

impl<'v> Violation<'v> {
    /// In a sentence without its full stop.
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// It stands in this value, which is a part of the message at hand.
    pub(crate) fn inside(self, value: impl Into<Option<Json<'v>>>) -> Self {
        Self { inside: value.into(), ..self }
    }

    /// It stands somewhere else than at the moment at hand.
    pub(crate) fn at(self, location: FindingLocation) -> Self {
        Self { location: Some(location), ..self }
    }

    /// Another message matters too: where it is, and what, such as "the request".
    pub(crate) fn see(self, other: impl Into<Option<FindingLocation>>, what: &'static str) -> Self {
        Self { other: other.into().map(|other| (other, what)), ..self }
    }

    /// The request matters too that the message at hand is about.
    pub(crate) fn of<'r>(self, request: impl Into<Option<&'r PendingRequest>>) -> Self {
        self.see(request.into().map(PendingRequest::location), "the request")
    }

    /// This party is at fault, where the rule leaves it to the moment and the moment's speaker is not it.
    pub(crate) fn by(self, party: impl Into<Option<Party>>) -> Self {
        Self { party: party.into(), ..self }
    }

    /// It binds less here than the rule says.
    pub(crate) fn only(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }
}

impl From<String> for Violation<'_> {
    fn from(message: String) -> Self {
        Self::new(message)
    }
}

impl From<&'static str> for Violation<'_> {
    fn from(message: &'static str) -> Self {
        Self::new(message)
    }
}

/// What has been found so far.
#[derive(Debug)]
pub(crate) struct Report {
    carries: Vec<Need>,
    stats: RuleStatsTable,
    limit: Option<&'static str>,
    listener: Option<Listener>,
}

enum Applies {
    Yes,
    No,
    Unsure(MissingEvidence),
}

/// What is missing for a rule to be judged.
enum MissingEvidence {
    Revision,
    Carried(Need),
}

impl MissingEvidence {
    fn tell(&self) -> String {
        match self {
            Self::Revision => "nothing shows the revision; --spec REVISION would show it".to_owned(),
            Self::Carried(need) => lacks(*need),
        }
    }
}

impl Report {
    /// For this many rules, about a recording that carries this.
    pub(super) fn new(carries: Vec<Need>, rules: usize, listener: Option<Listener>) -> Self {
        Self { carries, stats: RuleStatsTable::new(rules), limit: None, listener }
    }

    /// The rule was kept at this moment.
    #[inline]
    pub(crate) fn pass(&mut self, rule: &'static Rule, at: &RuleContext<'_>) {
        let kept = self.stats.kept(rule);
        let here = at.circumstances.0;
        if kept.binds & here != 0 {
            kept.times += 1;
        } else if kept.idle & here == 0 {
            self.pass_at_first(rule, at);
        }
    }

    /// The same, where nobody asked yet whether the rule binds in these circumstances.
    #[cold]
    #[inline(never)]
    fn pass_at_first(&mut self, rule: &'static Rule, at: &RuleContext<'_>) {
        if self.binds(rule, at) {
            self.stats.kept(rule).times += 1;
        }
    }

    /// The rule was broken at this moment.
    pub(crate) fn fail<'v>(
        &mut self,
        rule: &'static Rule,
        at: &RuleContext<'_>,
        wrong: impl Into<Violation<'v>>,
    ) {
        if self.binds(rule, at) {
            self.record_failure(rule, at, wrong.into());
        }
    }

    /// Whether the rule binds at this moment, so that what decides it is worth finding out. Where that cannot be known, it is noted.
    /// Either is remembered: in the same circumstances it stays so.
    pub(crate) fn binds(&mut self, rule: &'static Rule, at: &RuleContext<'_>) -> bool {
        let here = at.circumstances.0;
        let kept = self.stats.kept(rule);
        if (kept.binds | kept.idle) & here != 0 {
            return kept.binds & here != 0;
        }
        let applies = self.applies(rule, at);
        if let Applies::Unsure(lack) = &applies {
            self.note(rule, || lack.tell());
        }
        let binds = matches!(applies, Applies::Yes);
        let kept = self.stats.kept(rule);
        *if binds { &mut kept.binds } else { &mut kept.idle } |= here;
        binds
    }

    fn record_failure(&mut self, rule: &'static Rule, at: &RuleContext<'_>, wrong: Violation<'_>) {
        if rule.relational && at.facts.torn {
            return self.note(rule, || TORN.to_owned());
        }
        if let Some(value) = wrong.inside
            && rule.party != Party::Recorder
            && at.redacted(value)
        {
            return self.note(rule, || "the recorder took out what would decide it".to_owned());
        }
        let usual = rule.level_in(at.revision);
        let level = wrong.level.unwrap_or(usual);
        debug_assert!(
            usual != Level::Must || level == Level::Must || rule.softened.is_some(),
            "{} says nothing of where it binds less",
            rule.id
        );
        let party = match (wrong.party.unwrap_or(rule.party), at.side) {
            (Party::Sender, Some(Side::Client)) => Party::Client,
            (Party::Sender, Some(Side::Server)) => Party::Server,
            (party, _) => party,
        };
        let stats = self.stats.of_rule(rule);
        stats.broken += 1;
        stats.worst = Some(stats.worst.map_or(level, |worst| worst.min(level)));
        if stats.count(level, party.name()) > MOST_KEPT as u64 {
            return;
        }
        let location = match (wrong.location, wrong.inside) {
            (Some(location), _) => location,
            (None, Some(value)) => {
                FindingLocation::inside(&at.entry.location, at.entry.carrier, at.text(), value)
            }
            (None, None) => at.location(),
        };
        let finding = Finding {
            verdict: RuleVerdict::new(level),
            level,
            party: party.name(),
            location,
            message: wrong.message.into_owned(),
            other: wrong.other,
        };
        if let Some(Listener(tell)) = &self.listener {
            tell(rule, &finding);
        }
        stats.findings.push(finding);
    }

    /// A limit of a family was reached: which, in words.
    pub(crate) fn reached(&mut self, limit: Option<&'static str>) {
        self.limit = self.limit.or(limit);
    }

    /// The limit that was reached, if any was.
    pub(super) fn limit(&self) -> Option<&'static str> {
        self.limit
    }

    /// The rule was kept where `kept`, and else broken as `wrong` says.
    pub(crate) fn check<'v, W: Into<Violation<'v>>>(
        &mut self,
        rule: &'static Rule,
        at: &RuleContext<'_>,
        kept: bool,
        wrong: impl FnOnce() -> W,
    ) {
        if kept {
            self.pass(rule, at);
        } else if self.binds(rule, at) {
            self.record_failure(rule, at, wrong().into());
        }
    }

    /// The rule applies at this moment, and the recording does not carry what would decide it: why, and what would.
    pub(crate) fn inconclusive(&mut self, rule: &'static Rule, at: &RuleContext<'_>, why: impl Into<String>) {
        // What was noted first stays.
        if !self.stats.kept(rule).noted && !matches!(self.applies(rule, at), Applies::No) {
            self.note(rule, || why.into());
        }
    }

    /// The rule would be broken by what is missing from the session; that is reported only where nothing is missing from
    /// the recording.
    pub(crate) fn fail_if_complete<'v>(
        &mut self,
        rule: &'static Rule,
        at: &RuleContext<'_>,
        wrong: impl Into<Violation<'v>>,
    ) {
        match why_not_whole(at.facts) {
            None => self.fail(rule, at, wrong),
            Some(why) => self.inconclusive(rule, at, why),
        }
    }

    fn applies(&self, rule: &Rule, at: &RuleContext<'_>) -> Applies {
        if at.facts.alien.is_some() && rule.party != Party::Recorder {
            return Applies::No;
        }
        let in_span = match at.revision {
            Some(revision) => rule.span.has(revision),
            None if rule.span == Span::ALL => true,
            None if at.facts.handshake => {
                if !rule.span.first.has_handshake() {
                    return Applies::No;
                }
                rule.span.first == Span::SESSIONS.first && rule.span.last >= Span::SESSIONS.last
                    || return Applies::Unsure(MissingEvidence::Revision)
            }
            None => return Applies::Unsure(MissingEvidence::Revision),
        };
        match lacking(&self.carries, rule) {
            _ if !in_span => Applies::No,
            Some(need) if need.is_foreign(at.facts.over_stdio()) => Applies::No,
            Some(need) => Applies::Unsure(MissingEvidence::Carried(need)),
            None => Applies::Yes,
        }
    }

    fn note(&mut self, rule: &'static Rule, why: impl FnOnce() -> String) {
        self.stats.kept(rule).noted = true;
        self.stats.of_rule(rule).unsure.get_or_insert_with(why);
    }

    /// What came of each of `rules` in a session of this revision. What only one transport has is not missing from a session over the other.
    pub(super) fn outcomes(
        self,
        rules: impl Iterator<Item = &'static Rule>,
        revision: Option<Revision>,
        stdio: Option<bool>,
    ) -> Vec<RuleOutcome> {
        let Self { carries, stats, .. } = self;
        let mut all = stats.by_id();
        let mut outcomes = Vec::new();
        for rule in rules {
            let (stats, held) = all.remove(rule.id).unwrap_or_default();
            let RuleStats { broken, counts, worst, findings, mut unsure } = stats;
            let lacking = lacking(&carries, rule).filter(|need| !need.is_foreign(stdio));
            if let (0, 0, None, Some(need)) = (held, broken, &unsure, lacking)
                && revision.is_none_or(|revision| rule.span.has(revision))
            {
                unsure = Some(lacks(need));
            }
            let verdict = match (worst, &unsure, held) {
                (Some(level), ..) => RuleVerdict::new(level),
                (None, Some(_), _) => RuleVerdict::Inconclusive,
                (None, None, 0) => RuleVerdict::NotApplicable,
                (None, None, _) => RuleVerdict::Pass,
            };
            outcomes.push(RuleOutcome { rule, verdict, held, broken, counts, findings, unsure });
        }
        outcomes
    }
}

/// What the rule needs beyond what such recordings carry.
fn lacking(carries: &[Need], rule: &Rule) -> Option<Need> {
    rule.needs.iter().copied().find(|need| !carries.contains(need))
}

fn lacks(need: Need) -> String {
    format!("such recordings do not carry {}", need.lack())
}
