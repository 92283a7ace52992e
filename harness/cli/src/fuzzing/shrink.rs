//! From a variant that fails to a small one that fails in the same way.
//!
//! It ends after 1,000 attempts or 20 seconds, whichever comes first; an attempt asks about a variant in the failing format, or
//! in all of them where formats are compared. A smaller variant is expected to mean what its construction says, never what the
//! importer made of it. Where no importer has an answer (a crash, a hang, garbage, another answer each time) the text itself may
//! be cut, since such a failure is one whatever the text means; so may a text that must be rejected, as long as the built-in
//! reader rejects it with the same code. That is tried only where the rest is still large, and kept only if it halves the text:
//! a whole session in every format shows more once the crash is fixed.

use super::probe::{Observation, Probe};
use super::signature::Signature;
use crate::case_draft::CaseDraft;
use formats::{ReadError, ReadOptions};
use generators::shrink::{Outcome, Recipe, shrink as less, shrink_text};
use std::time::{Duration, Instant};
use verdict::expectation::Expectation;
use wire::interrupt;

const ATTEMPTS: u32 = 1_000;
const TIME: Duration = Duration::from_secs(20);

/// What is left is large with more messages, or more bytes.
const LARGE: (usize, usize) = (3, 2_000);

/// What was left.
#[derive(Debug, Clone)]
pub(crate) struct Shrunk {
    /// The small variant, in every format that carries it.
    pub draft: CaseDraft,
    /// The same without what has importers reject it, where it must be rejected.
    pub twin: Option<CaseDraft>,
    /// What it shows; the kind of failure it is about comes first.
    pub shown: Vec<Observation>,
    /// Whether the failure showed again when it was asked for again.
    pub steady: bool,
    /// How many messages there were before and after.
    pub messages: (usize, usize),
    /// How many attempts were made.
    pub attempts: u32,
}

impl Shrunk {
    /// The formats in which it shows the same kind of failure as this one, and this one.
    pub(crate) fn same(&self, signature: &Signature) -> impl Iterator<Item = &Signature> {
        let same = |other: &&Signature| other.kind == signature.kind && other.right == signature.right;
        self.shown.iter().map(|shown| &shown.signature).filter(same)
    }
}

struct Budget {
    attempts: u32,
    until: Instant,
}

impl Budget {
    fn is_over(&self) -> bool {
        self.attempts >= ATTEMPTS || Instant::now() >= self.until || interrupt::requested()
    }
}

/// Shrinks what a recipe makes. None where it makes nothing at all.
pub(super) fn shrink(recipe: Recipe, wanted: &Signature, probe: &Probe<'_>) -> Option<Shrunk> {
    let whole = CaseDraft::from(recipe.make()?);
    let mut budget = Budget { attempts: 0, until: Instant::now() + TIME };
    let mut last: Option<Observation> = None;
    let mut ask = |draft: &CaseDraft| {
        if budget.is_over() {
            return Outcome::Enough;
        }
        budget.attempts += 1;
        let shown = probe.ask(draft).ok().and_then(|answer| answer.find(wanted));
        match shown {
            _ if interrupt::requested() => Outcome::Enough,
            None => Outcome::Other,
            Some(shown) => {
                last = Some(shown);
                Outcome::Same
            }
        }
    };
    let before = recipe.messages();
    // Most failures show in one format; a disagreement between formats shows in several.
    let one_format = ask(&whole.only(wanted.format)) == Outcome::Same;
    let steady = one_format || ask(&whole) == Outcome::Same;
    let narrow = |draft: CaseDraft| if one_format { draft.only(wanted.format) } else { draft };
    let recipe = match steady {
        true => less(recipe, &mut |candidate| match candidate.make() {
            Some(variant) => ask(&narrow(CaseDraft::from(variant))),
            None => Outcome::Other,
        }),
        false => recipe,
    };
    let mut draft = CaseDraft::from(recipe.make()?);
    let twin =
        matches!(draft.expectation, Expectation::Rejection(_)).then(|| recipe.valid_counterpart()).flatten();
    let size = draft.bytes(wanted.format).map_or(0, <[u8]>::len);
    let cut = match steady && (recipe.messages() > LARGE.0 || size > LARGE.1) {
        true => cut(&draft, wanted, &mut ask),
        false => None,
    };
    let mut shown = match interrupt::requested() {
        true => Vec::new(),
        false => probe.ask(&draft).map(|answer| answer.shown).unwrap_or_default(),
    };
    // The one it is about comes first, as it showed last.
    let about = shown.iter().position(|shown| shown.signature == *wanted).map(|at| shown.remove(at));
    let about = if cut.is_some() { last } else { about.or(last) };
    shown.splice(0..0, about);
    draft = cut.unwrap_or(draft);
    if let Some(clause) = wanted.kind.clause().filter(|clause| !draft.clauses.contains(clause)) {
        draft.clauses.retain(|other| *other != "EQ-PAIR");
        draft.clauses.insert(0, clause);
    }
    let messages = (before, recipe.messages());
    Some(Shrunk {
        draft,
        twin: twin.map(CaseDraft::from),
        shown,
        steady,
        messages,
        attempts: budget.attempts,
    })
}

/// The draft with less text, where the text's meaning is not needed; none where it is, or where little is gained.
fn cut(
    draft: &CaseDraft,
    wanted: &Signature,
    ask: &mut dyn FnMut(&CaseDraft) -> Outcome,
) -> Option<CaseDraft> {
    let free = wanted.kind.is_broken();
    let code = match draft.expectation {
        Expectation::Rejection(code) => Some(code),
        _ => None,
    };
    if !(free || code.is_some()) || wanted.right.is_some() {
        return None;
    }
    let (format, bytes) = draft.files.iter().find(|(format, _)| format.name == wanted.format)?;
    let bytes = bytes.as_ref().ok()?;
    let expectation = if free { Expectation::Either(None) } else { draft.expectation.clone() };
    let with = |bytes: &[u8]| CaseDraft {
        expectation: expectation.clone(),
        files: vec![(*format, Ok(bytes.to_vec()))],
        ..draft.clone()
    };
    let refused = |bytes: &[u8]| match formats::meaning(format, &mut &*bytes, ReadOptions::default()) {
        Err(ReadError::Rejected(rejection)) => Some(rejection.code),
        _ => None,
    };
    let left = shrink_text(bytes.clone(), &mut |bytes| match free || refused(bytes) == code {
        true => ask(&with(bytes)),
        false => Outcome::Other,
    });
    (left.len() * 2 <= bytes.len()).then(|| with(&left))
}
