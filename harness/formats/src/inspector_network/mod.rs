//! `inspector-network`: the network export of the MCP Inspector (2.12): an array of HTTP exchanges, each with `timestamp`,
//! `method`, `url`, `requestHeaders`, and `requestBody`, `responseStatus`, `responseHeaders`, `responseBody` where there
//! are any.
//!
//! What HAR-ORDER, HAR-MESSAGE, HAR-STREAM, HAR-MISSING and HAR-K2A say of exchanges holds for these. The Inspector adds an
//! exchange when the head of its answer is there, so that exchanges are put in order by their times. It keeps the last
//! thousand, its OAuth calls (`category` is `auth`) and those of a page that went to an authorization server among them.
//!
//! Its bodies are not what passed. Of the stream of a GET there is a number of events (`stream`) and no event: such a body
//! is missing, and so is one of which the Inspector says that it withheld it. A body that is JSON has been through
//! JavaScript's numbers, so that 9007199254740993 has become another one and 1.0 is 1, and strings under names such as
//! `token`, `code` and `password` are replaced, in tool arguments too; event streams are kept as they came. The answers
//! to others than a GET are kept whole, however many events they have.
//!
//! Cannot carry: two headers of one name, which become one; when an answer ended, since `duration` ends with its head; the process. When written, an exchange is of the category `transport`, its id
//! is its time and place, the stream of a GET has its text, and `_events` says when parts of answers came: the Inspector
//! writes neither.

use crate::exchange::CARRIES;
use crate::exchange::body::{Checked, Document, MOST_HEADERS, bare};
use crate::exchange::media::{STREAM, document, form, may_be_json, short};
use crate::exchange::parts::{Held, Layout, Listed, Moment, Parts};
use crate::exchange::plan::Draft;
use crate::exchange::read::{Reading, cut_off};
use crate::exchange::timed::times;
use crate::exchange::write::{Spelled, events, milliseconds, reason, string, write_list};
use crate::format::{Capabilities, Format, Items, ReadOptions};
use crate::head::Head;
use crate::input::{Input, ReadError};
use crate::session::Session;
use crate::writing::Spelling;
use crate::{made_up, time};
use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write};
use transcript::json::{Json, JsonKind, write_string};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Exchange, Headers, Sink, header};

/// The format.
pub(crate) static FORMAT: Format = Format {
    carries: Capabilities { repeats: false, sizes: false, ..CARRIES },
    caveat: "the Inspector keeps no events of a GET's stream, writes the numbers of JSON bodies as JavaScript has them, and \
             takes out texts under names such as `token` and `code`",
    items: Items::List(&[]),
    messages: &[&["requestBody"], &["responseBody"]],
    clauses: &["HAR-", "SSE-", "K2A-"],
    ..Format::new(
        [
            "inspector-network",
            "inspector-network.json",
            "a network export of the MCP Inspector: HTTP exchanges with their bodies",
        ],
        sniff,
        read,
        Spelling::Document(write),
    )
};

fn sniff(head: &Head) -> bool {
    ["url", "method", "requestHeaders"].iter().all(|name| head.first_has(name))
}

const LAYOUT: Layout = Layout { root: "/", request: "/requestBody", answer: "/responseBody" };

/// What stands in place of a body that the Inspector withheld.
const WITHHELD: &str = "[truncated JSON body withheld";

fn read(input: &mut Input<'_>, options: ReadOptions, sink: &mut Sink<'_>) -> Result<(), ReadError> {
    while input.more()? {}
    let input = &*input;
    let closed;
    let (text, list, cut) = match input.document() {
        Ok(list) => (input.text(), list, Ok(())),
        Err(error) => {
            let (text, why) = cut_off(error, &[], input, options)?;
            closed = text;
            (&*closed, Json::parse(&closed).map_err(|fault| input.refuse(fault.into(), 0, ""))?, Err(why))
        }
    };
    let document = Document(text);
    if list.kind() != JsonKind::Array {
        let message = format!("a network export is an array of exchanges; this is {}", list.kind().name());
        let wrong = Refusal::new(Code::WrongDocument, document.at(list.text()), message);
        return Err(input.refuse(Refusal { clause: "SRV-BYTES", ..wrong }, 0, ""));
    }
    Reading { input, document, options, sink, layout: &LAYOUT, is_marked: false }
        .list(list, moment, parts)?;
    cut
}

