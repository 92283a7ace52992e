//! What a recording has for a request: found by a fingerprint of its method and parameters.
//!
//! A message of the server belongs to the request that it answers, or whose stream it went over as far as the session shows
//! it, and otherwise to the last message of the client before it. Memory: an entry for each message.

use crate::messages::{about, id_text, is};
use crate::play::http::Answers;
use crate::play::http::route::{Route, Routes};
use crate::play::plan::Plan;
use crate::play::player::AHEAD;
use crate::play::script::{Script, event};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use transcript::align::{Key, contents};
use transcript::diff::{DiffOptions, Difference, PointerPattern};
use transcript::json::{Json, JsonKind};
use transcript::meaning::{Event, EventKind};
use transcript::message::Message;
use transcript::nearest::hint;
use transcript::session::Side;

/// A message of the client, and what the server sends for it.
#[derive(Debug)]
pub(in crate::play) struct Unit {
    /// The client's message.
    pub(in crate::play) step: usize,
    /// What follows, in order.
    pub(in crate::play) turns: Vec<Turn>,
    /// Which recorded messages say the same.
    pub(in crate::play) key: u128,
    answered: bool,
    /// The client took it back, so that its server may have said nothing.
    cancelled: bool,
}

/// One step of what follows a message of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::play) enum Turn {
    /// The server sends this message.
    Send(usize),
    /// The client has answered the server's request.
    Await {
        /// The request.
        asked: usize,
        /// The answer that the recording has.
        answer: usize,
    },
}

/// A recording, by what the client asks.
#[derive(Debug)]
pub(in crate::play) struct Catalogue<'s> {
    pub(in crate::play) script: &'s Script,
    pub(in crate::play) units: Vec<Unit>,
    /// How each request was answered over HTTP, and the session's headers.
    pub(in crate::play) routes: Routes,
    /// Those with an answer, or notifications, in recorded order.
    groups: HashMap<u128, Vec<usize>>,
    /// Those with a redacted value, which equals any other.
    hidden: Vec<usize>,
    rules: DiffOptions,
    /// The same without `params`, for messages whose parameters do not count.
    bare: DiffOptions,
}

/// Why a request is not answered from the recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::play) struct NotFound {
    /// A sentence without its full stop.
    pub(in crate::play) why: String,
    /// The recorded request that is nearest.
    pub(in crate::play) nearest: Option<usize>,
}

impl Unit {
    /// Whether the recording has what its server did: an answer, something else, or nothing because it was cancelled. A request
    /// without any of these is the end of a recording.
    fn is_played(&self) -> bool {
        self.answered || self.cancelled || !self.turns.is_empty()
    }
}

impl<'s> Catalogue<'s> {
    /// The catalogue of a server's script. `rules` say which parts of requests do not count. Fails where the recording answers
    /// nothing, or is of several servers.
    pub(in crate::play) fn new(
        script: &'s Script,
        rules: &DiffOptions,
        answers: Answers,
    ) -> Result<Self, String> {
        let mut rules = rules.clone();
        let also: Vec<_> = rules.ignore.iter().filter_map(PointerPattern::in_tool_call).collect();
        rules.ignore.extend(also);
        let mut bare = rules.clone();
        rules.ignore.extend(PointerPattern::parse("/params/_meta"));
        bare.ignore.extend(PointerPattern::parse("/params"));
        let routes = Routes::new(script, answers);
        let (units, groups, hidden) = (units(script, &routes), HashMap::new(), Vec::new());
        let mut catalogue = Self { script, units, routes, groups, hidden, rules, bare };
        catalogue.index();
        if !catalogue.units.iter().any(|unit| unit.answered) {
            return Err("it holds no request with its answer, so there is nothing to answer with".to_owned());
        }
        match &catalogue.servers()[..] {
            [] | [_] => Ok(catalogue),
            several => Err(format!(
                "it holds sessions with several servers ({}), but only one can be played",
                several.join(", ")
            )),
        }
    }

    /// Says what a person should know of the recording.
    pub(in crate::play) fn report(&self, plan: &Plan<'_>) {
        let count =
            self.units.iter().filter(|unit| unit.answered && self.script.is(unit.step, "initialize")).count();
        if count > 1 {
            let text =
                format!("{} holds {count} sessions of one server; answers come from all of them", plan.name);
            plan.notify.note(&text);
        }
    }

