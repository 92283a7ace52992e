//! Writing an envelope: an entry a line.

use crate::made_up;
use crate::session::{OwnedContent, OwnedEntry};
use crate::transport::Transport;
use crate::writing::{Opening, Spoken, WriteLines};
use std::collections::HashMap;
use std::io;
use transcript::json::{Json, write_compact, write_string};
use transcript::session::{Carrier, Exchange, Side};

/// Writes envelopes of this transport.
pub(super) fn lines(transport: Transport, opening: &Opening) -> Box<dyn WriteLines> {
    let mut head = format!("{{\"transport\": \"{}\"", transport.name()).into_bytes();
    let words: &[&str] = match opening.transport {
        _ if !opening.spoken => &[],
        _ if opening.without_http => &[made_up::TRANSPORT],
        Some(other) if other != transport => &[made_up::LABEL],
        None if opening.mislabelled => &[made_up::LABEL],
        _ => &[],
    };
    if !words.is_empty() {
        head.extend_from_slice(format!(",\n \"{}\": {}", made_up::MEMBER, made_up::list(words)).as_bytes());
    }
    if let Some(context) = &opening.context {
        around(context, &mut head);
    }
    head.extend_from_slice(b",\n \"entries\": [");
    Box::new(Lines {
        transport,
        head,
        begun: false,
        placed: opening.context.is_some(),
        late: Vec::new(),
        asked: HashMap::new(),
        answered: HashMap::new(),
    })
}

struct Lines {
    transport: Transport,
    head: Vec<u8>,
    /// Whether an entry is written.
    begun: bool,
    /// Whether the context of the whole is: a second one would make the first ambiguous.
    placed: bool,
    /// That context, where it only came behind the first entries.
    late: Vec<u8>,
    /// Of each exchange under way: the context of its request, and of its first answer.
    asked: HashMap<u64, Vec<u8>>,
    answered: HashMap<u64, Vec<u8>>,
}

impl Lines {
    fn line(&mut self, entry: &OwnedEntry, surroundings: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(if self.begun { b",\n  {" } else { b"\n  {" });
        out.extend_from_slice(surroundings);
        if spell(self.transport, entry, out) {
            out.push(b'}');
            self.begun = true;
        } else {
            out.truncate(start);
        }
    }
}

impl WriteLines for Lines {
    fn open(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.append(&mut self.head);
        Ok(())
    }

    fn message(&mut self, spoken: &Spoken<'_>, out: &mut Vec<u8>) -> io::Result<()> {
        let entry = spoken.entry;
        let of = if entry.side == Some(Side::Server) { &mut self.answered } else { &mut self.asked };
        let exchange = entry.exchange.filter(|_| entry.context.is_none());
        let surroundings = exchange.and_then(|number| of.remove(&number)).unwrap_or_default();
        self.line(entry, &surroundings, out);
        Ok(())
    }

    fn other(&mut self, entry: &OwnedEntry, out: &mut Vec<u8>) -> io::Result<()> {
        match (&entry.what, entry.exchange, &entry.context) {
            (OwnedContent::Exchange(exchange), Some(number), _) => {
                self.asked.insert(number, surroundings(exchange, Side::Client));
                if exchange.status.is_some_and(|status| status != 401) {
                    self.answered.insert(number, surroundings(exchange, Side::Server));
                }
            }
            (OwnedContent::ExchangeEnd, Some(number), _) => {
                self.asked.remove(&number);
                self.answered.remove(&number);
            }
            (OwnedContent::Envelope, _, Some(context)) if !self.placed => {
                self.placed = true;
                around(&context.text, &mut self.late);
            }
            _ => {}
        }
        self.line(entry, &[], out);
        Ok(())
    }

    fn close(&mut self, _: i64, out: &mut Vec<u8>) -> io::Result<()> {
        out.extend_from_slice(if self.begun { b"\n ]" } else { b"]" });
        out.append(&mut self.late);
        out.extend_from_slice(b"}\n");
        Ok(())
    }
}

/// The context of the whole envelope.
fn around(context: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(b",\n \"transport_context\": ");
    compact(context, out);
}

/// Whether an event is one that the transport has not: `endpoint` is of HTTP+SSE.
pub(crate) fn is_foreign(transport: Transport, entry: &OwnedEntry) -> bool {
    transport == Transport::StreamableHttp
        && entry.message().is_none()
        && entry.sse.as_ref().is_some_and(|sse| sse.name.as_deref() == Some("endpoint"))
}

/// The context of a request or an answer of an exchange.
fn surroundings(exchange: &Exchange<'_>, side: Side) -> Vec<u8> {
    let (headers, status) = match side {
        Side::Client => (&exchange.request_headers, None),
        Side::Server => (&exchange.response_headers, exchange.status),
    };
    let mut line = b"\"transport_context\": {".to_vec();
    if let Some(status) = status {
        line.extend_from_slice(format!("\"status\": {status}, ").as_bytes());
    }
    line.extend_from_slice(b"\"headers\": {");
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in headers {
        // An object has one member of a name, and RFC 9110 lets the values of one name be joined.
        if names.iter().any(|known| known.eq_ignore_ascii_case(name)) {
            continue;
        }
        if !names.is_empty() {
            line.extend_from_slice(b", ");
        }
        names.push(name);
        let same = headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let values: Vec<&str> = same.map(|(_, value)| &**value).collect();
        write_string(name.as_bytes(), &mut line);
        line.extend_from_slice(b": ");
        write_string(values.join(", ").as_bytes(), &mut line);
    }
    line.extend_from_slice(b"}}, ");
    line
}

/// Spells one entry but for its braces; false where the envelope has no place for it.
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
