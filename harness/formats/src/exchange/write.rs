//! Writing exchanges: what each part of one says, whichever format has it.

use super::body::bare;
use super::media::{JSON, STREAM};
use super::plan::{Draft, plan};
use crate::session::{OwnedEntry, Session, TransportContext};
use std::borrow::Cow;
use std::collections::HashSet;
use std::io::{self, Write};
use transcript::json::{write_compact, write_string};
use transcript::message::Message;
use transcript::session::{Exchange, Headers, header};

/// The address of a server of which no address is known.
const NOWHERE: &str = "http://localhost/mcp";

/// An exchange, part by part.
#[derive(Debug)]
pub(crate) struct Spelled<'d> {
    pub(crate) method: Cow<'d, str>,
    pub(crate) url: Cow<'d, str>,
    pub(crate) request_headers: Headers<'d>,
    pub(crate) request: Option<Vec<u8>>,
    pub(crate) status: u16,
    pub(crate) response_headers: Headers<'d>,
    pub(crate) answer: Option<Vec<u8>>,
    /// Where in the answer each event that was sent begins.
    pub(crate) places: Vec<usize>,
    /// The media type of the answer; empty where there is no body, and nothing said of one.
    pub(crate) media_type: String,
}

impl<'d> Spelled<'d> {
    /// What stands in this exchange.
    pub(crate) fn new(draft: &Draft<'d>) -> Self {
        let form = || draft.known.and_then(|known| known.form.as_deref()).map(Into::into);
        let request = match draft.requests.is_empty() {
            true => form(),
            false => Some(body(draft.requests.iter().copied())),
        };
        let method = match (draft.known, &request) {
            (Some(known), _) => known.method.clone(),
            (None, Some(_)) => "POST".into(),
            (None, None) => "GET".into(),
        };
        let mut request_headers = match (draft.known, draft.request_headers) {
            (Some(known), _) => known.request_headers.clone(),
            (None, Some(headers)) => headers.clone(),
            (None, None) => Vec::new(),
        };
        if draft.known.is_none() {
            let accept = if request.is_some() { "application/json, text/event-stream" } else { STREAM };
            let type_of_body = request.as_ref().map(|_| ("Content-Type", JSON));
            for (name, value) in type_of_body.into_iter().chain([("Accept", accept)]) {
                if header(&request_headers, name).is_none() {
                    request_headers.push((name.into(), value.into()));
                }
            }
        }
        let mut body = Body::new(draft);
        let status = match (draft.known, draft.answer_context) {
            (Some(known), _) => known.status.unwrap_or_default(),
            (None, Some(context)) => context.status.unwrap_or_default(),
            (None, None) if body.media_type.is_empty() => 202,
            (None, None) => 200,
        };
        let mut response_headers = match (draft.known, draft.answer_context) {
            (Some(known), _) => known.response_headers.clone(),
            (None, Some(context)) => context.headers.clone(),
            (None, None) => Vec::new(),
        };
        // What a body is, its header must say; one that says otherwise came from another body.
        let said = header(&response_headers, "content-type").unwrap_or_default();
        let agrees = bare(said) == body.media_type;
        // A server's JSON without a type stays without one, as that is its fault.
        let has_none = |known: &Exchange<'_>| said.is_empty() && known.media_type.is_empty();
        if body.media_type == JSON && draft.known.is_some_and(has_none) {
            body.media_type.clear();
        } else if body.text.is_some() && !agrees {
            response_headers.retain(|(name, _)| !name.eq_ignore_ascii_case("content-type"));
            response_headers.push(("Content-Type".into(), body.media_type.clone().into()));
        }
        let url = draft.known.map_or(Cow::Borrowed(NOWHERE), |known| known.url.clone());
        let Body { text: answer, places, media_type } = body;
        Self { method, url, request_headers, request, status, response_headers, answer, places, media_type }
    }
}

/// How many contexts of an envelope say what no exchange can: that of the whole, those of events and of answers without a
/// status, and those with the status of a request, a status that HTTP has not, or the type of another body.
pub(crate) fn contexts_left_out(session: &Session) -> usize {
    let shows = |context: &&TransportContext| context.status.is_some() || !context.headers.is_empty();
    let all = session.entries.iter().filter_map(|entry| entry.context.as_ref()).filter(shows);
    if all.clone().next().is_none() {
        return 0;
    }
    let drafts = plan(session);
    let of_requests: HashSet<*const Headers<'static>> =
        drafts.iter().filter_map(|draft| Some(std::ptr::from_ref(draft.request_headers?))).collect();
    let of_answer = |draft: &Draft<'_>| {
        let context = draft.answer_context?;
        let body = Body::new(draft);
        let type_of_body = header(&context.headers, "content-type").filter(|_| body.text.is_some());
        let agrees = type_of_body.is_none_or(|said| bare(said) == body.media_type);
        agrees.then(|| std::ptr::from_ref(&context.headers))
    };
    let of_answers: HashSet<*const Headers<'static>> = drafts.iter().filter_map(of_answer).collect();
    let is_whole = |context: &&TransportContext| {
        let headers = std::ptr::from_ref(&context.headers);
        of_requests.contains(&headers) && context.status.is_none()
            || of_answers.contains(&headers)
                && context.status.is_none_or(|status| (100..1000).contains(&status))
    };
    all.filter(|context| !is_whole(context)).count()
}

