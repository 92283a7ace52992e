//! Where the documents of rules are on the web: which pages the specification's site has in which revision.

use crate::revision::{Revision, Span};
use crate::rule::Rule;

const SITE: &str = "https://modelcontextprotocol.io/specification";

/// A page of the specification, as sources name it.
struct Page {
    name: &'static str,
    /// The revisions that have it.
    span: Span,
    /// What 2026-07-28 has in its place.
    modern: Option<&'static str>,
}

const fn page(name: &'static str, span: Span) -> Page {
    Page { name, span, modern: None }
}

const fn moved(name: &'static str, modern: &'static str) -> Page {
    Page { name, span: Span::SESSIONS, modern: Some(modern) }
}

/// The pages that rules cite, as the specification's repository has them under `docs/specification`.
const PAGES: &[Page] = &[
    page("basic/authorization", Span::from(Revision::V2025_03_26)),
    page("basic/authorization/authorization-server-discovery", Span::MODERN),
    page("basic/authorization/client-registration", Span::MODERN),
    page("basic/index", Span::ALL),
    moved("basic/lifecycle", "basic/versioning"),
    page("basic/patterns/cancellation", Span::MODERN),
    page("basic/patterns/mrtr", Span::MODERN),
    page("basic/patterns/subscriptions", Span::MODERN),
    page("basic/transports", Span::ALL),
    page("basic/transports/stdio", Span::MODERN),
    page("basic/transports/streamable-http", Span::MODERN),
    moved("basic/utilities/cancellation", "basic/patterns/cancellation"),
    moved("basic/utilities/ping", "changelog"),
    moved("basic/utilities/progress", "basic/patterns/progress"),
    page("basic/utilities/tasks", Span::only(Revision::V2025_11_25)),
    page("basic/versioning", Span::MODERN),
    page("changelog", Span::from(Revision::V2025_03_26)),
    page("client/elicitation", Span::from(Revision::V2025_06_18)),
    page("client/roots", Span::ALL),
    page("client/sampling", Span::ALL),
    page("schema", Span::from(Revision::V2025_06_18)),
    page("server/discover", Span::MODERN),
    page("server/prompts", Span::ALL),
    page("server/resources", Span::ALL),
    page("server/tools", Span::ALL),
    page("server/utilities/caching", Span::MODERN),
    page("server/utilities/completion", Span::ALL),
    page("server/utilities/logging", Span::ALL),
    page("server/utilities/pagination", Span::ALL),
];

const FIRST: Span = Span::only(Revision::V2024_11_05);
const SECOND: Span = Span::only(Revision::V2025_03_26);
const THIRD: Span = Span::only(Revision::V2025_06_18);
const MODERN: Span = Span::MODERN;

/// Headings that some revisions have elsewhere or under another name: as sources name them, in which revisions, and where.
#[rustfmt::skip]
const ELSEWHERE: &[(&str, Span, &str)] = &[
    ("basic/authorization#authorization-code-protection", SECOND, "basic/authorization#security-considerations"),
    ("basic/authorization#authorization-code-protection", MODERN, "basic/authorization/security-considerations#authorization-code-protection"),
    ("basic/authorization#authorization-server-location", MODERN, "basic/authorization/authorization-server-discovery#authorization-server-location"),
    ("basic/authorization#authorization-server-metadata-discovery", MODERN, "basic/authorization/authorization-server-discovery#authorization-server-metadata-discovery"),
    ("basic/authorization#client-id-metadata-documents", MODERN, "basic/authorization/client-registration#client-id-metadata-documents"),
    ("basic/authorization#communication-security", SECOND, "basic/authorization#security-considerations"),
    ("basic/authorization#communication-security", MODERN, "basic/authorization/security-considerations#communication-security"),
    ("basic/authorization#open-redirection", MODERN, "basic/authorization/security-considerations#open-redirection"),
    ("basic/authorization#protected-resource-metadata-discovery-requirements", THIRD, "basic/authorization#authorization-server-location"),
    ("basic/authorization#protected-resource-metadata-discovery-requirements", MODERN, "basic/authorization/authorization-server-discovery#protected-resource-metadata-discovery-requirements"),
    ("basic/index#messages", FIRST, "basic/messages"),
    ("basic/index#notifications", FIRST, "basic/messages#notifications"),
    ("basic/index#requests", FIRST, "basic/messages#requests"),
    ("basic/index#responses", FIRST, "basic/messages#responses"),
    ("basic/index#schema-validation", Span::between(Revision::V2024_11_05, Revision::V2025_06_18), "server/tools#tool"),
    ("basic/transports#security-warning", MODERN, "basic/transports/streamable-http"),
    ("basic/transports#sending-messages-to-the-server", FIRST, "basic/transports#http-with-sse"),
    ("basic/transports#sending-messages-to-the-server", MODERN, "basic/transports/streamable-http#sending-messages"),
    ("basic/transports#stdio", MODERN, "basic/transports/stdio"),
    ("client/elicitation#elicitation-requests", THIRD, "client/elicitation#creating-elicitation-requests"),
    ("client/elicitation#requested-schema", THIRD, "client/elicitation#request-schema"),
    ("server/utilities/logging#setting-log-level", MODERN, "server/utilities/logging#requesting-log-messages"),
];

