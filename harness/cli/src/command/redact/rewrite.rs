//! A recording that is written again without its secrets: a few entries at a time, or whole where the format asks for that.
//!
//! Memory: of what is written whole, its session and what is written of it. Else a few batches, each of at most [`ENTRIES`]
//! entries and [`BYTES`] bytes or else of a single entry; besides, each value that was taken out, once.

use super::super::context::Failure;
use app::bodies_left_out;
use formats::{
    Format, Input, LineWriter, Opening, OwnedContent, OwnedEntry, ReadError, ReadOptions, Session, Spelling,
    Totals, WriteLines, meaning, owned_entries,
};
use std::fs::File;
use std::io::{self, BufReader, Seek as _, Write};
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread::{self, ScopedJoinHandle};
use transcript::session::SinkError;
use wire::redaction::{Redaction, random_words};

/// How many entries are handed on together. Tests have more of them than recordings are long.
const ENTRIES: usize = if cfg!(test) { 3 } else { 1024 };

/// How many bytes of messages are handed on together, if they are of more than one.
const BYTES: usize = 256 << 10;

/// How many batches wait between reader and writer.
const WAITING: usize = 2;

/// Why nothing was written.
pub(super) enum Unwritten {
    /// Something is in the way.
    Failure(Failure),
    /// The recording cannot be written without what is taken out: a sentence.
    Refused(String),
}

impl<E: Into<Failure>> From<E> for Unwritten {
    fn from(why: E) -> Self {
        Self::Failure(why.into())
    }
}

/// What is done to a recording.
pub(super) struct Rewriting<'r> {
    pub(super) name: &'r str,
    pub(super) format: &'static Format,
    /// What is taken out.
    pub(super) redaction: &'r Redaction,
    /// What is only looked for, in what is left: names, and then patterns.
    pub(super) left: &'r [[Redaction; 2]],
    /// How many lines or bodies were not copied.
    pub(super) skipped: usize,
    /// How many words are left that look as if they were drawn at random.
    pub(super) random: usize,
}

