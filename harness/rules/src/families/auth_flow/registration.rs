//! A client that registers itself, and where it wants its code.

use super::documents::NO_DOCUMENT;
use super::rules::{APPLICATION_TYPE, REDIRECT};
use crate::engine::{FindingLocation, HttpExchange, RuleContext, Violation, is_private, quoted, text_of};
use crate::rule::Level;
use std::collections::BTreeSet;
use transcript::json::Json;

/// A client that registers itself.
#[derive(Debug)]
pub(super) struct Registration {
    url: Box<str>,
    typed: bool,
    /// The worst of its redirect URIs.
    redirect: Option<Box<str>>,
    location: FindingLocation,
}

impl Registration {
    pub(super) fn read(exchange: &HttpExchange, at: &RuleContext<'_>) -> Option<Self> {
        let body = Json::parse(exchange.raw.form.as_deref().filter(|_| exchange.is("POST"))?).ok()?;
        let redirects = body.member("redirect_uris")?.items().filter_map(text_of);
        Some(Self {
            url: exchange.url().into(),
            typed: body.member("application_type").is_some(),
            redirect: redirects.min_by_key(|uri| worst_first(unlike_https(uri))),
            location: at.location(),
        })
    }

    /// Judges it, where metadata names its address.
    pub(super) fn judge(&self, registers: &BTreeSet<Box<str>>, at: &RuleContext<'_>) {
        if !registers.contains(&self.url) {
            return at.inconclusive(&APPLICATION_TYPE, NO_DOCUMENT);
        }
        at.check(&APPLICATION_TYPE, self.typed, || {
            Violation::new("the registration has no `application_type`").at(self.location.clone())
        });
        if let Some(uri) = &self.redirect {
            redirect("`redirect_uris` has", uri, &self.location, at);
        }
    }
}

/// Judges where a client wants its code.
pub(super) fn redirect(what: &str, uri: &str, location: &FindingLocation, at: &RuleContext<'_>) {
    at.without(&REDIRECT, unlike_https(uri), |level| {
        Violation::new(format!("{what} {}", quoted(uri))).at(location.clone()).only(level)
    });
}

fn worst_first(level: Option<Level>) -> impl Ord {
    (level.is_none(), level)
}

/// How bad a redirect URI is that is neither an https address nor at this machine. An app's own scheme keeps the code on the machine,
/// and other apps from it only where the scheme is a domain name that the app's makers have.
fn unlike_https(uri: &str) -> Option<Level> {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme).to_ascii_lowercase();
    match &*scheme {
        "http" | "https" | "" => (!is_private(uri)).then_some(Level::Must),
        scheme if scheme.contains('.') => Some(Level::Info),
        _ => Some(Level::Should),
    }
}
