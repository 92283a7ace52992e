//! Writing a recording, an interaction a line.

use crate::format::Unloadable;
use crate::session::{OwnedContent, OwnedEntry, Session};
use crate::time;
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::message::{Id, Message};
use transcript::session::Side;

/// A message and what is known of it.
struct Said<'s> {
    /// Which of the messages it is.
    number: u64,
    /// Which of the entries.
    at: usize,
    entry: &'s OwnedEntry,
    message: Message<'s>,
}

/// The tag of a recording that lacks messages.
pub(super) const LEFT_OUT: &str = "_left_out";

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let said = said(session);
    let lacks = session.entries.iter().any(|entry| matches!(entry.what, OwnedContent::Missing(_)));
    let tag = if lacks { format!(", \"{LEFT_OUT}\": \"messages\"") } else { String::new() };
    // When it was recorded is not known, and the recorder's own reader asks for a time.
    write!(
        out,
        "{{\n  \"format_version\": \"1.0.0\",\n  \"metadata\": {{\"version\": \"1.0\", \"recorded_at\": \"1970-01-01T00:00:00\", \
          \"transport\": \"stdio\", \"tags\": {{\"_made_up\": \"times\"{tag}}}}},\n  \"session\": {{\n    \"initialize_request\": ",
    )?;
    let [asked, answered] = handshake(&said);
    let mut line = Vec::new();
    hold(asked, &mut line);
    line.extend_from_slice(b",\n    \"initialize_response\": ");
    hold(answered, &mut line);
    line.extend_from_slice(b",\n    \"capabilities\": {},\n    \"interactions\": [");
    out.write_all(&line)?;

    let mut at = usize::from(asked.is_some()) + usize::from(answered.is_some());
    let mut now = said[at..]
        .iter()
        .find_map(|said| said.entry.time.filter(|_| !is_notification(said)))
        .unwrap_or_default();
    let mut sequence = 0u64;
    while at < said.len() {
        let interaction = Interaction::new(&said, at);
        now = interaction.time().unwrap_or(now);
        line.clear();
        line.extend_from_slice(if sequence == 0 { b"\n" } else { b",\n" });
        interaction.write(sequence, now, &mut line)?;
        out.write_all(&line)?;
        at += interaction.length();
        sequence += 1;
    }
    out.write_all(if sequence == 0 { b"]\n  }\n}\n" } else { b"\n    ]\n  }\n}\n" })
}

/// What agent-vcr does not load: it wants a handshake, and each of its interactions is a request with an id.
pub(super) fn unloadable(session: &Session) -> Option<Unloadable> {
    let mut said = said(session);
    let mut entries: Vec<usize> =
        said.extract_if(.., |said| has_no_place(said)).map(|said| said.at).collect();
    // Nor has what the server notifies before it answers `initialize`.
    let early = said.iter().skip(1).take_while(|said| is_notification(said)).count();
    let behind = said.len().min(1);
    entries.extend(said.drain(behind..behind + early).map(|said| said.at));
    let [_, Some(_)] = handshake(&said) else {
        let what = "a session that does not begin with `initialize` and its answer".to_owned();
        return Some(Unloadable { what, entries: Vec::new() });
    };
    let mut at = 2;
    while at < said.len() {
        let interaction = Interaction::new(&said, at);
        let behind = at + interaction.length();
        if interaction.request.is_none() {
            entries.extend(said[at..behind].iter().map(|said| said.at));
        }
        at = behind;
    }
    entries.sort_unstable();
    let line = session.entries[*entries.first()?].location.line;
    let which = match entries.len() {
        1 => format!("the message on line {line}"),
        count => format!("{count} messages, the first on line {line}"),
    };
    Some(Unloadable { what: format!("{which}, since it keeps only requests with their answers"), entries })
}

