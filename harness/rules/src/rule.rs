//! A rule as data: what it asks, how much it binds, whom, and from which revision on.

use crate::revision::{Revision, Span};
use serde::Serialize;
use transcript::session::Side;

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
    /// Where it binds less than its level says, or always does, since no recording shows enough: what it is then, and
    /// where. A finding of less than a `must` is only made by a rule that says so.
    pub softened: Option<&'static str>,
    /// Where the documents disagree about it: how.
    pub contested: Option<&'static str>,
    /// Other messages decide whether one breaks it, so that nobody can tell behind the place where some are missing.
    pub relational: bool,
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
        softened: None,
        contested: None,
        relational: false,
    };

    /// Advice.
    pub(crate) const fn should(self) -> Self {
        Self { level: Level::Should, ..self }
    }

    /// No fault, and worth knowing.
    pub(crate) const fn info(self) -> Self {
        Self { level: Level::Info, ..self }
    }

    /// For the client to keep.
    pub(crate) const fn client(self) -> Self {
        Self { party: Party::Client, ..self }
    }

    /// For the server to keep.
    pub(crate) const fn server(self) -> Self {
        Self { party: Party::Server, ..self }
    }

    /// For the person who makes the recording.
    pub(crate) const fn recorder(self) -> Self {
        Self { party: Party::Recorder, ..self }
    }

    /// How much it binds in a revision; in its own words where the revision is unknown.
    pub fn level_in(&self, revision: Option<Revision>) -> Level {
        match (self.raised, revision) {
            (Some((since, level)), Some(revision)) if revision >= since => level,
            _ => self.level,
        }
    }

    /// The part of the id before its first dot, such as `jsonrpc`.
    pub fn prefix(&self) -> &'static str {
        self.id.split('.').next().unwrap_or_default()
    }
}

transcript::named! {
    /// How much a rule binds.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Level {
        /// Broken is wrong: an error.
        Must "must",
        /// Broken is unwise: a warning.
        Should "should",
        /// Worth knowing, and no fault.
        Info "info",
    }
}

transcript::named! {
    /// Who is at fault.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Party {
        /// The client.
        Client "client",
        /// The server.
        Server "server",
        /// Anyone who sent the message in question.
        Sender "sender",
        /// Anyone who made the recording.
        Recorder "recorder",
    }
}

impl From<Side> for Party {
    fn from(side: Side) -> Self {
        match side {
            Side::Client => Self::Client,
            Side::Server => Self::Server,
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
    /// HTTP methods, URLs, statuses and headers, and which answer came to which request.
    Http,
    /// HTTP headers of messages.
    Headers,
    /// SSE names, ids, comments.
    Sse,
    /// The server's command line and exit.
    Process,
}

impl Need {
    /// Whether no session over this transport has it: only one over HTTP, or only one over the pipes of a process does.
    pub(crate) fn is_foreign(self, stdio: Option<bool>) -> bool {
        let of_http = matches!(self, Self::Http | Self::Headers | Self::Sse);
        matches!((stdio, self), (Some(true), _) if of_http)
            || matches!((stdio, self), (Some(false), Self::Process))
    }

    /// What is missing, and which recordings have it.
    pub fn lack(self) -> &'static str {
        match self {
            Self::Direction => "who sent each message; a trace, an envelope or a HAR would show it",
            Self::Times => "times; a trace, an envelope or a HAR would show them",
            Self::Headers => "HTTP headers; a HAR or an envelope would show them",
            Self::Http => "HTTP exchanges; a HAR would show them",
            Self::Sse => "SSE events; a HAR or an envelope would show them",
            Self::Process => "the server's process; an mcp-replay trace would show it",
        }
    }
}
