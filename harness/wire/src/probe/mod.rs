//! Checks a live server or client: plays the other side through a script, in several sessions, and records each as `record` does.
//!
//! The client's script is in `script`; that of the server is in `server_script`, `server_player` plays it, and `clients` starts clients. A session over stdio is recorded by [`crate::record`]; one over HTTP goes through [`crate::proxy`], and its
//! client is `remote`, or `http` where single requests are the point. What the recordings show is judged elsewhere.

mod arguments;
mod calls;
mod client;
mod clients;
mod http;
mod login;
mod plan;
mod player;
mod reading;
mod script;
mod server_offer;
mod server_player;
mod server_script;
mod session;

pub use clients::{Clients, PlayedPart};
pub use plan::{Calls, Probe, Probed, RECORDER, Refusal, Silence, Unanswered};
pub use script::{Part, SCRIPT, Step};
pub use server_player::as_server;
pub use server_script::{SERVER_SCRIPT, Seen, ServerAct};

use crate::interrupt;
use crate::record::Server;
use crate::{Notify, StartError, lock};
use plan::is_refused;
use script::Act;
use serde_json::Value;
use session::Session;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use transcript::revision::Revision;
use verdict::jobs::map_in_order;

/// How long a server may take to end once its input has.
const END: Duration = Duration::from_secs(2);

/// The rules that judge a handshake.
const VERSIONS: &[&str] = &["life", "jsonrpc.schema"];

/// The session that asks for [`NO_VERSION`].
const UNKNOWN: &str = "version-unknown";

/// A version that is none.
const NO_VERSION: &str = "1999-01-01";

/// The session of the revisions without handshake.
const DISCOVERED: &str = "discovery";

/// How long a server may take to say that it knows no revision without handshake, once it has started.
const DISCOVERY: Duration = Duration::from_secs(2);

/// How long a server over stdio has in the first session to ask too early: what is closer may have crossed.
const EARLY: Duration = Duration::from_millis(150);

/// A call of a tool: its name, and its arguments.
pub type Call = (String, Value);

/// Makes calls of the tools that may be called, each as it is listed and with the arguments that it would be called with.
pub type Choose<'c> = dyn FnMut(&[(Value, Value)]) -> Vec<Call> + 'c;

/// How many sessions are played at once.
const AT_ONCE: usize = 3;

/// A probe under way.
struct Run<'p> {
    probe: &'p Probe,
    notify: &'p Arc<dyn Notify>,
    /// The server was slow to end once, and will be as slow again.
    is_slow: AtomicBool,
    /// What the server said to `server/discover` where that was an error.
    undiscovered: Mutex<Option<String>>,
}

/// Whether a server did not even begin, or ended, which may be because of others. What it leaves unanswered later is its own doing.
fn fell_short(done: &Probed) -> bool {
    let is_silent = |request: &Unanswered| done.revision.is_none() || request.why == Silence::Ended;
    // A version that does not exist may be refused.
    let is_refused = done.refused.is_some() && done.name != UNKNOWN;
    done.unanswered.iter().any(is_silent) || is_refused
}

/// A session that is to be played once the first one is over.
enum Next {
    /// A handshake that asks for a version, and these steps where the server agrees.
    Version { name: String, version: &'static str, revision: Revision, steps: Vec<&'static Step<Act>> },
    /// The broken requests.
    Faults(Revision),
    /// The revisions without handshake, where the server says that it speaks them. It has so long to say so.
    Discovery(Duration),
    /// Single requests over HTTP, in the revision that the server speaks.
    Exchanges(Revision),
}

impl Probe {
    /// Plays the script. Only sessions in which the server answered are given, and at least the first.
    ///
    /// # Errors
    /// Where the server cannot be started, or a recording cannot be written.
    pub fn run(&self, notify: &Arc<dyn Notify>) -> Result<Vec<Probed>, StartError> {
        Run { probe: self, notify, is_slow: AtomicBool::default(), undiscovered: Mutex::default() }.all()
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
        let player = &mut session.player;
        let begins = player.shake_hands(newest.name(), newest)
            || player.done.refused.as_ref().is_some_and(|why| !why.starts_with(RECORDER) || is_refused(why))
                && player.discover();
        if begins {
            let tools = session.player.listed_tools();
            for (tool, arguments) in choose(&tools) {
                if session.player.client.over.is_some() {
                    break;
                }
                session.player.try_call(&tool, &arguments);
                session.player.done.called.push(tool);
            }
        }
        session.close(END / 4)
    }

