//! Faults about the 401 challenge that a meaning shows as `authorization_discovery`.

use super::contract::{Discovery, FAITHFUL, Habits, challenge, faithful_discovery};
use super::found::{At, Seen, Surroundings};
use super::{Mutant, Mutation, mutant};
use transcript::json::Json;

pub(super) const fn discover(discover: fn(&Seen, &Surroundings) -> Option<Discovery>) -> Mutation {
    Mutation::Discover(discover)
}

pub(super) const MUTANTS: &[Mutant] = &[
    mutant("k2a/never", &["K2A-SUMMARY"], "shows no summary", discover(|_, _| None)),
    mutant(
        "k2a/any-401",
        &["K2A-BOUND"],
        "shows a summary for every 401",
        discover(|seen, context| {
            let refused = context.status == Some(401) && answers(context.at);
            faithful_discovery(seen, context).or_else(|| refused.then(Discovery::default))
        }),
    ),
    mutant(
        "k2a/any-challenge",
        &["K2A-BOUND"],
        "shows a summary for every challenge of a 401, with neither parameter too",
        discover(|seen, context| {
            let there = context.status == Some(401) && answers(context.at) && !values(context).is_empty();
            faithful_discovery(seen, context).or_else(|| there.then(Discovery::default))
        }),
    ),
    mutant(
        "k2a/on-403",
        &["K2A-BOUND"],
        "takes the challenge of a 403 too",
        discover(|_, context| of(context, |status| matches!(status, Some(401 | 403)))),
    ),
    mutant(
        "k2a/on-any-status",
        &["K2A-BOUND"],
        "takes a challenge under any status",
        discover(|_, context| of(context, |_| true)),
    ),
    mutant(
        "k2a/on-requests",
        &["K2A-BOUND"],
        "takes a challenge in the context of a request",
        discover(|_, context| {
            (context.at != At::Envelope).then(|| challenge(context.status, &context.headers))?
        }),
    ),
    mutant(
        "k2a/on-envelopes",
        &["K2A-BOUND"],
        "takes a challenge in the context of the envelope",
        discover(|seen, context| match context.at {
            At::Envelope => challenge(context.status, &context.headers),
            _ => faithful_discovery(seen, context),
        }),
    ),
    mutant(
        "k2a/apart",
        &["K2A-BOUND"],
        "joins a status and a header of different entries",
        Mutation::Answer(|asked| {
            let contexts = || asked.found.entries.iter().filter_map(|seen| seen.context.as_ref());
            let refused = contexts().any(|context| context.status == Some(401) && answers(context.at));
            let found = contexts()
                .filter(|context| answers(context.at))
                .find_map(|context| challenge(Some(401), &context.headers));
            let found = found.filter(|_| refused)?;
            Some(
                asked
                    .found
                    .answer(&FAITHFUL, |outcome| outcome.discovery = outcome.discovery.or(Some(found))),
            )
        }),
    ),
    mutant(
        "k2a/both-wanted",
        &["K2A-SUMMARY"],
        "shows a summary only where both parameters stand",
        discover(|seen, context| {
            faithful_discovery(seen, context).filter(|found| found.metadata && found.scope)
        }),
    ),
    mutant(
        "k2a/metadata-wanted",
        &["K2A-SUMMARY"],
        "shows a summary only where `resource_metadata` stands",
        discover(|seen, context| faithful_discovery(seen, context).filter(|found| found.metadata)),
    ),
    mutant(
        "k2a/scope-is-always-seen",
        &["K2A-SUMMARY"],
        "shows the scope as seen wherever the metadata is",
        discover(|seen, context| {
            faithful_discovery(seen, context).map(|found| Discovery { scope: true, ..found })
        }),
    ),
    mutant(
        "k2a/servers-seen",
        &["K2A-SUMMARY"],
        "shows authorization servers as seen wherever the metadata is",
        discover(|seen, context| {
            faithful_discovery(seen, context).map(|found| Discovery { servers: found.metadata, ..found })
        }),
    ),
    mutant(
        "k2a/last-answer-in-one",
        &["K2A-SUMMARY"],
        "lets the last of several challenges replace the others, in HAR alone",
        Mutation::Answer(|asked| {
            let last = Habits { join: |_, last| last, ..FAITHFUL };
            (asked.format.name == "har").then(|| asked.found.answer(&last, |_| {}))
        }),
    ),
    mutant(
        "k2a/taken-back",
        &["K2A-SUMMARY"],
        "takes the summary back when a call succeeds later",
        Mutation::Answer(|asked| {
            let after =
                asked.found.entries.iter().skip_while(|seen| {
                    seen.context.as_ref().is_none_or(|context| context.status != Some(401))
                });
            let success = after
                .filter_map(|seen| seen.said.as_ref())
                .any(|said| said.kind == transcript::meaning::EventKind::Result);
            success.then(|| asked.found.answer(&FAITHFUL, |outcome| outcome.discovery = None))
        }),
    ),
    mutant(
        "k2a/body-wanted",
        &["K2A-SUMMARY", "ENV-NULL"],
        "reads the challenge of a response that has a message",
        discover(|seen, context| {
            faithful_discovery(seen, context).filter(|_| seen.said.is_some() || context.at == At::Exchange)
        }),
    ),
    mutant(
        "k2a/json-wanted-in-har",
        &["HAR-K2A"],
        "reads the challenge of a JSON answer in HAR",
        discover(|seen, context| {
            let json = context
                .headers
                .iter()
                .any(|(name, value)| name.eq_ignore_ascii_case("content-type") && value.contains("json"));
            faithful_discovery(seen, context).filter(|_| context.at != At::Exchange || json)
        }),
    ),
    mutant(
        "k2a/not-in-har",
        &["HAR-K2A"],
        "reads no challenge in HAR",
        discover(|seen, context| faithful_discovery(seen, context).filter(|_| context.at != At::Exchange)),
    ),
    mutant(
        "k2a/request-headers-in-har",
        &["HAR-K2A", "K2A-BOUND"],
        "reads the challenge of a request's headers in HAR",
        Mutation::Text(|format, text| {
            if format != "har" {
                return None;
            }
            super::edit::text(text, &["log", "entries", "*"], &mut |entry| {
                let header = entry.member("request")?.member("headers")?.items().find(|header| {
                    header
                        .member("name")
                        .and_then(super::edit::content)
                        .is_some_and(|name| is_challenge(&name))
                })?;
                super::edit::at(entry, &["response", "headers"], &mut |headers| {
                    let all: Vec<&str> = headers.items().chain([header]).map(Json::text).collect();
                    Some(format!("[{}]", all.join(",")))
                })
            })
        }),
    ),
    mutant(
        "k2a/posts-alone-in-har",
        &["HAR-K2A"],
        "reads the challenges of POSTs in HAR",
        Mutation::Text(|format, text| {
            if format != "har" {
                return None;
            }
            super::edit::text(text, &["log", "entries", "*"], &mut |entry| {
                let method = super::edit::content(entry.member("request")?.member("method")?)?;
                (method != "POST").then(|| {
                    super::edit::at(entry, &["response", "status"], &mut |_| Some("400".to_owned()))
                })?
            })
        }),
    ),
    mutant(
        "k2a/spelled-otherwise-in-one",
        &["K2A-SPELLING"],
        "reads a status written as text or as `status_code`, in http-sse alone",
        Mutation::Answer(|asked| {
            let found =
                asked.found.entries.iter().filter_map(|seen| seen.context.as_ref()).find_map(|context| {
                    let text = Json::parse(&context.text).ok()?;
                    let other = ["status", "status_code", "http_status", "statusCode"].iter().any(|name| {
                        text.member(name).is_some_and(|status| status.text().trim_matches('"') == "401")
                    });
                    (other && context.at == At::Response).then(|| challenge(Some(401), &context.headers))?
                })?;
            (asked.format.name == "http-sse").then(|| {
                asked.found.answer(&FAITHFUL, |outcome| outcome.discovery = outcome.discovery.or(Some(found)))
            })
        }),
    ),
];

pub(super) fn is_challenge(name: &str) -> bool {
    name.eq_ignore_ascii_case("www-authenticate")
}

pub(super) fn answers(at: At) -> bool {
    matches!(at, At::Response | At::Exchange)
}

pub(super) fn values(context: &Surroundings) -> Vec<&str> {
    context.headers.iter().filter(|(name, _)| is_challenge(name)).map(|(_, value)| value.as_str()).collect()
}

/// The challenge of an answer whose status `takes` takes for 401.
pub(super) fn of(context: &Surroundings, takes: impl Fn(Option<u16>) -> bool) -> Option<Discovery> {
    let status = if takes(context.status) { Some(401) } else { None };
    answers(context.at).then(|| challenge(status, &context.headers))?
}
