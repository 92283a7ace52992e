//! A call from Python: without the interpreter's lock, open to Ctrl-C, and with errors as exceptions.

use app::Error;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// So often a reader may ask whether to stop before the interpreter is asked, which takes its lock. A recording of up to a MiB is
/// judged without.
const FREE: u64 = 4;

/// What a signal handler raised while a call worked.
#[derive(Default)]
struct Signals {
    asked: AtomicU64,
    raised: Mutex<Option<PyErr>>,
}

impl Signals {
    /// Whether the call is to stop.
    fn stop(&self) -> bool {
        if self.asked.fetch_add(1, Ordering::Relaxed) < FREE {
            return false;
        }
        let Err(raised) = Python::attach(|py| py.check_signals()) else { return false };
        *self.raised.lock().unwrap_or_else(PoisonError::into_inner) = Some(raised);
        true
    }
}

/// Runs `work` without the interpreter's lock.
///
/// # Errors
/// `ConcordError` with the code, line and pointer of what `work` returns; and what a signal handler raised, such as
/// `KeyboardInterrupt`.
pub(crate) fn answer<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&(dyn Fn() -> bool + Sync)) -> Result<T, Error> + Send,
) -> PyResult<T> {
    let signals = Signals::default();
    let done = py.detach(|| work(&|| signals.stop()));
    match signals.raised.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(raised) => Err(raised),
        None => done.map_err(|error| exception(py, error)),
    }
}

fn exception(py: Python<'_>, error: Error) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let class = py.import("mcp_concord._errors")?.getattr("ConcordError")?;
        let text = error.to_string();
        let place = error.place.map(|place| (place.clause, place.line, place.column, place.pointer));
        Ok(PyErr::from_value(class.call1((text, error.code, error.name, place))?))
    };
    made().unwrap_or_else(|other| other)
}