    /// The steps of a part and a revision that are asked for.
    fn steps(&self, part: Part, revision: Revision) -> impl Iterator<Item = &'static Step<Act>> {
        SCRIPT.iter().filter(move |step| {
            // What other steps ask for is in the listings.
            step.part == part && step.is_of(revision) && (step.is_listing() || self.asks_for(&step.tests))
        })
    }

    /// Whether what these rules judge is asked for: it is where no step puts to the test what was selected.
    fn asks_for(&self, tests: &[&str]) -> bool {
        let is_tested = |id: &String| SCRIPT.iter().any(|step| step.judges(id)) || judges(VERSIONS, id);
        self.select.is_empty() || self.select.iter().any(|id| judges(tests, id) || !is_tested(id))
    }

    /// The other sessions: handshakes in other revisions, and in one that is none; broken requests; and the revisions without
    /// handshake.
    fn next(&self, spoken: Option<Revision>, start: Duration) -> Vec<Next> {
        let known = Revision::ALL.into_iter().filter(|one| one.has_handshake() && Some(*one) != spoken);
        let known = known.map(|revision| (format!("version-{revision}"), revision.name(), revision));
        let unknown = (UNKNOWN.to_owned(), NO_VERSION, Revision::V2025_11_25);
        let mut next = Vec::new();
        for (name, version, revision) in known.chain([unknown]) {
            let own = |step: &&Step<Act>| {
                let is_own = name != UNKNOWN && step.revisions == [revision; 2];
                is_own || step.is_listing() || step.name == "ping"
            };
            let steps: Vec<_> = self.steps(Part::Session, revision).filter(own).collect();
            if self.asks_for(VERSIONS) || !steps.iter().all(|step| step.is_listing()) {
                next.push(Next::Version { name, version, revision, steps });
            }
        }
        let faults = spoken.filter(|spoken| self.steps(Part::Faults, *spoken).next().is_some());
        next.extend(faults.map(Next::Faults));
        next.push(Next::Discovery(self.patience.min(DISCOVERY + 2 * start)));
        next.extend(spoken.map(Next::Exchanges));
        next
    }
}

impl Step<Act> {
    /// Whether it puts this rule to the test.
    pub fn judges(&self, rule: &str) -> bool {
        judges(&self.tests, rule)
    }

    /// What it posts, where the request itself is the point.
    pub fn posts(&self) -> Option<&'static str> {
        match self.act {
            Act::Http("POST", _, body) | Act::Streams(_, _, body) => Some(body),
            _ => None,
        }
    }
}

/// Whether a rule is one of those that these words name: ids, or the beginning of ids up to a dot.
fn judges(words: &[&str], id: &str) -> bool {
    words
        .iter()
        .any(|word| id.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with('.')))
}

/// A rule to select so that a step of this name is played, where it is not with this one.
pub fn plays(step: &str, rule: &str) -> Option<&'static str> {
    let step = SCRIPT.iter().find(|it| it.name == step && !it.is_listing() && !it.judges(rule))?;
    step.tests.first().copied()
}

impl<'p> Run<'p> {
    fn all(&self) -> Result<Vec<Probed>, StartError> {
        let newest = Revision::V2025_11_25;
        let mut asked = Some(self.probe.revision).filter(|it| it.has_handshake()).unwrap_or(newest);
        let mut sessions = self.once(asked)?;
        for is_last in [false, true] {
            let known = sessions.iter().skip(1).filter_map(|session| session.revision);
            let spoken = known.filter(|revision| revision.has_handshake()).max();
            // The first session may have come too early, and asks once more; then for what the others speak.
            let Some(spoken) = spoken.filter(|_| sessions[0].refused.is_some()) else { break };
            if interrupt::requested() {
                break;
            }
            asked = if is_last { spoken } else { asked };
            sessions = self.once(asked)?;
        }
        Ok(sessions)
    }

    fn once(&self, asked: Revision) -> Result<Vec<Probed>, StartError> {
        let (first, start) = self.first(asked)?;
        let spoken = first.player.done.revision;
        let next = self.probe.next(spoken, start);
        let has_own = matches!(self.probe.server, Server::Command(_));
        // A server that all share would take a fault of one session into the others, and what is asked for by name is called once.
        let mut sessions = if spoken.is_some() && has_own && self.probe.calls == Calls::ReadOnly {
            self.together(first, asked, &next)?
        } else {
            let first = self.rest(first)?;
            // A server that does not answer its first request is asked no more.
            let unsaid = first.refused.as_ref().and_then(|why| why.strip_prefix(RECORDER));
            let is_answered =
                first.unanswered.is_empty() && unsaid.is_none_or(|why| why.starts_with("HTTP "));
            let is_silent = spoken.is_none() && !is_answered;
            let mut sessions = vec![first];
            for next in next.iter().filter(|_| !is_silent) {
                sessions.extend(self.play(next)?);
            }
            sessions[0].undiscovered = lock(&self.undiscovered).take();
            sessions
        };
        let modern = sessions.iter().find(|session| session.name == DISCOVERED);
        let modern = modern.and_then(|session| session.revision);
        sessions.extend(self.exchanges(modern, spoken.is_none())?);
        Ok(sessions)
    }

