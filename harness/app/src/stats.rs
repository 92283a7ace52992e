//! Calls, failures and times over many recordings: `stats`.

use crate::answer::{Outcome, Output, Remark};
use crate::check::VERSION;
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::Format;
use reports::html::HtmlRenderer;
use reports::stats::{Collected, csv, json, text};

/// How many rejected recordings are named.
const NAMED: u64 = 10;

/// What was counted so far. Memory does not grow with the recordings.
pub struct Stats {
    asked: Option<&'static Format>,
    collected: Collected,
    counted: u64,
    rejected: u64,
}

impl Stats {
    /// Nothing. The format is that of all recordings; none where their content shows it.
    ///
    /// # Errors
    /// Where there is no such format.
    pub fn new(asked: Option<&str>) -> Result<Self, Error> {
        let asked = format("format", asked)?;
        Ok(Self { asked, collected: Collected::default(), counted: 0, rejected: 0 })
    }

    /// Counts a recording; one that `read` rejects as far as it can be read.
    ///
    /// # Errors
    /// Where it cannot be read or shows no format.
    pub fn add(&mut self, recording: &mut Recording<'_>, output: &mut dyn Output) -> Result<(), Error> {
        let name = recording.name.clone();
        let (_, unread) =
            recording.reading(self.asked, |format, input| Ok(self.collected.add(&name, format, input)?))?;
        self.counted += 1;
        if let Some(why) = unread {
            self.rejected += 1;
            if self.rejected <= NAMED {
                output.remark(Remark::Note(&format!(
                    "{}: counted as far as it can be read: {} (line {}, {})",
                    recording.name, why.message, why.line, why.clause
                )));
            }
        }
        Ok(())
    }

    /// Writes what was counted as `text`, `json`, `csv` or `html`; nothing where no recording was.
    ///
    /// # Errors
    /// Where it cannot be made or written.
    pub fn finish(self, kind: &str, colour: bool, output: &mut dyn Output) -> Result<Option<Outcome>, Error> {
        if self.rejected > NAMED {
            let more = self.rejected - NAMED;
            output.remark(Remark::Note(&format!("and {more} more are counted as far as they can be read")));
        }
        if self.counted == 0 {
            return Ok(None);
        }
        let stats = self.collected.finish();
        let text = match kind {
            "json" => json(&stats).map_err(Error::failed)?,
            "csv" => csv(&stats),
            "html" => HtmlRenderer::new(VERSION)
                .and_then(|renderer| renderer.stats(&stats))
                .map_err(|error| Error::failed(format!("the page cannot be made: {error}")))?,
            _ => text(&stats, colour),
        };
        output.bytes().write_all(text.as_bytes()).map_err(Cause::Output)?;
        Ok(Some(Outcome::well_if(self.rejected == 0)))
    }
}
