//! Mistakes behind the text: in what was read, in the contract's decisions, in the meaning and in the answer.

use crate::json::{Edit, Test};
use crate::mutant::{Change, Mutation, Original};
use crate::on_text::Shape;
use crate::outcome::{Discovery, Event, Outcome};
use crate::policy::{Policy, Request, Response, contract_discovery, contract_duplicate, contract_id};
use crate::reading::{Context, Id, ReadEntry, ReadMessage, Reading};
use transcript::json::Json;
use verdict::answer::{Answer, FailureKind};
use verdict::meaning::Meaning;

/// An id of a message, for the importer.
pub trait IdOf: Fn(&ReadMessage) -> Option<Vec<u8>> + Copy + Send + Sync + 'static {}
impl<F: Fn(&ReadMessage) -> Option<Vec<u8>> + Copy + Send + Sync + 'static> IdOf for F {}

/// A reader that changes what it read.
pub fn on_reading(edit: impl Fn(&mut Reading) + Send + Sync + 'static) -> Mutation {
    Change::Reading(Box::new(edit)).into()
}

/// A reader that loses such messages.
pub fn lose_messages(lost: impl Fn(&ReadEntry, &ReadMessage) -> bool + Send + Sync + 'static) -> Mutation {
    on_reading(move |reading| {
        let kept = |entry: &ReadEntry| entry.message.as_ref().is_none_or(|message| !lost(entry, message));
        reading.entries.retain(kept);
    })
}

/// A reader that puts entries in the order of a key.
pub fn sort_entries<K: Ord>(key: impl Fn(&ReadEntry) -> K + Send + Sync + 'static) -> Mutation {
    on_reading(move |reading| reading.entries.sort_by_key(&key))
}

/// A reader that changes its messages.
pub fn on_read_message(edit: impl Fn(&mut ReadEntry) + Send + Sync + 'static) -> Mutation {
    on_reading(move |reading| reading.entries.iter_mut().for_each(&edit))
}

/// A reader that shows and compares another id.
pub fn ids(id: impl IdOf) -> Mutation {
    Change::Policy(Policy { shown: Box::new(id), compared: Box::new(id), ..Policy::default() }).into()
}

/// A reader that compares another id than it shows.
pub fn compared_ids(id: impl IdOf) -> Mutation {
    Change::Policy(Policy { compared: Box::new(id), ..Policy::default() }).into()
}

/// The contract's id, rewritten where it is a string of whole characters.
pub fn string_id(rewrite: impl Fn(&str) -> String + Copy + Send + Sync + 'static) -> impl IdOf {
    move |message: &ReadMessage| match &message.id {
        Id::Text(id) => Some(match std::str::from_utf8(id) {
            Ok(id) => rewrite(id).into_bytes(),
            Err(_) => id.clone(),
        }),
        _ => contract_id(message),
    }
}

/// The contract's id, rewritten where it is a number.
pub fn number_id(rewrite: impl Fn(&str) -> String + Copy + Send + Sync + 'static) -> impl IdOf {
    move |message: &ReadMessage| match &message.id {
        Id::Number(id) => Some(rewrite(id).into_bytes()),
        _ => contract_id(message),
    }
}

/// The contract's id, but none where it is a number that passes a test.
pub fn no_number_id(test: impl Fn(&str) -> bool + Copy + Send + Sync + 'static) -> impl IdOf {
    move |message: &ReadMessage| {
        contract_id(message).filter(|_| !matches!(&message.id, Id::Number(number) if test(number)))
    }
}

/// The contract's id, but none where it passes a test.
pub fn no_id(test: impl Fn(&[u8]) -> bool + Copy + Send + Sync + 'static) -> impl IdOf {
    move |message: &ReadMessage| contract_id(message).filter(|id| !test(id))
}

/// The contract's id, and this one for messages without one that pass a test.
pub fn id_for(
    test: impl Fn(&ReadMessage) -> bool + Copy + Send + Sync + 'static,
    id: &'static [u8],
) -> impl IdOf {
    move |message: &ReadMessage| contract_id(message).or_else(|| test(message).then(|| id.to_vec()))
}

