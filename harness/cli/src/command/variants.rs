//! Generated variants as cases: each variant's case directory, and how many of them there are of which kind.

use crate::case_draft::{CaseDraft, CaseHeader, twin as twin_of};
use generators::relation::Relation;
use generators::seeded::{Source, valid_counterpart, variant};
use generators::variant::Variant;
use mcp_concord_suite::GeneratedCase;
use std::collections::BTreeMap;
use verdict::plain::counted;

/// The cases of `count` variants of a seed, by name, each with its files: what `run --generate` runs.
pub(super) fn suite(seed: u64, count: u64) -> Vec<GeneratedCase> {
    let maker = Maker::new(seed);
    (0..count).flat_map(|number| maker.cases(number, None, &mut Tally::default())).collect()
}

/// Makes cases of variants.
pub(super) struct Maker<'g> {
    pub(super) seed: u64,
    /// The session that is changed.
    pub(super) source: Source<'g>,
    /// A phrase that says where the session's meaning is from.
    pub(super) origin: &'g str,
}

/// Where the meaning of a session is from that was made from a seed.
pub(super) const CONSTRUCTED: &str = "of a session whose meaning is known by construction";

impl Maker<'_> {
    /// Makes variants of sessions that are made from the seed.
    pub(super) fn new(seed: u64) -> Self {
        Self { seed, source: Source::Made, origin: CONSTRUCTED }
    }

    /// The case of one variant, with its twin where it must be rejected. Nothing where no variant has this number.
    pub(super) fn cases(&self, number: u64, name: Option<&str>, tally: &mut Tally) -> Vec<GeneratedCase> {
        let made = variant(self.seed, number, self.source);
        let twin = valid_counterpart(self.seed, number, self.source);
        let Some(made) = made.filter(|it| twin.is_some() || !matches!(it.relation, Relation::Rejects(_)))
        else {
            tally.none += 1;
            return Vec::new();
        };
        tally.add(&made);
        let name = name.map_or_else(|| format!("variant-{number:06}"), str::to_owned);
        let twin_name = twin_of(&name);
        let mut cases = vec![self.case(made, number, &name, "")];
        if let Some(twin) = twin {
            tally.twins += 1;
            cases.push(self.case(twin, number, &twin_name, " without its fault"));
        }
        cases
    }

    fn case(&self, variant: Variant, number: u64, name: &str, without: &str) -> GeneratedCase {
        let Self { seed, origin, .. } = self;
        let draft = CaseDraft::from(variant);
        let trail = draft.trail();
        let reason = match draft.sentences() {
            none if none.is_empty() => "The session as it is, in every format that can carry it.".to_owned(),
            sentences => sentences,
        };
        let version = env!("CARGO_PKG_VERSION");
        draft.case(&CaseHeader {
            name,
            title: &format!("Variant {number} of seed {seed}{without}: {trail}"),
            reason: &reason,
            origin: &format!(
                "generated: seed {seed}, number {number}, version {version}, trail: {trail}; {origin}"
            ),
        })
    }
}

/// How many variants were made, and of which kinds.
#[derive(Default)]
pub(super) struct Tally {
    pub(super) variants: u64,
    twins: u64,
    none: u64,
    relations: BTreeMap<&'static str, u64>,
    /// By format and by why it cannot carry a variant.
    left_out: BTreeMap<(&'static str, String), u64>,
}

impl Tally {
    fn add(&mut self, variant: &Variant) {
        self.variants += 1;
        *self.relations.entry(variant.relation.name()).or_default() += 1;
        for (format, file) in &variant.files {
            if let Err(why) = file {
                // The case says which mutator it was; here one count is enough.
                let clause = if why.contains(' ') { "nothing to change".to_owned() } else { why.clone() };
                *self.left_out.entry((format.name, clause)).or_default() += 1;
            }
        }
    }

    /// The count of variants, in words.
    pub(super) fn in_words(&self) -> String {
        let relations: Vec<_> =
            self.relations.iter().map(|(name, count)| format!("{count} {name}")).collect();
        let twins = if self.twins == 0 {
            String::new()
        } else {
            format!(" and {}", counted(self.twins, "valid counterpart"))
        };
        format!("{}{twins} ({})", counted(self.variants, "variant"), relations.join(", "))
    }

    /// What could not be made, a sentence each.
    pub(super) fn left_out(&self) -> Vec<String> {
        let mut lines: Vec<_> = self
            .left_out
            .iter()
            .map(|((format, why), count)| format!("{format} left out for {count} of them: {why}"))
            .collect();
        if self.none > 0 {
            lines
                .push(format!("{} numbers made no variant: the session has too little to change", self.none));
        }
        lines
    }
}
