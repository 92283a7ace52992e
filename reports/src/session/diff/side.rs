//! One of two recordings that are compared: its events, and what else is known when it has been read to its end.

use crate::plain::counted;
use formats::{Format, Input, OrderGuess, ReadError, ReadOptions, apart, parted};
use std::collections::{BTreeMap, HashSet};
use transcript::align::{Counts, OwnedEvent};
use transcript::contract::Contract;
use transcript::k2a::AuthorizationSummary;
use transcript::refused::{self, RefusalFilter};
use transcript::session::{Entry, SinkError};

/// What is left out of a session before it is compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct SideOptions {
    /// Requests that were turned away.
    pub ignore_refusals: bool,
    /// An SSE event that was delivered again.
    pub fold_redelivered: bool,
}

/// What is known of one side when it has been read to its end.
#[derive(Debug)]
pub struct Side {
    /// Its capture format.
    pub format: &'static Format,
    challenge: Option<AuthorizationSummary>,
    /// What a stream said amid later exchanges is placed by guess.
    guessed: bool,
    /// How many requests were left out because they were turned away; none where that was not asked for.
    left_out: Option<u64>,
    /// How often HTTP refused, by status.
    refused: BTreeMap<u16, u64>,
}

impl Side {
    /// Reads a recording and hands on its events. Memory: what the format's reader holds, and with `fold_redelivered` the ids of
    /// the SSE events.
    ///
    /// # Errors
    /// Where the input cannot be read or is rejected, and where `take` wants no more.
    pub fn read(
        format: &'static Format,
        input: &mut Input<'_>,
        options: SideOptions,
        take: &mut dyn FnMut(OwnedEvent) -> Result<(), SinkError>,
    ) -> Result<Self, ReadError> {
        let (mut contract, reading) = (Contract::default(), ReadOptions::default());
        let mut guess = OrderGuess::default();
        let mut delivered: HashSet<String> = HashSet::new();
        let mut event = |entry: &Entry<'_>| {
            let id = entry.sse.as_ref().and_then(|sse| sse.id.as_deref());
            if let (true, Some(id)) = (options.fold_redelivered, id)
                && !delivered.insert(id.to_owned())
            {
                return Ok(());
            }
            apart(entry, contract.revision(entry), reading, &mut |entry| match contract
                .take(entry)
                .map_err(|why| parted(format, &contract, why))?
            {
                Some(event) => take(OwnedEvent::new(&event)),
                None => Ok(()),
            })
        };
        let mut refused: BTreeMap<u16, u64> = BTreeMap::new();
        let mut filter = options.ignore_refusals.then(RefusalFilter::default);
        format.entries(input, reading, &mut |entry| {
            guess.see(&entry);
            if let Some(status) = refused::status(&entry).filter(|status| refused::is_refusal(Some(*status)))
            {
                *refused.entry(status).or_default() += 1;
            }
            match &mut filter {
                Some(filter) => filter.take(&entry, &mut event),
                None => event(&entry),
            }
        })?;
        let left_out =
            filter.map(|filter| filter.finish(&mut event)).transpose().map_err(|error| match error {
                SinkError::Rejected(refusal) => input.refuse(refusal, 0, ""),
                SinkError::Stop => ReadError::Stopped,
            })?;
        Ok(Self {
            format,
            challenge: contract.authorization_discovery(),
            guessed: guess.is_one(),
            left_out,
            refused,
        })
    }

    /// What is to be said of requests that were turned away.
    fn refusals(&self, same: bool) -> Option<String> {
        let listed = |(status, count): (&u16, &u64)| format!("{count} with {status}");
        match self.left_out {
            Some(0) => None,
            Some(count) => Some(format!("{} left out as refused", counted(count, "request"))),
            None if same || self.refused.is_empty() => None,
            None => {
                let count = counted(self.refused.values().sum::<u64>(), "request");
                let statuses: Vec<String> = self.refused.iter().map(listed).collect();
                Some(format!(
                    "HTTP refused {count} ({}); --ignore-refusals leaves out what it refused",
                    statuses.join(", ")
                ))
            }
        }
    }
}

/// What a person should know of a comparison of two sides with these names, in sentences without their full stop.
#[must_use]
pub fn notes([left, right]: [&Side; 2], names: [&str; 2], counts: &Counts) -> Vec<String> {
    let mut formats = vec![left.format];
    formats.extend((right.format.name != left.format.name).then_some(right.format));
    let caveats = formats.into_iter().filter(|format| !format.caveat.is_empty());
    let mut notes: Vec<String> =
        caveats.map(|format| format!("{}: {}", format.name, format.caveat)).collect();
    if left.format.carries.challenge && right.format.carries.challenge && left.challenge != right.challenge {
        let [a, b] = [left.challenge, right.challenge]
            .map(|summary| summary.map_or("null".to_owned(), AuthorizationSummary::to_json));
        let words = "the challenge summaries differ (K2A-SUMMARY), which does not count as a difference";
        notes.push(format!("{words}: A {a}, B {b}"));
    }
    let differing = counts.differing + counts.only_left + counts.only_right;
    if differing > 0 {
        let hints = [
            (counts.only_ids, "only ids differ; --ids renumbered accepts ids that are renamed one to one"),
            (counts.only_senders, "only senders differ; --ignore-senders leaves them out"),
        ];
        notes.extend(hints.iter().filter(|hint| hint.0 == differing).map(|hint| hint.1.to_owned()));
    }
    let sides = || [left, right].into_iter().zip(names);
    notes.extend(
        sides()
            .filter(|(side, _)| side.guessed)
            .map(|(side, name)| format!("{name}: {}: {}", side.format.name, OrderGuess::CAVEAT)),
    );
    notes.extend(
        sides().filter_map(|(side, name)| Some(format!("{name}: {}", side.refusals(counts.same())?))),
    );
    notes
}
