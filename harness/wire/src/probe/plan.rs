//! What is probed and how, and what came of each session.

use super::script::{Act, Step};
use crate::record::Server;
use formats::time;
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::Duration;
use transcript::revision::Revision;

/// Which tools are called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Calls {
    /// Those that say that they only read (`readOnlyHint`).
    ReadOnly,
    /// Those, and these.
    Named(Vec<String>),
    /// All.
    All,
}

/// What is probed, and how.
#[derive(Debug)]
pub struct Probe {
    /// The server.
    pub server: Server,
    /// The tools that may be called.
    pub calls: Calls,
    /// Arguments by the names of tools, in place of those that are made from schemas.
    pub given: Vec<(String, Value)>,
    /// What is wrong with arguments, by the schema of their tool.
    pub misfit: fn(&Value, &Value) -> Option<String>,
    /// How long an answer is waited for.
    pub patience: Duration,
    /// Plays only steps that these rules judge, and all where it is empty.
    pub select: Vec<String>,
    /// The revision whose session a client plays that keeps to the specification: the first one, or the one without handshake.
    pub revision: Revision,
    /// The folder for the recordings.
    pub folder: PathBuf,
}

/// How an error begins that the recorder answers with in the server's place.
pub const RECORDER: &str = "mcp-concord record: ";

/// Whether an error tells that HTTP refused the request.
pub(super) fn is_refused(why: &str) -> bool {
    why.strip_prefix(RECORDER).is_some_and(|why| why.starts_with("HTTP "))
}

/// Why no answer came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Silence {
    /// The time is over.
    Timeout,
    /// The server is gone.
    Ended,
    /// The time was over, and then the server was gone when it got a ping.
    Fallen,
    /// What came is not the answer to a request, by its id.
    Astray,
    /// It writes without end.
    Flood,
    /// The body of its answer is not whole.
    Broken,
    /// The stream that was to have the answer ended without it.
    Closed,
    /// The probe was interrupted.
    Interrupted,
}

impl Silence {
    /// What the server did, in words.
    pub fn said(self) -> &'static str {
        match self {
            Self::Timeout | Self::Fallen => "sent no answer in time",
            Self::Ended => "had ended",
            Self::Astray => "answered under another id",
            Self::Broken => "broke off its answer",
            Self::Closed => "ended the stream without the answer",
            Self::Flood => "wrote more than 64 MiB and no answer",
            Self::Interrupted => "was not asked: the probe was interrupted",
        }
    }
}

/// A request without an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Unanswered {
    /// The step that asked.
    pub step: &'static str,
    /// The method that was asked for.
    pub method: &'static str,
    /// What was sent right before it, and asks for nothing: a text, or the method of a notification.
    pub behind: Option<&'static str>,
    /// The request's id.
    pub id: Value,
    /// Why.
    pub why: Silence,
}

/// A request that was refused and should not have been.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The step that asked.
    pub step: &'static str,
    /// The method that was asked for.
    pub method: &'static str,
    /// The tool, prompt or resource that was asked for.
    pub of: Option<String>,
    /// Why: the status and the beginning of the body, where HTTP refused it, and the message of the error otherwise.
    pub why: String,
}

/// A session that was played.
#[derive(Debug, Default)]
pub struct Probed {
    /// What it is called.
    pub name: String,
    /// Its recording.
    pub recording: PathBuf,
    /// The client is put to the test, and not the server.
    pub is_client: bool,
    /// The revision that was spoken.
    pub revision: Option<Revision>,
    /// The ids of its requests, and the steps that asked them.
    pub asked: Vec<(Value, &'static str)>,
    /// When steps began, in milliseconds, and which.
    pub begun: Vec<(i64, &'static str)>,
    /// The steps that were played.
    pub played: Vec<&'static str>,
    /// The steps that were not, and why.
    pub left: Vec<(&'static str, String)>,
    /// Those of them for which the server declares what they need, and which no other step puts to the test.
    pub untold: Vec<&'static Step<Act>>,
    /// The tools that were called.
    pub called: Vec<String>,
    /// The tools that were not called, since nothing says that they only read.
    pub spared: Vec<String>,
    /// The tools that were not called, since no arguments were made that their schemas accept, and what those do instead.
    pub unfit: Vec<(String, String)>,
    /// The tools whose calls took too long, and were cancelled.
    pub slow: Vec<String>,
    /// The lists that had not ended after as many pages as are asked for.
    pub endless: Vec<&'static str>,
    /// The tools to be called by name that the server does not list.
    pub unlisted: Vec<String>,
    /// The requests that were refused and should not have been.
    pub turned_away: Vec<Refusal>,
    /// The requests that were not answered.
    pub unanswered: Vec<Unanswered>,
    /// A request was answered under another id, or by what is not a message on one line.
    pub astray: bool,
    /// What the server answered to `initialize`, where that was an error.
    pub refused: Option<String>,
    /// The version that it answered with, as JSON, where that is none that is known.
    pub unknown: Option<String>,
    /// What it answered to `server/discover`, where that was an error, and no session began.
    pub undiscovered: Option<String>,
    /// The session ids that the server gave, one for each session that it opened.
    pub ids: Vec<String>,
    /// An answer in mid-session named another one.
    pub renamed: bool,
    /// What became of the metadata of a server that asked for a login, in words: its address, and what it names.
    pub metadata: Option<String>,
    /// The server did not end when its input did, and was killed.
    pub killed: bool,
    /// What the server did, where it ended or closed its output while it was asked.
    pub exit: Option<String>,
    /// Its last words on its standard error.
    pub last_words: String,
}

impl Probed {
    /// The step that asked for what this place of the recording shows: by its own id, or by when it began where nothing was asked
    /// under that.
    pub fn step_at(&self, offset: u64, pointer: &str) -> Option<&'static str> {
        let file = BufReader::new(File::open(&self.recording).ok()?);
        let mut indices = pointer.strip_prefix("/log/entries/").into_iter().flat_map(|rest| rest.split('/'));
        let entry = match indices.next() {
            Some(index) => {
                let mut archive: Value = serde_json::from_reader(file).ok()?;
                archive.pointer_mut(&format!("/log/entries/{index}"))?.take()
            }
            None => {
                let mut read = 0;
                let mut lines = file.split(b'\n').map_while(Result::ok);
                let line = lines.find(|line| {
                    read += line.len() as u64 + 1;
                    read > offset
                });
                serde_json::from_slice(&line?).ok()?
            }
        };
        let when = entry["startedDateTime"].as_str().or(entry["t"].as_str()).and_then(time::parse);
        let begun = || self.begun.iter().rfind(|(begun, _)| Some(*begun) <= when);
        self.step_of(&entry).or_else(|| begun().map(|(_, step)| *step))
    }

    /// The step that asked under the id of this line of a session, or of what was posted in this exchange.
    fn step_of(&self, entry: &Value) -> Option<&'static str> {
        let posted = entry.pointer("/request/postData/text").and_then(Value::as_str);
        let posted = posted.and_then(|text| serde_json::from_str(text).ok());
        let said: &Value = posted.as_ref().unwrap_or(&entry["raw"]);
        let id = said.get(0).unwrap_or(said).get("id")?;
        self.asked.iter().rfind(|(asked, _)| asked == id).map(|(_, step)| *step)
    }
}
