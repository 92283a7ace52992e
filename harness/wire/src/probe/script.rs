//! The script of a probe: a row for each step, with the rules that judge what the server makes of it.
//!
//! A step of the handshake's revisions is played in the first session, as a client that keeps to the specification plays it. What
//! breaks a rule on the client's side stands apart ([`Part::Faults`]), so that the first session can be held to a set of rules.

use std::collections::HashMap;
use std::sync::LazyLock;
use transcript::revision::Revision;

/// A step of a script: of the client's, or of the server's.
#[derive(Debug)]
pub struct Step<A> {
    /// Its name.
    pub name: &'static str,
    /// The rules that it puts to the test: ids, or the beginning of ids up to a dot.
    pub tests: Vec<&'static str>,
    /// The revisions it belongs to, the first and the last.
    pub revisions: [Revision; 2],
    /// The capabilities of the other side that it needs, as pointers; behind a `!`, one that it must not have.
    pub needs: &'static str,
    /// When it is played.
    pub part: Part,
    /// What is done.
    pub act: A,
}

transcript::named! {
    /// The session that a step is played in; of a server's script, a start of the client, or a session of one that is not started here.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Part {
        /// The side that is played keeps to the specification.
        Session "session",
        /// It breaks rules.
        Faults "faults",
        /// Single requests over HTTP.
        Http "http",
        /// Over HTTP, the server's streams break off before the answer.
        Streams "streams",
        /// Over HTTP, the server forgets the session.
        Over "over",
        /// Over stdio, the server speaks only the revision without handshake.
        Modern "modern",
    }
}

impl Part {
    /// The parts of the server's script, in the order in which they are played.
    pub const OF_SERVER: [Self; 5] = [Self::Session, Self::Faults, Self::Modern, Self::Streams, Self::Over];

    /// Whether it is played over HTTP, or over stdio.
    pub fn is_over(self, http: bool) -> bool {
        match self {
            Self::Session | Self::Faults => true,
            Self::Http | Self::Streams | Self::Over => http,
            Self::Modern => !http,
        }
    }
}

/// What the client does. Templates are JSON; `$tool`, `$resource`, `$prompt` and `$argument` stand for the first of each that the
/// server lists.
#[derive(Debug)]
pub enum Act {
    /// Sends a request, and waits for its answer.
    Ask(&'static str, &'static str),
    /// The same where an error is an answer, too.
    Try(&'static str, &'static str),
    /// Asks under an id of its own.
    AskAs(&'static str, &'static str),
    /// Sends a notification, and a ping behind it.
    Tell(&'static str, &'static str),
    /// Sends a text as it is, and a ping behind it.
    Raw(&'static str),
    /// Asks for every page of a listing, whose items are under this name.
    List(&'static str, &'static str),
    /// Reads each resource that is listed, up to [`super::MOST`].
    ReadResources,
    /// Gets each prompt that is listed.
    GetPrompts,
    /// Calls each tool that may be called.
    CallTools,
    /// Calls each of them with arguments that its schema refuses.
    MisuseTools,
    /// Calls those as tasks that take tasks.
    CallTasks,
    /// Calls one of them, and cancels the call at once.
    Cancel,
    /// Subscribes to all changes that the server declares, until the subscription has begun.
    Subscribe,
    /// Sends a request, waits for its answer, and then for what should not come.
    AskLast(&'static str, &'static str),
    /// Sends a request over HTTP as it is: method, headers (`$session` and `$version` are the session's, and an empty value
    /// leaves one out), and body (`$meta` is what a request has to say of itself in a revision without handshake, `$resource` one
    /// that the server lists).
    Http(&'static str, Headers, &'static str),
    /// Posts a message over HTTP where streams are the point: which, headers, and body.
    Streams(Streams, Headers, &'static str),
}

type Headers = Vec<(&'static str, &'static str)>;

/// What has to do with streams in a step over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Streams {
    /// This number is open that GETs have opened.
    Beside(usize),
    /// The answer's is resumed behind its first event.
    Resumed,
    /// None: the session is over, and a new one begins.
    Renewed,
    /// That of HTTP+SSE, whose first event says where to post.
    Legacy,
}

pub(super) const BOTH: (&str, &str) = ("accept", "application/json, text/event-stream");
pub(super) const OWN: (&str, &str) = ("mcp-session-id", "$session");
pub(super) const VERSION: (&str, &str) = ("mcp-protocol-version", "$version");

/// Every step, in the order in which they are played: the rows of `script.tsv`.
pub static SCRIPT: LazyLock<Vec<Step<Act>>> = LazyLock::new(|| read(include_str!("script.tsv"), act));

/// The steps of a script, whose file says at its head how it is written. A row that is not well spelled is none, which a test would
/// notice.
pub(super) fn read<A>(text: &'static str, act: fn(&[&'static str]) -> Option<A>) -> Vec<Step<A>> {
    let named: HashMap<&str, &str> = text.lines().filter_map(|line| line.split_once('\t')).collect();
    let step = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let [part, name, tests, since, until, needs, done @ ..] = &cells[..] else { return None };
        let spelled = |cell: &&'static str| match cell.starts_with('=') {
            true => named.get(cell).copied(),
            false => Some(*cell),
        };
        Some(Step {
            name,
            tests: tests.split(' ').collect(),
            revisions: [Revision::named(since)?, Revision::named(until)?],
            needs,
            part: Part::named(part)?,
            act: act(&done.iter().map(spelled).collect::<Option<Vec<_>>>()?)?,
        })
    };
    text.lines().filter_map(step).collect()
}

