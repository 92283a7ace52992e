//! The forms of answers, and waiting for what comes.

pub use formats::identify::Transport;

use crate::interrupt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::mpsc::Receiver;
use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout_at};

/// In what form a server of Streamable HTTP answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// Each request as the session shows it, and as a stream where it does not.
    AsRecorded,
    /// As one JSON body. What the server says of its own goes over the stream of a GET.
    Json,
    /// As a stream of events.
    Stream,
}

/// How often a request to end is looked for.
const TICK: Duration = Duration::from_millis(50);

/// The next thing that happens; none where nothing does, and not a byte moves, for so long, or where this process is asked to
/// end.
pub(super) async fn next<T>(came: &mut Receiver<T>, patience: Duration, moved: &AtomicU64) -> Option<T> {
    loop {
        let before = moved.load(Ordering::Relaxed);
        match within(came, Instant::now() + patience).await {
            Ok(next) => return next,
            Err(_) if interrupt::requested() || moved.load(Ordering::Relaxed) == before => return None,
            Err(_) => {}
        }
    }
}

/// The next thing that happens before that time; none where nothing does.
pub(super) async fn next_until<T>(came: &mut Receiver<T>, until: Instant) -> Option<T> {
    within(came, until).await.ok().flatten()
}

async fn within<T>(came: &mut Receiver<T>, until: Instant) -> Result<Option<T>, Elapsed> {
    loop {
        match timeout_at(until.min(Instant::now() + TICK), came.recv()).await {
            Err(_) if !interrupt::requested() && Instant::now() < until => {}
            next => return next,
        }
    }
}
