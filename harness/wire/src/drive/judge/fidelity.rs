//! Whether a recording has what was sent: nothing less, nothing more, nothing else, in order and at its time.
//!
//! Two texts of the same value are the same message. The order of messages is judged within a stream, which is one
//! side's output, or the body of one HTTP response.

use super::binding::answers;
use super::messages::{RecordedMessage, SentMessage};
use super::pairing::{Pairing, rounded};
use super::{Finding, Kind, named, order, shown};
use std::collections::HashSet;
use transcript::diff::{DiffOptions, first};
use transcript::json::{Json, JsonKind, Tree};
use transcript::message::Message;
use transcript::session::Side;

/// What may be asked of the recording.
#[derive(Debug, Clone, Copy)]
pub struct Terms {
    /// So much later than it was received may a message be stamped, in microseconds.
    pub patience: u64,
    /// Which responses are held against the requests that they answer.
    pub bound: BindingScope,
}

/// Which bindings a format can be held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BindingScope {
    /// All: it keeps the order of both sides.
    All,
    /// Those within one exchange: it keeps whole exchanges, and the order of exchanges alone.
    WithinExchange,
}

/// Two clocks may be read so far apart, in microseconds.
const SLACK: u64 = 2_000;

/// What a recording has that is otherwise than it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FidelityReport {
    /// What was found, the worst first.
    pub findings: Vec<Finding>,
    /// What could not be judged, since the format cannot say it, in sentences.
    pub unsaid: Vec<String>,
}

/// Judges a recording. `said` stands in the order in which it was sent.
#[must_use]
pub fn judge(said: &[SentMessage], written: &[RecordedMessage], terms: Terms) -> FidelityReport {
    let numbers = numbers(said);
    let mut pairing = Pairing::of(said, written);
    order::straighten(said, &mut pairing);
    let mut work = Comparison { said, written, numbers, pairing, judged: FidelityReport::default() };
    work.lost_and_merged();
    work.added();
    work.changed();
    work.bound(terms.bound);
    work.reordered();
    work.stamped(terms.patience);
    work.judged.findings.sort_by_key(|finding| finding.kind);
    work.judged
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
    judged: FidelityReport,
}