    /// Plays the rest of the first session and the others beside each other, since most of their time is spent on starts and on waiting.
    /// Where one falls short that may be because of the others, as servers may share a file or a port: then it is played again by
    /// itself.
    fn together(
        &self,
        first: Session<'_>,
        asked: Revision,
        next: &[Next],
    ) -> Result<Vec<Probed>, StartError> {
        let (first, others) = thread::scope(|scope| {
            let first = scope.spawn(|| self.rest(first));
            let others = map_in_order(next, AT_ONCE, 0, |next| self.play(next));
            (first.join().unwrap_or_else(|panic| resume_unwind(panic)), others)
        });
        let others =
            others.map_err(|error| StartError::CannotRun(format!("no thread can be started: {error}")))?;
        let again = |done: &Probed| fell_short(done) && !interrupt::requested();
        let mut first = first?;
        if again(&first) {
            first = self.rest(self.first(asked)?.0)?;
        }
        let mut sessions = vec![first];
        for (next, other) in next.iter().zip(others) {
            let other = match other? {
                Some(done) if again(&done) => self.play(next)?,
                other => other,
            };
            sessions.extend(other);
        }
        Ok(sessions)
    }

    /// The first session after its handshake, and how long the server took to start and to answer that.
    fn first(&self, asked: Revision) -> Result<(Session<'p>, Duration), StartError> {
        let begun = Instant::now();
        let mut session = Session::open(self.probe, "session", self.notify)?;
        if matches!(self.probe.server, Server::Command(_)) && self.probe.asks_for(VERSIONS) {
            session.player.pause = EARLY;
        }
        session.player.shake_hands(asked.name(), asked);
        Ok((session, begun.elapsed()))
    }

    /// Plays the first session to its end.
    fn rest(&self, mut session: Session<'_>) -> Result<Probed, StartError> {
        if let Some(revision) = session.player.done.revision {
            session.player.play(self.probe.steps(Part::Session, revision));
        }
        if let (Some((target, named)), Server::Http(server)) = (session.locked(), &self.probe.server) {
            let found = login::look_for_metadata(target, &server.origin(), named, self.probe.patience)?;
            session.player.done.metadata = found;
        }
        self.close(session)
    }

    /// Ends a session.
    fn close(&self, session: Session<'_>) -> Result<Probed, StartError> {
        let done = session.close(if self.is_slow.load(Ordering::Relaxed) { END / 10 } else { END })?;
        self.is_slow.fetch_or(done.killed, Ordering::Relaxed);
        Ok(done)
    }

    /// Plays one of these. A server that speaks no revision without handshake leaves no session of them, unless it answered
    /// `server/discover`.
    fn play(&self, next: &Next) -> Result<Option<Probed>, StartError> {
        let in_session = |name: &str, play: &dyn Fn(&mut Session<'_>) -> bool| {
            if interrupt::requested() {
                return Ok(None);
            }
            let mut session = Session::open(self.probe, name, self.notify)?;
            let is_kept = play(&mut session);
            let done = self.close(session)?;
            if !is_kept {
                let _ = std::fs::remove_file(&done.recording);
            }
            Ok(Some(done).filter(|_| is_kept))
        };
        match next {
            Next::Version { name, version, revision, steps } => in_session(name, &|session| {
                if session.player.shake_hands(version, *revision)
                    && session.player.done.revision == Some(*revision)
                {
                    session.player.play(steps.iter().copied());
                }
                true
            }),
            Next::Faults(revision) => in_session("faults", &|session| {
                if session.player.shake_hands(revision.name(), *revision) {
                    session.player.play(self.probe.steps(Part::Faults, *revision));
                }
                true
            }),
            Next::Discovery(patience) => in_session(DISCOVERED, &|session| {
                session.player.client.patience = *patience;
                let is_spoken = session.player.discover();
                let refusal = session.player.done.turned_away.first().filter(|_| !is_spoken);
                *lock(&self.undiscovered) = refusal.map(|refusal| refusal.why.clone());
                if is_spoken {
                    session.player.client.patience = self.probe.patience;
                    let modern = Revision::V2026_07_28;
                    let faults = self.probe.steps(Part::Faults, modern);
                    // What is held to a set of rules breaks none.
                    let faults = faults.filter(|_| self.probe.revision != modern);
                    let of_session = |subscribes| {
                        let is_so = move |step: &&Step<Act>| matches!(step.act, Act::Subscribe) == subscribes;
                        self.probe.steps(Part::Session, modern).filter(is_so)
                    };
                    session.player.play(of_session(false).chain(faults));
                    // A server may have to end a subscription before it answers something else.
                    session.player.play(of_session(true));
                }
                is_spoken || session.player.discovered
            }),
            Next::Exchanges(revision) => self.exchanges(Some(*revision), true),
        }
    }

    /// Single requests over HTTP. GET and DELETE are of the revisions with a handshake where the server speaks those too.
    fn exchanges(&self, spoken: Option<Revision>, is_only: bool) -> Result<Option<Probed>, StartError> {
        let (Server::Http(target), Some(revision)) = (&self.probe.server, spoken) else { return Ok(None) };
        let steps =
            self.probe.steps(Part::Http, revision).filter(|step| is_only || step.act.method() == "POST");
        let steps: Vec<_> = steps.collect();
        if steps.is_empty() || interrupt::requested() {
            return Ok(None);
        }
        http::play(self.probe, target, revision, &steps, self.notify).map(Some)
    }
}
