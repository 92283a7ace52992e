//! Checks a live server or client: plays the other side through a script, in several sessions, and records each as `record` does.
//!
//! The client's script is in `script`; that of the server is in `server_script`, `server_player` plays it, and `clients` starts clients. A session over stdio is recorded by [`crate::record`]; one over HTTP goes through [`crate::proxy`], and its
//! client is `remote`, or `http` where single requests are the point. What the recordings show is judged elsewhere.

mod arguments;
mod client;
mod clients;
mod http;
mod plan;
mod player;
mod script;
mod server_offer;
mod server_player;
mod server_script;
mod session;

pub use clients::{Clients, PlayedPart};
pub use plan::{Calls, Probe, Probed, Silence, Unanswered};
pub use script::{Part, SCRIPT, Step};
pub use server_player::as_server;
pub use server_script::{SERVER_SCRIPT, Seen, ServerAct, ServerPart, ServerStep};

use crate::interrupt;
use crate::record::Server;
use crate::{Notify, StartError};
use serde_json::Value;
use session::Session;
use std::sync::Arc;
use std::time::{Duration, Instant};
use transcript::revision::Revision;

/// How long a server may take to end once its input has; one that was slow once is not waited for again.
const END: Duration = Duration::from_secs(2);

/// The rules that judge a handshake.
const VERSIONS: &[&str] = &["life", "jsonrpc.schema"];

/// A version that is none.
const NO_VERSION: &str = "1999-01-01";

/// How long a server may take to say that it knows no revision without handshake, once it has started.
const DISCOVERY: Duration = Duration::from_secs(2);

/// A call of a tool: its name, and its arguments.
pub type Call = (String, Value);

/// Makes calls of the tools that may be called, each as it is listed and with the arguments that it would be called with.
pub type Choose<'c> = dyn FnMut(&[(Value, Value)]) -> Vec<Call> + 'c;

/// A probe that is under way.
struct Probing<'p> {
    probe: &'p Probe,
    notify: &'p Arc<dyn Notify>,
    /// How long the server may take to end once its input has.
    end: Duration,
    /// How long the server took to start, and to answer its first request.
    start: Duration,
    sessions: Vec<Probed>,
}

impl Probe {
    /// Plays the script. Only sessions in which the server answered are given, and at least the first.
    ///
    /// # Errors
    /// Where the server cannot be started, or a recording cannot be written.
    pub fn run(&self, notify: &Arc<dyn Notify>) -> Result<Vec<Probed>, StartError> {
        let mut probing =
            Probing { probe: self, notify, end: END, start: Duration::ZERO, sessions: Vec::new() };
        probing.first()?;
        let first = &probing.sessions[0];
        let spoken = first.revision;
        // A server that does not answer its first request is asked no more.
        if spoken.is_some() || first.unanswered.is_empty() {
            probing.others(spoken)?;
            probing.faults(spoken)?;
            probing.discovery()?;
            probing.exchanges(spoken, true)?;
            let modern = probing.sessions.iter().find(|session| session.name == "discovery");
            probing.exchanges(modern.and_then(|session| session.revision), spoken.is_none())?;
        }
        Ok(probing.sessions)
    }

    /// Calls tools in a session of this name: those that `choose` makes of the ones that may be called, each with the arguments that it
    /// would be called with. Ends where the server does.
    ///
    /// # Errors
    /// Where the server cannot be started, or the recording cannot be written.
    pub fn call(
        &self,
        name: &str,
        choose: &mut Choose<'_>,
        notify: &Arc<dyn Notify>,
    ) -> Result<Probed, StartError> {
        let mut session = Session::open(self, name, notify)?;
        let newest = Revision::V2025_11_25;
        if session.player.shake_hands(newest.name(), newest) {
            let tools = session.player.listed_tools();
            for (tool, arguments) in choose(&tools) {
                if session.player.client.over().is_some() {
                    break;
                }
                session.player.try_call(&tool, &arguments);
                session.player.done.called.push(tool);
            }
        }
        Ok(session.close(END / 4))
    }

    /// The steps of a part and a revision that are asked for.
    fn steps(&self, part: Part, revision: Revision) -> impl Iterator<Item = &'static Step> {
        SCRIPT.iter().filter(move |step| {
            // What other steps ask for is in the listings.
            step.part == part && step.is_of(revision) && (step.is_listing() || self.asks_for(step.tests))
        })
    }

    /// Whether what these rules judge is asked for: it is where no step puts to the test what was selected.
    fn asks_for(&self, tests: &[&str]) -> bool {
        let is_tested =
            |id: &String| SCRIPT.iter().any(|step| judges(step.tests, id)) || judges(VERSIONS, id);
        self.select.is_empty() || self.select.iter().any(|id| judges(tests, id) || !is_tested(id))
    }
}