/// Milliseconds since the epoch, or a date.
fn moment<'a>(document: Document<'a>, exchange: Json<'a>) -> Checked<Option<Moment>> {
    let [timestamp] = document.fields(Some(exchange), ["timestamp"])?;
    Ok(timestamp.and_then(|timestamp| match timestamp.as_number() {
        Some(number) => {
            let milliseconds: i64 = number.parse().ok()?;
            Some(Moment {
                milliseconds: Some(milliseconds),
                attoseconds: i128::from(milliseconds) * 1_000_000_000_000_000,
            })
        }
        None => {
            let text = timestamp.as_text()?.to_str()?;
            let attoseconds = time::rfc_3339(&text)?;
            Some(Moment { milliseconds: time::to_milliseconds(attoseconds), attoseconds })
        }
    }))
}

fn parts<'a>(document: Document<'a>, listed: &Listed<'a>) -> Checked<Parts<'a>> {
    let [
        method,
        url,
        request_headers,
        request,
        status,
        response_headers,
        answer,
        duration,
        stream,
        events,
        error,
        made_up,
    ] = document.fields(
        Some(listed.json),
        [
            "method",
            "url",
            "requestHeaders",
            "requestBody",
            "responseStatus",
            "responseHeaders",
            "responseBody",
            "duration",
            "stream",
            "_events",
            "error",
            made_up::MEMBER,
        ],
    )?;
    let (Some(method), Some(url)) = (document.text(method)?, document.text(url)?) else {
        let at = document.at(listed.json.text());
        let wrong = Refusal::new(Code::InvalidEntry, at, "an exchange has a `method` and a `url`".to_owned());
        return Err(Refusal { clause: "SRV-BYTES", ..wrong });
    };
    let (request_headers, response_headers) = (headers(request_headers), headers(response_headers));
    let [request_type, media_type] = [&request_headers, &response_headers]
        .map(|headers| bare(header(headers, "content-type").unwrap_or_default()));
    let status = status.and_then(|status| status.as_number()?.parse().ok());
    let status = status.filter(|status| (100..1000).contains(status));

    let sent = match request {
        _ if !method.eq_ignore_ascii_case("POST") => Held::None,
        Some(text) => Held::Text(text, None),
        None if is_expected(&request_type, &request_headers) => Held::Missing { coded: false },
        None => Held::None,
    };
    let withheld = answer.and_then(Json::as_text).is_some_and(|text| text.raw().starts_with(WITHHELD));
    let said = match answer {
        _ if media_type != STREAM && !may_be_json(&media_type) => Held::None,
        Some(_) if withheld => Held::Missing { coded: false },
        Some(text) => Held::Text(text, None),
        None if media_type == STREAM && method == "GET" && is_silent(document, stream)? => Held::None,
        None if status.is_some() && (media_type == STREAM || is_expected(&media_type, &response_headers)) => {
            Held::Missing { coded: false }
        }
        None => Held::None,
    };
    let answered = listed.after(duration);
    let form = request.and_then(|text| self::form(&request_type, text));
    let document = self::document((&*method, &*media_type, status), answer);
    let exchange = Exchange {
        response_size: answer
            .filter(|_| !withheld)
            .and_then(|text| Some(text.as_text()?.decode().len() as u64)),
        form,
        document,
        method,
        url,
        request_headers,
        request_size: request.and_then(|text| Some(text.as_text()?.decode().len() as u64)),
        status,
        response_headers,
        media_type,
        // `duration` ends with the head of the answer; nobody tells when the rest of it did.
        ended: None,
        timed: false,
        fate: error.filter(|_| status.is_none()).and_then(short),
    };
    Ok(Parts {
        exchange,
        request: sent,
        answer: said,
        sizes: [None; 2],
        answered,
        times: times(events),
        made_up,
    })
}

/// Names and values, one more than are read where there are more; what is not text is not a header.
fn headers(object: Option<Json<'_>>) -> Headers<'_> {
    let members =
        object.filter(|object| object.kind() == JsonKind::Object).into_iter().flat_map(Json::members);
    let text = |text: transcript::json::JsonString<'_>| String::from_utf8_lossy(&text.decode()).into_owned();
    members
        .filter_map(|(name, value)| Some((Cow::Owned(text(name)), Cow::Owned(text(value.as_text()?)))))
        .take(MOST_HEADERS + 1)
        .collect()
}

/// Whether a body of this media type must have been there: JSON, or one that has a length.
fn is_expected(media_type: &str, headers: &Headers<'_>) -> bool {
    match header(headers, "content-length").and_then(|length| length.trim().parse::<u64>().ok()) {
        Some(length) => length > 0 && may_be_json(media_type),
        None => media_type == "application/json",
    }
}

/// Whether the Inspector counted no event on a stream.
fn is_silent<'a>(document: Document<'a>, stream: Option<Json<'a>>) -> Checked<bool> {
    let [count] = document.fields(stream, ["eventCount"])?;
    Ok(count.is_some_and(|count| count.text() == "0"))
}

fn write(session: &Session, out: &mut dyn Write) -> io::Result<()> {
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

#[cfg(test)]
mod tests;
