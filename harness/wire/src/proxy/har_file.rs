//! The file of an archive, which begins with a whole HAR at any time, and is nothing else once a write is done.
//!
//! Finished exchanges come first and are never touched again; those that are open follow them, and are written
//! again and again. New text goes behind the tail (`]}}`); when it is there with a tail of its own, the old tail becomes
//! a comma, in one small write. So a kill at any moment leaves a whole archive, and perhaps some bytes behind it; a disk
//! that fills leaves the archive as it was, once those bytes are cut off.
//!
//! Where open exchanges are in the file, the new text overwrites them; therefore what is shown of them is first copied
//! to a place further behind. A reader that looks for whole entries, and takes the last of each, finds all of them
//! whenever the kill came ([`formats::salvage`]).

use super::events::QueueEnd;
use super::exchange::Exchange;
use jiff::{Timestamp, tz::TimeZone};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write};
use std::time::Duration;

/// How much text of open exchanges is written before they end.
pub(super) const OPEN: u64 = 1 << 20;

/// See [`HarFile::shows_much`].
const MUCH: u64 = 16 << 10;

/// How much is gathered for one write.
const BLOCK: usize = 256 << 10;

/// The end of a whole archive.
const TAIL: &[u8; 5] = b"\n]}}\n";

/// An archive of nothing.
pub(crate) const EMPTY: &str = concat!(
    "{\"log\": {\"version\": \"1.2\", \"creator\": {\"name\": \"mcp-concord\", \"version\": \"",
    env!("CARGO_PKG_VERSION"),
    "\"}, \"entries\": [\n]}}\n"
);

/// What comes in its place when more follows: before the first exchange, and before every other one. An exchange begins
/// with a line, and no other line of it begins so.
const FIRST: &[u8; 5] = b"    \n";
const NEXT: &[u8; 5] = b",   \n";

/// What an archive is written to: a file, or what a test has in its place.
pub(super) trait Store {
    /// Writes some of the bytes at this place; how many.
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize>;
    fn set_len(&self, length: u64) -> io::Result<()>;
    fn length(&self) -> io::Result<u64>;
}

impl Store for File {
    fn write_at(&self, at: u64, bytes: &[u8]) -> io::Result<usize> {
        let mut file = self;
        file.seek(SeekFrom::Start(at))?;
        file.write(bytes)
    }

    fn set_len(&self, length: u64) -> io::Result<()> {
        File::set_len(self, length)
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.metadata()?.len())
    }
}

/// An archive that is written while its exchanges pass.
pub(super) struct HarFile<'t> {
    file: &'t dyn Store,
    receiver: &'t QueueEnd,
    origin: Timestamp,
    /// Where the tail of the finished exchanges is, or would be; none until the head is written.
    end: Option<u64>,
    /// How long the file is with the open exchanges; none where they are not in it.
    shown: Option<u64>,
    /// How many finished exchanges there are.
    pub(super) count: u64,
    /// How many there were when another program shortened the file, if one did.
    pub(super) cut: Option<u64>,
}

/// What is to be written.
pub(super) struct News<'e> {
    pub(super) finished: &'e mut [Exchange],
    pub(super) open: Vec<&'e mut Exchange>,
}

impl<'t> HarFile<'t> {
    pub(super) fn new(file: &'t dyn Store, receiver: &'t QueueEnd, origin: Timestamp) -> Self {
        Self { file, receiver, origin, end: None, shown: None, count: 0, cut: None }
    }

    /// Whether the file has too much of open exchanges to write it anew for each one that ends.
    pub(super) fn shows_much(&self) -> bool {
        self.shown.zip(self.end).is_some_and(|(length, end)| length - end > MUCH)
    }

    /// Writes the head of the archive, where it is not there yet or not any more.
    /// Where that fails, the file is empty.
    pub(super) fn begin(&mut self) -> io::Result<u64> {
        if let Some(end) = self.end {
            if self.file.length()? >= end + TAIL.len() as u64 {
                return Ok(end);
            }
            self.cut = Some(self.cut.unwrap_or(0) + std::mem::take(&mut self.count));
            (self.end, self.shown) = (None, None);
            self.file.set_len(0)?;
        }
        let written = self.put(0, EMPTY.as_bytes());
        if written.is_err() {
            self.file.set_len(0)?;
        }
        written?;
        Ok(*self.end.insert((EMPTY.len() - TAIL.len()) as u64))
    }

