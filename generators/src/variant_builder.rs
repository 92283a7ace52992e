//! A variant in the making: mutators one after the other, and then the files.
//!
//! In which order the levels work, what follows of several relations, and in which formats each mutator took hold.

use crate::format_tree::{FormatTree, MARKER};
use crate::mutator::{Apply, Mutator};
use crate::relation::{Reading, Relation};
use crate::rng::Rng;
use crate::session_builder::{AGREED, BATCHED, SessionBuilder};
use crate::variant::Variant;
use formats::Format;
use transcript::message::Refusal;
use transcript::rejection::Code;
use verdict::expectation::Expectation;
use verdict::meaning::Meaning;

/// A variant in the making.
#[derive(Debug)]
pub struct VariantBuilder {
    builder: SessionBuilder,
    relation: Relation,
    clauses: Vec<&'static str>,
    done: Vec<&'static Mutator>,
    later: Vec<(&'static Mutator, Rng)>,
}

impl VariantBuilder {
    /// Begins with a session.
    pub fn new(mut builder: SessionBuilder) -> Self {
        builder.bind_answers();
        let (relation, clauses) = builder.open_clauses();
        Self { builder, relation, clauses, done: Vec::new(), later: Vec::new() }
    }

    /// Adds a mutator. False where the outcome of the two together is not known, or where there is nothing in the
    /// session to change. Mutators come by level, and within a level those with a verdict of their own last.
    pub fn add(&mut self, mutator: &'static Mutator, rng: &Rng) -> bool {
        let Some(relation) = self.relation.then(mutator.relation) else { return false };
        let rng = rng.fork(mutator.name);
        match mutator.apply {
            Apply::Session(apply) => {
                let mut builder = self.builder.clone();
                if !apply(&mut builder, &mut rng.clone()) {
                    return false;
                }
                builder.bind_answers();
                self.builder = builder;
                self.done.push(mutator);
            }
            Apply::Spelling(_) | Apply::Bytes(_) => self.later.push((mutator, rng)),
        }
        self.relation = relation;
        for &clause in mutator.clauses {
            if !self.clauses.contains(&clause) {
                self.clauses.push(clause);
            }
        }
        true
    }

    /// Writes the variant. None where a mutator with a verdict took hold in no format.
    ///
    /// # Errors
    /// Where a message is none any more. That would be a mutator's mistake.
    pub fn finish(self) -> Result<Option<Variant>, Refusal> {
        let session = self.builder.session()?;
        let mut files = Vec::new();
        let mut holds: Vec<Vec<&'static str>> = vec![Vec::new(); self.later.len()];
        let (mut redacted, mut struck) = (None, None);
        for format in formats::written() {
            if let Some(clause) = self.builder.uncarried_clause(format) {
                files.push((format, Err(clause.to_owned())));
                continue;
            }
            if self.relation == Relation::Rejects(Code::DuplicateCallId)
                && format.carries.exchanges
                && self.builder.turns_away()
            {
                files.push((
                    format,
                    Err("COR-DUPLICATE: HTTP may have turned the first call away".to_owned()),
                ));
                continue;
            }
            if matches!(self.relation, Relation::Open(_))
                && self.clauses.contains(&"ENV-NULL")
                && !format.is_envelope()
            {
                files.push((format, Err("ENV-NULL: only an envelope leaves it open".to_owned())));
                continue;
            }
            let mut bytes = Vec::new();
            // Memory takes every write.
            let _ = format.write(&session, &mut bytes);
            let (took, strikes) = self.respell(format, session.messages().count(), &mut bytes, &mut redacted);
            let lacking = self
                .later
                .iter()
                .zip(&took)
                .find(|((mutator, _), took)| mutator.relation.is_verdict() && !**took);
            if let Some(((mutator, _), _)) = lacking {
                files.push((format, Err(format!("{} finds nothing to change in this format", mutator.name))));
                continue;
            }
            let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
            if format.is_lines() && text.trim_ascii().is_empty() {
                files.push((format, Err("JRP-LINE: whether an empty file is a session is open".to_owned())));
                continue;
            }
            // A free choice is the same choice only where it is about the same message.
            if self.relation == Relation::Open(Reading::Free)
                && *struck.get_or_insert_with(|| strikes.clone()) != strikes
            {
                files.push((format, Err("another message would be changed in this format".to_owned())));
                continue;
            }
            for (formats, took) in holds.iter_mut().zip(&took) {
                if *took {
                    formats.push(format.name);
                }
            }
            files.push((format, Ok(bytes)));
        }
        let written = files.iter().filter(|(_, file)| file.is_ok()).count();
        if written == 0 {
            return Ok(None);
        }
        let mut trail: Vec<String> = self.done.iter().map(|mutator| mutator.name.to_owned()).collect();
        for ((mutator, _), formats) in self.later.iter().zip(&holds) {
            match formats.len() {
                0 => {}
                all if all == written => trail.push(mutator.name.to_owned()),
                _ => trail.push(format!("{} ({})", mutator.name, formats.join(", "))),
            }
        }
        let expectation = match self.relation {
            Relation::Same | Relation::Changes => {
                Expectation::Meaning(Meaning::written(self.builder.meaning()))
            }
            Relation::Rejects(code) => Expectation::Rejection(code),
            Relation::Open(Reading::Known) => {
                Expectation::Either(Some(Meaning::written(self.builder.meaning())))
            }
            Relation::Open(Reading::Free) => Expectation::Either(None),
        };
        let dialects = self.builder.in_dialects(self.relation);
        let (relation, clauses) = (self.relation, self.clauses);
        Ok(Some(Variant { trail, clauses, relation, expectation, dialects, redacted, files }))
    }

    /// Applies the mutators of spelling and of bytes; which of them took hold, and which messages those struck that leave a choice. Those of spelling pass over a format
    /// whose messages the tree does not find.
    fn respell(
        &self,
        format: &'static Format,
        messages: usize,
        bytes: &mut Vec<u8>,
        redacted: &mut Option<&'static str>,
    ) -> (Vec<bool>, Vec<usize>) {
        let (mut tree, mut took, mut struck) = (None, Vec::new(), Vec::new());
        let parsed = |bytes: &[u8]| FormatTree::new(format, bytes).and_then(|tree| tree.showing(messages));
        for (mutator, rng) in &self.later {
            if let Apply::Spelling(apply) = mutator.apply {
                tree = tree.or_else(|| parsed(bytes));
                took.push(tree.as_mut().is_some_and(|tree| {
                    tree.struck.clear();
                    apply(tree, &mut rng.clone())
                }));
                if mutator.relation == Relation::Open(Reading::Free) {
                    struck = tree.as_ref().map(|tree: &FormatTree| tree.struck.clone()).unwrap_or_default();
                }
            }
        }
        let mut changed = took.contains(&true);
        if self.builder.batches {
            tree = tree.or_else(|| parsed(bytes));
            changed |= tree.as_mut().is_some_and(|tree| tree.batch_up(BATCHED, AGREED));
        }
        if let Some(tree) = tree.filter(|_| changed) {
            *bytes = tree.bytes();
            *redacted = redacted.or(tree.redacted.then_some(MARKER));
        }
        for (mutator, rng) in &self.later {
            if let Apply::Bytes(apply) = mutator.apply {
                took.push(apply(format, bytes, &mut rng.clone()));
            }
        }
        (took, struck)
    }
}