    /// What the recording has for a message of a client that has asked for the same so often. Counts it.
    pub(in crate::play) fn find(
        &self,
        message: Message<'_>,
        asked: &mut HashMap<u128, usize>,
        once: bool,
    ) -> Result<usize, NotFound> {
        let Some(key) = self.group(message) else { return Err(self.not_found(message)) };
        let group = &self.groups[&key];
        let count = asked.entry(key).or_default();
        let unit = group.get(*count).or_else(|| group.last().filter(|_| !once)).copied();
        *count += usize::from(unit.is_some());
        unit.ok_or_else(|| NotFound {
            why: format!(
                "it was answered {} already, as often as in the recording (--once)",
                if *count == 1 { "once".to_owned() } else { format!("{count} times") }
            ),
            nearest: group.last().map(|&unit| self.units[unit].step),
        })
    }

    /// The key that all equal messages share.
    pub(in crate::play) fn key(&self, message: Message<'_>) -> u128 {
        self.key_of(&event(0, message)).all
    }

    fn group(&self, message: Message<'_>) -> Option<u128> {
        let came = event(0, message);
        let key = self.key_of(&came).all;
        if self.groups.contains_key(&key) {
            return Some(key);
        }
        let same = |unit: &&Unit| {
            self.script.message(unit.step).is_some_and(|recorded| {
                let recorded = event(0, recorded);
                recorded.kind == came.kind && contents(&recorded, &came, &self.rules).difference.is_none()
            })
        };
        self.hidden.iter().map(|&unit| &self.units[unit]).find(same).map(|unit| unit.key)
    }

    fn key_of(&self, event: &Event<'_>) -> Key {
        let mut key = Key::new(event, self.rules_for(event.message), false);
        // A call that runs as a task is another request, whose answer says where the task is.
        let task = event.message.params().and_then(|params| params.member("task"));
        key.all ^= u128::from(event.kind == EventKind::ToolCall && task.is_some());
        key
    }

    /// What a client says of itself does not count, and no parameters are as good as empty ones.
    fn rules_for(&self, message: Message<'_>) -> &DiffOptions {
        let is_empty = message.params().is_none_or(|params| {
            params.kind() == JsonKind::Object && params.members().all(|(name, _)| name.is("_meta"))
        });
        if is(message, "initialize") || is_empty { &self.bare } else { &self.rules }
    }

    fn index(&mut self) {
        for index in 0..self.units.len() {
            let step = self.units[index].step;
            let Some(message) = self.script.message(step) else { continue };
            let key = self.key_of(&event(0, message));
            self.units[index].key = key.all;
            if self.units[index].is_played() || is_notification(message) {
                self.groups.entry(key.all).or_default().push(index);
                self.hidden.extend(key.hides.then_some(index));
            }
        }
    }

    fn servers(&self) -> Vec<String> {
        let mut names = BTreeSet::new();
        for (answer, step) in self.script.steps.iter().enumerate() {
            let hello = step.answers.filter(|asked| self.script.is(*asked, "initialize"));
            names.extend(hello.and_then(|_| {
                let name = self.script.message(answer)?.outcome()?.member("serverInfo")?.member("name")?;
                Some(name.as_text()?.to_str()?.into_owned())
            }));
        }
        names.into_iter().collect()
    }

    /// Why nothing is found, and what is nearest.
    fn not_found(&self, message: Message<'_>) -> NotFound {
        let method = message.method().map(|method| String::from_utf8_lossy(&method.decode()).into_owned());
        let method = method.unwrap_or_default();
        let key = self.key(message);
        let unanswered = self.units.iter().find(|unit| !unit.is_played() && unit.key == key);
        if let Some(unit) = unanswered {
            let why = "the recording has this request, but no answer to it".to_owned();
            return NotFound { why, nearest: Some(unit.step) };
        }
        let alike = self.units.iter().filter(|unit| unit.answered && self.script.is(unit.step, &method));
        let came = leaves(message);
        let score = |step: &usize| {
            let there = self.script.message(*step).map(leaves).unwrap_or_default();
            let shared = came.iter().filter(|(at, value)| there.get(*at) == Some(value)).count();
            // What both have counts twice against what one of them has.
            (2 * shared + 1_000_000).saturating_sub(came.len() + there.len())
        };
        // The first of those that are as near.
        let Some(step) = alike.map(|unit| unit.step).rev().max_by_key(score) else {
            let known: BTreeSet<String> = self.units.iter().filter_map(|unit| self.method(unit)).collect();
            let hint = hint(&method, known.iter().map(String::as_str));
            return NotFound { why: format!("the recording answers no {method}{hint}"), nearest: None };
        };
        let difference = self.script.message(step).and_then(|recorded| {
            let rules = if std::ptr::eq(self.rules_for(message), self.rules_for(recorded)) {
                self.rules_for(message)
            } else {
                &self.rules
            };
            contents(&event(0, recorded), &event(0, message), rules).difference
        });
        NotFound { why: differs(&method, difference), nearest: Some(step) }
    }

