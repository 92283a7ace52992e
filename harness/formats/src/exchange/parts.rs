//! What a format says of an exchange, for the reader of all of them.

use super::timed::Attoseconds;
use transcript::json::Json;
use transcript::session::{Carrier, Content, Exchange, MissingBody};

/// Where a format has the parts of an exchange, as pointers.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Up to the number of an exchange.
    pub(crate) root: &'static str,
    /// From there to the body of a request.
    pub(crate) request: &'static str,
    /// And to the body of an answer.
    pub(crate) answer: &'static str,
}

/// The parts of an exchange.
#[derive(Debug)]
pub(crate) struct Parts<'a> {
    pub(crate) exchange: Exchange<'a>,
    pub(crate) request: Held<'a>,
    pub(crate) answer: Held<'a>,
    /// How many bytes each of the two had, as far as the file says that beside them.
    pub(crate) sizes: [Option<u64>; 2],
    /// When the answer came, as far as the file says.
    pub(crate) answered: Option<i64>,
    /// When each part of the answer came, counted from the start, where the file says so.
    pub(crate) times: Option<Vec<Attoseconds>>,
    /// What a converter made up of it.
    pub(crate) made_up: Option<Json<'a>>,
}

/// An exchange as the file lists it.
#[derive(Debug)]
pub(crate) struct Listed<'a> {
    pub(crate) json: Json<'a>,
    /// Its place in the list.
    pub(super) index: u64,
    /// The line that it begins on.
    pub(super) line: u64,
    pub(crate) started: Option<i64>,
    /// What it is sorted by: its own start, or that of the one before it in the file.
    pub(super) rank: Attoseconds,
}

impl Listed<'_> {
    /// This many milliseconds after its start, in milliseconds of the Unix epoch.
    pub(crate) fn after(&self, took: Option<Json<'_>>) -> Option<i64> {
        let took = took.and_then(|took| took.as_number()?.parse::<f64>().ok()).filter(|&took| took >= 0.0);
        self.started.zip(took).map(|(started, took)| {
            #[expect(clippy::cast_possible_truncation, reason = "a float beyond i64 becomes its nearest end")]
            started.saturating_add(took.round() as i64)
        })
    }
}

/// A body as the file has it.
#[derive(Debug)]
pub(crate) enum Held<'a> {
    /// There is none, or none that could be a message.
    None,
    /// There was one that could be, and the exporter dropped it; or it is `coded`: there as it was compressed, and nobody
    /// looks into it.
    Missing { coded: bool },
    /// Its text, and the `encoding` beside it.
    Text(Json<'a>, Option<Json<'a>>),
    /// The events of its stream, as a list (`_eventSourceMessages`).
    Events(Json<'a>),
}

/// What stands in the place of a body that is missing.
pub(crate) fn missing<'e>(carrier: Carrier, coded: bool, cut: bool) -> Content<'e> {
    let whose = if carrier == Carrier::Request { "the request" } else { "the answer" };
    Content::Missing(MissingBody { whose, coded, cut })
}

/// When an exchange began.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moment {
    pub(crate) milliseconds: Option<i64>,
    /// What exchanges are put in order by.
    pub(crate) attoseconds: Attoseconds,
}
