//! Writing a cassette, an interaction a line.

use crate::session::{OwnedEntry, Session};
use std::io::{self, Write};
use transcript::json::write_compact;
use transcript::message::{Id, Message};
use transcript::session::Side;

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(
        b"{\n  \"version\": \"1.0\",\n  \"metadata\": {\"recorded_at\": \"\", \"server_url\": \"\"},\n",
    )?;
    out.write_all(b"  \"interactions\": [")?;
    let said: Vec<_> = session.entries.iter().filter_map(|entry| Some((entry, entry.message()?))).collect();
    let (mut index, mut line) = (0, Vec::new());
    while let Some((entry, message)) = said.get(index) {
        let (request, response) = match is_server(entry) {
            true => (None, Some(message)),
            false => (Some(message), answer(&said, index)),
        };
        line.clear();
        line.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        interaction(request, response, &mut line);
        out.write_all(&line)?;
        index += usize::from(request.is_some()) + usize::from(response.is_some());
    }
    out.write_all(if index == 0 { b"]\n}\n" } else { b"\n  ]\n}\n" })
}

fn is_server(entry: &OwnedEntry) -> bool {
    entry.side == Some(Side::Server)
}

/// What follows a client's message at once and answers it. Anything else would be bound to it by nobody but a replay.
fn answer<'s>(said: &'s [(&OwnedEntry, Message<'s>)], index: usize) -> Option<&'s Message<'s>> {
    let (entry, message) = said.get(index + 1)?;
    (is_server(entry) && entry.answers == Some(index as u64)).then_some(message)
}

fn interaction(request: Option<&Message<'_>>, response: Option<&Message<'_>>, line: &mut Vec<u8>) {
    let notifies = request.is_some_and(|message| matches!(message.id(), Id::Missing));
    let sort = if notifies { "notification" } else { "jsonrpc_request" };
    line.extend_from_slice(format!("    {{\"type\": \"{sort}\", \"request\": ").as_bytes());
    hold(request, line);
    line.extend_from_slice(b", \"response\": ");
    hold(response, line);
    let status = if response.is_some() { 200 } else { 202 };
    let rest = format!(
        ", \"response_is_sse\": false, \"response_status\": {status}, \"latency_ms\": 0, \"http_method\": null, \
         \"http_path\": null}}"
    );
    line.extend_from_slice(rest.as_bytes());
}

fn hold(message: Option<&Message<'_>>, line: &mut Vec<u8>) {
    match message {
        Some(message) => write_compact(message.json(), line),
        None => line.extend_from_slice(b"null"),
    }
}
