//! Forwards bytes from one end to the other, unmodified and unbuffered. What is read is kept before it is forwarded,
//! and an end that closes is seen on the other side.

use super::intake::Intake;
#[cfg(unix)]
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs::File;
use std::io::{self, PipeReader, Read as _, Write as _};
use std::sync::Arc;
use std::time::Duration;
use transcript::session::Side;

/// How much is read at a time.
const CHUNK: usize = 256 << 10;

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
    /// Why the other end takes nothing more, although it is not closed.
    pub(super) full: Option<io::Error>,
}

impl Pump {
    /// Forwards to the end; or to where an output takes nothing more, although somebody may read it.
    pub(super) fn run(mut self) -> io::Result<()> {
        let mut chunk = vec![0; CHUNK];
        loop {
            match next(&self.from, &self.to, self.over.as_ref(), None) {
                Ready::Data => {}
                Ready::Broken => {
                    self.intake.gone(self.side.other());
                    break;
                }
                Ready::Quiet => break,
                Ready::Over => {
                    // What is still there.
                    while next(&self.from, &self.to, None, Some(QUIET)) == Ready::Data
                        && self.forward(&mut chunk)
                    {}
                    break;
                }
            }
            if !self.forward(&mut chunk) {
                break;
            }
        }
        self.intake.end(self.side);
        self.full.map_or(Ok(()), Err)
    }

    /// Forwards what one read gives. Whether more may come.
    fn forward(&mut self, chunk: &mut [u8]) -> bool {
        match self.from.read(chunk) {
            Ok(0) => {
                self.intake.gone(self.side);
                false
            }
            Ok(count) => {
                self.intake.keep(self.side, &chunk[..count]);
                let passed =
                    self.pass_on(&chunk[..count]).inspect_err(|_| self.intake.gone(self.side.other()));
                let is_passed = passed.is_ok();
                self.full = passed.err().filter(|error| error.kind() != io::ErrorKind::BrokenPipe);
                is_passed
            }
            Err(error) => matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock),
        }
    }

    fn pass_on(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.to.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                // The program that made the other end set it so.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => wait_for_room(&self.to),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// What may be done next.
#[derive(Debug, PartialEq, Eq)]
#[cfg_attr(not(unix), expect(dead_code, reason = "without poll there is no other"))]
enum Ready {
    /// Something can be read, or the end is there.
    Data,
    /// Nobody reads what would be written.
    Broken,
    /// The server has ended.
    Over,
    /// Nothing came in time.
    Quiet,
}

/// Waits for whatever comes first. An output that is read before the server's end is noticed is whole.
#[cfg(unix)]
fn next(from: &File, to: &File, over: Option<&PipeReader>, time: Option<Duration>) -> Ready {
    let time = time.and_then(|time| Timespec::try_from(time).ok());
    loop {
        let third = match over {
            Some(over) => PollFd::new(over, PollFlags::IN),
            None => PollFd::new(to, PollFlags::empty()),
        };
        let mut ends = [PollFd::new(from, PollFlags::IN), PollFd::new(to, PollFlags::empty()), third];
        match poll(&mut ends, time.as_ref()) {
            Ok(0) => return Ready::Quiet,
            Err(rustix::io::Errno::INTR) => continue,
            // The reading itself will tell.
            Err(_) => return Ready::Data,
            Ok(_) => {}
        }
        return match [0, 1].map(|end| ends[end].revents()) {
            [_, to] if to.intersects(PollFlags::ERR | PollFlags::HUP) => Ready::Broken,
            [from, _] if !from.is_empty() => Ready::Data,
            _ => Ready::Over,
        };
    }
}

/// The reading itself waits.
#[cfg(not(unix))]
fn next(_: &File, _: &File, _: Option<&PipeReader>, _: Option<Duration>) -> Ready {
    Ready::Data
}

/// Waits until something can be written.
fn wait_for_room(to: &File) {
    #[cfg(unix)]
    let _ = poll(&mut [PollFd::new(to, PollFlags::OUT)], None);
    #[cfg(not(unix))]
    {
        let _ = to;
        std::thread::yield_now();
    }
}
