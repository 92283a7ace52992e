//! The metadata documents of a recording: those of the MCP server, and of its authorization servers.

use super::rules::{ABOUT, HTTPS, SERVERS};
use crate::engine::{
    Challenge, FindingLocation, HttpExchange, Origin, RuleContext, Transport, Violation, address, is_private,
    quoted, text_of,
};
use formats::url::{normal, resolve};
use std::collections::BTreeSet;
use transcript::json::Json;

/// The most of each that are remembered.
pub(crate) const MOST: usize = 1_000;

pub(super) const NO_DOCUMENT: &str = "the metadata document is not in the recording, or is not a JSON object";

/// An answer to a GET at a well-known address, or at one that a challenge named.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) url: Box<str>,
    pub(crate) started: Option<i64>,
    pub(crate) succeeded: bool,
    /// What is there is certainly not metadata.
    absent: bool,
    text: Option<Box<str>>,
    pub(crate) location: FindingLocation,
}

/// What a recording holds of metadata.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    documents: Vec<Document>,
    /// Where MCP is spoken.
    pub(super) origins: Vec<Origin>,
    /// Where challenges said that the resource metadata is, as [`normal`] spells it.
    named: BTreeSet<String>,
}

impl Documents {
    /// Takes an exchange in.
    pub(crate) fn see(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let named = exchange.url().contains("/.well-known/")
            || exchange.raw.document.is_some()
            || self.named.contains(&normal(exchange.url()));
        let text = exchange.raw.document.as_deref();
        match (exchange.transport, Origin::new(&exchange.raw.url)) {
            (Transport::Other, _) if exchange.is("GET") && named && self.documents.len() < MOST => {
                self.documents.push(Document {
                    url: exchange.url().into(),
                    started: exchange.started,
                    succeeded: exchange.succeeded(),
                    absent: match exchange.status() {
                        408 | 425 | 429 => false,
                        // A page, or a word such as `OK`.
                        200..=299 => {
                            exchange.raw.media_type == "text/html"
                                || text.is_some_and(|text| {
                                    !text.trim_start().starts_with('{') && !at.facts.hides(text)
                                })
                        }
                        status => (400..=501).contains(&status),
                    },
                    text: text.map(Into::into),
                    location: at.location(),
                });
            }
            (Transport::Other, _) => {}
            (_, Some(origin)) if !self.origins.contains(&origin) && self.origins.len() < MOST => {
                self.origins.push(origin);
            }
            _ => {}
        }
        if exchange.transport != Transport::Other && self.named.len() < MOST {
            self.named.extend(named_metadata(exchange).map(|url| normal(&url)));
        }
    }

    /// Whether somebody asked at an address that a challenge named, and never found metadata there.
    pub(crate) fn are_missing_at(&self, named: &str) -> bool {
        let mut asked = self.documents.iter().filter(|one| normal(&one.url) == normal(named)).peekable();
        asked.peek().is_some() && asked.all(|one| one.absent)
    }

    /// Whether the server is an authorization server itself, as those of 2025-03-26 are, which have no resource metadata.
    pub(crate) fn are_of_2025_03_26(&self) -> bool {
        let here =
            |one: &Document| Origin::new(&one.url).is_some_and(|origin| self.origins.contains(&origin));
        self.documents.iter().any(|one| one.succeeded && here(one) && issuer(&one.url).is_some())
    }

    /// What was asked for, in the order of the recording.
    pub(crate) fn requested(&self) -> impl Iterator<Item = &Document> + Clone {
        self.documents.iter()
    }

    /// Whether the metadata was found at a well-known address; none where nobody looked at each.
    pub(crate) fn well_known(&self) -> Option<bool> {
        let tried: Vec<&Document> = self
            .documents
            .iter()
            .filter(|document| document.url.contains("/.well-known/oauth-protected-resource"))
            .filter(|document| {
                Origin::new(&document.url).is_some_and(|origin| self.origins.contains(&origin))
            })
            .collect();
        if tried.iter().any(|document| document.succeeded && !document.absent) {
            return Some(true);
        }
        // The address without a path is the last that a client tries.
        let root =
            tried.iter().any(|document| document.url.ends_with("/.well-known/oauth-protected-resource"));
        root.then_some(false)
    }

