//! Mutants that spoil nearly every reading: a case that kills nothing else shows little.

use crate::on_reading::{lose_events, on_answer, reject_if};
use crate::outcome::Outcome;
use crate::policy::CONTRACT;
use verdict::answer::Answer;

mutants! {
    "survival/rejects-everything" ["EQ-COUNT"] "rejects every transcript" => reject_if(|_| true);
    "survival/rejects-nothing" ["SRV-BYTES"] "takes what it cannot read for an empty session"
        => on_answer(|original| {
            let empty = Outcome { events: Vec::new(), discovery: None };
            matches!(original.answer(), Answer::Rejection { .. }).then(|| empty.answer())
        });
    "survival/partial" ["SRV-BYTES"] "gives what it read before an error as the whole session"
        => on_answer(|original| {
            original.reading.failure.as_ref()?;
            CONTRACT.outcome(&original.reading.entries).ok().map(|outcome| outcome.answer())
        });
    "events/handshake-wanted" ["EQ-COUNT"] "shows nothing of a session without `initialize`"
        => lose_events(|outcome, _| !outcome.events.iter().any(|event| event.is_method("initialize")));
    "events/last-one-lost" ["EQ-COUNT"] "loses the last event"
        => lose_events(|outcome, at| at + 1 == outcome.events.len());
}
