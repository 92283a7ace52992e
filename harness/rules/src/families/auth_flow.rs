//! Authorization: the metadata documents that a refusal leads to, and the requests that lead to a token.
//!
//! An authorization or token request is judged only where captured metadata of the server's own authorization server
//! names its address. Memory: up to [`MOST`] documents and requests.

mod documents;
mod registration;
mod rules;

use crate::engine::{
    Challenge, Family, FindingLocation, HttpExchange, Origin, RuleContext, RuleVisitor, TAKEN_OUT, Transport,
    Trigger, Violation, address, is_private, parameter, percent_decoded, query, quoted, text_of,
};
use crate::rule::{Level, Party, Rule};
use documents::{NO_DOCUMENT, issuer};
use registration::{Registration, redirect};
use rules::{
    ABOUT, APPLICATION_TYPE, CLIENT_ID, HTTPS, ISS, ISSUER, PKCE, PKCE_SUPPORT, REDIRECT, RESOURCE,
    RESOURCE_VALUE, SCOPES, SERVERS, STATE,
};
use std::collections::BTreeSet;
use transcript::json::Json;

pub(super) use documents::{Document, Documents, MOST, named_metadata};

pub(super) const FAMILY: Family = Family {
    name: "auth-flow",
    title: "Authorization: metadata and the way to a token",
    rules: &[
        &SERVERS,
        &ABOUT,
        &HTTPS,
        &ISSUER,
        &ISS,
        &APPLICATION_TYPE,
        &RESOURCE,
        &RESOURCE_VALUE,
        &REDIRECT,
        &CLIENT_ID,
        &STATE,
        &SCOPES,
        &PKCE,
        &PKCE_SUPPORT,
    ],
    triggers: &[Trigger::HttpExchanges],
    visitor: || Box::new(AuthFlowState::default()),
};

/// A step of an OAuth flow.
#[derive(Debug)]
pub(super) struct Step {
    url: Box<str>,
    /// It asks the user; else it asks for a token.
    asks_user: bool,
    /// For another token than it got before.
    refreshes: bool,
    pub(super) started: Option<i64>,
    resource: Option<Box<str>>,
    pub(super) scope: Option<Box<str>>,
    state: bool,
    /// What is traded for a token.
    code: Option<Box<str>>,
    redirect: Option<Box<str>>,
    client: Option<Box<str>>,
    /// Its challenge, and how it is made; or the verifier.
    proof: bool,
    method: Option<Box<str>>,
    pub(super) location: FindingLocation,
}

impl Step {
    fn new(exchange: &HttpExchange, at: &RuleContext<'_>, asks_user: bool, params: &str) -> Self {
        let proof = if asks_user { "code_challenge" } else { "code_verifier" };
        Self {
            url: exchange.url().into(),
            asks_user,
            refreshes: parameter(params, "grant_type") == Some("refresh_token"),
            started: exchange.started,
            resource: filled(params, "resource"),
            scope: filled(&params.replace('+', " "), "scope"),
            state: filled(params, "state").is_some(),
            code: filled(params, "code"),
            redirect: filled(params, "redirect_uri"),
            client: filled(params, "client_id"),
            proof: parameter(params, proof).is_some_and(|value| !value.is_empty()),
            method: parameter(params, "code_challenge_method").map(Into::into),
            location: FindingLocation { snippet: exchange.url().to_owned(), ..at.location() },
        }
    }

    /// An authorization request, which a browser carries.
    pub(super) fn that_asks_user(exchange: &HttpExchange, at: &RuleContext<'_>) -> Option<Self> {
        let params = query(&exchange.raw.url);
        let asks =
            parameter(params, "response_type") == Some("code") && parameter(params, "client_id").is_some();
        asks.then(|| Self::new(exchange, at, true, params))
    }
}

/// What brings a code back to the client, and whose it says that it is.
#[derive(Debug)]
struct Brought {
    code: Box<str>,
    iss: Option<Box<str>>,
    location: FindingLocation,
}

/// A refusal that names scopes.
#[derive(Debug)]
struct Challenged {
    /// When it was asked for, and when it came.
    times: [Option<i64>; 2],
    scope: Box<str>,
    /// The client had no token yet.
    initial: bool,
    location: FindingLocation,
}

#[derive(Default)]
struct AuthFlowState {
    documents: Documents,
    steps: Vec<Step>,
    registrations: Vec<Registration>,
    brought: Vec<Brought>,
    challenged: Vec<Challenged>,
}

impl RuleVisitor for AuthFlowState {
    fn exchange(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        self.documents.see(exchange, at);
        match exchange.transport {
            Transport::Other => self.step(exchange, at),
            _ => self.challenged(exchange, at),
        }
    }

