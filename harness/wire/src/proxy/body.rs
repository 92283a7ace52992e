//! One body as the archive has it: as text or Base64, with the time of each block of an event stream.
//!
//! A body that is far larger without its coding is kept with it: see [`DECODED`] and [`RATIO`]. Memory: [`IN_MEMORY`] for
//! each open body, and for its coded form, then temporary files; with redaction, what [`super::body_redactor`] holds.

use super::body_redactor::BodyRedactor;
use super::sse_blocks::{Byte, Scanner};
use crate::http::header;
use crate::redaction::Redaction;
use crate::utf8::Utf8;
use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderWriter;
use flate2::write::MultiGzDecoder;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::sync::Arc;
use std::time::Duration;
use tempfile::SpooledTempFile;
use transcript::json::write_string;

/// Up to this size a body waits in memory.
const IN_MEMORY: usize = 64 << 10;

/// A body is kept with its coding where it is larger without it than this, and than [`RATIO`] times its coded size: a
/// megabyte of gzip may hold a gigabyte.
const DECODED: u64 = 16 << 20;

/// See [`DECODED`].
const RATIO: u64 = 100;

/// So much of a body is copied at a time.
const BLOCK: usize = 64 << 10;

/// A body of which parts come.
#[derive(Debug)]
pub(super) struct Body {
    body: Coding,
    /// Bytes that passed and are not kept.
    pub(super) lost: u64,
}

#[derive(Debug)]
enum Coding {
    Plain(Box<Plain>),
    Gzip(Box<Gzip>),
    /// With its coding.
    Coded(Box<Plain>),
}

#[derive(Debug)]
struct Gzip {
    decoder: MultiGzDecoder<Plain>,
    /// What came, as long as nobody knows whether it is to be kept so.
    coded: Box<Plain>,
}

/// A body without a coding.
#[derive(Debug)]
struct Plain {
    spool: SpooledTempFile,
    size: u64,
    text: Utf8,
    /// The blocks of an event stream; none where it is no such stream.
    blocks: Option<Blocks>,
    now: Duration,
    /// Where something is to be taken out.
    redactor: Option<Box<BodyRedactor>>,
    /// No more than this is taken.
    most: u64,
}

impl Body {
    /// A body with these headers, of which nothing came yet.
    pub(super) fn new(headers: &[(String, String)], redaction: &Arc<Redaction>) -> Self {
        let value = |name: &str| header(headers, name);
        let stream = value("content-type").is_some_and(|it| it.trim_start().starts_with("text/event-stream"));
        let plain = Plain {
            blocks: stream.then(Blocks::default),
            redactor: redaction
                .is_asked()
                .then(|| Box::new(BodyRedactor::new(redaction, value("content-type").unwrap_or_default()))),
            ..Plain::new()
        };
        let body = match value("content-encoding") {
            Some(coding) if coding.eq_ignore_ascii_case("gzip") => {
                let decoder = MultiGzDecoder::new(plain);
                Coding::Gzip(Box::new(Gzip { decoder, coded: Box::new(Plain::new()) }))
            }
            _ => Coding::Plain(Box::new(plain)),
        };
        Self { body, lost: 0 }
    }

    /// Takes a part, which came at `now` in the time of its exchange. What cannot be kept is counted.
    ///
    /// # Errors
    /// Where it could not be: no room in the temporary file, or a coding that is broken.
    pub(super) fn take(&mut self, part: &[u8], now: Duration) -> io::Result<()> {
        let kept = match &mut self.body {
            Coding::Plain(plain) | Coding::Coded(plain) => {
                plain.now = now;
                plain.write_all(part)
            }
            Coding::Gzip(gzip) => {
                let taken = gzip.take(part, now);
                // Of what is to be redacted nothing may stay that cannot be looked into; it is bounded there.
                if gzip.is_bomb() {
                    let coded = std::mem::replace(&mut gzip.coded, Box::new(Plain::new()));
                    self.body = Coding::Coded(coded);
                    Ok(())
                } else {
                    taken
                }
            }
        };
        if kept.is_err() {
            self.lost += part.len() as u64;
        }
        kept
    }

    /// Nothing more comes: what was held is let go.
    ///
    /// # Errors
    /// Where it could not be kept.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let plain = self.plain();
        let Some(mut redactor) = plain.redactor.take() else { return Ok(()) };
        let rest = redactor.finish();
        let done = plain.keep(&rest);
        self.lost += redactor.lost;
        done
    }

    fn plain(&mut self) -> &mut Plain {
        match &mut self.body {
            Coding::Plain(plain) | Coding::Coded(plain) => plain,
            Coding::Gzip(gzip) => gzip.decoder.get_mut(),
        }
    }

    /// How many bytes there are, without their coding where they are kept without.
    pub(super) fn size(&self) -> u64 {
        match &self.body {
            Coding::Plain(plain) | Coding::Coded(plain) => plain.size,
            Coding::Gzip(gzip) => gzip.decoder.get_ref().size,
        }
    }

    /// Whether it is kept with its coding, since it would be too large without.
    pub(super) fn is_coded(&self) -> bool {
        matches!(self.body, Coding::Coded(_))
    }

    /// Writes `, "text": …` and, where it is no text, `, "encoding": "base64"`; nothing where nothing came. An event stream
    /// has its text even so: without one it would look like a stream that an exporter dropped.
    ///
    /// # Errors
    /// Where it cannot be written, or not be read back.
    pub(super) fn write_text(&mut self, out: &mut impl Write) -> io::Result<()> {
        let whole = self.lost == 0;
        let plain = self.plain();
        if plain.size == 0 {
            return if whole && plain.blocks.is_some() { out.write_all(b", \"text\": \"\"") } else { Ok(()) };
        }
        let is_text = plain.text.is_text();
        plain.spool.seek(SeekFrom::Start(0))?;
        out.write_all(b", \"text\": \"")?;
        if is_text {
            escaped(&mut plain.spool, plain.size, out)?
        } else {
            coded(&mut plain.spool, out)?
        }
        out.write_all(if is_text { b"\"" } else { b"\", \"encoding\": \"base64\"" })?;
        plain.spool.seek(SeekFrom::End(0))?;
        Ok(())
    }

    /// Writes `, "_events": […]`: when each block of a stream came; of any other body, when it was whole, at `whole`.
    ///
    /// # Errors
    /// Where it cannot be written, or not be read back.
    pub(super) fn write_blocks(&mut self, whole: Duration, out: &mut impl Write) -> io::Result<()> {
        let plain = self.plain();
        let Some(blocks) = &mut plain.blocks else {
            let time = milliseconds(whole);
            return match plain.size {
                0 => Ok(()),
                _ => write!(out, ",\n \"_events\": [{{\"at\": 0, \"time\": {time}}}]"),
            };
        };
        out.write_all(b",\n \"_events\": [")?;
        blocks.listed.seek(SeekFrom::Start(0))?;
        io::copy(&mut blocks.listed, out)?;
        blocks.listed.seek(SeekFrom::End(0))?;
        out.write_all(b"]")
    }
}

