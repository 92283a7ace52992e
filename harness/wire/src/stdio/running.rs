//! The process groups that run, so that all of them can be killed at once.

use crate::lock;
use std::io;
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;

static RUNNING: Mutex<Running> = Mutex::new(Running { leaders: Vec::new(), over: false });

struct Running {
    /// A number is taken out before it may belong to another process.
    leaders: Vec<u32>,
    /// No more may be started.
    over: bool,
}

/// Starts the leader of a group; none after [`kill_all`].
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut running = lock(&RUNNING);
    if running.over {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "it was interrupted"));
    }
    let leader = command.spawn()?;
    running.leaders.push(leader.id());
    Ok(leader)
}

/// Reaps a leader that has exited.
pub(crate) fn reap(leader: &mut Child) -> io::Result<ExitStatus> {
    let mut running = lock(&RUNNING);
    let status = leader.wait();
    running.leaders.retain(|id| *id != leader.id());
    status
}

/// Kills every group that runs, and lets none be started any more.
#[cfg(unix)]
pub(crate) fn kill_all() {
    let mut running = lock(&RUNNING);
    running.over = true;
    running.leaders.iter().copied().for_each(kill);
}

/// Kills the group of this leader, which must not have been reaped.
pub(crate) fn kill(leader: u32) {
    #[cfg(unix)]
    if let Some(pid) = pid(leader) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = leader;
}

#[cfg(unix)]
pub(crate) fn pid(id: u32) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(id).ok()?)
}
