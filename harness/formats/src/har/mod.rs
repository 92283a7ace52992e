//! `har`: a log of whole HTTP exchanges, HAR 1.2 (clauses HAR-ORDER, HAR-MESSAGE, HAR-STREAM, HAR-MISSING, HAR-K2A).
//!
//! Members of our own say what HAR has no place for: `_events` when each part of an answer came, so that the messages of
//! a stream stand where they came amid those of other exchanges; `_ended` how an exchange was broken off.
//!
//! Cannot carry: the process and its exit; of an envelope's context more than the headers of a request
//! and the status and headers of a response. The words of an SSE comment are not kept, and a carriage return in
//! the data of an event that is not a message comes back as a line feed, since SSE has no other way.
//!
//! What the session does not know, a HAR must still say. The writer puts in the URL `http://localhost/mcp`, the
//! headers without which nobody could tell what a body is, the statuses that MCP asks for, and times that stand
//! still. It writes neither cookies nor the parts of a query, keeps no body that carried nothing, and writes one
//! stream as several where the session knows its messages amid others, because their order counts for more than
//! the number of streams.

use crate::exchange::CARRIES;
use crate::exchange::body::{Checked, Document};
use crate::exchange::media::{FORM, JSON, STREAM, document, form, may_be_json, media_type, short};
use crate::exchange::parts::{Held, Layout, Listed, Moment, Parts};
use crate::exchange::plan::Draft;
use crate::exchange::read::{Reading, cut_off};
use crate::exchange::timed::times;
use crate::exchange::write::{Spelled, events, milliseconds, put, reason, string, write_list};
use crate::format::{Format, Items, ReadOptions};
use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::session::Session;
use crate::transport::Transport;
use crate::writing::Spelling;
use crate::{made_up, time};
use std::io::{self, Write};
use transcript::json::{Json, JsonKind, write_string};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Exchange, Headers, STILL_OPEN, Sink, header};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: CARRIES,
    items: Items::List(&["log", "entries"]),
    messages: &[&["request", "postData", "text"], &["response", "content", "text"]],
    scripts: &[Some(Transport::StreamableHttp)],
    live: true,
    clauses: &["HAR-", "SSE-", "K2A-"],
    ..Format::new(
        ["har", "har.har", "an HTTP archive (HAR 1.2): whole exchanges with their bodies"],
        sniff,
        read,
        Spelling::Document(write),
    )
};

fn sniff(head: &Head) -> bool {
    head.has("log") && head.text("log").is_none() && !head.has("jsonrpc")
}

fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
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

const LAYOUT: Layout =
    Layout { root: "/log/entries/", request: "/request/postData/text", answer: "/response/content/text" };

fn read(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    while input.more()? {}
    let input = &*input;
    let closed;
    let (text, file, cut) = match input.document() {
        Ok(file) => (input.text(), file, Ok(())),
        Err(error) => {
            let (text, why) = cut_off(error, &["log", "entries"], input, options)?;
            closed = text;
            (&*closed, Json::parse(&closed).map_err(|fault| input.refuse(fault.into(), 0, ""))?, Err(why))
        }
    };
    let document = Document(text);
    let list = entries(input, document, file)?;
    Reading { input, document, options, sink, layout: &LAYOUT, is_marked: false }
        .list(list, moment, parts)?;
    cut
}

/// The array of exchanges.
fn entries<'a>(input: &Input<'_>, document: Document<'a>, file: Json<'a>) -> Result<Json<'a>, ReadError> {
    let refuse = |refusal: Refusal, pointer: &str| input.refuse(refusal, 0, pointer);
    if file.kind() != JsonKind::Object {
        let message = format!("a HAR is an object with a `log`; this is {}", file.kind().name());
        let wrong = Refusal::new(Code::WrongDocument, document.at(file.text()), message);
        return Err(refuse(wrong.under("HAR-MISSING"), ""));
    }
    let none = |value: Json<'_>, pointer| {
        let message = "the array of exchanges at `log.entries` is missing".to_owned();
        let missing = Refusal::new(Code::MissingEntries, document.at(value.text()), message);
        refuse(missing.under("HAR-MISSING"), pointer)
    };
    let [log] = document.fields(Some(file), ["log"]).map_err(|cause| refuse(cause, ""))?;
    let Some(log) = log.filter(|log| log.kind() == JsonKind::Object) else { return Err(none(file, "")) };
    let [entries] = document.fields(Some(log), ["entries"]).map_err(|cause| refuse(cause, "/log"))?;
    entries.filter(|entries| entries.kind() == JsonKind::Array).ok_or_else(|| none(log, "/log"))
}

fn moment<'a>(document: Document<'a>, exchange: Json<'a>) -> Checked<Option<Moment>> {
    let [started] = document.fields(Some(exchange), ["startedDateTime"])?;
    let started = started.and_then(|started| started.as_text()?.to_str());
    Ok(started.as_deref().and_then(|started| {
        let attoseconds = time::rfc_3339(started)?;
        Some(Moment { milliseconds: time::to_milliseconds(attoseconds), attoseconds })
    }))
}

