//! Whether a recording has what was sent: nothing less, nothing more, nothing else, in order and at its time.
//!
//! Two texts of the same value are the same message. The order of messages is judged within a stream, which is one
//! side's output, or the body of one HTTP response.

use super::pairing::{Pairing, RecordedMessage, SentMessage, rounded};
use super::{Defect, Finding, named, shown};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use transcript::contract::Contract;
use transcript::diff::{DiffOptions, first};
use transcript::json::{Json, JsonKind, Tree};
use transcript::message::Message;
use transcript::session::{Content, Entry, Location, Side};

/// What may be asked of the recording.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms {
    /// How much later than it was received a message may be stamped, in microseconds.
    pub(crate) patience: u64,
    /// Hold to the requests that they answer only responses of the same exchange: the format keeps whole exchanges, and
    /// only the order of exchanges. Otherwise it keeps the order of both sides.
    pub(crate) within_exchange: bool,
}

/// How far apart two clocks may be read, in microseconds.
const SLACK: u64 = 2_000;

/// How a recording differs from what was sent.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FidelityReport {
    /// What was found, the worst first.
    pub(crate) findings: Vec<Finding>,
    /// What could not be judged, since the format cannot say it, in a sentence.
    pub(crate) unsaid: Option<String>,
}

/// Judges a recording. `said` is in the order of sending.
pub(crate) fn judge(said: &[SentMessage], written: &[RecordedMessage], terms: Terms) -> FidelityReport {
    let work = Comparison { said, written, numbers: numbers(said), pairing: Pairing::new(said, written) };
    let mut findings = work.lost_and_merged();
    findings.extend(work.added());
    findings.extend(work.of_the_wrong_side());
    findings.extend(work.pairing.pairs().filter_map(|(from, to)| work.changed(from, to)));
    let unsaid = match work.bound(terms.within_exchange) {
        Ok(found) => {
            findings.extend(found);
            None
        }
        Err(why) => Some(why),
    };
    findings.extend(work.pairing.out_of_order(said).into_iter().map(|(from, to)| work.reordered(from, to)));
    findings.extend(work.stamped(terms.patience));
    findings.sort_by_key(|finding| finding.kind);
    FidelityReport { findings, unsaid }
}

/// The number of each message among those of its side.
fn numbers(said: &[SentMessage]) -> Vec<usize> {
    let mut counts: [usize; 2] = [0; 2];
    let number = |one: &SentMessage| {
        let count = &mut counts[usize::from(one.side == Side::Server)];
        *count += 1;
        *count - 1
    };
    said.iter().map(number).collect()
}

struct Comparison<'w> {
    said: &'w [SentMessage],
    written: &'w [RecordedMessage],
    numbers: Vec<usize>,
    pairing: Pairing,
}

/// A message that was sent, its stamp in the recording, and its counterpart there.
type Stamped = (usize, u64, usize);