/// Whether a message is a notification of the client, a request of the server, or the answer to one.
fn has_no_place(said: &Said<'_>) -> bool {
    let has_id = said.message.id() != Id::Missing;
    let asks = said.message.method().is_some();
    if is_server(said.entry) { asks && has_id } else { !(asks && has_id) }
}

fn said(session: &Session) -> Vec<Said<'_>> {
    let entries = session.entries.iter().enumerate();
    let messages = entries.filter_map(|(at, entry)| Some((at, entry, entry.message()?)));
    (0..).zip(messages).map(|(number, (at, entry, message))| Said { number, at, entry, message }).collect()
}

/// The handshake that stands apart from the interactions.
fn handshake<'s, 'm>(said: &'s [Said<'m>]) -> [Option<&'s Said<'m>>; 2] {
    let asked = said.first().filter(|said| {
        !is_server(said.entry) && said.message.method().is_some_and(|method| method.is("initialize"))
    });
    [asked, asked.and(said.get(1)).filter(|said| is_server(said.entry) && said.entry.answers == Some(0))]
}

fn is_server(entry: &OwnedEntry) -> bool {
    entry.side == Some(Side::Server)
}

fn is_notification(said: &Said<'_>) -> bool {
    is_server(said.entry) && said.message.method().is_some() && said.message.id() == Id::Missing
}

fn hold(said: Option<&Said<'_>>, line: &mut Vec<u8>) {
    match said {
        Some(said) => write_compact(said.message.json(), line),
        None => line.extend_from_slice(b"null"),
    }
}

/// What stands together: a request with the notifications and the answer that follow it at once, or one message.
struct Interaction<'s> {
    request: Option<&'s Said<'s>>,
    notifications: &'s [Said<'s>],
    response: Option<&'s Said<'s>>,
}

impl<'s> Interaction<'s> {
    fn new(said: &'s [Said<'s>], at: usize) -> Self {
        let first = &said[at];
        let empty = Self { request: None, notifications: &[], response: None };
        if is_notification(first) {
            return Self { notifications: &said[at..=at], ..empty };
        }
        if is_server(first.entry) {
            return Self { response: Some(first), ..empty };
        }
        let behind = &said[at + 1..];
        let notified = behind.iter().take_while(|said| is_notification(said)).count();
        let answer = behind.get(notified);
        match answer.filter(|said| is_server(said.entry) && said.entry.answers == Some(first.number)) {
            Some(answer) => {
                Self { request: Some(first), notifications: &behind[..notified], response: Some(answer) }
            }
            None => Self { request: Some(first), ..empty },
        }
    }

    fn length(&self) -> usize {
        usize::from(self.request.is_some()) + self.notifications.len() + usize::from(self.response.is_some())
    }

    /// When it was over; notifications have no time of their own there.
    fn time(&self) -> Option<i64> {
        let when = |said: Option<&Said<'_>>| said.and_then(|said| said.entry.time);
        when(self.response).or_else(|| when(self.request))
    }

    fn write(&self, sequence: u64, now: i64, line: &mut Vec<u8>) -> io::Result<()> {
        let begun = self.request.and_then(|said| said.entry.time).unwrap_or(now);
        let took = if self.response.is_some() { now.saturating_sub(begun) } else { 0 };
        let direction = if self.response.is_some() { "server_to_client" } else { "client_to_server" };
        let stamp = time::write(now);
        let stamp = stamp.trim_end_matches('Z');
        write!(
            line,
            "      {{\"sequence\": {sequence}, \"timestamp\": \"{stamp}\", \"direction\": \"{direction}\", \"request\": "
        )?;
        hold(self.request, line);
        line.extend_from_slice(b", \"response\": ");
        hold(self.response, line);
        line.extend_from_slice(b", \"notifications\": [");
        for (index, said) in self.notifications.iter().enumerate() {
            line.extend_from_slice(if index == 0 { b"" } else { b", " });
            hold(Some(said), line);
        }
        write!(line, "], \"latency_ms\": {took}.0}}")
    }
}
