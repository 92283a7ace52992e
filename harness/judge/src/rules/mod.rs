//! What `check` judges a recording by: each rule as data, with the code that watches for it, a family a file.
//!
//! Knows: the rules. Refuses to know: capture formats, and how findings are shown. A new rule touches the file of its
//! family alone; a new family, also the list at the foot of [`FAMILIES`].

mod auth;
mod auth_flow;
mod batch;
mod caching;
mod cancellation;
mod capabilities;
mod completion;
mod correlation;
mod elicitation;
mod encoding;
mod envelope;
mod errors;
mod http;
mod http_resume;
mod http_sessions;
mod http_streams;
mod jsonl;
mod jsonrpc;
mod legacy_sse;
mod lifecycle;
mod logging;
mod meta_keys;
mod methods;
mod modern;
mod modern_answers;
mod modern_http;
mod modern_stdio;
mod modern_versions;
mod mrtr;
mod pagination;
mod param_headers;
mod pings;
mod progress;
mod prompts;
mod recording;
mod redaction;
mod replay;
mod replay_frame;
mod request_ids;
mod resources;
mod retries;
mod roots;
mod sampling;
mod stdio;
mod subscriptions;
mod task_capabilities;
mod tasks;
mod tool_headers;
mod tool_output;
mod tools;
mod typed;
mod typed_tables;
mod versions;

use crate::check::{Found, Moment, Revision, Sort, Span};
use transcript::rejection::Rejection;

/// One requirement, as data. Its examples are the cases under `cases/rules` that break or keep it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// The stable id, such as `jsonrpc.id.null`.
    pub id: &'static str,
    /// How much it binds.
    pub level: Level,
    /// From this revision on it binds otherwise.
    pub raised: Option<(Revision, Level)>,
    /// Who is at fault where it is broken.
    pub party: Party,
    /// The revisions that have it.
    pub span: Span,
    /// What a recording must carry for it to be judged.
    pub needs: &'static [Need],
    /// Document and heading.
    pub source: &'static str,
    /// What is asked, on one line.
    pub title: &'static str,
    /// Why it matters: what breaks where it is not kept.
    pub why: &'static str,
    /// What to do about it, for the party at fault.
    pub fix: &'static str,
    /// Where the documents disagree about it: how.
    pub contested: Option<&'static str>,
}

impl Rule {
    /// What most rules have in common.
    pub(crate) const BLANK: Self = Self {
        id: "",
        level: Level::Must,
        raised: None,
        party: Party::Sender,
        span: Span::ALL,
        needs: &[],
        source: "",
        title: "",
        why: "",
        fix: "",
        contested: None,
    };

    /// How much it binds in a revision; in its own words where the revision is unknown.
    #[must_use]
    pub fn level_in(&self, revision: Option<Revision>) -> Level {
        match (self.raised, revision) {
            (Some((since, level)), Some(revision)) if revision >= since => level,
            _ => self.level,
        }
    }

    /// The part of the id before its first dot, such as `jsonrpc`.
    #[must_use]
    pub fn prefix(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }
}

/// How much a rule binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Broken is wrong: an error.
    Must,
    /// Broken is unwise: a warning.
    Should,
    /// Worth knowing, and no fault.
    Info,
}

impl Level {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Info => "info",
        }
    }

    /// The level of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Must, Self::Should, Self::Info].into_iter().find(|level| level.name() == name)
    }
}

/// Who is at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Party {
    /// The client.
    Client,
    /// The server.
    Server,
    /// Whoever sent the message in question.
    Sender,
    /// Whoever made the recording.
    Recorder,
}

impl Party {
    /// Its name; that of the sender where a finding could not tell who it was.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
            Self::Sender => "sender",
            Self::Recorder => "recorder",
        }
    }
}

/// What a recording may carry besides messages and their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Who sent each message, beyond what its method tells.
    Direction,
    /// When.
    Times,
    /// HTTP methods, URLs, statuses and headers.
    Http,
    /// SSE names, ids, comments.
    Sse,
    /// The server's command line and exit.
    Process,
}

impl Need {
    /// What is missing, and which recordings have it.
    #[must_use]
    pub fn lack(self) -> &'static str {
        match self {
            Self::Direction => "who sent each message; a trace, an envelope or a HAR would tell",
            Self::Times => "times; a trace, an envelope or a HAR would tell",
            Self::Http => "HTTP exchanges; a HAR would tell",
            Self::Sse => "SSE events; a HAR or an envelope would tell",
            Self::Process => "the server's process; an mcp-replay trace would tell",
        }
    }
}

