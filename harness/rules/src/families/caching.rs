//! Caching: what results say of how long and for whom they may be kept.
//!
//! A server of an older revision gives no such hints, and owes none. Memory: the scopes of up to [`MOST_PAGES`] pages
//! whose successor has not come.

use super::jsonrpc::is_integer;
use super::modern::{client_of, may_be_older, may_be_one};
use crate::engine::{
    Family, FindingLocation, MessageKind, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation,
    shown, text_of,
};
use crate::rule::{Level, Rule};
use std::collections::VecDeque;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "caching",
    title: "Caching of results",
    rules: &[&FIELDS, &TTL, &SCOPE],
    triggers: &[Trigger::Methods(&[MessageKind::Result], CACHEABLE)],
    visitor: || Box::new(CachingState::default()),
};

/// The most pages that are remembered until their successors come.
const MOST_PAGES: usize = 1_000;

/// Longer cursors are not followed.
const LONGEST: usize = 1 << 14;

/// The methods whose results may be kept.
const CACHEABLE: &[&str] = &[
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

const OURS: Rule = Rule { span: Span::MODERN, ..Rule::BLANK.server() };

static FIELDS: Rule = Rule {
    id: "cache.fields",
    source: "server/utilities/caching#cacheable-results",
    title: "Lists, resources and discovery come with `ttlMs` and `cacheScope`, questions without",
    why: "A client without hints asks again and again, and a shared cache does not know what it may hand on.",
    fix: "Send ttlMs (0 where nothing may be kept) and cacheScope \"public\" or \"private\".",
    softened: Some("a warning on a result that asks for input: the text says so without an obligation"),
    ..OURS
};

static TTL: Rule = Rule {
    id: "cache.ttl-nonneg",
    source: "server/utilities/caching#time-to-live-ttl-field",
    title: "`ttlMs` is a whole number of milliseconds, and not negative",
    why: "Clients take a negative time for none, and typed ones refuse a fraction.",
    fix: "Send 0 where the result is stale at once.",
    ..OURS
};

static SCOPE: Rule = Rule {
    id: "cache.scope-per-list",
    source: "server/utilities/caching#interaction-with-pagination",
    title: "All pages of a list have the same `cacheScope`",
    why: "A shared cache would serve some pages of a list that belongs to one caller.",
    fix: "Decide the scope for the whole list.",
    ..OURS
};

/// A page that names its successor.
struct Page {
    method: &'static str,
    cursor: Box<str>,
    client: Option<Box<str>>,
    scope: Box<str>,
    location: FindingLocation,
}

#[derive(Default)]
struct CachingState {
    pages: VecDeque<Page>,
}

impl RuleVisitor for CachingState {
    fn visit(&mut self, at: &RuleContext<'_>) {
        let Some(message) = at.message.filter(|message| message.kind == MessageKind::Result) else {
            return;
        };
        let (Some(request), Some(result)) = (message.request(), message.raw.outcome()) else { return };
        let Some(method) = CACHEABLE.iter().find(|method| **method == request.method()) else { return };
        if result.kind() != JsonKind::Object {
            return;
        }
        match result.member("resultType").and_then(text_of).as_deref() {
            Some("input_required") => question(result, at),
            // Another type is an extension's, which says what its results hold.
            Some(other) if other != "complete" => {}
            None if let Some(why) = may_be_older(request, at) => at.inconclusive(&FIELDS, why),
            _ => {
                fields(result, at);
                self.page(method, message, result, at);
            }
        }
    }
}

fn fields(result: Json<'_>, at: &RuleContext<'_>) {
    let (ttl, scope) = (result.member("ttlMs"), result.member("cacheScope"));
    let wrong = match (ttl, scope) {
        (None, _) => Some(Violation::new("the result has no `ttlMs`")),
        (Some(ttl), _) if ttl.kind() != JsonKind::Number => Some(Violation::kind("`ttlMs`", ttl)),
        (_, None) => Some(Violation::new("the result has no `cacheScope`")),
        (_, Some(scope)) if !matches!(text_of(scope).as_deref(), Some("public" | "private")) => {
            Some(Violation::new(format!("`cacheScope` is {}", shown(scope))).inside(scope))
        }
        _ => None,
    };
    at.without(&FIELDS, wrong, |wrong| wrong);
    if let Some((ttl, number)) = ttl.and_then(|ttl| Some((ttl, ttl.as_number()?))) {
        let sound = number == "-0" || !number.starts_with('-') && is_integer(number);
        at.check(&TTL, sound, || Violation::new(format!("`ttlMs` is {}", shown(ttl))).inside(ttl));
    }
}

/// A result that asks for input cannot be kept.
fn question(result: Json<'_>, at: &RuleContext<'_>) {
    let hint = ["ttlMs", "cacheScope"].iter().find_map(|name| Some((name, result.member(name)?)));
    at.without(&FIELDS, hint, |(name, value)| {
        let wrong = Violation::new(format!("a result that asks for input has `{name}`"));
        // The text says so without an obligation.
        wrong.inside(value).only(Level::Should)
    });
}

impl CachingState {
    fn page(
        &mut self,
        method: &'static str,
        message: &SeenMessage<'_>,
        result: Json<'_>,
        at: &RuleContext<'_>,
    ) {
        let Some(scope) = result.member("cacheScope").and_then(text_of) else { return };
        let cursor = message.request().and_then(|request| request.param("cursor")).and_then(text_of);
        let client = message.request().and_then(|request| client_of(|name| request.meta(name)));
        let before = cursor.and_then(|cursor| {
            self.pages.iter().rfind(|page| {
                page.method == method && page.cursor == cursor && may_be_one(page.client.as_deref(), client)
            })
        });
        if let Some(page) = before {
            at.check(&SCOPE, page.scope == scope, || {
                let wrong = format!("this page is {scope}, and the one before it {}", page.scope);
                Violation::new(wrong).see(page.location.clone(), "the page before")
            });
        }
        let Some(cursor) = result.member("nextCursor").and_then(text_of) else { return };
        // Cursors that a recorder took out are all one.
        if cursor.len() <= LONGEST && !at.facts.hides(&cursor) {
            if self.pages.len() >= MOST_PAGES {
                self.pages.pop_front();
            }
            let (client, location) = (client.map(Into::into), at.location());
            self.pages.push_back(Page { method, cursor, client, scope, location });
        }
    }
}
