//! One body as the archive has it: as text or Base64, with the time of each block of an event stream.
//!
//! A body that is far larger without its coding is kept with it: see [`formats::unpacking`]; with redaction
//! the rest of it is withheld. Memory: that of [`super::kept`]
//! for each open body, and for its coded form.

use super::kept::{KeptBody, milliseconds};
use crate::http::{EVENTS, End, JSON, header};
use crate::redaction::Redaction;
use flate2::write::MultiGzDecoder;
use formats::unpacking::most_of;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

/// A body of which parts come.
#[derive(Debug)]
pub(super) struct Body {
    coding: Coding,
    /// Its head announces a stream or JSON, so that nothing is said where nothing came.
    announced: bool,
    /// Bytes that passed and are not kept.
    pub(super) lost: u64,
    pub(super) end: Option<End>,
}

#[derive(Debug)]
enum Coding {
    Plain(Box<KeptBody>),
    Gzip {
        decoder: Box<MultiGzDecoder<KeptBody>>,
        /// The bytes so far, while it is open whether they are to be kept so.
        coded: Box<KeptBody>,
        /// How many bytes came.
        packed: u64,
    },
    /// With its coding.
    Coded(Box<KeptBody>),
}

impl Body {
    /// A body with these headers, of which nothing came yet.
    pub(super) fn new(headers: &[(String, String)], redaction: &Arc<Redaction>) -> Self {
        let media_type = header(headers, "content-type").unwrap_or_default();
        let kept = KeptBody::new(media_type, redaction);
        let named = media_type.trim_start().to_ascii_lowercase();
        let announced = [EVENTS, JSON].iter().any(|known| named.starts_with(known));
        let coding = match header(headers, "content-encoding") {
            Some(coding) if coding.eq_ignore_ascii_case("gzip") => Coding::Gzip {
                decoder: Box::new(MultiGzDecoder::new(kept)),
                coded: Box::default(),
                packed: 0,
            },
            _ => Coding::Plain(Box::new(kept)),
        };
        Self { coding, announced, lost: 0, end: None }
    }

    /// Takes a part, which came at `now` in the time of its exchange. What cannot be kept is counted, and reported: there is
    /// no room in the temporary file, or the coding is broken.
    pub(super) fn take(&mut self, part: &[u8], now: Duration) -> io::Result<()> {
        self.kept_mut().now = now;
        let taken = match &mut self.coding {
            Coding::Plain(kept) | Coding::Coded(kept) => kept.write_all(part),
            Coding::Gzip { decoder, coded, packed } => {
                // Of what is to be redacted nothing may stay that cannot be looked into.
                let is_redacted = decoder.get_ref().is_redacted();
                let copied = if is_redacted { Ok(()) } else { coded.write_all(part) };
                *packed += part.len() as u64;
                decoder.get_mut().most = most_of(*packed);
                // What is decoded must be seen now: an event is not the next one's to bring.
                let taken = copied.and_then(|()| decoder.write_all(part)).and_then(|()| decoder.flush());
                if decoder.get_ref().is_full && !is_redacted {
                    self.coding = Coding::Coded(std::mem::take(coded));
                    Ok(())
                } else {
                    taken
                }
            }
        };
        if taken.is_err() {
            self.lost += part.len() as u64;
        }
        taken
    }

    /// Nothing more comes: what was held is let go.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        let (lost, finished) = self.kept_mut().finish();
        self.lost += lost;
        finished
    }

    fn kept(&self) -> &KeptBody {
        match &self.coding {
            Coding::Plain(kept) | Coding::Coded(kept) => kept,
            Coding::Gzip { decoder, .. } => decoder.get_ref(),
        }
    }

    fn kept_mut(&mut self) -> &mut KeptBody {
        match &mut self.coding {
            Coding::Plain(kept) | Coding::Coded(kept) => kept,
            Coding::Gzip { decoder, .. } => decoder.get_mut(),
        }
    }

    /// How many bytes there are, without their coding where they are kept without.
    pub(super) fn size(&self) -> u64 {
        self.kept().size
    }

    /// Whether it is kept with its coding, since it would be too large without.
    pub(super) fn is_coded(&self) -> bool {
        matches!(self.coding, Coding::Coded(_))
    }

    /// Writes `, "text": …` and, where it is not text, `, "encoding": "base64"`; nothing where nothing came. A stream and JSON
    /// have their text even so: without one they would look like what an exporter dropped.
    pub(super) fn write_text(&mut self, out: &mut impl Write) -> io::Result<()> {
        let is_empty = self.lost == 0 && self.announced;
        let kept = self.kept_mut();
        match kept.size {
            0 if is_empty => out.write_all(b", \"text\": \"\""),
            0 => Ok(()),
            _ => kept.write_text(out),
        }
    }

    /// Writes `, "_events": […]`: when each block of a stream came; of any other body, when it was whole, at `whole`.
    pub(super) fn write_blocks(&mut self, whole: Duration, out: &mut impl Write) -> io::Result<()> {
        let is_announced = self.announced;
        let kept = self.kept_mut();
        if !is_announced && kept.size == 0 {
            return Ok(());
        }
        out.write_all(b",\n \"_events\": [")?;
        match kept.is_stream() {
            true => kept.write_blocks(out)?,
            false => write!(out, "{{\"at\": 0, \"time\": {}}}", milliseconds(whole))?,
        }
        out.write_all(b"]")
    }
}

#[cfg(test)]
mod tests;
