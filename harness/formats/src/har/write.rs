//! Writing HAR: the text of the exchanges that the plan names.
//!
//! Knows: the members that HAR 1.2 requires, and how a stream is spelled. Refuses to know: which message stands in
//! which exchange. Times never run backwards here, since readers sort by them (HAR-ORDER).

use super::body::bare;
use super::plan::{Draft, plan};
use crate::owned::{Owned, Session};
use crate::time;
use std::io::{self, Write};
use transcript::json::{write_compact, write_string};
use transcript::message::Message;
use transcript::session::{Headers, header};

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";

/// The address of a server of which no address is known.
const NOWHERE: &str = "http://localhost/mcp";

pub(super) fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    write!(
        out,
        "{{\"log\": {{\"version\": \"1.2\", \"creator\": {{\"name\": \"mcp-concord\", \"version\": \"{version}\"}}, \
         \"entries\": ["
    )?;
    let drafts = plan(session);
    let first = drafts.iter().find_map(|draft| draft.started);
    let mut now = first.unwrap_or_default();
    let mut text = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        now = draft.started.unwrap_or(now).max(now);
        text.clear();
        text.extend_from_slice(if index == 0 { b"\n" } else { b",\n" });
        entry(draft, now, &mut text);
        out.write_all(&text)?;
    }
    out.write_all(b"\n]}}\n")
}

fn entry(draft: &Draft<'_>, started: i64, out: &mut Vec<u8>) {
    let took = draft.ended.map_or(0, |ended| ended.saturating_sub(started).max(0));
    put(out, "{\"startedDateTime\": ");
    string(&time::write(started), out);
    put(out, &format!(", \"time\": {took},\n \"request\": "));
    request(draft, out);
    put(out, ",\n \"response\": ");
    answer(draft, out);
    put(
        out,
        &format!(",\n \"cache\": {{}}, \"timings\": {{\"send\": 0, \"wait\": {took}, \"receive\": 0}}}}"),
    );
}

fn request(draft: &Draft<'_>, out: &mut Vec<u8>) {
    let body = draft.request.map(compact);
    let method = match (draft.known, &body) {
        (Some(known), _) => &known.method,
        (None, Some(_)) => "POST",
        (None, None) => "GET",
    };
    let mut headers = match (draft.known, draft.request_headers) {
        (Some(known), _) => known.request_headers.clone(),
        (None, Some(headers)) => headers.clone(),
        (None, None) => Vec::new(),
    };
    if draft.known.is_none() {
        let accept = if body.is_some() { "application/json, text/event-stream" } else { STREAM };
        let type_of_body = body.as_ref().map(|_| ("Content-Type", JSON));
        for (name, value) in type_of_body.into_iter().chain([("Accept", accept)]) {
            if header(&headers, name).is_none() {
                headers.push((name.into(), value.into()));
            }
        }
    }
    put(out, "{\"method\": ");
    string(method, out);
    put(out, ", \"url\": ");
    string(draft.known.map_or(NOWHERE, |known| &known.url), out);
    put(out, ", \"httpVersion\": \"HTTP/1.1\", \"cookies\": [],\n  \"headers\": ");
    write_headers(&headers, out);
    // A size that nobody knows is 1: enough to say that there was something.
    let size = body.as_ref().map_or(usize::from(draft.missing.0), Vec::len);
    put(out, &format!(", \"queryString\": [], \"headersSize\": -1, \"bodySize\": {size}"));
    if let Some(body) = body {
        put(out, ",\n  \"postData\": {\"mimeType\": ");
        string(header(&headers, "content-type").unwrap_or(JSON), out);
        put(out, ", \"text\": ");
        write_string(&body, out);
        put(out, "}");
    }
    put(out, "}");
}

