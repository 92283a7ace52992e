//! Mistakes about the 401 challenge that a meaning shows as `authorization_discovery`: where it counts, and how its
//! headers, schemes, parameters and quotes are spelled.

use crate::Mutation;
use crate::json::{at, put_if, text_at, text_member, value_at};
use crate::on_reading::{discover, join, on_answer, on_headers, rewrite_headers, see_headers};
use crate::on_text::{on_exchange, on_exchange_at};
use crate::outcome::Discovery;
use crate::policy::{CONTRACT, challenge, contract_discovery, discovery};
use crate::reading::{Context, Owner, is_challenge};
use transcript::json::Json;
use transcript::meaning::EventKind;

mutants! {
    "k2a/never" ["K2A-SUMMARY"] "shows no summary" => discover(|_, _| None);
    "k2a/any-401" ["K2A-BOUND"] "shows a summary for every 401"
        => discover(|entry, context| {
            let refused = context.status == Some(401) && context.is_answer();
            contract_discovery(entry, context).or_else(|| refused.then(Discovery::default))
        });
    "k2a/on-403" ["K2A-BOUND"] "takes the challenge of a 403 too"
        => discover(|_, context| discovery(context, context.status.map(|it| if it == 403 { 401 } else { it })));
    "k2a/on-any-status" ["K2A-BOUND"] "takes a challenge under any status"
        => discover(|_, context| discovery(context, Some(401)));
    "k2a/on-requests" ["K2A-BOUND"] "takes a challenge in the context of a request"
        => discover(|_, context| {
            (context.owner != Owner::Envelope).then(|| challenge(context.status, &context.headers))?
        });
    "k2a/on-envelopes" ["K2A-BOUND"] "takes a challenge in the context of the envelope"
        => discover(|entry, context| match context.owner {
            Owner::Envelope => challenge(context.status, &context.headers),
            _ => contract_discovery(entry, context),
        });
    "k2a/apart" ["K2A-BOUND"] "joins a status and a header of different entries"
        => on_answer(|original| {
            let mut contexts = original.reading.contexts();
            contexts.find(|context| context.status == Some(401) && context.is_answer())?;
            let found = original.reading.contexts().find_map(|context| discovery(context, Some(401)))?;
            Some(CONTRACT.answer(&original.reading, |it| it.discovery = it.discovery.or(Some(found))))
        });
    "k2a/last-answer" ["K2A-SUMMARY"] "lets the last of several 401 answers replace the others" => join(|_, last| last);
    "k2a/first-answer" ["K2A-SUMMARY"] "looks at the first of several 401 answers" => join(|first, _| first);
    "k2a/taken-back" ["K2A-SUMMARY"] "takes the summary back when a call succeeds later"
        => on_answer(|original| {
            let refused = |context: &Context| context.status == Some(401);
            let mut after = original.reading.entries.iter();
            after.find(|entry| entry.context.as_ref().is_some_and(refused))?;
            let success = after.any(|entry| entry.message.as_ref().is_some_and(|it| it.kind == EventKind::Result));
            success.then(|| CONTRACT.answer(&original.reading, |outcome| outcome.discovery = None))
        });
    "k2a/body-wanted" ["K2A-SUMMARY" "ENV-NULL"] "reads only the challenge of a response that has a message"
        => discover(|entry, context| {
            let body = entry.message.is_some() || context.owner == Owner::Exchange;
            contract_discovery(entry, context).filter(|_| body)
        });
    "k2a/not-in-har" ["HAR-K2A"] "reads no challenge in HAR"
        => discover(|entry, context| {
            contract_discovery(entry, context).filter(|_| context.owner != Owner::Exchange)
        });
    "k2a/request-headers-in-har" ["HAR-K2A" "K2A-BOUND"] "reads the challenge of a request's headers in HAR"
        => on_exchange(|entry: Json<'_>| {
            let headers = value_at(entry, &["request", "headers"])?;
            let header = headers.items().find(|header| text_member("name", is_challenge)(*header))?;
            at(entry, &["response", "headers"], &mut |headers| {
                let all: Vec<&str> = headers.items().chain([header]).map(Json::text).collect();
                Some(format!("[{}]", all.join(",")))
            })
        });
    "k2a/posts-only-in-har" ["HAR-K2A"] "reads only the challenges of POSTs in HAR"
        => on_exchange_at(&["response", "status"], put_if(|entry| {
            text_at(entry, &["request", "method"]).is_some_and(|method| method != "POST")
        }, "400"));
    "k2a/spelled-otherwise-in-one" ["K2A-SPELLING"] "reads a status written as text or as `status_code`, only in http-sse"
        => on_answer(|original| {
            let found = original.reading.contexts().find_map(|context| {
                let text = Json::parse(&context.text).ok()?;
                let refused = |status: Json<'_>| status.text().trim_matches('"') == "401";
                let other = STATUSES.iter().any(|name| text.member(name).is_some_and(refused));
                (other && context.owner == Owner::Response).then(|| challenge(Some(401), &context.headers))?
            })?;
            Some(CONTRACT.answer(&original.reading, |it| it.discovery = it.discovery.or(Some(found))))
        }).only("http-sse");
    "challenge/exact-header" ["K2A-SUMMARY"] "looks for the header as it is written in the RFC"
        => see_headers(|name, _| name == "WWW-Authenticate");
    "challenge/small-header" ["K2A-SUMMARY"] "looks for the header in lower case"
        => see_headers(|name, _| name == "www-authenticate");
    "challenge/other-headers" ["K2A-BOUND"] "takes the challenge of a proxy"
        => on_headers(|name, value| {
            let proxy = name.eq_ignore_ascii_case("proxy-authenticate");
            Some((if proxy { "www-authenticate" } else { name }.to_owned(), value.to_owned()))
        });
    "challenge/bearer-only" ["K2A-SUMMARY"] "reads only challenges of the scheme Bearer"
        => see_headers(|_, value| value.to_ascii_lowercase().starts_with("bearer"));
    "challenge/scheme-with-case" ["K2A-SUMMARY"] "reads challenges that begin with `Bearer`, and not with `bearer`"
        => see_headers(|_, value| !value.to_ascii_lowercase().starts_with("bearer") || value.starts_with("Bearer"));
    "challenge/first-challenge" ["K2A-SUMMARY"] "reads the first challenge of a header"
        => rewrite_headers(|value| {
            let schemes = [", Bearer", ", DPoP", ", Basic", ", Digest", ",Bearer", ",Basic"];
            let end = schemes.iter().filter_map(|scheme| value.find(scheme)).min().unwrap_or(value.len());
            value[..end].into()
        });
    "challenge/first-header" ["HAR-K2A" "K2A-SUMMARY"] "reads the first of two headers" => one_header(|headers| headers.first());
    "challenge/last-header" ["HAR-K2A" "K2A-SUMMARY"] "reads the last of two headers" => one_header(|headers| headers.last());
    "challenge/words" ["K2A-BOUND"] "looks for the words anywhere in a challenge"
        => discover(|_, context| {
            let text = context.challenges().join(" ").to_ascii_lowercase();
            searched(context, text.contains("resource_metadata"), text.contains("scope"))
        });
    "challenge/no-scheme-wanted" ["K2A-BOUND"] "takes parameters before any scheme for a challenge"
        => rewrite_headers(|value| format!("Any {value}"));
    "challenge/escapes-end-quotes" ["K2A-BOUND"] "ends a quoted string at an escaped quote"
        => rewrite_headers(|value| value.replace("\\\"", "\""));
    "challenge/commas-part" ["K2A-BOUND"] "splits a challenge at every comma, even in quotes"
        => rewrite_headers(|value| {
            let odd = |part: &str| part.matches('"').count() % 2 == 1;
            let parts = value.split(',').map(|part| if odd(part) { part.replace('"', "") } else { part.into() });
            parts.collect::<Vec<String>>().join(",")
        });
    "challenge/open-quotes-end" ["K2A-BOUND"] "ends an unfinished quoted string at the next comma"
        => rewrite_headers(|value| {
            let odd = value.replace("\\\"", "").matches('"').count() % 2 == 1;
            let cut = value.rfind('"').and_then(|at| value[at..].find(',').map(|comma| at + comma));
            match cut.filter(|_| odd) {
                Some(cut) => format!("{}\"{}", &value[..cut], &value[cut..]),
                None => value.into(),
            }
        });
    "challenge/quotes-wanted" ["K2A-SUMMARY"] "reads parameters whose value is quoted"
        => seen_by(|challenges, name| {
            let text = challenges.replace(" = ", "=").replace(" =", "=").replace("= ", "=");
            text.to_ascii_lowercase().contains(&format!("{name}=\""))
        });
    "challenge/parameters-with-case" ["K2A-SUMMARY"] "looks for parameters in lower case"
        => seen_by(|challenges, name| challenges.contains(name));
    "challenge/no-space-at-equals" ["K2A-SUMMARY"] "knows no space around the equals sign of a parameter"
        => rewrite_headers(|value| value.replace(" =", " ;").replace("= ", "; "));
    "challenge/longer-names" ["K2A-BOUND"] "takes a parameter whose name begins with `scope` or `resource_metadata` for it"
        => rewrite_headers(|value| {
            value.replace("scopes=", "scope=").replace("resource_metadata_uri=", "resource_metadata=")
        });
    "challenge/empty-is-none" ["K2A-SUMMARY"] "does not see a parameter with an empty value"
        => rewrite_headers(|value| value.replace("scope=\"\"", "x=y").replace("resource_metadata=\"\"", "x=y"));
}

