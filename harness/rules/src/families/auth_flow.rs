//! Authorization: the metadata documents that a refusal leads to, and the requests that lead to a token.
//!
//! An authorization or token request is judged only where captured metadata of the server's own authorization server
//! names its address. Memory: up to [`MOST`] documents and requests.

use crate::engine::{
    Challenge, Family, FindingLocation, HttpExchange, Origin, Report, Revision, RuleContext, RuleVisitor,
    Span, Transport, Trigger, Violation, address, parameter, percent_decoded, query, quoted,
};
use crate::rule::{Level, Need, Party, Rule};
use std::collections::BTreeSet;
use transcript::json::{Json, JsonKind};
use transcript::rejection::Rejection;

pub(super) const FAMILY: Family = Family {
    name: "auth-flow",
    title: "Authorization: metadata and the way to a token",
    rules: &[&SERVERS, &HTTPS, &RESOURCE, &RESOURCE_VALUE, &REDIRECT, &CLIENT_ID, &PKCE, &PKCE_SUPPORT],
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

/// What the rules about a step of a client's flow have in common.
const STEP: Rule = Rule {
    party: Party::Client,
    span: Span::from(Revision::V2025_03_26),
    needs: &[Need::Http],
    ..Rule::BLANK
};

static HTTPS: Rule = Rule {
    id: "auth.endpoints-https",
    party: Party::Server,
    source: "basic/authorization#communication-security",
    title: "The endpoints of an authorization server are at https addresses",
    why: "Codes and tokens that go over http can be read by anyone on the way.",
    fix: "Serve every endpoint of the metadata over https.",
    ..STEP
};

static REDIRECT: Rule = Rule {
    id: "auth.redirect-uri",
    source: "basic/authorization#communication-security",
    title: "A redirect URI is at this machine or at an https address",
    why: "The authorization code is sent there, and over http anyone on the way can read it.",
    fix: "Use a loopback address or https.",
    ..STEP
};

static RESOURCE_VALUE: Rule = Rule {
    id: "auth.resource-value",
    span: Span::from(Revision::V2025_06_18),
    source: "basic/authorization#canonical-server-uri",
    title: "`resource` is the address of the MCP server, without a fragment",
    why: "A token for another address is refused by the server, or is good at one that it was not meant for.",
    fix: "Send the address that messages are posted to, or its origin.",
    ..STEP
};

static CLIENT_ID: Rule = Rule {
    id: "auth.client-id-https",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#client-id-metadata-documents",
    title: "A client id that is an address is an https address",
    why: "The authorization server fetches the document from there, and over http it may be anyone's.",
    fix: "Publish the metadata document at an https address with a path.",
    ..STEP
};

static PKCE_SUPPORT: Rule = Rule {
    id: "auth.pkce-support",
    span: Span::from(Revision::V2025_11_25),
    source: "basic/authorization#authorization-code-protection",
    title: "A client does not go on where the metadata has no `code_challenge_methods_supported`",
    why: "Without the member nothing says that the server checks the proof, and a stolen code may be good.",
    fix: "Refuse to go on, and say that the authorization server does not support PKCE.",
    ..STEP
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
    resource: Option<Box<str>>,
    redirect: Option<Box<str>>,
    client: Option<Box<str>>,
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

    /// The captured metadata of authorization servers: of the issuers that the server names, or at its own origin.
    fn server_documents(&self) -> Vec<(&Document, Json<'_>)> {
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
        let about = ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"];
        let documents = self.documents.iter().filter(|document| {
            Origin::new(&document.url).is_some_and(|origin| issuers.contains(&origin))
                && about.iter().any(|path| document.url.contains(path))
        });
        documents
            .filter_map(|document| Some((document, Json::parse(document.text.as_deref()?).ok()?)))
            .collect()
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
        let mut endpoints: BTreeSet<Box<str>> = BTreeSet::new();
        // Where metadata says that users are asked, and whether it has the methods of PKCE.
        let mut asks: Vec<(Box<str>, bool)> = Vec::new();
        for (document, value) in documents.server_documents() {
            let text = |name: &str| value.member(name)?.as_text()?.to_str();
            let proves = value.member("code_challenge_methods_supported").is_some();
            for name in ["authorization_endpoint", "token_endpoint"] {
                endpoints.extend(text(name).map(|url| Box::from(address(&url))));
            }
            asks.extend(text("authorization_endpoint").map(|url| (Box::from(address(&url)), proves)));
            for name in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
                let Some(url) = text(name) else { continue };
                report.check(&HTTPS, at, is_private(&url), || {
                    Violation::new(format!("`{name}` is {}", quoted(&url))).at(document.location.clone())
                });
            }
        }
        for step in self.steps.iter().filter(|step| endpoints.contains(&step.url)) {
            flow(step, at, report);
            values(step, &documents.origins, at, report);
            let support = asks.iter().find(|(url, _)| *url == step.url && step.asks_user);
            if let Some((_, proves)) = support {
                report.check(&PKCE_SUPPORT, at, *proves, || {
                    Violation::new(
                        "the client goes on, and the metadata has no `code_challenge_methods_supported`",
                    )
                    .at(step.location.clone())
                });
            }
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
            resource: filled(params, "resource"),
            redirect: filled(params, "redirect_uri"),
            client: filled(params, "client_id"),
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

/// A parameter that is there and not empty, decoded.
fn filled(params: &str, name: &str) -> Option<Box<str>> {
    parameter(params, name).filter(|value| !value.is_empty()).map(|value| percent_decoded(value).into())
}

/// Whether what is sent to an address stays between its ends: over https, or on this machine. Addresses of apps, which have a
/// scheme of their own, stay on it too.
fn is_private(url: &str) -> bool {
    let http = url.get(..7).is_some_and(|start| start.eq_ignore_ascii_case("http://"));
    !http || Origin::new(url).is_some_and(|origin| origin.is_loopback())
}

/// The values of a step's parameters.
fn values(step: &Step, origins: &[Origin], at: &RuleContext<'_>, report: &mut Report) {
    let mut judge =
        |rule: &'static Rule, name: &str, value: &Option<Box<str>>, good: &dyn Fn(&str) -> bool| {
            let Some(value) = value else { return };
            report.check(rule, at, good(value), || {
                Violation::new(format!("`{name}` is {}", quoted(value))).at(step.location.clone())
            });
        };
    judge(&REDIRECT, "redirect_uri", &step.redirect, &is_private);
    judge(&CLIENT_ID, "client_id", &step.client, &is_private);
    judge(&RESOURCE_VALUE, "resource", &step.resource, &|value| {
        !value.contains('#') && Origin::new(value).is_some_and(|origin| origins.contains(&origin))
    });
}

/// A step of the flow that leads to a token.
fn flow(step: &Step, at: &RuleContext<'_>, report: &mut Report) {
    let (what, proof) = match step.asks_user {
        true => ("authorization request", "code_challenge"),
        false => ("token request", "code_verifier"),
    };
    let wrong = |lacks: String| Violation::new(lacks).at(step.location.clone());
    report.check(&RESOURCE, at, step.resource.is_some(), || wrong(format!("the {what} has no `resource`")));
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