fn answer(draft: &Draft<'_>, out: &mut Vec<u8>) {
    let body = Body::of(draft);
    let status = match (draft.known, draft.answer_context) {
        (Some(known), _) => known.status.unwrap_or_default(),
        (None, Some(context)) => context.status.unwrap_or_default(),
        (None, None) if body.media_type.is_empty() => 202,
        (None, None) => 200,
    };
    let mut headers = match (draft.known, draft.answer_context) {
        (Some(known), _) => known.answer_headers.clone(),
        (None, Some(context)) => context.headers.clone(),
        (None, None) => Vec::new(),
    };
    // What a body is, its header must say; one that says otherwise came from another body.
    let said = header(&headers, "content-type").unwrap_or_default();
    let agrees = bare(said) == body.media_type;
    if body.text.is_some() && !agrees {
        headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
        headers.push(("Content-Type".into(), body.media_type.clone().into()));
    }
    put(out, &format!("{{\"status\": {status}, \"statusText\": "));
    string(reason(status), out);
    put(out, ", \"httpVersion\": \"HTTP/1.1\", \"cookies\": [],\n  \"headers\": ");
    write_headers(&headers, out);
    let size = body.text.as_ref().map_or(usize::from(draft.missing.1), Vec::len);
    put(out, &format!(", \"redirectURL\": \"\", \"headersSize\": -1, \"bodySize\": {size}"));
    put(out, &format!(",\n  \"content\": {{\"size\": {size}, \"mimeType\": "));
    string(header(&headers, "content-type").unwrap_or(&body.media_type), out);
    if let Some(text) = body.text {
        put(out, ", \"text\": ");
        write_string(&text, out);
    }
    put(out, "}}");
}

/// The body of an answer.
struct Body {
    text: Option<Vec<u8>>,
    /// Empty where there is no body, and nothing said of one.
    media_type: String,
}

impl Body {
    fn of(draft: &Draft<'_>) -> Self {
        let known = match (draft.known, draft.answer_context) {
            (Some(known), _) => Some(known.media_type.clone()),
            (None, context) => {
                context.map(|context| bare(header(&context.headers, "content-type").unwrap_or_default()))
            }
        };
        if draft.is_json
            && let Some(message) = draft.sent.first().and_then(|entry| entry.message())
        {
            return Self { text: Some(compact(message)), media_type: JSON.to_owned() };
        }
        let mut stream = Vec::new();
        for entry in &draft.sent {
            block(entry, &mut stream);
        }
        // A request that is answered elsewhere opened a stream on which nothing came.
        let silent = known.is_none() && draft.asks() && !draft.elsewhere;
        if !stream.is_empty() || !draft.missing.1 && (silent || known.as_deref() == Some(STREAM)) {
            return Self { text: Some(stream), media_type: STREAM.to_owned() };
        }
        Self { text: None, media_type: known.unwrap_or_default() }
    }
}

/// One event of a stream, with the fields that are known of it.
fn block(entry: &Owned, out: &mut Vec<u8>) {
    let begin = out.len();
    let mut name = None;
    let mut data = entry.message().map(compact);
    if let Some(sse) = &entry.sse {
        for _ in 0..sse.comments {
            put(out, ":\n");
        }
        name = sse.name.as_deref();
        if let Some(id) = sse.id.as_deref().filter(|id| !id.contains('\0')) {
            field("id", id, out);
        }
        if let Some(retry) = sse.retry {
            field("retry", &retry.to_string(), out);
        }
        data = data.or_else(|| sse.data.as_deref().map(|data| data.as_bytes().to_vec()));
    } else if data.is_some() {
        name = Some("message");
    }
    if let Some(name) = name {
        field("event", name, out);
    }
    if let Some(data) = data {
        // A line end of any kind begins another data line; a message on one line has none.
        for line in String::from_utf8_lossy(&data).replace("\r\n", "\n").split(['\r', '\n']) {
            field("data", line, out);
        }
    }
    if out.len() == begin {
        put(out, ":\n");
    }
    put(out, "\n");
}

/// A field on one line: no value may break it.
fn field(name: &str, value: &str, out: &mut Vec<u8>) {
    put(out, name);
    put(out, ": ");
    put(out, &value.replace(['\r', '\n'], " "));
    put(out, "\n");
}

fn compact(message: Message<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(message.text().len());
    write_compact(message.json(), &mut text);
    text
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

fn string(text: &str, out: &mut Vec<u8>) {
    write_string(text.as_bytes(), out);
}

fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// The usual words for the statuses that MCP traffic shows.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        500 => "Internal Server Error",
        _ => "",
    }
}