/// A reader that binds responses otherwise.
pub fn bind(bind: impl Fn(&[Request], &Response<'_>) -> Option<usize> + Send + Sync + 'static) -> Mutation {
    Change::Policy(Policy { bind: Box::new(bind), ..Policy::default() }).into()
}

/// A reader that waits for the answers to such requests only.
pub fn wait_for(waits: impl Fn(&ReadMessage) -> bool + Send + Sync + 'static) -> Mutation {
    Change::Policy(Policy { waits: Box::new(waits), ..Policy::default() }).into()
}

/// A reader that finds other duplicates.
pub fn duplicates(duplicate: impl Fn(&[Request], &Request) -> bool + Send + Sync + 'static) -> Mutation {
    Change::Policy(Policy { duplicate: Box::new(duplicate), ..Policy::default() }).into()
}

/// A reader that looks for duplicates among such requests only.
pub fn duplicates_among(looks: impl Fn(&Request, &Request) -> bool + Send + Sync + 'static) -> Mutation {
    duplicates(move |before, call| {
        let seen: Vec<Request> = before.iter().filter(|request| looks(request, call)).cloned().collect();
        contract_duplicate(&seen, call)
    })
}

/// A reader that sees other things in challenges.
pub fn discover(
    discover: impl Fn(&ReadEntry, &Context) -> Option<Discovery> + Send + Sync + 'static,
) -> Mutation {
    Change::Challenges(Policy { discover: Box::new(discover), ..Policy::default() }).into()
}

/// A reader that joins two challenges otherwise.
pub fn join(join: impl Fn(Discovery, Discovery) -> Discovery + Send + Sync + 'static) -> Mutation {
    Change::Challenges(Policy { join: Box::new(join), ..Policy::default() }).into()
}

/// A reader to whom the headers that could hold a challenge are others.
pub fn on_headers(see: impl Fn(&str, &str) -> Option<(String, String)> + Send + Sync + 'static) -> Mutation {
    discover(move |entry, context| {
        let headers = context.headers.iter().filter_map(|(name, value)| see(name, value)).collect();
        contract_discovery(entry, &Context { headers, ..context.clone() })
    })
}

/// A reader that sees such headers only.
pub fn see_headers(sees: impl Fn(&str, &str) -> bool + Send + Sync + 'static) -> Mutation {
    on_headers(move |name, value| sees(name, value).then(|| (name.to_owned(), value.to_owned())))
}

/// A reader that sees other values of headers.
pub fn rewrite_headers(rewrite: impl Fn(&str) -> String + Send + Sync + 'static) -> Mutation {
    on_headers(move |name, value| Some((name.to_owned(), rewrite(value))))
}

/// A reader that changes the meaning.
pub fn on_outcome(edit: impl Fn(&mut Outcome) + Send + Sync + 'static) -> Mutation {
    Change::Outcome(Box::new(edit)).into()
}

/// A reader that changes the meaning every other time.
pub fn every_other_time(edit: impl Fn(&mut Outcome) + Send + Sync + 'static) -> Mutation {
    Change::EveryOtherTime(Box::new(edit)).into()
}

/// A reader that changes events of the meaning.
pub fn on_events(edit: impl Fn(&mut Event) + Send + Sync + 'static) -> Mutation {
    on_outcome(move |outcome| outcome.events.iter_mut().for_each(&edit))
}

/// A reader that loses the events at such indices.
pub fn lose_events(lost: impl Fn(&Outcome, usize) -> bool + Send + Sync + 'static) -> Mutation {
    on_outcome(move |outcome| outcome.drop_events(&lost))
}

/// A reader that orders events by a key of their index.
pub fn sort_events<K: Ord>(key: impl Fn(&Outcome, usize) -> K + Send + Sync + 'static) -> Mutation {
    on_outcome(move |outcome| {
        let mut order: Vec<usize> = (0..outcome.events.len()).collect();
        order.sort_by_key(|&at| key(outcome, at));
        outcome.arrange(&order);
    })
}

/// A reader that gives these members of the normal form other values; an empty text takes a value away.
pub fn on_values(names: &'static [&'static str], edit: impl Edit) -> Mutation {
    on_outcome(move |outcome| outcome.edit_values(names, &edit))
}

/// A reader that answers otherwise; nothing: as the original.
pub fn on_answer(answer: impl Fn(&Original<'_>) -> Option<Answer> + Send + Sync + 'static) -> Mutation {
    Change::Answer(Box::new(answer)).into()
}

/// A reader that rewrites the text of the meaning.
pub fn on_meaning(rewrite: impl Fn(&str) -> String + Send + Sync + 'static) -> Mutation {
    on_answer(move |original| original.meaning().map(|text| Answer::Meaning(Meaning::written(rewrite(text)))))
}

/// A reader that rejects such transcripts. It names no code, as importers may: where it rejects rightly it must not
/// fail for a word.
pub fn reject_if(test: impl Fn(&Original<'_>) -> bool + Send + Sync + 'static) -> Mutation {
    on_answer(move |original| {
        test(original).then(|| Answer::Rejection { code: None, message: "rejected".to_owned() })
    })
}

/// A reader that rejects a transcript with such an entry.
pub fn reject_entry(test: impl Fn(&ReadEntry) -> bool + Send + Sync + 'static) -> Mutation {
    reject_if(move |original| original.reading.entries.iter().any(&test))
}

/// A reader that rejects a transcript with such a message.
pub fn reject_message(test: impl Fn(&ReadMessage) -> bool + Send + Sync + 'static) -> Mutation {
    reject_if(move |original| original.reading.messages().any(&test))
}

/// A reader that rejects a transcript with such a meaning.
pub fn reject_outcome(test: impl Fn(&Outcome) -> bool + Send + Sync + 'static) -> Mutation {
    reject_if(move |original| Policy::default().outcome(&original.reading.entries).is_ok_and(|it| test(&it)))
}

/// A reader that rejects such documents of a shape.
pub fn reject_document(shape: Shape, test: impl Test) -> Mutation {
    reject_if(move |original| {
        Shape::of(original.format) == shape
            && original.text().is_some_and(|text| Json::parse(text).is_ok_and(&test))
    })
}

/// A reader that rejects a document of a shape for such an item of the list at the end of a path.
pub fn reject_items(shape: Shape, path: &'static [&'static str], test: impl Test) -> Mutation {
    reject_document(shape, move |whole: Json<'_>| {
        crate::json::value_at(whole, path).is_some_and(|list| list.items().any(&test))
    })
}

/// A reader that rejects a trace for such a line.
pub fn reject_trace_line(test: impl Test) -> Mutation {
    reject_if(move |original| {
        let odd = |text: &str| text.lines().any(|line| Json::parse(line).is_ok_and(&test));
        Shape::of(original.format) == Shape::Trace && original.text().is_some_and(odd)
    })
}

/// A reader that dies of such transcripts.
pub fn break_if(how: FailureKind, test: impl Fn(&Original<'_>) -> bool + Send + Sync + 'static) -> Mutation {
    on_answer(move |original| {
        test(original).then(|| Answer::Broken { how, message: "it did not come back".to_owned() })
    })
}
