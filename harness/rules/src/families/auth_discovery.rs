//! Authorization: where a client looks for metadata, and the scopes that it asks for where no challenge names any.
//!
//! Memory: up to [`MOST`] documents, refusals and requests.

use super::auth_flow::{Document, Documents, MOST, Step, named_metadata};
use crate::engine::{
    Challenge, Family, FindingLocation, HttpExchange, Origin, Revision, RuleContext, RuleVisitor, Span,
    TAKEN_OUT, Transport, Trigger, Violation, address, quoted, text_of,
};
use crate::rule::{Need, Rule};
use formats::url::normal;
use transcript::json::Json;

pub(super) const FAMILY: Family = Family {
    name: "auth-discovery",
    title: "Authorization: finding metadata",
    rules: &[&RESOURCE, &SERVER, &SCOPES],
    triggers: &[Trigger::HttpExchanges],
    visitor: || Box::new(AuthDiscoveryState::default()),
};

const OURS: Rule =
    Rule { span: Span::from(Revision::V2025_11_25), needs: &[Need::Http], ..Rule::BLANK.client() };

static RESOURCE: Rule = Rule {
    id: "auth.prm.discovery",
    source: "basic/authorization#protected-resource-metadata-discovery-requirements",
    title: "A client looks for the resource metadata where the challenge says, or by its path",
    why: "Another document may describe another resource and name other authorization servers.",
    fix: "Request `resource_metadata` where the challenge has it; else /.well-known/oauth-protected-resource with the path of \
          the endpoint behind it, and then without.",
    ..OURS
};

static SERVER: Rule = Rule {
    id: "auth.discovery",
    source: "basic/authorization#authorization-server-metadata-discovery; RFC 8414, section 3",
    title: "A client tries the well-known addresses of an issuer in their order",
    why: "Issuers serve one or the other, and two clients that try them in different orders may use different metadata.",
    fix: "Try oauth-authorization-server and openid-configuration with the issuer's path inserted, then \
          openid-configuration behind the path.",
    ..OURS
};

static SCOPES: Rule = Rule {
    id: "auth.scope-default",
    source: "basic/authorization#scope-selection-strategy",
    title: "Without a challenge that names scopes, a client asks for `scopes_supported`",
    why: "With fewer scopes the first request may be refused again; scopes that nobody named may not exist.",
    fix: "Send every scope of the resource metadata, or leave `scope` out where it lists none.",
    ..OURS.should()
};

/// A request that was refused for want of a token.
#[derive(Debug)]
struct Refusal {
    url: Box<str>,
    /// Where its challenge says that the metadata is.
    named: Option<Box<str>>,
    ended: Option<i64>,
    location: FindingLocation,
}

#[derive(Default)]
struct AuthDiscoveryState {
    documents: Documents,
    refusals: Vec<Refusal>,
    /// Some challenge names scopes.
    scope_is_named: bool,
    steps: Vec<Step>,
    /// What was posted where no MCP is spoken.
    posted: Vec<(Origin, Option<i64>, FindingLocation)>,
}

impl RuleVisitor for AuthDiscoveryState {
    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        self.documents.see(exchange, at);
        if exchange.transport == Transport::Other {
            if let Some(step) = Step::that_asks_user(exchange, at).filter(|_| self.steps.len() < MOST) {
                self.steps.push(step);
            }
            if let Some(origin) = Origin::new(&exchange.raw.url).filter(|_| exchange.is("POST"))
                && self.posted.len() < MOST
            {
                self.posted.push((origin, exchange.started, at.location()));
            }
            return;
        }
        let challenges = Challenge::all(&exchange.raw.response_headers);
        self.scope_is_named |= challenges.iter().any(|challenge| challenge.param("scope").is_some());
        if exchange.status() != 401 || self.refusals.len() >= MOST {
            return;
        }
        self.refusals.push(Refusal {
            url: exchange.url().into(),
            named: named_metadata(exchange),
            ended: exchange.raw.ended,
            location: at.location(),
        });
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        let at = &at.as_asked();
        if let Some(refusal) = self.refusals.first() {
            self.resource(refusal, at);
            self.scopes(refusal, at);
        }
        let mut issuers: Vec<String> =
            self.documents.issuers().map(|issuer| address(&issuer).to_owned()).collect();
        issuers.sort_unstable();
        issuers.dedup();
        for issuer in &issuers {
            self.server(issuer, &issuers, at);
        }
    }
}