/// The body of an answer.
struct Body {
    text: Option<Vec<u8>>,
    places: Vec<usize>,
    /// Empty where there is no body, and nothing said of one.
    media_type: String,
}

impl Body {
    fn new(draft: &Draft<'_>) -> Self {
        let known = match (draft.known, draft.answer_context) {
            (Some(known), _) => Some(known.media_type.clone()),
            (None, context) => {
                context.map(|context| bare(header(&context.headers, "content-type").unwrap_or_default()))
            }
        };
        if draft.is_json {
            let text = body(draft.sent.iter().filter_map(|entry| entry.message()));
            return Self { text: Some(text), places: vec![0], media_type: JSON.to_owned() };
        }
        let (mut stream, mut places) = (Vec::new(), Vec::new());
        for event in draft.sent.chunk_by(|_, next| next.is_more_of_a_batch()) {
            places.push(stream.len());
            block(event, &mut stream);
        }
        // A request that is answered elsewhere opened a stream on which nothing came.
        let silent = known.is_none() && draft.asks() && !draft.elsewhere;
        if !stream.is_empty() || !draft.missing.1 && (silent || known.as_deref() == Some(STREAM)) {
            return Self { text: Some(stream), places, media_type: STREAM.to_owned() };
        }
        // What is not a message and was kept, such as the metadata of OAuth.
        let document = draft.known.and_then(|known| known.document.as_deref()).map(Into::into);
        // Of nothing, too, it may be known that it was all.
        let text = document.or_else(|| (draft.is_timed() && !draft.missing.1).then(Vec::new));
        Self { text, places, media_type: known.unwrap_or_default() }
    }
}

/// When each part of the answer came: `_events`.
pub(crate) fn events(draft: &Draft<'_>, places: &[usize]) -> String {
    let event = |(at, moment): (&usize, &i64)| {
        format!("{{\"at\": {at}, \"time\": {}}}", milliseconds(moment.saturating_sub(draft.began)))
    };
    let events: Vec<String> = places.iter().zip(&draft.moments).map(event).collect();
    format!("[{}]", events.join(", "))
}

/// Microseconds as milliseconds, with decimals where they are not whole.
pub(crate) fn milliseconds(microseconds: i64) -> String {
    match (microseconds / 1000, microseconds % 1000) {
        (whole, 0) => whole.to_string(),
        (whole, rest) => format!("{whole}.{rest:03}"),
    }
}

/// One event of a stream, with the fields that are known of it: a message, the messages of a batch, or none.
fn block(event: &[&OwnedEntry], out: &mut Vec<u8>) {
    let [entry, ..] = event else { return };
    let begin = out.len();
    let mut name = None;
    let mut data = entry.message().map(|_| body(event.iter().filter_map(|entry| entry.message())));
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

/// A message, or the batch that several are.
fn body<'m>(messages: impl Iterator<Item = Message<'m>>) -> Vec<u8> {
    let texts: Vec<_> = messages.map(compact).collect();
    match &texts[..] {
        [text] => text.clone(),
        texts => [b"[", &*texts.join(&b','), b"]"].concat(),
    }
}

fn compact(message: Message<'_>) -> Vec<u8> {
    let mut text = Vec::with_capacity(message.text().len());
    write_compact(message.json(), &mut text);
    text
}

/// Adds a text as it is.
pub(crate) fn put(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// Adds a text as a JSON string.
pub(crate) fn string(text: &str, out: &mut Vec<u8>) {
    write_string(text.as_bytes(), out);
}

/// Writes the exchanges of a session as the items of a list, each on a line of its own. Whether there are any.
///
/// # Errors
/// Those of `out`.
pub(crate) fn write_list(
    session: &Session,
    out: &mut dyn Write,
    item: fn(&Draft<'_>, usize, &mut Vec<u8>),
) -> io::Result<bool> {
    let drafts = plan(session);
    let mut text = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        text.clear();
        put(&mut text, if index == 0 { "\n" } else { ",\n" });
        item(draft, index, &mut text);
        out.write_all(&text)?;
    }
    Ok(!drafts.is_empty())
}

/// The usual words for the statuses that MCP traffic shows.
pub(crate) fn reason(status: u16) -> &'static str {
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
