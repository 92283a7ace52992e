//! Pages: cursors, which a client hands back as it got them.
//!
//! The cursors that a server gave, by method, and on which page. Memory: a fingerprint of each cursor, up to [`MOST_CURSORS`].

use crate::engine::{
    Family, MessageKind, Revision, RuleContext, RuleVisitor, SeenMessage, Span, Trigger, Violation,
    per_session, shown, why_not_whole,
};
use crate::rule::{Level, Party, Rule};
use foldhash::fast::FixedState;
use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;
use transcript::json::{Json, JsonKind};

pub(super) const FAMILY: Family = Family {
    name: "pagination",
    title: "Pages",
    rules: &[&OPAQUE, &STRING, &ADVANCES, &BAD, &BAD_TASKS],
    triggers: &[Trigger::Methods(MessageKind::CALLS, &PAGED)],
    visitor: per_session::<PaginationState>,
};

static OPAQUE: Rule = Rule {
    id: "page.cursor-opaque",
    source: "server/utilities/pagination#implementation-guidelines",
    title: "A client sends cursors exactly as it received them",
    why: "A cursor that a client made up or changed points nowhere, or at the wrong page.",
    fix: "Repeat nextCursor of the same method exactly, and send no cursor for the first page.",
    ..Rule::BLANK.client()
};

static STRING: Rule = Rule {
    id: "page.cursor-string",
    source: "schema, PaginatedResult",
    title: "`nextCursor`, where present, is a string",
    why: "Typed clients refuse the whole listing, and others request the page `null` endlessly.",
    fix: "Leave `nextCursor` out of the last page.",
    ..Rule::BLANK.server()
};

static ADVANCES: Rule = Rule {
    id: "page.cursor-advances",
    source: "schema, PaginatedResult; server/utilities/pagination#response-format",
    title: "The `nextCursor` of a page is not one that already led to it or to a page before it",
    why: "`nextCursor` is the position after the last entry of the page. A client that follows one that stands still or leads back never finishes.",
    fix: "Name the position after the page, and leave `nextCursor` out of the last one.",
    softened: Some("a note where the page is empty"),
    ..Rule::BLANK.should().server()
};

static BAD: Rule = Rule {
    id: "page.bad-cursor",
    source: "server/utilities/pagination#error-handling",
    title: "A cursor that the server never issued is refused with -32602",
    why: "A client with a stale cursor gets some page or none, and never learns that it missed entries.",
    fix: "Answer such a request with the code -32602.",
    ..Rule::BLANK.should().server()
};

static BAD_TASKS: Rule = Rule {
    id: "tasks.list.bad-cursor",
    level: Level::Must,
    party: Party::Sender,
    span: Span::only(Revision::V2025_11_25),
    source: "basic/utilities/tasks#protocol-errors",
    title: "A cursor of `tasks/list` that was never issued is refused with -32602",
    ..BAD
};

/// The most cursors that are remembered.
const MOST_CURSORS: usize = 100_000;

/// The methods whose results come in pages.
const PAGED: [&str; 5] =
    ["tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list"];

/// Where a cursor was given: in which walk through a list, and behind how many of its pages.
#[derive(Clone, Copy)]
struct Place {
    walk: u32,
    pages: u32,
}

#[derive(Default)]
struct PaginationState {
    given: HashMap<u64, Place>,
    /// How many walks began: a client may begin anew, and ask for a page again.
    walks: u32,
    /// The errors that requests without a cursor got, by method: whatever follows may fail for the same reason.
    failing: HashSet<(Box<str>, Option<i64>)>,
}

impl RuleVisitor for PaginationState {
    fn message(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        match message.kind {
            MessageKind::Request => self.request(message, at),
            MessageKind::Result | MessageKind::Error => self.response(message, at),
            MessageKind::Notification => {}
        }
    }
}

impl PaginationState {
    fn request(&self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let method = message.method.as_deref().unwrap_or_default();
        let cursor = cursor(message.param("cursor")).filter(|_| PAGED.contains(&method));
        let Some(cursor) = cursor else { return };
        if self.given.contains_key(&print(method, cursor)) {
            return at.pass(&OPAQUE);
        }
        if let Some(why) = self.why_unsure(cursor, at) {
            return at.inconclusive(&OPAQUE, why);
        }
        let wrong = format!("`{method}` never gave the cursor {}", shown(cursor));
        at.fail(&OPAQUE, Violation::new(wrong).inside(cursor));
    }