    fn method(&self, unit: &Unit) -> Option<String> {
        let method = self.script.message(unit.step).filter(|_| unit.answered)?.method()?;
        Some(method.to_str()?.into_owned())
    }
}

fn differs(method: &str, difference: Option<Difference>) -> String {
    use verdict::plain::cut;
    let begin = format!("the recording has no such {method} with an answer");
    match difference {
        Some(Difference { pointer, left, right }) => {
            let value = |value: Option<String>| value.map_or("nothing".to_owned(), |text| cut(&text, 60));
            format!("{begin}; the nearest has {} at {pointer}, not {}", value(left), value(right))
        }
        None => begin,
    }
}

/// The values of a request by their places, for telling how much two have in common.
fn leaves(message: Message<'_>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting: Vec<(String, Json<'_>)> =
        message.params().map(|it| (String::new(), it)).into_iter().collect();
    while let Some((at, value)) = waiting.pop() {
        match value.kind() {
            JsonKind::Object => {
                let below = |(name, value): (transcript::json::JsonString<'_>, _)| {
                    (format!("{at}/{}", String::from_utf8_lossy(&name.decode())), value)
                };
                let counts = |(name, _): &(transcript::json::JsonString<'_>, Json<'_>)| !name.is("_meta");
                waiting.extend(value.members().filter(counts).map(below));
            }
            JsonKind::Array => {
                waiting
                    .extend(value.items().enumerate().map(|(index, item)| (format!("{at}/{index}"), item)));
            }
            _ => {
                found.insert(at, value.text().to_owned());
            }
        }
    }
    found
}

fn is_notification(message: Message<'_>) -> bool {
    EventKind::new(&message) == EventKind::Notification
}

/// The messages of the client, each with what belongs to it.
fn units(script: &Script, routes: &Routes) -> Vec<Unit> {
    let (mut units, mut of_step): (Vec<Unit>, _) = (Vec::new(), HashMap::new());
    let mut first = Vec::new();
    for (step, found) in script.steps.iter().enumerate() {
        if script.is_left_out(step) || script.is_again(step) {
            continue;
        }
        let is_response = matches!(found.kind, EventKind::Result | EventKind::Error);
        let (unit, turn) = match found.side {
            Side::Client if !is_response => {
                let cancels =
                    script.message(step).and_then(|it| about(it, "notifications/cancelled", "requestId"));
                let is_it = |unit: &&mut Unit| {
                    let id = script.message(unit.step).and_then(id_text);
                    is_open(script, unit) && id.is_some() && id == cancels.map(|cancelled| cancelled.text())
                };
                if let Some(unit) = units.iter_mut().rev().take(AHEAD).find(is_it) {
                    unit.cancelled = true;
                }
                of_step.insert(step, units.len());
                let turns = std::mem::take(&mut first);
                units.push(Unit { step, turns, key: 0, answered: false, cancelled: false });
                continue;
            }
            Side::Client => {
                let Some(asked) = found.answers else { continue };
                let Some(&unit) = of_step.get(&asked) else { continue };
                (unit, Turn::Await { asked, answer: step })
            }
            Side::Server => {
                // An answer to nothing would answer nobody.
                if is_response && found.answers.is_none() {
                    continue;
                }
                let unit = match routes.of.get(step) {
                    Some(Route::Answer(asked)) => of_step.get(asked).copied(),
                    _ => {
                        let is_open = |(_, unit): &(usize, &Unit)| is_open(script, unit);
                        units.iter().enumerate().rev().take(AHEAD).find(is_open).map(|it| it.0)
                    }
                };
                let Some(unit) = unit.or(units.len().checked_sub(1)) else {
                    first.push(Turn::Send(step));
                    continue;
                };
                (unit, Turn::Send(step))
            }
        };
        of_step.insert(step, unit);
        if let Some(unit) = units.get_mut(unit) {
            unit.answered |= is_response && found.answers == Some(unit.step);
            unit.turns.push(turn);
        }
    }
    units
}

/// Whether somebody has to answer a message of the client, and has not.
fn is_open(script: &Script, unit: &Unit) -> bool {
    !unit.answered
        && !unit.cancelled
        && script.message(unit.step).is_some_and(|message| !is_notification(message))
}