/// Documents of others, by how a source begins.
const OTHERS: &[(&str, &str)] = &[
    ("JSON-RPC 2.0", "https://www.jsonrpc.org/specification"),
    ("HAR 1.2", "http://www.softwareishard.com/blog/har-12-spec/"),
    ("WHATWG HTML, event stream", "https://html.spec.whatwg.org/multipage/server-sent-events.html"),
    ("RFC 6750", "https://www.rfc-editor.org/rfc/rfc6750"),
    ("RFC 8259", "https://www.rfc-editor.org/rfc/rfc8259"),
    ("RFC 9110", "https://www.rfc-editor.org/rfc/rfc9110"),
    ("RFC 9207", "https://www.rfc-editor.org/rfc/rfc9207"),
    ("RFC 9728", "https://www.rfc-editor.org/rfc/rfc9728"),
];

impl Rule {
    /// The page of the document that the rule comes from, in the revision in question. Where the rule does not bind in it, or
    /// none is known, that is the newest in which it does. None where the document is a text without a page of its own,
    /// such as the reading contract, which `explain` prints.
    pub fn link(&self, revision: Option<Revision>) -> Option<String> {
        let revision = revision.filter(|revision| self.span.has(*revision)).unwrap_or(self.span.last);
        self.source.split("; ").find_map(|source| link(source, revision))
    }

    /// Its pages in each of the revisions in which it binds, each page once.
    pub fn links(&self) -> Vec<String> {
        let binding = Revision::ALL.into_iter().filter(|revision| self.span.has(*revision));
        let mut links: Vec<String> = binding.filter_map(|revision| self.link(Some(revision))).collect();
        links.dedup();
        links
    }
}

fn link(source: &str, revision: Revision) -> Option<String> {
    if let Some((_, url)) = OTHERS.iter().find(|(name, _)| source.starts_with(name)) {
        return Some((*url).to_owned());
    }
    // A source may name the revision that it stands in.
    let pinned = source.split_once(' ').and_then(|(name, rest)| Some((Revision::named(name)?, rest)));
    let (revision, source) = pinned.unwrap_or((revision, source));
    let elsewhere = ELSEWHERE.iter().find(|(from, span, _)| *from == source && span.has(revision));
    if let Some((.., place)) = elsewhere {
        return Some(format!("{SITE}/{revision}/{place}"));
    }
    let name = source.split([',', ' ', '#']).next().unwrap_or_default();
    let heading = source.split_once('#').map(|(_, heading)| format!("#{heading}")).unwrap_or_default();
    let page = PAGES.iter().find(|page| page.name == name)?;
    let path = match page.modern {
        _ if page.span.has(revision) => format!("/{}{heading}", page.name.trim_end_matches("/index")),
        Some(modern) if Span::MODERN.has(revision) => format!("/{modern}"),
        // The revision has no such page, as the first ones have none of the schema: its first page leads on.
        _ => String::new(),
    };
    Some(format!("{SITE}/{revision}{path}"))
}

#[cfg(test)]
mod tests {
    use super::{ELSEWHERE, PAGES, SITE};
    use crate::{Revision, all, find};

    #[test]
    fn a_rule_leads_to_its_page_in_the_revision_in_question() {
        let link = |id: &str, revision: &str| find(id).unwrap().link(Revision::named(revision)).unwrap();
        let site = |path: &str| format!("{SITE}/{path}");
        assert_eq!(link("jsonrpc.id.null", "2025-06-18"), site("2025-06-18/basic#requests"));
        assert_eq!(link("jsonrpc.id.null", "2024-11-05"), site("2024-11-05/basic/messages#requests"));
        assert_eq!(link("jsonrpc.id.null", "unknown"), site("2026-07-28/basic#requests"));
    }

    #[test]
    fn every_rule_of_the_specification_leads_to_a_page_that_its_revisions_have() {
        let mut followed = 0;
        for rule in all() {
            let named = PAGES.iter().any(|page| rule.source.contains(page.name));
            for revision in Revision::ALL.into_iter().filter(|revision| rule.span.has(*revision)) {
                let Some(link) = rule.link(Some(revision)) else {
                    assert!(!named, "{}: {} has no link", rule.id, rule.source);
                    continue;
                };
                followed += 1;
                let Some(path) = link.strip_prefix(SITE) else {
                    assert!(link.starts_with("http"), "{}: {link}", rule.id);
                    continue;
                };
                let first_page = path.matches('/').count() == 1;
                assert!(!first_page || rule.source.contains("schema"), "{} in {revision}: {link}", rule.id);
            }
        }
        assert!(followed > 200, "{followed}");
    }

    #[test]
    fn what_stands_elsewhere_is_cited_where_it_does_not_stand() {
        for (from, span, _) in ELSEWHERE {
            let cites = |rule: &&crate::rule::Rule| rule.source.split("; ").any(|source| source == *from);
            let bound = |rule: &crate::rule::Rule| {
                Revision::ALL.into_iter().any(|it| rule.span.has(it) && span.has(it))
            };
            assert!(all().filter(cites).any(bound), "{from}");
        }
    }

    #[test]
    fn every_page_is_cited_and_stands_once() {
        for page in PAGES {
            assert!(all().any(|rule| rule.source.contains(page.name)), "{}", page.name);
            assert_eq!(PAGES.iter().filter(|it| it.name == page.name).count(), 1, "{}", page.name);
        }
    }
}
