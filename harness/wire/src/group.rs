//! A process and every process that it started, as a process group.
//!
//! A process that leaves its group (`setsid`) is out of reach; nothing short of a container holds it.

use std::process::{Child, Command};

/// Has the command start in a group of its own, where no signal to ours reaches it.
pub fn lead(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

/// Whether the leader has exited. It is not reaped: as long as it is a zombie, its number names its group.
pub fn exited(leader: &mut Child) -> bool {
    #[cfg(unix)]
    if let Some(pid) = number(leader) {
        use rustix::process::{WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        return !matches!(waitid(WaitId::Pid(pid), options), Ok(None));
    }
    !matches!(leader.try_wait(), Ok(None))
}

/// Kills the whole group. To be called before the leader is reaped.
pub fn kill(leader: &mut Child) {
    #[cfg(unix)]
    if let Some(pid) = number(leader) {
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    // One that is dead already is as well.
    let _ = leader.kill();
}

#[cfg(unix)]
fn number(leader: &Child) -> Option<rustix::process::Pid> {
    rustix::process::Pid::from_raw(i32::try_from(leader.id()).ok()?)
}

/// How many bytes the group holds resident, where the system tells. Pages that processes share count for each.
pub fn resident(leader: &Child) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let pages: u64 = members(leader)?.iter().map(|(_, pages)| pages).sum();
        Some(pages * rustix::param::page_size() as u64)
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = leader;
        None
    }
}

/// The most bytes that each process of the group has held resident, added up, where the system tells. Those of a process
/// that has ended are forgotten.
pub fn peak(leader: &Child) -> Option<u64> {
    #[cfg(target_os = "linux")]
    {
        let peak = |folder: &std::path::Path| {
            let status = std::fs::read_to_string(folder.join("status")).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            Some(line.trim().strip_suffix(" kB")?.parse::<u64>().ok()? << 10)
        };
        let peaks: Vec<u64> = members(leader)?.iter().filter_map(|(folder, _)| peak(folder)).collect();
        (!peaks.is_empty()).then(|| peaks.iter().sum())
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = leader;
        None
    }
}

/// The processes of the group: their folders under `/proc`, and the pages that each holds resident.
#[cfg(target_os = "linux")]
fn members(leader: &Child) -> Option<Vec<(std::path::PathBuf, u64)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").ok()?.flatten() {
        if !entry.file_name().as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        // A process may be gone by now.
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else { continue };
        if let Some((group, pages)) = group_and_pages(&stat)
            && group == leader.id()
        {
            found.push((entry.path(), pages));
        }
    }
    Some(found)
}

/// Fields 5 and 24 of `/proc/PID/stat`. The second field is a name in parentheses, which may hold anything.
#[cfg(target_os = "linux")]
fn group_and_pages(stat: &str) -> Option<(u32, u64)> {
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some((fields.get(2)?.parse().ok()?, fields.get(21)?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::{exited, kill, lead, peak, resident};
    use std::process::Command;
    use std::thread;
    use std::time::{Duration, Instant};

    #[test]
    fn a_group_has_its_memory_and_dies_together() {
        let mut command = Command::new("sleep");
        command.arg("60");
        lead(&mut command);
        let mut child = command.spawn().unwrap();
        assert!(!exited(&mut child));
        // Between its start and its first page the child has no memory yet.
        let begun = Instant::now();
        while resident(&child).unwrap() <= 4096 {
            assert!(begun.elapsed() < Duration::from_secs(20), "it never had a page");
            thread::yield_now();
        }
        assert!(peak(&child).unwrap() >= 4096);
        kill(&mut child);
        assert!(!child.wait().unwrap().success());
        assert_eq!(
            super::group_and_pages("7 (a) b) S 1 99 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 123 1"),
            Some((99, 123))
        );
    }
}