    /// What the metadata of resources says of the server, and of its authorization servers.
    pub(super) fn judge_resources(&self, at: &RuleContext<'_>) {
        for document in self.found() {
            let Some(value) = document.json() else {
                for rule in [&SERVERS, &ABOUT] {
                    at.inconclusive(rule, NO_DOCUMENT);
                }
                continue;
            };
            let wrong = |what: String| Violation::new(what).at(document.location.clone());
            let listed: Vec<_> =
                value.member("authorization_servers").into_iter().flat_map(Json::items).collect();
            let none = "the resource metadata names no authorization server";
            at.check(&SERVERS, !listed.is_empty(), || wrong(none.to_owned()));
            for issuer in listed.into_iter().filter_map(text_of) {
                at.check(&HTTPS, is_private(&issuer), || {
                    wrong(format!("an authorization server is {}", quoted(&issuer)))
                });
            }
            let Some(resource) = value.member("resource").and_then(text_of) else {
                at.fail(&ABOUT, wrong("the resource metadata has no `resource`".to_owned()));
                continue;
            };
            let described = document.describes();
            let [named, wanted] =
                [&*resource, &described].map(|url| normal(url).trim_end_matches('/').to_owned());
            // Clients take an address above their own.
            let fits = described.is_empty() || named == wanted || wanted.starts_with(&format!("{named}/"));
            let is_here = Origin::new(&resource).is_some_and(|origin| self.origins.contains(&origin));
            if is_here && fits {
                at.pass(&ABOUT);
            } else if at.facts.hides(&resource) || self.origins.iter().any(Origin::is_loopback) {
                at.inconclusive(&ABOUT, "the recorder may be a proxy in front of the server");
            } else {
                let place = if is_here { format!("at {described}") } else { "elsewhere".to_owned() };
                at.fail(
                    &ABOUT,
                    wrong(format!("`resource` is {}, and the server is {place}", quoted(&resource))),
                );
            }
        }
    }

    /// What claims to be resource metadata and was found.
    fn found(&self) -> impl Iterator<Item = &Document> {
        self.documents.iter().filter(|one| one.succeeded && self.is_metadata(one))
    }

    /// Whether a document is the metadata of a server that the recording is about.
    fn is_metadata(&self, document: &Document) -> bool {
        let here = Origin::new(&document.url).is_some_and(|origin| self.origins.contains(&origin));
        here && document.url.contains("/.well-known/oauth-protected-resource")
            || self.named.contains(&normal(&document.url))
    }

    /// The resource metadata that a server showed, and where.
    pub(crate) fn of_resources(&self) -> impl Iterator<Item = (Json<'_>, &FindingLocation)> {
        self.found().filter_map(|one| Some((one.json()?, &one.location)))
    }

    /// The issuers that it names, as they are spelled.
    pub(crate) fn issuers(&self) -> impl Iterator<Item = Box<str>> {
        let listed = |value: Json<'_>| {
            let listed = value.member("authorization_servers").into_iter().flat_map(Json::items);
            listed.filter_map(text_of).collect::<Vec<_>>()
        };
        self.of_resources().flat_map(move |(value, _)| listed(value))
    }

    /// The metadata of authorization servers: of the issuers that the server names, or at its own origin.
    pub(super) fn of_authorization_servers(&self) -> Vec<&Document> {
        let mut issuers: Vec<Origin> = self.origins.clone();
        issuers.extend(self.issuers().filter_map(|issuer| Origin::new(&issuer)));
        let documents = self.documents.iter().filter(|document| {
            let here = Origin::new(&document.url).is_some_and(|origin| issuers.contains(&origin));
            document.succeeded && here && issuer(&document.url).is_some()
        });
        documents.collect()
    }
}

impl Document {
    /// The resource whose metadata is at this address by its path (RFC 9728, section 3.3); empty where it has none.
    fn describes(&self) -> String {
        let parts = self.url.split_once("/.well-known/oauth-protected-resource/");
        parts.map(|(origin, path)| format!("{origin}/{path}")).unwrap_or_default()
    }

    pub(super) fn json(&self) -> Option<Json<'_>> {
        Json::parse(self.text.as_deref()?).ok()
    }
}

/// Where the challenge of an answer says that the resource metadata is: a URL, or what clients make of a part of one.
pub(crate) fn named_metadata(exchange: &HttpExchange) -> Option<Box<str>> {
    let challenges = Challenge::all(&exchange.raw.response_headers);
    let named = challenges.iter().find_map(|challenge| challenge.param("resource_metadata"))?;
    Some(address(&resolve(&exchange.raw.url, named)).into())
}

/// The issuer whose metadata is at an address (RFC 8414, section 3.1; OpenID Connect Discovery, section 4), without the
/// slash at its end.
pub(super) fn issuer(url: &str) -> Option<String> {
    let (origin, rest) = url.split_once("/.well-known/")?;
    let names = ["oauth-authorization-server", "openid-configuration"];
    let path = names.iter().find_map(|name| rest.strip_prefix(name))?;
    Some(format!("{origin}{path}"))
}
