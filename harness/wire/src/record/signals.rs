//! Signals that ask this process to end, passed on to the server's process group. This process ends when the server
//! has.

use crate::lock;
use crate::remote::Outcome;
use crate::stdio::group::Group;
#[cfg(unix)]
use crate::stdio::running::pid;
use std::process::ExitStatus;
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
    alive: Arc<Mutex<bool>>,
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
        let leader = Leader { alive: Arc::new(Mutex::new(true)) };
        #[cfg(unix)]
        if let (Some(mut caught), Some(group)) = (self.caught, pid(server.id())) {
            let alive = Arc::clone(&leader.alive);
            std::thread::spawn(move || {
                for signal in caught.forever() {
                    let alive = lock(&alive);
                    let named = rustix::process::Signal::from_named_raw(signal);
                    if let (true, Some(signal)) = (*alive, named) {
                        let _ = rustix::process::kill_process_group(group, signal);
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
            use signal_hook::consts::{SIGUSR1, SIGUSR2};
            std::thread::spawn(move || {
                for signal in caught.forever().filter(|signal| ![SIGUSR1, SIGUSR2].contains(signal)) {
                    // It may have ended already.
                    let _ = stop.send(Outcome::Signal(signal));
                }
            });
        }
        #[cfg(not(unix))]
        drop(stop);
    }
}

impl Leader {
    /// Waits for the server to end.
    pub(super) fn wait(&self, server: &mut Group) -> Option<ExitStatus> {
        #[cfg(unix)]
        if let Some(pid) = pid(server.id()) {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            // It is left unburied, so that its number is nobody else's until signals are passed on no more.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while matches!(waitid(WaitId::Pid(pid), options), Err(rustix::io::Errno::INTR)) {}
        }
        server.exits_within(Duration::MAX);
        *lock(&self.alive) = false;
        server.reap().ok()
    }
}
