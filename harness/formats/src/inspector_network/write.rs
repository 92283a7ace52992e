//! Writing the export: the text of the exchanges that the plan names.

use super::read::is_expected;
use crate::exchange::body::bare;
use crate::exchange::media::STREAM;
use crate::exchange::plan::Draft;
use crate::exchange::write::{Spelled, events, milliseconds, reason, string, write_list};
use crate::made_up;
use crate::session::Session;
use crate::time;
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};
use transcript::json::write_string;
use transcript::session::{Headers, header};

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"[")?;
    let any = write_list(session, out, exchange)?;
    out.write_all(if any { b"\n]\n" } else { b"]\n" })
}

fn exchange(draft: &Draft<'_>, index: usize, out: &mut Vec<u8>) {
    let took = milliseconds(draft.took());
    let mut spelled = Spelled::new(draft);
    // What a log says of the type beside the headers has no other place here.
    if header(&spelled.response_headers, "content-type").is_none() && !spelled.media_type.is_empty() {
        spelled.response_headers.push(("content-type".into(), spelled.media_type.clone().into()));
    }
    let mut member = |name: &str, write: &mut dyn FnMut(&mut Vec<u8>)| {
        out.extend_from_slice(if name == "id" { b"  {\n    \"" } else { b",\n    \"" });
        out.extend_from_slice(name.as_bytes());
        out.extend_from_slice(b"\": ");
        write(out);
    };
    member("id", &mut |out| string(&format!("{}-{index}", draft.began / 1000), out));
    member("timestamp", &mut |out| string(&time::write_microseconds(draft.began), out));
    member("method", &mut |out| string(&spelled.method, out));
    member("url", &mut |out| string(&spelled.url, out));
    // A body that was there and is not is known by its length, where its type does not tell.
    let sent = listed(&spelled.request_headers, draft.missing.0);
    member("requestHeaders", &mut |out| object(&sent, out));
    if let Some(body) = &spelled.request {
        member("requestBody", &mut |out| write_string(body, out));
    }
    let answered = spelled.status != 0;
    if answered {
        member("responseStatus", &mut |out| out.extend_from_slice(spelled.status.to_string().as_bytes()));
        member("responseStatusText", &mut |out| string(reason(spelled.status), out));
    }
    // Without its type nobody can tell what a body is.
    if answered || spelled.answer.is_some() {
        let said = listed(&spelled.response_headers, draft.missing.1 && spelled.media_type != STREAM);
        member("responseHeaders", &mut |out| object(&said, out));
    }
    if let Some(body) = &spelled.answer {
        member("responseBody", &mut |out| write_string(body, out));
    }
    if !answered {
        member("error", &mut |out| string("no answer", out));
    }
    member("duration", &mut |out| out.extend_from_slice(took.as_bytes()));
    member("category", &mut |out| string("transport", out));
    if answered && spelled.method == "GET" && spelled.media_type == STREAM {
        let count = draft.sent.len().max(usize::from(draft.missing.1));
        member("stream", &mut |out| out.extend_from_slice(format!("{{\"eventCount\": {count}}}").as_bytes()));
    }
    if draft.is_timed() {
        let events = events(draft, &spelled.places);
        member("_events", &mut |out| out.extend_from_slice(events.as_bytes()));
    }
    let words = draft.made_up();
    if !words.is_empty() {
        member(made_up::MEMBER, &mut |out| out.extend_from_slice(made_up::list(&words).as_bytes()));
    }
    out.extend_from_slice(b"\n  }");
}

/// Headers as JavaScript has them: in lower case, those of one name as one.
fn listed(headers: &Headers<'_>, missing: bool) -> Vec<(String, String)> {
    let (mut listed, mut places): (Vec<(String, String)>, HashMap<String, usize>) = Default::default();
    // A quoted text that nobody closed would take in whatever is put behind it, a challenge perhaps.
    let open = |value: &str| value.matches('"').count() % 2 == 1;
    let (last, first): (Vec<_>, Vec<_>) = headers.iter().partition(|(_, value)| open(value));
    for (name, value) in first.into_iter().chain(last) {
        let name = name.to_ascii_lowercase();
        match places.entry(name) {
            // Joined, two types would be none.
            Entry::Occupied(place) if place.key() == "content-type" => {}
            Entry::Occupied(place) => {
                let (_, values) = &mut listed[*place.get()];
                values.push_str(", ");
                values.push_str(value);
            }
            Entry::Vacant(place) => {
                listed.push((place.key().clone(), value.clone().into_owned()));
                place.insert(listed.len() - 1);
            }
        }
    }
    let said: Headers<'_> =
        listed.iter().map(|(name, value)| (Cow::from(&**name), Cow::from(&**value))).collect();
    let media_type = bare(header(&said, "content-type").unwrap_or_default());
    if missing && !is_expected(&media_type, &said) {
        listed.retain(|(name, _)| name != "content-length");
        listed.push(("content-length".to_owned(), "1".to_owned()));
    }
    listed
}

fn object(headers: &[(String, String)], out: &mut Vec<u8>) {
    for (index, (name, value)) in headers.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"{" } else { b", " });
        string(name, out);
        out.extend_from_slice(b": ");
        string(value, out);
    }
    out.extend_from_slice(if headers.is_empty() { b"{}" } else { b"}" });
}
