//! A session in another format: `convert`.

use crate::answer::{Command, Outcome, Output, Remark, options};
use crate::decoded::Decoded;
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::{Conversion, Format, OwnedContent, OwnedEntry, ReadOptions, Session, salvage};
use reports::plain::counted;
use reports::target::Target;
use std::collections::HashSet;
use std::io::{self, Read as _, Write};
use transcript::session::Side;

options! {
    /// How a recording is converted.
    ConvertOptions {
        /// The format to write, or `otlp-json` for spans of OpenTelemetry.
        to: String = String::new(),
        /// The format to read; none where the content shows it.
        format: Option<String> = None,
        /// Writes even if the meaning changes, with a note.
        lossy: bool = false,
        /// Takes what is whole of a recording that was cut off.
        salvage: bool = false,
    }
}

impl Command for ConvertOptions {
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error> {
        for recording in recordings {
            let converted = self.convert(recording, output)?;
            converted.write(output.bytes()).map_err(Cause::Output)?;
        }
        Ok(Outcome::Well)
    }
}

/// A session that another format can carry.
#[derive(Debug)]
pub struct Converted {
    session: Session,
    to: Target,
}

impl Converted {
    /// Writes it.
    ///
    /// # Errors
    /// Where `out` cannot be written.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        self.to.write(&self.session, out)
    }
}

impl ConvertOptions {
    /// Reads a session, and remarks what is left out of it. Memory: the session, and with `salvage` its recording.
    ///
    /// # Errors
    /// Where the recording is rejected, an option names nothing, or the other format cannot carry the session.
    pub fn convert(
        &self,
        recording: &mut Recording<'_>,
        output: &mut dyn Output,
    ) -> Result<Converted, Error> {
        let to = Target::named(&self.to).map_err(|why| Error::option("to", why))?;
        let asked = format("format", self.format.as_deref())?;
        let session = |recording: &mut Recording<'_>| {
            recording.reading(asked, |format, input| Session::read(format, input, ReadOptions::default()))
        };
        let (from, mut session) = match self.salvage {
            true => {
                let bytes = whole(recording, asked, output)?;
                session(&mut Recording::new(&recording.name, &bytes))?
            }
            false => session(recording)?,
        };
        let Conversion { refused, notes, unloadable } = to.conversion(&session, from);
        if !self.lossy && !refused.is_empty() {
            return Err(Error::from(Cause::CannotCarry(refused)).about(&recording.name));
        }
        let several = session.totals.several().filter(|several| !notes.contains(several));
        refused.iter().chain(&notes).chain(&several).for_each(|note| output.remark(Remark::Note(note)));
        let bodies = bodies_left_out(&session.entries);
        if bodies > 0 && formats::find(&self.to).is_some_and(|to| to.carries.exchanges) {
            let what = format!("{} cannot carry bodies without a message ({bodies}): left out", self.to);
            output.remark(Remark::Note(&what));
        }
        if !unloadable.is_empty() {
            let count = counted(unloadable.len() as u64, "message");
            output.remark(Remark::Note(&format!("{}: {count} left out; it loads the rest", self.to)));
            session.leave_out(&unloadable);
        }
        Ok(Converted { session, to })
    }
}

/// How many bodies of HTTP are neither messages nor what a reader keeps beside them: pages, for example, which no format has.
pub fn bodies_left_out(entries: &[OwnedEntry]) -> usize {
    let mut kept = HashSet::new();
    for entry in entries {
        kept.extend(entry.exchange.filter(|_| !is_exchange(entry)).map(|number| (number, entry.side)));
    }
    let left_out = |entry: &OwnedEntry| {
        let (OwnedContent::Exchange(exchange), Some(number)) = (&entry.what, entry.exchange) else {
            return 0;
        };
        let asked = exchange.request_size.filter(|_| exchange.form.is_none());
        let answered = exchange.response_size.filter(|_| exchange.document.is_none());
        let is_lost = |(size, side): &(Option<u64>, Side)| {
            size.is_some_and(|size| size > 0) && !kept.contains(&(number, Some(*side)))
        };
        [(asked, Side::Client), (answered, Side::Server)].iter().filter(|it| is_lost(it)).count()
    };
    entries.iter().map(left_out).sum()
}

fn is_exchange(entry: &OwnedEntry) -> bool {
    matches!(entry.what, OwnedContent::Exchange(_))
}

/// What is whole of a recording that was cut off.
fn whole(
    recording: &mut Recording<'_>,
    asked: Option<&'static Format>,
    output: &mut dyn Output,
) -> Result<Vec<u8>, Error> {
    let name = recording.name.clone();
    let mut bytes = Vec::new();
    let mut decoded = Decoded::new(&name, &mut recording.source, |_| {});
    decoded.read_to_end(&mut bytes).map_err(|error| Error::reading(&name, error.into()))?;
    // A cut within a character leaves half of it, and a format is looked for in whole ones.
    let text = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    let (format, ()) = Recording::new(&name, text.as_bytes()).reading(asked, |_, _| Ok(()))?;
    let saved = salvage(format, &bytes).ok_or_else(|| Error::from(Cause::NothingWhole).about(&name))?;
    output.remark(Remark::Note(&saved.told(&name, format)));
    Ok(saved.bytes)
}
