//! Are two recordings the same session: `diff`.

use crate::error::Error;
use crate::recording::Recording;
use reports::diff::json::Json;
use reports::diff::side::{Side, SideOptions, notes};
use serde::Deserialize;
use transcript::align::{AlignOptions, IdMatching, OwnedEvent, compare};
use transcript::diff::PointerPattern;

/// How two recordings are compared.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct DiffOptions {
    /// The capture format of A; none where the content shows it.
    pub left_format: Option<String>,
    /// The capture format of B; none where the content shows it.
    pub right_format: Option<String>,
    /// A string that contains this marker equals any value.
    pub redacted: Option<String>,
    /// Whether ids must be equal (`exact`), or may be renamed one to one (`renumbered`).
    pub ids: String,
    /// JSON pointers into the events that are left out; `*` matches any member or item.
    pub ignore: Vec<String>,
    /// The order in which answers come is left out.
    pub unordered_answers: bool,
    /// Requests that were turned away are left out.
    pub ignore_refusals: bool,
    /// An SSE event that was delivered again counts once.
    pub fold_redelivered: bool,
    /// So many differences are listed at most; all are counted.
    pub show: u64,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            left_format: None,
            right_format: None,
            redacted: None,
            ids: "exact".to_owned(),
            ignore: Vec::new(),
            unordered_answers: false,
            ignore_refusals: false,
            fold_redelivered: false,
            show: 20,
        }
    }
}

/// Two recordings compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// Whether they are the same session under the options.
    pub same: bool,
    /// What differs, as `mcp-concord diff --output json` prints it.
    pub json: String,
    /// What a person should know of it.
    pub notes: Vec<String>,
}

/// Compares two recordings. Memory: the events of both, since one is read after the other.
///
/// # Errors
/// Where one of them is rejected or an option has no such value.
pub fn diff(a: &Recording<'_>, b: &Recording<'_>, options: &DiffOptions) -> Result<Compared, Error> {
    let ids = match options.ids.as_str() {
        "exact" => IdMatching::Exact,
        "renumbered" => IdMatching::Renumbered,
        other => return Err(Error::option("ids", format!("`{other}` is neither exact nor renumbered"))),
    };
    let ignore = options.ignore.iter().map(|pointer| PointerPattern::parse(pointer));
    let ignore = ignore.collect::<Result<_, _>>().map_err(|why| Error::option("ignore", why))?;
    let values = transcript::diff::DiffOptions { ignore, redacted: options.redacted.clone() };
    let align = AlignOptions { values, ids, unordered_answers: options.unordered_answers };
    let (side_a, events_a) = side(a, options.left_format.as_deref(), options)?;
    let (side_b, events_b) = side(b, options.right_format.as_deref(), options)?;
    let mut json = Json::new(options.show);
    let counts =
        compare(events_a.into_iter(), events_b.into_iter(), &align, &mut |found| json.mismatch(&found));
    let (sides, names) = ([&side_a, &side_b], [a.name, b.name]);
    Ok(Compared {
        same: counts.same(),
        json: json.finish(&counts, sides, names),
        notes: notes(sides, names, counts.same()),
    })
}

fn side(
    recording: &Recording<'_>,
    format: Option<&str>,
    options: &DiffOptions,
) -> Result<(Side, Vec<OwnedEvent>), Error> {
    let how =
        SideOptions { ignore_refusals: options.ignore_refusals, fold_redelivered: options.fold_redelivered };
    let mut events = Vec::new();
    let (_, side) = recording.reading(format, |format, input| {
        Side::read(format, input, how, &mut |event| {
            events.push(event);
            Ok(())
        })
    })?;
    Ok((side, events))
}
