//! Forwards bytes from one end to the other, unmodified and unbuffered. What is read is kept before it is forwarded,
//! and an end that closes is seen on the other side.

use super::intake::Intake;
use std::fs::File;
use std::io::{self, PipeReader, Write as _};
use std::sync::Arc;
use std::time::Duration;
use transcript::session::Side;

/// So long may nothing come, after the server has ended, until its output is taken for complete although some process
/// that it left behind still holds it open.
const QUIET: Duration = Duration::from_millis(200);

/// One way through the recorder. Both ends close when it is over.
pub(super) struct Pump {
    pub(super) side: Side,
    pub(super) from: File,
    pub(super) to: File,
    pub(super) intake: Arc<Intake>,
    /// Closes when the server has ended.
    pub(super) over: Option<PipeReader>,
}

impl Pump {
    /// Forwards to the end.
    pub(super) fn run(mut self) {
        loop {
            match ready::next(&self.from, &self.to, self.over.as_ref(), None) {
                Next::Data => {}
                Next::Broken | Next::Quiet => break,
                Next::Over => {
                    self.drain();
                    break;
                }
            }
            if !self.forward() {
                break;
            }
        }
        self.intake.end(self.side);
    }

    /// Forwards what is still there.
    fn drain(&mut self) {
        while ready::next(&self.from, &self.to, None, Some(QUIET)) == Next::Data && self.forward() {}
    }

    /// Forwards one chunk. Whether more may come.
    fn forward(&mut self) -> bool {
        let mut chunk = self.intake.chunk();
        match chunk.fill(&mut self.from) {
            Ok(0) => false,
            Ok(_) => {
                let chunk = Arc::new(chunk);
                self.intake.keep(self.side, &chunk);
                let passed = self.pass_on(&chunk).is_ok();
                self.intake.recycle(chunk);
                passed
            }
            Err(error) => matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock),
        }
    }

    fn pass_on(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.to.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The other end was set so by whoever made it.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => ready::for_more(&self.to),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "without poll there is no other"))]
enum Next {
    /// Something can be read, or the end is there.
    Data,
    /// Nobody reads what would be written.
    Broken,
    /// The server has ended.
    Over,
    /// Nothing came in time.
    Quiet,
}

#[cfg(unix)]
mod ready {
    use super::Next;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::fs::File;
    use std::io::PipeReader;
    use std::time::Duration;

    /// Waits for whatever comes first. An output that is read before the server's end is noticed is whole.
    pub(super) fn next(from: &File, to: &File, over: Option<&PipeReader>, time: Option<Duration>) -> Next {
        let time = time.and_then(|time| Timespec::try_from(time).ok());
        loop {
            let third = match over {
                Some(over) => PollFd::new(over, PollFlags::IN),
                None => PollFd::new(to, PollFlags::empty()),
            };
            let mut ends = [PollFd::new(from, PollFlags::IN), PollFd::new(to, PollFlags::empty()), third];
            match poll(&mut ends, time.as_ref()) {
                Ok(0) => return Next::Quiet,
                Err(rustix::io::Errno::INTR) => continue,
                // The reading itself will tell.
                Err(_) => return Next::Data,
                Ok(_) => {}
            }
            return match [0, 1].map(|end| ends[end].revents()) {
                [_, to] if to.intersects(PollFlags::ERR | PollFlags::HUP) => Next::Broken,
                [from, _] if !from.is_empty() => Next::Data,
                _ => Next::Over,
            };
        }
    }

    /// Waits until something can be written.
    pub(super) fn for_more(to: &File) {
        let _ = poll(&mut [PollFd::new(to, PollFlags::OUT)], None);
    }
}

#[cfg(not(unix))]
mod ready {
    use super::Next;
    use std::fs::File;
    use std::io::PipeReader;
    use std::time::Duration;

    /// The reading itself waits.
    pub(super) fn next(_: &File, _: &File, _: Option<&PipeReader>, _: Option<Duration>) -> Next {
        Next::Data
    }

    pub(super) fn for_more(_: &File) {
        std::thread::yield_now();
    }
}
