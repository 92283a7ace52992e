//! Faults about the envelopes of `streamable-http` and `http-sse`.

use super::edit::{self, set};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};
use transcript::session::Carrier;

const SLOTS: [&str; 3] = ["request", "response", "sse"];

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "envelope/any-label",
        &["ENV-TRANSPORT"],
        "does not look at `transport` where it is there",
        labelled(|label, _| label.is_some()),
    ),
    mutant(
        "envelope/no-label",
        &["ENV-TRANSPORT"],
        "takes an envelope without `transport`",
        labelled(|label, _| label.is_none()),
    ),
    mutant(
        "envelope/null-label",
        &["ENV-TRANSPORT"],
        "takes a null `transport` for the right one",
        labelled(|label, _| label.is_some_and(|label| label.kind() == JsonKind::Null)),
    ),
    mutant(
        "envelope/label-without-case",
        &["ENV-TRANSPORT"],
        "compares `transport` without case",
        labelled(|label, format| text(label).is_some_and(|label| label.eq_ignore_ascii_case(format))),
    ),
    mutant(
        "envelope/alias",
        &["ENV-TRANSPORT"],
        "takes `sse-legacy` for http-sse in files",
        labelled(|label, format| {
            format == "http-sse" && text(label).is_some_and(|label| label == "sse-legacy")
        }),
    ),
    mutant(
        "envelope/either-label",
        &["ENV-TRANSPORT"],
        "reads either envelope under either name",
        labelled(|label, _| {
            text(label).is_some_and(|label| label == "http-sse" || label == "streamable-http")
        }),
    ),
    mutant(
        "envelope/label-first",
        &["ENV-TRANSPORT"],
        "wants `transport` to stand before `entries`",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let place = |name: &str| whole.members().position(|(key, _)| key.is(name));
            let late = is_envelope(asked.format.name) && place("transport")? > place("entries")?;
            late.then(|| super::survival::rejection("wrong-transport"))
        }),
    ),
    mutant(
        "envelope/first-slot",
        &["ENV-ONE"],
        "takes the first slot of an entry that has several",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let there: Vec<&str> =
                    SLOTS.into_iter().filter(|slot| entry.member(slot).is_some()).collect();
                let extra = there.get(1..).filter(|extra| !extra.is_empty())?;
                extra.iter().try_fold(entry.text().to_owned(), |text, slot| {
                    Some(set(Json::parse(&text).ok()?, slot, ""))
                })
            })
        }),
    ),
    mutant(
        "envelope/exchange-in-an-entry",
        &["ENV-ONE"],
        "reads the request and the response of one entry",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                entry.member("request")?;
                entry.member("response")?;
                let rest = set(entry, "response", "");
                Some(format!("{rest},{}", set(entry, "request", "")))
            })
        }),
    ),
    mutant(
        "envelope/two-with-a-stream",
        &["ENV-ONE"],
        "minds two messages in an entry, but no stream event beside one",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                entry.member("sse")?;
                (entry.member("request").is_some() || entry.member("response").is_some())
                    .then(|| set(entry, "sse", ""))
            })
        }),
    ),
    mutant(
        "envelope/empty-entries-passed",
        &["ENV-ONE"],
        "passes over an entry without request, response and sse",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let none =
                    entry.kind() == JsonKind::Object && SLOTS.iter().all(|slot| entry.member(slot).is_none());
                none.then(String::new)
            })
        }),
    ),
    mutant(
        "envelope/odd-entries-passed",
        &["ENV-ONE", "SRV-BYTES"],
        "passes over an entry that is no object",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| (entry.kind() != JsonKind::Object).then(String::new))
        }),
    ),
    mutant(
        "envelope/bare-messages",
        &["ENV-ONE"],
        "reads a bare message among the entries",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                entry.member("jsonrpc")?;
                let slot = if entry.member("method").is_some() { "request" } else { "response" };
                Some(format!("{{\"{slot}\":{}}}", entry.text()))
            })
        }),
    ),
    mutant(
        "envelope/slots-without-case",
        &["ENV-ONE"],
        "finds `Response` for `response`",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let (name, value) = entry.members().find(|(name, _)| {
                    SLOTS.iter().any(|slot| !name.is(slot) && name.raw().eq_ignore_ascii_case(slot))
                })?;
                let rest = set(entry, &name.to_str()?, "");
                Some(set(Json::parse(&rest).ok()?, &name.raw().to_lowercase(), value.text()))
            })
        }),
    ),
    mutant(
        "envelope/batches",
        &["ENV-SINGLE"],
        "reads an array of messages in a slot, one after the other",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let (slot, list) = ["request", "response"].into_iter().find_map(|slot| {
                    entry
                        .member(slot)
                        .filter(|value| value.kind() == JsonKind::Array)
                        .map(|list| (slot, list))
                })?;
                let each: Vec<String> = list.items().map(|item| set(entry, slot, item.text())).collect();
                Some(each.join(","))
            })
        }),
    ),
    mutant(
        "envelope/empty-batch",
        &["ENV-SINGLE"],
        "takes an empty array for no message",
        Mutation::Text(|format, whole| slotted(format, whole, |value| value.text().replace(' ', "") == "[]")),
    ),
    mutant(
        "envelope/falsy-is-none",
        &["ENV-SINGLE"],
        "takes a slot with 0 for an empty one",
        Mutation::Text(|format, whole| slotted(format, whole, |value| value.text() == "0")),
    ),
    mutant(
        "envelope/text-is-none",
        &["ENV-SINGLE"],
        "takes a slot with a string for an empty one",
        Mutation::Text(|format, whole| slotted(format, whole, |value| value.kind() == JsonKind::String)),
    ),
    mutant(
        "envelope/null-rejected-in-one",
        &["ENV-NULL"],
        "rejects a null request, response or sse in http-sse, and takes it elsewhere",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let null = whole.member("entries")?.items().any(|entry| {
                SLOTS
                    .iter()
                    .any(|slot| entry.member(slot).is_some_and(|value| value.kind() == JsonKind::Null))
            });
            (asked.format.name == "http-sse" && null).then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "envelope/null-is-an-event",
        &["ENV-NULL"],
        "makes a notification of a null response",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                entry.member("response").filter(|value| value.kind() == JsonKind::Null)?;
                Some(set(entry, "response", r#"{"jsonrpc":"2.0","method":"null"}"#))
            })
        }),
    ),
    mutant(
        "envelope/null-empties-an-entry",
        &["ENV-NULL", "ENV-ONE"],
        "drops an entry that has a null slot, whatever else it has",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let null =
                    |slot: &&str| entry.member(slot).is_some_and(|value| value.kind() == JsonKind::Null);
                SLOTS.iter().any(null).then(String::new)
            })
        }),
    ),
    mutant(
        "envelope/last-of-two-slots-in-one",
        &["SRV-TWICE", "ENV-ONE"],
        "takes the last of two members of one name in an entry, in http-sse alone",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                SLOTS.into_iter().filter(|_| format == "http-sse").find_map(|slot| {
                    let there: Vec<Json<'_>> =
                        entry.members().filter(|(name, _)| name.is(slot)).map(|(_, value)| value).collect();
                    there.get(1).map(|last| set(entry, slot, last.text()))
                })
            })
        }),
    ),
    mutant(
        "envelope/failures-dropped",
        &["EQ-COUNT", "EQ-CONTEXT"],
        "drops messages under a status of 400 and more",
        Mutation::Found(|_, found| {
            found.entries.retain(|seen| {
                seen.said.is_none()
                    || seen.carrier != Carrier::Response
                    || seen.context.as_ref().is_none_or(|context| context.status < Some(400))
            });
        }),
    ),
    mutant(
        "envelope/failures-rejected-in-one",
        &["ENV-NULL"],
        "rejects an OAuth error as a response in streamable-http, and takes it in http-sse",
        Mutation::Answer(|asked| {
            let oauth = asked.found.entries.iter().any(|seen| {
                seen.said.is_none()
                    && seen.carrier == Carrier::Response
                    && seen.context.as_ref().is_some_and(|context| context.status >= Some(400))
            });
            (asked.format.name == "streamable-http" && oauth)
                .then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "envelope/no-entries-is-empty",
        &["ENV-EMPTY"],
        "takes an envelope without entries for an empty session",
        Mutation::Text(|format, whole| {
            let whole = Json::parse(whole)
                .ok()
                .filter(|whole| is_envelope(format) && whole.kind() == JsonKind::Object)?;
            whole.member("entries").is_none().then(|| set(whole, "entries", "[]"))
        }),
    ),
    mutant(
        "envelope/null-entries-is-empty",
        &["ENV-EMPTY"],
        "takes null entries for an empty session",
        Mutation::Text(|format, whole| {
            let whole = Json::parse(whole).ok().filter(|_| is_envelope(format))?;
            (whole.member("entries")?.kind() == JsonKind::Null).then(|| set(whole, "entries", "[]"))
        }),
    ),
    mutant(
        "envelope/entries-by-key",
        &["ENV-EMPTY"],
        "takes the values of an object for the entries",
        Mutation::Text(|format, whole| {
            let whole = Json::parse(whole).ok().filter(|_| is_envelope(format))?;
            let entries = whole.member("entries").filter(|entries| entries.kind() == JsonKind::Object)?;
            let values: Vec<&str> = entries.members().map(|(_, value)| value.text()).collect();
            Some(set(whole, "entries", &format!("[{}]", values.join(","))))
        }),
    ),
    mutant(
        "envelope/empty-rejected",
        &["ENV-EMPTY"],
        "rejects an envelope whose entries are empty",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let empty = whole.member("entries")?.items().next().is_none();
            (is_envelope(asked.format.name) && empty).then(|| super::survival::rejection("missing-entries"))
        }),
    ),
    mutant(
        "envelope/bare-list",
        &["ENV-EMPTY", "ENV-TRANSPORT"],
        "takes a bare array for the entries",
        Mutation::Text(|format, whole| {
            let list = Json::parse(whole)
                .ok()
                .filter(|list| is_envelope(format) && list.kind() == JsonKind::Array)?;
            Some(format!("{{\"transport\":\"{format}\",\"entries\":{}}}", list.text()))
        }),
    ),
    mutant(
        "envelope/odd-times-rejected-in-one",
        &["ENV-LOOSE"],
        "rejects a timestamp that is no integer in streamable-http, and takes it in http-sse",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let odd = whole.member("entries")?.items().any(|entry| {
                entry.member("timestamp_ms").is_some_and(|time| time.text().parse::<u64>().is_err())
            });
            (asked.format.name == "streamable-http" && odd).then(|| super::survival::rejection("wrong-type"))
        }),
    ),
    mutant(
        "envelope/odd-times-dropped",
        &["ENV-LOOSE", "EQ-COUNT"],
        "drops an entry whose timestamp is no non-negative integer",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let time = entry.member("timestamp_ms")?;
                time.text().parse::<u64>().is_err().then(String::new)
            })
        }),
    ),
    mutant(
        "envelope/no-time-dropped",
        &["ENV-LOOSE", "EQ-COUNT"],
        "drops an entry without a timestamp",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                (entry.kind() == JsonKind::Object && entry.member("timestamp_ms").is_none()).then(String::new)
            })
        }),
    ),
    mutant(
        "envelope/odd-event-ids-dropped",
        &["ENV-LOOSE", "EQ-COUNT"],
        "drops an SSE event whose id is no string",
        Mutation::Text(|format, whole| {
            edit::entries(format, whole, &mut |entry| {
                let id = entry.member("sse")?.member("id")?;
                (id.kind() != JsonKind::String).then(String::new)
            })
        }),
    ),
    mutant(
        "envelope/unknown-members-rejected",
        &["ENV-UNKNOWN"],
        "rejects members that it does not know",
        Mutation::Answer(|asked| {
            let whole = Json::parse(std::str::from_utf8(asked.bytes).ok()?).ok()?;
            let known = ["timestamp_ms", "request", "response", "sse", "transport_context"];
            let outer = ["transport", "entries", "transport_context"];
            let foreign = |value: Json<'_>, known: &[&str]| {
                value.members().any(|(name, _)| !known.iter().any(|known| name.is(known)))
            };
            let odd = foreign(whole, &outer)
                || whole.member("entries")?.items().any(|entry| foreign(entry, &known));
            (is_envelope(asked.format.name) && odd).then(|| super::survival::rejection("wrong-type"))
        }),
    ),
];

