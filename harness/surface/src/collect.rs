//! Takes a surface from recordings. Memory: what the listings hold, and an entry for each open request for one.

use crate::model::{Item, LISTINGS, Listing, Server, Surface, text};
use formats::{Format, Input, ReadError, ReadOptions, Step, walk};
use std::collections::BTreeMap;
use transcript::json::{Json, JsonKind, OwnedJson};
use transcript::meaning::{Event, EventKind};

/// The most items of one listing that are kept; a surface says where there were more.
const ITEMS: usize = 100_000;

/// The member of `_meta` by which a server of revision 2026-07-28 names itself.
const META_SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// Takes a surface from one recording, or from several of one server: of each listing the last counts.
#[derive(Debug, Default)]
pub struct Collector {
    surface: Surface,
    /// The names that servers gave themselves.
    names: Vec<String>,
    /// Requests that wait for an answer, by event.
    open: BTreeMap<u64, Asked>,
    nameless: u64,
    left_out: u64,
}

#[derive(Debug)]
enum Asked {
    /// What the server is: `initialize` or `server/discover`.
    Peer,
    /// A page of a listing, and whether it is the first.
    Page(usize, bool),
}

impl Collector {
    /// Takes what a recording shows.
    ///
    /// # Errors
    /// Where it cannot be read, or is not a session by the contract.
    pub fn read(&mut self, format: &Format, input: &mut Input<'_>) -> Result<(), ReadError> {
        self.open.clear();
        walk(format, input, ReadOptions::BY_SESSION, &mut |step| {
            if let Step::Event(entry, event) = step {
                self.event(event, entry.location.line);
            }
            Ok(())
        })?;
        Ok(())
    }

    fn event(&mut self, event: &Event<'_>, line: u64) {
        match event.kind {
            EventKind::Request => {
                let Some(asked) = asked(event) else { return };
                self.open.insert(event.index, asked);
            }
            EventKind::Result | EventKind::Error => {
                let Some(asked) = event.answers.and_then(|request| self.open.remove(&request)) else {
                    return;
                };
                let Some(result) = event.message.outcome().filter(|_| event.kind == EventKind::Result) else {
                    return;
                };
                match asked {
                    Asked::Peer => self.peer(result),
                    Asked::Page(listing, first) => self.page(listing, first, result, line),
                }
            }
            EventKind::ToolCall | EventKind::Notification => {}
        }
    }

    fn peer(&mut self, result: Json<'_>) {
        let surface = &mut self.surface;
        let meta = result.member("_meta").and_then(|meta| meta.member(META_SERVER));
        if let Some(info) = result.member("serverInfo").or(meta)
            && let Some(server) = Server::new(info)
        {
            if !self.names.contains(&server.name) {
                self.names.push(server.name.clone());
            }
            surface.server = Some(server);
        }
        if let Some(revision) = text(result.member("protocolVersion")) {
            surface.revision = Some(revision);
        }
        if let Some(capabilities) = result.member("capabilities") {
            surface.capabilities = Some(OwnedJson::unindexed(capabilities));
        }
        surface.instructions = result.member("instructions").map(OwnedJson::unindexed);
    }

    fn page(&mut self, kind: usize, first: bool, result: Json<'_>, line: u64) {
        let Some(items) = result.member(LISTINGS[kind].list).filter(|items| items.kind() == JsonKind::Array)
        else {
            return;
        };
        let listing = self.surface.listings[kind].get_or_insert_default();
        if first {
            *listing = Listing::default();
        }
        listing.complete = result.member("nextCursor").is_none_or(|cursor| cursor.kind() == JsonKind::Null);
        for item in items.items() {
            match text(item.member(LISTINGS[kind].name)) {
                None => self.nameless += 1,
                Some(name) if listing.items.len() < ITEMS || listing.items.contains_key(&name) => {
                    listing.items.insert(name, Item { definition: OwnedJson::unindexed(item), line });
                }
                Some(_) => {
                    self.left_out += 1;
                    listing.complete = false;
                }
            }
        }
    }

    /// The names of all the servers that were met. A surface is of one.
    pub fn servers(&self) -> &[String] {
        &self.names
    }

    /// What was found.
    pub fn finish(self) -> Surface {
        let Self { mut surface, nameless, left_out, .. } = self;
        for (kind, listing) in LISTINGS.iter().zip(&surface.listings) {
            let declared = surface.declares(kind) == Some(true);
            match listing {
                None if declared => {
                    surface.notes.push(format!("{} was not requested, or not answered", kind.method))
                }
                Some(listing) if !listing.complete => {
                    surface.notes.push(format!("the last page of {} is missing", kind.method));
                }
                _ => {}
            }
        }
        if nameless > 0 {
            surface.notes.push(format!("{nameless} listed items have no name, and are left out"));
        }
        if left_out > 0 {
            surface.notes.push(format!("{left_out} items after the first {ITEMS} of a listing are left out"));
        }
        surface
    }
}

fn asked(event: &Event<'_>) -> Option<Asked> {
    let method = event.message.method()?;
    if method.is("initialize") || method.is("server/discover") {
        return Some(Asked::Peer);
    }
    let listing = LISTINGS.iter().position(|kind| method.is(kind.method))?;
    let cursor = event.message.params().and_then(|params| params.member("cursor"));
    Some(Asked::Page(listing, cursor.is_none_or(|cursor| cursor.kind() == JsonKind::Null)))
}
