//! A session drawn: `show`.

use crate::answer::{Command, Outcome, Output, Remark, options};
use crate::check::judged;
use crate::error::{Cause, Error};
use crate::recording::{Recording, format};
use formats::{ReadOptions, Tolerance};
use reports::diagram::{SvgOptions, TextOptions, svg, text};
use reports::diagram_builder::RowSelection;
use reports::drawing::{DrawOptions, draw};
use reports::viewer::{MOST_TEXT, ROWS, page};
use rules::record::{CheckedFile, RuleSelection};
use rules::{CheckOptions, Parallelism};

options! {
    /// How recordings are drawn: one, or several traces of one session, by time.
    ShowOptions {
        /// The capture format; none where the content shows it.
        format: Option<String> = None,
        /// `text`, `svg` or `html`.
        output: String = "text".to_owned(),
        /// Nothing is folded.
        all: bool = false,
        /// Only from this message on, as the drawing numbers them.
        from: Option<u64> = None,
        /// Only up to this message.
        to: Option<u64> = None,
        /// Whether the findings of `check` are drawn.
        check: bool = true,
        /// What is not a message where one belongs is skipped, and its place marked.
        lenient: bool = false,
        /// How wide text is drawn, in columns.
        width: usize = 100,
        /// Whether text has colours.
        #[serde(skip)]
        colour: bool = false,
        /// How several judges share a recording; by the machine's cores where it is none.
        #[serde(skip)]
        parallelism: Option<Parallelism> = Some(Parallelism::NONE),
    }
}

impl ShowOptions {
    fn rows(&self) -> Result<RowSelection, Error> {
        match (self.all, self.from, self.to) {
            (true, None, None) => Ok(RowSelection::All),
            (true, ..) => {
                Err(Error::option("all", "it shows everything, so it cannot be used with from or to"))
            }
            // A page shows what it has room for, a picture what a person can take in.
            (false, None, None) if self.output == "html" => Ok(ROWS),
            (false, None, None) => Ok(RowSelection::Folded),
            (false, Some(from), Some(to)) if from > to => {
                Err(Error::option("from", "it is after to, so nothing is left to draw"))
            }
            (false, from, to) => Ok(RowSelection::Range(from.unwrap_or(0), to.unwrap_or(u64::MAX))),
        }
    }
}

/// Draws recordings, each of which is read twice. One that is rejected is drawn up to that place.
impl Command for ShowOptions {
    fn answer(&self, recordings: &mut [Recording<'_>], output: &mut dyn Output) -> Result<Outcome, Error> {
        let rows = self.rows()?;
        let asked = format("format", self.format.as_deref())?;
        let check = CheckOptions { parallelism: self.parallelism, ..CheckOptions::default() };
        let (mut open, mut results) = (Vec::new(), Vec::new());
        for Recording { name, source, found, exact } in recordings.iter_mut() {
            let recording = Recording {
                name: name.clone(),
                source: Box::new(&mut **source),
                found: *found,
                exact: *exact,
            };
            let (recording, result) = judged(recording, asked, self.check.then_some(&check), output)?;
            open.push(recording);
            results.extend(result);
        }
        if let (true, Some(other)) = (open.len() > 1, open.iter().find(|it| !it.format.carries.process)) {
            return Err(Error::failed(format!(
                "{} is in {}; several recordings can be drawn together only if each is the mcp-replay trace of one server",
                other.name, other.format.name
            )));
        }
        let how = DrawOptions {
            rows,
            // Like `check`, the drawing shows each session of a recording with several.
            read: ReadOptions {
                tolerance: if self.lenient { Tolerance::Noise } else { Tolerance::Nothing },
                ..ReadOptions::BY_SESSION
            },
            whole: (self.output == "html").then_some(if self.all { usize::MAX } else { MOST_TEXT }),
        };
        let drawing =
            draw(&mut open, &results, &how).map_err(|(name, error)| Error::reading(&name, error))?;
        let drawn = match self.output.as_str() {
            "text" => text(&drawing.diagram, TextOptions { colour: self.colour, width: self.width }),
            "svg" => svg(&drawing.diagram, SvgOptions::default()),
            "html" => {
                let everything = RuleSelection::everything();
                let files = open.iter().zip(&results);
                let files =
                    files.map(|(it, result)| CheckedFile::new(&it.name, it.format.name, result, &everything));
                page(&drawing.diagram, &files.collect::<Vec<_>>()).map_err(Error::failed)?
            }
            other => {
                return Err(Error::option("output", format!("`{other}` must be one of text, svg, html")));
            }
        };
        output.bytes().write_all(drawn.as_bytes()).map_err(Cause::Output)?;
        drawing.notes.iter().for_each(|note| output.remark(Remark::Note(note)));
        for (name, rejection) in &drawing.rejected {
            output.remark(Remark::Rejected(name, rejection));
        }
        Ok(Outcome::well_if(drawing.rejected.is_empty()))
    }
}
