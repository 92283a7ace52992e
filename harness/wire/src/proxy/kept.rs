//! What is kept of a body without a coding: its bytes, whether they are text, and when each block of an event stream ended.
//!
//! Secrets are taken out before any of it is written: of an event stream from each block, of any other body at its end,
//! since it is one JSON text. What is not JSON and could hold anything is withheld, with a marker in its place. Memory:
//! [`IN_MEMORY`] for each body and for its blocks, then temporary files; with redaction [`LONGEST`], and what is longer is
//! withheld and counted.

use crate::http::EVENTS;
use crate::interrupt;
use crate::redaction::{MARKER, Redaction};
use crate::utf8::Utf8;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;
use tempfile::SpooledTempFile;
use transcript::json::write_string;

/// Up to this size a body waits in memory.
const IN_MEMORY: usize = 64 << 10;

/// The longest body, or block of a stream, that is looked into for secrets.
pub(super) const LONGEST: usize = 16 << 20;

/// How much of a body is copied at a time.
pub(super) const BLOCK: usize = 64 << 10;

/// What is kept of a body.
#[derive(Debug)]
pub(super) struct KeptBody {
    spool: SpooledTempFile,
    pub(super) size: u64,
    text: Utf8,
    /// The blocks of an event stream; none where it is another body.
    blocks: Option<Blocks>,
    /// The time of the part that comes.
    pub(super) now: Duration,
    /// Where something is to be taken out.
    redactor: Option<Redactor>,
    /// No more than this is taken.
    pub(super) most: u64,
    /// How many bytes came.
    came: u64,
    /// More came than may be taken.
    pub(super) is_full: bool,
}

/// What is held of a body until it is known which of it may be kept.
#[derive(Debug)]
struct Redactor {
    redaction: Arc<Redaction>,
    media_type: String,
    held: Vec<u8>,
    /// Bytes that were too many to be looked into.
    lost: u64,
    /// What is at hand is too long: it goes on being withheld.
    is_over: bool,
}

impl Default for KeptBody {
    fn default() -> Self {
        Self {
            spool: SpooledTempFile::new(IN_MEMORY),
            size: 0,
            text: Utf8::default(),
            blocks: None,
            now: Duration::ZERO,
            redactor: None,
            most: u64::MAX,
            came: 0,
            is_full: false,
        }
    }
}

impl KeptBody {
    /// Of a body of this media type, of which nothing came yet.
    pub(super) fn new(media_type: &str, redaction: &Arc<Redaction>) -> Self {
        let is_stream = media_type.trim_start().to_ascii_lowercase().starts_with(EVENTS);
        let redactor = redaction.is_asked().then(|| Redactor {
            redaction: Arc::clone(redaction),
            media_type: media_type.to_owned(),
            held: Vec::new(),
            lost: 0,
            is_over: false,
        });
        Self { blocks: is_stream.then(Blocks::default), redactor, ..Self::default() }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.blocks.is_some()
    }

    pub(super) fn is_redacted(&self) -> bool {
        self.redactor.is_some()
    }

    /// Nothing more comes: what was held is let go. How many bytes were withheld since they were too many.
    pub(super) fn finish(&mut self) -> (u64, io::Result<()>) {
        let rest = self.release();
        let mut kept = self.keep(&rest);
        // A comment in place of what was cut off is a block.
        if rest.ends_with(b"\n\n") {
            kept = kept.and_then(|()| self.list_block());
        }
        (self.redactor.as_mut().map_or(0, |redactor| std::mem::take(&mut redactor.lost)), kept)
    }

    fn take(&mut self, part: &[u8]) -> io::Result<()> {
        let Some(redactor) = &mut self.redactor else { return self.keep(part) };
        redactor.is_over |= redactor.held.len() + part.len() > LONGEST;
        if redactor.is_over {
            redactor.lost += (redactor.held.len() + part.len()) as u64;
            redactor.held = Vec::new();
        } else {
            redactor.held.extend_from_slice(part);
        }
        Ok(())
    }

    /// What may be kept of what is held.
    fn release(&mut self) -> Vec<u8> {
        let is_stream = self.is_stream();
        let Some(Redactor { redaction, media_type, held, is_over, .. }) = &mut self.redactor else {
            return Vec::new();
        };
        let held = std::mem::take(held);
        let released = match std::mem::take(is_over) {
            // A comment keeps the place in a stream; a body that is not there is one that readers count as missing.
            true if is_stream => format!(": {MARKER}\n\n"),
            false if is_stream && !held.is_empty() => redaction.event(&held),
            false if !held.is_empty() => redaction.body(media_type, &held),
            _ => String::new(),
        };
        released.into_bytes()
    }

