//! Faults about what a JSON-RPC message is, in every format.

use super::edit::{quoted, set};
use super::{Mutant, Mutation, mutant};
use transcript::json::{Json, JsonKind};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "messages/any-version",
        &["JRP-VERSION"],
        "does not look at `jsonrpc` where it is there",
        Mutation::Message(|message| version(message, |version| version.is_some())),
    ),
    mutant(
        "messages/version-optional",
        &["JRP-VERSION"],
        "takes a message without `jsonrpc`",
        Mutation::Message(|message| version(message, |version| version.is_none())),
    ),
    mutant(
        "messages/version-as-number",
        &["JRP-VERSION"],
        "takes the number 2.0 for the version",
        Mutation::Message(|message| {
            version(message, |version| version.and_then(Json::as_number).is_some_and(|n| n.starts_with('2')))
        }),
    ),
    mutant(
        "messages/version-by-prefix",
        &["JRP-VERSION"],
        "takes any version that begins with 2",
        Mutation::Message(|message| {
            version(message, |version| text(version).is_some_and(|v| v.starts_with('2')))
        }),
    ),
    mutant(
        "messages/version-one",
        &["JRP-VERSION"],
        "takes the version 1.0 too",
        Mutation::Message(|message| version(message, |version| text(version).is_some_and(|v| v == "1.0"))),
    ),
    mutant(
        "messages/version-null",
        &["JRP-VERSION"],
        "takes a null version for a missing one, and lets it pass",
        Mutation::Message(|message| {
            version(message, |version| version.is_some_and(|v| v.kind() == JsonKind::Null))
        }),
    ),
    mutant(
        "messages/version-without-case",
        &["JRP-VERSION"],
        "finds `jsonrpc` in any case",
        Mutation::Message(|message| {
            let (name, _) = message
                .members()
                .find(|(name, _)| !name.is("jsonrpc") && name.raw().eq_ignore_ascii_case("jsonrpc"))?;
            let other = set(message, &name.to_str()?, "");
            Some(set(Json::parse(&other).ok()?, "jsonrpc", "\"2.0\""))
        }),
    ),
    mutant(
        "messages/version-on-requests-alone",
        &["JRP-VERSION"],
        "does not look at the version of an answer",
        Mutation::Message(|message| {
            let answer = message.member("result").is_some() || message.member("error").is_some();
            version(message, |_| answer)
        }),
    ),
    mutant(
        "messages/version-on-answers-alone",
        &["JRP-VERSION"],
        "does not look at the version of a request",
        Mutation::Message(|message| version(message, |_| message.member("method").is_some())),
    ),
    mutant(
        "messages/methods-printed",
        &["JRP-SHAPE"],
        "prints a method that is a number, true or false",
        Mutation::Message(|message| {
            let method = message.member("method")?;
            let odd = matches!(method.kind(), JsonKind::Number | JsonKind::Bool);
            odd.then(|| set(message, "method", &quoted(method.text())))
        }),
    ),
    mutant(
        "messages/objects-for-methods",
        &["JRP-SHAPE"],
        "prints a method that is an object or an array",
        Mutation::Message(|message| {
            let method = message.member("method")?;
            let odd = matches!(method.kind(), JsonKind::Object | JsonKind::Array);
            odd.then(|| set(message, "method", &quoted(method.text())))
        }),
    ),
    mutant(
        "messages/null-method-dropped",
        &["JRP-SHAPE"],
        "passes over a message whose method is null",
        Mutation::Message(|message| (message.member("method")?.kind() == JsonKind::Null).then(String::new)),
    ),
    mutant(
        "messages/empty-method-dropped",
        &["EQ-COUNT", "JRP-SHAPE"],
        "passes over a message whose method is empty",
        Mutation::Message(|message| (message.member("method")?.text() == "\"\"").then(String::new)),
    ),
    mutant(
        "messages/result-wins-in-lines",
        &["JRP-SHAPE"],
        "takes the result of a message with an error too, in lines alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "jsonrpc")?;
            let new = super::edit::messages("jsonrpc", text, &|message| {
                message
                    .member("result")
                    .and_then(|_| message.member("error"))
                    .map(|_| set(message, "error", ""))
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "messages/null-error-is-none-in-har",
        &["JRP-SHAPE"],
        "takes a null error beside a result for none, in HAR alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "har")?;
            let new = super::edit::messages("har", text, &|message| {
                let error = message.member("error").filter(|error| error.kind() == JsonKind::Null)?;
                message.member("result").map(|_| (set(message, "error", ""), error)).map(|(new, _)| new)
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "messages/method-wins-in-lines",
        &["JRP-SHAPE"],
        "takes a message with a method and a result for a request, in lines alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "jsonrpc")?;
            let new = super::edit::messages("jsonrpc", text, &|message| {
                message
                    .member("method")
                    .and_then(|_| message.member("result"))
                    .map(|_| set(message, "result", ""))
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "messages/empty-ones-dropped-in-lines",
        &["JRP-SHAPE"],
        "passes over a message with neither method nor answer, in lines alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "jsonrpc")?;
            let new = super::edit::messages("jsonrpc", text, &|message| {
                let none = ["method", "result", "error"].iter().all(|name| message.member(name).is_none());
                (none && message.member("jsonrpc").is_some()).then(String::new)
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "messages/unknown-members-rejected",
        &["EQ-CONTEXT"],
        "rejects a message with a member that JSON-RPC does not know",
        Mutation::Answer(|asked| {
            let known = ["jsonrpc", "id", "method", "params", "result", "error"];
            let mut said = asked.found.entries.iter().filter_map(|seen| seen.said.as_ref());
            let odd = said.any(|said| {
                Json::parse(&said.text).is_ok_and(|message| {
                    message.members().any(|(name, _)| !known.iter().any(|known| name.is(known)))
                })
            });
            odd.then(|| super::survival::rejection("not-a-message"))
        }),
    ),
    mutant(
        "messages/calls-by-their-look",
        &["EQ-COUNT"],
        "finds messages by the word `jsonrpc`, in arguments too",
        Mutation::Found(|_, found| {
            let inner: Vec<_> = found
                .entries
                .iter()
                .filter_map(|seen| {
                    let said = seen.said.as_ref()?;
                    let whole = Json::parse(&said.text).ok()?;
                    let inside = whole.member("params")?.member("arguments")?;
                    let message =
                        inside.members().map(|(_, value)| value).chain([inside]).find_map(|value| {
                            value.member("jsonrpc")?;
                            transcript::message::Message::parse(value.text()).ok()
                        })?;
                    Some(super::found::Seen { said: Some(super::found::Said::of(&message)), ..seen.clone() })
                })
                .collect();
            found.entries.extend(inner);
        }),
    ),
    mutant(
        "messages/last-of-two-ids-in-lines",
        &["SRV-TWICE"],
        "takes the last of two members called `id`, in lines alone",
        Mutation::Answer(|asked| {
            let text = std::str::from_utf8(asked.bytes).ok().filter(|_| asked.format.name == "jsonrpc")?;
            let new = super::edit::messages("jsonrpc", text, &|message| {
                let ids: Vec<_> = message.members().filter(|(name, _)| name.is("id")).collect();
                ids.get(1).map(|(_, id)| set(message, "id", id.text()))
            })?;
            Some(super::Original::read(asked.format, new.as_bytes()).answer)
        }),
    ),
    mutant(
        "messages/last-of-two-methods-in-lines",
        &["SRV-TWICE"],
        "takes the last of two members called `method`, in lines alone",
        Mutation::Text(|format, whole| {
            (format == "jsonrpc")
                .then(|| super::edit::messages(format, whole, &|message| last(message, "method")))?
        }),
    ),
    mutant(
        "messages/last-of-two-names-in-lines",
        &["SRV-TWICE"],
        "takes the last of two members called `name` in params, in lines alone",
        Mutation::Text(|format, whole| {
            (format == "jsonrpc").then(|| {
                super::edit::messages(format, whole, &|message| {
                    super::edit::at(message, &["params"], &mut |params| last(params, "name"))
                })
            })?
        }),
    ),
    mutant(
        "messages/batches-of-one",
        &["ENV-SINGLE", "JRP-LINE", "HAR-MESSAGE"],
        "unwraps an array of one message",
        Mutation::Text(|format, whole| {
            let mut unwrap = |value: Json<'_>| {
                let mut items = value.items();
                let only = items.next()?;
                items.next().is_none().then(|| only.text().to_owned())
            };
            match format {
                "jsonrpc" => super::edit::lines(whole, &mut |line| unwrap(Json::parse(line).ok()?)),
                "mcp-replay" => {
                    super::edit::lines(whole, &mut |line| super::edit::text(line, &["raw"], &mut unwrap))
                }
                _ => {
                    let request = super::edit::entries(format, whole, &mut |entry| {
                        super::edit::at(entry, &["request"], &mut unwrap)
                    });
                    let whole = request.as_deref().unwrap_or(whole);
                    let response = super::edit::entries(format, whole, &mut |entry| {
                        super::edit::at(entry, &["response"], &mut unwrap)
                    });
                    response.or(request)
                }
            }
        }),
    ),
];

/// The message with the version that belongs there, where `takes` says that the importer takes this one.
fn version(message: Json<'_>, takes: impl Fn(Option<Json<'_>>) -> bool) -> Option<String> {
    let version = message.member("jsonrpc");
    let right = version.and_then(Json::as_text).is_some_and(|version| version.is("2.0"));
    let named = ["method", "result", "error"].iter().any(|name| message.member(name).is_some());
    (!right && named && takes(version)).then(|| set(message, "jsonrpc", "\"2.0\""))
}

/// An object that keeps the last of two members of this name.
fn last(object: Json<'_>, wanted: &str) -> Option<String> {
    let there: Vec<Json<'_>> =
        object.members().filter(|(name, _)| name.is(wanted)).map(|(_, value)| value).collect();
    there.get(1).map(|last| set(object, wanted, last.text()))
}

fn text(value: Option<Json<'_>>) -> Option<String> {
    super::edit::content(value?)
}
