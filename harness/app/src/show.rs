//! A session drawn: `show`.

use crate::error::Error;
use crate::recording::{Answer, Recording};
use formats::ReadOptions;
use reports::diagram::{SvgOptions, TextOptions, svg, text};
use reports::diagram_builder::RowSelection;
use reports::drawing::{DrawOptions, draw};
use reports::viewer::{MOST_TEXT, ROWS, page};
use rules::record::{CheckedFile, RuleSelection};
use rules::{CheckOptions, Parallelism};
use serde::Deserialize;

/// How a recording is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ShowOptions {
    /// The capture format; none where the content shows it.
    pub format: Option<String>,
    /// `text`, `svg` or `html`.
    pub output: String,
    /// Nothing is folded.
    pub all: bool,
    /// Only from this message on, as the drawing numbers them.
    pub from: Option<u64>,
    /// Only up to this message.
    pub to: Option<u64>,
    /// Whether the findings of `check` are drawn.
    pub check: bool,
    /// What is no message where one belongs is passed over, and its place marked.
    pub lenient: bool,
    /// How wide text is drawn, in columns.
    pub width: usize,
}

impl Default for ShowOptions {
    fn default() -> Self {
        Self {
            format: None,
            output: "text".to_owned(),
            all: false,
            from: None,
            to: None,
            check: true,
            lenient: false,
            width: 100,
        }
    }
}

/// Draws a recording, as `mcp-concord show` does without colours. One that is rejected is drawn up to that place, and a note
/// says why.
///
/// # Errors
/// Where the recording is no text or shows no format, or an option has no such value.
pub fn show(recording: &Recording<'_>, options: &ShowOptions) -> Result<Answer, Error> {
    let rows = match (options.all, options.from, options.to) {
        (true, None, None) => RowSelection::All,
        (true, ..) => return Err(Error::option("all", "it folds nothing, so from and to have no meaning")),
        (false, None, None) if options.output == "html" => ROWS,
        (false, None, None) => RowSelection::Folded,
        (false, from, to) => RowSelection::Range(from.unwrap_or(0), to.unwrap_or(u64::MAX)),
    };
    if matches!(rows, RowSelection::Range(from, to) if from > to) {
        return Err(Error::option("from", "it is after to, so nothing is left to draw"));
    }
    let check = CheckOptions { parallelism: Some(Parallelism::NONE), ..CheckOptions::default() };
    let (format, judged) = recording.reading(options.format.as_deref(), |format, input| {
        let judged = options.check.then(|| rules::check(format, input, &check));
        Ok(judged.transpose()?)
    })?;
    let judged: Vec<_> = judged.into_iter().collect();
    let how = DrawOptions {
        rows,
        read: if options.lenient { ReadOptions::LENIENT } else { ReadOptions::default() },
        whole: (options.output == "html").then_some(if options.all { usize::MAX } else { MOST_TEXT }),
    };
    let mut drawn =
        [reports::drawing::Recording { name: recording.name.to_owned(), format, source: recording.reader() }];
    let drawing = draw(&mut drawn, &judged, &how).map_err(|(name, error)| Error::reading(&name, error))?;
    let failed = |error: &dyn std::fmt::Display| Error::new(Error::FAILED, error.to_string());
    let text = match options.output.as_str() {
        "text" => text(&drawing.diagram, TextOptions { colour: false, width: options.width }),
        "svg" => svg(&drawing.diagram, SvgOptions::default()),
        "html" => {
            let everything = RuleSelection::everything();
            let files = judged.iter().map(|it| CheckedFile::of(recording.name, format.name, it, &everything));
            page(&drawing.diagram, &files.collect::<Vec<_>>()).map_err(|error| failed(&error))?
        }
        other => return Err(Error::option("output", format!("`{other}` is none of text, svg and html"))),
    };
    let mut notes = drawing.notes;
    notes.extend(drawing.rejected.iter().map(|(name, rejection)| format!("{name}: {rejection}")));
    Ok(Answer { text, notes })
}
