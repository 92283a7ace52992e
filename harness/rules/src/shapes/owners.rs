//! Which places of messages have a rule of their own.
//!
//! One fault is one finding: what stands at such a place is left to its rule. That the rule does find it is held by the
//! differential test.

use super::Part;
use crate::revision::{Revision, Span};
use std::fmt;

/// Where in params or in a result something stands.
#[derive(Debug, Clone, Copy)]
pub(super) enum Path<'p> {
    Top,
    Member(&'p Path<'p>, &'p str),
    /// A member that should be there.
    Missing(&'p Path<'p>, &'p str),
    /// A member of a map, under any name.
    Key(&'p Path<'p>, &'p str),
    Item(&'p Path<'p>),
}

impl Path<'_> {
    /// What it is called in a sentence.
    pub(super) fn label(&self) -> String {
        match self {
            Path::Top => "the whole".to_owned(),
            Path::Member(_, name) | Path::Missing(_, name) | Path::Key(_, name) => format!("`{name}`"),
            Path::Item(parent) => format!("an item of {}", parent.label()),
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Top => Ok(()),
            Path::Member(parent, name) => write!(formatter, "{parent}/{name}"),
            Path::Missing(parent, name) => write!(formatter, "{parent}/{name}?"),
            Path::Key(parent, _) | Path::Item(parent) => write!(formatter, "{parent}/*"),
        }
    }
}

/// Places of one rule: which part of a message, of which method (of any, where none is named), and which places of it, in
/// which revisions. A place that ends with `?` is that of a missing member, one that ends with `!` that of a member that
/// is there, and one with `**` at its end has all that is below it.
type Row = (&'static str, Part, &'static str, &'static [&'static str], Span);

const OLD: Span = Span::SESSIONS;
const TASKS: Span = Span::only(Revision::V2025_11_25);
const NEW: Span = Span::MODERN;
const ALL: Span = Span::ALL;

#[rustfmt::skip]
const OWNERS: &[Row] = &[
    ("jsonrpc.params.object", Part::Params, "", &[""], ALL),
    ("jsonrpc.result.object", Part::Result, "", &[""], ALL),
    ("life.init.request-fields", Part::Params, "initialize",
        &["/protocolVersion", "/capabilities", "/clientInfo", "/clientInfo/name", "/clientInfo/version"], OLD),
    ("life.init.result-fields", Part::Result, "initialize",
        &["/protocolVersion", "/capabilities", "/serverInfo", "/serverInfo/name", "/serverInfo/version"], OLD),
    ("meta.version", Part::Params, "", &["/_meta?", "/_meta/io.modelcontextprotocol/protocolVersion"], NEW),
    ("meta.client-caps", Part::Params, "", &["/_meta/io.modelcontextprotocol/clientCapabilities"], NEW),
    ("meta.client-info", Part::Params, "", &["/_meta/io.modelcontextprotocol/clientInfo"], NEW),
    ("meta.server-info", Part::Result, "", &["/_meta/io.modelcontextprotocol/serverInfo"], NEW),
    ("progress.token.type", Part::Params, "", &["/_meta/progressToken", "/progressToken!"], ALL),
    ("logging.level-enum", Part::Params, "notifications/message", &["/level!"], ALL),
    ("page.cursor-string", Part::Result, "", &["/nextCursor"], ALL),
    ("tools.call.params", Part::Params, "tools/call", &["/name", "/arguments"], ALL),
    ("resources.content.one-of", Part::Result, "tools/call", &["/content/*/resource/text", "/content/*/resource/blob"], ALL),
    ("tools.content.type", Part::Result, "tools/call", &["/content/**"], ALL),
    ("tools.result.content", Part::Result, "tools/call", &["/content"], ALL),
    ("tools.structured.object", Part::Result, "tools/call", &["/structuredContent"], ALL),
    ("tools.schema.valid", Part::Result, "tools/list",
        &["/tools/*/inputSchema!", "/tools/*/inputSchema/**", "/tools/*/outputSchema", "/tools/*/outputSchema/**"],
        Span::from(Revision::V2025_11_25)),
    ("resources.content.one-of", Part::Result, "resources/read",
        &["/contents/*", "/contents/*/text", "/contents/*/blob"], ALL),
    ("prompts.embedded", Part::Result, "prompts/get", &["/messages/*/content/resource/uri", "/messages/*/content/resource/mimeType",
        "/messages/*/content/resource/text", "/messages/*/content/resource/blob"], ALL),
    ("elicit.params", Part::Params, "elicitation/create",
        &["/message", "/requestedSchema", "/mode", "/url", "/elicitationId"], OLD),
    ("elicit.params", Part::Result, "", &["/inputRequests/*/params/message", "/inputRequests/*/params/requestedSchema",
        "/inputRequests/*/params/mode", "/inputRequests/*/params/url"], NEW),
    ("elicit.schema-flat", Part::Params, "elicitation/create", &["/requestedSchema/type",
        "/requestedSchema/properties/*", "/requestedSchema/properties/*/type", "/requestedSchema/properties/*/items?",
        "/requestedSchema/properties/*/items/enum?", "/requestedSchema/properties/*/items/anyOf?"], OLD),
    ("elicit.schema-flat", Part::Result, "", &["/inputRequests/*/params/requestedSchema/type",
        "/inputRequests/*/params/requestedSchema/properties/*",
        "/inputRequests/*/params/requestedSchema/properties/*/type",
        "/inputRequests/*/params/requestedSchema/properties/*/items?",
        "/inputRequests/*/params/requestedSchema/properties/*/items/enum?",
        "/inputRequests/*/params/requestedSchema/properties/*/items/anyOf?"], NEW),
    ("elicit.complete.id", Part::Params, "notifications/elicitation/complete", &["/elicitationId?"], TASKS),
    ("elicit.action", Part::Result, "elicitation/create", &["/action"], OLD),
    ("elicit.action", Part::Params, "", &["/inputResponses/*/action"], NEW),
    ("tasks.id.string", Part::Params, "notifications/tasks/status", &["/taskId!"], TASKS),
    ("tasks.id.string", Part::Result, "", &["/taskId!", "/task/taskId!", "/tasks/*/taskId!"], TASKS),
    ("tasks.status.start", Part::Result, "CreateTaskResult", &["/task/status"], TASKS),
    ("tasks.times", Part::Params, "notifications/tasks/status", &["/createdAt", "/lastUpdatedAt"], TASKS),
    ("tasks.times", Part::Result, "", &["/createdAt", "/lastUpdatedAt", "/task/createdAt", "/task/lastUpdatedAt",
        "/tasks/*/createdAt", "/tasks/*/lastUpdatedAt"], TASKS),
    ("tasks.times", Part::Result, "tasks/get", &["/ttl"], TASKS),
    ("result-type.present", Part::Result, "", &["/resultType"], NEW),
    ("cache.fields", Part::Result, "", &["/ttlMs", "/cacheScope"], NEW),
    ("mrtr.values", Part::Result, "", &["/inputRequests", "/inputRequests/*", "/inputRequests/*/method"], NEW),
    ("sub.id-tag", Part::Result, "subscriptions/listen", &["/_meta?", "/_meta/io.modelcontextprotocol/subscriptionId?"], NEW),
    ("sub.id-exact", Part::Result, "subscriptions/listen", &["/_meta/io.modelcontextprotocol/subscriptionId!"], NEW),
];

