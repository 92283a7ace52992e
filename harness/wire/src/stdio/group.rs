//! Other people's programs: how each is started, watched and ended, with every process that it starts.
//!
//! A program leads a process group of its own. A [`Group`] is killed when it is dropped, and all that run are killed at once
//! when this process is asked to end ([`crate::interrupt`]). A process that leaves its group (`setsid`) is out of reach;
//! nothing short of a container holds it.

use crate::lock;
use std::fmt;
use std::io;
use std::process::{Child, ChildStdin, Command, ExitStatus};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// How often a program that is to end is looked at.
const TICK: Duration = Duration::from_millis(2);

/// A program that was started here, with every process that it started.
#[derive(Debug)]
pub struct Group {
    leader: Child,
    /// How it ended. From then on its number may belong to another process.
    status: Option<ExitStatus>,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exit {
    /// The exit code, where it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(out, "exit code {code}"),
            (_, Some(signal)) => write!(out, "signal {signal}"),
            (None, None) => out.write_str("no status"),
        }
    }
}

/// Has the command start in a group of its own, where no signal to ours reaches it.
pub fn lead(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

impl Group {
    /// Starts the command as the leader of a group.
    ///
    /// # Errors
    /// Where it cannot be started; nothing can once this process was asked to end.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        lead(command);
        Ok(Self { leader: spawn(command)?, status: None })
    }

    /// The leader, for its pipes.
    pub fn leader(&mut self) -> &mut Child {
        &mut self.leader
    }

    /// The leader's standard input, where it is a pipe. Writing to it never waits: what a full pipe does not take is refused
    /// with [`io::ErrorKind::WouldBlock`].
    pub fn take_input(&mut self) -> io::Result<Option<ChildStdin>> {
        let input = self.leader.stdin.take();
        #[cfg(unix)]
        if let Some(input) = &input {
            rustix::io::ioctl_fionbio(input, true)?;
        }
        Ok(input)
    }

    /// The number of the leader, and of the group.
    pub fn id(&self) -> u32 {
        self.leader.id()
    }

    /// Whether the leader has exited. It is not reaped: as long as it is a zombie, its number names its group.
    pub fn exited(&mut self) -> bool {
        self.exit().is_some()
    }

    /// Whether the leader exits in this time.
    pub fn exits_within(&mut self, time: Duration) -> bool {
        let since = Instant::now();
        while !self.exited() {
            if since.elapsed() > time {
                return false;
            }
            thread::sleep(TICK);
        }
        true
    }

    /// How the leader exited, if it has.
    pub fn exit(&mut self) -> Option<Exit> {
        if let Some(status) = self.status {
            return Some(status.into());
        }
        #[cfg(unix)]
        if let Some(pid) = pid(self.id()) {
            use rustix::process::{WaitId, WaitIdOptions, waitid};
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            return match waitid(WaitId::Pid(pid), options) {
                Ok(None) | Err(rustix::io::Errno::INTR) => None,
                Ok(Some(status)) => {
                    Some(Exit { code: status.exit_status(), signal: status.terminating_signal() })
                }
                Err(_) => Some(Exit::default()),
            };
        }
        match self.leader.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(status.into()),
            Err(_) => Some(Exit::default()),
        }
    }

    /// Kills the whole group.
    pub fn kill(&mut self) {
        if self.status.is_none() {
            kill(self.id());
            // One that is dead already is as well.
            let _ = self.leader.kill();
        }
    }

    /// Kills the whole group, and gives the leader's status.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        if let Some(status) = self.status {
            return Ok(status);
        }
        self.kill();
        self.reap()
    }

    /// Waits for the leader only, and gives its status. What it leaves behind goes on, and is nobody's here any more.
    pub(crate) fn reap(&mut self) -> io::Result<ExitStatus> {
        while !self.exited() {
            thread::sleep(TICK);
        }
        reap(&mut self.leader).inspect(|status| self.status = Some(*status))
    }

    /// How many bytes the group holds resident, where the system knows. Pages that processes share count for each.
    pub fn resident(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        return Some(members(self.id())?.iter().map(|it| it.pages * rustix::param::page_size() as u64).sum());
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// The most bytes that each process of the group has held resident, added up, where the system knows. Those of a
    /// process that has ended are forgotten.
    pub fn peak(&self) -> Option<u64> {
        #[cfg(target_os = "linux")]
        {
            let peaks = members(self.id())?;
            let peaks: Vec<u64> = peaks.iter().filter_map(|it| peak(&it.folder)).collect();
            (!peaks.is_empty()).then(|| peaks.iter().sum())
        }
        #[cfg(not(target_os = "linux"))]
        None
    }

    /// How long processors have worked for the group, where the system knows. Time that it waited for them does not count.
    pub fn processor_time(&self) -> Option<std::time::Duration> {
        #[cfg(target_os = "linux")]
        {
            let ticks: u64 = members(self.id())?.iter().map(|it| it.ticks).sum();
            Some(
                std::time::Duration::from_secs(ticks)
                    / u32::try_from(rustix::param::clock_ticks_per_second()).ok()?,
            )
        }
        #[cfg(not(target_os = "linux"))]
        None
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

impl From<ExitStatus> for Exit {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        Self { code: status.code(), signal }
    }
}

impl Exit {
    /// The code that a shell would show: 128 and the signal's number where a signal ended it.
    pub fn shell_code(self) -> Option<i32> {
        self.code.or(self.signal.map(|signal| 128 + signal))
    }
}

/// The process groups that run, so that all of them can be killed at once.
static RUNNING: Mutex<Running> = Mutex::new(Running { leaders: Vec::new(), over: false });

struct Running {
    /// A number is taken out before it may belong to another process.
    leaders: Vec<u32>,
    /// No more may be started.
    over: bool,
}

/// Starts the leader of a group; none after [`kill_all`].
fn spawn(command: &mut Command) -> io::Result<Child> {
    let mut running = lock(&RUNNING);
    if running.over {
        return Err(io::Error::new(io::ErrorKind::Interrupted, "it was interrupted"));
    }
    let leader = command.spawn()?;
    running.leaders.push(leader.id());
    Ok(leader)
}

/// Reaps a leader that has exited.
fn reap(leader: &mut Child) -> io::Result<ExitStatus> {
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

#[cfg(target_os = "linux")]
fn peak(process: &std::path::Path) -> Option<u64> {
    let status = std::fs::read_to_string(process.join("status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
}

/// A process of the group.
#[cfg(target_os = "linux")]
struct Member {
    /// Its folder under `/proc`.
    folder: std::path::PathBuf,
    /// How many pages it holds resident.
    pages: u64,
    /// How many ticks processors have worked for it, and for its children that have ended.
    ticks: u64,
}

#[cfg(target_os = "linux")]
fn members(leader: u32) -> Option<Vec<Member>> {
    // Longer than any.
    let (mut found, mut text) = (Vec::new(), [0; 1024]);
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        // A process may be gone by now.
        let Ok(read) = stat(&entry.path(), &mut text) else { continue };
        let stat = String::from_utf8_lossy(&text[..read]);
        if let Some((ticks, pages)) = ticks_and_pages(&stat, leader) {
            found.push(Member { folder: entry.path(), pages, ticks });
        }
    }
    Some(found)
}

/// The system gives all of it in one read. That takes half as long as to ask for its length and its end, too, and a machine has
/// hundreds of processes, which are looked at again and again.
#[cfg(target_os = "linux")]
fn stat(process: &std::path::Path, text: &mut [u8]) -> io::Result<usize> {
    std::fs::File::open(process.join("stat")).and_then(|mut file| io::Read::read(&mut file, text))
}

/// Fields 14 to 17, added up, and 24 of `/proc/PID/stat`, where field 5 is this group. The second field is a name in parentheses, which may hold anything.
#[cfg(target_os = "linux")]
fn ticks_and_pages(stat: &str, group: u32) -> Option<(u64, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    (fields.nth(2)?.parse() == Ok(group)).then_some(())?;
    let numbers: Vec<u64> =
        fields.map_while(|field| field.parse::<i64>().ok().map(i64::cast_unsigned)).collect();
    Some((numbers.get(8..12)?.iter().sum(), *numbers.get(18)?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{Exit, Group};
    use std::io::{Read as _, Write as _};
    use std::process::{Command, Stdio};
    use std::thread;
    use std::time::{Duration, Instant};

    const SOON: Duration = Duration::from_secs(20);

    #[test]
    fn a_group_has_its_memory_and_dies_together() {
        let mut group = Group::start(Command::new("sleep").arg("60")).unwrap();
        assert!(!group.exited());
        // Between its start and its first page the child has no memory yet.
        let begun = Instant::now();
        while group.resident().unwrap() <= 4096 {
            assert!(begun.elapsed() < SOON, "it never had a page");
            thread::yield_now();
        }
        assert!(group.peak().unwrap() >= 4096);
        group.kill();
        assert!(group.exits_within(SOON));
        assert_eq!(group.exit(), Some(Exit { code: None, signal: Some(9) }));
        assert!(!group.end().unwrap().success());
        assert_eq!(group.exit(), Some(Exit { code: None, signal: Some(9) }));
        let stat = "7 (a) b) S 1 99 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 123 1";
        assert_eq!([99, 3].map(|group| super::ticks_and_pages(stat, group)), [Some((10, 123)), None]);
    }

    #[test]
    fn who_does_not_read_keeps_nobody_waiting() {
        let mut group = Group::start(Command::new("sleep").arg("60").stdin(Stdio::piped())).unwrap();
        let mut input = group.take_input().unwrap().unwrap();
        let refused = (0..1 << 20).find_map(|_| input.write_all(&[b'x'; 4096]).err()).unwrap();
        assert_eq!(refused.kind(), std::io::ErrorKind::WouldBlock);
    }

    #[test]
    fn who_was_left_behind_dies_with_the_group() {
        let mut start = Command::new("sh");
        start.args(["-c", "sleep 60 & exit 7"]).stdout(Stdio::piped());
        let mut group = Group::start(&mut start).unwrap();
        let mut out = group.leader().stdout.take().unwrap();
        assert!(group.exits_within(SOON));
        assert_eq!(group.exit(), Some(Exit { code: Some(7), signal: None }));
        drop(group);
        // The end comes when nobody holds the pipe any more.
        assert_eq!(out.read(&mut [0]).unwrap(), 0);
    }
}
