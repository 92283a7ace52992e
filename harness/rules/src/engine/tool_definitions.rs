//! The tools of a session as its last listing defines them.
//!
//! Memory: up to [`MOST_TOOLS`] bytes of definitions, and [`MOST_BESIDE`] for what is inside of them.

use super::content::string_of;
use super::message::SeenMessage;
use std::collections::BTreeMap;
use std::mem::take;
use transcript::json::{Json, OwnedJson};

/// How many bytes of tool definitions are kept.
pub(crate) const MOST_TOOLS: usize = 16 << 20;

/// The most bytes that are kept beside the definitions, for what is inside of them; past it, that is looked for in their text.
const MOST_BESIDE: usize = 8 << 20;

/// The tools of the last listing and its pages.
#[derive(Debug, Default)]
pub(super) struct ToolDefinitions {
    by_name: BTreeMap<String, OwnedJson>,
    /// Those of the listing before, which was whole, until the last one is.
    before: BTreeMap<String, OwnedJson>,
    /// How many bytes those of both listings take,
    bytes: usize,
    /// and how many beside their text.
    beside: usize,
    /// The last page of the last listing was shown.
    whole: bool,
    /// What its last page gave for the next one.
    next: Option<Box<str>>,
    /// Tools were left out because there were too many.
    pub(super) cut: bool,
}

impl ToolDefinitions {
    /// Takes in a message of the session.
    pub(super) fn see(&mut self, message: &SeenMessage<'_>) {
        if message.calls("notifications/tools/list_changed") || message.calls("initialize") {
            self.whole = false;
            self.before.clear();
            self.count();
        }
        if let Some(result) = message.result_of("tools/list") {
            let cursor = message.request().and_then(|request| request.param("cursor"));
            self.list(result, cursor.map(|cursor| cursor.text()));
        }
    }

    /// Takes in a page of a listing, the first or that of a cursor.
    fn list(&mut self, result: Json<'_>, cursor: Option<&str>) {
        // A page for a cursor that nobody gave belongs to no listing.
        let goes_on = cursor.is_none() || cursor == self.next.as_deref();
        if cursor.is_none() {
            let listed = take(&mut self.by_name);
            if self.whole {
                self.before = listed;
            }
            self.count();
        }
        for tool in result.member("tools").into_iter().flat_map(Json::items) {
            let Some(name) = tool.member("name").and_then(string_of) else { continue };
            if self.bytes + tool.text().len() > MOST_TOOLS && !self.before.is_empty() {
                self.before.clear();
                self.count();
            }
            if self.bytes + tool.text().len() > MOST_TOOLS {
                self.cut = true;
                break;
            }
            self.bytes += tool.text().len();
            let kept =
                if self.beside < MOST_BESIDE { OwnedJson::new(tool) } else { OwnedJson::unindexed(tool) };
            self.beside += kept.index_size();
            self.by_name.insert(name, kept);
        }
        if goes_on {
            self.next = result.member("nextCursor").map(|cursor| cursor.text().into());
            self.whole = self.next.is_none();
        }
        if self.whole {
            self.before.clear();
            self.count();
        }
    }

    fn count(&mut self) {
        let kept = || self.by_name.values().chain(self.before.values());
        self.bytes = kept().map(|tool| tool.json().text().len()).sum();
        self.beside = kept().map(OwnedJson::index_size).sum();
    }

    /// How many bytes are kept.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Leaves all out.
    pub(super) fn forget(&mut self) {
        *self = Self { cut: true, ..Self::default() };
    }

    /// A tool by its name.
    pub(super) fn get(&self, name: &str) -> Option<Json<'_>> {
        Some(self.by_name.get(name).or_else(|| self.before.get(name))?.json())
    }
}
