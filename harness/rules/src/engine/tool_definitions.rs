//! The tools of a session as its last listing defines them.
//!
//! Memory: up to [`MOST_TOOLS`] bytes of definitions, and [`MOST_BESIDE`] for what is inside of them.

use super::content::string_of;
use std::collections::BTreeMap;
use transcript::json::{Json, OwnedJson};

/// How many bytes of tool definitions are kept.
pub(crate) const MOST_TOOLS: usize = 16 << 20;

/// The most bytes that are kept beside the definitions, for what is inside of them; past it, that is looked for in their text.
const MOST_BESIDE: usize = 8 << 20;

/// The tools of the last listing and its pages.
#[derive(Debug, Default)]
pub(super) struct ToolDefinitions {
    by_name: BTreeMap<String, OwnedJson>,
    bytes: usize,
    /// How many bytes they take beside their text.
    beside: usize,
    /// Tools were left out because there were too many.
    pub(super) cut: bool,
}

impl ToolDefinitions {
    /// Takes in a page of a listing, the first or another.
    pub(super) fn list(&mut self, result: Json<'_>, first: bool) {
        if first {
            *self = Self { cut: self.cut, ..Self::default() };
        }
        for tool in result.member("tools").into_iter().flat_map(Json::items) {
            let Some(name) = tool.member("name").and_then(string_of) else { continue };
            if self.bytes + tool.text().len() > MOST_TOOLS {
                self.cut = true;
                return;
            }
            self.bytes += tool.text().len();
            let kept =
                if self.beside < MOST_BESIDE { OwnedJson::new(tool) } else { OwnedJson::unindexed(tool) };
            self.beside += kept.index_size();
            self.by_name.insert(name, kept);
        }
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
        Some(self.by_name.get(name)?.json())
    }
}
