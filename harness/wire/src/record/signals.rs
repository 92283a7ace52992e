//! Signals that ask this process to end, passed on to the server's process group. This process ends when the server
//! has.

use crate::lock;
use crate::remote::Outcome;
#[cfg(unix)]
use crate::stdio::group::pid;
use crate::stdio::group::{Exit, Group};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Signals that were caught and belong to nobody yet; by default none is.
#[derive(Default)]
pub(super) struct Signals {
    #[cfg(unix)]
    caught: Option<signal_hook::iterator::Signals>,
}

/// The server, as long as it may be sent signals.
pub(crate) struct Leader {
    state: Arc<Mutex<LeaderState>>,
}

struct LeaderState {
    alive: bool,
    /// The last signal that was passed on to it and asks it to end.
    passed: Option<i32>,
}

impl Signals {
    /// Catches signals from now on. To be called before the server is started, so that none is missed.
    pub(super) fn catch() -> Self {
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
            let signals = [SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2];
            Self { caught: signal_hook::iterator::Signals::new(signals).ok() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    /// Passes them on to the server's group.
    pub(super) fn pass_on_to(self, server: &Group) -> Leader {
        let state = LeaderState { alive: true, passed: None };
        let leader = Leader { state: Arc::new(Mutex::new(state)) };
        #[cfg(unix)]
        if let (Some(mut caught), Some(group)) = (self.caught, pid(server.id())) {
            let state = Arc::clone(&leader.state);
            std::thread::spawn(move || {
                for signal in caught.forever() {
                    let mut state = lock(&state);
                    let named = rustix::process::Signal::from_named_raw(signal);
                    if let (true, Some(named)) = (state.alive, named) {
                        state.passed = Some(signal).filter(asks_to_end).or(state.passed);
                        let _ = rustix::process::kill_process_group(group, named);
                    }
                }
            });
        }
        #[cfg(not(unix))]
        let _ = server;
        leader
    }

    /// Passes requests to end on to `stop`, for a server that is not a process.
    pub(super) fn pass_on(self, stop: Sender<Outcome>) {
        #[cfg(unix)]
        if let Some(mut caught) = self.caught {
            std::thread::spawn(move || {
                for signal in caught.forever().filter(asks_to_end) {
                    // It may have ended already.
                    let _ = stop.send(Outcome::Signal(signal));
                }
            });
        }
        #[cfg(not(unix))]
        drop(stop);
    }
}

/// What a signal is called.
pub(super) fn signal_name(signal: i32) -> Option<&'static str> {
    #[cfg(unix)]
    let name = signal_hook::low_level::signal_name(signal);
    #[cfg(not(unix))]
    let name = Some(signal).and(None);
    name
}

#[cfg(unix)]
fn asks_to_end(signal: &i32) -> bool {
    ![signal_hook::consts::SIGUSR1, signal_hook::consts::SIGUSR2].contains(signal)
}

impl Leader {
    /// Waits for the server to end; how it did, and the signal that was passed on to it before.
    pub(super) fn wait(&self, server: &mut Group) -> (Exit, Option<i32>) {
        #[cfg(unix)]
        if let Some(pid) = pid(server.id()) {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            // It is left unburied, so that its number is nobody else's until signals are passed on no more.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        }
        server.exits_within(Duration::MAX);
        let mut state = lock(&self.state);
        state.alive = false;
        (server.reap().map(Exit::from).unwrap_or_default(), state.passed)
    }
}
