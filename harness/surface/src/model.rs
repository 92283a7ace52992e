//! What a server offers.

use std::collections::BTreeMap;
use transcript::json::{Json, OwnedJson};

/// A kind of listing that servers answer.
#[derive(Debug, PartialEq, Eq)]
pub struct ListingKind {
    /// What one item is called.
    pub item: &'static str,
    /// The method that asks for it.
    pub method: &'static str,
    /// The member of the result that lists the items.
    pub list: &'static str,
    /// The member of an item that names it.
    pub name: &'static str,
    /// The capability of a server that has it.
    pub capability: &'static str,
}

/// The listings of the protocol, in the order in which they are shown.
pub const LISTINGS: [ListingKind; 4] = [
    ListingKind { item: "tool", method: "tools/list", list: "tools", name: "name", capability: "tools" },
    ListingKind {
        item: "resource",
        method: "resources/list",
        list: "resources",
        name: "uri",
        capability: "resources",
    },
    ListingKind {
        item: "template",
        method: "resources/templates/list",
        list: "resourceTemplates",
        name: "uriTemplate",
        capability: "resources",
    },
    ListingKind {
        item: "prompt",
        method: "prompts/list",
        list: "prompts",
        name: "name",
        capability: "prompts",
    },
];

/// Everything that a recording shows of what a server offers.
#[derive(Debug, Clone, Default)]
pub struct Surface {
    /// What the server says it is.
    pub server: Option<Server>,
    /// The revision that both sides agreed on.
    pub revision: Option<String>,
    /// What the server can do, as it declares it.
    pub capabilities: Option<OwnedJson>,
    /// What it tells the model about its use.
    pub instructions: Option<OwnedJson>,
    /// The listings, by their place in [`LISTINGS`]; none where nobody asked for one, or nobody answered.
    pub listings: [Option<Listing>; 4],
    /// What the recording leaves open, in sentences.
    pub notes: Vec<String>,
}

impl Surface {
    /// Whether nothing was listed.
    pub fn is_empty(&self) -> bool {
        self.listings.iter().all(Option::is_none)
    }

    /// Whether the server declares what a listing belongs to; none where no handshake is there.
    pub fn declares(&self, kind: &ListingKind) -> Option<bool> {
        Some(self.capabilities.as_ref()?.json().member(kind.capability).is_some())
    }
}

/// What a server says it is.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Server {
    /// Its name.
    pub name: String,
    /// Its version, if it says one.
    pub version: Option<String>,
    /// All that it says of itself, as it wrote it: `serverInfo`.
    #[serde(skip)]
    pub info: OwnedJson,
}

impl Server {
    /// The server of a `serverInfo`; none where that has no name.
    pub(crate) fn new(info: Json<'_>) -> Option<Self> {
        Some(Self {
            name: text(info.member("name"))?,
            version: text(info.member("version")).filter(|version| !version.is_empty()),
            info: OwnedJson::unindexed(info),
        })
    }
}

/// A listing.
#[derive(Debug, Clone, Default)]
pub struct Listing {
    /// Whether its last page is there, so that what it lacks is not offered.
    pub complete: bool,
    /// Its items by name.
    pub items: BTreeMap<String, Item>,
}

/// What a listing says of one thing.
#[derive(Debug, Clone)]
pub struct Item {
    /// As the server wrote it.
    pub definition: OwnedJson,
    /// The line of the recording; 0 where it comes from a lock file.
    pub line: u64,
}

/// The text of a string.
pub(crate) fn text(value: Option<Json<'_>>) -> Option<String> {
    let text = value?.as_text()?.decode();
    Some(String::from_utf8_lossy(&text).into_owned())
}
