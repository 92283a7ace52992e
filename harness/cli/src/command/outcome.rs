//! The results of a run: written to the files that were asked for, and printed.

use super::context::{CommandContext, Failure};
use super::results::ResultArgs;
use super::site;
use crate::exit;
use std::io::{self, Write as _};
use verdict::record::{CaseResult, Record};
use verdict::text;
use wire::files::{Access, replace};
use wire::interrupt;

/// Has a signal that asks this program to end note it, so that what was judged until then is kept.
pub(super) fn watch() -> Result<(), Failure> {
    interrupt::watch().map_err(|error| Failure::Unusable(format!("signals cannot be caught: {error}")))
}

/// The exit code of a run with this record. A run that judged nothing proved nothing, and says so.
pub(super) fn exit_code(record: &Record, stale: bool, context: CommandContext) -> u8 {
    match interrupt::code() {
        Some(code) => code,
        None if record.is_failure() || stale => exit::FAILED,
        // The other parts of the suite may have judged what this one skipped.
        None if record.nothing_judged() && record.shard.is_none() => {
            context.terminal.error("nothing was judged: every selected result was skipped");
            exit::FAILED
        }
        None => exit::WELL,
    }
}

/// Where the results go besides the standard output, and how one line of them is found and run again.
pub(super) struct Outcome<'o> {
    /// Where they go.
    pub(super) output: &'o ResultArgs,
    /// The path of a line's transcript.
    pub(super) file: &'o dyn Fn(&CaseResult) -> Option<String>,
    /// The command that runs only one line.
    pub(super) rerun: &'o dyn Fn(&CaseResult) -> String,
}

impl Outcome<'_> {
    /// Writes the files, then tells.
    pub(super) fn tell(&self, record: &Record, context: CommandContext) -> Result<(), Failure> {
        if let Some(path) = &self.output.results {
            let written = reports::json::render(record).map_err(io::Error::from);
            written
                .and_then(|text| replace(path, Access::Usual, |out| out.write_all(text.as_bytes())))
                .map_err(|error| Failure::unwritable(path, &error))?;
        }
        if let Some(folder) = &self.output.report {
            site::write_one(folder, record, &|_, line| (self.rerun)(line))?;
        }
        let Self { file, rerun, .. } = self;
        let (volume, colour) = (context.terminal.verbosity.into(), context.terminal.colour_out);
        let text = text::render(record, &text::Options { colour, volume, file, rerun });
        Ok(io::stdout().lock().write_all(text.as_bytes())?)
    }
}