impl Gzip {
    fn take(&mut self, part: &[u8], now: Duration) -> io::Result<()> {
        let plain = self.decoder.get_mut();
        plain.now = now;
        if plain.redactor.is_none() {
            self.coded.now = now;
            self.coded.keep(part)?;
            plain.most = DECODED.max(RATIO * self.coded.size);
        }
        // What is decoded must be seen now: an event is not the next one's to bring.
        self.decoder.write_all(part).and_then(|()| self.decoder.flush())
    }

    fn is_bomb(&self) -> bool {
        let plain = self.decoder.get_ref();
        plain.size >= plain.most
    }
}

impl Plain {
    fn new() -> Self {
        Self {
            spool: SpooledTempFile::new(IN_MEMORY),
            size: 0,
            text: Utf8::default(),
            blocks: None,
            now: Duration::ZERO,
            redactor: None,
            most: u64::MAX,
        }
    }

    fn keep(&mut self, part: &[u8]) -> io::Result<()> {
        if part.len() as u64 > self.most - self.size {
            self.size = self.most;
            return Err(io::Error::other("it is too large without its coding"));
        }
        self.spool.write_all(part)?;
        if let Some(blocks) = &mut self.blocks {
            blocks.take(part, self.size, self.now)?;
        }
        self.size += part.len() as u64;
        self.text.feed(part);
        Ok(())
    }
}

impl Write for Plain {
    fn write(&mut self, part: &[u8]) -> io::Result<usize> {
        match &mut self.redactor {
            Some(redactor) => {
                let ready = redactor.take(part);
                self.keep(&ready)?;
            }
            None => self.keep(part)?,
        }
        Ok(part.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Copies text as the inside of a JSON string.
fn escaped(from: &mut SpooledTempFile, size: u64, out: &mut impl Write) -> io::Result<()> {
    // One byte more, so that the end is read too.
    let block = usize::try_from(size).map_or(BLOCK, |size| BLOCK.min(size + 1));
    let (mut block, mut text) = (vec![0; block], Vec::new());
    let mut held = 0;
    loop {
        let read = from.read(&mut block[held..])?;
        if read == 0 {
            return Ok(());
        }
        let filled = &block[..held + read];
        let whole = match std::str::from_utf8(filled) {
            Ok(_) => filled.len(),
            Err(error) => error.valid_up_to(),
        };
        text.clear();
        write_string(&filled[..whole], &mut text);
        out.write_all(&text[1..text.len() - 1])?;
        let end = held + read;
        block.copy_within(whole..end, 0);
        held = end - whole;
    }
}

fn coded(from: &mut SpooledTempFile, out: &mut impl Write) -> io::Result<()> {
    let mut encoder = EncoderWriter::new(out, &STANDARD);
    io::copy(from, &mut encoder)?;
    encoder.finish().map(drop)
}

/// When the blocks of an event stream ended: after the empty line, as WHATWG has it.
#[derive(Debug)]
struct Blocks {
    /// The members of the list, as JSON.
    listed: SpooledTempFile,
    count: u64,
    /// Where the block begins.
    begin: u64,
    scanner: Scanner,
}

impl Default for Blocks {
    fn default() -> Self {
        let listed = SpooledTempFile::new(IN_MEMORY);
        Self { listed, count: 0, begin: 0, scanner: Scanner::default() }
    }
}

impl Blocks {
    fn take(&mut self, part: &[u8], start: u64, now: Duration) -> io::Result<()> {
        for (at, &byte) in (start..).zip(part) {
            match self.scanner.next(byte) {
                // A block that ended with the first half begins behind the second.
                Byte::SecondHalf if self.begin == at => self.begin = at + 1,
                Byte::BlockEnd => {
                    if self.begin < at {
                        let comma = if self.count == 0 { "" } else { ", " };
                        let time = milliseconds(now);
                        write!(self.listed, "{comma}{{\"at\": {}, \"time\": {time}}}", self.begin)?;
                        self.count += 1;
                    }
                    self.begin = at + 1;
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A time since the recording began, in milliseconds with three decimals, as HAR counts.
pub(super) fn milliseconds(time: Duration) -> String {
    format!("{}.{:03}", time.as_millis(), time.as_micros() % 1000)
}

#[cfg(test)]
mod tests;
