//! How long a play goes on while nothing comes that it waits for.

use std::time::{Duration, Instant};

/// The end of a wait for the next thing that the session has. What else comes meanwhile does not put it off.
#[derive(Debug)]
pub(super) struct Deadline {
    patience: Duration,
    progress: u64,
    since: Instant,
}

impl Deadline {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, progress: 0, since: Instant::now() }
    }

    /// Whether it has passed. `progress` counts what the play waits for, and puts it off where it has grown.
    pub(super) fn has_passed(&mut self, progress: u64) -> bool {
        if progress != self.progress {
            (self.progress, self.since) = (progress, Instant::now());
        }
        self.since.elapsed() > self.patience
    }
}

#[cfg(test)]
mod tests {
    use super::Deadline;
    use std::time::Duration;

    #[test]
    fn only_what_is_awaited_puts_the_end_off() {
        let mut deadline = Deadline::new(Duration::ZERO);
        std::thread::sleep(Duration::from_millis(1));
        assert!(deadline.has_passed(0));
        let mut deadline = Deadline::new(Duration::from_secs(3600));
        assert!(!deadline.has_passed(0) && !deadline.has_passed(1));
        deadline.patience = Duration::ZERO;
        std::thread::sleep(Duration::from_millis(1));
        assert!(deadline.has_passed(1), "nothing more has come");
    }
}
