//! What is said of a rule at a moment: that it was kept, that it was broken and how, or that nobody can know.
//!
//! Whether a rule applies at the moment and whether the recording carries what it needs, so that no rule has to ask.

use super::context::{NOT_WHOLE, RuleContext, TAKEN_OUT, is_streamable};
use super::facts::{Facts, TORN, why_not_whole};
use super::finding::{Finding, Listener, RuleVerdict};
use super::location::{FindingLocation, shown};
use super::pending_request::PendingRequest;
use super::report::{MOST_KEPT, NO_REVISION, lacking, lacks};
use crate::revision::{Revision, Span};
use crate::rule::{Level, Need, Party, Rule};
use std::borrow::Cow;
use transcript::json::Json;
use transcript::session::{Headers, Side};

/// What is wrong at a moment, with what is known of the place beyond the moment's own.
#[derive(Debug, Default)]
pub(crate) struct Violation<'v> {
    message: Cow<'static, str>,
    inside: Option<Json<'v>>,
    location: Option<FindingLocation>,
    other: Option<(FindingLocation, &'static str)>,
    party: Option<Party>,
    level: Option<Level>,
    decides: Option<Side>,
}

impl<'v> Violation<'v> {
    /// In a sentence without its full stop.
    pub(crate) fn new(message: impl Into<Cow<'static, str>>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    /// A value is of another kind than it must be.
    pub(crate) fn kind(what: &str, value: Json<'v>) -> Self {
        Self::new(format!("{what} is {}: {}", value.kind().name(), shown(value))).inside(value)
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

    /// Of all that may be missing, only what this side said would decide otherwise.
    pub(crate) fn unless_said_by(self, side: Option<Side>) -> Self {
        Self { decides: side, ..self }
    }

    /// It binds less here than the rule says.
    pub(crate) fn only(self, level: Level) -> Self {
        Self { level: Some(level), ..self }
    }
}

impl Violation<'_> {
    /// Where it is, at a moment.
    fn place(&mut self, at: &RuleContext<'_>) -> FindingLocation {
        let inside = |value| FindingLocation::inside(&at.entry.location, at.entry.carrier, at.text(), value);
        let location = self.location.take().or_else(|| self.inside.map(inside));
        location.unwrap_or_else(|| at.location())
    }

    /// Whether what is missing from the recording may decide otherwise.
    fn is_unsure(&self, facts: &Facts) -> bool {
        self.decides.map_or_else(|| facts.torn(), |side| facts.torn[side as usize])
    }

    /// The same about the moment at hand, for when that has come which decides it.
    pub(crate) fn held(mut self, rule: &'static Rule, at: &RuleContext<'_>) -> HeldFinding {
        let location = Some(self.place(at));
        let sender = at.side.map(Party::from).filter(|_| rule.party == Party::Sender);
        let Self { message, other, level, party, decides, .. } = self;
        let party = party.or(sender);
        let wrong = Violation { message, location, other, level, party, decides, inside: None };
        HeldFinding { rule, wrong, revision: at.revision }
    }
}

/// A finding that waits for what may follow.
#[derive(Debug)]
pub(crate) struct HeldFinding {
    pub(crate) rule: &'static Rule,
    wrong: Violation<'static>,
    revision: Option<Revision>,
}

impl HeldFinding {
    /// It is one, whatever is missing.
    pub(crate) fn certain(self, at: &RuleContext<'_>) {
        at.in_revision(self.revision).fail(self.rule, self.wrong);
    }

    /// It is one, where nothing is missing from the recording.
    pub(crate) fn tell(self, at: &RuleContext<'_>) {
        at.in_revision(self.revision).fail_if_complete(self.rule, self.wrong);
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

impl RuleContext<'_> {
    /// The rule was kept.
    #[inline]
    pub(crate) fn pass(&self, rule: &'static Rule) {
        let kept = self.report.stats.kept(rule);
        let here = self.circumstances.0;
        if kept.binds.get() & here != 0 {
            kept.times.set(kept.times.get() + 1);
        } else if kept.idle.get() & here == 0 {
            self.pass_at_first(rule);
        }
    }

    /// The same, where nobody asked yet whether the rule binds in these circumstances.
    #[cold]
    #[inline(never)]
    fn pass_at_first(&self, rule: &'static Rule) {
        if self.binds(rule) {
            let kept = self.report.stats.kept(rule);
            kept.times.set(kept.times.get() + 1);
        }
    }

    /// The rule was broken.
    pub(crate) fn fail<'v>(&self, rule: &'static Rule, wrong: impl Into<Violation<'v>>) {
        if self.binds(rule) {
            self.record_failure(rule, wrong.into());
        }
    }

    /// The rule was kept where `kept`, and else broken as `wrong` says.
    #[inline]
    pub(crate) fn check<'v, W: Into<Violation<'v>>>(
        &self,
        rule: &'static Rule,
        kept: bool,
        wrong: impl FnOnce() -> W,
    ) {
        if kept {
            self.pass(rule);
        } else if self.binds(rule) {
            self.record_failure(rule, wrong().into());
        }
    }

