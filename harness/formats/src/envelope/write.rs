//! Writing an envelope: an entry a line.

use crate::made_up;
use crate::session::{OwnedContent, OwnedEntry, Session};
use crate::transport::Transport;
use std::collections::HashMap;
use std::io::{self, Write};
use transcript::json::{Json, write_compact, write_string};
use transcript::session::{Carrier, Exchange, Side};

/// Writes the session as an envelope of this transport.
pub(crate) fn write(transport: Transport, session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let mut head = format!("{{\"transport\": \"{}\"", transport.name()).into_bytes();
    let words: &[&str] = match session.transport() {
        _ if session.entries.iter().all(|entry| entry.message().is_none()) => &[],
        _ if session.is_without_http() => &[made_up::TRANSPORT],
        Some(other) if other != transport => &[made_up::LABEL],
        _ => &[],
    };
    if !words.is_empty() {
        head.extend_from_slice(format!(",\n \"{}\": {}", made_up::MEMBER, made_up::list(words)).as_bytes());
    }
    for entry in &session.entries {
        if let (OwnedContent::Envelope, Some(context)) = (&entry.what, &entry.context) {
            head.extend_from_slice(b",\n \"transport_context\": ");
            compact(&context.text, &mut head);
            // A second context would make the first ambiguous; readers hand on one at most.
            break;
        }
    }
    head.extend_from_slice(b",\n \"entries\": [");
    out.write_all(&head)?;
    let mut first = true;
    let mut line = Vec::new();
    // Of each exchange: its headers, which stand with its request, and its status and headers, with the first answer.
    let (mut asked, mut answered) = (HashMap::new(), HashMap::new());
    for entry in &session.entries {
        line.clear();
        if let (OwnedContent::Exchange(exchange), Some(number)) = (&entry.what, entry.exchange) {
            asked.insert(number, &**exchange);
            if exchange.status.is_some_and(|status| status != 401) {
                answered.insert(number, &**exchange);
            }
        }
        if entry.message().is_some() && entry.context.is_none() {
            let server = entry.side == Some(Side::Server);
            let of = if server { &mut answered } else { &mut asked };
            if let Some(exchange) = entry.exchange.and_then(|number| of.remove(&number)) {
                surroundings(exchange, server, &mut line);
            }
        }
        if spell(transport, entry, &mut line) {
            out.write_all(if first { b"\n  {" } else { b",\n  {" })?;
            first = false;
            out.write_all(&line)?;
            out.write_all(b"}")?;
        }
    }
    out.write_all(if first { b"]}\n" } else { b"\n ]}\n" })
}

/// Whether an event is one that the transport has not: `endpoint` is of HTTP+SSE.
pub(crate) fn is_foreign(transport: Transport, entry: &OwnedEntry) -> bool {
    transport == Transport::StreamableHttp
        && entry.message().is_none()
        && entry.sse.as_ref().is_some_and(|sse| sse.name.as_deref() == Some("endpoint"))
}

/// The context of a request or an answer of an exchange.
fn surroundings(exchange: &Exchange<'_>, server: bool, line: &mut Vec<u8>) {
    let headers = if server { &exchange.response_headers } else { &exchange.request_headers };
    line.extend_from_slice(b"\"transport_context\": {");
    if let Some(status) = exchange.status.filter(|_| server) {
        line.extend_from_slice(format!("\"status\": {status}, ").as_bytes());
    }
    line.extend_from_slice(b"\"headers\": {");
    let mut told: Vec<&str> = Vec::new();
    for (name, _) in headers {
        // An object has one member of a name, and RFC 9110 lets the values of one name be joined.
        if told.iter().any(|told| told.eq_ignore_ascii_case(name)) {
            continue;
        }
        if !told.is_empty() {
            line.extend_from_slice(b", ");
        }
        told.push(name);
        let same = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let values: Vec<&str> = same.map(|(_, value)| &**value).collect();
        write_string(name.as_bytes(), line);
        line.extend_from_slice(b": ");
        write_string(values.join(", ").as_bytes(), line);
    }
    line.extend_from_slice(b"}}, ");
}

