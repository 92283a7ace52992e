//! What a recorder says of its own losses: records that it numbers and that are not there, messages that it cut, lines that a
//! trace says were lost, and bodies that an exporter left out.
//!
//! What follows from a loss is the recorder's: behind one, no rule blames a party for what may have been in it
//! ([`why_not_whole`](super::facts::why_not_whole), and [`Rule::relational`](crate::rule::Rule::relational) in the report).
//! Memory: [`MOST_KEPT`] losses; later ones are only counted.

use super::location::FindingLocation;
use std::fmt;
use transcript::json::{Json, JsonKind};
use transcript::session::{Content, Entry};

/// The most losses that are kept with their places.
const MOST_KEPT: usize = 100;

/// The words with which a recorder says that it cut a message are shorter, in bytes, from `truncated` on.
const LONGEST_MARK: usize = 40;

/// What is missing before a record: its place, and the numbers from and to.
type Gap = (FindingLocation, u64, u64);

/// What is lost.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Loss {
    /// In a sentence without its full stop.
    Said(&'static str),
    /// Records with the numbers from and to.
    Records(u64, u64),
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said(what) => return formatter.write_str(what),
            Self::Records(from, to) if from == to => write!(formatter, "record {from} is")?,
            Self::Records(from, to) => write!(formatter, "records {from} to {to} are")?,
        }
        formatter.write_str(" missing before this one, by the numbers in `seq`")
    }
}

/// Losses so far.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    /// Where each was seen, and what was lost.
    pub(crate) kept: Vec<(FindingLocation, Loss)>,
    /// The number of the last record that has one.
    last: Option<u64>,
    /// Two records followed on each other, so that the recorder counts by one.
    steady: bool,
    /// A number came again, so that there are several counts.
    repeats: bool,
    /// A gap that was seen before that.
    unsure: Option<Gap>,
}

impl Losses {
    /// Takes in an entry with its line: whether something before it is lost, and whether the entry itself is only a part of
    /// what was sent.
    pub(super) fn see(&mut self, entry: &Entry<'_>) -> (bool, bool) {
        let none = (false, false);
        let Some(line) = entry.line.filter(|_| !matches!(entry.content, Content::Envelope)) else {
            return none;
        };
        if says_that_it_is_cut(entry) {
            self.keep(entry, "this message was cut, as its end says, so it is not judged");
            return (false, true);
        }
        // Every line of a trace comes by here, and few have either.
        if !line.contains("\"seq\"") && !line.contains("\"truncated\"") {
            return none;
        }
        let Ok(line) = Json::parse(line) else { return none };
        let gap = line.member("seq").filter(|seq| seq.kind() == JsonKind::Number);
        let gap =
            gap.and_then(|seq| seq.text().parse().ok()).and_then(|number| self.gap_before(number, entry));
        let cut = line.member("truncated").is_some_and(|cut| cut.text() == "true");
        let is_gap = gap.is_some();
        if let Some((location, from, to)) = gap.filter(|_| self.kept.len() < MOST_KEPT) {
            self.kept.push((location, Loss::Records(from, to)));
        }
        if cut {
            self.keep(entry, "the recorder cut this message (`truncated`), so it is not judged");
        }
        (is_gap, cut && matches!(entry.content, Content::Message(_) | Content::Noise(_)))
    }

    /// The numbers that are missing before this one, from and to. Recorders also number each direction for itself, start over,
    /// or count by more than one: only what is past every number so far is missing.
    fn gap_before(&mut self, number: u64, entry: &Entry<'_>) -> Option<Gap> {
        let last = self.last.replace(self.last.map_or(number, |last| last.max(number)))?;
        let next = last.checked_add(1)?;
        let place = || FindingLocation::new(&entry.location, entry.line.unwrap_or_default());
        let gap = (number > next).then(|| (place(), next, number - 1));
        if self.steady {
            if number < next && !self.repeats {
                self.find(number);
            }
            return gap;
        }
        self.steady = number == next;
        match gap {
            Some(gap) => self.unsure = self.unsure.take().or(Some(gap)),
            None if number == next => return self.unsure.take(),
            None => self.unsure = None,
        }
        None
    }

    /// A record stands behind later ones: it is not missing.
    fn find(&mut self, number: u64) {
        let holds = |loss: &Loss| matches!(loss, Loss::Records(from, to) if (*from..=*to).contains(&number));
        let at = self.kept.iter().position(|(_, loss)| holds(loss));
        self.repeats = at.is_none();
        let Some((location, Loss::Records(from, to))) = at.map(|at| self.kept.remove(at)) else { return };
        for (from, to) in [(from, number.saturating_sub(1)), (number.saturating_add(1), to)] {
            let here = from <= to && !(from..=to).contains(&number) && self.kept.len() < MOST_KEPT;
            self.kept.extend(here.then(|| (location.clone(), Loss::Records(from, to))));
        }
    }

    /// Whether the recorder numbers its records, so that a loss would show.
    pub(crate) fn numbered(&self) -> bool {
        self.steady
    }

    /// Takes note of a loss.
    pub(super) fn keep(&mut self, entry: &Entry<'_>, lost: &'static str) {
        if self.kept.len() < MOST_KEPT {
            self.kept.push((
                FindingLocation::new(&entry.location, entry.line.unwrap_or_default()),
                Loss::Said(lost),
            ));
        }
    }
}

/// Whether a message that its recorder keeps as text ends in the words of one who cut it, such as `[truncated 5000 bytes]`.
fn says_that_it_is_cut(entry: &Entry<'_>) -> bool {
    let Content::Noise(noise) = &entry.content else { return false };
    let text = noise.text.trim_end_matches('"');
    let begins = text.starts_with("\"{") && text.contains(r#"\"jsonrpc\""#);
    let said = text.rfind("truncated").is_some_and(|at| text.len() - at < LONGEST_MARK);
    begins && (said || text.ends_with("...") || text.ends_with('…'))
}
