//! Faults about the bodies of a HAR, and what exporters do to them.

use super::edit::{self, at, set};
use super::{Mutant, Mutation, mutant};
use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use transcript::json::{Json, JsonKind};
use transcript::session::Carrier;

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "har/no-posts",
        &["HAR-MESSAGE", "EQ-COUNT"],
        "does not read the bodies of POSTs",
        Mutation::Found(|format, found| {
            found
                .entries
                .retain(|seen| format != "har" || seen.said.is_none() || seen.carrier != Carrier::Request);
        }),
    ),
    mutant(
        "har/no-json-answers",
        &["HAR-MESSAGE", "EQ-COUNT"],
        "reads answers from streams alone",
        Mutation::Found(|format, found| {
            found
                .entries
                .retain(|seen| format != "har" || seen.said.is_none() || seen.carrier != Carrier::Response);
        }),
    ),
    mutant(
        "har/any-object",
        &["HAR-MESSAGE"],
        "takes every JSON object in a body for a message",
        bodies(|body| {
            (body.kind() == JsonKind::Object && body.member("jsonrpc").is_none())
                .then(|| set(body, "jsonrpc", "\"1.0\""))
        }),
    ),
    mutant(
        "har/errors-are-messages",
        &["HAR-MESSAGE"],
        "takes a body with `error` for an error answer",
        bodies(|body| {
            body.member("error").filter(|_| body.member("jsonrpc").is_none())?;
            let error = format!("{{\"jsonrpc\":\"2.0\",\"error\":{}}}", body.member("error")?.text());
            Some(error)
        }),
    ),
    mutant(
        "har/versions-looked-for",
        &["HAR-MESSAGE", "JRP-VERSION"],
        "passes over a body whose `jsonrpc` is not 2.0",
        bodies(|body| {
            let version = body.member("jsonrpc")?;
            (version.text() != "\"2.0\"").then(|| "{}".to_owned())
        }),
    ),
    mutant(
        "har/batches",
        &["HAR-MESSAGE"],
        "takes the first message of an array in a body",
        bodies(|body| {
            (body.kind() == JsonKind::Array)
                .then(|| body.items().next().map(|item| item.text().to_owned()))?
        }),
    ),
    mutant(
        "har/arrays-rejected",
        &["HAR-MESSAGE"],
        "rejects an array in the body of another site",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "har")?;
            let found = std::cell::Cell::new(false);
            each_body(text, &mut |body| {
                found.set(found.get() || body.kind() == JsonKind::Array);
                None
            });
            found.get().then(|| super::survival::rejection("batch"))
        }),
    ),
    mutant(
        "har/html-rejected",
        &["HAR-MESSAGE"],
        "rejects an answer that is no JSON",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let odd = whole.member("log")?.member("entries")?.items().any(|entry| {
                let content = entry.member("response").and_then(|response| response.member("content"));
                let text = content.and_then(|content| edit::content(content.member("text")?));
                text.is_some_and(|text| text.starts_with('<') || text == "Accepted")
            });
            odd.then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "har/failures-dropped",
        &["HAR-MESSAGE", "EQ-COUNT"],
        "does not read answers with a status of 400 and more",
        answers(|entry| {
            let status = entry.member("response")?.member("status")?.as_number()?.parse::<u16>().ok()?;
            (status >= 400).then_some(())
        }),
    ),
    mutant(
        "har/post-type-wanted",
        &["HAR-MESSAGE", "EQ-COUNT"],
        "reads the body of a POST only when `postData.mimeType` is application/json",
        exchanges(|entry| {
            let kind = edit::content(entry.member("request")?.member("postData")?.member("mimeType")?)?;
            (kind != "application/json")
                .then(|| at(entry, &["request", "postData"], &mut |_| Some("{}".to_owned())))?
        }),
    ),
    mutant(
        "har/answer-type-exact",
        &["HAR-MESSAGE", "EQ-COUNT"],
        "reads a JSON answer only when its type has no parameters",
        answers(|entry| {
            let kind = edit::content(entry.member("response")?.member("content")?.member("mimeType")?)?;
            kind.to_lowercase().starts_with("application/json;").then_some(())
        }),
    ),
    mutant(
        "har/get-answers-dropped",
        &["HAR-MESSAGE"],
        "reads nothing of an exchange that is no POST",
        answers(|entry| {
            let method = edit::content(entry.member("request")?.member("method")?)?;
            (!method.eq_ignore_ascii_case("POST")).then_some(())
        }),
    ),
    mutant(
        "har/any-method-posts",
        &["HAR-MESSAGE"],
        "reads the body of a PUT or a DELETE",
        exchanges(|entry| {
            let request = entry.member("request")?;
            let method = edit::content(request.member("method")?)?;
            request.member("postData").filter(|_| !method.eq_ignore_ascii_case("POST"))?;
            at(entry, &["request", "method"], &mut |_| Some("\"POST\"".to_owned()))
        }),
    ),
    mutant(
        "har/base64-kept",
        &["HAR-STREAM", "HAR-MESSAGE"],
        "does not decode a JSON answer in base64",
        exchanges(|entry| {
            let content = entry.member("response")?.member("content")?;
            let json = edit::content(content.member("mimeType")?)?.contains("json");
            content.member("encoding").filter(|_| json)?;
            at(entry, &["response", "content"], &mut |content| Some(set(content, "encoding", "")))
        }),
    ),
    mutant(
        "har/bad-bytes-dropped",
        &["SRV-BYTES", "HAR-STREAM"],
        "drops bytes of a body in base64 that are no UTF-8",
        exchanges(|entry| {
            let content = entry.member("response")?.member("content")?;
            content.member("encoding")?;
            let bytes = unpacked(&edit::content(content.member("text")?)?)?;
            let text = String::from_utf8(bytes).err()?;
            let text = String::from_utf8_lossy(text.as_bytes()).replace('\u{fffd}', "");
            let plain = set(content, "encoding", "");
            let plain = set(Json::parse(&plain).ok()?, "text", &edit::quoted(&text));
            at(entry, &["response", "content"], &mut |_| Some(plain.clone()))
        }),
    ),
    mutant(
        "har/pretty-bodies-lost",
        &["HAR-MESSAGE", "EQ-COUNT"],
        "reads bodies that begin with a brace and hold no line end",
        exchanges(|entry| {
            let mut new: Option<String> = None;
            for path in [["request", "postData", "text"], ["response", "content", "text"]] {
                let base = new.clone();
                let value = base.as_deref().map_or(Some(entry), |text| Json::parse(text).ok())?;
                let next = at(value, &path, &mut |text| {
                    let body = edit::content(text)?;
                    (body.contains('\n') && Json::parse(&body).is_ok()).then(|| "\"\"".to_owned())
                });
                new = next.or(new);
            }
            new
        }),
    ),
    mutant(
        "har/missing-bodies-rejected",
        &["HAR-MISSING"],
        "rejects a file whose exporter dropped a body",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let dropped = whole.member("log")?.member("entries")?.items().any(|entry| {
                let size = |part: Option<Json<'_>>, name: &str| {
                    part.and_then(|part| part.member(name)?.as_number()?.parse::<i64>().ok())
                        .unwrap_or_default()
                };
                let (request, response) = (entry.member("request"), entry.member("response"));
                let content = response.and_then(|response| response.member("content"));
                let text =
                    content.and_then(|content| edit::content(content.member("text")?)).unwrap_or_default();
                size(content, "size") > 0 && text.is_empty()
                    || size(request, "bodySize") > 0
                        && request.is_some_and(|request| request.member("postData").is_none())
            });
            dropped.then(|| super::survival::rejection("missing-raw"))
        }),
    ),
    mutant(
        "har/missing-bodies-end",
        &["HAR-MISSING", "EQ-COUNT"],
        "stops at the first exchange without a body",
        Mutation::Exchanges(|entries| {
            let empty = |entry: &String| {
                Json::parse(entry).ok().is_some_and(|entry| {
                    let content = entry.member("response").and_then(|response| response.member("content"));
                    content.and_then(|content| content.member("text")).is_none()
                })
            };
            if let Some(first) = entries.iter().position(empty) {
                entries.truncate(first);
            }
        }),
    ),
    mutant(
        "har/no-log-is-empty",
        &["HAR-MISSING"],
        "takes a file without `log` for an empty session",
        Mutation::Text(|format, text| {
            let whole =
                Json::parse(text).ok().filter(|whole| format == "har" && whole.kind() == JsonKind::Object)?;
            whole.member("log").is_none().then(|| EMPTY.to_owned())
        }),
    ),
    mutant(
        "har/no-entries-is-empty",
        &["HAR-MISSING"],
        "takes a log without entries for an empty session",
        Mutation::Text(|format, text| {
            let whole = Json::parse(text).ok().filter(|_| format == "har")?;
            whole.member("log")?.member("entries").is_none().then(|| EMPTY.to_owned())
        }),
    ),
    mutant(
        "har/bare-entries",
        &["HAR-MISSING"],
        "takes a bare array for the entries of the log",
        Mutation::Text(|format, text| {
            let list =
                Json::parse(text).ok().filter(|list| format == "har" && list.kind() == JsonKind::Array)?;
            Some(format!("{{\"log\":{{\"entries\":{}}}}}", list.text()))
        }),
    ),
    mutant(
        "har/entries-by-key",
        &["HAR-MISSING"],
        "takes the values of an object for the entries of the log",
        Mutation::Text(|format, text| {
            if format != "har" {
                return None;
            }
            edit::text(text, &["log", "entries"], &mut |entries| {
                let values: Vec<&str> = entries.members().map(|(_, value)| value.text()).collect();
                (entries.kind() == JsonKind::Object).then(|| format!("[{}]", values.join(",")))
            })
        }),
    ),
    mutant(
        "har/streams-merged-by-event-id",
        &["EQ-CONTEXT", "HAR-STREAM"],
        "drops an event of another stream whose id was there before",
        Mutation::Found(|format, found| {
            let mut seen = std::collections::BTreeMap::new();
            found.entries.retain(|entry| {
                let Some(id) = entry.event_id.clone().filter(|_| format == "har" && entry.said.is_some())
                else {
                    return true;
                };
                *seen.entry(id).or_insert(entry.exchange) == entry.exchange
            });
        }),
    ),
];

