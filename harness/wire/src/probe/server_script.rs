//! The script of the server that a client is put to the test against, a step a row.

use super::script::{Step, read};
use std::path::Path;
use std::sync::LazyLock;
use std::{fs, io};

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
    pub fn asks(&self) -> &'static str {
        match self {
            Self::Ask(method, _) | Self::AskAs(_, method) | Self::Input(method, _) => method,
            _ => "ping",
        }
    }

    /// What it does, in a few words.
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

/// Every step, in the order in which they are played: the rows of `server_script.tsv`.
pub static SERVER_SCRIPT: LazyLock<Vec<Step<ServerAct>>> =
    LazyLock::new(|| read(include_str!("server_script.tsv"), act));

fn act(cells: &[&'static str]) -> Option<ServerAct> {
    Some(match *cells {
        ["await", method] => ServerAct::Await(method),
        ["await-page"] => ServerAct::AwaitPage,
        ["ask", method, params] => ServerAct::Ask(method, params),
        ["ask-as", id, method] => ServerAct::AskAs(id, method),
        ["raw", text] => ServerAct::Raw(text),
        ["slow"] => ServerAct::Slow,
        ["input", method, params] => ServerAct::Input(method, params),
        ["refuse"] => ServerAct::Refuse,
        ["late"] => ServerAct::Late,
        ["break"] => ServerAct::Break,
        ["leave"] => ServerAct::Leave,
        _ => return None,
    })
}

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
