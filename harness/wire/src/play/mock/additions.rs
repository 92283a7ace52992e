//! What was new, put into the recording.

use super::catalogue::{Catalogue, Turn};
use crate::messages::{about, id_span, own_token, span, with};
use crate::play::http::Answers;
use crate::play::names::FreshIds;
use crate::play::{Script, read_session};
use formats::{Format, OwnedContent, OwnedEntry, Session};
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{SystemTime, UNIX_EPOCH};
use transcript::diff::DiffOptions;
use transcript::message::Message;
use transcript::session::Side;

/// What a live server was asked, and what both sides said to that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct New {
    /// The key that all messages with the same question share.
    key: u128,
    messages: Vec<(Side, String, i64)>,
}

impl New {
    pub(super) fn asked(key: u128, text: &str) -> Self {
        let mut new = Self { key, messages: Vec::new() };
        new.add(Side::Client, text);
        new
    }

    pub(super) fn add(&mut self, side: Side, text: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        self.messages.push((side, text.to_owned(), i64::try_from(now.as_millis()).unwrap_or_default()));
    }

    /// The client's message.
    pub(super) fn request(&self) -> Option<&str> {
        self.messages.first().map(|(_, text, _)| text.as_str())
    }
}

/// Whether messages can be put into a recording of this format.
///
/// # Errors
/// A sentence, where its file would lose something by that.
pub fn can_grow(session: &Session, format: &Format) -> Result<(), String> {
    if !format.is_written() || !format.is_lines() || !format.carries.direction || format.carries.exchanges {
        return Err(format!(
            "nothing can be added to a recording in {}: convert it first with `mcp-concord convert --to mcp-replay`",
            format.name
        ));
    }
    match &session.losses(format)[..] {
        [] => Ok(()),
        [loss, ..] => Err(format!("writing the file again would lose {}", loss.what)),
    }
}

/// The bytes of a recording with what was new in it: behind the rest, or in place of what asked for the same where the recording
/// is `renewed`. They are read again before they are given out.
///
/// # Errors
/// A sentence, where that is not a recording any more.
pub fn grown(
    script: &Script,
    rules: &DiffOptions,
    new: Vec<New>,
    renewed: bool,
    format: &'static Format,
) -> Result<Vec<u8>, String> {
    let catalogue = Catalogue::new(script, rules, Answers::AsRecorded)?;
    let count = new.len();
    let (session, kept) = merged(&catalogue, new, renewed);
    let mut bytes = Vec::new();
    format.write(&session, &mut bytes).map_err(|error| error.to_string())?;
    let read = read_session(format, &bytes)
        .map_err(|error| format!("with the new messages it would not be a session: {error}"))?;
    let again = Script::new(read, script.role)?;
    let found = Catalogue::new(&again, rules, Answers::AsRecorded)?.units.len();
    if found != kept + count {
        return Err(format!(
            "with the new messages it would be read as {found} messages of a client, not {}",
            kept + count
        ));
    }
    Ok(bytes)
}

