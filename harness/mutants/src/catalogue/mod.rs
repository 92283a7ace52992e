//! Importers with one seeded fault each: what the suite must be able to tell from a faithful reader.
//!
//! Knows: mistakes that real importers make, each as a small deviation of the built-in reader, in the place where it
//! would be made: in the text, in a message, in what was found, in the contract, in the meaning, in the answer. Refuses
//! to know: the cases. A fault that no case kills shows a case that is missing; that is what they are for, and
//! `mcp-concord run --adequacy` asks ([`crate::score`]). Compiled into the library because that command needs them.

mod challenge;
mod contract;
mod correlation;
mod direction;
mod edit;
mod envelope;
mod events;
mod exchanges;
mod found;
mod har;
mod heads;
mod ids;
mod inspector;
mod k2a;
mod lines;
mod members;
mod messages;
mod replay;
mod sse;
mod streams;
mod survival;
mod values;

use contract::{Discovery, FAITHFUL, Habits, Outcome};
use formats::Format;
use found::{Found, Seen, Surroundings};
use suite::importer::Importer;
use transcript::json::Json;
use verdict::answer::Answer;

/// An importer's mistake.
#[derive(Debug)]
pub struct Mutant {
    /// Its family and name, such as `ids/trimmed`.
    pub name: &'static str,
    /// What the importer does, as the rest of a sentence that begins with "It".
    pub does: &'static str,
    /// The clauses of the reading contract that it breaks.
    pub breaks: &'static [&'static str],
    /// It spoils nearly every reading: a case that kills nothing else shows little.
    pub trivial: bool,
    mutation: Mutation,
}

