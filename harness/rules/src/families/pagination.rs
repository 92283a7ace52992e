//! Pages: cursors, which a client hands back as it got them.
//!
//! Knows: the cursors that a server gave, by method. Refuses to know: what a cursor means. Memory: a fingerprint of
//! each cursor, up to [`MOST_CURSORS`].

use crate::engine::{Found, Moment, Said, Sort, Wrong, shown, why_not_whole};
use crate::family::{Family, Hears, Watch};
use crate::rule::{Level, Party, Rule};
use foldhash::fast::FixedState;
use std::collections::HashSet;
use std::hash::BuildHasher;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "pagination",
    title: "Pages",
    rules: &[&OPAQUE, &STRING, &BAD],
    hears: &[Hears::Some(&[Sort::Request, Sort::Result, Sort::Error], &PAGED)],
    watch: || Box::new(Watching::default()),
};

static OPAQUE: Rule = Rule {
    id: "page.cursor-opaque",
    party: Party::Client,
    source: "server/utilities/pagination#implementation-guidelines",
    title: "A client sends the cursors that it got, as it got them",
    why: "A cursor that a client made up or changed points nowhere, or at the wrong page.",
    fix: "Repeat nextCursor of the same method word for word, and send no cursor for the first page.",
    ..Rule::BLANK
};

static STRING: Rule = Rule {
    id: "page.cursor-string",
    party: Party::Server,
    source: "schema, PaginatedResult",
    title: "`nextCursor` is a string where it is there",
    why: "Typed clients refuse the whole listing, and others ask for the page `null` for ever.",
    fix: "Leave `nextCursor` out of the last page.",
    ..Rule::BLANK
};

static BAD: Rule = Rule {
    id: "page.bad-cursor",
    level: Level::Should,
    party: Party::Server,
    source: "server/utilities/pagination#error-handling",
    title: "A cursor that the server never gave is refused with -32602",
    why: "A client with a stale cursor gets some page or none, and never learns that it missed entries.",
    fix: "Answer such a request with the code -32602.",
    ..Rule::BLANK
};

/// So many cursors are remembered.
const MOST_CURSORS: usize = 100_000;

/// The methods whose results come in pages.
const PAGED: [&str; 5] =
    ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"];

#[derive(Default)]
struct Watching {
    session: u64,
    given: HashSet<u64>,
}

impl Watch for Watching {
    fn see(&mut self, at: &Moment<'_>, found: &mut Found) {
        if at.facts.session != self.session {
            *self = Self { session: at.facts.session, ..Self::default() };
        }
        let Some(said) = &at.said else { return };
        match said.sort {
            Sort::Request => self.request(said, at, found),
            Sort::Result | Sort::Error => self.response(said, at, found),
            Sort::Notification => {}
        }
    }
}

impl Watching {
    fn request(&self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let method = said.method.as_deref().unwrap_or_default();
        let Some(cursor) = said.param("cursor").filter(|_| PAGED.contains(&method)) else { return };
        if self.given.contains(&print(method, cursor)) {
            return found.held(&OPAQUE, at);
        }
        if let Some(why) = self.why_unsure(cursor, at) {
            return found.unsure(&OPAQUE, at, why);
        }
        let wrong = format!("`{method}` never gave the cursor {}", shown(cursor));
        found.broke(&OPAQUE, at, Wrong::of(wrong).inside(cursor));
    }

    fn response(&mut self, said: &Said<'_>, at: &Moment<'_>, found: &mut Found) {
        let Some(asked) = said.asked().filter(|asked| PAGED.contains(&asked.method())) else { return };
        if let Some(cursor) = asked.param("cursor")
            && !self.given.contains(&print(asked.method(), cursor))
        {
            let code = said.error_code();
            match (self.why_unsure(cursor, at), said.sort) {
                (Some(why), _) => found.unsure(&BAD, at, why),
                (None, Sort::Error) if code == Some(-32602) => found.held(&BAD, at),
                // Whoever has no such method says that first.
                (None, Sort::Error) if code == Some(-32601) => {}
                (None, sort) => {
                    let how = if sort == Sort::Error { "another code" } else { "a page" };
                    let wrong = Wrong::of(format!("the unknown cursor {} gets {how}", shown(cursor)));
                    found.broke(&BAD, at, wrong.see(asked.place(), "the request"));
                }
            }
        }
        let Some(next) = said.message.outcome().and_then(|result| result.member("nextCursor")) else {
            return;
        };
        found.check(&STRING, at, next.kind() == JsonKind::String, || {
            Wrong::of(format!("`nextCursor` is {}: {}", next.kind().name(), shown(next))).inside(next)
        });
        if self.given.len() < MOST_CURSORS {
            self.given.insert(print(asked.method(), next));
        }
    }

    /// Why a cursor that was not seen may have been given all the same.
    fn why_unsure(&self, cursor: Json<'_>, at: &Moment<'_>) -> Option<&'static str> {
        match () {
            () if at.facts.redacted(cursor) => Some("the recorder took out the cursor"),
            () if self.given.len() >= MOST_CURSORS => Some("there were more cursors than are remembered"),
            () if at.revision.is_some_and(|revision| !revision.has_handshake()) => {
                Some("without sessions a cursor may come from another connection")
            }
            () => why_not_whole(at.facts),
        }
    }
}

/// A cursor of a method; two are mistaken for one another with a chance of one in 10¹⁴.
fn print(method: &str, cursor: Json<'_>) -> u64 {
    let text = cursor.as_text().map(|text| text.decode().into_owned());
    FixedState::default().hash_one((method, text, cursor.kind() == JsonKind::String))
}