const EMPTY: &str = r#"{"log":{"entries":[]}}"#;

/// A reader to whom such exchanges are others.
pub(super) const fn exchanges(edit: fn(Json<'_>) -> Option<String>) -> Mutation {
    Mutation::Exchange(edit)
}

/// A reader to whom such bodies, which are JSON, are others.
const fn bodies(edit: fn(Json<'_>) -> Option<String>) -> Mutation {
    Mutation::Body(edit)
}

/// A reader that does not look at the answers of such exchanges.
const fn answers(skips: fn(Json<'_>) -> Option<()>) -> Mutation {
    Mutation::Unanswered(skips)
}

/// The file with such exchanges.
pub(super) fn edited(format: &str, text: &str, edit: fn(Json<'_>) -> Option<String>) -> Option<String> {
    let edit = &mut |entry: Json<'_>| edit(entry);
    (format == "har").then(|| edit::text(text, &["log", "entries", "*"], edit))?
}

/// The file with the bodies that are JSON edited.
pub(super) fn each_body(text: &str, edit: &mut dyn FnMut(Json<'_>) -> Option<String>) -> Option<String> {
    let mut body = |text: Json<'_>| {
        let inside = edit::content(text)?;
        edit(Json::parse(&inside).ok()?).map(|new| edit::quoted(&new))
    };
    let first = edit::text(text, &["log", "entries", "*", "request", "postData", "text"], &mut body);
    let whole = first.as_deref().unwrap_or(text);
    edit::text(whole, &["log", "entries", "*", "response", "content", "text"], &mut body).or(first)
}

/// The file without the answers of such exchanges.
pub(super) fn unanswered(format: &str, text: &str, skips: fn(Json<'_>) -> Option<()>) -> Option<String> {
    (format == "har").then(|| {
        edit::text(text, &["log", "entries", "*"], &mut |entry| {
            skips(entry)?;
            at(entry, &["response", "content"], &mut |_| Some("{}".to_owned()))
        })
    })?
}

/// The bytes of a text in base64; none where it is none.
fn unpacked(text: &str) -> Option<Vec<u8>> {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(&alphabet::STANDARD, config).decode(text).ok()
}