/// Where the mistake is made.
#[derive(Debug)]
enum Mutation {
    /// A transcript (of this format) is read as if it had another text; none: as it stands.
    Text(fn(&str, &str) -> Option<String>),
    /// The same for its bytes.
    Bytes(fn(&str, &[u8]) -> Option<Vec<u8>>),
    /// Each message is read as if it had another text; none: as it stands. An empty text takes it away.
    Message(fn(Json<'_>) -> Option<String>),
    /// These labels of an envelope are taken for the right one.
    Label(fn(Option<Json<'_>>, &str) -> bool),
    /// The first line of a trace may lack this member, which is then read as this value.
    Head(&'static str, &'static str),
    /// These versions of a trace are taken for version 1.
    Version(fn(Json<'_>) -> bool),
    /// Such a line rejects a trace.
    Line(fn(Json<'_>) -> bool),
    /// The items of an Inspector file are others; an empty text takes one away.
    Item(fn(Json<'_>) -> Option<String>),
    /// Such a document rejects an Inspector file.
    Document(fn(Json<'_>) -> bool),
    /// The exchanges of a HAR are others.
    Exchange(fn(Json<'_>) -> Option<String>),
    /// The exchanges of a HAR, as texts, are put in another order.
    Exchanges(fn(&mut Vec<String>)),
    /// The exchanges of a HAR are put in the order of this number.
    ExchangesBy(fn(Json<'_>) -> Option<i64>),
    /// The bodies of a HAR that are JSON are others.
    Body(fn(Json<'_>) -> Option<String>),
    /// The answers of such exchanges of a HAR are not looked at.
    Unanswered(fn(Json<'_>) -> Option<()>),
    /// Such headers alone are seen (K2-A).
    Headers(fn(&str, &str) -> bool),
    /// Headers are seen as others (K2-A).
    Rewritten(fn(&str, &str) -> (String, String)),
    /// What was found is changed before the contract sees it.
    Found(fn(&str, &mut Found)),
    /// The contract is carried out with another habit.
    Habit(Habits),
    /// Contexts make something else visible (K2-A).
    Discover(fn(&Seen, &Surroundings) -> Option<Discovery>),
    /// The meaning is changed.
    Meaning(fn(&str, &mut Outcome)),
    /// The meaning lacks the events of these indices.
    Loss(fn(&Outcome, usize) -> bool),
    /// The meaning has its events in the order of these indices.
    Order(fn(&Outcome) -> Vec<usize>),
    /// The values of these members of the normal form are changed.
    Value(&'static [&'static str], fn(Json<'_>) -> Option<String>),
    /// The answer is another one; none: the faithful one.
    Answer(fn(&Original<'_>) -> Option<Answer>),
}

/// A transcript that has been read faithfully, for any number of faults to be tried on.
pub struct Original<'t> {
    format: &'static Format,
    bytes: &'t [u8],
    found: Found,
    answer: Answer,
}

impl<'t> Original<'t> {
    /// Reads a transcript.
    #[must_use]
    pub fn read(format: &'static Format, bytes: &'t [u8]) -> Self {
        let found = Found::of(format, bytes);
        let answer = found.answer(&FAITHFUL, |_| {});
        Self { format, bytes, found, answer }
    }

    /// The faithful answer.
    #[must_use]
    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// Whether anything was found that could hold a challenge.
    fn shows_contexts(&self) -> bool {
        self.found.entries.iter().any(|seen| seen.context.is_some())
    }

    /// The faithful meaning, where it is one.
    fn answer_text(&self) -> Option<&str> {
        match &self.answer {
            Answer::Meaning(meaning) => Some(meaning.text()),
            _ => None,
        }
    }
}

impl Mutant {
    /// What an importer with this fault answers; none where it answers what the faithful one does.
    #[must_use]
    pub fn answer(&self, asked: &Original<'_>) -> Option<Answer> {
        let name = asked.format.name;
        let reread = |bytes: &[u8]| Found::of(asked.format, bytes).answer(&FAITHFUL, |_| {});
        let text = || std::str::from_utf8(asked.bytes).ok();
        if !self.applies(asked) {
            return None;
        }
        let answer = match &self.mutation {
            Mutation::Text(edit) => reread(edit(name, text()?)?.as_bytes()),
            Mutation::Bytes(edit) => reread(&edit(name, asked.bytes)?),
            Mutation::Message(edit) => reread(edit::messages(name, text()?, edit)?.as_bytes()),
            Mutation::Label(takes) => reread(envelope::relabel(name, text()?, *takes)?.as_bytes()),
            Mutation::Head(member, value) => {
                reread(heads::completed(name, text()?, member, value)?.as_bytes())
            }
            Mutation::Version(takes) => reread(heads::versioned(name, text()?, *takes)?.as_bytes()),
            Mutation::Line(refuses) => {
                replay::has_line(name, text()?, *refuses).then(|| survival::rejection("wrong-type"))?
            }
            Mutation::Item(edit) => reread(inspector::edited(name, text()?, *edit)?.as_bytes()),
            Mutation::Document(refuses) => {
                inspector::is(name, text()?, *refuses).then(|| survival::rejection("wrong-document"))?
            }
            Mutation::Exchange(edit) => reread(har::edited(name, text()?, *edit)?.as_bytes()),
            Mutation::Exchanges(order) => reread(exchanges::reordered(name, text()?, order)?.as_bytes()),
            Mutation::ExchangesBy(key) => {
                let key = |entry: &String| Json::parse(entry).ok().and_then(key);
                reread(exchanges::reordered(name, text()?, |entries| entries.sort_by_key(key))?.as_bytes())
            }
            Mutation::Body(edit) => reread(har::each_body(text()?, &mut |body| edit(body))?.as_bytes()),
            Mutation::Unanswered(skips) => reread(har::unanswered(name, text()?, *skips)?.as_bytes()),
            Mutation::Headers(sees) => {
                reheaded(asked, |name, value| sees(name, value).then(|| (name.to_owned(), value.to_owned())))
            }
            Mutation::Rewritten(rewrite) => reheaded(asked, |name, value| Some(rewrite(name, value))),
            Mutation::Found(edit) => {
                let mut found = asked.found.clone();
                edit(name, &mut found);
                found.answer(&FAITHFUL, |_| {})
            }
            Mutation::Habit(habits) => asked.found.answer(habits, |_| {}),
            Mutation::Discover(discover) => {
                asked.found.answer(&Habits { discover: *discover, ..FAITHFUL }, |_| {})
            }
            Mutation::Meaning(edit) => asked.found.answer(&FAITHFUL, |outcome| edit(name, outcome)),
            Mutation::Loss(lost) => asked.found.answer(&FAITHFUL, |outcome| {
                outcome.retain(|outcome, index| !lost(outcome, index));
            }),
            Mutation::Order(order) => {
                asked.found.answer(&FAITHFUL, |outcome| outcome.arrange(&order(outcome)))
            }
            Mutation::Value(names, edit) => {
                asked.found.answer(&FAITHFUL, |outcome| outcome.values(names, *edit))
            }
            Mutation::Answer(answer) => answer(asked)?,
        };
        (answer != asked.answer).then_some(answer)
    }

    /// Whether the fault can show in this transcript at all; spares the work where it plainly cannot.
    fn applies(&self, asked: &Original<'_>) -> bool {
        match self.mutation {
            Mutation::Body(_) => asked.format.name == "har",
            Mutation::Headers(_) | Mutation::Rewritten(_) | Mutation::Discover(_) => asked.shows_contexts(),
            Mutation::Meaning(_) | Mutation::Loss(_) | Mutation::Order(_) | Mutation::Value(..) => {
                asked.answer_text().is_some()
            }
            _ => true,
        }
    }

    /// As [`Mutant::answer`], for a fault that may answer otherwise when it is asked again (clause SRV-SAME).
    #[must_use]
    pub fn answer_twice(&self, asked: &Original<'_>) -> Option<Answer> {
        let first = self.answer(asked);
        if !matches!(self.mutation, Mutation::Answer(_)) {
            return first;
        }
        let whole = |answer: Option<Answer>| answer.unwrap_or_else(|| asked.answer.clone());
        let answer = whole(first).confirmed_by(&whole(self.answer(asked)));
        (answer != asked.answer).then_some(answer)
    }
}

/// The answer of an importer that sees other headers, or none.
fn reheaded(asked: &Original<'_>, see: impl Fn(&str, &str) -> Option<(String, String)>) -> Answer {
    let mut found = asked.found.clone();
    for context in found.entries.iter_mut().filter_map(|seen| seen.context.as_mut()) {
        context.headers = context.headers.iter().filter_map(|(name, value)| see(name, value)).collect();
    }
    found.answer(&FAITHFUL, |_| {})
}

/// The importer that has this fault.
impl Importer for Mutant {
    fn name(&self) -> &str {
        self.name
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn reads(&self, format: &str) -> bool {
        formats::find(format).is_some()
    }

    fn read(&self, format: &str, transcript: &[u8]) -> Answer {
        let Some(format) = formats::find(format) else {
            return Answer::Unsupported { why: format!("there is no format {format}") };
        };
        let asked = Original::read(format, transcript);
        self.answer(&asked).unwrap_or(asked.answer)
    }
}

/// Every fault, family by family.
pub fn all() -> impl Iterator<Item = &'static Mutant> {
    FAMILIES.iter().flat_map(|family| family.iter())
}

const FAMILIES: &[&[Mutant]] = &[
    ids::MUTANTS,
    correlation::MUTANTS,
    direction::MUTANTS,
    events::MUTANTS,
    values::MUTANTS,
    members::MUTANTS,
    messages::MUTANTS,
    lines::MUTANTS,
    envelope::MUTANTS,
    sse::MUTANTS,
    streams::MUTANTS,
    heads::MUTANTS,
    replay::MUTANTS,
    inspector::MUTANTS,
    exchanges::MUTANTS,
    har::MUTANTS,
    k2a::MUTANTS,
    challenge::MUTANTS,
    survival::MUTANTS,
];

/// One row of a family's table.
const fn mutant(
    name: &'static str,
    breaks: &'static [&'static str],
    does: &'static str,
    mutation: Mutation,
) -> Mutant {
    Mutant { name, does, breaks, trivial: false, mutation }
}

/// A row for a fault that spoils nearly every reading.
const fn trivial(
    name: &'static str,
    breaks: &'static [&'static str],
    does: &'static str,
    mutation: Mutation,
) -> Mutant {
    Mutant { name, does, breaks, trivial: true, mutation }
}

#[cfg(test)]
mod tests {
    use super::{Found, Original, edit};
    use suite::{Root, Suite};

    /// An edit that changes nothing must change no reading; otherwise a fault would be killed by its machinery.
    #[test]
    fn messages_written_again_as_they_were_read_the_same() {
        let mut edited = 0;
        for case in Suite::load(&[Root::Embedded]).unwrap().cases {
            for transcript in &case.transcripts {
                let bytes = transcript.blob.bytes().unwrap();
                let (name, asked) = (transcript.format.name, Original::read(transcript.format, &bytes));
                let Ok(text) = std::str::from_utf8(&bytes) else { continue };
                let same = edit::messages(name, text, &|message| Some(message.text().to_owned()));
                let Some(again) = same else { continue };
                let again = Found::of(transcript.format, again.as_bytes()).answer(&super::FAITHFUL, |_| {});
                let expected = asked.answer().clone();
                assert_eq!(expected.clone().confirmed_by(&again), expected, "{}, {name}", case.name);
                edited += 1;
            }
        }
        assert!(edited > 1_000, "{edited} transcripts were edited");
    }
}