    fn response(&mut self, message: &SeenMessage<'_>, at: &RuleContext<'_>) {
        let request = message.request().filter(|request| PAGED.contains(&request.method()));
        let Some(request) = request else { return };
        if message.kind == MessageKind::Error && request.param("cursor").is_none() {
            // The methods are few, and a server has a handful of codes.
            if self.failing.len() < 100 {
                self.failing.insert((request.method().into(), message.error_code()));
            }
        }
        let asked = cursor(request.param("cursor"));
        if let Some(cursor) = asked
            && !self.given.contains_key(&print(request.method(), cursor))
        {
            let code = message.error_code();
            let rule = if request.method() == "tasks/list" { &BAD_TASKS } else { &BAD };
            match (self.why_unsure(cursor, at), message.kind) {
                (Some(why), _) => at.inconclusive(rule, why),
                (None, MessageKind::Error) if code == Some(-32602) => at.pass(rule),
                // A side without such a method says that first, and what is not a code has a rule of its own.
                (None, MessageKind::Error) if code.is_none_or(|code| code == -32601) => {}
                (None, MessageKind::Error) if self.failing.contains(&(request.method().into(), code)) => {
                    at.inconclusive(rule, "the same error came without a cursor");
                }
                (None, kind) => {
                    let how = if kind == MessageKind::Error { "another code" } else { "a page" };
                    let wrong = Violation::new(format!("the unknown cursor {} gets {how}", shown(cursor)));
                    at.fail(rule, wrong.of(request));
                }
            }
        }
        let next = message.raw.outcome().and_then(|result| result.member("nextCursor"));
        let Some(next) = next else { return };
        at.check(&STRING, next.kind() == JsonKind::String, || Violation::kind("`nextCursor`", next));
        let given = print(request.method(), next);
        let before = asked.and_then(|cursor| self.given.get(&print(request.method(), cursor)).copied());
        let again = self.given.get(&given).copied();
        let leads_back = before
            .zip(again)
            .is_some_and(|(before, again)| again.walk == before.walk && again.pages < before.pages);
        if let Some(cursor) = asked {
            advances(cursor, next, leads_back, message, at);
        }
        if before.is_none() {
            self.walks += 1;
        }
        let place = match before {
            // A list may change while a client asks for a page once more: the later place is the safe one.
            Some(Place { walk, pages }) => {
                let known = again.filter(|again| again.walk == walk).map_or(0, |again| again.pages);
                Place { walk, pages: known.max(pages + 1) }
            }
            None => Place { walk: self.walks, pages: 1 },
        };
        if self.given.len() < MOST_CURSORS && !leads_back {
            self.given.insert(given, place);
        }
    }

    /// Why a cursor that was not seen may have been given all the same.
    fn why_unsure(&self, cursor: Json<'_>, at: &RuleContext<'_>) -> Option<&'static str> {
        match () {
            () if at.redacted(cursor) => Some("the recorder took out the cursor"),
            () if self.given.len() >= MOST_CURSORS => Some("there were more cursors than are remembered"),
            () if at.is_modern() => Some("without sessions a cursor may come from another connection"),
            () => why_not_whole(at.facts),
        }
    }
}

fn advances(
    cursor: Json<'_>,
    next: Json<'_>,
    leads_back: bool,
    message: &SeenMessage<'_>,
    at: &RuleContext<'_>,
) {
    if at.redacted(next) {
        return at.inconclusive(&ADVANCES, "the recorder took out the cursor");
    }
    let stands_still = print("", cursor) == print("", next);
    at.check(&ADVANCES, !stands_still && !leads_back, || {
        let page = format!("the page at the cursor {}", shown(cursor));
        let wrong = match stands_still {
            true => format!("{page} names the same cursor as the next"),
            false => format!("{page} leads back to {}, the cursor of a page before it", shown(next)),
        };
        let members = message.raw.outcome().into_iter().flat_map(Json::members);
        let mut lists = members.filter(|(_, value)| value.kind() == JsonKind::Array);
        let is_empty = lists.all(|(_, list)| list.items().next().is_none());
        let wrong = Violation::new(wrong).inside(next);
        if is_empty { wrong.only(Level::Info) } else { wrong }
    });
}

/// A cursor that is text: of other values the rule of types tells, and many servers take null for none.
fn cursor(value: Option<Json<'_>>) -> Option<Json<'_>> {
    value.filter(|value| value.kind() == JsonKind::String)
}

/// A cursor of a method; two are mistaken for one another with a chance of one in 10¹⁴.
fn print(method: &str, cursor: Json<'_>) -> u64 {
    let text = cursor.as_text().map(|text| text.decode().into_owned());
    FixedState::default().hash_one((method, text, cursor.kind() == JsonKind::String))
}
