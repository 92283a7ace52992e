//! What is in recordings, at a glance: `summary`.

use crate::answer::{Command, Outcome, Output, options};
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::Format;
use reports::overview::{Collector, Order, Overview, json, text};
use rules::{CheckOptions, check_beside};

options! {
    /// How recordings are summed up.
    SummaryOptions {
        /// The capture format of all of them; none where the content shows it.
        format: Option<String> = None,
        /// `json`, or for people `page`, which is of one recording, or `rows`.
        #[serde(skip)]
        output: String = "json".to_owned(),
        /// The order; as they come where there is none.
        #[serde(skip)]
        order: Option<Order> = None,
        /// Only those that are failing.
        #[serde(skip)]
        failing: bool = false,
        /// Whether text has colours.
        #[serde(skip)]
        colour: bool = false,
    }
}

impl Command for SummaryOptions {
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error> {
        let mut summary = Summary::new(self)?;
        recordings.iter_mut().try_for_each(|recording| summary.add(recording))?;
        summary.finish(output)
    }
}

/// Overviews of the recordings so far.
pub struct Summary<'o> {
    options: &'o SummaryOptions,
    asked: Option<&'static Format>,
    overviews: Vec<Overview>,
}

impl<'o> Summary<'o> {
    /// Of no recording so far.
    ///
    /// # Errors
    /// Where there is no such format.
    pub fn new(options: &'o SummaryOptions) -> Result<Self, Error> {
        let asked = format("format", options.format.as_deref())?;
        Ok(Self { options, asked, overviews: Vec::new() })
    }

    /// Looks through a recording. One that `read` rejects has an overview that says so.
    ///
    /// # Errors
    /// Where it cannot be read or shows no format.
    pub fn add(&mut self, recording: &mut Recording<'_>) -> Result<(), Error> {
        let name = recording.name.clone();
        let (_, overview) = recording.reading(self.asked, |format, input| {
            let mut seen = Collector::new(format);
            let judged =
                check_beside(format, input, &CheckOptions::default(), &mut |entry| seen.take(entry))?;
            Ok(Overview::new(&name, format, seen, &judged))
        })?;
        self.overviews.push(overview);
        Ok(())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.overviews.is_empty()
    }

    /// Writes them.
    ///
    /// # Errors
    /// Where they cannot be written.
    pub fn finish(mut self, output: &mut dyn Output) -> Result<Outcome, Error> {
        let outcome = Outcome::well_if(self.overviews.iter().all(|overview| overview.rejected.is_none()));
        let all = self.overviews.len();
        self.overviews.retain(|overview| !self.options.failing || overview.is_failing());
        if let Some(order) = self.options.order {
            order.sort(&mut self.overviews);
        }
        let text = match (self.options.output.as_str(), &self.overviews[..]) {
            ("json", shown) => json(shown).map_err(Error::failed)?,
            (_, []) if all == 0 => String::new(),
            ("page", [one]) => text::page(one, self.options.colour),
            (_, shown) => text::rows(shown, all, self.options.colour),
        };
        output.bytes().write_all(text.as_bytes()).map_err(Cause::Output)?;
        Ok(outcome)
    }
}