/// Rules that are watched for together.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Its name, which is that of its file.
    pub name: &'static str,
    /// What it is about, in a few words.
    pub title: &'static str,
    /// Its rules.
    pub rules: &'static [&'static Rule],
    /// What wakes its watch.
    pub(crate) hears: &'static [Hears],
    /// Begins to watch a session.
    pub(crate) watch: fn() -> Box<dyn Watch>,
}

/// What a family listens to. Its watch is told of nothing else, so that a message wakes a few families and not all; the
/// end of a recording it is told of always. A response has the method of the request that it answers.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Hears {
    /// Whatever a recording holds.
    All,
    /// Whatever a recording of this format holds.
    In(&'static str),
    /// Every message.
    Messages,
    /// The messages of these sorts, whatever their method.
    Each(&'static [Sort]),
    /// The messages of these sorts that have one of these methods.
    Some(&'static [Sort], &'static [&'static str]),
    /// Results that may ask for input, by a `resultType`, and requests that bring it, as `inputResponses`.
    Asking,
    /// Whatever is no message: what opens and closes a trace, noise, control events.
    Silence,
    /// Whatever belongs to an HTTP exchange.
    Exchanges,
    /// Entries of an envelope that have a context of their own.
    Contexts,
    /// Events of SSE streams.
    Events,
}

/// Watches one session for the rules of a family.
///
/// Whether a rule applies to the revision, and whether the recording carries what it needs, is none of a watch's
/// business: [`Found`] sees to it.
pub(crate) trait Watch {
    /// Something that the recording holds, in its order.
    fn see(&mut self, at: &Moment<'_>, found: &mut Found);

    /// The recording is over: `at` has no message, and `rejection` says why it could not be read to its end.
    fn end(&mut self, _at: &Moment<'_>, _rejection: Option<&Rejection>, _found: &mut Found) {}
}

/// Every family, in the order in which they are listed.
pub static FAMILIES: &[Family] = &[
    recording::FAMILY,
    replay::FAMILY,
    envelope::FAMILY,
    jsonl::FAMILY,
    redaction::FAMILY,
    encoding::FAMILY,
    stdio::FAMILY,
    jsonrpc::FAMILY,
    request_ids::FAMILY,
    correlation::FAMILY,
    methods::FAMILY,
    errors::FAMILY,
    batch::FAMILY,
    lifecycle::FAMILY,
    versions::FAMILY,
    pings::FAMILY,
    capabilities::FAMILY,
    task_capabilities::FAMILY,
    typed::FAMILY,
    progress::FAMILY,
    cancellation::FAMILY,
    logging::FAMILY,
    pagination::FAMILY,
    completion::FAMILY,
    tools::FAMILY,
    tool_output::FAMILY,
    resources::FAMILY,
    prompts::FAMILY,
    sampling::FAMILY,
    elicitation::FAMILY,
    roots::FAMILY,
    tasks::FAMILY,
    http::FAMILY,
    http_streams::FAMILY,
    http_resume::FAMILY,
    http_sessions::FAMILY,
    legacy_sse::FAMILY,
    auth::FAMILY,
    auth_flow::FAMILY,
    modern::FAMILY,
    meta_keys::FAMILY,
    modern_versions::FAMILY,
    modern_http::FAMILY,
    modern_answers::FAMILY,
    modern_stdio::FAMILY,
    tool_headers::FAMILY,
    mrtr::FAMILY,
    retries::FAMILY,
    subscriptions::FAMILY,
    caching::FAMILY,
];

/// Every rule, in the order of the families.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    FAMILIES.iter().flat_map(|family| family.rules.iter().copied())
}

/// The rule with this id, spelled exactly.
#[must_use]
pub fn find(id: &str) -> Option<&'static Rule> {
    all().find(|rule| rule.id == id)
}

/// The family that a rule is of.
#[must_use]
pub fn family_of(rule: &Rule) -> Option<&'static Family> {
    FAMILIES.iter().find(|family| family.rules.iter().any(|one| one.id == rule.id))
}

#[cfg(test)]
mod tests;
