//! Authorization: the metadata documents that a refusal leads to, and the requests that lead to a token.
//!
//! An authorization or token request is judged only where captured metadata of the server's own authorization server
//! names its address. Memory: up to [`MOST`] documents and requests.

use crate::engine::{
    Challenge, Family, FindingLocation, HttpExchange, Origin, Report, Revision, RuleContext, RuleVisitor,
    Span, Transport, Trigger, Violation, address, parameter, query,
};
use crate::rule::{Level, Need, Party, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;

pub(super) const FAMILY: Family = Family {
    name: "auth-flow",
    title: "Authorization: metadata and the way to a token",
    rules: &[&SERVERS, &RESOURCE, &PKCE],
    triggers: &[Trigger::HttpExchanges],
    visitor: || Box::new(AuthFlowState::default()),
};

static SERVERS: Rule = Rule {
    id: "auth.prm.servers",
    party: Party::Server,
    span: Span::from(Revision::V2025_06_18),
    needs: &[Need::Http],
    source: "basic/authorization#authorization-server-location",
    title: "The resource metadata names at least one authorization server",
    why: "It is what the document is fetched for.",
    fix: "List the issuers in `authorization_servers`.",
    ..Rule::BLANK
};

static RESOURCE: Rule = Rule {
    id: "auth.resource-param",
    party: Party::Client,
    span: Span::from(Revision::V2025_06_18),
    needs: &[Need::Http],
    source: "basic/authorization#resource-parameter-implementation",
    title: "Authorization and token requests name the server that the token is for",
    why: "A token for no server in particular is good at every server, also at one that steals it.",
    fix: "Send `resource` with the server's URL in both requests.",
    ..Rule::BLANK
};

static PKCE: Rule = Rule {
    id: "auth.pkce-s256",
    party: Party::Client,
    span: Span::from(Revision::V2025_03_26),
    needs: &[Need::Http],
    source: "basic/authorization#authorization-code-protection",
    title: "An authorization code is protected by PKCE with S256",
    why: "Without it anyone who sees the code can trade it for a token; the method `plain` shows the secret itself.",
    fix: "Send `code_challenge` with `code_challenge_method=S256`, and `code_verifier` with the code.",
    softened: Some("a warning on the method `plain`, which a client may use that can do no better"),
    ..Rule::BLANK
};

/// The most of each that are remembered.
const MOST: usize = 1_000;

/// An answer to a GET at a well-known address, or at one that a challenge named.
#[derive(Debug)]
struct Document {
    url: Box<str>,
    succeeded: bool,
    text: Option<Box<str>>,
    location: FindingLocation,
}

/// A step of an OAuth flow.
#[derive(Debug)]
struct Step {
    url: Box<str>,
    /// It asks the user; else it asks for a token.
    asks_user: bool,
    resource: bool,
    /// Its challenge, and how it is made; or the verifier.
    proof: bool,
    method: Option<Box<str>>,
    location: FindingLocation,
}

/// What a recording holds of metadata.
#[derive(Debug, Default)]
pub(super) struct Documents {
    documents: Vec<Document>,
    /// Where MCP is spoken.
    origins: Vec<Origin>,
    /// Where challenges said that the resource metadata is.
    named: BTreeSet<Box<str>>,
}

impl Documents {
    /// Takes an exchange in.
    pub(super) fn see(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let named = exchange.url().contains("/.well-known/") || exchange.raw.document.is_some();
        match (exchange.transport, Origin::new(&exchange.raw.url)) {
            (Transport::Other, _) if exchange.is("GET") && named && self.documents.len() < MOST => {
                self.documents.push(Document {
                    url: exchange.url().into(),
                    succeeded: exchange.succeeded(),
                    text: exchange.raw.document.as_deref().map(Into::into),
                    location: at.location(),
                });
            }
            (Transport::Other, _) => {}
            (_, Some(origin)) if !self.origins.contains(&origin) && self.origins.len() < MOST => {
                self.origins.push(origin);
            }
            _ => {}
        }
        for challenge in Challenge::all(&exchange.raw.response_headers) {
            if let Some(url) = challenge.param("resource_metadata")
                && exchange.transport != Transport::Other
                && self.named.len() < MOST
            {
                self.named.insert(address(url).into());
            }
        }
    }

    /// Whether the metadata was found at a well-known address; none where nobody looked at each.
    pub(super) fn well_known(&self) -> Option<bool> {
        let tried: Vec<&Document> = self
            .documents
            .iter()
            .filter(|document| document.url.contains("/.well-known/oauth-protected-resource"))
            .filter(|document| {
                Origin::new(&document.url).is_some_and(|origin| self.origins.contains(&origin))
            })
            .collect();
        if tried.iter().any(|document| document.succeeded) {
            return Some(true);
        }
        // The address without a path is the last that a client tries.
        let root =
            tried.iter().any(|document| document.url.ends_with("/.well-known/oauth-protected-resource"));
        root.then_some(false)
    }

    /// Whether a document is the metadata of a server that the recording is about.
    fn is_metadata(&self, document: &Document) -> bool {
        let here = Origin::new(&document.url).is_some_and(|origin| self.origins.contains(&origin));
        here && document.url.contains("/.well-known/oauth-protected-resource")
            || self.named.contains(&document.url)
    }

    /// Where the captured metadata says that users are asked and tokens are given, by the issuers that the server
    /// names, or at its own origin.
    fn endpoints(&self) -> BTreeSet<Box<str>> {
        let mut issuers: Vec<Origin> = self.origins.clone();
        for document in self.documents.iter().filter(|document| self.is_metadata(document)) {
            let value = document.text.as_deref().and_then(|text| Json::parse(text).ok());
            let listed = value.and_then(|value| value.member("authorization_servers"));
            issuers.extend(
                listed
                    .into_iter()
                    .flat_map(Json::items)
                    .filter_map(|item| Origin::new(&item.as_text()?.to_str()?)),
            );
        }
        let mut endpoints = BTreeSet::new();
        for document in &self.documents {
            let about = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
            let known = Origin::new(&document.url).is_some_and(|origin| issuers.contains(&origin));
            if !known || !about.iter().any(|path| document.url.contains(path)) {
                continue;
            }
            let value = document.text.as_deref().and_then(|text| Json::parse(text).ok());
            for name in ["authorization_endpoint", "token_endpoint"] {
                let url = value.and_then(|value| value.member(name)?.as_text()?.to_str());
                endpoints.extend(url.map(|url| Box::from(address(&url))));
            }
        }
        endpoints
    }
}

#[derive(Default)]
struct AuthFlowState {
    documents: Documents,
    steps: Vec<Step>,
}

impl RuleVisitor for AuthFlowState {
    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>, _report: &mut Report) {
        self.documents.see(exchange, at);
        if exchange.transport == Transport::Other {
            self.step(exchange, at);
        }
    }

    fn finish(&mut self, at: &RuleContext<'_>, _rejection: Option<&Rejection>, report: &mut Report) {
        let documents = &self.documents;
        let metadata = documents.documents.iter().filter(|document| documents.is_metadata(document));
        for document in metadata.filter(|document| document.succeeded) {
            servers(document, at, report);
        }
        let endpoints = documents.endpoints();
        for step in self.steps.iter().filter(|step| endpoints.contains(&step.url)) {
            flow(step, at, report);
        }
    }
}

