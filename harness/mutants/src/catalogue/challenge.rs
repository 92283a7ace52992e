//! Faults about how a challenge is spelled: headers, schemes, parameters, quotes.

use super::contract::{Discovery, faithful_discovery};
use super::found::Surroundings;
use super::k2a::{answers, discover, is_challenge, of, values};
use super::{Mutant, Mutation, mutant};

pub(super) const MUTANTS: &[Mutant] = &[
    mutant(
        "challenge/exact-header",
        &["K2A-SUMMARY"],
        "looks for the header as it is written in the RFC",
        filtered(|name, _| name == "WWW-Authenticate"),
    ),
    mutant(
        "challenge/small-header",
        &["K2A-SUMMARY"],
        "looks for the header in small letters",
        filtered(|name, _| name == "www-authenticate"),
    ),
    mutant(
        "challenge/other-headers",
        &["K2A-BOUND"],
        "takes the challenge of a proxy",
        rewritten(|name, value| {
            let name =
                if name.eq_ignore_ascii_case("proxy-authenticate") { "www-authenticate" } else { name };
            (name.into(), value.into())
        }),
    ),
    mutant(
        "challenge/any-header",
        &["K2A-BOUND"],
        "looks for the parameters in every header",
        rewritten(|_, value| ("www-authenticate".into(), value.into())),
    ),
    mutant(
        "challenge/bearer-alone",
        &["K2A-SUMMARY"],
        "reads challenges of the scheme Bearer alone",
        filtered(|_, value| value.to_ascii_lowercase().starts_with("bearer")),
    ),
    mutant(
        "challenge/scheme-with-case",
        &["K2A-SUMMARY"],
        "reads challenges that begin with `Bearer`, and not with `bearer`",
        filtered(|_, value| !value.to_ascii_lowercase().starts_with("bearer") || value.starts_with("Bearer")),
    ),
    mutant(
        "challenge/first-challenge",
        &["K2A-SUMMARY"],
        "reads the first challenge of a header",
        rewritten(|name, value| {
            let schemes = [", Bearer", ", DPoP", ", Basic", ", Digest", ",Bearer", ",Basic"];
            let end = schemes.iter().filter_map(|scheme| value.find(scheme)).min().unwrap_or(value.len());
            (name.into(), value[..end].into())
        }),
    ),
    mutant(
        "challenge/first-header",
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
    mutant(
        "challenge/last-header",
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
    mutant(
        "challenge/words",
        &["K2A-BOUND"],
        "looks for the words anywhere in a challenge",
        discover(|_, context| {
            let text = values(context).join(" ").to_ascii_lowercase();
            searched(context, text.contains("resource_metadata"), text.contains("scope"))
        }),
    ),
    mutant(
        "challenge/words-with-equals",
        &["K2A-BOUND"],
        "looks for `scope=` and `resource_metadata=` anywhere in a challenge",
        discover(|seen, context| {
            let text = values(context).join(" ").to_ascii_lowercase();
            let loose = searched(context, text.contains("resource_metadata="), text.contains("scope="));
            loose.or_else(|| faithful_discovery(seen, context))
        }),
    ),
    mutant(
        "challenge/words-at-a-boundary",
        &["K2A-BOUND"],
        "looks for `scope=` behind a space or a comma, in quotes too",
        discover(|seen, context| {
            let text = values(context).join(" ").to_ascii_lowercase().replace(',', " ");
            let loose = searched(context, text.contains(" resource_metadata="), text.contains(" scope="));
            loose.or_else(|| faithful_discovery(seen, context))
        }),
    ),
    mutant(
        "challenge/escapes-end-quotes",
        &["K2A-BOUND"],
        "ends a quoted string at an escaped quote",
        rewritten(|name, value| (name.into(), value.replace("\\\"", "\""))),
    ),
    mutant(
        "challenge/commas-part",
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
    mutant(
        "challenge/open-quotes-end",
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
    mutant(
        "challenge/quotes-wanted",
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
    mutant(
        "challenge/no-space-at-equals",
        &["K2A-SUMMARY"],
        "knows no space around the equals sign of a parameter",
        rewritten(|name, value| (name.into(), value.replace(" =", " ;").replace("= ", "; "))),
    ),
    mutant(
        "challenge/space-behind-commas",
        &["K2A-SUMMARY"],
        "parts parameters at a comma and a space",
        discover(|_, context| {
            let faithful = of(context, |status| status == Some(401))?;
            let text = values(context).join(", ").to_ascii_lowercase();
            let at = |name: &str| text.contains(&format!(" {name}"));
            searched(context, faithful.metadata && at("resource_metadata"), faithful.scope && at("scope"))
        }),
    ),
    mutant(
        "challenge/parameters-with-case",
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
    mutant(
        "challenge/near-names",
        &["K2A-BOUND"],
        "takes a parameter whose name ends in `scope` for it",
        rewritten(|name, value| {
            (
                name.into(),
                value.replace("xscope", "scope").replace("x_scope", "scope").replace("x-scope", "scope"),
            )
        }),
    ),
    mutant(
        "challenge/longer-names",
        &["K2A-BOUND"],
        "takes a parameter whose name begins with `scope` or `resource_metadata` for it",
        rewritten(|name, value| {
            (
                name.into(),
                value.replace("scopes=", "scope=").replace("resource_metadata_uri=", "resource_metadata="),
            )
        }),
    ),
    mutant(
        "challenge/empty-is-none",
        &["K2A-SUMMARY"],
        "does not see a parameter with an empty value",
        rewritten(|name, value| {
            (name.into(), value.replace("scope=\"\"", "x=y").replace("resource_metadata=\"\"", "x=y"))
        }),
    ),
];

/// A reader that sees these headers alone.
const fn filtered(sees: fn(&str, &str) -> bool) -> Mutation {
    Mutation::Headers(sees)
}

/// A reader that sees headers as others.
const fn rewritten(rewrite: fn(&str, &str) -> (String, String)) -> Mutation {
    Mutation::Rewritten(rewrite)
}

/// A summary of what a search found in the challenges of a 401.
fn searched(context: &Surroundings, metadata: bool, scope: bool) -> Option<Discovery> {
    let there = context.status == Some(401) && answers(context.at) && (metadata || scope);
    there.then_some(Discovery { metadata, scope, servers: false })
}
