//! Caching: what results say of how long and for whom they may be kept.
//!
//! Refuses to know: whether a client keeps to it. A server of an older revision gives no such hints, and owes none.
//! Memory: the scopes of up to [`MOST_PAGES`] pages whose successor has not come.

use super::modern::UNPROVEN;
use crate::engine::{Found, Moment, Place, Said, Sort, Span, Wrong, shown, text_of};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use std::collections::VecDeque;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "caching",
    title: "Caching of results",
    rules: &[&FIELDS, &TTL, &SCOPE],
    hears: &[Hears::Some(&[Sort::Result], CACHEABLE)],
    watch: || Box::new(Watching::default()),
};

/// So many pages are remembered until their successors come.
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

const OURS: Rule = Rule { party: Party::Server, span: Span::MODERN, ..Rule::BLANK };

static FIELDS: Rule = Rule {
    id: "cache.fields",
    source: "server/utilities/caching#cacheable-results",
    title: "Lists, resources and discovery come with `ttlMs` and `cacheScope`, questions without",
    why: "A client without hints asks again and again, and a shared cache does not know what it may hand on.",
    fix: "Send ttlMs (0 where nothing may be kept) and cacheScope \"public\" or \"private\".",
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
    why: "A shared cache would hand on some pages of a list that is one caller's own.",
    fix: "Decide the scope for the whole list.",
    ..OURS
};

/// A page that names its successor.
struct Page {
    method: &'static str,
    cursor: Box<str>,
    scope: Box<str>,
    place: Place,
}

#[derive(Default)]
struct Watching {
    pages: VecDeque<Page>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        let Some(said) = at.said.as_ref().filter(|said| said.sort == Sort::Result) else { return };
        let (Some(asked), Some(result)) = (said.asked(), said.message.outcome()) else { return };
        let Some(method) = CACHEABLE.iter().find(|method| **method == asked.method()) else { return };
        if result.kind() != JsonKind::Object {
            return;
        }
        match result.member("resultType").and_then(text_of).as_deref() {
            Some("input_required") => question(result, at, found),
            // Another type is an extension's, which says what its results hold.
            Some(other) if other != "complete" => {}
            None if !at.facts.modern => found.unsure(&FIELDS, at, UNPROVEN),
            _ => {
                fields(result, at, found);
                self.page(method, said, result, at, found);
            }
        }
    }
}

fn fields(result: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    let (ttl, scope) = (result.member("ttlMs"), result.member("cacheScope"));
    let wrong = match (ttl, scope) {
        (None, _) => Some(Wrong::of("the result has no `ttlMs`")),
        (Some(ttl), _) if ttl.kind() != JsonKind::Number => {
            Some(Wrong::of(format!("`ttlMs` is {}: {}", ttl.kind().name(), shown(ttl))).inside(ttl))
        }
        (_, None) => Some(Wrong::of("the result has no `cacheScope`")),
        (_, Some(scope)) if !matches!(text_of(scope).as_deref(), Some("public" | "private")) => {
            Some(Wrong::of(format!("`cacheScope` is {}", shown(scope))).inside(scope))
        }
        _ => None,
    };
    match wrong {
        Some(wrong) => found.broke(&FIELDS, at, wrong),
        None => found.held(&FIELDS, at),
    }
    if let Some((ttl, number)) = ttl.and_then(|ttl| Some((ttl, ttl.as_number()?))) {
        let sound = number == "-0" || !number.starts_with('-') && is_whole(number);
        found.check(&TTL, at, sound, || Wrong::of(format!("`ttlMs` is {}", shown(ttl))).inside(ttl));
    }
}

/// Whether a number without sign is an integer; where it has an exponent, that is not looked into.
fn is_whole(number: &str) -> bool {
    number.contains(['e', 'E'])
        || number.split_once('.').is_none_or(|(_, fraction)| fraction.bytes().all(|byte| byte == b'0'))
}

/// A result that asks for input cannot be kept.
fn question(result: Json<'_>, at: &Moment<'_>, found: &mut Found) {
    let hint = ["ttlMs", "cacheScope"].iter().find_map(|name| Some((name, result.member(name)?)));
    match hint {
        None => found.held(&FIELDS, at),
        Some((name, value)) => {
            let wrong = Wrong::of(format!("a result that asks for input has `{name}`"));
            // The text says so without an obligation.
            found.broke(&FIELDS, at, wrong.inside(value).only(Level::Should));
        }
    }
}

impl Watching {
    fn page(
        &mut self,
        method: &'static str,
        said: &Said<'_>,
        result: Json<'_>,
        at: &Moment<'_>,
        found: &mut Found,
    ) {
        let Some(scope) = result.member("cacheScope").and_then(text_of) else { return };
        let cursor = said.asked().and_then(|asked| asked.param("cursor")).and_then(text_of);
        let before = cursor.and_then(|cursor| {
            self.pages.iter().rfind(|page| page.method == method && page.cursor == cursor)
        });
        if let Some(page) = before {
            found.check(&SCOPE, at, page.scope == scope, || {
                let wrong = format!("this page is {scope}, and the one before it {}", page.scope);
                Wrong::of(wrong).see(page.place.clone(), "the page before")
            });
        }
        let Some(cursor) = result.member("nextCursor").and_then(text_of) else { return };
        // Cursors that a recorder took out are all one.
        if cursor.len() <= LONGEST && !at.facts.hides(&cursor) {
            if self.pages.len() >= MOST_PAGES {
                self.pages.pop_front();
            }
            self.pages.push_back(Page { method, cursor, scope, place: at.place() });
        }
    }
}
