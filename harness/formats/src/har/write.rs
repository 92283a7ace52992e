//! Writing HAR: the text of the exchanges that the plan names.

use crate::exchange::media::{FORM, JSON};
use crate::exchange::plan::Draft;
use crate::exchange::write::{Spelled, events, milliseconds, put, reason, string, write_list};
use crate::made_up;
use crate::session::Session;
use crate::time;
use std::io::{self, Write};
use transcript::json::write_string;
use transcript::session::{Exchange, Headers, STILL_OPEN, header};

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    write!(
        out,
        "{{\"log\": {{\"version\": \"1.2\", \"creator\": {{\"name\": \"mcp-concord\", \"version\": \"{version}\"}}, \
         \"entries\": ["
    )?;
    write_list(session, out, entry)?;
    out.write_all(b"\n]}}\n")
}

fn entry(draft: &Draft<'_>, _: usize, out: &mut Vec<u8>) {
    let took = milliseconds(draft.took());
    let spelled = Spelled::new(draft);
    put(out, "{\"startedDateTime\": ");
    string(&time::write_microseconds(draft.began), out);
    put(out, &format!(", \"time\": {took},\n \"request\": "));
    request(&spelled, draft.missing.0, out);
    put(out, ",\n \"response\": ");
    answer(&spelled, draft.missing.1, out);
    put(out, &format!(",\n \"cache\": {{}}, \"timings\": {{\"send\": 0, \"wait\": {took}, \"receive\": 0}}"));
    if draft.is_timed() {
        put(out, ",\n \"_events\": ");
        put(out, &events(draft, &spelled.places));
    }
    if let Some(fate) = draft.known.and_then(|known| known.fate.as_deref()) {
        put(out, ",\n \"_ended\": ");
        string(fate, out);
    }
    let mut made_up = draft.made_up();
    // A HAR says of every exchange how long it took.
    let lacks_end = |known: &Exchange<'_>| known.ended.is_none() && known.fate.as_deref() != Some(STILL_OPEN);
    if draft.known.is_some_and(lacks_end) && !made_up.contains(&made_up::TIMES) {
        made_up.push(made_up::END);
    }
    if !made_up.is_empty() {
        put(out, &format!(",\n \"{}\": {}", made_up::MEMBER, made_up::list(&made_up)));
    }
    put(out, "}");
}

fn request(spelled: &Spelled<'_>, missing: bool, out: &mut Vec<u8>) {
    let Spelled { method, url, request_headers: headers, request: body, .. } = spelled;
    put(out, "{\"method\": ");
    string(method, out);
    put(out, ", \"url\": ");
    string(url, out);
    put(out, ", \"httpVersion\": \"HTTP/1.1\", \"cookies\": [],\n  \"headers\": ");
    write_headers(headers, out);
    // A size that nobody knows is 1: enough to say that there was something.
    let size = body.as_ref().map_or(usize::from(missing), Vec::len);
    put(out, &format!(", \"queryString\": [], \"headersSize\": -1, \"bodySize\": {size}"));
    if let Some(body) = body {
        put(out, ",\n  \"postData\": {\"mimeType\": ");
        // What is neither a message nor a client's registration is a form.
        let json = matches!(body.trim_ascii_start().first(), Some(b'{' | b'['));
        string(header(headers, "content-type").unwrap_or(if json { JSON } else { FORM }), out);
        put(out, ", \"text\": ");
        write_string(body, out);
        put(out, "}");
    }
    put(out, "}");
}

fn answer(spelled: &Spelled<'_>, missing: bool, out: &mut Vec<u8>) {
    let Spelled { status, response_headers: headers, answer: text, media_type, .. } = spelled;
    put(out, &format!("{{\"status\": {status}, \"statusText\": "));
    string(reason(*status), out);
    put(out, ", \"httpVersion\": \"HTTP/1.1\", \"cookies\": [],\n  \"headers\": ");
    write_headers(headers, out);
    // Of a stream that was cut, more than every end of a line and its mark could take.
    let lost = |text: &Vec<u8>| 4 + memchr::memchr_iter(b'\n', text).count();
    let size =
        text.as_ref().map_or(usize::from(missing), |text| text.len() + if missing { lost(text) } else { 0 });
    put(out, &format!(", \"redirectURL\": \"\", \"headersSize\": -1, \"bodySize\": {size}"));
    put(out, &format!(",\n  \"content\": {{\"size\": {size}, \"mimeType\": "));
    string(header(headers, "content-type").unwrap_or(media_type), out);
    if let Some(text) = text {
        put(out, ", \"text\": ");
        write_string(text, out);
    }
    put(out, "}}");
}

fn write_headers(headers: &Headers<'_>, out: &mut Vec<u8>) {
    for (index, (name, value)) in headers.iter().enumerate() {
        put(out, if index == 0 { "[{\"name\": " } else { ", {\"name\": " });
        string(name, out);
        put(out, ", \"value\": ");
        string(value, out);
        put(out, "}");
    }
    put(out, if headers.is_empty() { "[]" } else { "]" });
}
