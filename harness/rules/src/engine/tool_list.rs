//! Whether a session has shown all the tools that there are, so that a name that is not among them is unknown.
//!
//! Which listing is complete and still holds. The definitions themselves are in the facts. Memory: the names of the
//! last listing, up to [`MOST_NAMES`].

use super::content::{LONGEST_NAME, text_of};
use super::context::RuleContext;
use super::facts::Facts;
use super::moment::Moment;
use super::pending_request::PendingRequest;
use super::pending_request::SessionKey;
use std::collections::BTreeSet;
use transcript::json::Json;

/// The most names of one listing that are remembered.
const MOST_NAMES: usize = 20_000;

const NEVER_LISTED: &str =
    "the recording has no `tools/list` that shows the tool; one before the call would show it";
const CHANGED: &str = "the list of tools has changed, or a session begun, since it was last shown";

/// How far the tools of a session are known.
#[derive(Debug, Default)]
pub(crate) struct ToolList {
    session: SessionKey,
    /// The last page of the last listing was shown.
    complete: bool,
    /// The listing before was whole, and nothing has changed since.
    before: bool,
    /// They have changed since: when.
    stale: Option<Moment>,
    names: BTreeSet<Box<str>>,
    twice: BTreeSet<Box<str>>,
    /// What the last page gave for the next one.
    next: Option<Box<str>>,
    /// The last page belongs to no listing.
    astray: bool,
    /// The last listing is not the first, and requests up to this one were made before its answer.
    during: Option<u64>,
}

/// A tool by its name.
#[derive(Debug)]
pub(crate) enum Definition<'f> {
    /// As it was listed.
    Listed(Json<'f>),
    /// All tools are known, and it is none of them.
    Missing,
    /// It cannot be known: why.
    Unsure(&'static str),
}

impl ToolList {
    /// Takes in a step of the session. What comes back are the names on this page that stood in the listing before.
    pub(crate) fn see<'m>(&mut self, at: &RuleContext<'m>) -> Vec<Json<'m>> {
        // A log may go on with the next process, which may have other tools.
        let anew = at.message.is_some_and(|it| it.calls("initialize")) && !self.names.is_empty();
        if self.session != at.facts.sessions.key() {
            *self = Self { session: at.facts.sessions.key(), ..Self::default() };
        }
        let mut again = Vec::new();
        let Some(message) = at.message else { return again };
        if anew || message.calls("notifications/tools/list_changed") {
            self.stale = Some(at.moment());
        }
        let Some(result) = message.result_of("tools/list") else { return again };
        match message.request().and_then(|request| request.param("cursor")) {
            None if message.request().is_some() => {
                // A change that a stream of HTTP tells of may have come later.
                let stale = self.stale.filter(|changed| at.may_precede(changed));
                let during = at.pending.last_number().filter(|_| !self.names.is_empty());
                let before = self.knows_all();
                *self = Self { session: self.session, stale, during, before, ..Self::default() };
            }
            // A page for a cursor that nobody gave, or that was used before, belongs to no listing.
            Some(cursor) if self.next.as_deref() != Some(cursor.text()) => {
                self.astray = true;
                return again;
            }
            _ => self.astray = false,
        }
        self.next = result.member("nextCursor").map(|cursor| cursor.text().into());
        for value in result.member("tools").into_iter().flat_map(Json::items) {
            let Some(value) = value.member("name") else { continue };
            let Some(name) = text_of(value) else { continue };
            if self.names.contains(&name) {
                again.push(value);
                if self.twice.len() < MOST_NAMES {
                    self.twice.insert(name);
                }
            } else if self.names.len() < MOST_NAMES && name.len() <= LONGEST_NAME {
                self.names.insert(name);
            }
        }
        self.complete = result.member("tools").is_some() && result.member("nextCursor").is_none();
        again
    }

    /// The definition of a tool.
    pub(crate) fn find<'f>(&self, facts: &'f Facts, name: &str) -> Definition<'f> {
        match facts.tool(name) {
            _ if self.stale.is_some() => Definition::Unsure(CHANGED),
            Some(_) if self.twice.contains(name) => {
                Definition::Unsure("more than one tool of this name is listed")
            }
            Some(tool) => Definition::Listed(tool),
            None if self.knows_all() && !facts.negotiated.tools.cut => Definition::Missing,
            None => Definition::Unsure(NEVER_LISTED),
        }
    }

    /// Whether the tools were listed again while a call was under way, so that it may have been of another definition.
    pub(crate) fn came_during(&self, call: &PendingRequest) -> bool {
        self.during.is_some_and(|last| call.number <= last)
    }

    /// Whether the page at hand goes on with the listing.
    pub(crate) fn goes_on(&self) -> bool {
        !self.astray
    }

    /// Whether all tools are known: by this listing, or as long as it is not whole, by the one before.
    pub(crate) fn knows_all(&self) -> bool {
        self.stale.is_none() && (self.complete || self.before)
    }

    /// Whether the last page of the listing was shown, and nothing has changed since.
    pub(crate) fn is_whole(&self) -> bool {
        self.complete && self.stale.is_none()
    }
}
