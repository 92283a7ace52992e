//! Which readings a run is of, as its options say.

use crate::command::context::{CommandContext, Failure};
use crate::command::input::named_format;
use crate::command::values::glob;
use crate::exit;
use formats::Format;
use globset::GlobMatcher;
use mcp_concord_suite::importer::Importer;
use mcp_concord_suite::run::{PlannedCase, Selection, Shard, plan};
use mcp_concord_suite::{Case, Suite};
use std::fmt::Write as _;
use std::io::{self, Write as _};
use transcript::nearest::hint_or;
use verdict::expectation::Expectation;

/// The options that select a part of the suite.
#[derive(Debug, clap::Args)]
pub(super) struct SelectionArgs {
    /// Run only what matches this glob over `case` or `case/format`. Repeatable.
    #[arg(long, value_name = "GLOB", value_parser = glob)]
    pub(super) filter: Vec<GlobMatcher>,
    /// Run only this capture format. Repeatable.
    #[arg(long, value_name = "FORMAT", value_parser = named_format())]
    pub(super) format: Vec<&'static Format>,
    /// Run part I of N; a case's part depends only on its name.
    #[arg(long, value_name = "I/N", value_parser = Shard::parse)]
    pub(super) shard: Option<Shard>,
}

impl SelectionArgs {
    /// Whether there is any.
    pub(super) fn is_narrow(&self) -> bool {
        !self.filter.is_empty() || !self.format.is_empty() || self.shard.is_some()
    }
}

/// The readings that the flags ask for. A run of nothing proves nothing, so it is refused; but a shard may be
/// empty, since its neighbours have the cases.
pub(super) fn select<'s>(
    args: &SelectionArgs,
    suite: &'s Suite,
    importer: &dyn Importer,
    context: CommandContext,
) -> Result<Vec<PlannedCase<'s>>, Failure> {
    let mut selection = Selection { formats: args.format.clone(), ..Selection::default() };
    let formats = names(&args.format);
    for filter in &args.filter {
        selection.filters = vec![filter.clone()];
        if plan(suite, importer, &selection).is_empty() {
            let wanted = filter.glob().glob();
            let inside = format!("{}/", wanted.trim_end_matches('/'));
            let hint = match suite.asked().any(|case| case.name.starts_with(&inside)) {
                true => format!("; did you mean '{inside}*'?"),
                false => {
                    let known = suite.asked().map(|case| case.name.as_str());
                    hint_or("; --list shows what there is", wanted, known)
                }
            };
            let inside = if args.format.is_empty() { String::new() } else { format!(" in {formats}") };
            return Err(format!("--filter '{wanted}' matches nothing{inside}{hint}").into());
        }
    }
    selection.filters.clone_from(&args.filter);
    if plan(suite, importer, &selection).is_empty() {
        return Err(format!("no case has a transcript in {formats}").into());
    }
    selection.shard = args.shard;
    let planned = plan(suite, importer, &selection);
    if planned.is_empty() {
        context.terminal.note("this shard has none of the selected cases");
    }
    Ok(planned)
}

/// Lists the readings, one a line, and why those are skipped that are.
pub(super) fn list(planned: &[PlannedCase<'_>], importer: &dyn Importer) -> Result<u8, Failure> {
    let mut out = String::new();
    for PlannedCase { case, readings } in planned {
        for reading in readings {
            let _ = write!(out, "{}/{}", case.name, reading.format.name);
            if let Err(skip) = reading.what {
                let _ = write!(out, "\tskip: {}", skip.why(importer.name(), reading.format));
            }
            out.push('\n');
        }
    }
    io::stdout().lock().write_all(out.as_bytes())?;
    Ok(exit::WELL)
}

/// Formats in words.
fn names(formats: &[&'static Format]) -> String {
    match formats {
        [] => "any format".to_owned(),
        [format] => format!("the format {}", format.name),
        formats => {
            let names: Vec<&str> = formats.iter().map(|format| format.name).collect();
            format!("the formats {}", names.join(", "))
        }
    }
}

/// Whether the answers to the formats of a case are compared with each other, so that a single one of them shows nothing.
pub(super) fn is_compared(case: &Case) -> bool {
    matches!(case.expectation, Expectation::Either(_)) && case.identified.is_none()
}