/// Whether a rule is one of those that these words name: ids, or the beginning of ids up to a dot.
fn judges(words: &[&str], id: &str) -> bool {
    words
        .iter()
        .any(|word| id.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

impl Probing<'_> {
    fn first(&mut self) -> Result<(), StartError> {
        let (probe, newest) = (self.probe, Revision::V2025_11_25);
        let (begun, mut start) = (Instant::now(), Duration::ZERO);
        self.in_session("session", |session| {
            let is_open = session.player.shake_hands(newest.name(), newest);
            start = begun.elapsed();
            if is_open {
                session.play(probe.steps(Part::Session, session.revision().unwrap_or(newest)));
            }
            true
        })?;
        self.start = start;
        Ok(())
    }

    /// Handshakes in other revisions, and in one that is none.
    fn others(&mut self, spoken: Option<Revision>) -> Result<(), StartError> {
        let probe = self.probe;
        let known = Revision::ALL.into_iter().filter(|one| one.has_handshake() && Some(*one) != spoken);
        let known = known.map(|revision| (format!("version-{revision}"), revision.name(), revision));
        let unknown = ("version-unknown".to_owned(), NO_VERSION, Revision::V2025_11_25);
        for (name, version, revision) in known.chain([unknown]) {
            let own =
                |step: &&Step| step.is_listing() || step.name == "ping" || step.revisions == [revision; 2];
            let steps: Vec<_> = probe.steps(Part::Session, revision).filter(own).collect();
            if !probe.asks_for(VERSIONS) && steps.iter().all(|step| step.is_listing()) {
                continue;
            }
            self.in_session(&name, |session| {
                if session.player.shake_hands(version, revision) && session.revision() == Some(revision) {
                    session.play(steps.into_iter());
                }
                true
            })?;
        }
        Ok(())
    }

    fn faults(&mut self, spoken: Option<Revision>) -> Result<(), StartError> {
        let probe = self.probe;
        let Some(revision) = spoken.filter(|spoken| probe.steps(Part::Faults, *spoken).next().is_some())
        else {
            return Ok(());
        };
        self.in_session("faults", |session| {
            if session.player.shake_hands(revision.name(), revision) {
                session.play(probe.steps(Part::Faults, revision));
            }
            true
        })
    }

    /// The revisions without handshake, where the server says that it speaks them.
    fn discovery(&mut self) -> Result<(), StartError> {
        let (probe, modern) = (self.probe, Revision::V2026_07_28);
        let patience = probe.patience.min(DISCOVERY + 2 * self.start);
        self.in_session("discovery", |session| {
            session.player.client.patience(patience);
            let is_spoken = session.player.discover();
            if is_spoken {
                session.player.client.patience(probe.patience);
                session.play(probe.steps(Part::Session, modern));
                session.play(probe.steps(Part::Faults, modern));
            }
            is_spoken
        })
    }

    /// Single requests over HTTP. GET and DELETE are of the revisions with a handshake where the server speaks those too.
    fn exchanges(&mut self, spoken: Option<Revision>, is_only: bool) -> Result<(), StartError> {
        let (Server::Http(target), Some(revision)) = (&self.probe.server, spoken) else { return Ok(()) };
        let steps = self.probe.steps(Part::Http, revision).filter(|step| is_only || step.posts());
        let steps: Vec<_> = steps.collect();
        if !steps.is_empty() && !interrupt::requested() {
            self.sessions.push(http::play(self.probe, target, revision, &steps, self.notify)?);
        }
        Ok(())
    }

    /// Plays one session, and keeps it if `play` says so.
    fn in_session(
        &mut self,
        name: &str,
        play: impl FnOnce(&mut Session<'_>) -> bool,
    ) -> Result<(), StartError> {
        if interrupt::requested() && !self.sessions.is_empty() {
            return Ok(());
        }
        let mut session = Session::open(self.probe, name, self.notify)?;
        let is_kept = play(&mut session);
        let done = session.close(self.end);
        if done.killed {
            // It will be as slow again.
            self.end = END / 10;
        }
        if is_kept {
            self.sessions.push(done);
        } else {
            let _ = std::fs::remove_file(&done.recording);
        }
        Ok(())
    }
}