impl Rewriting<'_> {
    /// Writes the recording that `file` stands at the beginning of.
    pub(super) fn write(&mut self, file: &mut File, out: &mut dyn Write) -> Result<(), Unwritten> {
        match self.format.spelling {
            Spelling::Document(_) => self.document(file, out),
            Spelling::Lines(lines) => self.lines(lines, file, out),
            Spelling::ReadOnly => {
                let why = formats::only_read(self.format).unwrap_or_default();
                Err(Unwritten::Refused(format!("{why}, and `convert` the recording to it first")))
            }
        }
    }

    fn document(&mut self, file: &mut File, out: &mut dyn Write) -> Result<(), Unwritten> {
        let rejected = |error| Failure::of_reading(self.name, error);
        let mut input = Input::new(file).map_err(rejected)?;
        input.named();
        let mut session = Session::read(self.format, &mut input, ReadOptions::default()).map_err(rejected)?;
        if let Some(loss) = session.losses(self.format).into_iter().find(|loss| loss.clause.is_some()) {
            let clause = loss.clause.unwrap_or_default();
            let why = format!("{} cannot carry {} ({clause})", self.format.name, loss.what);
            return Err(Unwritten::Refused(why));
        }
        let bodies = bodies_left_out(&session.entries);
        self.skipped =
            bodies + redact(self.redaction, self.format, &mut session.entries).map_err(Unwritten::Refused)?;
        let mut written = Vec::new();
        self.format.write(&session, &mut written)?;
        self.holds(&written)?;
        out.write_all(&written)?;
        self.look_at(&mut session.entries, &written);
        Ok(())
    }

    /// One thread reads, one takes out, and this one writes.
    fn lines(
        &mut self,
        lines: fn(&Opening) -> Box<dyn WriteLines>,
        file: &mut File,
        out: &mut dyn Write,
    ) -> Result<(), Unwritten> {
        let (sender, batches) = mpsc::sync_channel(WAITING);
        let (redacted_sender, redacted_batches) = mpsc::sync_channel(WAITING);
        let (format, redaction) = (self.format, self.redaction);
        let (read, redacted, written) = thread::scope(|scope| {
            let reader = scope.spawn(move || read(format, file, sender));
            let redactor = scope.spawn(move || {
                let mut skipped = 0;
                for mut entries in batches {
                    skipped += redact(redaction, format, &mut entries)?;
                    // The receiver that hung up reports why.
                    if redacted_sender.send(entries).is_err() {
                        break;
                    }
                }
                Ok(skipped)
            });
            let written = self.batches(lines, redacted_batches, out);
            (joined(reader), joined(redactor), written)
        });
        // Of two faults the one that is met later in the pipeline stands earlier in the file.
        written?;
        self.skipped = redacted.map_err(Unwritten::Refused)?;
        Ok(read.map_err(|error| Failure::of_reading(self.name, error))?)
    }

    fn batches(
        &mut self,
        lines: fn(&Opening) -> Box<dyn WriteLines>,
        batches: Receiver<Vec<OwnedEntry>>,
        out: &mut dyn Write,
    ) -> Result<(), Unwritten> {
        let mut begun: Option<(Opening, LineWriter)> = None;
        let mut written = Vec::new();
        for mut entries in batches {
            let (opening, mut writer) = match begun.take() {
                Some(begun) => begun,
                None => {
                    let session = Session::new(self.format, entries, Totals::default());
                    let opening = Opening::new(&session);
                    entries = session.entries;
                    let writer = LineWriter::begin(lines, &opening, &mut written)?;
                    (opening, writer)
                }
            };
            entries.iter().try_for_each(|entry| writer.entry(entry, &mut written))?;
            out.write_all(&written)?;
            self.others_hold(lines, &opening, &entries)?;
            self.look_at(&mut entries, &written);
            written.clear();
            begun = Some((opening, writer));
        }
        let writer = match begun {
            Some((_, writer)) => writer,
            None => LineWriter::begin(lines, &Opening::default(), &mut written)?,
        };
        writer.end(&mut written)?;
        Ok(out.write_all(&written)?)
    }

    /// Each message was looked at as it changed. What is not a message, such as the first line of a trace, is read again, and so
    /// is what stands around one.
    fn others_hold(
        &self,
        lines: fn(&Opening) -> Box<dyn WriteLines>,
        opening: &Opening,
        entries: &[OwnedEntry],
    ) -> Result<(), Unwritten> {
        let is_bare = |entry: &OwnedEntry| entry.message().is_some() && entry.context.is_none();
        let others = || entries.iter().filter(|entry| !is_bare(entry));
        if others().next().is_none() {
            return Ok(());
        }
        let mut written = Vec::new();
        let mut writer = LineWriter::begin(lines, opening, &mut written)?;
        others().try_for_each(|entry| writer.entry(entry, &mut written))?;
        writer.end(&mut written)?;
        self.holds(&written)
    }

    /// What is written is read.
    fn holds(&self, written: &[u8]) -> Result<(), Unwritten> {
        let read = meaning(self.format, &mut &written[..], ReadOptions::default());
        read.map_err(|error| Failure::of_reading(&format!("{} without what is redacted", self.name), error))?;
        Ok(())
    }

    /// Counts what looks like a secret in what was written, whose entries nobody needs any more.
    fn look_at(&mut self, entries: &mut [OwnedEntry], written: &[u8]) {
        for [names, texts] in self.left {
            for entry in &mut *entries {
                // What cannot be a message any more has been counted.
                let _ = names.entry(entry);
            }
            texts.count_in(&String::from_utf8_lossy(written));
        }
        self.random += random_words(written);
    }
}

/// Takes out of entries what is to be taken out, and counts those that are not copied.
fn redact(redaction: &Redaction, format: &Format, entries: &mut [OwnedEntry]) -> Result<usize, String> {
    entries.iter_mut().try_for_each(|entry| redaction.entry(entry))?;
    let is_whole = |entry: &OwnedEntry| format.carries.process && entry.added.is_some();
    let copied = |entry: &&OwnedEntry| is_whole(entry) || !matches!(entry.what, OwnedContent::Skipped(_));
    Ok(entries.iter().filter(|entry| !copied(entry)).count())
}

