//! Which number the marker of each value has, and how often each rule took something out.
//!
//! Memory: a digest of each value that was taken out, of the first [`MARKS`]. The number of any other follows from its digest,
//! whose key is another in each run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Read};
use std::sync::LazyLock;

/// What replaces what was taken out.
pub const MARKER: &str = "[REDACTED]";

/// The most values that have their numbers in order.
const MARKS: usize = 10_000;

/// The numbers of other values are larger than this.
const BEHIND: u64 = 1_000_000_000_000;

/// Other keys in each run, so that nobody can make two values that have one digest, or guess a value by its digest.
static KEYS: LazyLock<[RandomState; 2]> = LazyLock::new(Default::default);

/// How much of a text is searched for markers at a time.
const WINDOW: usize = 1 << 20;

/// No marker is longer, with the largest number.
pub(super) const LONGEST: usize = MARKER.len() + 1 + 20;

/// Why something is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rule {
    /// The name of this number.
    Name(usize),
    /// The pattern of this number.
    Text(usize),
    /// It is the user and password of a URL.
    Password,
    /// It is encoded, and holds something that is taken out.
    Encoded,
    /// It cannot be looked into.
    Unknown,
}

/// What was taken out so far.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    numbers: HashMap<[u64; 2], u64>,
    last: u64,
    taken: BTreeMap<Rule, (u64, BTreeSet<u64>)>,
    /// Values to be looked for wherever else they are, if those are asked for.
    pub(super) learned: Option<BTreeSet<String>>,
    learned_bytes: usize,
    /// Those for which there was no room.
    pub(super) unlearned: BTreeSet<u64>,
}

/// The most bytes of values that are looked for elsewhere, and how long each is. Shorter ones are words as well.
const MOST_LEARNED: usize = 64 << 10;
const LEARNED: std::ops::RangeInclusive<usize> = 8..=4096;

impl Ledger {
    /// Numbers go on behind those of the markers that a text has.
    pub(super) fn behind(reader: &mut dyn Read) -> io::Result<Self> {
        let (mut last, mut window, mut kept) = (0, vec![0; WINDOW], 0);
        loop {
            let read = match reader.read(&mut window[kept..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            let text = &window[..kept + read];
            let numbers = memchr::memmem::find_iter(text, MARKER)
                .filter_map(|at| number(&text[at..]).filter(|it| *it < BEHIND));
            last = numbers.max().unwrap_or_default().max(last);
            if read == 0 {
                return Ok(Self { last, ..Self::default() });
            }
            // A marker may go on behind the window.
            let end = text.len();
            kept = end.min(LONGEST);
            window.copy_within(end - kept..end, 0);
        }
    }

    /// One that learns.
    pub(super) fn learning() -> Self {
        Self { learned: Some(BTreeSet::new()), ..Self::default() }
    }

    /// Keeps the secret of a value that goes by its name, unless a text may have it by chance: `Bearer` is not part of it.
    pub(super) fn learn(&mut self, value: &[u8]) {
        let Some(learned) = &mut self.learned else { return };
        let words: Vec<&str> = std::str::from_utf8(value).unwrap_or_default().split_whitespace().collect();
        let ([_, secret] | [secret]) = words[..] else { return };
        let has = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
        let varied = has(u8::is_ascii_digit) || has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
        let odd = varied || secret.len() >= 2 * LEARNED.start();
        if !odd || !LEARNED.contains(&secret.len()) || secret.contains(MARKER) || learned.contains(secret) {
            return;
        }
        if self.learned_bytes + secret.len() > MOST_LEARNED {
            self.unlearned.insert(KEYS[0].hash_one(secret));
            return;
        }
        self.learned_bytes += secret.len();
        learned.insert(secret.to_owned());
    }

    /// The marker of this value. One that is a marker itself stays.
    pub(super) fn mark(&mut self, rule: Rule, value: &[u8]) -> Vec<u8> {
        if self.learned.is_some() || marker_length(value) == Some(value.len()) {
            return value.to_vec();
        }
        let digest = KEYS.each_ref().map(|key| key.hash_one(value));
        let number = match self.numbers.get(&digest) {
            Some(number) => *number,
            None if self.numbers.len() < MARKS => {
                self.last = self.last.saturating_add(1);
                self.numbers.insert(digest, self.last);
                self.last
            }
            None => far(digest[0]),
        };
        let (times, values) = self.taken.entry(rule).or_default();
        *times += 1;
        if values.len() < MARKS {
            values.insert(number);
        }
        format!("{MARKER}-{number}").into_bytes()
    }

    /// Each rule that took something out, how often, and how many values.
    pub(super) fn taken(&self) -> impl Iterator<Item = (Rule, u64, u64)> {
        self.taken.iter().map(|(rule, (times, values))| (*rule, *times, values.len() as u64))
    }
}

/// A number that follows from a digest, and is none of those that are given in order.
fn far(digest: u64) -> u64 {
    BEHIND + digest % BEHIND
}

/// A marker of this value in a text whose markers are not numbered. One that is a marker itself stays.
pub(super) fn unnumbered_mark(value: &[u8]) -> Vec<u8> {
    match marker_length(value) {
        Some(length) if length == value.len() => value.to_vec(),
        _ => format!("{MARKER}-{}", far(KEYS[0].hash_one(value))).into_bytes(),
    }
}

/// The number behind the marker at the beginning of a text.
fn number(text: &[u8]) -> Option<u64> {
    let number = text.get(MARKER.len() + 1..marker_length(text)?)?;
    std::str::from_utf8(number).ok()?.parse().ok()
}

/// How long the marker is at the beginning of a text, with its number.
pub(super) fn marker_length(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(MARKER.as_bytes())?;
    let digits = rest
        .strip_prefix(b"-")
        .map_or(0, |rest| rest.iter().take_while(|byte| byte.is_ascii_digit()).count());
    Some(MARKER.len() + if digits > 0 { digits + 1 } else { 0 })
}