fn act(cells: &[&'static str]) -> Option<Act> {
    let header = |word: &'static str| match word {
        "both" => Some(BOTH),
        "own" => Some(OWN),
        "version" => Some(VERSION),
        word => word.split_once('='),
    };
    let headers = |words: &'static str| words.split_whitespace().map(header).collect::<Option<Vec<_>>>();
    Some(match *cells {
        ["ask", method, params] => Act::Ask(method, params),
        ["try", method, params] => Act::Try(method, params),
        ["ask-as", id, method] => Act::AskAs(id, method),
        ["ask-last", method, params] => Act::AskLast(method, params),
        ["subscribe"] => Act::Subscribe,
        ["tell", method, params] => Act::Tell(method, params),
        ["raw", text] => Act::Raw(text),
        ["list", method, name] => Act::List(method, name),
        ["read-resources"] => Act::ReadResources,
        ["get-prompts"] => Act::GetPrompts,
        ["call-tools"] => Act::CallTools,
        ["call-tasks"] => Act::CallTasks,
        ["misuse-tools"] => Act::MisuseTools,
        ["cancel"] => Act::Cancel,
        ["http", method, words] => Act::Http(method, headers(words)?, ""),
        ["http", method, words, body] => Act::Http(method, headers(words)?, body),
        ["beside", count, words, body] => {
            Act::Streams(Streams::Beside(count.parse().ok()?), headers(words)?, body)
        }
        ["resumed", words, body] => Act::Streams(Streams::Resumed, headers(words)?, body),
        ["renewed", words, body] => Act::Streams(Streams::Renewed, headers(words)?, body),
        ["legacy", words, body] => Act::Streams(Streams::Legacy, headers(words)?, body),
        _ => return None,
    })
}

impl Act {
    /// The method of the request, where that is HTTP's.
    pub(super) fn method(&self) -> &'static str {
        if let Self::Http(method, ..) = self { method } else { "POST" }
    }
}

impl Step<Act> {
    /// Whether it belongs to this revision.
    pub(super) fn is_of(&self, revision: Revision) -> bool {
        self.revisions[0] <= revision && revision <= self.revisions[1]
    }

    /// Whether nothing else puts to the test what the server has to declare for it: tasks, and subscriptions without a handshake.
    pub(super) fn is_only(&self) -> bool {
        self.tests.iter().any(|rule| rule.starts_with("tasks") || rule.starts_with("sub"))
    }

    /// Whether it lists what other steps ask for.
    pub(super) fn is_listing(&self) -> bool {
        matches!(self.act, Act::List(_, name) if name != "tasks")
    }
}

#[cfg(test)]
mod tests {
    use super::SCRIPT;
    use crate::probe::SERVER_SCRIPT;

    #[test]
    fn every_row_is_a_step() {
        for (text, count) in [
            (include_str!("script.tsv"), SCRIPT.len()),
            (include_str!("server_script.tsv"), SERVER_SCRIPT.len()),
        ] {
            assert_eq!(text.lines().filter(|line| !line.starts_with(['#', '='])).count(), count);
        }
    }
}