/// The same redaction, which also takes out elsewhere what goes by its name in the recording that `file` stands at the beginning of.
/// Of lines the bytes may show that there is nothing. What cannot be read, or not be redacted, is said when it is written.
pub(super) fn learned(
    redaction: Redaction,
    format: &Format,
    file: &mut File,
) -> io::Result<Result<Redaction, String>> {
    if matches!(format.spelling, Spelling::Lines(_)) && !redaction.may_learn(&mut BufReader::new(&*file))? {
        return Ok(Ok(redaction));
    }
    file.rewind()?;
    let learner = redaction.clone().learning();
    let (sender, batches) = mpsc::sync_channel(WAITING);
    thread::scope(|scope| {
        let reader = scope.spawn(move || read(format, file, sender));
        for mut entries in batches {
            entries.iter_mut().for_each(|entry| drop(learner.entry(entry)));
        }
        drop(joined(reader));
    });
    Ok(redaction.knowing(&learner))
}

/// What a thread came to.
fn joined<T>(thread: ScopedJoinHandle<'_, T>) -> T {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Hands on the entries of a recording, some at a time.
fn read(format: &Format, file: &mut File, batches: SyncSender<Vec<OwnedEntry>>) -> Result<(), ReadError> {
    let (mut batch, mut size) = (Vec::with_capacity(ENTRIES), 0);
    let mut input = Input::new(file)?;
    input.named();
    owned_entries(format, &mut input, ReadOptions::default(), &mut |entry| {
        size += length(&entry);
        batch.push(entry);
        if batch.len() < ENTRIES && size < BYTES {
            return Ok(());
        }
        size = 0;
        let full = std::mem::replace(&mut batch, Vec::with_capacity(ENTRIES));
        batches.send(full).map_err(|_| SinkError::Stop)
    })?;
    batches.send(batch).map_err(|_| ReadError::Stopped)
}

/// How many bytes an entry has at least.
fn length(entry: &OwnedEntry) -> usize {
    let data = entry.sse.as_ref().and_then(|sse| sse.data.as_ref());
    entry.message().map_or(0, |message| message.text().len())
        + entry.context.as_ref().map_or(0, |context| context.text.len())
        + data.map_or(0, |data| data.len())
}

#[cfg(test)]
mod tests {
    use super::Rewriting;
    use formats::{FORMATS, Format, ReadOptions, Session, Spelling};
    use std::io::{Seek as _, Write as _};
    use wire::redaction::Redaction;

    /// What is written of a session at once.
    fn at_once(format: &Format, bytes: &[u8], redaction: &Redaction) -> Option<String> {
        let mut session = Session::of(format, bytes, ReadOptions::default()).ok()?;
        redaction.clone().numbered(&mut { bytes }).ok()?.session(&mut session).ok()?;
        let mut out = Vec::new();
        format.write(&session, &mut out).ok()?;
        String::from_utf8(out).ok()
    }

    #[test]
    fn a_few_lines_at_a_time_are_what_the_whole_is() {
        let own = |list: &[&str]| list.iter().map(|&item| item.to_owned()).collect::<Vec<_>>();
        let redaction =
            Redaction::new(&own(&["name", "label", "text"]), &own(&["[a-z]*fast[a-z]*"])).unwrap();
        let (mut compared, mut batches) = (0, 0);
        for (path, bytes) in cases::files() {
            let is_lines = |format: &Format| matches!(format.spelling, Spelling::Lines(_));
            let format = FORMATS.iter().find(|format| is_lines(format) && path.ends_with(format.file));
            let Some(format) = format else { continue };
            let redaction = redaction.clone().numbered(&mut &*bytes).unwrap();
            let mut some =
                Rewriting { name: "it", format, redaction: &redaction, left: &[], skipped: 0, random: 0 };
            let (mut file, mut out) = (tempfile::tempfile().unwrap(), Vec::new());
            file.write_all(bytes).unwrap();
            file.rewind().unwrap();
            let done = some.write(&mut file, &mut out).is_ok();
            let written = done.then(|| String::from_utf8(out).unwrap());
            assert_eq!(written, at_once(format, bytes, &redaction), "{path}");
            compared += usize::from(done);
            batches += written.map_or(0, |text| text.lines().count() / super::ENTRIES);
        }
        assert!(compared > 500 && batches > compared, "{compared} files in {batches} batches");
    }
}