impl AuthFlowState {
    /// An exchange that is not MCP: it may be a step of the flow, and is remembered until that can be known.
    fn step(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let url = &exchange.raw.url;
        if self.steps.len() >= MOST {
            return;
        }
        let step = |asks_user: bool, params: &str, proof: &str| Step {
            url: exchange.url().into(),
            asks_user,
            resource: parameter(params, "resource").is_some_and(|value| !value.is_empty()),
            proof: parameter(params, proof).is_some_and(|value| !value.is_empty()),
            method: parameter(params, "code_challenge_method").map(Into::into),
            location: FindingLocation { snippet: exchange.url().to_owned(), ..at.location() },
        };
        let params = query(url);
        if parameter(params, "response_type") == Some("code") && parameter(params, "client_id").is_some() {
            self.steps.push(step(true, params, "code_challenge"));
        }
        if let Some(form) = exchange.raw.form.as_deref().filter(|_| exchange.is("POST"))
            && parameter(form, "grant_type") == Some("authorization_code")
        {
            self.steps.push(step(false, form, "code_verifier"));
        }
    }
}

/// The authorization servers of a metadata document.
fn servers(document: &Document, at: &RuleContext<'_>, report: &mut Report) {
    let Some(value) = document.text.as_deref().and_then(|text| Json::parse(text).ok()) else {
        return report.inconclusive(
            &SERVERS,
            at,
            "the metadata document is not in the recording, or is not a JSON object",
        );
    };
    let listed = value.member("authorization_servers");
    let some = listed.is_some_and(|list| list.kind() == JsonKind::Array && list.items().next().is_some());
    report.check(&SERVERS, at, some, || {
        Violation::new("the resource metadata names no authorization server").at(document.location.clone())
    });
}

/// A step of the flow that leads to a token.
fn flow(step: &Step, at: &RuleContext<'_>, report: &mut Report) {
    let (what, proof) = match step.asks_user {
        true => ("authorization request", "code_challenge"),
        false => ("token request", "code_verifier"),
    };
    let wrong = |lacks: String| Violation::new(lacks).at(step.location.clone());
    report.check(&RESOURCE, at, step.resource, || wrong(format!("the {what} has no `resource`")));
    match (step.proof, step.method.as_deref()) {
        (false, _) => report.fail(&PKCE, at, wrong(format!("the {what} has no `{proof}`"))),
        (true, Some("S256")) => report.pass(&PKCE, at),
        (true, _) if !step.asks_user => report.pass(&PKCE, at),
        // A client that can do no better may use it.
        (true, _) => {
            let wrong = wrong("the challenge is made by the method `plain`".to_owned());
            report.fail(&PKCE, at, wrong.only(Level::Should));
        }
    }
}
