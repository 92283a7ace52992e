//! What a recording means: `read`.

use crate::answer::{Command, Outcome, Output, Remark, options};
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::{MeaningWriter, Step, Tolerance, walk};
use reports::overview::Fates;
use transcript::dialect;
use transcript::session::{Content, SinkError};

/// How much is written at a time.
const BLOCK: usize = 1 << 16;

options! {
    /// How a recording is read.
    ReadOptions {
        /// The capture format; none where the content shows it.
        format: Option<String> = None,
        /// Only tool calls and their outcomes.
        calls: bool = false,
        /// The dialect of the reading contract.
        dialect: String = dialect::DEFAULT.to_owned(),
        /// What is not a message where one belongs is skipped, with a note.
        lenient: bool = false,
    }
}

/// Writes the meaning of each recording, a block at a time: it is an answer when the last byte has been read.
impl Command for ReadOptions {
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error> {
        let asked = format("format", self.format.as_deref())?;
        let dialect = dialect::find(&self.dialect).map_err(|why| Error::option("dialect", why))?;
        let tolerance = if self.lenient { Tolerance::Noise } else { Tolerance::Nothing };
        let how = formats::ReadOptions { tolerance, ..formats::ReadOptions::in_dialect(dialect) };
        for recording in recordings {
            let name = recording.name.clone();
            let mut writer = if self.calls { MeaningWriter::of_calls() } else { MeaningWriter::new() };
            let (mut failed, mut fates) = (None, Fates::default());
            let read = recording.reading(asked, |format, input| {
                output.remark(Remark::Detail(&format!("{name} is read as {}", format.name)));
                walk(format, input, how, &mut |step| {
                    match step {
                        Step::Event(entry, event) => {
                            fates.take(entry, event, || ());
                            writer.event(event);
                        }
                        Step::Context(entry) => {
                            fates.see(entry);
                            if let Content::Noise(noise) = &entry.content {
                                let (line, why) = (entry.location.line, &noise.why.message);
                                output.remark(Remark::Note(&format!("{name}:{line}: skipped: {why}")));
                            }
                        }
                    }
                    if writer.waiting() < BLOCK {
                        return Ok(());
                    }
                    output.bytes().write_all(&writer.take()).map_err(|error| {
                        failed = Some(error);
                        SinkError::Stop
                    })
                })
            });
            if let Some(error) = failed {
                return Err(Cause::Output(error).into());
            }
            let (_, totals) = read?;
            writer.end(totals.authorization_discovery);
            output.bytes().write_all(&writer.take()).map_err(Cause::Output)?;
            for note in totals.notes() {
                output.remark(Remark::Note(&format!("{name}: {note}")));
            }
            let events = if totals.events == 1 { "event" } else { "events" };
            output.remark(Remark::Detail(&format!("{} {events}, {}", totals.events, fates.summary())));
        }
        Ok(Outcome::Well)
    }
}