const STATUSES: [&str; 4] = ["status", "status_code", "http_status", "statusCode"];

/// A reader that reads one of several headers.
fn one_header(pick: fn(&[String]) -> Option<&String>) -> Mutation {
    discover(move |entry, context| {
        let (challenges, mut headers): (Vec<_>, Vec<_>) =
            context.headers.iter().cloned().partition(|(name, _)| is_challenge(name));
        let values: Vec<String> = challenges.into_iter().map(|(_, value)| value).collect();
        headers.extend(pick(&values).map(|value| ("www-authenticate".to_owned(), value.clone())));
        contract_discovery(entry, &Context { headers, ..context.clone() })
    })
}

/// A reader that sees a parameter only where a search in the challenges of a 401 finds it too.
fn seen_by(finds: fn(&str, &str) -> bool) -> Mutation {
    discover(move |_, context| {
        let found = discovery(context, context.status.filter(|status| *status == 401))?;
        let text = context.challenges().join(", ");
        let (metadata, scope) = (finds(&text, "resource_metadata"), finds(&text, "scope"));
        searched(context, found.metadata && metadata, found.scope && scope)
    })
}

/// A summary of what a search found in the challenges of a 401.
fn searched(context: &Context, metadata: bool, scope: bool) -> Option<Discovery> {
    let there = context.status == Some(401) && context.is_answer() && (metadata || scope);
    there.then_some(Discovery { metadata, scope, servers: false })
}