/// A reader that takes these labels for the right one.
const fn labelled(takes: fn(Option<Json<'_>>, &str) -> bool) -> Mutation {
    Mutation::Label(takes)
}

/// The envelope with the label that belongs there, where `takes` says that the importer takes this one.
pub(super) fn relabel(
    format: &str,
    whole: &str,
    takes: fn(Option<Json<'_>>, &str) -> bool,
) -> Option<String> {
    let whole =
        Json::parse(whole).ok().filter(|whole| is_envelope(format) && whole.kind() == JsonKind::Object)?;
    let label = whole.member("transport");
    let right = text(label).is_some_and(|label| label == format);
    (!right && takes(label, format)).then(|| set(whole, "transport", &format!("\"{format}\"")))
}

/// The envelope with null in each `request` and `response` that `empty` takes for none.
fn slotted(format: &str, whole: &str, empty: impl Fn(Json<'_>) -> bool) -> Option<String> {
    edit::entries(format, whole, &mut |entry| {
        let slot = ["request", "response"].into_iter().find(|slot| entry.member(slot).is_some_and(&empty))?;
        Some(set(entry, slot, "null"))
    })
}

fn is_envelope(format: &str) -> bool {
    matches!(format, "streamable-http" | "http-sse")
}

fn text(value: Option<Json<'_>>) -> Option<String> {
    edit::content(value?)
}
