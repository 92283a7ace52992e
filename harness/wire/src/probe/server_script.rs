//! The script of the server that a client is put to the test against, a step a row.

use super::script::{EVERY, MODERN, Part, Step, step};
use std::path::Path;
use std::{fs, io};
use transcript::revision::Revision::{V2025_06_18, V2025_11_25};

/// What the server does. Params are JSON.
#[derive(Debug, Clone, Copy)]
pub enum ServerAct {
    /// Nothing: the client sends this of its own.
    Await(&'static str),
    /// Nothing: the client asks for another page of a list.
    AwaitPage,
    /// Sends a request, and waits for its answer.
    Ask(&'static str, &'static str),
    /// The same under an id of its own.
    AskAs(&'static str, &'static str),
    /// Sends a line as it is, and a ping behind it.
    Raw(&'static str),
    /// Reports progress on a call, and takes its time.
    Slow,
    /// Answers a request with one that its client has to answer before it tries again.
    Input(&'static str, &'static str),
    /// Answers a request other than a listing with an error.
    Refuse,
    /// Does not answer a call until it is cancelled, and then answers it.
    Late,
    /// Sends a log message before an answer, at which the stream breaks off, and the answer later.
    Break,
    /// Answers a request, and forgets the session.
    Leave,
}

impl ServerAct {
    /// The method that the client is asked for.
    #[must_use]
    pub fn asks(&self) -> &'static str {
        match self {
            Self::Ask(method, _) | Self::AskAs(_, method) | Self::Input(method, _) => method,
            _ => "ping",
        }
    }

    /// What it does, in a few words.
    #[must_use]
    pub fn said(&self) -> String {
        match self {
            Self::Await(method) => format!("waits for {method}"),
            Self::AwaitPage => "waits for a second page".to_owned(),
            Self::Ask(method, _) => format!("asks {method}"),
            Self::AskAs(id, method) => format!("asks {method} under the id {id}"),
            Self::Raw(text) => format!("sends {text}"),
            Self::Slow => "reports progress on a call, and answers late".to_owned(),
            Self::Input(method, _) => format!("answers a request with {method}"),
            Self::Refuse => "answers with an error".to_owned(),
            Self::Late => "answers a call after it was cancelled".to_owned(),
            Self::Break => "breaks a stream off before the answer".to_owned(),
            Self::Leave => "forgets the session".to_owned(),
        }
    }
}

use Part::{Faults, Modern, Over, Session, Streams};
use ServerAct::{Ask, AskAs, Await, AwaitPage, Break, Input, Late, Leave, Raw, Refuse, Slow};

const SAMPLE: &str =
    r#"{"messages":[{"role":"user","content":{"type":"text","text":"Say one word."}}],"maxTokens":10}"#;
const TOOLS: &str = r#"{"messages":[{"role":"user","content":{"type":"text","text":"Say one word."}}],"maxTokens":10,"tools":[{"name":"add","inputSchema":{"type":"object"}}]}"#;
const FORM: &str = r#"{"message":"What is your name?","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}}}}"#;
const PAGE: &str =
    r#"{"mode":"url","elicitationId":"concord","url":"https://example.com/","message":"Open this page."}"#;

/// Every step, in the order in which they are played.
#[rustfmt::skip]
pub static SERVER_SCRIPT: &[Step<ServerAct>] = &[
    step((Session, "handshake"), &["life"], EVERY, "", Await("initialize")),
    step((Session, "initialized"), &["life.initialized"], EVERY, "", Await("notifications/initialized")),
    step((Session, "ping"), &["ping", "jsonrpc.response"], EVERY, "", Ask("ping", "{}")),
    step((Session, "id-text"), &["jsonrpc.response", "jsonrpc.request.answered"], EVERY, "", AskAs("\"concord\"", "ping")),
    step((Session, "id-large"), &["jsonrpc.response", "jsonrpc.request.answered"], EVERY, "", AskAs("9007199254740991", "ping")),
    step((Session, "roots"), &["roots", "cap.client.roots"], EVERY, "/roots", Ask("roots/list", "{}")),
    step((Session, "sampling"), &["sampling", "content"], EVERY, "/sampling", Ask("sampling/createMessage", SAMPLE)),
    step((Session, "elicitation"), &["elicit"], [V2025_06_18, EVERY[1]], "/elicitation", Ask("elicitation/create", FORM)),
    step((Session, "log-message"), &["jsonrpc.notification.no-response"], EVERY, "", Raw(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"concord","data":"A log message"}}"#)),
    step((Session, "tools-changed"), &["jsonrpc.notification.no-response"], EVERY, "", Raw(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)),
    step((Session, "resources-changed"), &["jsonrpc.notification.no-response"], EVERY, "", Raw(r#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#)),
    step((Session, "prompts-changed"), &["jsonrpc.notification.no-response"], EVERY, "", Raw(r#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#)),
    step((Session, "tools-listed"), &["page"], EVERY, "", Await("tools/list")),
    step((Session, "page"), &["page.cursor-opaque"], EVERY, "", AwaitPage),
    step((Session, "tool-called"), &["tools.call"], EVERY, "", Await("tools/call")),
    step((Session, "slow-answer"), &["progress", "cancel"], EVERY, "", Slow),
    step((Session, "resource-read"), &["resources"], EVERY, "", Await("resources/read")),
    step((Session, "prompt-got"), &["prompts"], EVERY, "", Await("prompts/get")),
    step((Faults, "method-unknown"), &["jsonrpc.error", "jsonrpc.request.answered"], EVERY, "", Ask("concord/unknown", "{}")),
    step((Faults, "notification-unknown"), &["jsonrpc.notification.no-response"], EVERY, "", Raw(r#"{"jsonrpc":"2.0","method":"notifications/concord/unknown"}"#)),
    step((Faults, "answer-unknown"), &["jsonrpc.response", "jsonrpc.request.answered"], EVERY, "", Raw(r#"{"jsonrpc":"2.0","id":"concord-unknown","result":{}}"#)),
    step((Faults, "roots-undeclared"), &["roots.unsupported", "jsonrpc.request.answered"], EVERY, "!/roots", Ask("roots/list", "{}")),
    step((Faults, "sampling-with-tools"), &["sampling.tools-refused"], [V2025_11_25, EVERY[1]], "/sampling !/sampling/tools", Ask("sampling/createMessage", TOOLS)),
    step((Faults, "elicitation-of-a-page"), &["elicit.bad-mode-error"], [V2025_11_25, EVERY[1]], "/elicitation !/elicitation/url", Ask("elicitation/create", PAGE)),
    step((Faults, "late-answer"), &["cancel", "jsonrpc.notification.no-response"], EVERY, "", Late),
    step((Faults, "error-answer"), &["jsonrpc"], EVERY, "", Refuse),
    step((Modern, "discovery"), &["meta", "version"], MODERN, "", Await("server/discover")),
    step((Modern, "listing"), &["meta"], MODERN, "", Await("tools/list")),
    step((Modern, "second-page"), &["meta"], MODERN, "", AwaitPage),
    step((Modern, "call"), &["meta", "tools.call"], MODERN, "", Await("tools/call")),
    step((Modern, "input-form"), &["mrtr", "elicit"], MODERN, "/elicitation", Input("elicitation/create", FORM)),
    step((Modern, "input-sample"), &["mrtr", "sampling"], MODERN, "/sampling", Input("sampling/createMessage", SAMPLE)),
    step((Modern, "input-roots"), &["mrtr", "roots"], MODERN, "/roots", Input("roots/list", "{}")),
    step((Modern, "slow-call"), &["progress", "cancel"], MODERN, "", Slow),
    step((Modern, "refusal"), &["jsonrpc"], MODERN, "", Refuse),
    step((Modern, "subscription"), &["meta", "jsonrpc.schema"], MODERN, "", Await("subscriptions/listen")),
    step((Streams, "stream-broken"), &["http.sse.reconnect", "http.sse.retry-respected", "http.resume", "http.session.echo", "http.version"], [V2025_11_25, EVERY[1]], "", Break),
    step((Over, "session-over"), &["http.session.reinit"], EVERY, "", Leave),
];

/// What was seen of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    /// The step.
    pub step: String,
    /// The client came to it.
    pub reached: bool,
    /// It went on without answering what the step asked.
    pub unanswered: bool,
    /// What was seen, or why the client did not get that far.
    pub text: String,
}

/// Reads what was seen; nothing where nothing was.
pub(super) fn read_seen(path: &Path) -> io::Result<Vec<Seen>> {
    let text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        text => text?,
    };
    let seen = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, '\t');
        let (step, state, text) = (parts.next()?.to_owned(), parts.next()?, parts.next()?.to_owned());
        Some(Seen { step, reached: state != "-", unanswered: state == "!", text })
    });
    Ok(seen.collect())
}
