//! A comparison for people and for programs: text, Markdown, JSON, SARIF.

use crate::change::{ADDED, Change, Class, Comparison, KINDS_OF_CHANGE, REMOVED};
use crate::model::{LISTINGS, ListingKind, Server, Surface};
use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};
use std::fmt::Write as _;
use verdict::plain::{cut, plain};

/// The most names of what came or went that are shown.
const NAMED: usize = 20;

/// The most characters of a value that are shown.
const SHOWN: usize = 100;

/// The two sides of a comparison, by the names of their files.
#[derive(Debug, Clone, Copy)]
pub struct Sides<'s> {
    /// What the server offered.
    pub old: (&'s str, &'s Surface),
    /// What it offers now.
    pub new: (&'s str, &'s Surface),
}

/// For a person at a terminal: the gravest changes first, by what changed.
pub fn text(sides: Sides<'_>, found: &Comparison, colour: bool) -> String {
    let mut out = String::new();
    for (word, (name, surface)) in [("old", sides.old), ("new", sides.new)] {
        let _ = writeln!(out, "{word}  {}: {}", plain(name), offer(surface));
    }
    for class in Class::ALL {
        let changes: Vec<&Change> = found.changes.iter().filter(|change| change.class == class).collect();
        if changes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{}: {}", paint(class.name(), class, colour), changes.len());
        let (whole, parts): (Vec<&Change>, Vec<&Change>) =
            changes.into_iter().partition(|change| [ADDED.id, REMOVED.id].contains(&change.kind));
        for kind in &LISTINGS {
            gathered(kind, &whole, &mut out);
        }
        let mut under = None;
        for Change { subject, pointer, what, why, before, after, .. } in parts {
            if under != Some(subject) {
                let _ = writeln!(out, "  {}", plain(subject));
                under = Some(subject);
            }
            let place = if pointer.is_empty() { String::new() } else { format!("  {}", plain(pointer)) };
            let _ = writeln!(out, "    {}{place}", plain(what));
            let _ = writeln!(out, "      {why}");
            for (sign, value) in [('-', before), ('+', after)] {
                if let Some(value) = value {
                    let _ = writeln!(out, "      {sign} {}", cut(&plain(value), SHOWN));
                }
            }
        }
    }
    let _ = writeln!(out, "\n{}", counts(found));
    out
}

/// What came or went as a whole, in one paragraph for each kind of listing.
fn gathered(kind: &ListingKind, changes: &[&Change], out: &mut String) {
    let name = |change: &Change| Some(plain(change.subject.strip_prefix(kind.item)?.strip_prefix(' ')?));
    let named: Vec<(String, &Change)> =
        changes.iter().filter_map(|change| Some((name(change)?, *change))).collect();
    let Some((_, Change { what, why, .. })) = named.first() else { return };
    let (plural, are) = if named.len() == 1 { ("", "is") } else { ("s", "are") };
    let what = what.strip_prefix("is ").unwrap_or(what);
    let _ = writeln!(out, "  {} {}{plural} {are} {what}\n    {why}", named.len(), kind.item);
    for (name, _) in named.iter().take(NAMED) {
        let _ = writeln!(out, "      {}", cut(name, SHOWN));
    }
    if named.len() > NAMED {
        let _ = writeln!(out, "      and {} more, which --output json lists", named.len() - NAMED);
    }
}

/// For a comment on a pull request.
pub fn markdown(sides: Sides<'_>, found: &Comparison) -> String {
    let mut out = format!("### What the server offers: {}\n\n", counts(found));
    for (word, (name, surface)) in [("Old", sides.old), ("New", sides.new)] {
        let _ = writeln!(out, "- {word}: {}: {}", code(name), cell(&offer(surface)));
    }
    if !found.changes.is_empty() {
        out.push_str("\n| | what | change | why |\n| --- | --- | --- | --- |\n");
    }
    for Change { class, subject, pointer, what, why, .. } in &found.changes {
        let place = if pointer.is_empty() { String::new() } else { format!(" {}", code(pointer)) };
        let _ = writeln!(out, "| **{}** | {}{place} | {} | {why} |", class.name(), cell(subject), cell(what));
    }
    out
}

/// For programs. `surface.schema.json` beside this crate says what each member is.
pub fn json(sides: Sides<'_>, found: &Comparison) -> String {
    let side = |(name, surface): (&str, &Surface)| {
        let listed: serde_json::Map<String, Value> = LISTINGS
            .iter()
            .zip(&surface.listings)
            .filter_map(|(kind, listing)| Some((kind.list.to_owned(), listing.as_ref()?.items.len().into())))
            .collect();
        json!({ "file": name, "server": surface.server, "revision": surface.revision, "listed": listed, "notes": surface.notes })
    };
    let totals: serde_json::Map<String, Value> =
        Class::ALL.iter().map(|&class| (class.name().to_owned(), found.count(class).into())).collect();
    let all = json!({
        "old": side(sides.old),
        "new": side(sides.new),
        "totals": totals,
        "changes": found.changes,
        "notes": found.notes,
    });
    format!("{all:#}\n")
}