impl Comparison<'_> {
    fn find(&mut self, finding: Finding) {
        self.judged.findings.push(finding);
    }

    fn name(&self, said: usize) -> String {
        named(self.said[said].side, self.numbers[said])
    }

    fn finding(&self, kind: Kind, said: usize, says: String) -> Finding {
        let one = &self.said[said];
        Finding::new(kind, Some(one.side), self.numbers[said], says).sent(one.text.trim())
    }

    /// The pairs, in the order in which they were sent.
    fn pairs(&self) -> Vec<(usize, usize)> {
        self.pairing.written.iter().enumerate().filter_map(|(from, to)| Some((from, (*to)?))).collect()
    }

    fn lost_and_merged(&mut self) {
        let lost: Vec<usize> = (0..self.said.len())
            .filter(|at| {
                self.pairing.written[*at].is_none() && self.said[*at].due && is_due(&self.said[*at].text)
            })
            .collect();
        for at in lost {
            let text = self.said[at].text.trim();
            let holds = |one: &RecordedMessage| one.text.len() > text.len() && one.text.contains(text);
            let inside =
                self.written.iter().zip(&self.pairing.said).find(|(one, said)| said.is_none() && holds(one));
            let name = self.name(at);
            let finding = match inside.map(|(one, _)| one) {
                Some(one) => {
                    let says = format!("{name} is merged with others in line {} of the recording", one.line);
                    self.finding(Kind::Merged, at, says).came(one.text.trim()).on(one.line)
                }
                None => self.finding(Kind::Lost, at, format!("{name} is not in the recording")),
            };
            self.find(finding);
        }
    }

    /// What the recording has on its own. Noise is no message, and so none too many.
    fn added(&mut self) {
        let sent: HashSet<&str> = self.said.iter().map(|one| one.text.trim()).collect();
        let mut found = Vec::new();
        for (at, one) in self.written.iter().enumerate() {
            if self.pairing.said[at].is_some() || one.noise {
                continue;
            }
            let says = match sent.contains(one.text.trim()) {
                true => {
                    format!("line {} of the recording has a message once more than it was sent", one.line)
                }
                false => format!("nobody sent what line {} of the recording has", one.line),
            };
            found.push(Finding::new(Kind::Added, one.side, at, says).came(one.text.trim()).on(one.line));
        }
        self.judged.findings.append(&mut found);
    }

    fn changed(&mut self) {
        for (from, to) in self.pairs() {
            let (sent, came) = (self.said[from].text.trim(), &self.written[to]);
            let Ok(left) = Json::parse(sent) else { continue };
            let Ok(right) = Json::parse(&came.text) else {
                let says =
                    format!("{} is no longer JSON in line {} of the recording", self.name(from), came.line);
                let finding = self.finding(Kind::Changed, from, says).came(came.text.trim()).on(came.line);
                self.find(finding);
                continue;
            };
            let Some(difference) = first(left, right, &DiffOptions::default()).difference else { continue };
            let at = if difference.pointer.is_empty() { "its root" } else { &difference.pointer };
            let how = match (&difference.left, &difference.right) {
                (Some(left), Some(right)) if rounded(left, right) => ": a number was rounded to a double",
                _ if repeats(left) && !repeats(right) => ": a duplicate member is there only once",
                _ => "",
            };
            let says =
                format!("{} differs at {at} in line {} of the recording{how}", self.name(from), came.line);
            let (left, right) = (difference.left, difference.right);
            let mut finding = Finding { sent: left, ..self.finding(Kind::Changed, from, says) }.on(came.line);
            finding.came = right;
            self.find(finding);
        }
    }

    /// The fewest messages that would have to be moved for each stream to be in order.
    fn reordered(&mut self) {
        for (from, to) in order::out_of_order(self.said, &self.pairing) {
            let line = self.written[to].line;
            let says = format!("{} is out of order, in line {line} of the recording", self.name(from));
            let finding = self.finding(Kind::Reordered, from, says).on(line);
            self.find(finding);
        }
    }

    fn stamped(&mut self, patience: u64) {
        let times: Vec<i64> = self.written.iter().filter_map(|one| one.time).collect();
        // A recording that counts in whole seconds is held to no more than that.
        let unit: u64 =
            if times.len() > 3 && times.iter().all(|time| time % 1_000 == 0) { 1_000_000 } else { 1_000 };
        // One that counts from its own beginning is held against its first message.
        let relative = times.iter().all(|time| *time < 1_000_000_000_000);
        let pairs = self.pairs();
        let zero = pairs
            .iter()
            .find_map(|&(from, to)| Some((self.said[from].begun, micros(self.written[to].time?)?)));
        let shift = zero.filter(|_| relative).map_or(0, |(begun, stamp)| begun.saturating_sub(stamp));
        for (from, to) in pairs {
            let Some(stamp) = self.written[to].time.and_then(micros) else { continue };
            let (stamp, said) = (stamp + shift, &self.said[from]);
            let (name, line) = (self.name(from), self.written[to].line);
            if stamp + unit + SLACK <= said.begun {
                let early = shown(said.begun - stamp);
                let says =
                    format!("{name} is stamped {early} before it was sent, in line {line} of the recording");
                let finding = self.finding(Kind::StampedEarly, from, says).on(line);
                self.find(finding);
            } else if stamp > said.there + patience + SLACK {
                let late = shown(stamp - said.there);
                let says = format!(
                    "{name} is stamped {late} after it was received, in line {line} of the recording"
                );
                let finding = self.finding(Kind::StampedLate, from, says).on(line);
                self.find(finding);
            }
        }
    }

    fn bound(&mut self, wanted: BindingScope) {
        let sided = self.written.iter().any(|one| one.side.is_some());
        let truth = answers(self.said.iter().map(|one| (one.text.trim(), Some(one.side))));
        if !sided && truth != answers(self.said.iter().map(|one| (one.text.trim(), None))) {
            let why = "COR-DIRECTION-FLAT: the recording does not say who sent what, and both sides use one id at once";
            self.judged.unsaid.push(why.to_owned());
            return;
        }
        let texts = self.written.iter().map(|one| (if one.noise { "" } else { one.text.as_str() }, one.side));
        let recorded = answers(texts);
        let id = |one: &SentMessage| {
            Some(Json::parse(one.text.trim()).ok()?.member("id")?.text().trim_matches('"').to_owned())
        };
        let ids: Vec<Option<String>> = self.said.iter().map(id).collect();
        for (from, to) in self.pairs() {
            let (Some(Some(meant)), Some(Some(bound))) = (truth.get(from), recorded.get(to)) else {
                continue;
            };
            let apart = |request: usize| self.said[request].exchange != self.said[from].exchange;
            // A request that is lost or changed was told of already, and its response with it.
            let gone = meant.is_some_and(|meant| !self.is_kept(meant));
            // What is delivered again over another stream may stand before or behind.
            let text = self.said[from].text.trim();
            let again =
                || self.said.iter().enumerate().any(|(at, one)| at != from && one.text.trim() == text);
            // Two answers with one id, on two connections, may have crossed on their way.
            let crossed = || {
                self.said.iter().enumerate().any(|(at, one)| {
                    let other = one.side == self.said[from].side && one.exchange != self.said[from].exchange;
                    other && truth[at].is_some() && ids[at].is_some() && ids[at] == ids[from]
                })
            };
            let untold = || meant.is_none_or(apart) || again() || crossed();
            if gone || (wanted == BindingScope::WithinExchange && untold()) {
                continue;
            }
            let bound = bound.map(|at| self.pairing.said[at]);
            if bound == meant.map(Some) {
                continue;
            }
            let line = self.written[to].line;
            let (name, meant) = (self.name(from), meant.map(|at| self.name(at)));
            let instead = match bound {
                None => "nothing".to_owned(),
                Some(Some(at)) => self.name(at),
                Some(None) => "a message that nobody sent".to_owned(),
            };
            let says = format!(
                "{name} answers {}, and the recording binds it to {instead}, by line {line}",
                meant.unwrap_or_else(|| "nothing".to_owned())
            );
            let finding = self.finding(Kind::BoundWrongly, from, says).on(line);
            self.find(finding);
        }
    }

    /// Whether the recording has it was sent.
    fn is_kept(&self, said: usize) -> bool {
        let value = |text: &str, to: usize| {
            Json::parse(text).is_ok_and(|a| Json::parse(&self.written[to].text).is_ok_and(|b| a.same(b)))
        };
        self.pairing.written[said].is_some_and(|to| value(self.said[said].text.trim(), to))
    }
}

fn micros(millis: i64) -> Option<u64> {
    u64::try_from(millis).ok()?.checked_mul(1_000)
}

/// Whether a recording has to hold it: a JSON-RPC message, also one with a fault. What is beside the messages it may leave out.
fn is_due(text: &str) -> bool {
    match Message::parse(text) {
        Ok(_) => true,
        Err(refusal) => !refusal.is_noise(),
    }
}

/// Whether some object in it names a member twice.
fn repeats(value: Json<'_>) -> bool {
    let tree = Tree::of(value);
    let twice = |node: &usize| {
        let members = tree.sorted_members(*node);
        let mut names: Vec<_> = members.iter().map(|member| member.0.decode().into_owned()).collect();
        names.sort();
        names.windows(2).any(|pair| pair[0] == pair[1])
    };
    let mut waiting = vec![0];
    while let Some(node) = waiting.pop() {
        match tree.kind(node) {
            JsonKind::Object if twice(&node) => return true,
            JsonKind::Object => waiting.extend(tree.sorted_members(node).iter().map(|member| member.1)),
            JsonKind::Array => waiting.extend(tree.items(node)),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