/// The session, and how many messages of the client it keeps.
fn merged(catalogue: &Catalogue<'_>, new: Vec<New>, renewed: bool) -> (Session, usize) {
    let script = catalogue.script;
    let replaced: HashSet<u128> =
        if renewed { new.iter().map(|it| it.key).collect() } else { HashSet::new() };
    // By step: the key of what it belongs to, where that is replaced.
    let mut gone = HashMap::new();
    for unit in catalogue.units.iter().filter(|unit| replaced.contains(&unit.key)) {
        gone.insert(unit.step, unit.key);
        for turn in &unit.turns {
            let step = match turn {
                Turn::Send(step) => *step,
                Turn::Await { answer, .. } => *answer,
            };
            gone.insert(step, unit.key);
        }
    }
    let kept = catalogue.units.iter().filter(|unit| !replaced.contains(&unit.key)).count();
    let mut names = Names::new(script, &gone);
    let mut by_key: BTreeMap<u128, Vec<New>> = BTreeMap::new();
    let mut behind = Vec::new();
    let there: HashSet<u128> = gone.values().copied().collect();
    for it in new {
        if there.contains(&it.key) {
            by_key.entry(it.key).or_default().push(it);
        } else {
            behind.push(it);
        }
    }
    let (mut entries, mut step) = (Vec::new(), 0);
    for entry in &script.session.entries {
        let is_message = entry.message().is_some();
        let key = if is_message { gone.get(&step) } else { None };
        step += usize::from(is_message);
        match key {
            None => entries.push(entry.clone()),
            Some(key) => {
                let instead = by_key.remove(key).into_iter().flatten();
                // Their times are later than what follows.
                instead.for_each(|it| names.write(it, false, &mut entries));
            }
        }
    }
    let end = match entries.last().map(|entry: &OwnedEntry| &entry.what) {
        Some(OwnedContent::TraceEnd(_)) => entries.pop(),
        _ => None,
    };
    let latest = behind.iter().flat_map(|it| &it.messages).map(|(.., time)| *time).max();
    behind.into_iter().for_each(|it| names.write(it, true, &mut entries));
    // An end that is older than what was added is none any more: the writer makes another.
    entries.extend(end.filter(|end| end.time.is_none() || end.time >= latest));
    (Session { entries, ..script.session.clone() }, kept)
}

/// The ids of a recording, so that what is added has others.
struct Names(HashMap<Side, FreshIds>);

impl Names {
    fn new(script: &Script, gone: &HashMap<usize, u128>) -> Self {
        let mut names = Self(HashMap::new());
        for (step, found) in script.steps.iter().enumerate() {
            let message = script.message(step).filter(|message| message.method().is_some());
            let message = message.filter(|_| !gone.contains_key(&step));
            if let Some(id) = message.and_then(|message| message.id().key()) {
                let ids = names.0.entry(found.side).or_default();
                let number = std::str::from_utf8(&id).ok().and_then(|id| id.parse::<u64>().ok());
                ids.next = number.map_or(ids.next, |number| number.saturating_add(1).max(ids.next));
                ids.given.insert(id.into_owned());
            }
        }
        names
    }

    fn write(&mut self, new: New, timed: bool, entries: &mut Vec<OwnedEntry>) {
        let mut renamed: HashMap<(Side, Vec<u8>), String> = HashMap::new();
        let mut token: Option<(String, String)> = None;
        for (side, text, time) in new.messages {
            let Ok(message) = Message::parse(&text) else { continue };
            let key = message.id().key().map(Cow::into_owned);
            let asks = message.method().is_some();
            if let Some(key) = key.as_ref().filter(|_| asks)
                && let Some(name) = self.0.entry(side).or_default().rename(key, "")
            {
                renamed.insert((side, key.clone()), name);
            }
            let asker = if asks { side } else { side.other() };
            let name = key.and_then(|key| renamed.get(&(asker, key)));
            let mut text = with(message, id_span(message), name.map(String::as_str)).into_owned();
            // A token that was as new as the id goes with it.
            if let (Some(own), Some(name), Side::Client) = (own_token(message), name, side) {
                token = Some((own.text().to_owned(), name.clone()));
            }
            if let (Some((old, name)), Ok(message)) = (&token, Message::parse(&text)) {
                let it = own_token(message).or(about(message, "notifications/progress", "progressToken"));
                let it = it.filter(|it| it.text() == old).and_then(|it| span(message, it));
                text = with(message, it, Some(name)).into_owned();
            }
            let Ok(shape) = Message::parse(&text).map(|message| message.shape()) else { continue };
            entries.push(OwnedEntry {
                side: Some(side),
                time: timed.then_some(time),
                ..OwnedEntry::new(OwnedContent::Message(text, shape))
            });
        }
    }
}