/// Whether a place has a rule of its own.
pub(super) fn is_owned(part: Part, method: &str, path: &Path<'_>, revision: Revision) -> bool {
    let path = path.to_string();
    places(part, method, revision).any(|place| has(place, &path))
}

/// The members of a part that have a rule of their own, as has all that is inside of them.
pub(super) fn left_whole(part: Part, method: &str, revision: Revision) -> Vec<&'static str> {
    let members =
        places(part, method, revision).filter_map(|place| place.strip_prefix('/')?.strip_suffix("/**"));
    members
        .filter(|name| {
            !name.contains('/') && is_owned(part, method, &Path::Member(&Path::Top, name), revision)
        })
        .collect()
}

fn places<'m>(part: Part, method: &'m str, revision: Revision) -> impl Iterator<Item = &'static str> + 'm {
    let rows = OWNERS.iter().filter(move |(_, of, whose, _, span)| {
        *of == part && (whose.is_empty() || *whose == method) && span.has(revision)
    });
    rows.flat_map(|row| row.3.iter().copied())
}

fn has(place: &str, path: &str) -> bool {
    if let Some(above) = place.strip_suffix("**") {
        return path.starts_with(above);
    }
    match place.strip_suffix('!') {
        Some(place) => place == path,
        None => place == path || path.strip_suffix('?') == Some(place),
    }
}

#[cfg(test)]
mod tests {
    use super::{OWNERS, has, left_whole};
    use crate::families::find;
    use crate::revision::Revision;
    use crate::shapes::Part;

    #[test]
    fn the_rules_of_the_places_are_rules_that_apply_there() {
        for (id, .., span) in OWNERS {
            let rule = find(id).unwrap_or_else(|| panic!("{id} is not a rule"));
            let both = |revision: &Revision| rule.span.has(*revision) && span.has(*revision);
            assert!(Revision::ALL.iter().any(both), "{id} does not apply");
        }
    }

    #[test]
    fn a_member_is_left_whole_where_its_place_and_all_below_it_are() {
        let revision = Revision::V2025_11_25;
        assert_eq!(left_whole(Part::Result, "tools/call", revision), ["content"]);
        // Only what is left of each tool is, which stands deeper.
        assert_eq!(left_whole(Part::Result, "tools/list", revision), [""; 0]);
    }

    #[test]
    fn a_place_may_be_that_of_a_member_that_is_missing_or_there() {
        assert!(has("/a", "/a") && has("/a", "/a?") && !has("/a", "/a/b"));
        assert!(has("/a!", "/a") && !has("/a!", "/a?"));
        assert!(has("/a?", "/a?") && !has("/a?", "/a"));
        assert!(has("/a/**", "/a/*/b?") && !has("/a/**", "/a"));
    }
}