    /// Writes finished exchanges behind the others, and the open ones behind them.
    /// Where that fails, none of them is in the file, which is a whole archive of those before.
    pub(super) fn write(&mut self, mut news: News<'_>) -> io::Result<()> {
        let end = self.begin()?;
        let kept = match self.shown {
            Some(length) => self.keep_safe(end, length, &mut news)?,
            None => false,
        };
        let behind = end + TAIL.len() as u64;
        if self.shown.take().is_some() {
            self.put(end, TAIL)?;
            if !kept {
                self.file.set_len(behind)?;
            }
        }
        let written = self.text_at(behind, Extent::All, &mut news);
        let cut = written.and_then(|places| self.file.set_len(places.1).map(|()| places));
        if cut.is_err() {
            // On a full disk there is room to cut.
            self.file.set_len(behind)?;
        }
        let (finished, length) = cut?;
        if length > behind + TAIL.len() as u64 {
            self.put(end, if self.count == 0 { FIRST } else { NEXT })?;
        } else {
            self.file.set_len(behind)?;
        }
        self.count += news.finished.len() as u64;
        if !news.finished.is_empty() {
            self.end = Some(finished);
        }
        self.shown = Some(length).filter(|_| !news.open.is_empty());
        Ok(())
    }

    /// Copies what the file shows of exchanges that were open to where nothing is written over it. Whether there was room;
    /// without it the next text is not written any later for that.
    fn keep_safe(&self, end: u64, length: u64, news: &mut News<'_>) -> io::Result<bool> {
        let mut size = Placed { file: None, gathered: Vec::new(), at: 0 };
        self.text(news, Extent::All, &mut size)?;
        let room = 2 * TAIL.len() as u64;
        let place = length.max(end + size.at + 2 * room);
        let copied = self.put(place, NEXT).and_then(|()| self.text_at(place + room / 2, Extent::Shown, news));
        if copied.is_err() {
            self.file.set_len(length)?;
        }
        Ok(copied.is_ok())
    }

    /// Writes the exchanges at this place: where the finished ones end, and where the tail does.
    fn text_at(&self, at: u64, part: Extent, news: &mut News<'_>) -> io::Result<(u64, u64)> {
        let mut out = self.behind(at);
        let finished = self.text(news, part, &mut out)?;
        out.flush()?;
        Ok((finished, out.at))
    }

    /// Writes the exchanges: where the finished ones end.
    fn text(&self, news: &mut News<'_>, part: Extent, out: &mut Placed<'_>) -> io::Result<u64> {
        let mut is_first = true;
        let mut put = |exchange: &mut Exchange, bodies: bool, out: &mut Placed<'_>| {
            if !std::mem::take(&mut is_first) {
                out.write_all(NEXT)?;
            }
            exchange.write(&self.date(exchange.started), bodies, out)
        };
        for exchange in &mut *news.finished {
            if part == Extent::All || exchange.size() <= OPEN {
                put(exchange, true, out)?;
            }
        }
        let finished = out.at;
        let mut left = OPEN;
        for exchange in &mut news.open {
            let fits = exchange.size() <= left;
            left -= if fits { exchange.size() } else { 0 };
            put(exchange, fits, out)?;
        }
        out.write_all(TAIL)?;
        Ok(finished)
    }

    fn behind(&self, at: u64) -> Placed<'_> {
        Placed { file: Some((self.file, self.receiver)), gathered: Vec::new(), at }
    }

    fn put(&self, at: u64, text: &[u8]) -> io::Result<()> {
        let mut out = self.behind(at);
        out.write_all(text)?;
        out.flush()
    }

    /// ISO 8601 in UTC, to the microsecond.
    fn date(&self, at: Duration) -> String {
        let time = self.origin.saturating_add(at).unwrap_or(self.origin).to_zoned(TimeZone::UTC);
        format!("{:.6}Z", time.datetime())
    }
}

/// Which exchanges are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    All,
    /// Those whose content the file may have shown while they were open.
    Shown,
}

/// Writes from some place on, in blocks; without a file, only counts. A block that fails is not tried again. The file's
/// time is kept apart from that of this program.
struct Placed<'w> {
    file: Option<(&'w dyn Store, &'w QueueEnd)>,
    /// What is not in the file yet.
    gathered: Vec<u8>,
    /// Where all that was written ends.
    at: u64,
}

impl Write for Placed<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.is_some() {
            self.gathered.extend_from_slice(bytes);
        }
        self.at += bytes.len() as u64;
        if self.gathered.len() >= BLOCK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let gathered = std::mem::take(&mut self.gathered);
        let Some((file, receiver)) = self.file else { return Ok(()) };
        let (mut at, mut rest) = (self.at - gathered.len() as u64, &gathered[..]);
        while !rest.is_empty() {
            let count = receiver.in_file(|| file.write_at(at, rest))?;
            (at, rest) = (at + count as u64, &rest[count..]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