impl AuthDiscoveryState {
    /// The first document about the resource that a client looks for behind its first refusal.
    fn resource(&self, refusal: &Refusal, at: &RuleContext<'_>) {
        let Some(origin) = Origin::new(&refusal.url) else { return };
        let about = |document: &&Document| {
            refusal.named.as_deref().is_some_and(|named| normal(named) == normal(&document.url))
                || document.url.contains(RESOURCE_METADATA)
                    && Origin::new(&document.url).as_ref() == Some(&origin)
        };
        let mut looked = self.documents.requested().filter(about);
        let Some(first) = looked.clone().next() else { return };
        if !matches!((first.started, refusal.ended), (Some(started), Some(ended)) if started >= ended) {
            let why =
                "nothing shows whether the client had read the challenge when it asked for the metadata";
            return at.inconclusive(&RESOURCE, why);
        }
        let [of_path, root] = inserted(&refusal.url, "oauth-protected-resource");
        let (kept, instead) = match &refusal.named {
            Some(named) => (looked.any(|document| normal(&document.url) == normal(named)), &**named),
            None => (*first.url == *of_path || *first.url != *root, &*of_path),
        };
        at.check(&RESOURCE, kept, || {
            let wrong = match refusal.named {
                Some(_) => format!(
                    "the client asks for {}, and never for {instead}, which the challenge names",
                    first.url
                ),
                None => format!("the client asks for {} before {instead}", first.url),
            };
            Violation::new(wrong).at(first.location.clone()).see(refusal.location.clone(), "the refusal")
        });
    }

    /// The addresses at which an issuer's metadata was looked for.
    fn server(&self, issuer: &str, issuers: &[String], at: &RuleContext<'_>) {
        let addresses = addresses_of(issuer);
        let tried = |url: &String| self.documents.requested().find(|document| *document.url == **url);
        let seen: Vec<Option<&Document>> = addresses.iter().map(tried).collect();
        let late = seen.iter().enumerate().find_map(|(place, later)| {
            let later = (*later)?;
            let earlier = (0..place).find(|earlier| {
                seen[*earlier]
                    .is_none_or(|earlier| later.started.zip(earlier.started).is_some_and(|(a, b)| a < b))
            })?;
            Some((later, &addresses[earlier]))
        });
        if let Some((document, before)) = late {
            let wrong = format!("the client asks for {} before {before}", document.url);
            return at.fail(&SERVER, Violation::new(wrong).at(document.location.clone()));
        }
        let found = seen.iter().flatten().any(|document| document.succeeded);
        let Some(last) = seen.iter().flatten().last() else {
            return self.elsewhere(issuer, issuers, at);
        };
        let untried = addresses.iter().zip(&seen).find(|(_, seen)| seen.is_none());
        let origin = Origin::new(issuer);
        let went_on = self.posted.iter().find(|(place, started, _)| {
            Some(place) == origin.as_ref()
                && started.zip(last.started).is_some_and(|(post, last)| post > last)
        });
        match (found, untried, went_on) {
            (false, Some((address, _)), Some((.., location))) => {
                let wrong = format!("the client goes on without metadata, and did not ask for {address}");
                at.fail(&SERVER, Violation::new(wrong).at(location.clone()));
            }
            (false, Some(_), None) => {
                at.inconclusive(&SERVER, "the recording may end before the client was done");
            }
            _ => at.pass(&SERVER),
        }
    }

