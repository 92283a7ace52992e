//! Lock files: a surface as JSON, to be kept beside a project and compared with later.

use crate::model::{Item, LISTINGS, Listing, Server, Surface, text};
use crate::schema::token;
use transcript::json::{Json, JsonKind, OwnedJson, compact};

/// The version of the files that are written, and the only one that is read.
pub const LOCK_VERSION: &str = "1";

/// The member that makes a JSON object a lock file, and holds its version.
const MARK: &str = "mcpSurface";

/// Whether a text looks like a lock file, of whatever version.
pub fn is_lock(text: &str) -> bool {
    let text = text.trim_start();
    let named = text.strip_prefix('{').map(str::trim_start).and_then(|text| text.strip_prefix('"'));
    named.and_then(|text| text.strip_prefix(MARK)).is_some_and(|rest| rest.starts_with('"'))
}

/// Writes a surface: a member a line down to the parts of definitions, items by name, members as the server ordered them.
pub fn write_lock(surface: &Surface) -> String {
    let mut parts = vec![format!("\"{MARK}\": {LOCK_VERSION}")];
    let string = |text: &str| serde_json::Value::from(text).to_string();
    if let Some(server) = &surface.server {
        parts.push(format!("\"server\": {}", laid(server.info.json(), 1, 3)));
    }
    if let Some(revision) = &surface.revision {
        parts.push(format!("\"protocolVersion\": {}", string(revision)));
    }
    for (name, value) in [("capabilities", &surface.capabilities), ("instructions", &surface.instructions)] {
        if let Some(value) = value {
            parts.push(format!("\"{name}\": {}", laid(value.json(), 1, 3)));
        }
    }
    for (kind, listing) in LISTINGS.iter().zip(&surface.listings) {
        let Some(listing) = listing else { continue };
        if !listing.complete {
            parts.push(format!("\"{}Incomplete\": true", kind.list));
        }
        let items: Vec<String> = listing
            .items
            .values()
            .map(|item| format!("    {}", laid(item.definition.json(), 2, 6)))
            .collect();
        let items = if items.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", items.join(",\n")) };
        parts.push(format!("\"{}\": {items}", kind.list));
    }
    format!("{{\n  {}\n}}\n", parts.join(",\n  "))
}

/// A value with its members a line each, down to a depth; what is deeper stands on one line.
fn laid(value: Json<'_>, depth: usize, down: usize) -> String {
    let (open, close, parts) = match value.kind() {
        JsonKind::Object if depth < down => {
            let member = |(name, value): (transcript::json::JsonString<'_>, Json<'_>)| {
                format!("\"{}\": {}", name.raw(), laid(value, depth + 1, down))
            };
            ('{', '}', value.members().map(member).collect::<Vec<_>>())
        }
        JsonKind::Array if depth < down => {
            ('[', ']', value.items().map(|item| laid(item, depth + 1, down)).collect())
        }
        _ => return compact(value),
    };
    if parts.is_empty() {
        return format!("{open}{close}");
    }
    let indent = "  ".repeat(depth + 1);
    format!("{open}\n{indent}{}\n{}{close}", parts.join(&format!(",\n{indent}")), "  ".repeat(depth))
}

/// Reads what [`write_lock`] wrote.
///
/// # Errors
/// A sentence where the text is none of that.
pub fn read_lock(lock: &str) -> Result<Surface, String> {
    let lock = Json::parse(lock).map_err(|error| format!("it is invalid JSON at byte {}", error.at))?;
    let misfit = |pointer: &str| format!("{pointer} is missing, or has the wrong type");
    let version = lock.member(MARK).ok_or_else(|| misfit(&format!("/{MARK}")))?.text();
    if version != LOCK_VERSION {
        return Err(format!(
            "it is of version {version}, and this program reads version {LOCK_VERSION}: write it again, or update the program"
        ));
    }
    let part = |name: &str, kind: JsonKind| match lock.member(name) {
        Some(value) if value.kind() != kind => Err(misfit(&format!("/{name}"))),
        value => Ok(value),
    };
    let mut surface = Surface {
        revision: text(part("protocolVersion", JsonKind::String)?),
        capabilities: part("capabilities", JsonKind::Object)?.map(OwnedJson::unindexed),
        instructions: part("instructions", JsonKind::String)?.map(OwnedJson::unindexed),
        ..Surface::default()
    };
    if let Some(server) = part("server", JsonKind::Object)? {
        surface.server = Some(Server::new(server).ok_or_else(|| misfit("/server/name"))?);
    }
    for (number, kind) in LISTINGS.iter().enumerate() {
        let Some(list) = part(kind.list, JsonKind::Array)? else { continue };
        let complete = lock.member(&format!("{}Incomplete", kind.list)).is_none();
        let mut listing = Listing { complete, ..Listing::default() };
        for (place, item) in list.items().enumerate() {
            let pointer = || format!("/{}/{place}/{}", kind.list, token(kind.name));
            let name = text(item.member(kind.name)).ok_or_else(|| misfit(&pointer()))?;
            listing.items.insert(name, Item { definition: OwnedJson::unindexed(item), line: 0 });
        }
        surface.listings[number] = Some(listing);
    }
    Ok(surface)
}
