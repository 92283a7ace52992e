//! Ctrl-C, for the commands that have something to save.
//!
//! Until [`watch`] is called, Ctrl-C ends the program as usual; after that the first one is noted, and waiting for a program
//! under test stops; a second one ends the program.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// Notes Ctrl-C from now on, and the polite request to end that a service manager makes.
///
/// # Errors
/// Where the system does not let it.
pub(crate) fn watch() -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    for signal in [SIGINT, SIGTERM] {
        // In this order: the second one finds the note that the first one left.
        signal_hook::flag::register_conditional_default(signal, Arc::clone(&REQUESTED))?;
        signal_hook::flag::register(signal, Arc::clone(&REQUESTED))?;
    }
    Ok(())
}

/// Whether it came.
#[must_use]
pub(crate) fn requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}