    fn keep(&mut self, part: &[u8]) -> io::Result<()> {
        self.spool.write_all(part)?;
        self.size += part.len() as u64;
        self.text.feed(part);
        Ok(())
    }

    fn list_block(&mut self) -> io::Result<()> {
        self.blocks.as_mut().map_or(Ok(()), |blocks| blocks.list(self.size, self.now))
    }

    /// Writes `, "text": …` and, where it is not text, `, "encoding": "base64"`.
    pub(super) fn write_text(&mut self, out: &mut impl Write) -> io::Result<()> {
        self.spool.seek(SeekFrom::Start(0))?;
        out.write_all(b", \"text\": \"")?;
        if self.text.is_text() {
            escaped(&mut self.spool, self.size, out)?;
            out.write_all(b"\"")?;
        } else {
            let mut encoder = EncoderWriter::new(&mut *out, &STANDARD);
            io::copy(&mut self.spool, &mut encoder)?;
            encoder.finish()?;
            drop(encoder);
            out.write_all(b"\", \"encoding\": \"base64\"")?;
        }
        self.spool.seek(SeekFrom::End(0)).map(drop)
    }

    /// Writes where each block of a stream begins and when it came, as members of a list.
    pub(super) fn write_blocks(&mut self, out: &mut impl Write) -> io::Result<()> {
        let Some(Blocks { listed, .. }) = &mut self.blocks else { return Ok(()) };
        listed.seek(SeekFrom::Start(0))?;
        io::copy(listed, out)?;
        listed.seek(SeekFrom::End(0)).map(drop)
    }
}

impl Write for KeptBody {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        self.came += part.len() as u64;
        self.is_full |= self.came > self.most;
        if self.is_full {
            return Err(io::Error::other("it is too large without its coding"));
        }
        if interrupt::is_overdue() {
            return Err(io::Error::other("the recorder was asked to end"));
        }
        let mut rest = part;
        while let Some(end) = self.blocks.as_mut().and_then(|blocks| blocks.end_in(rest)) {
            let (block, behind) = rest.split_at(end);
            self.take(block)?;
            let released = self.release();
            self.keep(&released)?;
            self.list_block()?;
            rest = behind;
        }
        self.take(rest)?;
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies text as the inside of a JSON string, which it may be cut for anywhere.
fn escaped(from: &mut SpooledTempFile, size: u64, out: &mut impl Write) -> io::Result<()> {
    // One byte more, so that the end is read too.
    let block = usize::try_from(size).map_or(BLOCK, |size| BLOCK.min(size + 1));
    let (mut block, mut text) = (vec![0; block], Vec::new());
    loop {
        let read = from.read(&mut block)?;
        if read == 0 {
            return Ok(());
        }
        text.clear();
        write_string(&block[..read], &mut text);
        out.write_all(&text[1..text.len() - 1])?;
    }
}

/// When the blocks of an event stream ended: after the empty line, as WHATWG has it.
#[derive(Debug)]
struct Blocks {
    /// The members of the list, as JSON.
    listed: SpooledTempFile,
    count: u64,
    /// Where the block begins.
    begin: u64,
    /// The block has no line yet.
    is_empty: bool,
    line_is_empty: bool,
    after_cr: bool,
}

impl Default for Blocks {
    fn default() -> Self {
        let listed = SpooledTempFile::new(IN_MEMORY);
        Self { listed, count: 0, begin: 0, is_empty: true, line_is_empty: true, after_cr: false }
    }
}

impl Blocks {
    /// How many of these bytes belong to the block that ends in them; none where it goes on.
    fn end_in(&mut self, bytes: &[u8]) -> Option<usize> {
        for (at, &byte) in bytes.iter().enumerate() {
            let ends_pair = std::mem::replace(&mut self.after_cr, byte == b'\r') && byte == b'\n';
            if ends_pair {
                // A block that ended with the first half begins behind the second.
                self.begin += u64::from(self.is_empty);
                continue;
            }
            let ends_line = matches!(byte, b'\n' | b'\r');
            if ends_line && std::mem::replace(&mut self.line_is_empty, ends_line) {
                return Some(at + 1);
            }
            (self.line_is_empty, self.is_empty) = (ends_line, false);
        }
        None
    }

    /// Lists the block that ends at this place and time.
    fn list(&mut self, end: u64, now: Duration) -> io::Result<()> {
        if !std::mem::replace(&mut self.is_empty, true) {
            let comma = if self.count == 0 { "" } else { ", " };
            let time = milliseconds(now);
            write!(self.listed, "{comma}{{\"at\": {}, \"time\": {time}}}", self.begin)?;
            self.count += 1;
        }
        self.begin = end;
        Ok(())
    }
}

/// A time since the recording began, in milliseconds with three decimals, as HAR counts.
pub(super) fn milliseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_millis(), time.as_micros() % 1000)
}
