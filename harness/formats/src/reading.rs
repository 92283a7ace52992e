//! Reader and contract in a single pass: step by step, or into memory.

use crate::batch::apart;
use crate::format::{Capabilities, Format, Items, ReadOptions};
use crate::input::{Input, ReadError};
use crate::session::{OwnedContent, OwnedEntry, Session, Totals, numbers, usual_sender};
use transcript::call_ids::CallIds;
use transcript::contract::Contract;
use transcript::json::{Json, members_around, quoted, write_compact, write_string};
use transcript::meaning::Event;
use transcript::message::Message;
use transcript::rejection::Code;
use transcript::session::{Content, Entry, Side, SinkError};
use transcript::session_names::SessionNames;

/// One step of a reading.
#[derive(Debug)]
pub enum Step<'e, 'a> {
    /// A message, and what it means.
    Event(&'e Entry<'a>, &'e Event<'a>),
    /// Something else that the transcript holds.
    Context(&'e Entry<'a>),
}

/// Whether a log of exchanges places by guess what a stream said amid later exchanges (clause HAR-ORDER).
#[derive(Debug, Clone, Copy, Default)]
pub struct OrderGuess {
    /// When the last stream ends that does not say when its events came.
    until: Option<i64>,
    guessed: bool,
}

impl OrderGuess {
    /// What a person should know then.
    pub const CAVEAT: &str = "messages of a long stream are placed where the stream began, before later exchanges, since \
                              nothing says when each of them came (HAR-ORDER)";

    /// Takes the next entry in.
    pub fn see(&mut self, entry: &Entry<'_>) {
        let Content::Exchange(exchange) = entry.content else { return };
        self.guessed |= self.until.is_some_and(|until| entry.time.is_none_or(|time| time < until));
        if exchange.media_type == "text/event-stream" && !exchange.timed {
            self.until = self.until.max(Some(exchange.ended.unwrap_or(i64::MAX)));
        }
    }

    /// Whether it does.
    #[must_use]
    pub fn is_one(self) -> bool {
        self.guessed
    }
}

/// Reads a transcript step by step. Nothing that `each` was shown is part of a session until this returns `Ok`.
///
/// # Errors
/// Where the input cannot be read, or is not a session by the contract.
pub fn walk(
    format: &Format,
    input: &mut Input<'_>,
    options: ReadOptions,
    each: &mut dyn FnMut(Step<'_, '_>) -> Result<(), SinkError>,
) -> Result<Totals, ReadError> {
    let mut contract = if options.by_session { Contract::by_session() } else { Contract::new(options.ids) };
    let (mut missing, mut coded, mut noise, mut misnamed) = (0, 0, 0, 0);
    let mut guess = OrderGuess::default();
    format.entries(input, options, &mut |entry| {
        guess.see(&entry);
        apart(&entry, contract.revision(&entry), options, &mut |entry| {
            match entry.content {
                Content::Missing(body) => {
                    missing += 1;
                    coded += u64::from(body.coded);
                }
                Content::Noise(_) => noise += 1,
                Content::Event if is_misnamed(entry) => misnamed += 1,
                _ => {}
            }
            match contract.take(entry).map_err(|why| parted(format, &contract, why))? {
                Some(event) => each(Step::Event(entry, &event)),
                None => each(Step::Context(entry)),
            }
        })
    })?;
    Ok(Totals {
        events: contract.events(),
        unanswered: contract.unanswered(),
        missing,
        coded,
        noise,
        guessed: guess.is_one(),
        misnamed,
        servers: if options.by_session { 1 } else { contract.sessions().hosts() },
        authorization_discovery: contract.authorization_discovery(),
    })
}

/// What ends a reading, with what to do where a call has the id of another session's.
#[must_use]
pub fn parted(format: &Format, contract: &Contract, why: SinkError) -> SinkError {
    match why {
        SinkError::Rejected(mut refusal) if refusal.code == Code::DuplicateCallId => {
            let advice = several_sessions(format, contract.sessions());
            refusal.message += &advice.map(|advice| format!("; {advice}")).unwrap_or_default();
            SinkError::Rejected(refusal)
        }
        why => why,
    }
}

/// That a log holds several sessions, and how to take one out; none where it shows only one.
fn several_sessions(format: &Format, names: &SessionNames) -> Option<String> {
    let Items::List(path) = format.items else { return None };
    if names.count() < 2 {
        // Clients of a revision without sessions share an address, and nothing else tells them apart.
        let said = "where several clients share the recording, record each by itself, or keep the exchanges of one by \
                    their `User-Agent`";
        return format.carries.exchanges.then(|| said.to_owned());
    }
    let what = "the recording holds several sessions, and a transcript is one";
    let Some((names, of_hosts)) = names.several() else {
        return Some(format!("{what}; `check` and `stats` tell them apart, `record` writes a file for each"));
    };
    let (of, first) =
        if of_hosts { ("servers", format!("//{}/", names[0])) } else { ("ids", names[0].to_string()) };
    let pick = if of_hosts { "(.request.url? // .url)" } else { "tostring" };
    Some(format!(
        "{what}: keep one of these {of}: {}; `jq '.{} |= map(select({pick} | contains({})))' FILE > NEW` keeps the first",
        names.join(", "),
        path.join("."),
        quoted(&first)
    ))
}