fn parts<'a>(document: Document<'a>, listed: &Listed<'a>) -> Checked<Parts<'a>> {
    let [request, response, time, events, listed_events, fate, made_up] = document.fields(
        Some(listed.json),
        ["request", "response", "time", "_events", "_eventSourceMessages", "_ended", made_up::MEMBER],
    )?;
    let [method, url, headers, post, request_size] =
        document.fields(request, ["method", "url", "headers", "postData", "bodySize"])?;
    let method = document.text(method)?.unwrap_or_default();
    let url = document.text(url)?.unwrap_or_default();
    let request_headers = document.headers(headers)?;
    let [post_text, post_type, post_encoding, attached] =
        document.fields(post, ["text", "mimeType", "encoding", "_file"])?;
    let [status, headers, content, response_size, error] =
        document.fields(response, ["status", "headers", "content", "bodySize", "_error"])?;
    let response_headers = document.headers(headers)?;
    let [text, encoding, mime, size] = document.fields(content, ["text", "encoding", "mimeType", "size"])?;

    let request_size = count(request_size).or(length_header(&request_headers));
    // What gets a result was asked for.
    let is_answered = || made_up.is_none() && text.is_some_and(|text| holds_result(text.text()));
    let had_one = attached.is_some() || request_size.map_or_else(is_answered, |size| size > 0);
    let post_type = media_type(&request_headers, document.text(post_type)?);
    let post = match post_text {
        _ if !method.eq_ignore_ascii_case("POST") => Held::None,
        Some(text) if document.is_coded(text, post_encoding, &request_headers) => {
            Held::Missing { coded: true }
        }
        Some(text) if !had_one || text.text() != "\"\"" => Held::Text(text, post_encoding),
        _ if had_one && may_be_json(&post_type) => Held::Missing { coded: false },
        _ => Held::None,
    };

    let media_type = media_type(&response_headers, document.text(mime)?);
    let status = status.and_then(|status| status.as_number()?.parse().ok());
    let status = status.filter(|status| (100..1000).contains(status));
    let had_one = positive(size) || positive(response_size);
    let no_bytes = [count(size), count(response_size)].contains(&Some(0));
    let is_empty = match status {
        Some(204 | 304) => true,
        Some(202) => no_bytes,
        _ => length_header(&response_headers) == Some(0),
    };
    // Browsers keep what a page read of a stream beside its body, which they have not got.
    let listed_events = listed_events.filter(|list| list.items().next().is_some());
    let answer = match text.filter(|text| listed_events.is_none() || text.text() != "\"\"") {
        None if let Some(list) = listed_events => Held::Events(list),
        _ if media_type != STREAM && !may_be_json(&media_type) => Held::None,
        Some(text) if document.is_coded(text, encoding, &response_headers) => Held::Missing { coded: true },
        Some(text) if !(had_one && text.text() == "\"\"") => Held::Text(text, encoding),
        // A stream has no size of which an exporter knows, but some answers are of no bytes.
        None if media_type == STREAM && status.is_some() && !is_empty => Held::Missing { coded: false },
        _ if had_one && status != Some(304) => Held::Missing { coded: false },
        _ => Held::None,
    };
    // Its time is then that of the last thing that was seen of it.
    let fate = fate.or(error.filter(|_| status.is_none())).and_then(short);
    let open = fate.as_deref() == Some(STILL_OPEN);
    let answered = listed.after(time);
    let form = post_text.filter(|_| post_encoding.is_none()).and_then(|text| self::form(&post_type, text));
    let document = self::document((&*method, &*media_type, status), text.filter(|_| encoding.is_none()));
    let exchange = Exchange {
        form,
        document,
        method,
        url,
        request_headers,
        request_size: length(post_text).filter(|&length| length > 0).or(request_size),
        status,
        response_headers,
        media_type,
        ended: answered.filter(|_| !open),
        response_size: count(size).or(count(response_size)).or_else(|| length(text)),
        timed: false,
        fate,
    };
    let sizes = [request_size, count(size).or(length_header(&exchange.response_headers))];
    Ok(Parts { answered, exchange, request: post, answer, sizes, times: times(events), made_up })
}

/// Whether the raw text of a string looks as if a result of JSON-RPC were in it.
fn holds_result(raw: &str) -> bool {
    ["\\\"jsonrpc\\\"", "\\\"result\\\""].iter().all(|name| raw.contains(name))
}

fn count(size: Option<Json<'_>>) -> Option<u64> {
    size.and_then(|size| size.as_number()?.parse().ok())
}

/// What `Content-Length` says, which counts the body as it was sent.
fn length_header(headers: &Headers<'_>) -> Option<u64> {
    header(headers, "content-length").filter(|_| header(headers, "content-encoding").is_none())?.parse().ok()
}

fn length(text: Option<Json<'_>>) -> Option<u64> {
    Some(text?.as_text()?.decode().len() as u64)
}

fn positive(size: Option<Json<'_>>) -> bool {
    size.and_then(|size| size.as_number()?.parse::<f64>().ok()).is_some_and(|size| size > 0.0)
}

#[cfg(test)]
mod tests;
