//! What the reader rejects, `check` has a finding about, and what `check` has none about, the reader reads: over every
//! transcript of the suite and over generated variants. `scripts/relations.sh` asks the same about many more.

use super::{SUITE, judged_as};
use formats::{Format, Input, ReadError, ReadOptions, walk};
use rules::{CheckOptions, CheckResult};
use std::fmt::Write as _;
use transcript::rejection::Position;

/// How many variants are tried.
const VARIANTS: u64 = 400;

pub(super) fn over_cases() {
    let mut tried = Tried::default();
    for case in SUITE.cases.iter().chain(&SUITE.judged) {
        for transcript in &case.transcripts {
            tried.add(&case.name, transcript.format, &transcript.blob.bytes().unwrap());
        }
    }
    tried.assert(600);
}

pub(super) fn over_variants() {
    let mut tried = Tried::default();
    for (number, variant) in generators::seeded::cases(0, VARIANTS) {
        for (format, file) in &variant.files {
            let Ok(bytes) = file else { continue };
            tried.add(&format!("variant {number} ({})", variant.trail.join(", ")), format, bytes);
        }
    }
    tried.assert(100);
}

#[derive(Default)]
struct Tried {
    rejected: usize,
    silent: String,
}

impl Tried {
    fn add(&mut self, name: &str, format: &'static Format, bytes: &[u8]) {
        let mut reader = bytes;
        let Ok(mut input) = Input::new(&mut reader) else { return };
        let Err(why) = walk(format, &mut input, ReadOptions::default(), &mut |_| Ok(())) else { return };
        self.rejected += 1;
        let judged = judged_as(format, bytes, &CheckOptions::default()).unwrap();
        let ReadError::Rejected(why) = why else { panic!("{name}: {why}") };
        if !finds(&judged, &why.position) {
            let _ = writeln!(self.silent, "{name} as {}: {why}", format.name);
        }
    }

    /// Nothing was rejected in silence, and enough was rejected at all for that to mean something.
    fn assert(&self, least: usize) {
        assert!(self.silent.is_empty(), "rejected, and `check` finds nothing:\n{}", self.silent);
        assert!(self.rejected >= least, "only {} transcripts were rejected", self.rejected);
    }
}

/// A finding about something else does not excuse silence, so it must be about the line or the item that the reader stopped
/// at.
fn finds(judged: &CheckResult, place: &Position) -> bool {
    let item = |pointer: &str| pointer.splitn(5, '/').take(4).collect::<Vec<_>>().join("/");
    let mut findings = judged.outcomes.iter().flat_map(|outcome| &outcome.findings);
    findings.any(|finding| {
        let at = &finding.location;
        at.line == place.line
            || !at.pointer.is_empty() && item(&at.pointer).starts_with(&item(&place.pointer))
    })
}
