//! Writing sessions: as one document, or a line at a time.
//!
//! Memory: of a document, the session; of lines, the longest.

use crate::made_up;
use crate::session::{OwnedContent, OwnedEntry, Session, numbers};
use crate::time;
use crate::transport::Transport;
use std::io::{self, Write};
use transcript::json::{Json, write_compact};
use transcript::message::Message;
use transcript::session::Side;

/// How sessions are spelled in a format. What it cannot carry is left out; [`Session::losses`] lists it beforehand.
#[derive(Debug, Clone, Copy)]
pub enum Spelling {
    /// As one document, for which the whole session must be at hand.
    Document(fn(&Session, &mut dyn Write) -> io::Result<()>),
    /// Line by line, each with nothing known but what came before it.
    Lines(fn(&Opening) -> Box<dyn WriteLines>),
    /// Not at all: such files are logs that only their own programs write.
    ReadOnly,
}

impl Spelling {
    /// Spells a session.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(self, session: &Session, out: &mut dyn Write) -> io::Result<()> {
        let lines = match self {
            Self::Document(write) => return write(session, out),
            Self::Lines(lines) => lines,
            Self::ReadOnly => {
                return Err(io::Error::new(
                    io::ErrorKind::Unsupported,
                    "the format is only read, never written",
                ));
            }
        };
        let mut text = Vec::new();
        let mut writer = LineWriter::begin(lines, &Opening::new(session), &mut text)?;
        for entry in &session.entries {
            out.write_all(&text)?;
            text.clear();
            writer.entry(entry, &mut text)?;
        }
        writer.end(&mut text)?;
        out.write_all(&text)
    }
}

/// What is known of a session before its first line is written.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// The first line of the trace that the session was before.
    pub trace_start: Option<String>,
    /// When it began, as that line says, or the first entry that has a time; in milliseconds since 1970.
    pub time: Option<i64>,
    /// Whether any entry has a time.
    pub timed: bool,
    /// The transport over which it ran.
    pub transport: Option<Transport>,
    /// Whether anything was said.
    pub spoken: bool,
    /// Whether nothing of HTTP was recorded.
    pub without_http: bool,
    /// Whether it was in an envelope that names another transport than its own.
    pub mislabelled: bool,
    /// What an envelope says of the transport for all its entries: a JSON object.
    pub context: Option<String>,
}

impl Opening {
    /// What a session, or the beginning of one, tells.
    #[must_use]
    pub fn new(session: &Session) -> Self {
        let trace_start = session.trace_start();
        let entries = || session.entries.iter();
        let first = entries().find_map(|entry| entry.time);
        Self {
            time: trace_start.and_then(started).or(first),
            timed: first.is_some(),
            trace_start: trace_start.map(|line| line.text().to_owned()),
            transport: session.transport(),
            spoken: entries().any(|entry| entry.message().is_some()),
            without_http: session.is_without_http(),
            mislabelled: entries().any(|entry| matches!(entry.what, OwnedContent::MadeUp(made_up::LABEL))),
            context: entries().find_map(|entry| match (&entry.what, &entry.context) {
                (OwnedContent::Envelope, Some(context)) => Some(context.text.clone()),
                _ => None,
            }),
        }
    }
}

/// When a trace says that it began, on its first line.
fn started(line: Json<'_>) -> Option<i64> {
    time::parse(&line.member("startedAt")?.as_text()?.to_str()?)
}

/// Writes the lines of one session.
pub trait WriteLines {
    /// What stands before the first message; `now` is when the session began, as far as anything tells.
    ///
    /// # Errors
    /// Those of `out`, which has none.
    fn open(&mut self, _now: i64, _out: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }

    /// The line of a message, with its end. `now` is its time, or that of the message before it where it has none.
    ///
    /// # Errors
    /// Those of `out`, which has none.
    fn message(&mut self, spoken: &Spoken<'_>, out: &mut Vec<u8>) -> io::Result<()>;

    /// What stands for an entry that is not a message; nothing, where the format has only messages.
    ///
    /// # Errors
    /// Those of `out`, which has none.
    fn other(&mut self, _entry: &OwnedEntry, _out: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }

    /// What stands behind the last message, which was said `now`.
    ///
    /// # Errors
    /// Those of `out`, which has none.
    fn close(&mut self, _now: i64, _out: &mut Vec<u8>) -> io::Result<()> {
        Ok(())
    }
}

/// Lines that are a message between a head and an end.
pub(crate) struct HeadedLines {
    head: fn(&Spoken<'_>, &mut Vec<u8>) -> io::Result<()>,
    end: &'static str,
    numbers: bool,
}

impl HeadedLines {
    /// The writer of lines with this head and this end, before which the recorder's `numbers` may stand.
    pub(crate) fn boxed(
        numbers: bool,
        end: &'static str,
        head: fn(&Spoken<'_>, &mut Vec<u8>) -> io::Result<()>,
    ) -> Box<dyn WriteLines> {
        Box::new(Self { head, end, numbers })
    }
}

impl WriteLines for HeadedLines {
    fn message(&mut self, spoken: &Spoken<'_>, line: &mut Vec<u8>) -> io::Result<()> {
        (self.head)(spoken, line)?;
        write_compact(spoken.message.json(), line);
        let added = spoken.entry.added.as_deref().filter(|_| self.numbers);
        line.extend_from_slice(added.and_then(numbers).unwrap_or_default().as_bytes());
        line.extend_from_slice(self.end.as_bytes());
        Ok(())
    }

    fn other(&mut self, entry: &OwnedEntry, out: &mut Vec<u8>) -> io::Result<()> {
        let added = entry.added.as_deref().filter(|_| self.numbers);
        added.and_then(numbers).map_or(Ok(()), |said| writeln!(out, "{{{}}}", &said[1..]))
    }
}

/// A message that is to be written.
#[derive(Debug, Clone, Copy)]
pub struct Spoken<'e> {
    /// The message.
    pub message: Message<'e>,
    /// Who sent it; the client, where nobody knows.
    pub side: Side,
    /// When, or else when the message before it was sent.
    pub now: i64,
    /// Its entry.
    pub entry: &'e OwnedEntry,
}

/// A session that is being written line by line.
pub struct LineWriter {
    lines: Box<dyn WriteLines>,
    now: i64,
}

impl LineWriter {
    /// Writes what stands before the first message.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin(
        lines: fn(&Opening) -> Box<dyn WriteLines>,
        opening: &Opening,
        out: &mut Vec<u8>,
    ) -> io::Result<Self> {
        let mut writer = Self { lines: lines(opening), now: opening.time.unwrap_or_default() };
        writer.lines.open(writer.now, out)?;
        Ok(writer)
    }

    /// Writes what stands for the next entry.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn entry(&mut self, entry: &OwnedEntry, out: &mut Vec<u8>) -> io::Result<()> {
        let Some(message) = entry.message() else { return self.lines.other(entry, out) };
        self.now = entry.time.unwrap_or(self.now);
        let side = entry.side.unwrap_or(Side::Client);
        self.lines.message(&Spoken { message, side, now: self.now, entry }, out)
    }

    /// Writes what stands behind the last entry.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn end(mut self, out: &mut Vec<u8>) -> io::Result<()> {
        self.lines.close(self.now, out)
    }
}

impl std::fmt::Debug for LineWriter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LineWriter").field("now", &self.now).finish_non_exhaustive()
    }
}
