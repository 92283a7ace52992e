//! Faults about the 401 challenge that a meaning shows as `authorization_discovery`.

use super::contract::{Discovery, FAITHFUL, Habits, challenge, faithful_discovery};
use super::found::{At, Seen, Surroundings};
use super::{Fault, Seed, fault};
use transcript::json::Json;

const fn discover(discover: fn(&Seen, &Surroundings) -> Option<Discovery>) -> Seed {
    Seed::Discover(discover)
}

pub(super) const FAULTS: &[Fault] = &[
    fault("k2a/never", &["K2A-SUMMARY"], "shows no summary", discover(|_, _| None)),
    fault(
        "k2a/any-401",
        &["K2A-BOUND"],
        "shows a summary for every 401",
        discover(|seen, context| {
            let refused = context.status == Some(401) && answers(context.at);
            faithful_discovery(seen, context).or_else(|| refused.then(Discovery::default))
        }),
    ),
    fault(
        "k2a/any-challenge",
        &["K2A-BOUND"],
        "shows a summary for every challenge of a 401, with neither parameter too",
        discover(|seen, context| {
            let there = context.status == Some(401) && answers(context.at) && !values(context).is_empty();
            faithful_discovery(seen, context).or_else(|| there.then(Discovery::default))
        }),
    ),
    fault(
        "k2a/on-403",
        &["K2A-BOUND"],
        "takes the challenge of a 403 too",
        discover(|_, context| of(context, |status| matches!(status, Some(401 | 403)))),
    ),
    fault(
        "k2a/on-any-status",
        &["K2A-BOUND"],
        "takes a challenge under any status",
        discover(|_, context| of(context, |_| true)),
    ),
    fault(
        "k2a/on-requests",
        &["K2A-BOUND"],
        "takes a challenge in the context of a request",
        discover(|_, context| {
            (context.at != At::Envelope).then(|| challenge(context.status, &context.headers))?
        }),
    ),
    fault(
        "k2a/on-envelopes",
        &["K2A-BOUND"],
        "takes a challenge in the context of the envelope",
        discover(|seen, context| match context.at {
            At::Envelope => challenge(context.status, &context.headers),
            _ => faithful_discovery(seen, context),
        }),
    ),
    fault(
        "k2a/apart",
        &["K2A-BOUND"],
        "joins a status and a header of different entries",
        Seed::Answer(|asked| {
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
    fault(
        "k2a/exact-header",
        &["K2A-SUMMARY"],
        "looks for the header as it is written in the RFC",
        filtered(|name, _| name == "WWW-Authenticate"),
    ),
    fault(
        "k2a/small-header",
        &["K2A-SUMMARY"],
        "looks for the header in small letters",
        filtered(|name, _| name == "www-authenticate"),
    ),
    fault(
        "k2a/other-headers",
        &["K2A-BOUND"],
        "takes the challenge of a proxy",
        rewritten(|name, value| {
            let name =
                if name.eq_ignore_ascii_case("proxy-authenticate") { "www-authenticate" } else { name };
            (name.into(), value.into())
        }),
    ),
    fault(
        "k2a/any-header",
        &["K2A-BOUND"],
        "looks for the parameters in every header",
        rewritten(|_, value| ("www-authenticate".into(), value.into())),
    ),
    fault(
        "k2a/bearer-alone",
        &["K2A-SUMMARY"],
        "reads challenges of the scheme Bearer alone",
        filtered(|_, value| value.to_ascii_lowercase().starts_with("bearer")),
    ),
    fault(
        "k2a/scheme-with-case",
        &["K2A-SUMMARY"],
        "reads challenges that begin with `Bearer`, and not with `bearer`",
        filtered(|_, value| !value.to_ascii_lowercase().starts_with("bearer") || value.starts_with("Bearer")),
    ),
    fault(
        "k2a/first-challenge",
        &["K2A-SUMMARY"],
        "reads the first challenge of a header",
        rewritten(|name, value| {
            let schemes = [", Bearer", ", DPoP", ", Basic", ", Digest", ",Bearer", ",Basic"];
            let end = schemes.iter().filter_map(|scheme| value.find(scheme)).min().unwrap_or(value.len());
            (name.into(), value[..end].into())
        }),
    ),
    fault(
        "k2a/first-header",
        &["HAR-K2A", "K2A-SUMMARY"],
        "reads the first of two headers",
        discover(|seen, context| {
            let mut one = context.clone();
            let first = one.headers.iter().position(|(name, _)| is_challenge(name));
            let mut at = 0;
            one.headers.retain(|(name, _)| {
                at += 1;
                !is_challenge(name) || Some(at - 1) == first
            });
            faithful_discovery(seen, &one)
        }),
    ),
    fault(
        "k2a/last-header",
        &["HAR-K2A", "K2A-SUMMARY"],
        "reads the last of two headers",
        discover(|seen, context| {
            let mut one = context.clone();
            let last = one.headers.iter().rposition(|(name, _)| is_challenge(name));
            let mut at = 0;
            one.headers.retain(|(name, _)| {
                at += 1;
                !is_challenge(name) || Some(at - 1) == last
            });
            faithful_discovery(seen, &one)
        }),
    ),
    fault(
        "k2a/words",
        &["K2A-BOUND"],
        "looks for the words anywhere in a challenge",
        discover(|_, context| {
            let text = values(context).join(" ").to_ascii_lowercase();
            searched(context, text.contains("resource_metadata"), text.contains("scope"))
        }),
    ),
    fault(
        "k2a/words-with-equals",
        &["K2A-BOUND"],
        "looks for `scope=` and `resource_metadata=` anywhere in a challenge",
        discover(|seen, context| {
            let text = values(context).join(" ").to_ascii_lowercase();
            let loose = searched(context, text.contains("resource_metadata="), text.contains("scope="));
            loose.or_else(|| faithful_discovery(seen, context))
        }),
    ),
    fault(
        "k2a/words-at-a-boundary",
        &["K2A-BOUND"],
        "looks for `scope=` behind a space or a comma, in quotes too",
        discover(|seen, context| {
            let text = values(context).join(" ").to_ascii_lowercase().replace(',', " ");
            let loose = searched(context, text.contains(" resource_metadata="), text.contains(" scope="));
            loose.or_else(|| faithful_discovery(seen, context))
        }),
    ),
    fault(
        "k2a/escapes-end-quotes",
        &["K2A-BOUND"],
        "ends a quoted string at an escaped quote",
        rewritten(|name, value| (name.into(), value.replace("\\\"", "\""))),
    ),
    fault(
        "k2a/commas-part",
        &["K2A-BOUND"],
        "parts a challenge at every comma, in quotes too",
        rewritten(|name, value| {
            let parts: Vec<String> = value
                .split(',')
                .map(
                    |part| {
                        if part.matches('"').count() % 2 == 1 { part.replace('"', "") } else { part.into() }
                    },
                )
                .collect();
            (name.into(), parts.join(","))
        }),
    ),
    fault(
        "k2a/open-quotes-end",
        &["K2A-BOUND"],
        "ends an unfinished quoted string at the next comma",
        rewritten(|name, value| {
            let odd = value.replace("\\\"", "").matches('"').count() % 2 == 1;
            let cut = value.rfind('"').and_then(|at| value[at..].find(',').map(|comma| at + comma));
            match cut.filter(|_| odd) {
                Some(cut) => (name.into(), format!("{}\"{}", &value[..cut], &value[cut..])),
                None => (name.into(), value.into()),
            }
        }),
    ),
    fault(
        "k2a/quotes-wanted",
        &["K2A-SUMMARY"],
        "reads parameters whose value is quoted",
        discover(|_, context| {
            let text = values(context).join(", ").replace(" = ", "=").replace(" =", "=").replace("= ", "=");
            let faithful = of(context, |status| status == Some(401))?;
            let quoted = |name: &str| text.to_ascii_lowercase().contains(&format!("{name}=\""));
            searched(
                context,
                faithful.metadata && quoted("resource_metadata"),
                faithful.scope && quoted("scope"),
            )
        }),
    ),
    fault(
        "k2a/no-space-at-equals",
        &["K2A-SUMMARY"],
        "knows no space around the equals sign of a parameter",
        rewritten(|name, value| (name.into(), value.replace(" =", " ;").replace("= ", "; "))),
    ),
    fault(
        "k2a/space-behind-commas",
        &["K2A-SUMMARY"],
        "parts parameters at a comma and a space",
        discover(|_, context| {
            let faithful = of(context, |status| status == Some(401))?;
            let text = values(context).join(", ").to_ascii_lowercase();
            let at = |name: &str| text.contains(&format!(" {name}"));
            searched(context, faithful.metadata && at("resource_metadata"), faithful.scope && at("scope"))
        }),
    ),
    fault(
        "k2a/parameters-with-case",
        &["K2A-SUMMARY"],
        "looks for parameters in small letters",
        discover(|_, context| {
            let faithful = of(context, |status| status == Some(401))?;
            let text = values(context).join(", ");
            searched(
                context,
                faithful.metadata && text.contains("resource_metadata"),
                faithful.scope && text.contains("scope"),
            )
        }),
    ),
    fault(
        "k2a/near-names",
        &["K2A-BOUND"],
        "takes a parameter whose name ends in `scope` for it",
        rewritten(|name, value| {
            (
                name.into(),
                value.replace("xscope", "scope").replace("x_scope", "scope").replace("x-scope", "scope"),
            )
        }),
    ),
    fault(
        "k2a/longer-names",
        &["K2A-BOUND"],
        "takes a parameter whose name begins with `scope` or `resource_metadata` for it",
        rewritten(|name, value| {
            (
                name.into(),
                value.replace("scopes=", "scope=").replace("resource_metadata_uri=", "resource_metadata="),
            )
        }),
    ),
    fault(
        "k2a/empty-is-none",
        &["K2A-SUMMARY"],
        "does not see a parameter with an empty value",
        rewritten(|name, value| {
            (name.into(), value.replace("scope=\"\"", "x=y").replace("resource_metadata=\"\"", "x=y"))
        }),
    ),
    fault(
        "k2a/both-wanted",
        &["K2A-SUMMARY"],
        "shows a summary only where both parameters stand",
        discover(|seen, context| {
            faithful_discovery(seen, context).filter(|found| found.metadata && found.scope)
        }),
    ),
    fault(
        "k2a/metadata-wanted",
        &["K2A-SUMMARY"],
        "shows a summary only where `resource_metadata` stands",
        discover(|seen, context| faithful_discovery(seen, context).filter(|found| found.metadata)),
    ),
    fault(
        "k2a/scope-is-always-seen",
        &["K2A-SUMMARY"],
        "shows the scope as seen wherever the metadata is",
        discover(|seen, context| {
            faithful_discovery(seen, context).map(|found| Discovery { scope: true, ..found })
        }),
    ),
    fault(
        "k2a/servers-seen",
        &["K2A-SUMMARY"],
        "shows authorization servers as seen wherever the metadata is",
        discover(|seen, context| {
            faithful_discovery(seen, context).map(|found| Discovery { servers: found.metadata, ..found })
        }),
    ),
    fault(
        "k2a/last-answer-in-one",
        &["K2A-SUMMARY"],
        "lets the last of several challenges replace the others, in HAR alone",
        Seed::Answer(|asked| {
            let last = Habits { join: |_, last| last, ..FAITHFUL };
            (asked.format.name == "har").then(|| asked.found.answer(&last, |_| {}))
        }),
    ),
    fault(
        "k2a/taken-back",
        &["K2A-SUMMARY"],
        "takes the summary back when a call succeeds later",
        Seed::Answer(|asked| {
            let after =
                asked.found.entries.iter().skip_while(|seen| {
                    !seen.context.as_ref().is_some_and(|context| context.status == Some(401))
                });
            let success = after
                .filter_map(|seen| seen.said.as_ref())
                .any(|said| said.kind == transcript::meaning::Kind::Result);
            success.then(|| asked.found.answer(&FAITHFUL, |outcome| outcome.discovery = None))
        }),
    ),
    fault(
        "k2a/body-wanted",
        &["K2A-SUMMARY", "ENV-NULL"],
        "reads the challenge of a response that has a message",
        discover(|seen, context| {
            faithful_discovery(seen, context).filter(|_| seen.said.is_some() || context.at == At::Exchange)
        }),
    ),
    fault(
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
    fault(
        "k2a/not-in-har",
        &["HAR-K2A"],
        "reads no challenge in HAR",
        discover(|seen, context| faithful_discovery(seen, context).filter(|_| context.at != At::Exchange)),
    ),
    fault(
        "k2a/request-headers-in-har",
        &["HAR-K2A", "K2A-BOUND"],
        "reads the challenge of a request's headers in HAR",
        Seed::Text(|format, text| {
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
    fault(
        "k2a/posts-alone-in-har",
        &["HAR-K2A"],
        "reads the challenges of POSTs in HAR",
        Seed::Text(|format, text| {
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
    fault(
        "k2a/spelled-otherwise-in-one",
        &["K2A-SPELLING"],
        "reads a status written as text or as `status_code`, in http-sse alone",
        Seed::Answer(|asked| {
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

/// A reader that sees these headers alone.
const fn filtered(sees: fn(&str, &str) -> bool) -> Seed {
    Seed::Headers(sees)
}

/// A reader that sees headers as others.
const fn rewritten(rewrite: fn(&str, &str) -> (String, String)) -> Seed {
    Seed::Rewritten(rewrite)
}

fn is_challenge(name: &str) -> bool {
    name.eq_ignore_ascii_case("www-authenticate")
}

fn answers(at: At) -> bool {
    matches!(at, At::Response | At::Exchange)
}

fn values(context: &Surroundings) -> Vec<&str> {
    context.headers.iter().filter(|(name, _)| is_challenge(name)).map(|(_, value)| value.as_str()).collect()
}

/// The challenge of an answer whose status `takes` takes for 401.
fn of(context: &Surroundings, takes: impl Fn(Option<u16>) -> bool) -> Option<Discovery> {
    let status = if takes(context.status) { Some(401) } else { None };
    answers(context.at).then(|| challenge(status, &context.headers))?
}

/// A summary of what a search found in the challenges of a 401.
fn searched(context: &Surroundings, metadata: bool, scope: bool) -> Option<Discovery> {
    let there = context.status == Some(401) && answers(context.at) && (metadata || scope);
    there.then_some(Discovery { metadata, scope, servers: false })
}
