//! Reading the export: where it has the parts of an exchange.

use crate::exchange::body::{Checked, Document, MOST_HEADERS, bare};
use crate::exchange::media::{STREAM, document, form, may_be_json, short};
use crate::exchange::parts::{Held, Layout, Listed, Moment, Parts};
use crate::exchange::read::{Reading, cut_off};
use crate::exchange::timed::times;
use crate::format::ReadOptions;
use crate::input::{Input, ReadError};
use crate::made_up;
use crate::time;
use std::borrow::Cow;
use transcript::json::{Json, JsonKind};
use transcript::message::Refusal;
use transcript::rejection::Code;
use transcript::session::{Exchange, Headers, Sink, header};

const LAYOUT: Layout = Layout { root: "/", request: "/requestBody", answer: "/responseBody" };

/// What stands in place of a body that the Inspector withheld.
const WITHHELD: &str = "[truncated JSON body withheld";

pub(super) fn read(
    input: &mut Input<'_>,
    options: ReadOptions,
    sink: &mut Sink<'_>,
) -> Result<(), ReadError> {
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
            let attoseconds = time::attoseconds(&text)?;
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
pub(super) fn is_expected(media_type: &str, headers: &Headers<'_>) -> bool {
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