impl Comparison<'_> {
    fn name(&self, said: usize) -> String {
        named(self.said[said].side, self.numbers[said])
    }

    fn finding(&self, kind: Defect, said: usize, says: String) -> Finding {
        let one = &self.said[said];
        Finding::new(kind, Some(one.side), self.numbers[said], says).sent(one.text.trim())
    }

    fn lost_and_merged(&self) -> Vec<Finding> {
        let lost = |at: &usize| {
            let one = &self.said[*at];
            self.pairing.written[*at].is_none() && one.due && is_due(&one.text)
        };
        let finding = |at: usize| {
            let text = self.said[at].text.trim();
            let holds = |one: &RecordedMessage| one.text.len() > text.len() && one.text.contains(text);
            let mut unpaired = self.written.iter().zip(&self.pairing.said).filter(|(_, said)| said.is_none());
            let name = self.name(at);
            match unpaired.find(|(one, _)| holds(one)) {
                Some((one, _)) => {
                    let says = format!("{name} is merged with others in line {} of the recording", one.line);
                    self.finding(Defect::Merged, at, says).came(one.text.trim()).on(one.line)
                }
                None => self.finding(Defect::Lost, at, format!("{name} is not in the recording")),
            }
        };
        (0..self.said.len()).filter(lost).map(finding).collect()
    }

    /// What the recording has on its own. Noise is not a message, and so none too many.
    fn added(&self) -> impl Iterator<Item = Finding> {
        let sent: HashSet<&str> = self.said.iter().map(|one| one.text.trim()).collect();
        let own = |(at, one): &(usize, &RecordedMessage)| self.pairing.said[*at].is_none() && !one.noise;
        self.written.iter().enumerate().filter(own).map(move |(at, one)| {
            let line = one.line;
            let says = match sent.contains(one.text.trim()) {
                true => format!("line {line} of the recording repeats a message that was not sent again"),
                false => format!("nobody sent the message on line {line} of the recording"),
            };
            Finding::new(Defect::Added, one.side, at, says).came(one.text.trim()).on(line)
        })
    }

    fn of_the_wrong_side(&self) -> impl Iterator<Item = Finding> {
        self.pairing.pairs().filter(|&(from, to)| self.is_turned(from, to)).map(|(from, to)| {
            let (one, line) = (&self.said[from], self.written[to].line);
            let (sender, other) = (one.side.name(), one.side.other().name());
            let says = format!("line {line} records the {sender}'s message as the {other}'s");
            self.finding(Defect::WrongSide, from, says).on(line)
        })
    }

    /// Whether the recording has a message as the other side's.
    fn is_turned(&self, from: usize, to: usize) -> bool {
        self.written[to].side.is_some_and(|side| side != self.said[from].side)
    }

    fn changed(&self, from: usize, to: usize) -> Option<Finding> {
        let (came, line, name) = (self.written[to].text.trim(), self.written[to].line, self.name(from));
        let left = Json::parse(self.said[from].text.trim()).ok()?;
        let Ok(right) = Json::parse(came) else {
            let says = format!("{name} is no longer JSON in line {line} of the recording");
            return Some(self.finding(Defect::Changed, from, says).came(came).on(line));
        };
        let difference = first(left, right, &DiffOptions::default()).difference?;
        let at = if difference.pointer.is_empty() { "its root" } else { &difference.pointer };
        let how = match (&difference.left, &difference.right) {
            (Some(left), Some(right)) if rounded(left, right) => ": a number was rounded to a double",
            _ if repeats(left) && !repeats(right) => ": a member that was sent twice is there only once",
            _ => "",
        };
        let says = format!("{name} differs at {at} in line {line} of the recording{how}");
        let finding = self.finding(Defect::Changed, from, says).on(line);
        Some(Finding { sent: difference.left, came: difference.right, ..finding })
    }

    fn reordered(&self, from: usize, to: usize) -> Finding {
        let line = self.written[to].line;
        let says = format!("{} is out of order, in line {line} of the recording", self.name(from));
        self.finding(Defect::Reordered, from, says).on(line)
    }

    fn stamped(&self, patience: u64) -> impl Iterator<Item = Finding> {
        let times: Vec<i64> = self.written.iter().filter_map(|one| one.time).collect();
        // A recording that counts in whole seconds is held to no more than that.
        let seconds = times.len() > 3 && times.iter().all(|time| time % 1_000 == 0);
        let unit: u64 = if seconds { 1_000_000 } else { 1_000 };
        let stamp = |to: usize| u64::try_from(self.written[to].time?).ok()?.checked_mul(1_000);
        // One that counts from its own beginning is held against its first message.
        let relative = times.iter().all(|time| *time < 1_000_000_000_000);
        let mut zero = self
            .pairing
            .pairs()
            .filter_map(|(from, to)| Some(self.said[from].begun.saturating_sub(stamp(to)?)));
        let shift = if relative { zero.next().unwrap_or_default() } else { 0 };
        let pairs = self.by_their_times(|to| Some(stamp(to)? + shift), unit + SLACK);
        pairs.into_iter().filter_map(move |(from, stamp, to)| {
            let (said, line) = (&self.said[from], self.written[to].line);
            let (kind, by, than) = if stamp + unit + SLACK <= said.begun {
                (Defect::StampedEarly, said.begun - stamp, "before it was sent")
            } else if stamp > said.there + patience + SLACK {
                (Defect::StampedLate, stamp - said.there, "after it was received")
            } else {
                return None;
            };
            let (name, by) = (self.name(from), shown(by));
            let says = format!("{name} is stamped {by} {than}, in line {line} of the recording");
            Some(self.finding(kind, from, says).on(line))
        })
    }

    /// The pairs that have a stamp. Nothing says which of several equal messages was recorded first, so each stamp, the earliest
    /// first, is held against the one that arrived first of those begun by then, or up to `early` microseconds later.
    fn by_their_times(&self, stamp: impl Fn(usize) -> Option<u64>, early: u64) -> Vec<Stamped> {
        let mut equal: HashMap<(Side, &str), Vec<Stamped>> = HashMap::new();
        for (from, to) in self.pairing.pairs() {
            let Some(stamp) = stamp(to) else { continue };
            let one = &self.said[from];
            equal.entry((one.side, one.text.trim())).or_default().push((from, stamp, to));
        }
        let mut pairs = Vec::new();
        for equal in equal.into_values() {
            let mut said: Vec<usize> = equal.iter().map(|it| it.0).collect();
            said.sort_by_key(|&from| self.said[from].begun);
            let mut stamps: Vec<(u64, usize)> = equal.into_iter().map(|it| (it.1, it.2)).collect();
            stamps.sort_unstable();
            let (mut next, mut under_way) = (said.into_iter().peekable(), BinaryHeap::new());
            for (stamp, to) in stamps {
                while let Some(from) = next.next_if(|&from| self.said[from].begun < stamp + early) {
                    under_way.push(Reverse((self.said[from].there, from)));
                }
                let first = under_way.pop().map(|Reverse((_, from))| from);
                pairs.extend(first.or_else(|| next.next()).map(|from| (from, stamp, to)));
            }
        }
        pairs.sort_unstable();
        pairs
    }

    /// The responses that the recording binds to another request, or why that cannot be judged.
    fn bound(&self, within_exchange: bool) -> Result<Vec<Finding>, String> {
        let said = |sided: bool| {
            answers(self.said.iter().map(move |one| (one.text.trim(), Some(one.side).filter(|_| sided))))
        };
        let truth = said(true);
        if self.written.iter().all(|one| one.side.is_none()) && truth != said(false) {
            return Err("COR-DIRECTION-FLAT: the recording does not say who sent what, and both sides use one id at once".to_owned());
        }
        let texts = self.written.iter().map(|one| (if one.noise { "" } else { one.text.as_str() }, one.side));
        let recorded = answers(texts);
        let id = |one: &SentMessage| {
            Some(Json::parse(one.text.trim()).ok()?.member("id")?.text().trim_matches('"').to_owned())
        };
        let ids: Vec<Option<String>> = self.said.iter().map(id).collect();
        // Whose request each is of, and its id.
        let thread = |at: usize| {
            let side = self.said[at].side;
            Some((if truth[at].is_some() { side.other() } else { side }, ids[at].as_deref()?))
        };
        // Two of them that were under way at once on two connections may come in any order.
        let cross = |at: usize, other: usize| {
            let (one, two) = (&self.said[at], &self.said[other]);
            let at_once = one.begun < two.there && two.begun < one.there;
            one.exchange != two.exchange && at_once && thread(at) == thread(other)
        };
        let crossed: HashSet<_> = (0..ids.len())
            .filter(|&at| ids[at].is_some() && (0..at).any(|other| cross(at, other)))
            .filter_map(thread)
            .collect();
        let misbound = |(from, to): (usize, usize)| {
            let (meant, bound) = (truth[from]?, recorded[to]?);
            let one = &self.said[from];
            let elsewhere = |other: &SentMessage| other.exchange != one.exchange;
            let others = || self.said.iter().enumerate().filter(|(at, _)| *at != from);
            // A request that is lost or changed was reported already, and its response with it.
            let gone = meant.is_some_and(|meant| !self.is_kept(meant));
            let unordered = || {
                meant.is_none_or(|request| elsewhere(&self.said[request]))
                    // What is delivered again over another stream may be before or behind.
                    || others().any(|(_, other)| other.text.trim() == one.text.trim())
                    // Two answers with one id, on two connections, may have crossed on their way.
                    || others().any(|(at, other)| {
                        let answers = other.side == one.side && truth[at].is_some();
                        answers && elsewhere(other) && ids[at].is_some() && ids[at] == ids[from]
                    })
            };
            let bound = bound.map(|at| self.pairing.said[at]);
            let open = within_exchange && unordered() || thread(from).is_some_and(|of| crossed.contains(&of));
            if gone || self.is_turned(from, to) || open || bound == meant.map(Some) {
                return None;
            }
            let line = self.written[to].line;
            let instead = match bound {
                None => "nothing".to_owned(),
                Some(Some(at)) => self.name(at),
                Some(None) => "a message that nobody sent".to_owned(),
            };
            let meant = meant.map_or_else(|| "nothing".to_owned(), |at| self.name(at));
            let name = self.name(from);
            let says =
                format!("{name} answers {meant}, and the recording binds it to {instead}, by line {line}");
            Some(self.finding(Defect::BoundWrongly, from, says).on(line))
        };
        Ok(self.pairing.pairs().filter_map(misbound).collect())
    }

    /// Whether the recording has it as it was sent.
    fn is_kept(&self, said: usize) -> bool {
        let same = |to: usize| {
            let value = Json::parse(self.said[said].text.trim()).ok()?;
            let same = value.same(Json::parse(&self.written[to].text).ok()?);
            Some(same && !self.is_turned(said, to))
        };
        self.pairing.written[said].and_then(same) == Some(true)
    }
}

