//! A server over stdio behind Streamable HTTP (revisions 2025-03-26 to 2025-11-25): each session has a process of its own, or
//! all share one.
//!
//! HTTP is in `http`; a process is in `server`; who asked what (`conversation`) and what is
//! kept for whom (`streams`) are pure. Memory: [`SESSIONS`] times what `streams` and `server` hold, and the bodies that come in,
//! each of up to [`crate::http::HELD`] bytes.

mod conversation;
mod http;
mod server;
mod streams;

pub(crate) use http::PATH;

use crate::{Notify, StartError, lock};
use server::{ClientHandle, Missed, Server};
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

/// How many sessions may be open. For one more, the one that was idle for the longest ends.
const SESSIONS: usize = 64;

/// After how long without an answer a stream begins on which it will come: proxies and clients close what stays silent.
const SILENCE: Duration = Duration::from_secs(10);

/// Where a server over stdio is reached over HTTP.
pub struct Bridge {
    command: Vec<String>,
    shared: bool,
    notify: Box<dyn Notify>,
    sessions: Mutex<Sessions>,
    missed: Arc<Missed>,
    ended: AtomicU64,
    conduct: Conduct,
    resumed: AtomicBool,
    /// How many messages were posted to sessions that were over.
    strayed: AtomicU64,
}

/// How clients are put to the test.
#[derive(Debug, Clone, Copy, Default)]
pub struct Conduct {
    /// Requests are answered whatever they accept.
    pub is_lenient: bool,
    /// Each stream breaks off behind its first message, once, for its client to come back.
    pub breaks: bool,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<String, Session>,
    /// What the next session gets: the one that all share, or one that no session has yet.
    next: Option<Arc<Server>>,
    /// How many requests there have been.
    clock: u64,
}

struct Session {
    client: ClientHandle,
    used: u64,
}

/// Why a session cannot begin.
enum NoSession {
    /// As many as may be are open, and none is idle.
    Full,
    /// The server cannot be started.
    NotStarted(String),
}

impl fmt::Debug for Bridge {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Bridge").field("shared", &self.shared).finish_non_exhaustive()
    }
}

impl Bridge {
    /// Starts the command, for the first session or for all: one that cannot be started is known at once.
    pub fn start(
        command: &[String],
        shared: bool,
        conduct: Conduct,
        notify: Box<dyn Notify>,
    ) -> Result<Arc<Self>, StartError> {
        let bridge = Arc::new(Self {
            command: command.to_vec(),
            shared,
            notify,
            sessions: Mutex::default(),
            missed: Arc::default(),
            ended: AtomicU64::new(0),
            conduct,
            resumed: AtomicBool::new(false),
            strayed: AtomicU64::new(0),
        });
        let first = bridge.server()?;
        lock(&bridge.sessions).next = Some(first);
        Ok(bridge)
    }

    /// Whether a client came back to a stream.
    pub(crate) fn is_resumed(&self) -> bool {
        self.resumed.load(Ordering::SeqCst)
    }

    /// How many messages were posted to sessions that were over.
    pub(crate) fn strayed(&self) -> u64 {
        self.strayed.load(Ordering::SeqCst)
    }

    /// Ends every session, reports what reached nobody, and returns whether no server ended too early.
    pub fn close(&self) -> bool {
        let Sessions { by_id, next, .. } = std::mem::take(&mut *lock(&self.sessions));
        let last = next.into_iter().chain(by_id.into_values().map(|Session { client, .. }| {
            client.leave();
            client.server
        }));
        let closing: Vec<_> = last.filter_map(|server| server.close()).collect();
        closing.into_iter().for_each(|closing| {
            let _ = closing.join();
        });
        let Missed { noise, unasked, unread } = &*self.missed;
        for (count, what) in [
            (noise, "lines of the server not passed on, since they are not messages"),
            (unasked, "answers of the server not passed on, since no request asked for them"),
            (unread, "messages of the server not delivered, since no client opened a stream for them"),
        ] {
            let count = count.load(Ordering::Relaxed);
            if count > 0 {
                self.notify.note(&format!("{what}: {count}"));
            }
        }
        self.ended.load(Ordering::SeqCst) == 0
    }

    fn server(self: &Arc<Self>) -> Result<Arc<Server>, StartError> {
        let bridge = Arc::downgrade(self);
        Server::start(
            &self.command,
            self.shared,
            &self.missed,
            Box::new(move |why, is_early| ended(&bridge, why, is_early)),
        )
    }

    /// Begins a session; its id.
    fn begin(self: &Arc<Self>) -> Result<String, NoSession> {
        let mut sessions = lock(&self.sessions);
        if sessions.by_id.len() >= SESSIONS {
            let idle = |(id, session): (&String, &Session)| {
                let is_busy = session.client.with(|streams| streams.is_busy());
                (is_busy != Some(true)).then(|| (session.used, id.clone()))
            };
            let (_, id) = sessions.by_id.iter().filter_map(idle).min().ok_or(NoSession::Full)?;
            sessions.end(&id, self.shared);
            self.notify.note(&format!("the session {id} was idle the longest, and was ended for a new one"));
        }
        let next = sessions.next.take().filter(|server| !server.is_over());
        let server = match next {
            Some(server) => server,
            None => self.server().map_err(|why| NoSession::NotStarted(why.into_text()))?,
        };
        if self.shared {
            sessions.next = Some(Arc::clone(&server));
        }
        let mut id = [0; 16];
        getrandom::fill(&mut id).map_err(|error| NoSession::NotStarted(error.to_string()))?;
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (client, used) = (server.join(), sessions.clock);
        sessions.by_id.insert(id.clone(), Session { client, used });
        Ok(id)
    }

    /// The client whose session this is.
    fn find(&self, id: &str) -> Option<ClientHandle> {
        let Sessions { by_id, clock, .. } = &mut *lock(&self.sessions);
        *clock += 1;
        let session = by_id.get_mut(id)?;
        session.used = *clock;
        Some(session.client.clone())
    }

    /// Ends a session, and its process where that is not shared.
    fn end(&self, id: &str) {
        lock(&self.sessions).end(id, self.shared);
    }
}

impl Sessions {
    fn end(&mut self, id: &str, shared: bool) {
        let Some(Session { client, .. }) = self.by_id.remove(id) else { return };
        client.leave();
        if !shared {
            // Nobody waits for its last words.
            drop(client.server.close());
        }
    }
}

/// A server ended by itself: its sessions are over.
fn ended(bridge: &Weak<Bridge>, why: &str, is_early: bool) {
    let Some(bridge) = bridge.upgrade() else { return };
    let mut sessions = lock(&bridge.sessions);
    let is_over = |(id, session): (&String, &Session)| session.client.server.is_over().then(|| id.clone());
    let over: Vec<String> = sessions.by_id.iter().filter_map(is_over).collect();
    // The answers that say so are still read: what waits for one holds the server.
    let of = match over.len() {
        0 => String::new(),
        1 => format!("; the session {} is over", over[0]),
        count => format!("; {count} sessions are over"),
    };
    sessions.by_id.retain(|id, _| !over.contains(id));
    drop(sessions);
    let text = format!("{why}{of}");
    if is_early {
        bridge.ended.fetch_add(1, Ordering::SeqCst);
        bridge.notify.error(&text);
    } else {
        bridge.notify.note(&text);
    }
}
