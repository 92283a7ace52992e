//! Two recordings compared: each is read into events, and what differs is rendered.
//!
//! [`Side`] reads one recording; the events of two are compared by [`transcript::align::compare`], which reports to [`Json`]
//! or to the caller that prints a text. `diff.schema.json` beside this folder says what is in the JSON, where events and values are
//! the text of the recordings: numbers stay as they are spelled there. Memory: the text of the differences that are shown.

use formats::{Format, Input, OrderGuess, ReadError, ReadOptions, apart, parted};
use std::collections::{BTreeMap, HashSet};
use std::io::{self, Write};
use transcript::align::{Counts, Mismatch, OwnedEvent};
use transcript::contract::Contract;
use transcript::json::quoted;
use transcript::k2a::AuthorizationSummary;
use transcript::meaning::EventKind;
use transcript::refused::{self, RefusalFilter};
use transcript::session::{Entry, SinkError};
use verdict::plain::{counted, cut, plain};

/// A comparison on its way to JSON.
#[derive(Debug)]
pub struct Json {
    shown: u64,
    differences: Vec<String>,
    hidden: u64,
    kinds: Kinds,
}

impl Json {
    /// Nothing was compared so far. At most `shown` differences are listed; all are counted.
    pub fn new(shown: u64) -> Self {
        Self { shown, differences: Vec::new(), hidden: 0, kinds: Kinds::default() }
    }

    /// Takes the next difference.
    pub fn mismatch(&mut self, mismatch: &Mismatch<'_>) {
        self.kinds.count(mismatch);
        if self.differences.len() as u64 >= self.shown {
            self.hidden += 1;
            return;
        }
        let mut also = String::new();
        let (pointer, a, b) = match mismatch {
            Mismatch::Differs(a, b, found, others) => {
                let others: Vec<String> = others.iter().map(|other| quoted(other)).collect();
                if !others.is_empty() {
                    also = format!(r#""also": [{}], "#, others.join(", "));
                }
                (quoted(&found.pointer), event(a, found.left.as_deref()), event(b, found.right.as_deref()))
            }
            Mismatch::OnlyLeft(a) => (null(), event(a, None), null()),
            Mismatch::OnlyRight(b) => (null(), null(), event(b, None)),
        };
        self.differences.push(format!(r#"{{"pointer": {pointer}, {also}"a": {a}, "b": {b}}}"#));
    }

    /// The whole, with a newline. `names` are what the recordings are called.
    pub fn finish(self, counts: &Counts, sides: [&Side; 2], names: [&str; 2]) -> String {
        let recordings = sides.into_iter().zip(names).map(|(side, name)| {
            format!(r#"{{"name": {}, "format": {}}}"#, quoted(name), quoted(side.format.name))
        });
        let kinds = self.kinds.sorted().into_iter().map(|(kind, [differ, only_a, only_b])| {
            let kind = quoted(kind);
            format!(r#"{{"kind": {kind}, "differ": {differ}, "only_a": {only_a}, "only_b": {only_b}}}"#)
        });
        let members = [
            ("same", counts.same().to_string()),
            ("recordings", list(recordings)),
            ("equal", counts.equal.to_string()),
            ("differ", counts.differing.to_string()),
            ("only_a", counts.only_left.to_string()),
            ("only_b", counts.only_right.to_string()),
            ("redacted", counts.redacted.to_string()),
            ("ignored", counts.ignored.to_string()),
            ("kinds", list(kinds)),
            ("differences", list(self.differences.into_iter())),
            ("hidden", self.hidden.to_string()),
        ];
        let lines: Vec<String> =
            members.iter().map(|(name, value)| format!("  \"{name}\": {value}")).collect();
        format!("{{\n{}\n}}\n", lines.join(",\n"))
    }
}

/// An event with its place, and its value at the place of the difference, if there is one.
fn event(event: &OwnedEvent, value: Option<&str>) -> String {
    let value = value.map_or_else(String::new, |value| format!(r#", "value": {value}"#));
    format!(
        r#"{{"index": {}, "line": {}, "pointer": {}, "event": {}{value}}}"#,
        event.index,
        event.location.line,
        quoted(&event.location.pointer()),
        event.to_json()
    )
}

fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("\n    {item}")).collect();
    if items.is_empty() { "[]".to_owned() } else { format!("[{}\n  ]", items.join(",")) }
}

fn null() -> String {
    "null".to_owned()
}

/// How many kinds are counted apart, and how many of them shown.
const KINDS: usize = 1000;
const SHOWN: usize = 20;

/// How many events of each kind differ, are only in A, and are only in B.
#[derive(Debug, Default)]
pub struct Kinds(BTreeMap<String, [u64; 3]>);

impl Kinds {
    /// Counts one more event.
    pub fn count(&mut self, mismatch: &Mismatch<'_>) {
        let (event, column) = match mismatch {
            Mismatch::Differs(left, ..) => (left, 0),
            Mismatch::OnlyLeft(left) => (left, 1),
            Mismatch::OnlyRight(right) => (right, 2),
        };
        let mut kind = kind(event);
        if self.0.len() >= KINDS && !self.0.contains_key(&kind) {
            kind = "other".to_owned();
        }
        self.0.entry(kind).or_default()[column] += 1;
    }

    /// The kinds with their counts, the most frequent one first.
    pub fn sorted(&self) -> Vec<(&str, [u64; 3])> {
        let mut kinds: Vec<_> = self.0.iter().map(|(kind, counts)| (kind.as_str(), *counts)).collect();
        kinds.sort_by_key(|(_, counts)| std::cmp::Reverse(counts.iter().sum::<u64>()));
        kinds
    }

    /// A line for each kind, the most frequent one first.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let kinds = self.sorted();
        for (kind, counts) in kinds.iter().take(SHOWN) {
            let words = ["differ", "only in A", "only in B"];
            let counts = counts.iter().zip(words).filter(|(count, _)| **count > 0);
            let counts: Vec<String> = counts.map(|(count, words)| format!("{count} {words}")).collect();
            writeln!(out, "  {}: {}", plain(kind), counts.join(", "))?;
        }
        match kinds.len().checked_sub(SHOWN) {
            Some(more @ 1..) => writeln!(out, "  {more} more kinds"),
            _ => Ok(()),
        }
    }
}

/// The kind of an event, with the method or the tool that it names.
fn kind(event: &OwnedEvent) -> String {
    let message = event.message();
    let name = match event.kind {
        EventKind::ToolCall => message.name().and_then(|name| name.as_text()),
        _ => message.method(),
    };
    let name = name.map(|name| cut(&String::from_utf8_lossy(&name.decode()), 60));
    [Some(event.kind.name().to_owned()), name].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

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