/// For each text, whether it is a response, and which of the texts it answers. What is not a message answers nothing, and a
/// tool call under an id that was used before (COR-DUPLICATE) is passed over, since no reading binds it.
fn answers<'t>(texts: impl Iterator<Item = (&'t str, Option<Side>)>) -> Vec<Option<Option<usize>>> {
    let mut contract = Contract::default();
    // Which of the texts each event is.
    let mut events: Vec<usize> = Vec::new();
    let bind = |(at, (text, side)): (usize, (&str, Option<Side>))| {
        let message = Message::parse(text).ok()?;
        let entry = Entry { side, ..Entry::new(Location::default(), Content::Message(message)) };
        let event = contract.take(&entry).ok()??;
        events.push(at);
        let request = event.answers.and_then(|index| events.get(usize::try_from(index).ok()?).copied());
        event.is_response().then_some(request)
    };
    texts.enumerate().map(bind).collect()
}

/// Whether a recording has to hold it: a JSON-RPC message, also one with a fault. It may leave out anything else.
fn is_due(text: &str) -> bool {
    Message::parse(text).map_or_else(|refusal| !refusal.is_noise(), |_| true)
}

/// Whether some object in it names a member twice.
fn repeats(value: Json<'_>) -> bool {
    let tree = Tree::new(value);
    let mut waiting = vec![0];
    while let Some(node) = waiting.pop() {
        match tree.kind(node) {
            JsonKind::Object => {
                let members = tree.sorted_members(node);
                let names: HashSet<_> = members.iter().map(|member| member.0.decode()).collect();
                if names.len() < members.len() {
                    return true;
                }
                waiting.extend(members.iter().map(|member| member.1));
            }
            JsonKind::Array => waiting.extend(tree.items(node)),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