    /// None of an issuer's addresses was tried: whether that of its host was, which is of no issuer that is listed, or one behind its
    /// path that RFC 8414 does not have.
    fn elsewhere(&self, issuer: &str, issuers: &[String], at: &RuleContext<'_>) {
        let mut requested = self.documents.requested();
        let listed = requested.by_ref().find(|one| one.succeeded && one.url.contains(RESOURCE_METADATA));
        let [[own, oauth], [_, openid]] =
            ["oauth-authorization-server", "openid-configuration"].map(|name| inserted(issuer, name));
        let appended = format!("{issuer}/.well-known/oauth-authorization-server");
        let listed_too = |url: &str| issuers.iter().any(|it| addresses_of(it).iter().any(|one| one == url));
        let of_host = |one: &&Document| {
            let places = [&oauth, &openid, &appended];
            one.succeeded && places.iter().any(|place| ***place == *one.url) && !listed_too(&one.url)
        };
        // Before the metadata was read, the client may have looked for what older revisions have there.
        if let (Some(_), Some(document)) = (listed, requested.find(of_host)) {
            let wrong = format!("the client asks for {}, and never for {own}", document.url);
            at.fail(&SERVER, Violation::new(wrong).at(document.location.clone()));
        }
    }

    /// The scopes of the first request for the user's consent, where the refusal named none.
    fn scopes(&self, refusal: &Refusal, at: &RuleContext<'_>) {
        let Some(step) = self.steps.first() else { return };
        if self.scope_is_named {
            return;
        }
        let Some((metadata, location)) = self.documents.of_resources().next() else {
            return at.inconclusive(&SCOPES, "the resource metadata is not in the recording");
        };
        let asked = step.scope.as_deref().unwrap_or_default();
        if at.facts.hides(asked) {
            return at.inconclusive(&SCOPES, TAKEN_OUT);
        }
        if refusal.ended.is_none_or(|ended| step.started.is_none_or(|now| now < ended)) {
            return at.inconclusive(&SCOPES, "nothing shows whether the challenge came first");
        }
        let asked: Vec<&str> = asked.split_whitespace().filter(|scope| *scope != "offline_access").collect();
        let listed = metadata.member("scopes_supported");
        let missing = listed
            .into_iter()
            .flat_map(Json::items)
            .filter_map(text_of)
            .find(|scope| &**scope != "offline_access" && !asked.contains(&&**scope));
        let wrong = match (missing, listed, asked.first()) {
            (Some(scope), ..) => {
                format!("the client does not ask for {}, which `scopes_supported` lists", quoted(&scope))
            }
            (None, None, Some(scope)) => {
                format!(
                    "the client asks for {}, and neither the challenge nor the metadata names a scope",
                    quoted(scope)
                )
            }
            _ => return at.pass(&SCOPES),
        };
        let wrong = Violation::new(wrong).at(step.location.clone());
        at.fail(&SCOPES, wrong.see(location.clone(), "the resource metadata"));
    }
}

const RESOURCE_METADATA: &str = "/.well-known/oauth-protected-resource";

/// The addresses at which a client looks for an issuer's metadata, in their order.
fn addresses_of(issuer: &str) -> Vec<String> {
    let [oauth, _] = inserted(issuer, "oauth-authorization-server");
    let [openid, _] = inserted(issuer, "openid-configuration");
    let mut addresses = vec![oauth, openid, format!("{issuer}/.well-known/openid-configuration")];
    addresses.dedup();
    addresses
}

/// The well-known address of a URL with its path behind the name, and without (RFC 8414, section 3.1; RFC 9728, section 3.1).
fn inserted(url: &str, name: &str) -> [String; 2] {
    let url = address(url);
    let host = url.find("://").map_or(0, |scheme| scheme + 3);
    let path = url[host..].find('/').map_or(url.len(), |path| host + path);
    let (origin, path) = url.split_at(path);
    [format!("{origin}/.well-known/{name}{path}"), format!("{origin}/.well-known/{name}")]
}