    fn over(&mut self, at: &RuleContext<'_>) {
        let at = &at.as_asked();
        let documents = &self.documents;
        documents.judge_resources(at);
        let issuers: Vec<Box<str>> = documents.issuers().collect();
        let mut endpoints: BTreeSet<Box<str>> = BTreeSet::new();
        // Where metadata says that users are asked, and whether it has the methods of PKCE.
        let mut asks: Vec<(Box<str>, bool)> = Vec::new();
        // The endpoints of metadata that names its issuer, and of metadata that does not.
        let mut named: [Vec<(Box<str>, &Document)>; 2] = Default::default();
        let mut registers: BTreeSet<Box<str>> = BTreeSet::new();
        for document in documents.of_authorization_servers() {
            let Some(value) = document.json() else {
                at.inconclusive(&ISSUER, NO_DOCUMENT);
                continue;
            };
            let text = |name: &str| value.member(name)?.as_text()?.to_str();
            let proves = value.member("code_challenge_methods_supported").is_some();
            let names = text("issuer").unwrap_or_default();
            let right = issuer(&document.url).as_deref() == Some(names.trim_end_matches('/'));
            let wrong = |what: &str, place: &str| {
                let wrong = format!("`issuer` is {}, and {what} {place}", quoted(&names));
                Violation::new(wrong).at(document.location.clone())
            };
            let alike = |one: &&str| one.trim_end_matches('/') == names.trim_end_matches('/');
            match issuers.iter().map(AsRef::as_ref).find(alike) {
                Some(other) if right && !issuers.iter().any(|one| **one == *names) => {
                    let wrong = wrong("the resource metadata names", &quoted(other));
                    at.fail(&ISSUER, wrong.only(Level::Should));
                }
                _ => at.check(&ISSUER, right, || wrong("the metadata is at", &document.url)),
            }
            for name in ["authorization_endpoint", "token_endpoint"] {
                let Some(url) = text(name).map(|url| Box::<str>::from(address(&url))) else { continue };
                named[usize::from(!right)].push((url.clone(), document));
                endpoints.insert(url);
            }
            asks.extend(text("authorization_endpoint").map(|url| (Box::from(address(&url)), proves)));
            registers.extend(text("registration_endpoint").map(|url| Box::from(address(&url))));
            for name in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
                let Some(url) = text(name) else { continue };
                at.check(&HTTPS, is_private(&url), || {
                    Violation::new(format!("`{name}` is {}", quoted(&url))).at(document.location.clone())
                });
            }
        }
        self.registrations.iter().for_each(|one| one.judge(&registers, at));
        let mut asked = false;
        for step in self.steps.iter().filter(|step| endpoints.contains(&step.url)) {
            flow(step, at);
            values(step, &documents.origins, at);
            let [right, wrong] = &named;
            let of = |list: &[(Box<str>, &'_ Document)]| list.iter().position(|(url, _)| *url == step.url);
            if let (None, Some(place)) = (of(right), of(wrong)) {
                let wrong_step = Violation::new("the client goes on with metadata of another issuer");
                let wrong_step = wrong_step.at(step.location.clone()).by(Party::Client);
                at.fail(&ISSUER, wrong_step.see(wrong[place].1.location.clone(), "the metadata"));
            }
            if step.asks_user {
                let why = "the authorization request has no `state`";
                at.check(&STATE, step.state, || Violation::new(why).at(step.location.clone()));
                self.scopes(step, !asked, at);
                asked = true;
            }
            self.issued(step, documents, at);
            let support = asks.iter().find(|(url, _)| *url == step.url && step.asks_user);
            if let Some((_, proves)) = support {
                at.check(&PKCE_SUPPORT, *proves, || {
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
        if self.registrations.len() < MOST {
            self.registrations.extend(Registration::read(exchange, at));
        }
        for url in [Some(&**url), exchange.response_header("location")].into_iter().flatten() {
            if let Some(code) = filled(query(url), "code")
                && self.brought.len() < MOST
            {
                let iss = filled(query(url), "iss");
                self.brought.push(Brought { code, iss, location: at.location() });
            }
        }
        self.steps.extend(Step::that_asks_user(exchange, at));
        if let Some(form) = exchange.raw.form.as_deref().filter(|_| exchange.is("POST"))
            && matches!(parameter(form, "grant_type"), Some("authorization_code" | "refresh_token"))
        {
            self.steps.push(Step::new(exchange, at, false, form));
        }
    }
}

impl AuthFlowState {
    /// What an answer of the server says of scopes.
    fn challenged(&mut self, exchange: &HttpExchange, at: &RuleContext<'_>) {
        let challenges = Challenge::all(&exchange.raw.response_headers);
        let mut bearer = challenges.iter().filter(|challenge| challenge.is_bearer());
        if let Some(scope) = bearer.find_map(|challenge| challenge.param("scope"))
            && self.challenged.len() < MOST
        {
            self.challenged.push(Challenged {
                times: [exchange.started, exchange.raw.ended],
                scope: scope.into(),
                initial: exchange.status() == 401 && exchange.request_header("authorization").is_none(),
                location: at.location(),
            });
        }
    }

    /// Whose code a client trades for a token, by the answer that brought it.
    fn issued(&self, step: &Step, documents: &Documents, at: &RuleContext<'_>) {
        let Some(code) = &step.code else { return };
        let mut metadata = documents.of_authorization_servers().into_iter().filter_map(Document::json);
        let here = |value: &Json<'_>| {
            let endpoint = value.member("token_endpoint").and_then(text_of);
            endpoint.is_some_and(|endpoint| *address(&endpoint) == *step.url)
        };
        let Some(metadata) = metadata.find(here) else { return };
        let issuer = metadata.member("issuer").and_then(text_of).unwrap_or_default();
        let promised = metadata.member("authorization_response_iss_parameter_supported");
        let Some(brought) = self.brought.iter().find(|brought| brought.code == *code) else {
            return at.inconclusive(&ISS, "what brought the code is not in the recording");
        };
        let wrong = match &brought.iss {
            Some(iss) if *iss != issuer => {
                format!("the code is of {}, and the metadata of {}", quoted(iss), quoted(&issuer))
            }
            None if promised.is_some_and(|value| value.text() == "true") => {
                "the code came without the `iss` that the metadata promises".to_owned()
            }
            _ => return at.pass(&ISS),
        };
        let wrong =
            Violation::new(format!("{wrong}; the client trades it for a token")).at(step.location.clone());
        at.fail(&ISS, wrong.see(brought.location.clone(), "what brought it"));
    }

    /// The scopes that a user is asked to grant, beside those of the last challenge before it. In a first step nothing else is
    /// asked for, but that a refresh token is welcome.
    fn scopes(&self, step: &Step, first: bool, at: &RuleContext<'_>) {
        let mut last = None;
        for one in &self.challenged {
            match (one.times, step.started) {
                ([_, Some(came)], Some(now)) if came <= now => last = Some(one),
                ([Some(asked), _], Some(now)) if asked > now => {}
                _ => return at.inconclusive(&SCOPES, "nothing shows whether the challenge came first"),
            }
        }
        let Some(challenge) = last else { return };
        let asked = step.scope.as_deref().unwrap_or_default();
        if at.facts.hides(asked) || at.facts.hides(&challenge.scope) {
            return at.inconclusive(&SCOPES, TAKEN_OUT);
        }
        let has = |scopes: &str, scope: &str| scopes.split_whitespace().any(|one| one == scope);
        let missing = challenge.scope.split_whitespace().find(|scope| !has(asked, scope));
        let mut more =
            asked.split_whitespace().filter(|scope| first && challenge.initial && *scope != "offline_access");
        let more = more.find(|scope| !has(&challenge.scope, scope));
        let wrong = match (missing, more) {
            (Some(scope), _) => format!("the client does not ask for {}", quoted(scope)),
            (None, Some(scope)) => {
                format!("the client asks for {}, which the challenge does not name", quoted(scope))
            }
            (None, None) => return at.pass(&SCOPES),
        };
        let wrong = Violation::new(wrong).at(step.location.clone());
        at.fail(&SCOPES, wrong.see(challenge.location.clone(), "the challenge"));
    }
}

/// A parameter that is there and not empty, decoded.
fn filled(params: &str, name: &str) -> Option<Box<str>> {
    parameter(params, name).filter(|value| !value.is_empty()).map(|value| percent_decoded(value).into())
}

/// The values of a step's parameters.
fn values(step: &Step, origins: &[Origin], at: &RuleContext<'_>) {
    let judge = |rule: &'static Rule, name: &str, value: &Option<Box<str>>, good: &dyn Fn(&str) -> bool| {
        let Some(value) = value else { return };
        at.check(rule, good(value), || {
            Violation::new(format!("`{name}` is {}", quoted(value))).at(step.location.clone())
        });
    };
    if let Some(uri) = &step.redirect {
        redirect("`redirect_uri` is", uri, &step.location, at);
    }
    judge(&CLIENT_ID, "client_id", &step.client, &is_private);
    judge(&RESOURCE_VALUE, "resource", &step.resource, &|value| {
        !value.contains('#') && Origin::new(value).is_some_and(|origin| origins.contains(&origin))
    });
}

/// A step of the flow that leads to a token.
fn flow(step: &Step, at: &RuleContext<'_>) {
    let (what, proof) = match step.asks_user {
        true => ("authorization request", "code_challenge"),
        false => ("token request", "code_verifier"),
    };
    let wrong = |lacks: String| Violation::new(lacks).at(step.location.clone());
    at.check(&RESOURCE, step.resource.is_some(), || wrong(format!("the {what} has no `resource`")));
    if step.refreshes {
        return;
    }
    match (step.proof, step.method.as_deref()) {
        (false, _) => at.fail(&PKCE, wrong(format!("the {what} has no `{proof}`"))),
        (true, Some("S256")) => at.pass(&PKCE),
        (true, _) if !step.asks_user => at.pass(&PKCE),
        // A client that can do no better may use it.
        (true, _) => {
            let wrong = wrong("the challenge is made by the method `plain`".to_owned());
            at.fail(&PKCE, wrong.only(Level::Should));
        }
    }
}