/// Whether an SSE event holds a message under a name that makes it none (SSE-EVENT).
fn is_misnamed(entry: &Entry<'_>) -> bool {
    let Some(sse) = &entry.sse else { return false };
    let named = sse.name.as_deref().is_some_and(|name| !matches!(name, "" | "message"));
    named && sse.data.as_deref().is_some_and(|data| Message::parse(data).is_ok())
}

/// What [`OwnedEntry::added`] is of an entry of a trace.
fn added(entry: &Entry<'_>) -> Option<String> {
    let line = entry.line?;
    let mut out = Vec::new();
    match &entry.content {
        Content::Skipped(_) => write_compact(Json::parse(line).ok()?, &mut out),
        Content::Message(message) => members_around(line, message.text(), |name, value| {
            if !["t", "dir", "raw", "type"].iter().any(|ours| name.is(ours)) {
                out.push(b',');
                write_string(&name.decode(), &mut out);
                out.push(b':');
                write_compact(value, &mut out);
            }
        })
        .ok()?,
        _ => return None,
    }
    String::from_utf8(out).ok().filter(|added| !added.is_empty())
}

/// The same of a line of another recorder: what it says of its own losses.
fn numbering(entry: &Entry<'_>) -> Option<String> {
    let said = numbers(entry.line?)?;
    match &entry.content {
        Content::Message(_) => Some(said),
        Content::Skipped(_) => Some(format!("{{{}}}", &said[1..])),
        _ => None,
    }
}

/// Reads a transcript to entries of their own, for a writer. What [`walk`] says of its steps holds of them.
/// Memory: an entry, a byte for each event, and the ids of requests where nothing says whose they are.
///
/// # Errors
/// As [`walk`].
pub fn owned_entries(
    format: &Format,
    input: &mut Input<'_>,
    options: ReadOptions,
    each: &mut dyn FnMut(OwnedEntry) -> Result<(), SinkError>,
) -> Result<Totals, ReadError> {
    // Who sent each event, so that a response without a side can look at the request it answers.
    let mut sides: Vec<Side> = Vec::new();
    let mut ids = <[CallIds; 2]>::default();
    walk(format, input, options, &mut |step| {
        let (Step::Event(entry, _) | Step::Context(entry)) = &step;
        let entry = *entry;
        let owned = match step {
            Step::Event(entry, event) => {
                let asked = event.answers.and_then(|index| sides.get(usize::try_from(index).ok()?).copied());
                let side = entry.side.unwrap_or_else(|| match asked {
                    Some(requestor) => requestor.other(),
                    None if event.is_response() => Side::Server,
                    None => likely_sender(event, &mut ids),
                });
                sides.push(side);
                OwnedEntry {
                    side: Some(side),
                    inferred: entry.side.is_none(),
                    answers: event.answers,
                    ..OwnedEntry::copied(entry)
                }
            }
            Step::Context(entry) => OwnedEntry::copied(entry),
        };
        let added = match format.carries {
            Capabilities { process: true, .. } => added(entry),
            Capabilities { numbering: true, .. } => numbering(entry),
            _ => None,
        };
        each(OwnedEntry { added, ..owned })
    })
}

/// Who sent a request or notification: either side pings, and neither uses an id twice in a session. `asked` has the ids of the
/// client, and those of the server.
fn likely_sender(event: &Event<'_>, asked: &mut [CallIds; 2]) -> Side {
    let calls = |name: &str| event.message.method().is_some_and(|method| method.is(name));
    if calls("initialize") {
        *asked = Default::default();
    }
    let usual = usual_sender(&event.message);
    let Some(id) = event.id.as_deref() else { return usual };
    let by_server = calls("ping") && asked[0].has(id) && !asked[1].has(id);
    let side = if by_server { Side::Server } else { usual };
    asked[usize::from(side == Side::Server)].insert(id);
    side
}

impl Session {
    /// Reads a whole transcript into memory.
    ///
    /// # Errors
    /// As [`walk`].
    pub fn read(format: &Format, input: &mut Input<'_>, options: ReadOptions) -> Result<Self, ReadError> {
        let mut entries: Vec<OwnedEntry> = Vec::new();
        let totals = owned_entries(format, input, options, &mut |entry| {
            entries.push(entry);
            Ok(())
        })?;
        Ok(Self::new(format, entries, totals))
    }

    /// The session of a whole transcript that is held already.
    ///
    /// # Errors
    /// As [`walk`].
    pub fn of(format: &Format, mut bytes: &[u8], options: ReadOptions) -> Result<Self, ReadError> {
        Self::read(format, &mut Input::new(&mut bytes)?, options)
    }

    /// The session of which these entries were read in a format.
    #[must_use]
    pub fn new(format: &Format, entries: Vec<OwnedEntry>, totals: Totals) -> Self {
        let made_up = entries.iter().any(|entry| matches!(entry.what, OwnedContent::MadeUp(_)));
        Self { entries, totals, label: format.transport.filter(|_| !made_up), redacts: format.redacts }
    }
}