/// Spells one entry without its braces; false where the envelope has no place for it.
fn spell(transport: Transport, entry: &OwnedEntry, line: &mut Vec<u8>) -> bool {
    let challenge = match &entry.what {
        OwnedContent::Exchange(exchange) if exchange.status == Some(401) => Some(exchange),
        _ => None,
    };
    if !matches!(entry.what, OwnedContent::Message(..) | OwnedContent::Event | OwnedContent::Empty)
        && challenge.is_none()
        || is_foreign(transport, entry)
    {
        return false;
    }
    if let Some(time) = entry.time.filter(|&time| time >= 0) {
        line.extend_from_slice(format!("\"timestamp_ms\": {time}, ").as_bytes());
    }
    if let Some(context) = &entry.context {
        line.extend_from_slice(b"\"transport_context\": ");
        compact(&context.text, line);
        line.extend_from_slice(b", ");
    } else if let Some(exchange) = challenge {
        line.extend_from_slice(b"\"transport_context\": {\"status\": 401, \"headers\": {");
        // An object cannot hold two challenges under one name, and RFC 9110 lets them be joined with commas.
        let mut values: Vec<&str> = Vec::new();
        for (name, value) in &exchange.response_headers {
            if name.eq_ignore_ascii_case("www-authenticate") {
                values.push(value);
            }
        }
        if !values.is_empty() {
            line.extend_from_slice(b"\"WWW-Authenticate\": ");
            write_string(values.join(", ").as_bytes(), line);
        }
        line.extend_from_slice(b"}}, ");
    }
    let streams = entry.carrier == Carrier::Sse
        || transport == Transport::HttpSse && entry.carrier != Carrier::Response;
    match (&entry.what, entry.side) {
        (OwnedContent::Message(text, _), Some(Side::Client)) => carrier("request", text, line),
        (OwnedContent::Message(text, _), _) if streams => event(entry, Some(text), line),
        (OwnedContent::Message(text, _), _) => carrier("response", text, line),
        (OwnedContent::Empty, _) if entry.carrier == Carrier::Request => carrier("request", "null", line),
        (OwnedContent::Empty, _) if entry.carrier == Carrier::Sse => carrier("sse", "null", line),
        (OwnedContent::Event, _) => event(entry, None, line),
        _ => carrier("response", "null", line),
    }
    true
}

fn carrier(name: &str, text: &str, line: &mut Vec<u8>) {
    line.extend_from_slice(format!("\"{name}\": ").as_bytes());
    compact(text, line);
}

/// An SSE event: its name and id where they are known, and its data.
fn event(entry: &OwnedEntry, message: Option<&str>, line: &mut Vec<u8>) {
    line.extend_from_slice(b"\"sse\": {");
    let sse = entry.sse.as_ref();
    let mut member = |name: &str, value: &mut dyn FnMut(&mut Vec<u8>)| {
        if line.last() != Some(&b'{') {
            line.extend_from_slice(b", ");
        }
        line.extend_from_slice(format!("\"{name}\": ").as_bytes());
        value(line);
    };
    let name = sse.and_then(|sse| sse.name.as_deref());
    // SSE-EVENT: a stream's event without a name is a `message`; in an envelope that would be open.
    let name = name.filter(|name| message.is_none() || !name.is_empty()).or(message.map(|_| "message"));
    if let Some(name) = name {
        member("event", &mut |line| write_string(name.as_bytes(), line));
    }
    if let Some(id) = sse.and_then(|sse| sse.id.as_deref()) {
        member("id", &mut |line| write_string(id.as_bytes(), line));
    }
    if let Some(retry) = sse.and_then(|sse| sse.retry) {
        member("retry", &mut |line| line.extend_from_slice(retry.to_string().as_bytes()));
    }
    if let Some(text) = message {
        member("data", &mut |line| compact(text, line));
    } else if let Some(data) = sse.and_then(|sse| sse.data.as_deref()) {
        member("data", &mut |line| write_string(data.as_bytes(), line));
    }
    line.push(b'}');
}

fn compact(text: &str, line: &mut Vec<u8>) {
    if let Ok(value) = Json::parse(text) {
        write_compact(value, line);
    }
}
