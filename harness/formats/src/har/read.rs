//! Reading HAR: where it has the parts of an exchange.

use crate::exchange::body::{Checked, Document};
use crate::exchange::media::{STREAM, document, form, may_be_json, media_type, short};
use crate::exchange::parts::{Held, Layout, Listed, Moment, Parts};
use crate::exchange::read::{Reading, cut_off};
use crate::exchange::timed::times;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::made_up;
use crate::time;
use transcript::json::{Json, JsonKind};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Exchange, Headers, STILL_OPEN, Sink, header};

const LAYOUT: Layout =
    Layout { root: "/log/entries/", request: "/request/postData/text", answer: "/response/content/text" };

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
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
        let attoseconds = time::attoseconds(started)?;
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