/// As SARIF 2.1.0, for code scanners: a result a change, in the new side's file.
pub fn sarif(sides: Sides<'_>, found: &Comparison, version: &str) -> String {
    let (file, surface) = sides.new;
    let rules: Vec<Value> = KINDS_OF_CHANGE
        .iter()
        .map(|kind| json!({ "id": format!("surface.{}", kind.id), "shortDescription": { "text": kind.sentence } }))
        .collect();
    let result = |change: &Change| {
        let level = match change.class {
            Class::Breaking => "error",
            Class::Review => "warning",
            Class::Additive => "note",
        };
        let mut place = json!({ "artifactLocation": { "uri": uri(file) } });
        if let Some(line) = line(surface, &change.subject) {
            place["region"] = json!({ "startLine": line });
        }
        let name = format!("{}{}", change.subject, change.pointer);
        json!({
            "ruleId": format!("surface.{}", change.kind),
            "level": level,
            "message": { "text": format!("{}: {}: {}", change.subject, change.what, change.why) },
            "locations": [{ "physicalLocation": place, "logicalLocations": [{ "fullyQualifiedName": name }] }],
        })
    };
    let results: Vec<Value> = found.changes.iter().map(result).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{ "tool": { "driver": { "name": "mcp-concord", "version": version, "rules": rules } }, "results": results }],
    });
    format!("{log:#}\n")
}

/// The line on which the new side lists a subject.
fn line(surface: &Surface, subject: &str) -> Option<u64> {
    let listed = LISTINGS.iter().zip(&surface.listings);
    let mut found = listed.filter_map(|(kind, listing)| {
        let name = subject.strip_prefix(kind.item)?.strip_prefix(' ')?;
        Some(listing.as_ref()?.items.get(name)?.line)
    });
    found.next().filter(|line| *line > 0)
}

/// What a side offers, in one line.
pub fn offer(surface: &Surface) -> String {
    let mut parts = Vec::new();
    if let Some(Server { name, version, .. }) = &surface.server {
        let version = version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
        parts.push(cut(&plain(&format!("{name}{version}")), SHOWN));
    }
    for (kind, listing) in LISTINGS.iter().zip(&surface.listings) {
        if let Some(listing) = listing {
            let count = listing.items.len();
            let plural = if count == 1 { "" } else { "s" };
            let more = if listing.complete { "" } else { " or more" };
            parts.push(format!("{count} {}{plural}{more}", kind.item));
        }
    }
    parts.join(", ")
}

/// The totals, in one line.
pub fn counts(found: &Comparison) -> String {
    if found.changes.is_empty() {
        return "no change".to_owned();
    }
    let count = |class: &Class| format!("{} {}", found.count(*class), class.name());
    Class::ALL.iter().map(count).collect::<Vec<_>>().join(", ")
}

fn paint(name: &str, class: Class, colour: bool) -> String {
    let of = match class {
        Class::Breaking => AnsiColor::Red,
        Class::Review => AnsiColor::Yellow,
        Class::Additive => AnsiColor::Green,
    };
    verdict::text::paint(name, Style::new().bold().fg_color(Some(of.into())), colour)
}

/// A text in a cell of a Markdown table: whatever a server wrote, it stays text.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for char in plain(text).chars() {
        if matches!(
            char,
            '\\' | '`' | '*' | '_' | '{' | '}' | '[' | ']' | '<' | '>' | '#' | '|' | '!' | '&' | '~' | '@'
        ) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

/// A text as code in Markdown.
fn code(text: &str) -> String {
    format!("`{}`", plain(text).replace('`', "'").replace('|', "\\|"))
}

/// A path as a relative URI (RFC 3986).
fn uri(path: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    path.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{Sides, json};
    use crate::{KINDS_OF_CHANGE, compare, read_lock};
    use serde_json::Value;
    use std::collections::BTreeSet;

    const OLD: &str = include_str!("../../../docs/examples/tools-1.lock");
    const NEW: &str = include_str!("../../../docs/examples/tools-2.lock");

    #[test]
    fn the_json_is_as_the_schema_says() {
        let text: Value = serde_json::from_str(include_str!("../surface.schema.json")).unwrap();
        let schema = jsonschema::validator_for(&text).unwrap();
        let kinds = &text["properties"]["changes"]["items"]["properties"]["kind"]["enum"];
        let listed: BTreeSet<&str> = kinds.as_array().unwrap().iter().filter_map(Value::as_str).collect();
        assert_eq!(listed, KINDS_OF_CHANGE.iter().map(|kind| kind.id).collect());
        let empty = "{\"mcpSurface\": 1}";
        for (old, new) in [(OLD, NEW), (NEW, OLD), (OLD, OLD), (OLD, empty)] {
            let (old, new) = (read_lock(old).unwrap(), read_lock(new).unwrap());
            let found = compare(&old, &new);
            let printed = json(Sides { old: ("old", &old), new: ("new", &new) }, &found);
            let mut value: Value = serde_json::from_str(&printed).unwrap();
            schema.validate(&value).unwrap();
            value["unknown"] = 1.into();
            assert!(!schema.is_valid(&value));
        }
    }
}