    /// The rule was kept where nothing was found that breaks it, and else broken as `wrong` says of that.
    pub(crate) fn without<'v, F, W: Into<Violation<'v>>>(
        &self,
        rule: &'static Rule,
        found: Option<F>,
        wrong: impl FnOnce(F) -> W,
    ) {
        match found {
            None => self.pass(rule),
            Some(found) if self.binds(rule) => self.record_failure(rule, wrong(found).into()),
            Some(_) => {}
        }
    }

    /// Whether the rule binds, so that what decides it is worth finding out. Where that cannot be known, it is noted.
    /// Either is remembered: in the same circumstances it stays so.
    pub(crate) fn binds(&self, rule: &'static Rule) -> bool {
        let here = self.circumstances.0;
        let kept = self.report.stats.kept(rule);
        if (kept.binds.get() | kept.idle.get()) & here != 0 {
            return kept.binds.get() & here != 0;
        }
        let applies = self.applies(rule);
        if let Applies::Unsure(lack) = applies {
            self.report.note(rule, || lack.map_or_else(|| NO_REVISION.to_owned(), lacks));
        }
        let binds = matches!(applies, Applies::Yes);
        let known = if binds { &kept.binds } else { &kept.idle };
        known.set(known.get() | here);
        binds
    }

    fn record_failure(&self, rule: &'static Rule, mut wrong: Violation<'_>) {
        if rule.relational && wrong.is_unsure(self.facts) {
            return self.report.note(rule, || TORN.to_owned());
        }
        if let Some(value) = wrong.inside
            && rule.party != Party::Recorder
            && self.redacted(value)
        {
            return self.report.note(rule, || TAKEN_OUT.to_owned());
        }
        let usual = rule.level_in(self.revision);
        let level = wrong.level.unwrap_or(usual);
        debug_assert!(
            usual != Level::Must || level == Level::Must || rule.softened.is_some(),
            "{} says nothing of where it binds less",
            rule.id
        );
        let party = match (wrong.party.unwrap_or(rule.party), self.side) {
            (Party::Sender, Some(side)) => side.into(),
            (party, _) => party,
        };
        let mut stats = self.report.stats.of_rule(rule);
        stats.broken += 1;
        stats.worst = Some(stats.worst.map_or(level, |worst| worst.min(level)));
        if stats.count(level, party.name()) > MOST_KEPT as u64 {
            return;
        }
        let finding = Finding {
            verdict: RuleVerdict::new(level),
            level,
            party: party.name(),
            location: wrong.place(self),
            message: wrong.message.into_owned(),
            other: wrong.other,
        };
        if let Some(Listener(tell)) = &self.report.listener {
            tell(rule, &finding);
        }
        stats.findings.push(finding);
    }

    /// The rule applies, and the recording does not carry what would decide it: why, and what would.
    pub(crate) fn inconclusive(&self, rule: &'static Rule, why: impl Into<String>) {
        // What was noted first stays.
        if !self.report.stats.kept(rule).noted.get() && !matches!(self.applies(rule), Applies::No) {
            self.report.note(rule, || why.into());
        }
    }

    /// The rule would be broken by what is missing from the session; that is reported only where nothing is missing from
    /// the recording.
    pub(crate) fn fail_if_complete<'v>(&self, rule: &'static Rule, wrong: impl Into<Violation<'v>>) {
        let wrong = wrong.into();
        match why_not_whole(self.facts).filter(|why| *why != TORN || wrong.is_unsure(self.facts)) {
            None => self.fail(rule, wrong),
            Some(why) => self.inconclusive(rule, why),
        }
    }

    /// A request shows no such header, as the rule asks it to: broken where the recording would show it.
    pub(crate) fn lacks_header<'v>(
        &self,
        rule: &'static Rule,
        headers: &Headers<'_>,
        name: &str,
        wrong: impl Into<Violation<'v>>,
    ) {
        match self.would_show(headers, name) {
            true => self.fail(rule, wrong),
            false => self.inconclusive(rule, NOT_WHOLE),
        }
    }

    /// A limit of a family was reached: which, in words.
    pub(crate) fn reached(&self, limit: Option<&'static str>) {
        self.report.limit.set(self.report.limit.get().or(limit));
    }

    fn applies(&self, rule: &Rule) -> Applies {
        if self.facts.alien.is_some() && rule.party != Party::Recorder {
            return Applies::No;
        }
        let in_span = match self.revision {
            Some(revision) => rule.span.has(revision),
            None if rule.span == Span::ALL => true,
            None if self.facts.handshake => {
                if !rule.span.first.has_handshake() {
                    return Applies::No;
                }
                rule.span.first == Span::SESSIONS.first && rule.span.last >= Span::SESSIONS.last
                    || return Applies::Unsure(None)
            }
            // Every revision that has the transport has the rule.
            None if is_streamable(self.facts) && rule.span == Span::from(Revision::V2025_03_26) => true,
            None => return Applies::Unsure(None),
        };
        match lacking(&self.report.carries, rule) {
            _ if !in_span => Applies::No,
            Some(need) if need.is_foreign(self.facts.over_stdio()) => Applies::No,
            Some(need) => Applies::Unsure(Some(need)),
            None => Applies::Yes,
        }
    }
}

enum Applies {
    Yes,
    No,
    /// What is missing for the rule to be judged: this, or the revision.
    Unsure(Option<Need>),
}
