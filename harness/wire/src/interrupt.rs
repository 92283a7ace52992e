//! The request to end, for every verb: Ctrl-C, that of a service manager, and the end of the terminal.
//!
//! Until [`watch`] is called, such a signal ends the program as usual. After that the first one is noted, and every program
//! that was started as a [`crate::stdio::group::Group`] is killed with all that it started, unless [`be_gentle`] was called; who
//! waits for one sees its end. A second signal ends the program.

#[cfg(unix)]
use crate::stdio::group::kill_all;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

/// The number of the signal that came; 0 where none did.
static CAUGHT: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

/// The first signal kills nothing.
static GENTLE: AtomicBool = AtomicBool::new(false);

/// From now on the first signal kills no program: the command that runs one lets it end. The second one does.
pub fn be_gentle() {
    GENTLE.store(true, Ordering::SeqCst);
}

/// Notes such signals from now on.
#[cfg(unix)]
pub fn watch() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    // `nohup` has the end of the terminal mean nothing.
    if !is_ignored(SIGHUP) {
        signals.add_signal(SIGHUP)?;
    }
    let note = move || {
        for signal in signals.forever() {
            let again = CAUGHT.swap(usize::try_from(signal).unwrap_or_default(), Ordering::SeqCst) != 0;
            if again || !GENTLE.load(Ordering::SeqCst) {
                kill_all();
            }
            if again {
                let _ = signal_hook::low_level::emulate_default_handler(signal);
            }
        }
    };
    std::thread::Builder::new().name("signals".to_owned()).spawn(note).map(drop)
}

/// From now on a write beyond the limit on the size of files fails, as one to a full disk does, instead of ending the program.
/// Programs that are started meet the limit as before.
pub fn outlive_size_limit() {
    // Elsewhere there is no such limit. Where it cannot be caught, it ends the program as before.
    #[cfg(unix)]
    if !is_ignored(signal_hook::consts::SIGXFSZ) {
        let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

/// Whether this process was started to ignore a signal, where the system shows it.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    mask >> (signal - 1) & 1 == 1
}

/// Notes such signals from now on.
#[cfg(not(unix))]
pub fn watch() -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let again = Arc::new(std::sync::atomic::AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the second one finds the note that the first one left.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&again))?;
        signal_hook::flag::register(signal, Arc::clone(&again))?;
        let number = usize::try_from(signal).unwrap_or_default();
        signal_hook::flag::register_usize(signal, Arc::clone(&CAUGHT), number)?;
    }
    Ok(())
}

/// Whether one came.
pub fn requested() -> bool {
    CAUGHT.load(Ordering::SeqCst) != 0
}

/// How often is looked whether what is waited for is so.
const TICK: Duration = Duration::from_millis(5);

/// Waits until something is so, but no longer than this, nor than until one comes. Whether it was, in time.
pub(crate) fn wait(patience: Duration, mut done: impl FnMut() -> bool) -> bool {
    let since = Instant::now();
    while !done() {
        if since.elapsed() >= patience || requested() {
            return false;
        }
        std::thread::sleep(TICK);
    }
    true
}

/// How long what is at hand may take once the program is to end.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether one came so long ago that what is still at hand is left undone.
pub(crate) fn is_overdue() -> bool {
    static SINCE: OnceLock<Instant> = OnceLock::new();
    requested() && SINCE.get_or_init(Instant::now).elapsed() > PATIENCE
}

/// The exit code of a command that one cut short: 128 and the signal's number, as in a shell.
pub fn code() -> Option<u8> {
    match CAUGHT.load(Ordering::SeqCst) {
        0 => None,
        signal => u8::try_from(128 + signal).ok(),
    }
}
